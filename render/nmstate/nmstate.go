// Package nmstate writes a host's network as a state for nmstatectl(8).
package nmstate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/keyfile"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/node"
)

// place is where nmstate's service looks for states to apply at boot
// (nmstate.service(8)); `nmstatectl apply FILE` takes it as well.
const place = "/etc/nmstate/linerate.yml"

// features are the kernel's names of offloads that ethtool shortens;
// nmstate takes the kernel's, and some of ethtool's.
var features = map[string]string{
	"rx": "rx-checksum", "gro": "rx-gro", "gso": "tx-generic-segmentation", "lro": "rx-lro", "rxvlan": "rx-vlan-hw-parse",
	"txvlan": "tx-vlan-hw-insert", "ntuple": "rx-ntuple-filter", "rxhash": "rx-hashing", "tso": "tx-tcp-segmentation",
	"sg": "tx-scatter-gather", "tx": "tx-checksum-ip-generic",
}

// writer writes one state.
type writer struct {
	in                        render.Input
	ledger                    *ledger.Ledger
	interfaces, routes, rules *yamldoc.Node
	servers, search           *yamldoc.Node
}

// Write returns the host's network as one state. The error is
// render.ErrEmpty for a host that has nothing to write.
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	w := &writer{
		in: in, ledger: ledger.New(in, &out), interfaces: node.Sequence(), routes: node.Sequence(), rules: node.Sequence(),
		servers: node.Sequence(), search: node.Sequence(),
	}
	for _, d := range device.All(in) {
		w.device(d)
	}
	for _, name := range in.Host.Absent {
		item := node.Mapping()
		node.Put(item, "name", node.Plain(name))
		node.Put(item, "state", node.Plain("absent"))
		w.interfaces.Items = append(w.interfaces.Items, item)
		w.ledger.Say(name, "absent")
	}
	if len(w.interfaces.Items) == 0 {
		return render.Output{}, render.ErrEmpty
	}
	state := node.Mapping()
	state.Comment = "nmstatectl apply " + place
	node.Put(state, "interfaces", w.interfaces)
	node.Put(node.Within(state, "routes"), "config", w.routes)
	node.Put(node.Within(state, "route-rules"), "config", w.rules)
	resolver := node.Within(state, "dns-resolver", "config")
	node.Put(resolver, "server", w.servers)
	node.Put(resolver, "search", w.search)
	state.Pairs = withoutEmpty(state.Pairs)
	out.Add(place, 0o600, yamldoc.Write(state))
	w.ledger.Finish("nmstate cannot represent it",
		ledger.Reason{Keys: "sysctl.", Why: "nmstate sets no sysctls; sysctl.d does"},
		ledger.Reason{Keys: "mptcp.", Why: "nmstate marks addresses as endpoints and leaves MPTCP's limits alone: ip mptcp limits set"},
		ledger.Reason{Keys: "source_rules", Why: "the wanted state has no table for this link, so there is no rule to write"},
	)
	return out, nil
}

// withoutEmpty leaves out mappings that hold nothing.
func withoutEmpty(pairs []yamldoc.Pair) []yamldoc.Pair {
	var kept []yamldoc.Pair
	for _, p := range pairs {
		if p.Value.Kind == yamldoc.MappingNode {
			p.Value.Pairs = withoutEmpty(p.Value.Pairs)
		}
		if p.Value.Kind == yamldoc.ScalarNode || len(p.Value.Pairs)+len(p.Value.Items) > 0 {
			kept = append(kept, p)
		}
	}
	return kept
}

// types are the interface types of what is written.
var types = map[device.Kind]string{device.Ethernet: "ethernet", device.Bond: "bond", device.VLAN: "vlan", device.Bridge: "linux-bridge", device.Dummy: "dummy", device.OVSBridge: typeInterface}

func (w *writer) device(d device.Device) {
	typ, ok := types[d.Kind]
	switch {
	case d.Kind == device.OVSBond && d.MasterKind == device.OVSBridge:
		return // its bridge has it
	case d.Kind == device.OVSBond:
		w.ledger.LeaveOut(d.ID, string(d.Kind), "a bond of Open vSwitch is written as a port of its bridge, and no bridge has it")
		return
	case !ok:
		w.ledger.LeaveOut(d.ID, string(d.Kind), "only ethernets, bonds, VLANs, bridges and dummies are written")
		return
	}
	if d.Name == "" && (d.Match == nil || d.Match.MAC.IsZero()) {
		w.ledger.LeaveOut(d.ID, "match", "nmstate wants interfaces by name, and no known device matches")
		return
	}
	w.ledger.Say(d.ID, string(d.Kind))
	w.ledger.ByName(d)
	item := node.Mapping()
	name := d.Name
	if name == "" {
		name = d.ID
		node.Put(item, "identifier", node.Plain("mac-address"))
		node.Put(item, "mac-address", node.Quoted(strings.ToUpper(d.Match.MAC.String())))
	}
	item.Pairs = append([]yamldoc.Pair{{Key: "name", Value: node.Plain(name)}, {Key: "type", Value: node.Plain(typ)}, {Key: "state", Value: node.Plain("up")}}, item.Pairs...)
	if d.MTU != 0 {
		node.Put(item, "mtu", node.PlainInt(d.MTU))
		w.ledger.Say(d.ID, "mtu")
	}
	if !d.MAC.IsZero() && item.Get("mac-address") == nil {
		node.Put(item, "mac-address", node.Quoted(strings.ToUpper(d.MAC.String())))
		w.ledger.Say(d.ID, "macaddress")
	}
	switch d.Kind {
	case device.Bond:
		w.bond(d, item)
	case device.VLAN:
		node.Put(node.Within(item, "vlan"), "base-iface", node.Plain(d.Parent))
		node.Put(node.Within(item, "vlan"), "id", node.PlainInt(d.Tag))
		w.ledger.Say(d.ID, "id", "link")
	case device.Bridge:
		w.bridge(d, item)
	case device.OVSBridge:
		w.ovsBridge(d)
	}
	w.ethtool(d, item)
	w.family(d, item, "ipv4", "dhcp4", true)
	w.family(d, item, "ipv6", "dhcp6", false)
	w.mptcp(d, item)
	w.routing(d, name)
	w.nameservers(d)
	w.interfaces.Items = append(w.interfaces.Items, item)
}

func (w *writer) bond(d device.Device, item *yamldoc.Node) {
	w.ledger.Say(d.ID, "interfaces")
	bond := node.Within(item, "link-aggregation")
	node.Put(bond, "mode", node.Plain(d.Mode()))
	w.ledger.Say(d.ID, d.Options[0].Key)
	if _, said := d.Option("miimon"); !said {
		node.Put(node.Within(bond, "options"), "miimon", node.Plain("0")) // NetworkManager's own is 100
	}
	for _, o := range d.Options[1:] {
		row, said, known := bondopt.Said(bondopt.Nmstate, o.Name)
		if !known {
			continue
		}
		if nm, ok := row.Saying(bondopt.Keyfile); ok && !nm.In(d.Mode()) {
			w.ledger.Cannot(d.ID, o.Key, "mode "+d.Mode()+" has no such option, and NetworkManager behind nmstate refuses it")
			continue
		}
		if !said.Has(o.Value) {
			w.ledger.Cannot(d.ID, o.Key, "nmstate has no "+said.Name+" "+o.Value)
			continue
		}
		value := node.Plain(o.Value)
		switch {
		case said.Words != nil:
			if n, err := row.Number(o.Value); err == nil {
				value = node.Plain(said.Words[n])
			}
		case row.Switch():
			value = node.Plain(strconv.FormatBool(o.Value == "1" || o.Value == "on"))
		case row.Listed(), row.Kind == bondopt.MAC:
			value = node.Quoted(o.Value)
		case row.Kind == bondopt.Port:
			if names := device.Interfaces(w.in, []string{o.Value}); len(names) > 0 {
				value = node.Plain(names[0])
			}
		}
		node.Put(node.Within(bond, "options"), said.Name, value)
		w.ledger.Say(d.ID, o.Key)
	}
	list := node.Sequence()
	settingsOfPorts := false
	for _, port := range d.Ports {
		settings := w.in.Host.Links[port]
		entry := node.Mapping()
		node.Put(entry, "name", node.Plain(port))
		for _, o := range bondopt.Ports() {
			value, wanted := settings.Port[o.Name]
			if said, ok := o.Saying(bondopt.Nmstate); ok && wanted {
				settingsOfPorts = true
				node.Put(entry, said.Name, node.Plain(value))
				w.ledger.Say(port, o.Key)
			}
		}
		list.Items = append(list.Items, entry)
	}
	if settingsOfPorts {
		node.Put(bond, "ports-config", list)
		return
	}
	for i, port := range d.Ports {
		list.Items[i] = node.Plain(port)
	}
	if b, ok := w.in.Host.Network.Bond(d.ID); ok && b.Interfaces != nil && len(list.Items) == 0 {
		list.Flow = true // an empty list takes all ports out, none leaves them
		bond.Pairs = append(bond.Pairs, yamldoc.Pair{Key: "port", Value: list})
	}
	node.Put(bond, "port", list)
}

// treeSeconds are the least and the most of a bridge's times that nmstate takes, with the
// spanning tree or without (IEEE 802.1D-2004, table 17-1).
var treeSeconds = map[string][2]int{"forward-delay": {2, 30}, "hello-time": {1, 10}, "max-age": {6, 40}}

// outOfRange is why nmstate refuses a bridge's value; "" where it takes it.
func outOfRange(key, value string) string {
	most, timed := treeSeconds[key]
	if n, err := strconv.Atoi(value); !timed || err == nil && n >= most[0] && n <= most[1] {
		return ""
	}
	return fmt.Sprintf("nmstate takes %d to %d seconds and no %s", most[0], most[1], value)
}

func (w *writer) bridge(d device.Device, item *yamldoc.Node) {
	w.ledger.Say(d.ID, "interfaces")
	bridge := node.Within(item, "bridge")
	for _, p := range [...][2]string{{"stp", "enabled"}, {"priority", "priority"}, {"forward-delay", "forward-delay"}, {"hello-time", "hello-time"}, {"max-age", "max-age"}} {
		if n := d.Parameters.Get(p[0]); n != nil {
			if why := outOfRange(p[0], n.Text); why != "" {
				w.ledger.Cannot(d.ID, "parameters."+p[0], why)
				continue
			}
			value := node.Plain(n.Text)
			if p[0] == "stp" {
				value = node.Plain(strconv.FormatBool(node.True(n)))
			}
			node.Put(node.Within(bridge, "options", "stp"), p[1], value)
			w.ledger.Say(d.ID, "parameters."+p[0])
		}
	}
	if n := d.Parameters.Get("ageing-time"); n != nil {
		node.Put(node.Within(bridge, "options"), "mac-ageing-time", node.Plain(n.Text))
		w.ledger.Say(d.ID, "parameters.ageing-time")
	}
	ports := node.Sequence()
	for _, port := range d.Ports {
		entry := node.Mapping()
		node.Put(entry, "name", node.Plain(port))
		for _, p := range [...][2]string{{"path-cost", "stp-path-cost"}, {"port-priority", "stp-priority"}} {
			if n := d.Parameters.Get(p[0]).Get(port); n != nil {
				node.Put(entry, p[1], node.Plain(n.Text))
				w.ledger.Say(d.ID, "parameters."+p[0]+"."+port)
			}
		}
		ports.Items = append(ports.Items, entry)
	}
	node.Put(bridge, "port", ports)
}

func (w *writer) ethtool(d device.Device, item *yamldoc.Node) {
	ethtool := node.Mapping()
	feature := func(key, name string, on bool) {
		if kernel, short := features[name]; short {
			name = kernel
		}
		node.Put(node.Within(ethtool, "feature"), name, node.Plain(strconv.FormatBool(on)))
		w.ledger.Say(d.ID, key)
	}
	for _, row := range device.Offloads {
		if on, said := d.Truth(row.Netplan); said {
			feature(row.Netplan, row.Ethtool, on)
		}
	}
	s := d.Settings
	for _, name := range slices.Sorted(maps.Keys(s.Offloads)) {
		feature("offloads."+name, name, s.Offloads[name])
	}
	for _, n := range device.Numbers(s) {
		kind, word, value := "ring", n.Name, node.PlainInt(n.Value)
		if n.Kind == "coalesce" {
			kind, word = n.Kind, keyfile.Coalesce(n.Name)
		}
		if n.Kind == "channels" || word == "" {
			continue
		}
		if strings.HasPrefix(word, "adaptive-") {
			value = node.Plain(strconv.FormatBool(n.Value != 0))
		}
		node.Put(node.Within(ethtool, kind), word, value)
		w.ledger.Say(d.ID, n.Key())
	}
	node.Put(item, "ethtool", ethtool)
}

// family is the ipv4 or ipv6 part of an interface.
func (w *writer) family(d device.Device, item *yamldoc.Node, group, dhcp string, v4 bool) {
	n := node.Mapping()
	automatic, _ := d.Truth(dhcp)
	autoconf, localOnly := false, false
	w.ledger.Say(d.ID, dhcp)
	if !v4 {
		accept, said := d.Truth("accept-ra")
		w.ledger.Say(d.ID, "accept-ra", "link-local")
		if accept && !automatic {
			w.ledger.Cannot(d.ID, "accept-ra", "nmstate takes what routers say only together with DHCPv6, which is on too")
			automatic = true
		}
		autoconf = automatic && (accept || !said)
		localOnly = d.Master == ""
		if families := d.Key("link-local"); families != nil {
			localOnly = slices.Contains(node.Texts(families), "ipv6")
		}
	}
	w.overrides(d, n, dhcp+"-overrides.")
	addresses := node.Sequence()
	for _, a := range d.Addresses {
		if a.Addr().Is4() == v4 {
			entry := node.Mapping()
			node.Put(entry, "ip", node.Quoted(a.Addr().String()))
			node.Put(entry, "prefix-length", node.PlainInt(a.Bits()))
			addresses.Items = append(addresses.Items, entry)
			w.ledger.Say(d.ID, "addresses")
		}
	}
	on := automatic || autoconf || localOnly || len(addresses.Items) > 0
	switch families := d.Key("link-local"); {
	case families == nil:
	case v4 && slices.Contains(node.Texts(families), "ipv4"):
		w.ledger.Cannot(d.ID, "link-local", "nmstate asks for no link-local address of IPv4")
	case !v4 && on && !localOnly:
		w.ledger.Cannot(d.ID, "link-local", "a device with IPv6 always has a link-local address with NetworkManager behind nmstate")
	}
	head := []yamldoc.Pair{{Key: "enabled", Value: node.Plain(strconv.FormatBool(on))}}
	if on {
		head = append(head, yamldoc.Pair{Key: "dhcp", Value: node.Plain(strconv.FormatBool(automatic))})
		if !v4 {
			head = append(head, yamldoc.Pair{Key: "autoconf", Value: node.Plain(strconv.FormatBool(autoconf))})
		}
		node.Put(n, "address", addresses)
	}
	n.Pairs = append(head, n.Pairs...)
	node.Put(item, group, n)
}

func (w *writer) overrides(d device.Device, n *yamldoc.Node, path string) {
	for _, o := range [...][2]string{{"use-dns", "auto-dns"}, {"use-routes", "auto-routes"}, {"route-metric", "auto-route-metric"}} {
		text := d.Text(path + o[0])
		if text == "" {
			continue
		}
		if o[0] != "route-metric" {
			text = strconv.FormatBool(node.Yes(text))
		}
		node.Put(n, o[1], node.Plain(text))
		w.ledger.Say(d.ID, path+o[0])
	}
}
