package networkd

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/unitfile"
)

// networkUnit are the sections of a device's .network file.
func networkUnit(in render.Input, d device.Device, l *ledger.Ledger) []unitfile.Section {
	network := unitfile.Section{Name: "Network"}
	all := []unitfile.Section{networkMatch(d, l)}
	if s := linkSection(d, l); len(s.Keys) > 0 {
		all = append(all, s)
	}
	dhcp := dhcpSections(d, &network, l)
	networkKeys(d, &network, l)
	var addresses []unitfile.Section
	options := device.AddressOptions(in, d.ID)
	for _, p := range d.Addresses {
		l.Say(d.ID, "addresses")
		if o := options[p]; o != nil {
			addresses = append(addresses, addressSection(d, p, o, l))
			continue
		}
		network.Put("Address", p.String())
	}
	networkNames(d, &network, l)
	networkPorts(in, d, &network, l)
	all = append(all, network)
	all = append(all, addresses...)
	all = append(all, routeSections(d, l)...)
	all = append(all, multipathSections(in, d, l)...)
	all = append(all, ruleSections(d, l)...)
	all = append(all, dhcp...)
	if s, ok := rootQdisc(d, l); ok {
		all = append(all, s)
	}
	return all
}

func networkMatch(d device.Device, l *ledger.Ledger) unitfile.Section {
	s := unitfile.Section{Name: "Match"}
	if m := d.Match; m != nil {
		if !m.MAC.IsZero() {
			s.Put("PermanentMACAddress", m.MAC.String())
		}
		if d.SetName == "" {
			s.Put("Name", m.Name)
		}
		s.Put("Driver", strings.Join(m.Drivers, " "))
		s.Put("Name", d.SetName)
		l.Say(d.ID, "match", "set-name")
		if len(s.Keys) == 0 {
			s.Put("Type", "ether") // netplan's word for all devices is for all of their type
		}
		return s
	}
	s.Put("Name", d.Name)
	return s
}

// linkSection is [Link] of a .network file.
func linkSection(d device.Device, l *ledger.Ledger) unitfile.Section {
	s := unitfile.Section{Name: "Link"}
	mode := d.Key("activation-mode")
	if mode != nil {
		s.Put("ActivationPolicy", map[string]string{"manual": "manual", "off": "always-down"}[mode.Text])
		l.Say(d.ID, "activation-mode")
	}
	optional, said := d.Truth("optional")
	if mode != nil || optional {
		s.Put("RequiredForOnline", "no")
	}
	if said {
		l.Say(d.ID, "optional")
	}
	if d.MTU > 0 {
		s.Put("MTUBytes", strconv.Itoa(d.MTU))
		l.Say(d.ID, "mtu")
	}
	if !d.MAC.IsZero() {
		s.Put("MACAddress", d.MAC.String())
		l.Say(d.ID, "macaddress")
	}
	return s
}

func networkKeys(d device.Device, s *unitfile.Section, l *ledger.Ledger) {
	putKeys(d, s, l)
	s.Put("LinkLocalAddressing", linkLocal(d))
	if d.Key("link-local") != nil {
		l.Say(d.ID, "link-local")
	}
	carrier, said := d.Truth("ignore-carrier")
	switch {
	case carrier || !said && d.Kind != device.Ethernet:
		s.Put("ConfigureWithoutCarrier", "yes")
	case said:
		s.Put("ConfigureWithoutCarrier", "no")
	}
	if said {
		l.Say(d.ID, "ignore-carrier")
	}
}

// linkLocal are the families that get link-local addresses: netplan gives a
// port none, others IPv6's unless they say.
func linkLocal(d device.Device) string {
	n := d.Key("link-local")
	if n == nil {
		if d.Master != "" {
			return "no"
		}
		return "ipv6"
	}
	four, six := false, false
	for _, family := range node.Texts(n) {
		four, six = four || family == "ipv4", six || family == "ipv6"
	}
	switch {
	case four && six:
		return "yes"
	case four:
		return "ipv4"
	case six:
		return "ipv6"
	}
	return "no"
}

func addressSection(d device.Device, p netip.Prefix, options *yamldoc.Node, l *ledger.Ledger) unitfile.Section {
	s := unitfile.Section{Name: "Address"}
	s.Put("Address", p.String())
	for _, o := range options.Pairs {
		switch key := "addresses." + o.Key; {
		case o.Key == "label":
			s.Put("Label", o.Value.Text)
			l.Say(d.ID, key)
		case o.Key == "lifetime" && o.Value.Text == "0":
			s.Put("PreferredLifetime", "0")
			l.Say(d.ID, key)
		case o.Key == "lifetime" && o.Value.Text == "forever":
			l.Say(d.ID, key)
		default:
			l.Cannot(d.ID, key, "is not written for systemd-networkd")
		}
	}
	return s
}

// networkNames are the name servers and search domains.
func networkNames(d device.Device, s *unitfile.Section, l *ledger.Ledger) {
	n := d.Key("nameservers")
	for _, row := range [][2]string{{"addresses", "DNS"}, {"search", "Domains"}} {
		values := node.Texts(n.Get(row[0]))
		if len(values) == 0 {
			continue
		}
		l.Say(d.ID, "nameservers."+row[0])
		if row[1] == "Domains" {
			s.Put("Domains", strings.Join(values, " "))
			continue
		}
		for _, v := range values {
			s.Put("DNS", v)
		}
	}
}

// networkPorts are the keys by which networkd ties devices together: a port
// names its master, and a device its VLANs.
func networkPorts(in render.Input, d device.Device, s *unitfile.Section, l *ledger.Ledger) {
	switch d.MasterKind {
	case device.Bond:
		s.Put("Bond", d.Master)
		if device.IsPrimary(in, d) {
			s.Put("PrimarySlave", "true")
		}
	case device.Bridge:
		s.Put("Bridge", d.Master)
	}
	if d.Kind == device.Bond || d.Kind == device.Bridge {
		l.Say(d.ID, "interfaces")
		if o, ok := d.Option("primary"); ok {
			l.Say(d.ID, o.Key)
		}
	}
	for _, v := range in.Host.Network.VLANs {
		if v.Link == d.ID || v.Link == d.Name {
			s.Put("VLAN", v.ID)
			l.Say(v.ID, "link")
		}
	}
}

func routeSections(d device.Device, l *ledger.Ledger) []unitfile.Section {
	var all []unitfile.Section
	for i, r := range d.Routes {
		key := fmt.Sprintf("routes[%d]", i)
		l.Say(d.ID, key)
		said := d.RouteKeys(r)
		if said["via"] == "" && r.Via.IsValid() && said["scope"] == "" {
			said["scope"] = "link"
		}
		s := unitfile.Section{Name: "Route"}
		for _, row := range routeRows {
			if said[row.key] != "" {
				s.Put(row.word, said[row.key])
				l.Say(d.ID, key+"."+row.key)
			}
		}
		all = append(all, s)
	}
	return all
}

func putNumber(s *unitfile.Section, key string, n int) {
	if n != 0 {
		s.Put(key, strconv.Itoa(n))
	}
}

// multipathSections are the routes over several next hops whose first one
// leaves by the device.
func multipathSections(in render.Input, d device.Device, l *ledger.Ledger) []unitfile.Section {
	var all []unitfile.Section
	for i, r := range in.Host.Multipath {
		if len(r.Hops) == 0 || r.Hops[0].Link != d.ID && r.Hops[0].Link != d.Name {
			continue
		}
		s := unitfile.Section{Name: "Route"}
		s.Put("Destination", r.To.String())
		key := fmt.Sprintf("multipath[%d]", i)
		l.Say("", key)
		for _, h := range r.Hops {
			if !h.Gateway.IsValid() {
				l.Cannot("", key, "systemd-networkd has no next hop without a gateway")
				continue
			}
			s.Put("MultiPathRoute", fmt.Sprintf("%s@%s %d", h.Gateway, hopLink(in, h), max(h.Weight, 1)))
		}
		putNumber(&s, "Metric", r.Metric)
		putNumber(&s, "Table", r.Table)
		all = append(all, s)
	}
	return all
}

// hopLink is the interface of a next hop, which may be named by netplan's ID.
func hopLink(in render.Input, h netstate.NextHop) string {
	if names := device.Interfaces(in, []string{h.Link}); len(names) == 1 {
		return names[0]
	}
	return h.Link
}

func ruleSections(d device.Device, l *ledger.Ledger) []unitfile.Section {
	var all []unitfile.Section
	for i, r := range d.Rules {
		key := fmt.Sprintf("routing-policy[%d]", i)
		l.Say(d.ID, key, key+".priority", key+".mark", key+".type-of-service")
		said := device.RuleKeys(r)
		s := unitfile.Section{Name: "RoutingPolicyRule"}
		for _, row := range ruleRows {
			s.Put(row.word, said[row.key])
		}
		all = append(all, s)
	}
	return all
}

// rootQdisc is the section of the device's queueing discipline.
func rootQdisc(d device.Device, l *ledger.Ledger) (unitfile.Section, bool) {
	if d.Settings.Qdisc == "" {
		return unitfile.Section{}, false
	}
	s, err := qdiscSection(d.Settings.Qdisc)
	if err != nil {
		l.Cannot(d.ID, "qdisc", err.Error())
		return s, false
	}
	l.Say(d.ID, "qdisc")
	return s, true
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
		s := unitfile.Section{Name: "DHCPv4"}
		putKeys(d, &s, l)
		putDefault(&s, "RouteMetric", dhcpMetric)
		putDefault(&s, "UseMTU", "true")
		if id := d.Key("dhcp-identifier"); id != nil {
			s.Put("ClientIdentifier", id.Text)
			l.Say(d.ID, "dhcp-identifier")
		}
		all = append(all, s)
	}
	if six {
		s := unitfile.Section{Name: "DHCPv6"}
		putKeys(d, &s, l)
		putDefault(&s, "RouteMetric", dhcpMetric)
		all = append(all, s)
	}
	return all
}

// putDefault adds an assignment to a section that has none of the key.
func putDefault(s *unitfile.Section, key, value string) {
	if s.Get(key) == "" {
		s.Put(key, value)
	}
}
