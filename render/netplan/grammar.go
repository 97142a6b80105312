package netplan

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/node"
)

// grammar refuses what netplan refuses of what a fabric keeps as it is written: what
// bridges say of their ports, VRFs, veth pairs and tunnels (netplan 1.2.2:
// validate_netdef_grammar, validate_tunnel_grammar and adopt_and_validate_vrf_routes of
// src/validation.c, handle_bridge_path_cost, handle_bridge_port_priority,
// handle_vrf_interfaces and handle_veth_peer of src/parse.c).
func grammar(network *yamldoc.Node, say func(id string) sayer) {
	defined, said := map[string]bool{}, map[string]string{}
	for _, section := range node.Pairs(network) {
		for _, d := range node.Pairs(section.Value) {
			defined[d.Key] = true
			if token := d.Value.Get("ipv6-address-token"); token != nil && d.Value.Get("ipv6-address-generation") != nil {
				say(d.Key)(token, "ipv6-address-token", "ipv6-address-generation excludes it", "take one of them out")
			}
		}
	}
	for _, d := range node.Pairs(network.Get("bridges")) {
		bridge(d, defined, said, say(d.Key))
	}
	owner := map[string]string{}
	for _, d := range node.Pairs(network.Get("vrfs")) {
		if d.Value.Kind == yamldoc.MappingNode {
			vrf(d, owner, say(d.Key))
		}
	}
	pairs := network.Get("virtual-ethernets")
	for _, d := range node.Pairs(pairs) {
		if d.Value.Kind == yamldoc.MappingNode {
			veth(d, pairs, say(d.Key))
		}
	}
	for _, d := range node.Pairs(network.Get("tunnels")) {
		if d.Value.Kind == yamldoc.MappingNode {
			tunnel(d, say(d.Key))
		}
	}
	for _, d := range node.Pairs(network.Get("ethernets")) {
		rebind := d.Value.Get("delay-virtual-functions-rebind")
		parent := func(other yamldoc.Pair) bool { return node.Said(other.Value.Get("link")) == d.Key }
		if node.True(rebind) && d.Value.Get("virtual-function-count") == nil && d.Value.Get("embedded-switch-mode") == nil && !slices.ContainsFunc(node.Pairs(network.Get("ethernets")), parent) {
			say(d.Key)(rebind, "delay-virtual-functions-rebind", "it has no virtual functions", "take it out, or write virtual-function-count")
		}
	}
}

// bridge judges what a bridge says of ports. Said is whose word each is.
func bridge(d yamldoc.Pair, defined map[string]bool, said map[string]string, say sayer) {
	for _, key := range []string{"path-cost", "port-priority"} {
		for _, p := range node.Pairs(d.Value.Get("parameters").Get(key)) {
			switch other := said[key+" "+p.Key]; {
			case !defined[p.Key]:
				say(p.Value, "parameters."+key+"."+p.Key, "interface "+p.Key+" is not defined", "name a port of the bridge by its definition")
			case other != "":
				say(p.Value, "parameters."+key+"."+p.Key, "it stands under "+other+" already", "write it under the port's own bridge alone")
			}
			said[key+" "+p.Key] = d.Key
		}
	}
}

func vrf(d yamldoc.Pair, owner map[string]string, say sayer) {
	table := d.Value.Get("table")
	if table == nil {
		say(d.Value, "table", "a VRF needs its table", "add table: NUMBER")
	}
	for _, port := range node.Items(d.Value.Get("interfaces")) {
		if other := owner[port.Text]; other != "" && other != d.Key {
			say(port, "interfaces", port.Text+" is in "+other+" already", "name it in one VRF alone")
		}
		owner[port.Text] = d.Key
	}
	for _, key := range []string{"routes", "routing-policy"} {
		for i, r := range node.Items(d.Value.Get(key)) {
			if own := r.Get("table"); own != nil && table != nil && node.Said(own) != node.Said(table) {
				say(own, fmt.Sprintf("%s[%d].table", key, i), "the table of a VRF's "+key+" is the VRF's, "+node.Said(table), "take table out")
			}
		}
	}
}

func veth(d yamldoc.Pair, pairs *yamldoc.Node, say sayer) {
	peer := d.Value.Get("peer")
	name := node.Said(peer)
	other := pairs.Get(name)
	switch {
	case peer == nil:
		say(d.Value, "peer", "it names no peer", "add peer: NAME, another of the virtual-ethernets")
	case name == d.Key:
		say(peer, "peer", "it is its own peer", "name another of the virtual-ethernets")
	case other == nil:
		say(peer, "peer", name+" is none of the virtual-ethernets", "define "+name+" under virtual-ethernets, with peer: "+d.Key)
	case node.Said(other.Get("peer")) != d.Key:
		say(peer, "peer", name+" is not "+d.Key+"'s: its own peer is another", "write peer: "+d.Key+" of "+name)
	}
}

// tunnelModes are the families of the outer addresses that each mode of netplan's takes:
// 4, 6, or 0 for both.
var tunnelModes = map[string]int{
	"ipip": 4, "gre": 4, "sit": 4, "isatap": 4, "vti": 4, "gretap": 4,
	"ip6ip6": 6, "ipip6": 6, "ip6gre": 6, "vti6": 6, "ip6gretap": 6,
	"vxlan": 0, "wireguard": 0,
}

func tunnel(d yamldoc.Pair, say sayer) {
	mode := d.Value.Get("mode")
	family, known := tunnelModes[node.Said(mode)]
	switch {
	case mode == nil:
		say(d.Value, "mode", "a tunnel needs its mode", "add mode: one of "+strings.Join(sortedModes(), ", "))
		return
	case !known:
		say(mode, "mode", "netplan makes no tunnel of mode "+node.Said(mode), "write one of "+strings.Join(sortedModes(), ", "))
		return
	case mode.Text == "wireguard":
		return
	}
	number := func(key string, low, high uint64, hint string) {
		if n := d.Value.Get(key); n != nil {
			if v, err := strconv.ParseUint(node.Said(n), 10, 32); err != nil || v < low || v > high {
				say(n, key, fmt.Sprintf("%s is not from %d to %d", n.Text, low, high), hint)
			}
		}
	}
	number("ttl", 0, 255, "write a number of hops")
	if mode.Text == "vxlan" {
		if d.Value.Get("id") == nil {
			say(d.Value, "id", "a VXLAN needs its id", "add id: NUMBER, the VNI")
		}
		number("id", 1, 1<<24-1, "write the VNI")
		number("flow-label", 0, 1<<20-1, "write a number of 20 bits")
	} else if d.Value.Get("remote") == nil {
		say(d.Value, "remote", "the tunnel has no far end", "add remote: ADDRESS")
	}
	families := map[bool]bool{}
	for _, key := range []string{"local", "remote"} {
		n := d.Value.Get(key)
		if n == nil {
			continue
		}
		a, err := netip.ParseAddr(node.Said(n))
		if four := a.Is4(); err != nil || family == 4 && !four || family == 6 && four {
			say(n, key, fmt.Sprintf("%q is no address of the family that mode %s takes", node.Said(n), mode.Text), "write an address without a prefix length")
			continue
		}
		families[a.Is4()] = true
	}
	if len(families) > 1 {
		say(d.Value.Get("remote"), "remote", "local and remote are of two address families", "write two of one family")
	}
}

func sortedModes() []string {
	var modes []string
	for mode := range tunnelModes {
		modes = append(modes, mode)
	}
	slices.Sort(modes)
	return modes
}
