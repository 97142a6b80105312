package networkd

import (
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/unitfile"
)

// overrideRows are netplan's dhcp4-overrides and dhcp6-overrides
// (doc/netplan-yaml.md) in networkd's words; six is false for keys that
// [DHCPv6] of systemd 252 lacks.
var overrideRows = []struct {
	netplan, networkd string
	six               bool
}{
	{"use-dns", "UseDNS", true}, {"use-ntp", "UseNTP", true}, {"use-hostname", "UseHostname", true}, {"use-domains", "UseDomains", true},
	{"send-hostname", "SendHostname", false}, {"use-mtu", "UseMTU", false}, {"hostname", "Hostname", false}, {"use-routes", "UseRoutes", false},
	{"route-metric", "RouteMetric", true},
}

// dhcpMetric is the metric that netplan gives routes from DHCP.
const dhcpMetric = "100"

// dhcpSections puts DHCP= into the network section and returns the sections
// of the two clients.
func dhcpSections(d device.Device, network *unitfile.Section, l *ledger.Ledger) []unitfile.Section {
	four, said4 := d.Truth("dhcp4")
	six, said6 := d.Truth("dhcp6")
	if said4 {
		l.Say(d.ID, "dhcp4")
	}
	if said6 {
		l.Say(d.ID, "dhcp6")
	}
	switch {
	case four && six:
		network.Put("DHCP", "yes")
	case four:
		network.Put("DHCP", "ipv4")
	case six:
		network.Put("DHCP", "ipv6")
	case said4 || said6:
		network.Put("DHCP", "no")
	}
	var all []unitfile.Section
	if four {
		s := overrides(d, "dhcp4-overrides", "DHCPv4", l)
		if s.Get("RouteMetric") == "" {
			s.Put("RouteMetric", dhcpMetric)
		}
		if s.Get("UseMTU") == "" {
			s.Put("UseMTU", "true")
		}
		if id := d.Key("dhcp-identifier"); id != nil {
			s.Put("ClientIdentifier", id.Text)
			l.Say(d.ID, "dhcp-identifier")
		}
		all = append(all, s)
	}
	if six {
		s := overrides(d, "dhcp6-overrides", "DHCPv6", l)
		if s.Get("RouteMetric") == "" {
			s.Put("RouteMetric", dhcpMetric)
		}
		all = append(all, s)
	}
	return all
}

func overrides(d device.Device, key, section string, l *ledger.Ledger) unitfile.Section {
	s := unitfile.Section{Name: section}
	n := d.Key(key)
	for _, row := range overrideRows {
		v := n.Get(row.netplan)
		if v == nil || section == "DHCPv6" && !row.six {
			continue
		}
		s.Put(row.networkd, v.Text)
		l.Say(d.ID, key+"."+row.netplan)
	}
	return s
}
