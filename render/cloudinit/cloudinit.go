// Package cloudinit makes netplan's words of cloud-init's network configuration of
// version 1: physical, bond, vlan and bridge with their subnets, name servers and
// routes, as cloud-init's own netplan renderer has them (cloudinit/net/network_state.py
// and cloudinit/net/netplan.py of cloud-init 24.4).
//
// Don't write it: what a cloud gives a host is the cloud's.
package cloudinit

import (
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// FileName is what the file is called where a cloud hands it over (NoCloud).
const FileName = "network-config"

// IsFirst reports a mapping that is a network configuration of version 1.
func IsFirst(n *yamldoc.Node) bool {
	return n != nil && n.Kind == yamldoc.MappingNode && node.Said(n.Get("version")) == "1" && n.Get("config") != nil
}

// reader makes netplan's mapping of one configuration.
type reader struct {
	host    *readback.Host
	file    string
	network *yamldoc.Node
	devices []*made
	// servers and routes are those of no single device.
	servers, routes []*yamldoc.Node
}

// made is a device with what is written of it.
type made struct {
	name     string
	kind     string
	node     *yamldoc.Node
	prefixes []netip.Prefix
	leased   bool
}

// Network is netplan's mapping, version 2, of a configuration of version 1. Its nodes
// have the places of what they were made from; what is not representable in netplan goes beside
// the network of the host, and what is not read is noted there.
func Network(host *readback.Host, file string, n *yamldoc.Node) *yamldoc.Node {
	r := &reader{host: host, file: file, network: node.Mapping()}
	node.Put(r.network, "version", node.Plain("2"))
	r.unknown(n, "the file", "version", "config")
	config := n.Get("config")
	if config.Kind != yamldoc.SequenceNode {
		if node.Said(config) != "disabled" {
			r.miss(config, "config", "a list is expected")
		}
		return r.network
	}
	for _, item := range config.Items {
		r.item(item)
	}
	for _, item := range r.servers {
		r.nameservers(item)
	}
	for _, item := range r.routes {
		r.routeOf(item, nil)
	}
	return r.network
}

func (r *reader) miss(at *yamldoc.Node, key, why string) {
	r.host.Unread = append(r.host.Unread, render.Unread{Path: r.file, Line: max(at.Line, 1), Column: max(at.Column, 1), Key: key, Value: node.Said(at), Why: why})
}

// unknown notes the keys of a mapping that are none of those that are read.
func (r *reader) unknown(n *yamldoc.Node, of string, known ...string) {
	for _, p := range n.Pairs {
		if !slices.Contains(known, p.Key) {
			at := *p.Value
			at.Line, at.Column = p.Line, p.Column
			r.miss(&at, p.Key, "not read of "+of+": left out")
		}
	}
}

// linkKeys are those that every kind of link has.
var linkKeys = []string{"type", "name", "mac_address", "mtu", "subnets", "accept-ra", "optional", "wakeonlan"}

func (r *reader) item(item *yamldoc.Node) {
	section, own := "", linkKeys
	switch kind := node.Said(item.Get("type")); kind {
	case "nameserver":
		r.servers = append(r.servers, item)
		return
	case "route":
		r.routes = append(r.routes, item)
		return
	case "loopback":
		if len(node.Items(item.Get("subnets"))) == 0 {
			return // the kernel makes it, with its addresses
		}
		section = "ethernets"
	case "physical", "infiniband":
		section = "ethernets"
	case "bond":
		section, own = "bonds", append(slices.Clone(own), "bond_interfaces", "params")
	case "bridge":
		section, own = "bridges", append(slices.Clone(own), "bridge_interfaces", "params")
	case "vlan":
		section, own = "vlans", append(slices.Clone(own), "vlan_link", "vlan_id")
	default:
		r.miss(item, "type "+kind, "not a kind that is read (physical, bond, vlan, bridge, loopback, nameserver, route): left out")
		return
	}
	name := node.Said(item.Get("name"))
	if !readback.LinkName(name) {
		r.miss(item, "name", "no name of an interface: left out")
		return
	}
	d := &made{name: name, kind: section, node: like(item, node.Mapping())}
	r.devices = append(r.devices, d)
	node.SetKey(node.Within(r.network, section), name, d.node)
	r.unknown(item, name, own...)
	r.link(d, item)
	for _, s := range node.Items(item.Get("subnets")) {
		r.subnet(d, s)
	}
}

// like gives a node the place of another.
func like(of, n *yamldoc.Node) *yamldoc.Node {
	n.Line, n.Column = of.Line, of.Column
	return n
}

func (r *reader) link(d *made, item *yamldoc.Node) {
	if mac := item.Get("mac_address"); mac != nil {
		switch {
		case node.Said(item.Get("type")) == "infiniband":
			r.miss(mac, "mac_address", "an InfiniBand address that no match names: "+d.name+" is taken by its name")
		case d.kind == "ethernets":
			match := like(mac, node.Mapping())
			node.Put(match, "macaddress", like(mac, node.Quoted(strings.ToLower(node.Said(mac)))))
			node.Put(d.node, "match", match)
			node.Put(d.node, "set-name", like(item, node.Plain(d.name)))
		default:
			node.Put(d.node, "macaddress", like(mac, node.Quoted(strings.ToLower(node.Said(mac)))))
		}
	}
	for _, key := range []string{"mtu", "accept-ra", "optional", "wakeonlan"} {
		if n := item.Get(key); n != nil && n.Kind == yamldoc.ScalarNode {
			said := n.Text
			if key != "mtu" {
				said = strconv.FormatBool(node.Yes(said) || said == "1")
			}
			node.Put(d.node, key, like(n, node.Plain(said)))
		}
	}
	if id := item.Get("vlan_id"); id != nil {
		node.Put(d.node, "id", id)
	}
	if below := item.Get("vlan_link"); below != nil {
		node.Put(d.node, "link", below)
	}
	for _, key := range []string{"bond_interfaces", "bridge_interfaces"} {
		if ports := item.Get(key); ports != nil {
			list := like(ports, node.FlowList(node.Texts(ports)))
			for i, port := range node.Items(ports) {
				like(port, list.Items[i])
			}
			node.Put(d.node, "interfaces", list)
		}
	}
	for _, p := range node.Pairs(item.Get("params")) {
		key := strings.ReplaceAll(p.Key, "-", "_")
		switch option, ofBond := strings.CutPrefix(key, "bond_"); {
		case d.kind == "bonds" && ofBond:
			r.bondOption(d, option, p)
		case d.kind == "bridges":
			r.bridgeOption(d, strings.TrimPrefix(key, "bridge_"), p)
		default:
			r.unknown(&yamldoc.Node{Kind: yamldoc.MappingNode, Pairs: []yamldoc.Pair{p}}, d.name)
		}
	}
}

// bondOption puts an option under netplan's name, or beside where it has none.
func (r *reader) bondOption(d *made, option string, p yamldoc.Pair) {
	row, known := bondopt.ByTwin(option)
	if !known {
		row, known = bondopt.Find(option)
	}
	value := strings.Join(node.Texts(p.Value), ",")
	word, err := row.Word(value)
	if !known || err != nil {
		why := "not an option of a bond: left out"
		if known {
			why = err.Error() + ": left out"
		}
		r.miss(p.Value, p.Key, why)
		return
	}
	name, parameter, ok := fabric.ParameterOf(nil, row.Name, word)
	if !ok {
		node.Put(r.host.Setting("bonding", d.name), row.Name, like(p.Value, node.Quoted(word)))
		return
	}
	node.Put(node.Within(d.node, "parameters"), name, like(p.Value, parameter))
}

// bridgeParameters are netplan's words; idle are those that only ifupdown waits for.
var (
	bridgeParameters = map[string]string{"ageing": "ageing-time", "bridgeprio": "priority", "fd": "forward-delay", "hello": "hello-time", "maxage": "max-age", "stp": "stp",
		"pathcost": "path-cost", "portprio": "port-priority"}
	idle = []string{"maxwait", "waitport", "gcint"}
)

func (r *reader) bridgeOption(d *made, option string, p yamldoc.Pair) {
	name, known := bridgeParameters[option]
	switch parameters := node.Within(d.node, "parameters"); {
	case slices.Contains(idle, option):
	case !known:
		r.unknown(&yamldoc.Node{Kind: yamldoc.MappingNode, Pairs: []yamldoc.Pair{p}}, d.name)
	case option == "stp":
		said := node.Said(p.Value)
		node.Put(parameters, name, like(p.Value, node.Plain(strconv.FormatBool(node.Yes(said) || said == "1"))))
	case option == "pathcost" || option == "portprio": // PORT NUMBER each
		for _, item := range append(node.Items(p.Value), scalar(p.Value)...) {
			port, number, _ := strings.Cut(strings.TrimSpace(item.Text), " ")
			node.Put(node.Within(parameters, name), port, like(item, node.Plain(strings.TrimSpace(number))))
		}
	default:
		node.Put(parameters, name, p.Value)
	}
	if parameters := d.node.Get("parameters"); len(parameters.Pairs) == 0 {
		node.SetKey(d.node, "parameters", nil)
	}
}

// scalar is a node that is one.
func scalar(n *yamldoc.Node) []*yamldoc.Node {
	if n.Kind != yamldoc.ScalarNode {
		return nil
	}
	return []*yamldoc.Node{n}
}

func (r *reader) subnet(d *made, s *yamldoc.Node) {
	r.unknown(s, d.name, "type", "address", "netmask", "prefix", "gateway", "routes", "dns_nameservers", "dns_search", "mtu", "control", "broadcast", "scope", "metric", "ipv4", "ipv6")
	kind := s.Get("type")
	switch node.Said(kind) {
	case "dhcp", "dhcp4":
		r.lease(d, kind, "dhcp4")
	case "dhcp6", "ipv6_dhcpv6-stateful", "ipv6_dhcpv6-stateless", "ipv6_slaac":
		r.lease(d, kind, "dhcp6") // netplan has the client run, and the advertisement says what it asks for
	case "static", "static6":
		r.address(d, s)
	case "manual", "":
	default:
		r.miss(s, "type "+node.Said(kind), "not a kind of subnet that is read: left out")
		return
	}
	if control := s.Get("control"); control != nil && node.Said(control) != "auto" {
		r.miss(control, "control", "cloud-init writes it for interfaces(5) and ifcfg alone: with netplan "+d.name+" comes up by itself")
	}
	if mtu := s.Get("mtu"); mtu != nil {
		key := "mtu"
		if strings.Contains(node.Said(s.Get("address")), ":") || strings.Contains(node.Said(kind), "6") {
			key = "ipv6-mtu"
		}
		if device := d.node.Get(key); device != nil && device.Text != mtu.Text {
			r.miss(device, key, "its subnet has mtu "+mtu.Text+", which is taken")
		}
		node.Put(d.node, key, mtu)
	}
	r.resolve(d, s.Get("dns_nameservers"), s.Get("dns_search"))
	if gateway := s.Get("gateway"); gateway != nil {
		if via, ok := r.hop(gateway, "gateway"); ok {
			r.route(d, gateway, netip.PrefixFrom(zero(via), 0), via, s.Get("metric"))
		}
	}
	for _, item := range node.Items(s.Get("routes")) {
		r.routeOf(item, d)
	}
}

func (r *reader) lease(d *made, at *yamldoc.Node, key string) {
	d.leased = true
	node.Put(d.node, key, like(at, node.Plain("true")))
}

// address adds a subnet's own, with the mask that stands beside it; cloud-init takes
// /24 and /64 where none does (_normalize_net_keys of network_state.py).
func (r *reader) address(d *made, s *yamldoc.Node) {
	at := s.Get("address")
	if at == nil {
		r.miss(s, "address", "a static subnet without an address: left out")
		return
	}
	p, ok := prefixOf(node.Said(at), s)
	if !ok {
		r.miss(at, "address", "no address with a length or mask: left out")
		return
	}
	d.prefixes = append(d.prefixes, p)
	node.Push(d.node, "addresses", like(at, node.Quoted(p.String())))
}

// prefixOf is an address with the length that stands in it or beside it.
func prefixOf(text string, beside *yamldoc.Node) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p, true
	}
	head, mask, slashed := strings.Cut(text, "/")
	a, err := netip.ParseAddr(head)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, false
	}
	if !slashed {
		mask = node.Said(beside.Get("netmask"))
	}
	if mask == "" {
		mask = node.Said(beside.Get("prefix"))
	}
	if mask == "" {
		return netip.PrefixFrom(a, map[bool]int{true: 24, false: 64}[a.Is4()]), true
	}
	n, ok := length(mask)
	if !ok || n > a.BitLen() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, n), true
}

// length is a mask's: a number, or the dotted or colon form of either family.
func length(mask string) (int, bool) {
	if n, err := strconv.Atoi(mask); err == nil {
		return n, n >= 0
	}
	a, err := netip.ParseAddr(mask)
	if err != nil {
		return 0, false
	}
	n, ended := 0, false
	for _, b := range a.AsSlice() {
		ones := bits.LeadingZeros8(^b)
		if b<<ones != 0 || ended && b != 0 {
			return 0, false // a gap
		}
		n, ended = n+ones, ended || ones < 8
	}
	return n, true
}

func (r *reader) hop(at *yamldoc.Node, key string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(node.Said(at))
	if err != nil || a.Zone() != "" {
		r.miss(at, key, "no address: the route is left out")
		return a, false
	}
	return a, true
}

// zero is the address of all zeros in the family of another.
func zero(of netip.Addr) netip.Addr {
	if of.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

func (r *reader) route(d *made, at *yamldoc.Node, to netip.Prefix, via netip.Addr, metric *yamldoc.Node) {
	route := like(at, node.Mapping())
	node.Put(route, "to", like(at, node.Quoted(readback.DestinationText(to.Masked()))))
	node.Put(route, "via", like(at, node.Quoted(via.String())))
	node.Put(route, "metric", metric)
	if list := d.node.Get("routes"); list == nil || !node.Contains(list.Items, route) {
		node.Push(d.node, "routes", route)
	}
}

// routeOf reads a route; d is nil for one of the host, which belongs to the
// device whose network has its gateway.
func (r *reader) routeOf(item *yamldoc.Node, d *made) {
	r.unknown(item, "the route", "type", "id", "destination", "network", "address", "netmask", "prefix", "gateway", "metric")
	at := item
	for _, key := range []string{"destination", "network", "address"} {
		if n := item.Get(key); n != nil {
			at = n
			break
		}
	}
	text := node.Said(at)
	if text == "default" {
		text = "0.0.0.0/0"
		if strings.Contains(node.Said(item.Get("gateway")), ":") {
			text = "::/0"
		}
	}
	to, ok := prefixOf(text, item)
	if !ok {
		r.miss(at, "destination", "no network: the route is left out")
		return
	}
	gateway := item.Get("gateway")
	if gateway == nil {
		r.miss(item, "gateway", "a route without a gateway: left out")
		return
	}
	via, ok := r.hop(gateway, "gateway")
	if ok && via.Is4() != to.Addr().Is4() {
		r.miss(gateway, "gateway", "the destination is of the other family: the route is left out")
	}
	if !ok || via.Is4() != to.Addr().Is4() {
		return
	}
	if d == nil {
		if d = r.deviceOf(via); d == nil {
			r.miss(item, "route", "no interface has an address in the network of its gateway: left out")
			return
		}
	}
	r.route(d, at, to, via, item.Get("metric"))
}

// deviceOf is the device with an address in the narrowest network that has a gateway;
// nil none.
func (r *reader) deviceOf(via netip.Addr) *made {
	var best *made
	longest := -1
	for _, d := range r.devices {
		for _, p := range d.prefixes {
			if p.Contains(via) && p.Bits() > longest {
				best, longest = d, p.Bits()
			}
		}
	}
	return best
}

// resolve adds name servers and search domains, each a list or words with blanks
// between them.
func (r *reader) resolve(d *made, servers, search *yamldoc.Node) {
	for key, from := range map[string]*yamldoc.Node{"addresses": servers, "search": search} {
		for _, text := range node.Texts(from) {
			for _, word := range strings.Fields(text) {
				item := like(from, node.Quoted(word))
				list := node.Within(d.node, "nameservers").Get(key)
				if list == nil || !node.Contains(list.Items, item) {
					node.Push(node.Within(d.node, "nameservers"), key, item)
				}
			}
		}
	}
}

// nameservers reads an entry of name servers: an interface's, or the host's, which go
// to each device that has addresses and no servers of its own.
func (r *reader) nameservers(item *yamldoc.Node) {
	r.unknown(item, "the name servers", "type", "address", "search", "interface")
	if name := item.Get("interface"); name != nil {
		i := slices.IndexFunc(r.devices, func(d *made) bool { return d.name == node.Said(name) })
		if i < 0 {
			r.miss(name, "interface", "no interface of this name: left out")
			return
		}
		r.resolve(r.devices[i], item.Get("address"), item.Get("search"))
		return
	}
	var to []*made
	for _, d := range r.devices {
		if len(d.prefixes) > 0 || d.leased {
			to = append(to, d)
		}
	}
	if len(to) == 0 {
		r.miss(item, "nameserver", "no interface has an address or a lease that it could go with: left out")
	}
	for _, d := range to {
		r.resolve(d, item.Get("address"), item.Get("search"))
	}
}
