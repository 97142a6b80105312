package render

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// networkUnit are the sections of a device's .network file.
func networkUnit(in Input, d device, l *ledger) []unitSection {
	network := unitSection{name: "Network"}
	all := []unitSection{networkMatch(d, l)}
	if s := linkSection(d, l); len(s.keys) > 0 {
		all = append(all, s)
	}
	dhcp := dhcpSections(d, &network, l)
	networkKeys(d, &network, l)
	var addresses []unitSection
	options := in.addressOptions(d.ID)
	for _, p := range d.Addresses {
		l.say(d.ID, "addresses")
		if o := options[p]; o != nil {
			addresses = append(addresses, addressSection(d, p, o, l))
			continue
		}
		network.put("Address", p.String())
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

func networkMatch(d device, l *ledger) unitSection {
	s := unitSection{name: "Match"}
	if m := d.match; m != nil {
		if !m.MAC.IsZero() {
			s.put("PermanentMACAddress", m.MAC.String())
		}
		if d.setName == "" {
			s.put("Name", m.Name)
		}
		s.put("Driver", strings.Join(m.Drivers, " "))
		s.put("Name", d.setName)
		l.say(d.ID, "match", "set-name")
		if len(s.keys) == 0 {
			s.put("Name", "*")
		}
		return s
	}
	s.put("Name", d.name)
	return s
}

// linkSection is [Link] of a .network file.
func linkSection(d device, l *ledger) unitSection {
	s := unitSection{name: "Link"}
	mode := d.key("activation-mode")
	if mode != nil {
		s.put("ActivationPolicy", mode.Text)
		l.say(d.ID, "activation-mode")
	}
	optional, said := d.truth("optional")
	if mode != nil || optional {
		s.put("RequiredForOnline", "no")
	}
	if said {
		l.say(d.ID, "optional")
	}
	if d.MTU > 0 {
		s.put("MTUBytes", strconv.Itoa(d.MTU))
		l.say(d.ID, "mtu")
	}
	if !d.MAC.IsZero() {
		s.put("MACAddress", d.MAC.String())
		l.say(d.ID, "macaddress")
	}
	return s
}

// plainKeys are netplan's keys that networkd has one of its own for, with
// netplan's value or a boolean.
var plainKeys = [][2]string{
	{"emit-lldp", "EmitLLDP"}, {"accept-ra", "IPv6AcceptRA"}, {"ipv6-privacy", "IPv6PrivacyExtensions"}, {"ipv6-mtu", "IPv6MTUBytes"},
	{"ipv6-address-generation", "IPv6LinkLocalAddressGenerationMode"}, {"critical", "KeepConfiguration"},
}

func networkKeys(d device, s *unitSection, l *ledger) {
	for _, row := range plainKeys {
		n := d.key(row[0])
		if n == nil || n.Kind != yamldoc.ScalarNode {
			continue
		}
		l.say(d.ID, row[0])
		value := n.Text
		if strings.HasSuffix(row[0], "mtu") || strings.HasSuffix(row[0], "generation") {
			s.put(row[1], value)
			continue
		}
		s.put(row[1], map[bool]string{true: "yes", false: "no"}[yes(value)])
	}
	s.put("LinkLocalAddressing", linkLocal(d))
	if d.key("link-local") != nil {
		l.say(d.ID, "link-local")
	}
	carrier, said := d.truth("ignore-carrier")
	switch {
	case carrier || !said && d.kind != kindEthernet:
		s.put("ConfigureWithoutCarrier", "yes")
	case said:
		s.put("ConfigureWithoutCarrier", "no")
	}
	if said {
		l.say(d.ID, "ignore-carrier")
	}
}

// linkLocal are the families that get link-local addresses: netplan gives a
// port none, others IPv6's unless they say.
func linkLocal(d device) string {
	n := d.key("link-local")
	if n == nil {
		if d.master != "" {
			return "no"
		}
		return "ipv6"
	}
	four, six := false, false
	for _, family := range texts(n) {
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

func addressSection(d device, p netip.Prefix, options *yamldoc.Node, l *ledger) unitSection {
	s := unitSection{name: "Address"}
	s.put("Address", p.String())
	for _, o := range options.Pairs {
		switch key := "addresses." + o.Key; {
		case o.Key == "label":
			s.put("Label", o.Value.Text)
			l.say(d.ID, key)
		case o.Key == "lifetime" && o.Value.Text == "0":
			s.put("PreferredLifetime", "0")
			l.say(d.ID, key)
		case o.Key == "lifetime" && o.Value.Text == "forever":
			l.say(d.ID, key)
		default:
			l.cannot(d.ID, key, "is not written for systemd-networkd")
		}
	}
	return s
}

// networkNames are the name servers and search domains.
func networkNames(d device, s *unitSection, l *ledger) {
	n := d.key("nameservers")
	for _, row := range [][2]string{{"addresses", "DNS"}, {"search", "Domains"}} {
		values := texts(n.Get(row[0]))
		if len(values) == 0 {
			continue
		}
		l.say(d.ID, "nameservers."+row[0])
		if row[1] == "Domains" {
			s.put("Domains", strings.Join(values, " "))
			continue
		}
		for _, v := range values {
			s.put("DNS", v)
		}
	}
}

// networkPorts are the keys by which networkd ties devices together: a port
// names its master, and a device its VLANs.
func networkPorts(in Input, d device, s *unitSection, l *ledger) {
	switch d.masterKind {
	case kindBond:
		s.put("Bond", d.master)
		if in.isPrimary(d) {
			s.put("PrimarySlave", "true")
		}
	case kindBridge:
		s.put("Bridge", d.master)
	}
	if d.kind == kindBond || d.kind == kindBridge {
		l.say(d.ID, "interfaces")
		if o, ok := d.option("primary"); ok {
			l.say(d.ID, o.key)
		}
	}
	for _, v := range in.Host.Network.VLANs {
		if v.Link == d.ID || v.Link == d.name {
			s.put("VLAN", v.ID)
			l.say(v.ID, "link")
		}
	}
}

func routeSections(d device, l *ledger) []unitSection {
	var all []unitSection
	for i, r := range d.Routes {
		key := fmt.Sprintf("routes[%d]", i)
		s := unitSection{name: "Route"}
		s.put("Destination", r.To.String())
		l.say(d.ID, key, key+".from", key+".on-link", key+".metric", key+".table", key+".type", key+".scope", key+".mtu")
		if gateway := d.via(r); gateway.IsValid() {
			s.put("Gateway", gateway.String())
		} else if r.Via.IsValid() {
			s.put("Scope", "link")
		}
		if r.From.IsValid() {
			s.put("PreferredSource", r.From.String())
		}
		if r.OnLink {
			s.put("GatewayOnLink", "true")
		}
		s.put("Scope", r.Scope)
		if r.Type != "unicast" {
			s.put("Type", r.Type)
		}
		putNumber(&s, "Metric", r.Metric)
		putNumber(&s, "Table", r.Table)
		putNumber(&s, "MTUBytes", r.MTU)
		for _, p := range r.Unread {
			name := map[string]string{"congestion-window": "InitialCongestionWindow", "advertised-receive-window": "InitialAdvertisedReceiveWindow",
				"advertised-mss": "TCPAdvertisedMaximumSegmentSize"}[p.Key]
			if name != "" {
				s.put(name, p.Value.Text)
				l.say(d.ID, key+"."+p.Key)
			}
		}
		all = append(all, s)
	}
	return all
}

func putNumber(s *unitSection, key string, n int) {
	if n != 0 {
		s.put(key, strconv.Itoa(n))
	}
}

// multipathSections are the routes over several next hops whose first one
// leaves by the device.
func multipathSections(in Input, d device, l *ledger) []unitSection {
	var all []unitSection
	for i, r := range in.Host.Multipath {
		if len(r.Hops) == 0 || r.Hops[0].Link != d.ID && r.Hops[0].Link != d.name {
			continue
		}
		s := unitSection{name: "Route"}
		s.put("Destination", r.To.String())
		key := fmt.Sprintf("multipath[%d]", i)
		l.say("", key)
		for _, h := range r.Hops {
			if !h.Gateway.IsValid() {
				l.cannot("", key, "systemd-networkd has no next hop without a gateway")
				continue
			}
			s.put("MultiPathRoute", fmt.Sprintf("%s@%s %d", h.Gateway, in.linkName(h), max(h.Weight, 1)))
		}
		putNumber(&s, "Metric", r.Metric)
		putNumber(&s, "Table", r.Table)
		all = append(all, s)
	}
	return all
}

// linkName is the interface of a next hop, which may be named by netplan's ID.
func (in Input) linkName(h netstate.NextHop) string {
	if names := in.interfaces([]string{h.Link}); len(names) == 1 {
		return names[0]
	}
	return h.Link
}

func ruleSections(d device, l *ledger) []unitSection {
	var all []unitSection
	for i, r := range d.Rules {
		key := fmt.Sprintf("routing-policy[%d]", i)
		l.say(d.ID, key, key+".priority", key+".mark", key+".type-of-service")
		s := unitSection{name: "RoutingPolicyRule"}
		if r.From.IsValid() {
			s.put("From", r.From.String())
		}
		if r.To.IsValid() {
			s.put("To", r.To.String())
		}
		putNumber(&s, "Table", r.Table)
		putNumber(&s, "Priority", r.Priority)
		putNumber(&s, "FirewallMark", r.Mark)
		putNumber(&s, "TypeOfService", r.TOS)
		all = append(all, s)
	}
	return all
}

// rootQdisc is the section of the device's queueing discipline.
func rootQdisc(d device, l *ledger) (unitSection, bool) {
	if d.settings.Qdisc == "" {
		return unitSection{}, false
	}
	s, err := qdiscSection(d.settings.Qdisc)
	if err != nil {
		l.cannot(d.ID, "qdisc", err.Error())
		return s, false
	}
	l.say(d.ID, "qdisc")
	return s, true
}
