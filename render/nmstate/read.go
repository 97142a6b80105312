package nmstate

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// kinds are netplan's sections by an interface's type.
var kinds = map[string]string{"ethernet": "ethernets", "veth": "ethernets", "bond": "bonds", "vlan": "vlans", "linux-bridge": "bridges", "dummy": "dummy-devices",
	typeBridge: "bridges", typeInterface: "bridges"}

// reader reads states.
type reader struct {
	*readback.Host
	file string
	// left are interfaces that are not read, whose routes are not either.
	left map[string]bool
	// addresses are those that an installer knows links by, by their names in its state.
	addresses map[*yamldoc.Node]map[string]*yamldoc.Node
	// bridges and internal are a state's bridges of Open vSwitch, and their own ports.
	bridges, internal map[string]bool
}

// Read returns what states say of a host, text by path: as nmstatectl takes them, as a
// NodeNetworkConfigurationPolicy or a NodeNetworkState holds them
// (kubernetes-nmstate's v1, desiredState and currentState). The error is
// render.ErrEmpty where they say nothing of a network, yamldoc.Problems for what is no
// YAML.
func Read(files map[string]string) (render.Found, error) {
	r := &reader{Host: readback.New(), left: map[string]bool{}, bridges: map[string]bool{}, internal: map[string]bool{}, addresses: map[*yamldoc.Node]map[string]*yamldoc.Node{}}
	var states []state
	for _, file := range slices.Sorted(maps.Keys(files)) {
		trees, err := readback.Documents(file, files[file])
		if err != nil {
			return render.Found{}, err
		}
		for _, tree := range trees {
			states = append(states, r.states(file, tree)...)
		}
	}
	states = r.ofOneHost(states)
	// nmstate takes a state as a whole: a port may stand before its bond, a name server
	// before all interfaces.
	for _, s := range states {
		r.kinds(s.tree.Get("interfaces"))
	}
	for _, read := range []func(*yamldoc.Node){r.interfaces, r.others} {
		for _, s := range states {
			r.file = s.file
			read(s.tree)
			r.known(s.tree)
			r.MarkRead(s.file, r.Network)
			r.MarkRead(s.file, r.Beside)
		}
	}
	r.Guessed()
	return r.Found()
}

// state is a state and the file that holds it; host is whose it is alone, "" everyone's.
type state struct {
	file string
	tree *yamldoc.Node
	host string
}

// ofOneHost are the states of everyone and of the first host that is named; those of
// others are noted.
func (r *reader) ofOneHost(states []state) []state {
	first := ""
	return slices.DeleteFunc(states, func(s state) bool {
		if first == "" {
			first = s.host
		}
		if s.host == "" || s.host == first {
			return false
		}
		r.file = s.file
		r.miss(s.tree, s.host, "is another host than "+first+", which is read: leave one host in the file")
		return true
	})
}

// installerKind is the document that gives an installer a state, and its links' addresses.
const installerKind = "NMStateConfig"

// Is reports a text that has a state, by the keys that stand at the beginning of lines.
func Is(text string) bool {
	for _, line := range strings.Split(text, "\n") {
		key, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- ")), ":")
		key = strings.Trim(key, `"`)
		if key == "desiredState" || key == "currentState" || key == "networkConfig" || key == "kind" && strings.TrimSpace(value) == installerKind || key == line[:min(len(line), len(key))] && (key == "interfaces" || key == "route-rules" || key == "dns-resolver") {
			return true
		}
	}
	return false
}

// states are those of a document, wherever a document of Kubernetes holds them.
func (r *reader) states(file string, tree *yamldoc.Node) (all []state) {
	if kind := tree.Get("kind"); kind != nil && kind.Text == "List" {
		for _, item := range node.Items(tree.Get("items")) {
			all = append(all, r.states(file, item)...)
		}
		return all
	}
	r.file = file
	if capture := tree.Get("spec").Get("capture"); capture != nil {
		r.miss(capture, "spec.capture", "what a capture finds is known on the node only")
	}
	spec := tree.Get("spec")
	if kind := tree.Get("kind"); kind != nil && kind.Text == installerKind {
		return append(all, r.installed(file, spec.Get("config"), spec, node.Said(tree.Get("metadata").Get("name"))))
	}
	if all = r.ofHosts(file, tree, 0); len(all) > 0 {
		return all
	}
	host := node.Said(spec.Get("nodeSelector").Get("kubernetes.io/hostname"))
	for _, path := range [][2]string{{"spec", "desiredState"}, {"status", "currentState"}} {
		if inner := tree.Get(path[0]).Get(path[1]); inner != nil {
			tree = inner
		}
	}
	return append(all, state{file, tree, host})
}

// deepest is how far below a document's root the hosts of an installer stand.
const deepest = 6

// ofHosts are the states that an installer's configuration has for its hosts
// (AgentConfig, install-config.yaml).
func (r *reader) ofHosts(file string, tree *yamldoc.Node, depth int) (all []state) {
	if inner := tree.Get("networkConfig"); inner != nil && inner.Kind == yamldoc.MappingNode {
		host := node.Said(tree.Get("hostname"))
		if host == "" {
			host = node.Said(tree.Get("name"))
		}
		return []state{r.installed(file, inner, tree, host)}
	}
	if depth == deepest {
		return nil
	}
	for _, item := range node.Items(tree) {
		all = append(all, r.ofHosts(file, item, depth+1)...)
	}
	for _, p := range node.Pairs(tree) {
		all = append(all, r.ofHosts(file, p.Value, depth+1)...)
	}
	return all
}

// installed is an installer's state, whose names of links are its own: beside it stands
// which address each has.
func (r *reader) installed(file string, tree, beside *yamldoc.Node, host string) state {
	if tree == nil {
		tree = node.Mapping()
	}
	addresses := map[string]*yamldoc.Node{}
	for _, item := range node.Items(beside.Get("interfaces")) {
		if mac := item.Get("macAddress"); mac != nil {
			addresses[node.Said(item.Get("name"))] = mac
		}
	}
	r.addresses[tree] = addresses
	return state{file, tree, host}
}

// kinds finds out what each interface is before any is read.
func (r *reader) kinds(interfaces *yamldoc.Node) {
	for _, item := range node.Items(interfaces) {
		name, kind := node.Said(item.Get("name")), node.Said(item.Get("type"))
		switch section := kinds[kind]; {
		case slices.Contains([]string{"absent", "ignore"}, node.Said(item.Get("state"))):
			continue
		case kind == typeBridge:
			r.bridges[name] = true
		case kind == typeInterface:
			r.internal[name] = true
			continue
		case section == "" || section == "ethernets":
			continue
		}
		r.Kinds[name] = kinds[kind]
	}
}

func (r *reader) interfaces(tree *yamldoc.Node) {
	for _, item := range node.Items(tree.Get("interfaces")) {
		r.iface(item)
	}
}

// known gives the links of an installer's state the addresses that it knows them by.
func (r *reader) known(tree *yamldoc.Node) {
	for name, mac := range r.addresses[tree] {
		d := r.Network.Get("ethernets").Get(name)
		m, err := flow.ParseMAC(strings.ToLower(mac.Text))
		if d != nil && d.Get("match") == nil && err == nil {
			node.Put(node.Within(d, "match"), "macaddress", at(mac, m.String(), true))
		}
	}
}

// others reads what a state says beside its interfaces.
func (r *reader) others(tree *yamldoc.Node) {
	for _, p := range node.Pairs(tree) {
		switch p.Key {
		case "interfaces":
		case "routes":
			for _, item := range node.Items(p.Value.Get("config")) {
				r.route(item)
			}
		case "route-rules":
			for _, item := range node.Items(p.Value.Get("config")) {
				r.rule(item)
			}
		case "dns-resolver":
			r.resolver(p.Value.Get("config"))
		case "apiVersion", "kind", "metadata", "spec", "status", "hostname", "capabilities", "description", "version":
		default:
			r.miss(p.Value, p.Key, "a fabric cannot represent it")
		}
	}
}

func (r *reader) miss(n *yamldoc.Node, key, why string) {
	value := ""
	if n.Kind == yamldoc.ScalarNode {
		value = n.Text
	}
	r.Unread = append(r.Unread, render.Unread{Path: r.file, Line: max(n.Line, 1), Column: n.Column, Key: key, Value: value, Why: why})
}

// at is a scalar at the place of another node, so that a complaint about it points there.
func at(n *yamldoc.Node, text string, quoted bool) *yamldoc.Node {
	return &yamldoc.Node{Kind: yamldoc.ScalarNode, Text: text, Quoted: quoted, Line: n.Line, Column: n.Column}
}

// iface reads an interface.
func (r *reader) iface(n *yamldoc.Node) {
	name, kind := node.Said(n.Get("name")), node.Said(n.Get("type"))
	if !readback.LinkName(name) {
		r.miss(n, "interfaces.name", "is no interface's name")
		return
	}
	if strings.Contains(name, "capture.") || name == "lo" {
		return
	}
	if state := node.Said(n.Get("state")); state == "absent" || state == "ignore" {
		r.left[name] = true
		if state == "absent" {
			node.Push(r.Beside, "absent", at(n.Get("name"), name, false))
		}
		return
	}
	section, known := kinds[kind]
	if kind == "" {
		section, known = "ethernets", n.Get("link-aggregation") == nil && n.Get("vlan") == nil && n.Get("bridge") == nil
	}
	if kind == typeInterface && !r.bridges[name] {
		r.left[name] = true
		r.miss(n, "interfaces."+name, "a port of Open vSwitch's own that has not its bridge's name is not read")
		return
	}
	if !known {
		r.left[name] = true
		r.miss(n, "interfaces."+name, "interfaces of type "+kind+" are not read")
		return
	}
	if section != "ethernets" {
		r.Kinds[name] = section
	}
	d := r.Device(name)
	d.Line, d.Column = n.Line, n.Column
	if kind == typeBridge && d.Get(ovsKey) == nil {
		node.SetKey(d, ovsKey, node.FlowMap())
	}
	for _, p := range n.Pairs {
		switch p.Key {
		case "controller":
			r.controller(name, p.Value)
		case "state":
			if p.Value.Text == "down" {
				node.Put(d, "activation-mode", at(p.Value, "off", true))
			}
		case "mtu":
			node.Put(d, "mtu", p.Value)
		case "mac-address":
			r.mac(n, d, p.Value)
		case "ipv4":
			r.family(name, d, p.Value, "dhcp4")
		case "ipv6":
			r.family(name, d, p.Value, "dhcp6")
		case "link-aggregation":
			r.bond(name, p.Value)
		case "vlan":
			r.vlan(n, d, p.Value)
		case "bridge":
			if kind == typeBridge {
				r.ovsBridge(name, d, p.Value)
				continue
			}
			r.bridge(name, d, p.Value)
		case "ethernet":
			read := ofEthernet
			if node.Said(p.Value.Get("auto-negotiation")) == "false" {
				read = ofFixed
			}
			r.rest(p.Value, "interfaces."+name+".ethernet", read)
		case "ethtool":
			r.ethtool(name, p.Value)
		case "mptcp":
			r.mptcp(name, d, p.Value)
		}
	}
	r.rest(n, "interfaces."+name, ofInterface)
}

// controller makes an interface the port of the bond or bridge that it names.
func (r *reader) controller(name string, value *yamldoc.Node) {
	switch section := r.Kinds[value.Text]; {
	case value.Text == "":
	case section == "bonds" || section == "bridges":
		r.port(value.Text, name, value)
	default:
		r.miss(value, "interfaces."+name+".controller", "no bond or bridge of this name is read")
	}
}

// mac reads an address: what the interface is found by, or what it gets.
func (r *reader) mac(n, d, value *yamldoc.Node) {
	m, err := flow.ParseMAC(value.Text)
	if err != nil {
		r.miss(value, "mac-address", "is no MAC address of six bytes")
		return
	}
	if node.Said(n.Get("identifier")) == "mac-address" {
		node.Put(node.Within(d, "match"), "macaddress", at(value, m.String(), true))
		return
	}
	node.Put(d, "macaddress", at(value, m.String(), true))
}

func (r *reader) family(name string, d, n *yamldoc.Node, dhcp string) {
	where := "interfaces." + name + "." + map[string]string{"dhcp4": "ipv4", "dhcp6": "ipv6"}[dhcp]
	if off := n.Get("enabled"); node.Said(off) == "false" {
		if dhcp == "dhcp6" && r.Kinds[name] == "" || dhcp == "dhcp6" && n.Get("address") == nil {
			node.SetKey(d, "link-local", &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true, Line: off.Line, Column: off.Column})
		}
		return
	}
	if dhcp == "dhcp6" {
		for _, o := range [...][2]string{{"ipv6-address-generation", "addr-gen-mode"}, {"ipv6-address-token", "token"}} {
			if v := n.Get(o[1]); v != nil && v.Text != "" {
				node.Put(d, o[0], v)
			}
		}
	}
	r.rest(n, where, ofFamily)
	if on := n.Get("dhcp"); on != nil && node.True(on) {
		node.Put(d, dhcp, at(on, "true", false))
	}
	if on := n.Get("autoconf"); on != nil && !(node.True(n.Get("dhcp")) && node.True(on)) {
		node.Put(d, "accept-ra", at(on, strconv.FormatBool(node.True(on)), false))
	}
	for _, o := range [...][2]string{{"use-dns", "auto-dns"}, {"use-routes", "auto-routes"}, {"route-metric", "auto-route-metric"}} {
		if v := n.Get(o[1]); v != nil && d.Get(dhcp) != nil {
			node.Put(node.Within(d, dhcp+"-overrides"), o[0], v)
		}
	}
	for _, item := range node.Items(n.Get("address")) {
		a, err := netip.ParseAddr(node.Said(item.Get("ip")))
		bits, errBits := strconv.Atoi(node.Said(item.Get("prefix-length")))
		p := netip.PrefixFrom(a, bits)
		if err != nil || errBits != nil || !p.IsValid() {
			r.miss(item, "interfaces."+name+".address", "is no address with its prefix length")
			continue
		}
		if a.IsLinkLocalUnicast() && a.Is6() {
			continue // the kernel's own
		}
		node.Push(d, "addresses", at(item, p.String(), true))
		r.rest(item, where+".address", ofAddress)
	}
}

// bond reads a bond; options of NetworkManager's that are none of the kernel's are
// left out.
func (r *reader) bond(name string, n *yamldoc.Node) {
	if mode := n.Get("mode"); mode != nil {
		word := mode.Text
		if word == "lacp" {
			word = "802.3ad"
		}
		r.Option(name, "mode", word)
	}
	for _, p := range node.Pairs(n.Get("options")) {
		o, said, known := option(p.Key)
		if !known {
			r.miss(p.Value, "options."+p.Key, "the bonding driver has no such option")
			continue
		}
		value := p.Value.Text
		if i := slices.Index(said.Words, value); said.Words != nil && i >= 0 {
			value = strconv.Itoa(i)
		}
		if o.Switch() {
			value = map[bool]string{true: "1", false: "0"}[node.Yes(value) || value == "1"]
		}
		r.Option(name, o.Name, value)
	}
	for _, list := range portLists {
		for _, item := range node.Items(n.Get(list)) {
			r.port(name, item.Text, item)
		}
	}
	r.rest(n, "interfaces."+name+".link-aggregation", ofBond)
	for _, item := range node.Items(n.Get("ports-config")) {
		port := node.Said(item.Get("name"))
		r.port(name, port, item)
		for _, o := range bondopt.Ports() {
			if said, ok := o.Saying(bondopt.Nmstate); ok && item.Get(said.Name) != nil {
				node.Put(r.Setting("links", port), o.Key, item.Get(said.Name))
			}
		}
	}
	r.Device(name) // one without ports is a bond too
}

// option is a bond option by nmstate's name.
func option(name string) (bondopt.Option, bondopt.Saying, bool) {
	if o, known := bondopt.Named(bondopt.Nmstate, name); known {
		said, _ := o.Saying(bondopt.Nmstate)
		return o, said, true
	}
	o, twin := bondopt.ByTwin(name)
	if !twin {
		o, twin = bondopt.Find(name)
	}
	return o, bondopt.Saying{}, twin
}

func (r *reader) port(master, port string, item *yamldoc.Node) {
	if !readback.LinkName(port) {
		r.miss(item, "port", "is no interface's name")
		return
	}
	r.Device(port)
	if list := r.Device(master).Get("interfaces"); list == nil || !node.Contains(list.Items, node.Plain(port)) {
		node.Push(r.Device(master), "interfaces", at(item, port, false))
	}
}

func (r *reader) vlan(owner, d, n *yamldoc.Node) {
	if id := n.Get("id"); id != nil {
		node.Put(d, "id", id)
	}
	if base := n.Get("base-iface"); base != nil {
		r.Device(base.Text)
		node.Put(d, "link", base)
	}
	r.rest(n, "interfaces."+node.Said(owner.Get("name"))+".vlan", ofVLAN)
	if protocol := n.Get("protocol"); protocol != nil && protocol.Text != "802.1q" {
		r.miss(protocol, "vlan.protocol", "a fabric has VLANs of 802.1Q only")
	}
}

// bridgeOptions are nmstate's words below options.stp and netplan's.
var bridgeOptions = [...][2]string{{"priority", "priority"}, {"forward-delay", "forward-delay"}, {"hello-time", "hello-time"}, {"max-age", "max-age"}}

func (r *reader) bridge(name string, d, n *yamldoc.Node) {
	stp := n.Get("options").Get("stp")
	if on := stp.Get("enabled"); on != nil {
		node.Put(node.Within(d, "parameters"), "stp", at(on, strconv.FormatBool(node.True(on)), false))
	}
	for _, o := range bridgeOptions {
		if v := stp.Get(o[0]); v != nil {
			node.Put(node.Within(d, "parameters"), o[1], v)
		}
	}
	if v := n.Get("options").Get("mac-ageing-time"); v != nil {
		node.Put(node.Within(d, "parameters"), "ageing-time", v)
	}
	where := "interfaces." + name + ".bridge"
	r.rest(n, where, ofBridge)
	r.rest(n.Get("options"), where+".options", ofBridgeOptions)
	var ports []*yamldoc.Node
	for _, list := range portLists {
		ports = append(ports, node.Items(n.Get(list))...)
	}
	for _, item := range ports {
		port := node.Said(item.Get("name"))
		r.port(name, port, item)
		r.rest(item, where+".port", ofBridgePort)
		for _, o := range [...][2]string{{"path-cost", "stp-path-cost"}, {"port-priority", "stp-priority"}} {
			if v := item.Get(o[1]); v != nil {
				node.Put(node.Within(d, "parameters", o[0]), port, v)
			}
		}
		if v := item.Get("vlan"); v != nil && len(v.Pairs) > 0 {
			r.miss(v, "bridge.port.vlan", "a fabric has no VLAN filter of a bridge")
		}
	}
}

func (r *reader) ethtool(name string, n *yamldoc.Node) {
	where := "interfaces." + name + ".ethtool"
	r.rest(n, where, ofEthtool)
	r.rest(n.Get("ring"), where+".ring", ofRing)
	for _, p := range node.Pairs(n.Get("feature")) {
		short := p.Key
		for ethtool, kernel := range features {
			if kernel == p.Key {
				short = ethtool
			}
		}
		r.Offload(name, short, node.True(p.Value))
	}
	for _, p := range node.Pairs(n.Get("ring")) {
		if p.Key == "rx" || p.Key == "tx" {
			node.Put(r.Setting("links", name, "rings"), p.Key, p.Value)
		}
	}
	for _, p := range node.Pairs(n.Get("coalesce")) {
		value := p.Value
		if strings.HasPrefix(p.Key, "adaptive-") {
			value = at(value, map[bool]string{true: "on", false: "off"}[node.True(value)], false)
		}
		node.Put(r.Setting("links", name, "coalesce"), p.Key, value)
	}
}

func (r *reader) mptcp(name string, d, n *yamldoc.Node) {
	flags := node.Texts(n.Get("address-flags"))
	if len(flags) == 0 {
		return
	}
	for _, address := range node.Texts(d.Get("addresses")) {
		p, err := netip.ParsePrefix(address)
		if err != nil {
			continue
		}
		item := node.FlowMap()
		node.PutText(item, "address", p.Addr().String())
		node.Put(item, "dev", node.Plain(name))
		node.Put(item, "flags", node.FlowList(flags))
		node.Push(node.Within(r.Beside, "mptcp"), "endpoints", item)
	}
}

// routeKeys are nmstate's words of a route and netplan's.
var routeKeys = [...][2]string{
	{"next-hop-address", "via"}, {"source", "from"}, {"table-id", "table"}, {"metric", "metric"}, {"mtu", "mtu"}, {"route-type", "type"},
	{"cwnd", "congestion-window"}, {"initrwnd", "advertised-receive-window"}, {"advmss", "advertised-mss"},
}

func (r *reader) route(n *yamldoc.Node) {
	name, to := node.Said(n.Get("next-hop-interface")), node.Said(n.Get("destination"))
	if r.absent(n, "routes.config") {
		return
	}
	if r.left[name] {
		r.miss(n, "routes.config", "leaves by "+name+", which is not read")
		return
	}
	p, ok := readback.ParseDestination(to, true)
	if !ok || name != "" && !readback.LinkName(name) {
		r.miss(n, "routes.config", "has no destination or no interface's name")
		return
	}
	if name == "" {
		if name = r.first(); name == "" {
			r.miss(n, "routes.config", "a route of no interface, and no interface to put it under")
			return
		}
	}
	route := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true, Line: n.Line, Column: n.Column}
	node.Put(route, "to", at(n.Get("destination"), readback.DestinationText(p), p.Bits() > 0))
	for _, k := range routeKeys {
		v := n.Get(k[0])
		if v == nil || v.Kind != yamldoc.ScalarNode || k[0] == "metric" && v.Text == "-1" || k[0] == "table-id" && (v.Text == "254" || v.Text == "0") || k[0] == "route-type" && v.Text == "unicast" {
			continue
		}
		if k[0] == "metric" && v.Text == "0" {
			continue
		}
		node.Put(route, k[1], at(v, v.Text, strings.Contains(v.Text, ":")))
	}
	for _, p := range n.Pairs {
		if !slices.ContainsFunc(routeKeys[:], func(k [2]string) bool { return k[0] == p.Key }) && !slices.Contains([]string{"destination", "next-hop-interface", "state", "weight"}, p.Key) {
			r.miss(p.Value, "routes.config."+p.Key, "a fabric cannot represent it")
		}
	}
	if weight := n.Get("weight"); weight != nil {
		r.hop(p, route, name, weight)
		return
	}
	if route.Get("via") == nil && route.Get("type") == nil {
		node.Put(route, "scope", node.Plain("link"))
	}
	if p.Bits() == 0 && !p.Addr().Is4() && route.Get("via") == nil {
		node.Put(route, "to", node.Quoted("::/0"))
	}
	node.Push(r.Device(name), "routes", route)
}

// absent reports, and notes, an entry that is to be taken away.
func (r *reader) absent(n *yamldoc.Node, where string) bool {
	state := n.Get("state")
	if node.Said(state) != "absent" {
		return false
	}
	r.miss(state, where+".state", "a fabric says what there is: what is to be taken away has no place in it")
	return true
}

// first is the first device that was read, for routes that belong to none.
func (r *reader) first() string {
	for _, section := range r.Network.Pairs {
		if section.Value.Kind == yamldoc.MappingNode && len(section.Value.Pairs) > 0 {
			return section.Value.Pairs[0].Key
		}
	}
	return ""
}

// hop adds a next hop to the route over several that has the same destination, table
// and metric.
func (r *reader) hop(to netip.Prefix, route *yamldoc.Node, name string, weight *yamldoc.Node) {
	same := func(item *yamldoc.Node) bool {
		return node.Said(item.Get("to")) == readback.DestinationText(to) && node.Said(item.Get("table")) == node.Said(route.Get("table")) && node.Said(item.Get("metric")) == node.Said(route.Get("metric"))
	}
	hop := node.FlowMap()
	if via := route.Get("via"); via != nil {
		node.Put(hop, "via", via)
	}
	node.Put(hop, "dev", node.Plain(name))
	node.Put(hop, "weight", weight)
	if list := r.Beside.Get("multipath"); list != nil {
		for _, item := range list.Items {
			if same(item) {
				node.Push(item, "hops", hop)
				return
			}
		}
	}
	item := node.Mapping()
	for _, key := range []string{"to", "table", "metric"} {
		if v := route.Get(key); v != nil {
			node.Put(item, key, v)
		}
	}
	node.Push(item, "hops", hop)
	node.Push(r.Beside, "multipath", item)
}

// ruleKeys are nmstate's words of a rule and netplan's.
var ruleKeys = [...][2]string{{"ip-from", "from"}, {"ip-to", "to"}, {"priority", "priority"}, {"route-table", "table"}, {"fwmark", "mark"}}

func (r *reader) rule(n *yamldoc.Node) {
	if r.absent(n, "route-rules.config") {
		return
	}
	rule := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true, Line: n.Line, Column: n.Column}
	for _, k := range ruleKeys {
		v := n.Get(k[0])
		if v == nil || v.Text == "" {
			continue
		}
		said, ok := r.RuleValue(k[1], v.Text, node.Said(n.Get("family")) != "ipv6")
		if !ok {
			r.miss(v, "route-rules.config."+k[0], "is no value of it: the rule is left out")
			return
		}
		node.Put(rule, k[1], at(v, said, strings.Contains(said, ":")))
	}
	for _, p := range n.Pairs {
		if !slices.ContainsFunc(ruleKeys[:], func(k [2]string) bool { return k[0] == p.Key }) && p.Key != "family" && p.Key != "state" {
			r.miss(p.Value, "route-rules.config."+p.Key, "a fabric has no rule with it: the rule is left out")
			return
		}
	}
	owner := r.holder(node.Said(n.Get("ip-from")))
	if owner == "" || len(rule.Pairs) == 0 {
		r.miss(n, "route-rules.config", "a rule of no interface, and no interface to put it under")
		return
	}
	node.Push(r.Device(owner), "routing-policy", rule)
}

// holder is the interface that has an address in the network that a rule is about,
// else the first one with an address.
func (r *reader) holder(from string) string {
	p, ok := readback.ParseDestination(from, true)
	for _, section := range r.Network.Pairs {
		for _, d := range section.Value.Pairs {
			for _, address := range node.Texts(d.Value.Get("addresses")) {
				if a, err := netip.ParsePrefix(address); err == nil && ok && p.Bits() > 0 && (p.Contains(a.Addr()) || a.Contains(p.Addr())) {
					return d.Key
				}
			}
		}
	}
	return r.addressed()
}

// addressed is the first device that has an address, else the first one.
func (r *reader) addressed() string {
	for _, section := range r.Network.Pairs {
		for _, d := range section.Value.Pairs {
			if d.Value.Get("addresses") != nil {
				return d.Key
			}
		}
	}
	return r.first()
}

// resolver reads the host's name servers, which stand under the first device that
// has an address, since a fabric has them by device.
func (r *reader) resolver(n *yamldoc.Node) {
	r.rest(n, "dns-resolver.config", ofResolver)
	owner := r.addressed()
	for _, k := range [...][2]string{{"server", "addresses"}, {"search", "search"}} {
		for _, item := range node.Items(n.Get(k[0])) {
			if owner == "" {
				r.miss(item, "dns-resolver.config."+k[0], "no interface is read to put it under")
				return
			}
			node.Push(node.Within(r.Device(owner), "nameservers"), k[1], at(item, item.Text, true))
		}
	}
}
