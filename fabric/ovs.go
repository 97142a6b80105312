package fabric

import (
	"slices"
	"strconv"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// OVSBond is a bond of Open vSwitch, and the definitions its members come from.
type OVSBond struct {
	Device
	Interfaces []string
	// Options is what the file says of it; members are not filled in.
	Options netstate.OVSBond
	// Parameters are netplan's as they were written; nil none.
	Parameters *yamldoc.Node
}

// ovsKey is netplan's key of what Open vSwitch makes.
const ovsKey = "openvswitch"

// ByOVS reports a definition of netplan's that Open vSwitch makes: its own key is empty,
// or has more than what may be said of any port (handle_ovs_backend, src/parse.c of
// netplan 1.1), or its mode is one that the kernel has not (handle_bond_mode).
func ByOVS(definition *yamldoc.Node) bool {
	own, mode := definition.Get(ovsKey), definition.Get("parameters").Get("mode")
	var kernel netstate.BondMode
	return own != nil && own.Kind == yamldoc.MappingNode && (len(own.Pairs) == 0 || slices.ContainsFunc(own.Pairs, func(p yamldoc.Pair) bool {
		return p.Key != "external-ids" && p.Key != "other-config"
	})) || mode != nil && ovsMode(mode.Text) && kernel.UnmarshalText([]byte(mode.Text)) != nil
}

func ovsMode(word string) bool {
	return word != "" && slices.Contains(netstate.OVSModes(), netstate.OVSMode(word))
}

// partOVS takes the bonds of Open vSwitch from the kernel's.
func (n *Network) partOVS(d *decoder, at place, network *yamldoc.Node) {
	n.Bonds = slices.DeleteFunc(n.Bonds, func(b Bond) bool {
		said := network.Get("bonds").Get(b.ID)
		parameters := said.Get("parameters")
		mode := parameters.Get("mode")
		if !ByOVS(said) {
			return false
		}
		o := OVSBond{Device: b.Device, Interfaces: b.Interfaces, Parameters: parameters}
		if mode != nil && !ovsMode(mode.Text) {
			d.wrong(at.key("bonds").key(b.ID).key("parameters").key("mode"), mode, mode.Text+" is no mode of Open vSwitch", "its modes are active-backup, balance-slb and balance-tcp; LACP is openvswitch: {lacp: active}")
		} else if mode != nil {
			o.Options.Mode = netstate.OVSMode(mode.Text)
		}
		own := said.Get(ovsKey)
		if lacp := own.Get("lacp"); lacp != nil {
			o.Options.LACP = lacp.Text
		}
		if basis := own.Get("other-config").Get("bond-hash-basis"); basis != nil {
			number, _ := strconv.ParseUint(basis.Text, 10, 32)
			o.Options.Basis = uint32(number)
		}
		n.OVSBonds = append(n.OVSBonds, o)
		return true
	})
	for i := range n.Bridges {
		b := &n.Bridges[i]
		b.OVS = ByOVS(network.Get("bridges").Get(b.ID)) || slices.ContainsFunc(n.OVSBonds, func(o OVSBond) bool { return slices.Contains(b.Interfaces, o.ID) })
	}
}

// OVSBond returns the bond of Open vSwitch with the ID.
func (n Network) OVSBond(id string) (OVSBond, bool) { return withID(n.OVSBonds, id) }

// ovsBonds adds the bonds of Open vSwitch with their members.
func (b stateBuilder) ovsBonds() {
	for _, d := range b.declared.Network.OVSBonds {
		bond := d.Options.Runs()
		bond.Ports = b.devices(d.Interfaces)
		if bond.Mode == netstate.OVSActiveBackup && len(bond.Ports) > 0 {
			bond.Active = bond.Ports[0]
		}
		for _, name := range bond.Ports {
			if port, ok := b.Link(name); ok {
				port.Master = d.ID
				b.SetLink(port)
			}
		}
		b.add(netstate.Link{Name: d.ID, Kind: netstate.KindOVSBond, MTU: d.MTU, OVS: &bond})
	}
}

// ovsBond puts a declared bond of Open vSwitch on an observed host, whose kernel does
// not know it: false where not all of its members are there.
func (m *merger) ovsBond(l netstate.Link) bool {
	l = l.Clone()
	for i, name := range l.OVS.Ports {
		declared, _ := m.declared.Link(name)
		port, ok := m.out.Link(m.observedName(declared))
		if !ok || port.Port != nil {
			return false
		}
		l.OVS.Ports[i] = port.Name
		port.Master = l.Name
		m.out.SetLink(port)
	}
	if l.OVS.Active != "" {
		l.OVS.Active = l.OVS.Ports[0]
	}
	m.out.SetLink(l)
	return true
}
