// Package talos reads the network out of Talos Linux' machine configuration: the
// documents of their own that Talos 1.12 has (LinkConfig, BondConfig, VLANConfig, ...)
// and machine.network of v1alpha1 before them. Names are those of Talos 1.14
// (pkg/machinery/config/types/network and v1alpha1).
//
// Don't write it: a Talos node takes its configuration from its cluster's owner.
package talos

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
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

// reader reads the configurations of one machine.
type reader struct {
	*readback.Host
	file string
	// late is what is read when every link is known: name servers, rules.
	late []func()
	// selectors counts the links that are known by what they are.
	selectors int
}

// version is apiVersion of the documents, and version of the old configuration.
const version = "v1alpha1"

// kinds are the documents that are read, and what each makes. Kinds of documents that
// are not in the list are no network's, but for those of refused.
func kinds() map[string]func(*reader, *yamldoc.Node) {
	return map[string]func(*reader, *yamldoc.Node){
		"LinkConfig":           func(r *reader, n *yamldoc.Node) { r.link(n, "") },
		"DummyLinkConfig":      func(r *reader, n *yamldoc.Node) { r.link(n, "dummy-devices") },
		"BondConfig":           func(r *reader, n *yamldoc.Node) { r.link(n, "bonds") },
		"BridgeConfig":         func(r *reader, n *yamldoc.Node) { r.link(n, "bridges") },
		"VLANConfig":           func(r *reader, n *yamldoc.Node) { r.link(n, "vlans") },
		"EthernetConfig":       (*reader).ethernet,
		"LinkAliasConfig":      (*reader).alias,
		"DHCPv4Config":         func(r *reader, n *yamldoc.Node) { r.lease(n, "dhcp4") },
		"DHCPv6Config":         func(r *reader, n *yamldoc.Node) { r.lease(n, "dhcp6") },
		"ResolverConfig":       func(r *reader, n *yamldoc.Node) { r.late = append(r.late, func() { r.resolver(n) }) },
		"RoutingRuleConfig":    func(r *reader, n *yamldoc.Node) { r.late = append(r.late, func() { r.rule(n) }) },
		"BlackholeRouteConfig": func(r *reader, n *yamldoc.Node) { r.late = append(r.late, func() { r.blackhole(n) }) },
	}
}

// refused are the kinds of links that a fabric has nothing for.
var refused = []string{"WireguardConfig", "VRFConfig", "VethConfig", "Layer2VIPConfig", "HCloudVIPConfig", "BGPInstanceConfig", "NetworkRuleConfig", "NetworkDefaultActionConfig", "KubeSpanConfig"}

// Read returns what machine configurations, text by path, say of a machine. The error
// is render.ErrEmpty where they say nothing of a network, yamldoc.Problems for what is
// no YAML.
func Read(files map[string]string) (render.Found, error) {
	r := &reader{Host: readback.New()}
	names := slices.Sorted(maps.Keys(files))
	trees := map[string][]*yamldoc.Node{}
	for _, file := range names {
		all, err := readback.Documents(file, files[file])
		if err != nil {
			return render.Found{}, err
		}
		trees[file] = all
		for _, tree := range all {
			r.kindsOf(tree)
		}
	}
	for _, file := range names {
		r.file = file
		for _, tree := range trees[file] {
			r.document(tree)
		}
		for _, read := range r.late {
			read()
		}
		r.late = nil
		r.MarkRead(file, r.Network)
		r.MarkRead(file, r.Beside)
	}
	r.Guessed()
	return r.Found()
}

// Is reports a text that is a machine configuration, by what stands at the beginning of
// lines.
func Is(text string) bool {
	machine, old := false, false
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		switch value = strings.Trim(strings.TrimSpace(value), `"'`); {
		case key == "kind" && (kinds()[value] != nil || slices.Contains(refused, value)):
			return true
		case key == "machine":
			machine = true
		case key == "version" && value == version, key == "cluster", key == "debug", key == "persist":
			old = true
		}
	}
	if inner := func(key string) bool { return strings.Contains(text, key) }; inner("\n    networkInterfaces:") || inner("\npatches:") && inner(" machine:\n") && inner(" network:\n") {
		return true // talhelper's and Omni's, which hold it further in
	}
	return machine && (old || strings.Contains(text, "\n  network:"))
}

// kindsOf notes which section each link of a document belongs to, before others name it.
func (r *reader) kindsOf(tree *yamldoc.Node) {
	section := map[string]string{"DummyLinkConfig": "dummy-devices", "BondConfig": "bonds", "BridgeConfig": "bridges", "VLANConfig": "vlans"}[node.Said(tree.Get("kind"))]
	if name := node.Said(tree.Get("name")); section != "" && readback.LinkName(name) {
		r.Kinds[name] = section
	}
	r.kindsOfMachine(tree.Get("machine"))
	for _, patch := range node.Items(tree.Get("patches")) {
		r.kindsOfMachine(patch.Get("inline").Get("machine"))
	}
}

func (r *reader) kindsOfMachine(machine *yamldoc.Node) {
	for _, item := range node.Items(machine.Get("network").Get("interfaces")) {
		name := node.Said(item.Get("interface"))
		if !readback.LinkName(name) || node.True(item.Get("ignore")) {
			continue
		}
		switch {
		case item.Get("bond") != nil:
			r.Kinds[name] = "bonds"
		case item.Get("bridge") != nil:
			r.Kinds[name] = "bridges"
		case node.True(item.Get("dummy")):
			r.Kinds[name] = "dummy-devices"
		}
	}
}

// document reads one document, of either form.
func (r *reader) document(tree *yamldoc.Node) {
	kind := tree.Get("kind")
	read := kinds()[node.Said(kind)]
	switch {
	case read != nil:
		read(r, tree)
	case kind != nil && slices.Contains(refused, kind.Text):
		name := node.Said(tree.Get("name"))
		r.miss(kind, kind.Text+" "+name, "a fabric cannot represent it")
	case tree.Get("machine") != nil:
		r.machine(tree.Get("machine"))
	}
	for _, patch := range node.Items(tree.Get("patches")) { // Omni's templates of clusters
		if machine := patch.Get("inline").Get("machine"); machine != nil {
			r.machine(machine)
		}
	}
	r.nodes(tree.Get("nodes"))
}

// nodes reads talhelper's list of machines, of which one is read.
func (r *reader) nodes(list *yamldoc.Node) {
	first := ""
	for i, item := range node.Items(list) {
		name := node.Said(item.Get("hostname"))
		switch {
		case item.Get("networkInterfaces") == nil:
		case first != "":
			r.miss(item, "nodes."+name, "is another machine than "+first+", which is read: leave one machine in the file")
		default:
			first = cmp.Or(name, fmt.Sprintf("nodes[%d]", i))
			network := node.Mapping()
			for _, key := range [][2]string{{"networkInterfaces", "interfaces"}, {"nameservers", "nameservers"}} {
				if said := item.Get(key[0]); said != nil {
					node.SetKey(network, key[1], said)
				}
			}
			machine := node.Mapping()
			node.SetKey(machine, "network", network)
			r.kindsOfMachine(machine)
			r.machine(machine)
		}
	}
}

// miss notes what is not read.
func (r *reader) miss(n *yamldoc.Node, key, why string) {
	u := render.Unread{Path: r.file, Line: max(n.Line, 1), Column: n.Column, Key: strings.TrimSpace(key), Why: why}
	if n.Kind == yamldoc.ScalarNode {
		u.Value = n.Text
	}
	r.Unread = append(r.Unread, u)
}

// at is a scalar at the place of another node, so that a complaint about it points there.
func at(n *yamldoc.Node, text string, quoted bool) *yamldoc.Node {
	return &yamldoc.Node{Kind: yamldoc.ScalarNode, Text: text, Quoted: quoted, Line: n.Line, Column: n.Column}
}

// named is a document's link; "" and noted for a name that is none.
func (r *reader) named(n *yamldoc.Node) string {
	name := node.Said(n.Get("name"))
	if !readback.LinkName(name) {
		r.miss(n, node.Said(n.Get("kind")), "has no name of a link")
		return ""
	}
	return name
}

// link reads a document that makes or sets up a link.
func (r *reader) link(n *yamldoc.Node, section string) {
	name := r.named(n)
	if name == "" || name == "lo" {
		return
	}
	if other := r.Kinds[name]; section != "" && other != section {
		r.miss(n, node.Said(n.Get("kind"))+" "+name, "another document makes this link")
		return
	}
	d := r.Device(name)
	d.Line, d.Column = n.Line, n.Column
	for _, p := range n.Pairs {
		key := name + "." + p.Key
		switch {
		case p.Key == "apiVersion" || p.Key == "kind" || p.Key == "name" || r.common(d, p, key):
		case p.Key == "hardwareAddr":
			r.mac(d, p.Value, key)
		case section == "bonds" && p.Key == "links", section == "bridges" && p.Key == "links":
			for _, item := range node.Items(p.Value) {
				r.port(name, item.Text, item)
			}
		case section == "bonds":
			r.bondOption(name, p)
		case section == "bridges" && p.Key == "stp":
			if on := p.Value.Get("enabled"); on != nil {
				node.Put(node.Within(d, "parameters"), "stp", at(on, trueFalse(on), false))
			}
		case section == "bridges" && p.Key == "vlan":
			if on := p.Value.Get("filtering"); node.True(on) {
				r.miss(on, key+".filtering", "a fabric has no VLAN filter of a bridge")
			}
		case section == "vlans" && p.Key == "vlanID":
			node.Put(d, "id", p.Value)
		case section == "vlans" && p.Key == "parent":
			r.Device(p.Value.Text)
			node.Put(d, "link", p.Value)
		case section == "vlans" && p.Key == "vlanMode":
			if p.Value.Text != "802.1q" {
				r.miss(p.Value, key, "a fabric has VLANs of 802.1Q only")
			}
		default:
			r.miss(p.Value, key, "a fabric cannot represent it")
		}
	}
	if section == "bonds" {
		r.defaults(name, node.Said(n.Get("bondMode")))
	}
}

func trueFalse(n *yamldoc.Node) string {
	if node.True(n) {
		return "true"
	}
	return "false"
}

// common reads what every link has; false for another key.
func (r *reader) common(d *yamldoc.Node, p yamldoc.Pair, key string) bool {
	switch p.Key {
	case "up":
		if !node.True(p.Value) {
			node.Put(d, "activation-mode", at(p.Value, "off", true))
		}
	case "mtu":
		node.Put(d, "mtu", p.Value)
	case "multicast":
		if !node.True(p.Value) {
			r.miss(p.Value, key, "a fabric cannot represent it")
		}
	case "addresses":
		for _, item := range node.Items(p.Value) {
			address := item.Get("address")
			if address == nil {
				r.miss(item, key, "has no address")
				continue
			}
			r.address(d, address, key)
			if metric := item.Get("routePriority"); metric != nil {
				r.miss(metric, key+".routePriority", "a fabric has no metric of an address's own route")
			}
		}
	case "routes":
		for _, item := range node.Items(p.Value) {
			r.route(d, item, "destination", key)
		}
	default:
		return false
	}
	return true
}

// address reads an address with its length; one without is a host's own.
func (r *reader) address(d, n *yamldoc.Node, key string) {
	p, ok := readback.ParseDestination(n.Text, true)
	if a, err := netip.ParsePrefix(n.Text); err == nil {
		p = a
	}
	if !ok || n.Text == "default" || n.Text == "any" {
		r.miss(n, key, "is no address with its prefix length")
		return
	}
	node.Push(d, "addresses", at(n, p.String(), true))
}

// routeKeys are Talos' words of a route and netplan's.
var routeKeys = [...][2]string{{"gateway", "via"}, {"source", "from"}, {"metric", "metric"}, {"mtu", "mtu"}, {"table", "table"}}

// route reads a route; its destination is under a key of its own in either form.
func (r *reader) route(d, n *yamldoc.Node, destination, key string) {
	gateway, to := node.Said(n.Get("gateway")), node.Said(n.Get(destination))
	via, err := netip.ParseAddr(gateway)
	if to == "" {
		to = "default"
	}
	p, ok := readback.ParseDestination(to, !(err == nil && via.Is6()))
	if !ok || gateway != "" && err != nil {
		r.miss(n, key, "has no destination or no gateway that is an address")
		return
	}
	route := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true, Line: n.Line, Column: n.Column}
	node.Put(route, "to", at(n, readback.DestinationText(p), p.Bits() > 0))
	if p.Bits() == 0 && p.Addr().Is6() && gateway == "" {
		node.Put(route, "to", at(n, "::/0", true))
	}
	for _, k := range routeKeys {
		v := n.Get(k[0])
		if v == nil || v.Text == "" || v.Text == "0" || k[0] == "table" && v.Text == "main" {
			continue
		}
		said, ok := r.RouteValue(k[1], v.Text, p.Addr().Is4())
		if !ok {
			r.miss(v, key+"."+k[0], "is no value of it")
			continue
		}
		node.Put(route, k[1], at(v, said, strings.Contains(said, ":")))
	}
	if gateway == "" {
		node.Put(route, "scope", node.Plain("link"))
	}
	for _, p := range n.Pairs {
		if p.Key != destination && !slices.ContainsFunc(routeKeys[:], func(k [2]string) bool { return k[0] == p.Key }) {
			r.miss(p.Value, key+"."+p.Key, "a fabric cannot represent it")
		}
	}
	node.Push(d, "routes", route)
}

func (r *reader) mac(d, n *yamldoc.Node, key string) {
	m, err := flow.ParseMAC(strings.ToLower(n.Text))
	if err != nil {
		r.miss(n, key, "is no MAC address of six bytes")
		return
	}
	node.Put(d, "macaddress", at(n, m.String(), true))
}

// mostPorts bounds the work that a file can ask for; real bonds have few.
const mostPorts = 256

func (r *reader) port(master, port string, n *yamldoc.Node) {
	if !readback.LinkName(port) || port == master {
		r.miss(n, master+".links", "is no interface's name")
		return
	}
	list := r.Device(master).Get("interfaces")
	if len(node.Items(list)) >= mostPorts {
		r.miss(n, master+".links", "more than "+strconv.Itoa(mostPorts)+" ports: left out")
		return
	}
	r.Device(port)
	if list == nil || !node.Contains(list.Items, node.Plain(port)) {
		node.Push(r.Device(master), "interfaces", at(n, port, false))
	}
}

// bondOption reads an option of a bond by Talos' name of either form.
func (r *reader) bondOption(name string, p yamldoc.Pair) {
	o, known := bondopt.Named(bondopt.Talos, p.Key)
	if !known {
		r.miss(p.Value, name+"."+p.Key, "the bonding driver has no such option")
		return
	}
	value := strings.Join(node.Texts(p.Value), ",")
	said, _ := o.Saying(bondopt.Talos)
	switch i := slices.Index(said.Words, value); {
	case value == "" || said.ZeroUnsaid && value == "0": // FillDefaults, bond_master_spec.go
		return
	case o.Name == "use_carrier":
		if !node.True(p.Value) {
			r.miss(p.Value, name+"."+p.Key, "Talos sets 1 whatever is said")
		}
		return
	case i >= 0:
		value = o.Words[i]
	case o.Switch() && (node.Yes(value) || value == "false"):
		value = map[bool]string{true: "1", false: "0"}[node.Yes(value)]
	}
	if _, err := o.Word(value); err != nil {
		r.miss(p.Value, name+"."+p.Key, "is no value of this option")
		return
	}
	r.Option(name, o.Name, value)
}

// defaults are those of Talos that are not the kernel's: in balance-tlb and -alb flows
// are not moved unless it is said.
func (r *reader) defaults(name, mode string) {
	const moved = "tlb_dynamic_lb"
	if o, _ := bondopt.Find(moved); mode == "" || !slices.Contains(strings.Split(o.ModeWords(), ", "), mode) || r.Beside.Get("bonding").Get(name).Get(moved) != nil {
		return
	}
	r.Option(name, moved, "0")
}

// aliasMAC is the one selector of a link alias that a match can say.
var aliasMAC = regexp.MustCompile(`^\s*mac\(link\.(?:permanent|hardware)_addr\)\s*==\s*["']([0-9a-fA-F:]{17})["']\s*$`)

// alias reads a name for a link that is found by what it is.
func (r *reader) alias(n *yamldoc.Node) {
	name := r.named(n)
	if name == "" {
		return
	}
	match := n.Get("selector").Get("match")
	found := []string(nil)
	if match != nil {
		found = aliasMAC.FindStringSubmatch(match.Text)
	}
	if found == nil {
		r.miss(n, "LinkAliasConfig "+name, "only a link that is found by its address is read: mac(link.permanent_addr) == \"...\"")
		r.late = append(r.late, func() { // or it would be the device of the alias' name
			if all := r.Network.Get("ethernets"); all.Get(name) != nil {
				node.SetKey(all, name, nil)
			}
		})
		return
	}
	m, err := flow.ParseMAC(strings.ToLower(found[1]))
	if err != nil {
		r.miss(match, "LinkAliasConfig "+name, "is no MAC address")
		return
	}
	node.Put(node.Within(r.Device(name), "match"), "macaddress", at(match, m.String(), true))
}
