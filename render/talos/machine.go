package talos

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// machine reads the old form: machine.network, and the network's sysctls.
func (r *reader) machine(n *yamldoc.Node) {
	r.sysctls(n.Get("sysctls"))
	network := n.Get("network")
	for _, p := range node.Pairs(network) {
		switch p.Key {
		case "hostname", "extraHostEntries", "disableSearchDomain":
		case "interfaces":
			for i, item := range node.Items(p.Value) {
				r.iface(item, fmt.Sprintf("interfaces[%d]", i))
			}
		case "nameservers":
			r.late = append(r.late, func() { r.listed(p.Value, "addresses") })
		case "searchDomains":
			r.late = append(r.late, func() { r.listed(p.Value, "search") })
		default:
			r.miss(p.Value, "machine.network."+p.Key, "a fabric cannot represent it")
		}
	}
}

func (r *reader) listed(n *yamldoc.Node, key string) {
	for _, item := range node.Items(n) {
		r.names(item, key)
	}
}

// iface reads one interface of machine.network.
func (r *reader) iface(n *yamldoc.Node, place string) {
	name := node.Said(n.Get("interface"))
	if selector := n.Get("deviceSelector"); selector != nil {
		if name = r.selected(selector, place); name == "" {
			return
		}
	}
	switch {
	case !readback.LinkName(name):
		r.miss(n, place, "has no name of an interface")
		return
	case name == "lo":
		return
	case node.True(n.Get("ignore")):
		r.miss(n.Get("ignore"), name+".ignore", "Talos leaves the interface alone: left out")
		return
	case n.Get("wireguard") != nil:
		r.miss(n.Get("wireguard"), name+".wireguard", "a fabric cannot represent it: the interface is left out")
		return
	}
	d := r.Device(name)
	d.Line, d.Column = n.Line, n.Column
	for _, p := range n.Pairs {
		key := name + "." + p.Key
		switch p.Key {
		case "interface", "deviceSelector", "dummy", "ignore":
		case "bond":
			r.oldBond(name, p.Value)
		case "bridge":
			r.oldBridge(name, d, p.Value)
		case "bridgePort":
			if master := node.Said(p.Value.Get("master")); readback.LinkName(master) {
				r.Kinds[master] = "bridges"
				r.port(master, name, p.Value)
			}
		case "vlans":
			for _, item := range node.Items(p.Value) {
				r.oldVLAN(name, item)
			}
		default:
			if !r.addressing(d, n, p, key) {
				r.miss(p.Value, key, "a fabric cannot represent it")
			}
		}
	}
}

// addressing reads what interfaces and VLANs of the old form have alike; false for
// another key.
func (r *reader) addressing(d, n *yamldoc.Node, p yamldoc.Pair, key string) bool {
	switch p.Key {
	case "mtu":
		if p.Value.Text != "0" {
			node.Put(d, "mtu", p.Value)
		}
	case "addresses":
		for _, item := range node.Items(p.Value) {
			r.address(d, item, key)
		}
	case "cidr":
		r.address(d, p.Value, key)
	case "routes":
		for _, item := range node.Items(p.Value) {
			r.route(d, item, "network", key)
		}
	case "dhcp":
		if node.True(p.Value) {
			r.asked(d, p.Value, n.Get("dhcpOptions"))
		}
	case "dhcpOptions":
		if v := p.Value.Get("duidv6"); v != nil {
			r.miss(v, key+".duidv6", "a fabric cannot represent it")
		}
	default:
		return false
	}
	return true
}

// asked is DHCP with its options: IPv4 alone unless they say otherwise.
func (r *reader) asked(d, on, options *yamldoc.Node) {
	for _, f := range [...][2]string{{"ipv4", "dhcp4"}, {"ipv6", "dhcp6"}} {
		said := options.Get(f[0])
		if said == nil && f[0] == "ipv6" || said != nil && !node.True(said) {
			continue
		}
		node.Put(d, f[1], at(on, "true", false))
		if metric := options.Get("routeMetric"); metric != nil && metric.Text != "0" {
			node.Put(node.Within(d, f[1]+"-overrides"), "route-metric", metric)
		}
	}
}

// oldBond reads a bond of the old form, whose ports are named or selected.
func (r *reader) oldBond(name string, n *yamldoc.Node) {
	r.Kinds[name] = "bonds"
	for _, p := range node.Pairs(n) {
		switch p.Key {
		case "interfaces":
			for _, item := range node.Items(p.Value) {
				r.port(name, item.Text, item)
			}
		case "deviceSelectors":
			for i, item := range node.Items(p.Value) {
				if i == mostPorts {
					r.miss(item, name+".deviceSelectors", "more than "+strconv.Itoa(mostPorts)+" selectors: left out")
					break
				}
				if port := r.selected(item, fmt.Sprintf("%s.deviceSelectors[%d]", name, i)); port != "" {
					r.port(name, port, item)
				}
			}
		default:
			r.bondOption(name, p)
		}
	}
	r.defaults(name, node.Said(n.Get("mode")))
}

func (r *reader) oldBridge(name string, d, n *yamldoc.Node) {
	for _, item := range node.Items(n.Get("interfaces")) {
		r.port(name, item.Text, item)
	}
	if on := n.Get("stp").Get("enabled"); on != nil {
		node.Put(node.Within(d, "parameters"), "stp", at(on, trueFalse(on), false))
	}
	if on := n.Get("vlan").Get("vlanFiltering"); node.True(on) {
		r.miss(on, name+".vlan.vlanFiltering", "a fabric has no VLAN filter of a bridge")
	}
}

// oldVLAN reads a VLAN of the old form, which has no name: Talos makes one.
func (r *reader) oldVLAN(parent string, n *yamldoc.Node) {
	id, err := strconv.ParseUint(node.Said(n.Get("vlanId")), 10, 16)
	if err != nil || id > 4094 {
		r.miss(n, parent+".vlans", "has no vlanId from 0 to 4094")
		return
	}
	name := vlanName(parent, id)
	r.Kinds[name] = "vlans"
	d := r.Device(name)
	d.Line, d.Column = n.Line, n.Column
	node.Put(d, "id", at(n.Get("vlanId"), strconv.FormatUint(id, 10), false))
	node.Put(d, "link", node.Plain(parent))
	for _, p := range n.Pairs {
		if key := name + "." + p.Key; p.Key != "vlanId" && !r.addressing(d, n, p, key) {
			r.miss(p.Value, key, "a fabric cannot represent it")
		}
	}
}

// vlanName is the name that Talos gives a VLAN (VLANLinkName, nethelpers/vlan.go): a
// longer parent's is cut, with some of its SHA-256 behind.
func vlanName(parent string, id uint64) string {
	const longest, tag, kept = 15, 5, 4
	if len(parent)+tag <= longest {
		return fmt.Sprintf("%s.%d", parent, id)
	}
	sum := sha256.Sum256([]byte(parent))
	return fmt.Sprintf("%s%x.%d", parent[:kept], sum[:(longest-kept-tag)/2], id)
}

// selected is a definition for what a selector finds, by the address or the driver; ""
// and noted for one that no match stands for.
func (r *reader) selected(n *yamldoc.Node, place string) string {
	match := node.Mapping()
	for _, p := range node.Pairs(n) {
		glob := strings.ContainsAny(p.Value.Text, "*?[")
		switch mac, err := flow.ParseMAC(strings.ToLower(p.Value.Text)); {
		case (p.Key == "hardwareAddr" || p.Key == "permanentAddr") && err == nil:
			node.Put(match, "macaddress", at(p.Value, mac.String(), true))
		case p.Key == "driver" && !glob && p.Value.Text != "":
			node.Put(match, "driver", at(p.Value, p.Value.Text, true))
		case p.Key == "physical" && node.True(p.Value):
		default:
			r.miss(p.Value, place+"."+p.Key, "a fabric finds a link by one address or by its driver: left out, name the interface")
			return ""
		}
	}
	if len(match.Pairs) == 0 {
		r.miss(n, place, "selects by nothing that a fabric can: left out, name the interface")
		return ""
	}
	for _, d := range node.Pairs(r.Network.Get("ethernets")) {
		if d.Value.Get("match").Equal(match) {
			return d.Key
		}
	}
	r.selectors++
	name := fmt.Sprintf("selected%d", r.selectors)
	node.Put(r.Device(name), "match", match)
	return name
}
