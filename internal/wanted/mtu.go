package wanted

import (
	"slices"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// wish is a value and where the file says it.
type wanted struct {
	value int
	path  []any
}

// settleMTUs gives every link the MTU that the file says, or that follows: a
// bond sets its ports' (bond_change_mtu, bond_enslave), and no VLAN is larger
// than its parent (vlan_dev_change_mtu).
func (b *builder) settleMTUs() {
	said := map[string]wanted{}
	for _, d := range b.definitions() {
		if d.device.MTU == 0 {
			continue
		}
		for _, name := range b.links(d.device.ID) {
			said[name] = wanted{d.device.MTU, network(d.name, d.device.ID, "mtu")}
		}
	}
	for name, w := range said {
		l, _ := b.want.Link(name)
		if l.MaxMTU > 0 && w.value > l.MaxMTU {
			b.wrong(w.path, "", "%s can have %d at most (IFLA_MAX_MTU), not %d", name, l.MaxMTU, w.value)
		}
		if l.VLAN == nil && (l.Master == "" || !b.isBond(l.Master)) {
			b.setMTU(name, w.value, b.at.Line(w.path...), "")
		}
	}
	b.bondMTUs(said)
	for range b.want.Links { // VLANs on VLANs
		for _, l := range slices.Clone(b.want.Links) {
			if l.LargestOn() != "" {
				b.vlanMTU(l, said)
			}
		}
	}
	b.vlanProblems(said)
}

func (b *builder) isBond(name string) bool {
	l, ok := b.want.Link(name)
	return ok && l.Bond != nil
}

func (b *builder) setMTU(name string, mtu int, by, why string) {
	b.change(name, func(l *netstate.Link) { l.MTU = mtu })
	b.because(plan.Step{Kind: plan.LinkMTU, Link: name}, by, why)
}

func (b *builder) bondMTUs(said map[string]wanted) {
	for _, bond := range slices.Clone(b.want.Links) {
		if bond.Bond == nil {
			continue
		}
		mtu := bond.MTU
		if mtu == 0 {
			mtu = defaultMTU
			b.setMTU(bond.Name, mtu, b.at.Line(network("bonds", bond.Name)...), "the driver's own")
		}
		w, told := said[bond.Name]
		by := b.at.Line(network("bonds", bond.Name)...)
		if told {
			by = b.at.Line(w.path...)
		}
		for _, name := range bond.Bond.Ports {
			port, ok := b.want.Link(name)
			if !ok {
				continue
			}
			own, ownTold := said[name]
			had, was := b.observed.Link(name)
			if before, _ := b.observed.Link(bond.Name); ownTold && had.MTU == own.value && had.Master == bond.Name && before.MTU == mtu {
				continue // somebody gave the port another, and the file says so
			}
			switch {
			case ownTold && own.value != mtu:
				b.warn("%s, a port of %s, has MTU %d, and %s %d: the larger frames of one are lost at the other", name, bond.Name, own.value, bond.Name, mtu)
				b.setMTU(name, own.value, b.at.Line(own.path...), "")
				continue
			case port.MaxMTU > 0 && mtu > port.MaxMTU && told:
				b.wrong(w.path, "", "%s can have %d at most: its port %s can have no more", bond.Name, port.MaxMTU, name)
			}
			if told || ownTold || was && had.Master != bond.Name {
				b.setMTU(name, mtu, by, "a bond sets its ports' MTU")
			}
		}
	}
}

// vlanMTU gives a VLAN, or what rides on a link as one does, what it is told,
// keeps what it has, or takes its parent's.
func (b *builder) vlanMTU(l netstate.Link, said map[string]wanted) {
	parent, ok := b.want.Link(l.LargestOn())
	w, told := said[l.Name]
	switch {
	case told:
		b.setMTU(l.Name, w.value, b.at.Line(w.path...), "")
	case l.MTU == 0 && ok && parent.MTU > 0:
		b.setMTU(l.Name, parent.MTU, b.at.Line(network("vlans", l.Name)...), "as "+parent.Name+", which it rides on")
	case ok && parent.MTU > 0 && l.MTU > parent.MTU:
		b.warn("%s goes down to MTU %d with %s, which it rides on", l.Name, parent.MTU, parent.Name)
		by := b.at.Line(network("vlans", l.Name)...)
		if p, ok := said[parent.Name]; ok {
			by = b.at.Line(p.path...)
		}
		b.setMTU(l.Name, parent.MTU, by, "no VLAN is larger than the link that it rides on")
	}
}

func (b *builder) vlanProblems(said map[string]wanted) {
	for _, l := range b.want.Links {
		w, told := said[l.Name]
		if l.VLAN == nil || !told {
			continue
		}
		if parent, ok := b.want.Link(l.VLAN.Parent); ok && parent.MTU > 0 && w.value > parent.MTU {
			b.wrong(w.path, "raise "+parent.Name+"'s", "%s is to have MTU %d, more than the %d of %s, which it rides on", l.Name, w.value, parent.MTU, parent.Name)
		}
	}
}
