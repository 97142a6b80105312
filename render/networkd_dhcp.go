package render

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
func dhcpSections(d device, network *unitSection, l *ledger) []unitSection {
	four, said4 := d.truth("dhcp4")
	six, said6 := d.truth("dhcp6")
	if said4 {
		l.say(d.ID, "dhcp4")
	}
	if said6 {
		l.say(d.ID, "dhcp6")
	}
	switch {
	case four && six:
		network.put("DHCP", "yes")
	case four:
		network.put("DHCP", "ipv4")
	case six:
		network.put("DHCP", "ipv6")
	case said4 || said6:
		network.put("DHCP", "no")
	}
	var all []unitSection
	if four {
		s := overrides(d, "dhcp4-overrides", "DHCPv4", l)
		if s.get("RouteMetric") == "" {
			s.put("RouteMetric", dhcpMetric)
		}
		if s.get("UseMTU") == "" {
			s.put("UseMTU", "true")
		}
		if id := d.key("dhcp-identifier"); id != nil {
			s.put("ClientIdentifier", id.Text)
			l.say(d.ID, "dhcp-identifier")
		}
		all = append(all, s)
	}
	if six {
		s := overrides(d, "dhcp6-overrides", "DHCPv6", l)
		if s.get("RouteMetric") == "" {
			s.put("RouteMetric", dhcpMetric)
		}
		all = append(all, s)
	}
	return all
}

func overrides(d device, key, section string, l *ledger) unitSection {
	s := unitSection{name: section}
	n := d.key(key)
	for _, row := range overrideRows {
		v := n.Get(row.netplan)
		if v == nil || section == "DHCPv6" && !row.six {
			continue
		}
		s.put(row.networkd, v.Text)
		l.say(d.ID, key+"."+row.netplan)
	}
	return s
}
