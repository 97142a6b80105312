package describe

import (
	"fmt"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/subnets"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// describer writes one observed host's network as netplan.
type describer struct {
	host   netstate.Host
	shared map[netip.Addr]bool
	// taken says whose an address is that stands in the file already.
	taken  map[netip.Addr]string
	needed map[string]bool
	first  string       // the device that routes over no link stand under
	ruled  map[int]bool // rules placed, by index
	unsaid unsaid
	places map[routePlace]bool // of routes written
	// restsOn are sysctls that a plan would set for what was written.
	restsOn []string
}

func newDescriber(h netstate.Host, shared map[netip.Addr]bool, taken map[netip.Addr]string) *describer {
	d := &describer{host: h, shared: shared, taken: taken, needed: map[string]bool{}, ruled: map[int]bool{}}
	for _, l := range h.Links {
		if d.section(l) != "" && (l.Bond != nil || l.OVS != nil || len(d.own(l)) > 0) && d.whole(l.Name, 0) {
			d.need(l.Name)
		}
	}
	for _, section := range deviceSections {
		for _, l := range d.inSection(section) {
			if d.first == "" && l.Port == nil && !l.Loopback() {
				d.first = l.Name
			}
		}
	}
	return d
}

// deviceSections are the sections of netplan that are written, in order.
var deviceSections = []string{"ethernets", "dummy-devices", "bonds", "bridges", "vlans"}

// deepest is more links on each other than any host has.
const deepest = 16

// whole reports a link that can be written with all that it rides on.
func (d *describer) whole(name string, depth int) bool {
	l, ok := d.host.Link(name)
	if !ok || d.section(l) == "" || depth > deepest {
		return false
	}
	if l.VLAN != nil {
		return d.whole(l.VLAN.Parent, depth+1)
	}
	for _, port := range portsOf(l) {
		if !d.whole(port, depth+1) {
			return false
		}
	}
	return true
}

// portsOf are a bond's ports, or the members of one of Open vSwitch.
func portsOf(l netstate.Link) []string {
	switch {
	case l.Bond != nil:
		return l.Bond.Ports
	case l.OVS != nil:
		return l.OVS.Ports
	}
	return nil
}

// section is where netplan defines a link; "" for one that is left out.
func (d *describer) section(l netstate.Link) string {
	switch {
	case l.Loopback() && len(d.own(l)) > 0: // as netplan has it, for its addresses
		return "ethernets"
	case l.Loopback(), !fabric.CanName(l.Name):
		return ""
	case l.VLAN != nil && (l.VLAN.Protocol != "" || l.VLAN.Parent == ""):
		return "" // netplan's are 802.1Q, on a link of the same host
	case l.Bond != nil, l.OVS != nil:
		return "bonds"
	case l.VLAN != nil:
		return "vlans"
	}
	switch l.Kind {
	case "", "veth", "macvlan", "ipvlan", "netdevsim", "ifb":
		return "ethernets"
	case "dummy":
		return "dummy-devices"
	case "bridge", netstate.KindOVSBridge:
		if len(d.bridged(l.Name)) > 0 {
			return "bridges"
		}
	}
	return ""
}

// useRemark is a line to uncomment where the link over which the host is managed
// is left out of traffic; "" where it is not.
func (d *describer) useRemark() string {
	var all, why []string
	for _, l := range d.host.Links {
		if !d.needed[l.Name] || l.Loopback() || len(d.own(l)) == 0 {
			continue
		}
		all = append(all, l.Name)
		if l.Unused.Managed() {
			why = append(why, fmt.Sprintf("without it %s is left out: %s", l.Name, fabric.ManagedWords[l.Unused]))
		}
	}
	if len(why) == 0 {
		return ""
	}
	return "use: " + yamldoc.OneLine(yamldoc.Texts(all)) + "  # " + strings.Join(why, ", ")
}

// bridged are the ports of a bridge that lead off the host.
func (d *describer) bridged(bridge string) []string {
	var ports []string
	self, _ := d.host.Link(bridge)
	only, _ := d.host.OutwardPort(self)
	for _, l := range d.host.Links {
		if l.Master == bridge && l.Name != bridge && (l.Kind == "" || len(portsOf(l)) > 0 || l.VLAN != nil || l.Name == only) && d.whole(l.Name, 1) {
			ports = append(ports, l.Name)
		}
	}
	return ports
}

// own are the addresses that lead to this host and no other.
func (d *describer) own(l netstate.Link) []netip.Prefix {
	var own []netip.Prefix
	for _, p := range l.Addresses {
		if subnets.Connects(p) && !d.shared[p.Addr()] {
			own = append(own, p)
		}
	}
	return own
}

// need marks a link and what it rides on.
func (d *describer) need(name string) {
	l, ok := d.host.Link(name)
	if !ok || d.needed[name] {
		return
	}
	d.needed[name] = true
	for _, port := range portsOf(l) {
		d.need(port)
	}
	d.need(l.RidesOn())
	if l.Switches() {
		for _, port := range d.bridged(name) {
			d.need(port)
		}
	}
}

// ports are the needed links that are no bond, VLAN or bridge. A macvlan or ipvlan, for
// which the file has no key, is as fast as what it rides on.
func (d *describer) ports() []netstate.Link {
	var ports []netstate.Link
	for _, l := range d.host.Links {
		if d.needed[l.Name] && d.section(l) == "ethernets" {
			if on, ok := d.host.Link(l.RidesOn()); ok {
				l.Speed, l.Framing, l.Qdiscs, l.Kind = on.Speed, on.Framing, on.Qdiscs, on.Kind
			}
			ports = append(ports, l)
		}
	}
	sort.SliceStable(ports, func(i, j int) bool { return netstate.NaturalLess(ports[i].Name, ports[j].Name) })
	return ports
}

func (d *describer) network() *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	n.Set("version", yamldoc.Text("2"))
	for _, section := range deviceSections {
		devices := &yamldoc.Node{Kind: yamldoc.MappingNode}
		for _, l := range d.inSection(section) {
			devices.Set(l.Name, d.device(section, l, devices))
		}
		n.Set(section, yamldoc.Filled(devices))
	}
	for _, l := range d.host.Links {
		if own := d.own(l); !d.needed[l.Name] && len(own) > 0 {
			n.Remark("%s (%s) with %s is left out: not a link that can be declared here", l.Name, kindOr(l.Kind, "a device"), fabric.Prefixes(own))
		}
	}
	return n
}

func kindOr(kind, otherwise string) string {
	if kind == "" {
		return otherwise
	}
	return kind
}

func (d *describer) inSection(section string) []netstate.Link {
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

func (d *describer) device(section string, l netstate.Link, devices *yamldoc.Node) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	switch section {
	case "bonds":
		n.Set("interfaces", yamldoc.Texts(portsOf(l)))
		if l.OVS != nil {
			d.ovsBond(l, n)
			break
		}
		n.Set("parameters", fabric.BondParameters(*l.Bond))
	case "bridges":
		n.Set("interfaces", yamldoc.Texts(d.bridged(l.Name)))
		if l.Kind == netstate.KindOVSBridge {
			n.Set("openvswitch", &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true})
		}
		d.bridge(l)
	case "vlans":
		n.Set("id", yamldoc.Text(strconv.Itoa(l.VLAN.ID)))
		n.Set("link", yamldoc.Text(l.VLAN.Parent))
	}
	if !l.Up {
		n.Set("activation-mode", yamldoc.Text("manual")) // as it is: neither up nor down
	}
	if l.MTU != 0 && l.MTU != d.impliedMTU(l) {
		n.Set("mtu", yamldoc.Count(l.MTU))
	}
	if len(fourOf(l.Leases)) > 0 && l.Port == nil {
		n.Set("dhcp4", yamldoc.Text("true"))
	}
	n.Set("addresses", yamldoc.Filled(d.addresses(l)))
	d.master(l)
	routes, rules := &yamldoc.Node{Kind: yamldoc.SequenceNode}, &yamldoc.Node{Kind: yamldoc.SequenceNode}
	d.routes(l, routes)
	d.rules(l, rules)
	n.Set("routes", yamldoc.Filled(routes))
	n.Set("routing-policy", yamldoc.Filled(rules))
	if !l.Up || !l.Carrier {
		devices.Remark("%s was down when this was written", l.Name)
	}
	if len(n.Pairs) == 0 {
		n.Flow = true
	}
	return n
}

// addresses are the link's own that stay by themselves. One that stands in the
// file already can stand there once only.
func (d *describer) addresses(l netstate.Link) *yamldoc.Node {
	all := &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true}
	for _, p := range l.Addresses {
		settings := l.AddressSettings[p]
		words := strings.TrimRight("ip address "+p.String()+" dev "+l.Name+" "+settings, " ")
		switch owner := d.taken[p.Addr()]; {
		case slices.Contains(l.Leases, p), p.Addr().IsLoopback():
		case p.Addr().IsLinkLocalUnicast() && p.Addr().Is6():
		case p.Addr().IsLinkLocalUnicast(), p.Addr().IsMulticast(), p.Addr().IsUnspecified(), p.Bits() == 0:
			d.unsaid.add(words, "link-local or of no single host")
		case owner != "":
			d.unsaid.add(words, "it is "+owner+"'s already")
		case strings.Contains(settings, "peer "), strings.Contains(settings, "scope "):
			d.unsaid.add(words, "its peer or scope")
		default:
			d.taken[p.Addr()] = l.Name + " of " + d.host.Name
			item := yamldoc.Text(p.String())
			if label, is := strings.CutPrefix(settings, "label "); is && !strings.Contains(label, " ") {
				item = &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
				item.Set(p.String(), &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true, Pairs: []yamldoc.Pair{{Key: "label", Value: yamldoc.Text(label)}}})
			} else if settings != "" {
				d.unsaid.add(words, "its settings beside the address")
			}
			all.Items = append(all.Items, item)
		}
	}
	return all
}

func fourOf(all []netip.Prefix) []netip.Prefix {
	var four []netip.Prefix
	for _, p := range all {
		if p.Addr().Is4() {
			four = append(four, p)
		}
	}
	return four
}

// master notes that a link is in what is no bond or bridge of the file: a VRF, a
// team, a switch in software.
func (d *describer) master(l netstate.Link) {
	m, there := d.host.Link(l.Master)
	if there && !d.needed[m.Name] {
		d.unsaid.add("ip link "+l.Name+" master "+m.Name, kindOr(m.Kind, "a link")+" that is not written")
	}
}

// ovsBond is what a file says of a bond of Open vSwitch. What was not read is named:
// without it Open vSwitch takes a default.
func (d *describer) ovsBond(l netstate.Link, n *yamldoc.Node) {
	own := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	switch l.OVS.LACP {
	case netstate.OVSLACPOff: // as it is where nothing is said
	case "":
		d.unsaid.add("lacp of "+l.Name, "which was not read")
	default:
		own.Set("lacp", yamldoc.Text(l.OVS.LACP))
	}
	if l.OVS.Basis != 0 {
		basis := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
		basis.Set("bond-hash-basis", yamldoc.Quoted(strconv.FormatUint(uint64(l.OVS.Basis), 10)))
		own.Set("other-config", basis)
	}
	n.Set("openvswitch", own)
	if l.OVS.Mode == "" {
		d.unsaid.add("bond_mode of "+l.Name, "which was not read")
		return
	}
	mode := &yamldoc.Node{Kind: yamldoc.MappingNode}
	mode.Set("mode", yamldoc.Text(string(l.OVS.Mode)))
	n.Set("parameters", mode)
}

// bridge notes what of a bridge is not in the file: ports that lead nowhere off
// the host, and VLAN filtering.
func (d *describer) bridge(l netstate.Link) {
	written := d.bridged(l.Name)
	for _, port := range d.host.Links {
		if port.Master == l.Name && !slices.Contains(written, port.Name) {
			d.unsaid.add("ip link "+port.Name+" master "+l.Name, "a port inside the host")
		}
	}
	if l.Bridge == nil {
		return
	}
	if v := l.Bridge.Options["vlan_filtering"]; v != "" && v != "0" {
		d.unsaid.add("ip link "+l.Name+" type bridge vlan_filtering "+v, "options of bridges")
	}
}

// impliedMTU is what State gives a link whose MTU the file does not say.
func (d *describer) impliedMTU(l netstate.Link) int {
	upper := ""
	switch {
	case l.VLAN != nil:
		upper = l.VLAN.Parent
	case l.Port != nil:
		upper = l.Port.Bond
	}
	if other, ok := d.host.Link(upper); ok && other.MTU != 0 {
		return other.MTU
	}
	if l.Loopback() {
		return fabric.LoopbackMTU
	}
	if l.Switches() || l.OVS != nil {
		return 0 // depends on all its ports: always said
	}
	return fabric.DefaultMTU
}

// bonding are the bonds' options that netplan has no word for, or not that one,
// where they are not the kernel's defaults.
func (d *describer) bonding() *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	for _, l := range d.inSection("bonds") {
		if l.Bond == nil {
			continue
		}
		n.Set(l.Name, yamldoc.Filled(fabric.BondOptions(l, fabric.BondParameters(*l.Bond), d.unsaid.add)))
	}
	return yamldoc.Filled(n)
}

// portSettings are what the file says of bonds' ports beside their links' speed:
// priorities and queues that are not the kernel's defaults.
func (d *describer) portSettings() *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	for _, l := range d.host.Links {
		if l.Port == nil || !d.needed[l.Name] || !d.needed[l.Port.Bond] {
			continue
		}
		link := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
		for _, o := range bondopt.Ports() {
			if value := o.OfPort(*l.Port); value != "" && value != o.Default {
				link.Set(o.Key, yamldoc.Text(value))
			}
		}
		n.Set(l.Name, yamldoc.Filled(link))
	}
	return yamldoc.Filled(n)
}
