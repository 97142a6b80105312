package fabric

import (
	"fmt"
	"net/netip"
	"sort"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// netDescriber writes one observed host's network as netplan.
type netDescriber struct {
	host   netstate.Host
	shared map[netip.Addr]bool
	// standsFor leads from a bond with one port to the port: a fabric has no
	// bond of one port, and one link is all it can use.
	standsFor map[string]string
	needed    map[string]bool
	ruled     map[int]bool // rules placed, by index
}

func newNetDescriber(h netstate.Host, shared map[netip.Addr]bool) *netDescriber {
	d := &netDescriber{host: h, shared: shared, standsFor: map[string]string{}, needed: map[string]bool{}, ruled: map[int]bool{}}
	for _, l := range h.Links {
		if l.Bond != nil && len(l.Bond.Ports) == 1 {
			d.standsFor[l.Name] = l.Bond.Ports[0]
		}
	}
	for _, l := range h.Links {
		bond := l.Bond != nil && len(l.Bond.Ports) > 1
		if d.section(l) != "" && (bond || len(d.own(l)) > 0) {
			d.need(l.Name)
		}
	}
	return d
}

// section is where netplan defines a link; "" for one that is left out.
func (d *netDescriber) section(l netstate.Link) string {
	switch {
	case l.Loopback() && len(d.own(l)) > 0: // as netplan has it, for its addresses
		return "ethernets"
	case l.Bond != nil && len(l.Bond.Ports) == 0, l.Loopback(), badName(l.Name) != "":
		return ""
	case l.Bond != nil:
		return "bonds"
	case l.VLAN != nil:
		return "vlans"
	}
	switch l.Kind {
	case "", "veth", "macvlan", "ipvlan", "netdevsim", "ifb":
		return "ethernets"
	case "dummy":
		return "dummy-devices"
	case "bridge":
		if len(d.bridged(l.Name)) > 0 {
			return "bridges"
		}
	}
	return ""
}

// useRemark is a line to uncomment where the link over which the host is managed
// is left out of traffic; "" where it is not.
func (d *netDescriber) useRemark() string {
	var all, why []string
	for _, l := range d.host.Links {
		if d.section(l) == "" || l.Loopback() || len(d.own(l)) == 0 {
			continue
		}
		all = append(all, d.through(l.Name))
		if l.Unused.Managed() {
			why = append(why, fmt.Sprintf("without it %s is left out: %s", l.Name, managedWords[l.Unused]))
		}
	}
	if len(why) == 0 {
		return ""
	}
	return "use: " + oneLine(names(all)) + "  # " + strings.Join(why, ", ")
}

// bridged are the ports of a bridge that lead off the host.
func (d *netDescriber) bridged(bridge string) []string {
	var ports []string
	for _, l := range d.host.Links {
		if l.Master == bridge && l.Name != bridge && (l.Kind == "" || l.Bond != nil || l.VLAN != nil) {
			ports = append(ports, l.Name)
		}
	}
	return ports
}

// own are the addresses that lead to this host and no other.
func (d *netDescriber) own(l netstate.Link) []netip.Prefix {
	var own []netip.Prefix
	for _, p := range l.Addresses {
		if connects(p) && !d.shared[p.Addr()] {
			own = append(own, p)
		}
	}
	return own
}

// need marks a link and what it rides on.
func (d *netDescriber) need(name string) {
	l, ok := d.host.Link(name)
	if !ok || d.needed[name] {
		return
	}
	d.needed[name] = true
	switch {
	case l.VLAN != nil:
		d.need(l.VLAN.Parent)
	case l.Bond != nil:
		for _, port := range l.Bond.Ports {
			d.need(port)
		}
	case l.Kind == "bridge":
		for _, port := range d.bridged(name) {
			d.need(port)
		}
	}
}

// ports are the needed links that are no bond, VLAN or bridge.
func (d *netDescriber) ports() []netstate.Link {
	var ports []netstate.Link
	for _, l := range d.host.Links {
		if d.needed[l.Name] && d.section(l) == "ethernets" {
			ports = append(ports, l)
		}
	}
	sort.SliceStable(ports, func(i, j int) bool { return naturally(ports[i].Name, ports[j].Name) })
	return ports
}

func (d *netDescriber) network() *Node {
	n := &Node{Kind: MappingNode}
	n.set("version", text("2"))
	for _, section := range []string{"ethernets", "dummy-devices", "bonds", "bridges", "vlans"} {
		devices := &Node{Kind: MappingNode}
		for _, l := range d.inSection(section) {
			if port := d.standsFor[l.Name]; port != "" {
				n.remark("%s has one port, %s, and is written as that link: to use a bond name its other ports", l.Name, port)
				continue
			}
			devices.set(l.Name, d.device(section, l, devices))
		}
		n.set(section, filled(devices))
	}
	for _, l := range d.host.Links {
		if own := d.own(l); d.section(l) == "" && len(own) > 0 {
			n.remark("%s (%s) with %s is left out: not a link that can be declared here", l.Name, l.Kind, prefixes(own))
		}
	}
	for i, r := range d.host.Rules {
		if !d.ruled[i] && !kernelRule(r) {
			n.remark("rule %d to table %d belongs to no link written here", r.Priority, r.Table)
		}
	}
	return n
}

func (d *netDescriber) inSection(section string) []netstate.Link {
	if section == "ethernets" {
		return d.ports()
	}
	var links []netstate.Link
	for _, l := range d.host.Links {
		if d.needed[l.Name] && d.section(l) == section {
			links = append(links, l)
		}
	}
	return links
}

func (d *netDescriber) device(section string, l netstate.Link, devices *Node) *Node {
	n := &Node{Kind: MappingNode}
	carried := []netstate.Link{l} // with the bonds that l stands for
	for _, other := range d.host.Links {
		if d.standsFor[other.Name] == l.Name {
			carried = append(carried, other)
		}
	}
	switch section {
	case "bonds":
		n.set("interfaces", names(l.Bond.Ports))
		n.set("parameters", d.parameters(*l.Bond, n))
	case "bridges":
		n.set("interfaces", names(d.bridged(l.Name)))
	case "vlans":
		n.set("id", text(strconv.Itoa(l.VLAN.ID)))
		n.set("link", text(d.through(l.VLAN.Parent)))
	}
	if l.MTU != 0 && l.MTU != d.impliedMTU(l) {
		n.set("mtu", count(l.MTU))
	}
	addresses := &Node{Kind: SequenceNode, Flow: true}
	for _, c := range carried {
		for _, p := range d.own(c) {
			addresses.Items = append(addresses.Items, text(p.String()))
		}
	}
	n.set("addresses", filled(addresses))
	routes, rules := &Node{Kind: SequenceNode}, &Node{Kind: SequenceNode}
	for _, c := range carried {
		d.routes(c, routes, rules)
	}
	n.set("routes", filled(routes))
	n.set("routing-policy", filled(rules))
	if !l.Up || !l.Carrier {
		devices.remark("%s was down when this was written", l.Name)
	}
	if len(n.Pairs) == 0 {
		n.Flow = true
	}
	return n
}

func names(all []string) *Node {
	n := &Node{Kind: SequenceNode, Flow: true}
	for _, name := range all {
		n.Items = append(n.Items, text(name))
	}
	return n
}

// through is the link itself, or the port of a bond of one.
func (d *netDescriber) through(name string) string {
	if port := d.standsFor[name]; port != "" {
		return port
	}
	return name
}

// impliedMTU is what State gives a link whose MTU the file does not say.
func (d *netDescriber) impliedMTU(l netstate.Link) int {
	upper := ""
	switch {
	case l.VLAN != nil:
		upper = d.through(l.VLAN.Parent)
	case l.Port != nil && d.standsFor[l.Port.Bond] == "":
		upper = l.Port.Bond
	}
	if other, ok := d.host.Link(upper); ok && other.MTU != 0 {
		return other.MTU
	}
	if l.Loopback() {
		return loopbackMTU
	}
	if l.Kind == "bridge" {
		return 0 // depends on all its ports: always said
	}
	return defaultMTU
}

// parameters are the bond's options that are not the kernel's defaults, the
// mode always.
func (d *netDescriber) parameters(b netstate.Bond, above *Node) *Node {
	n := &Node{Kind: MappingNode}
	for _, r := range bondRows {
		value := r.option(b)
		if value == "" || value == r.initial && r.kernel != "mode" {
			continue
		}
		if r.kernel == "packets_per_slave" && b.Mode != netstate.BalanceRR || r.kernel == "lacp_rate" && b.Mode != netstate.LACP {
			continue
		}
		node := r.netplanValue(value)
		ps := &problems{}
		r.key.value.read(&decoder{ps}, place(r.key.name), node, &Bond{})
		if len(ps.all) > 0 {
			above.remark("%s is %s, which netplan cannot say", r.kernel, value)
			continue
		}
		n.set(r.key.name, node)
	}
	return n
}

// kernelRule reports the rules that every host has (fib_default_rules_init,
// net/ipv4/fib_rules.c).
func kernelRule(r netstate.Rule) bool {
	return r.Table >= 253 && r.Table <= 255 && (r.Priority == 0 || r.Priority >= 32766) && !r.From.IsValid() && !r.To.IsValid()
}

func (d *netDescriber) routes(l netstate.Link, routes, rules *Node) {
	tables := map[int]bool{}
	for _, r := range d.host.Routes {
		if r.Link != l.Name || !r.Dst.IsValid() || d.implied(l, r) {
			continue
		}
		tables[r.Table] = true
		item := &Node{Kind: MappingNode, Flow: true}
		if r.Dst.Bits() == 0 {
			item.set("to", text("default"))
		} else {
			item.set("to", text(r.Dst.String()))
		}
		switch {
		case r.Gateway.IsValid():
			item.set("via", text(r.Gateway.String()))
			if !d.reaches(l, r.Gateway) {
				item.set("on-link", text("true"))
			}
		case r.Dst.Bits() == 0 && !r.Dst.Addr().Is4():
			continue // netplan's default without a next hop is IPv4's
		default:
			item.set("scope", text("link"))
		}
		if r.Source.IsValid() {
			item.set("from", text(r.Source.String()))
		}
		item.set("metric", count(r.Metric))
		if r.Table != mainTable {
			item.set("table", count(r.Table))
		}
		routes.Items = append(routes.Items, item)
	}
	for i, r := range d.host.Rules {
		if d.ruled[i] || kernelRule(r) || !tables[r.Table] && !owner(l, r.From) {
			continue
		}
		d.ruled[i] = true
		item := &Node{Kind: MappingNode, Flow: true}
		if r.From.IsValid() {
			item.set("from", text(r.From.String()))
		}
		if r.To.IsValid() {
			item.set("to", text(r.To.String()))
		}
		item.set("table", count(r.Table))
		item.set("priority", count(r.Priority))
		rules.Items = append(rules.Items, item)
	}
}

func owner(l netstate.Link, p netip.Prefix) bool {
	for _, a := range l.Addresses {
		if p.IsValid() && p.Contains(a.Addr()) {
			return true
		}
	}
	return false
}

func (d *netDescriber) reaches(l netstate.Link, gateway netip.Addr) bool {
	for _, a := range l.Addresses {
		if a.Contains(gateway) {
			return true
		}
	}
	return gateway.IsLinkLocalUnicast()
}

// implied reports a route that the kernel makes from an address or an up link:
// the local table, connected networks, link-local, multicast and broadcast.
func (d *netDescriber) implied(l netstate.Link, r netstate.Route) bool {
	dst := r.Dst.Addr()
	if r.Table == 255 || dst.IsMulticast() || dst.IsLinkLocalUnicast() || dst.IsLoopback() || len(r.Hops) > 0 {
		return true
	}
	if r.Gateway.IsValid() || r.Table != mainTable {
		return false
	}
	for _, a := range l.Addresses {
		if a.Masked() == r.Dst || a.Addr() == dst {
			return true
		}
	}
	return false
}
