package nmstate

import (
	"strconv"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
)

// Types of what Open vSwitch makes: a bridge, and its own port, which has the bridge's
// name and its addresses (rust/src/lib/ifaces/ovs.rs of nmstate 2.2).
const (
	typeBridge    = "ovs-bridge"
	typeInterface = "ovs-interface"
)

const (
	ovsKey   = "openvswitch"
	modeLACP = "lacp" // LACP, and the mode that Open vSwitch takes by itself
)

// bridgeSettings are netplan's keys of a bridge below openvswitch and nmstate's.
var bridgeSettings = [...][2]string{{"fail-mode", "fail-mode"}, {"mcast-snooping", "mcast-snooping-enable"}, {"rstp", "rstp"}}

// portSettings are netplan's keys of any port below openvswitch and nmstate's below
// ovs-db.
var portSettings = [...][2]string{{"other-config", "other_config"}, {"external-ids", "external_ids"}}

// ovsBridge reads a bridge of Open vSwitch and the bonds among its ports.
func (r *reader) ovsBridge(name string, d, n *yamldoc.Node) {
	options := n.Get("options")
	for _, p := range node.Pairs(options) {
		read := p.Key == "stp" && !node.True(p.Value.Get("enabled"))
		for _, o := range bridgeSettings {
			if read = read || o[1] == p.Key; o[1] == p.Key {
				node.Put(node.Within(d, ovsKey), o[0], p.Value)
			}
		}
		if !read {
			r.miss(p.Value, "bridge.options."+p.Key, "netplan has no such option of a bridge of Open vSwitch")
		}
	}
	for _, list := range []string{"port", "ports"} {
		for _, item := range node.Items(n.Get(list)) {
			port := node.Said(item.Get("name"))
			if v := item.Get("vlan"); v != nil && len(v.Pairs) > 0 {
				r.miss(v, "bridge.port.vlan", "a fabric has no VLAN of a bridge's port")
			}
			switch bond := item.Get("link-aggregation"); {
			case bond != nil:
				r.Kinds[port] = "bonds"
				r.port(name, port, item)
				r.ovsBond(port, item, bond)
			case port == name, r.internal[port]:
			default:
				r.port(name, port, item)
			}
		}
	}
}

// ovsBond reads a bond of Open vSwitch. With balance-tcp nmstate asks for LACP, and with
// other modes but its own "lacp" it does not (rust/src/lib/nm/settings/ovs.rs).
func (r *reader) ovsBond(name string, item, n *yamldoc.Node) {
	d := r.Device(name)
	d.Line, d.Column = item.Line, item.Column
	own := node.FlowMap()
	node.SetKey(d, ovsKey, own)
	for _, p := range n.Pairs {
		switch p.Key {
		case "mode":
			if p.Value.Text != modeLACP {
				node.Put(node.Within(d, "parameters"), "mode", p.Value)
			}
			if p.Value.Text == modeLACP || p.Value.Text == string(netstate.OVSBalanceTCP) {
				node.Put(own, "lacp", at(p.Value, netstate.OVSLACPActive, false))
			}
		case "port", "ports":
			for _, port := range node.Items(p.Value) {
				r.port(name, node.Said(port.Get("name")), port)
			}
		case "ovs-db":
			for _, o := range portSettings {
				if v := p.Value.Get(o[1]); v != nil {
					node.Put(own, o[0], v)
				}
			}
		default:
			r.miss(p.Value, "link-aggregation."+p.Key, "netplan has no such option of a bond of Open vSwitch")
		}
	}
}

// ovsBridge is the bridge itself, with its ports; its addresses are its own port's.
func (w *writer) ovsBridge(d device.Device) {
	item := node.Mapping()
	node.Put(item, "name", node.Plain(d.Name))
	node.Put(item, "type", node.Plain(typeBridge))
	node.Put(item, "state", node.Plain("up"))
	w.ledger.Say(d.ID, "interfaces", string(d.Kind))
	for _, o := range bridgeSettings {
		value := d.Text(ovsKey + "." + o[0])
		if value == "" {
			continue
		}
		if o[0] != "fail-mode" {
			value = strconv.FormatBool(node.Yes(value))
		}
		node.Put(node.Within(item, "bridge", "options"), o[1], node.Plain(value))
		w.ledger.Say(d.ID, ovsKey+"."+o[0])
	}
	ports := node.Sequence()
	self := node.Mapping()
	node.Put(self, "name", node.Plain(d.Name))
	ports.Items = append(ports.Items, self)
	bonds := map[string]device.Device{}
	for _, b := range device.All(w.in) {
		if b.Kind == device.OVSBond {
			bonds[b.Name] = b
		}
	}
	for _, name := range d.Ports {
		entry := node.Mapping()
		node.Put(entry, "name", node.Plain(name))
		if b, ok := bonds[name]; ok {
			w.ovsBond(b, node.Within(entry, "link-aggregation"))
		}
		ports.Items = append(ports.Items, entry)
	}
	node.Put(node.Within(item, "bridge"), "port", ports)
	w.interfaces.Items = append(w.interfaces.Items, item)
}

func (w *writer) ovsBond(d device.Device, n *yamldoc.Node) {
	w.ledger.Say(d.ID, "interfaces", "parameters.mode", string(d.Kind))
	lacp := d.OVS.LACP != "" && d.OVS.LACP != netstate.OVSLACPOff
	const key = ovsKey + ".lacp"
	w.ledger.Say(d.ID, key)
	mode := string(d.OVS.Runs().Mode)
	switch {
	case d.OVS.Mode == netstate.OVSBalanceTCP && d.OVS.LACP != netstate.OVSLACPActive:
		w.ledger.Cannot(d.ID, key, "with balance-tcp nmstate asks for LACP actively")
	case d.OVS.Mode == netstate.OVSBalanceSLB && lacp:
		w.ledger.Cannot(d.ID, key, "with balance-slb nmstate turns LACP off")
	case d.OVS.Runs().Mode == netstate.OVSActiveBackup && lacp:
		mode = modeLACP
		if d.OVS.LACP != netstate.OVSLACPActive {
			w.ledger.Cannot(d.ID, key, "nmstate asks for LACP actively or not at all")
		}
	}
	node.Put(n, "mode", node.Plain(mode))
	members := node.Sequence()
	for _, name := range d.Ports {
		entry := node.Mapping()
		node.Put(entry, "name", node.Plain(name))
		members.Items = append(members.Items, entry)
	}
	node.Put(n, "port", members)
	for _, o := range portSettings {
		for _, p := range node.Pairs(d.Key(ovsKey).Get(o[0])) {
			node.Put(node.Within(n, "ovs-db", o[1]), p.Key, node.Quoted(p.Value.Text))
			w.ledger.Say(d.ID, ovsKey+"."+o[0]+"."+p.Key)
		}
	}
}
