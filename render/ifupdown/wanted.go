package ifupdown

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ipwords"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// said is a line of a stanza that is wanted: what it is about, and its text. A topic
// is a class and, where a class may have several lines, what tells them apart.
type said struct{ class, id, text string }

// wantedStanza is what a stanza of a family is to say.
type wantedStanza struct {
	method string // "" leaves it
	lines  []said
	// lists are the classes of which nothing else may stay.
	lists []string
}

func (s *wantedStanza) add(class, id, text string) { s.lines = append(s.lines, said{class, id, text}) }

func (s *wantedStanza) only(classes ...string) { s.lists = append(s.lists, classes...) }

// wantedOf is what the stanzas of a device are to say by family, what its aliases are
// by name, and tells the ledger.
func (w *writer) wantedOf(d device.Device) (four, six wantedStanza, aliases map[string]netip.Prefix) {
	aliases = map[string]netip.Prefix{}
	w.l.ByName(d)
	w.link(d, &four)
	w.addresses(d, &four, &six, aliases)
	w.routes(d, &four, &six)
	w.names(d, &four)
	if mtu := d.Text("ipv6-mtu"); mtu != "" && six.method != "" && !w.old.isIfupdown2() {
		six.add("mtu", "", "mtu "+mtu) // which ifupdown makes the MTU of IPv6 alone (inet6.defn)
		w.l.Say(d.ID, "ipv6-mtu")
	}
	return four, six, aliases
}

// link is what a device is and what it is made of.
func (w *writer) link(d device.Device, s *wantedStanza) {
	if d.MTU > 0 {
		key := "mtu "
		if kind, _ := w.ovsOf(d); kind != "" && kind != ovsPort && w.old.isIfupdown2() {
			key = "ovs_mtu "
		}
		s.add("mtu", "", key+strconv.Itoa(d.MTU))
		w.l.Say(d.ID, "mtu")
	}
	if !d.MAC.IsZero() {
		s.add("hwaddress", "", "hwaddress ether "+d.MAC.String())
		w.l.Say(d.ID, "macaddress")
	}
	switch d.Kind {
	case device.Bond:
		w.ports(d, "bond-slaves", s)
		w.bond(d, s)
	case device.Bridge:
		w.ports(d, "bridge-ports", s)
		w.bridge(d, s)
	case device.VLAN:
		if kind, _ := w.ovsOf(d); kind != "" {
			break
		}
		w.l.Say(d.ID, "id", "link")
		if parent, tag, _ := vlanOfName(d.Name); tag != strconv.Itoa(d.Tag) || parent != "" && parent != d.Parent {
			s.add("vlan-id", "", "vlan-id "+strconv.Itoa(d.Tag))
			w.out.Warn(d.ID, "id", "ifupdown takes a VLAN's number from its name, "+d.Parent+"."+strconv.Itoa(d.Tag)+": vlan-id is ifupdown2's")
		}
		if parent, _, _ := vlanOfName(d.Name); parent != d.Parent {
			s.add("vlan-raw-device", "", "vlan-raw-device "+d.Parent)
		}
	case device.Dummy:
		s.add("make", "", "pre-up ip link add "+d.Name+" type dummy || true")
		w.l.Say(d.ID, string(device.Dummy))
	}
	w.ovs(d, s)
	calls, keys := d.EthtoolCalls(d.Name)
	for _, call := range calls {
		letter, _, _ := strings.Cut(call, " ")
		s.add("ethtool", letter, "post-up ethtool "+call)
	}
	w.l.Say(d.ID, keys...)
	if d.Settings.Qdisc != "" {
		s.add("qdisc", "", "post-up tc qdisc replace dev "+d.Name+" root "+d.Settings.Qdisc)
		w.l.Say(d.ID, "qdisc")
	}
	for _, o := range bondopt.Ports() {
		value, wanted := d.Settings.Port[o.Name]
		if !wanted || d.MasterKind != device.Bond {
			continue
		}
		if o.Name == bondopt.QueueID {
			continue // the bond may get the port only after the port's own lines ran
		}
		s.add("port", o.Name, "post-up ip link set "+d.Name+" type bond_slave "+o.Name+" "+value+" || true")
		w.l.Say(d.ID, o.Key)
	}
	if mode := d.Text("activation-mode"); mode == "manual" {
		w.l.Say(d.ID, "activation-mode")
	}
}

// ports are a bond's or a bridge's, unless some stanza names them already.
func (w *writer) ports(d device.Device, key string, s *wantedStanza) {
	w.l.Say(d.ID, "interfaces")
	if !w.samePorts(d) {
		s.add("ports", "", key+" "+cmp.Or(strings.Join(d.Ports, " "), "none"))
	}
}

// bond are the options: those that both programs set by their keys, others by a line
// that a shell runs where the kernel takes them while the bond has ports and is up.
func (w *writer) bond(d device.Device, s *wantedStanza) {
	for _, o := range d.Options {
		row, known := bondopt.Find(o.Name)
		value := o.Value
		if row.Kind == bondopt.Port {
			if names := device.Interfaces(w.in, []string{value}); len(names) == 1 {
				value = names[0]
			}
		}
		if !known || value == "" {
			continue
		}
		w.l.Say(d.ID, o.Key)
		ifenslave, ifupdown2 := setBy(row)
		live := !row.NoPorts && !row.NeedsDown
		text := Key(row) + " " + strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }), " ")
		switch {
		case ifenslave && ifupdown2:
		case live && !row.Listed():
			text = "post-up echo " + value + " > /sys/class/net/" + d.Name + "/bonding/" + row.Name
		case ifenslave:
			w.out.Warn(d.ID, o.Key, "ifupdown (ifenslave) sets it, ifupdown2 skips it without a word")
		case ifupdown2:
			w.out.Warn(d.ID, o.Key, "ifupdown2 sets it, ifupdown (ifenslave) does not")
		default:
			w.l.Cannot(d.ID, o.Key, "neither ifupdown nor ifupdown2 sets it, and the kernel takes it only before the bond has ports or is up")
			continue
		}
		s.add("bond", row.Name, text)
	}
}

func (w *writer) bridge(d device.Device, s *wantedStanza) {
	for _, p := range node.Pairs(d.Parameters) {
		if p.Key == "stp" {
			s.add("bridge", "bridge-stp", "bridge-stp "+map[bool]string{true: "on", false: "off"}[node.True(p.Value)])
			w.l.Say(d.ID, "parameters.stp")
			continue
		}
		for key, parameter := range bridgeParameters {
			if parameter == p.Key && p.Value.Text != "" {
				s.add("bridge", key, key+" "+p.Value.Text)
				w.l.Say(d.ID, "parameters."+p.Key)
			}
		}
	}
}

func (w *writer) addresses(d device.Device, four, six *wantedStanza, aliases map[string]netip.Prefix) {
	dhcp4, said4 := d.Truth("dhcp4")
	dhcp6, said6 := d.Truth("dhcp6")
	accept, saidRA := d.Truth("accept-ra")
	for _, k := range [...]struct {
		key  string
		said bool
	}{{"dhcp4", said4}, {"dhcp6", said6}, {"accept-ra", saidRA}} {
		if k.said {
			w.l.Say(d.ID, k.key)
		}
	}
	switch {
	case dhcp4:
		four.method = "dhcp"
	case said4:
		four.method = "manual"
	}
	switch {
	case dhcp6:
		six.method = "dhcp"
	case accept:
		six.method = "auto"
	}
	options := device.AddressOptions(w.in, d.ID)
	for _, p := range d.Addresses {
		w.l.Say(d.ID, "addresses")
		label := ""
		for _, q := range node.Pairs(options[p]) {
			if q.Key == "label" && p.Addr().Is4() && strings.HasPrefix(q.Value.Text, d.Name+":") {
				label = q.Value.Text
				w.l.Say(d.ID, "addresses.label")
				continue
			}
			w.l.Cannot(d.ID, "addresses."+q.Key, "interfaces(5) cannot represent it")
		}
		s := six
		if p.Addr().Is4() {
			s = four
		}
		if label != "" {
			aliases[label] = p
			continue
		}
		if s.method == "" || s.method == "manual" {
			s.method = "static"
		}
		first := !slices.ContainsFunc(s.lines, func(l said) bool { return l.class == "address" })
		if s.method != "static" || !first && !w.old.isIfupdown2() {
			// Of several addresses in a stanza ifupdown takes the first.
			s.add("address", p.String(), "post-up "+ipCommand(p.Addr().Is4())+" address add "+p.String()+" dev "+d.Name+" || true")
			continue
		}
		s.add("address", p.String(), "address "+p.String())
	}
	for _, s := range []*wantedStanza{four, six} {
		if s.method == "static" {
			s.only("address", "netmask", "network", "broadcast")
		}
	}
	if saidRA && !accept && six.method == "static" {
		six.add("accept-ra", "", "accept_ra 0")
	} else if saidRA && !accept {
		w.l.Cannot(d.ID, "accept-ra", "only a stanza with an address of IPv6 says it")
	}
}

// routes are the gateway, and lines of ip(8) for all else.
func (w *writer) routes(d device.Device, four, six *wantedStanza) {
	for i, r := range d.Routes {
		s := six
		if r.To.Addr().Is4() {
			s = four
		}
		s.only("route")
		if r.To.Bits() == 0 && device.Table(r.Table) == device.MainTable {
			s.only("gateway", "metric") // a gateway that the fabric does not speak of stays
		}
		key := fmt.Sprintf("routes[%d]", i)
		w.l.Say(d.ID, key, key+".type")
		for _, word := range ipwords.RouteKeys() {
			w.l.Say(d.ID, key+"."+word)
		}
		words := ipwords.RouteLine(d, r)
		if plainDefault(r) && d.Via(r).IsValid() && s.method == "static" && !slices.ContainsFunc(s.lines, func(l said) bool { return l.class == "gateway" }) {
			s.add("gateway", r.Via.String(), "gateway "+r.Via.String())
			if r.Metric > 0 {
				s.add("metric", strconv.Itoa(r.Metric), "metric "+strconv.Itoa(r.Metric))
			}
			continue
		}
		s.add("route", canonicalRoute(d.Name, words, r.To.Addr().Is4()), "post-up "+ipCommand(r.To.Addr().Is4())+" route replace "+strings.Join(words, " "))
	}
	for i, r := range d.Rules {
		s := six
		if device.Is4(r) {
			s = four
		}
		s.only("rule")
		key := fmt.Sprintf("routing-policy[%d]", i)
		w.l.Say(d.ID, key, key+".priority", key+".mark", key+".type-of-service")
		if r.From.IsValid() {
			w.l.Say(d.ID, "source_rules")
		}
		words := strings.Join(ipwords.RuleLine(r), " ")
		id := canonicalRule(ipwords.RuleLine(r), device.Is4(r))
		s.add("rule", id, "post-up "+ipCommand(device.Is4(r))+" rule add "+words+" || true")
		s.add("undo", id, "pre-down "+ipCommand(device.Is4(r))+" rule del "+words+" || true")
	}
	for i, m := range w.in.Host.Multipath {
		if len(m.Hops) == 0 || m.Hops[0].Link != d.Name {
			continue
		}
		w.l.Say("", fmt.Sprintf("multipath[%d]", i))
		route := m.Kernel()
		words := []string{readback.DestinationText(m.To)}
		if m.Table != 0 {
			words = append(words, "table", strconv.Itoa(m.Table))
		}
		if m.Metric != 0 {
			words = append(words, "metric", strconv.Itoa(m.Metric))
		}
		for _, h := range route.Hops {
			words = append(words, "nexthop")
			if h.Gateway.IsValid() {
				words = append(words, "via", h.Gateway.String())
			}
			words = append(words, "dev", h.Link)
			if h.Weight > 1 {
				words = append(words, "weight", strconv.Itoa(h.Weight))
			}
		}
		four.add("multipath", words[0], "post-up ip route replace "+strings.Join(words, " "))
		w.out.Warn("", fmt.Sprintf("multipath[%d]", i), "it stands with "+d.Name+" and wants its other links up before: a link that comes up later is not in it")
	}
}

// plainDefault reports a default route that a gateway line says wholly.
func plainDefault(r fabric.Route) bool {
	return r.To.Bits() == 0 && r.Via.IsValid() && !r.OnLink && r.Table == 0 && r.MTU == 0 && !r.From.IsValid() && r.Scope == "" && (r.Type == "" || r.Type == "unicast") && len(r.Unread) == 0
}

func ipCommand(four bool) string {
	if four {
		return "ip"
	}
	return "ip -6"
}

func (w *writer) names(d device.Device, s *wantedStanza) {
	servers := d.Key("nameservers")
	for _, k := range [...][2]string{{"addresses", "dns-nameservers"}, {"search", "dns-search"}} {
		if words := node.Texts(servers.Get(k[0])); len(words) > 0 {
			s.add(k[1], "", k[1]+" "+strings.Join(words, " "))
			w.l.Say(d.ID, "nameservers."+k[0])
			w.out.Warn(d.ID, "nameservers."+k[0], "only the packages resolvconf and openresolv read it; without them it is /etc/resolv.conf's")
		}
	}
}
