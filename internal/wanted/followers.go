package wanted

import (
	"maps"
	"slices"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// release lets a port go from its bond. It gets the hardware address back that
// it came with; what that is, where it was not read, the kernel alone knows.
func (b *builder) release(name string) {
	b.change(name, func(l *netstate.Link) {
		if bond, _ := b.observed.Link(l.Master); bond.Bond == nil || !plan.LeavesMACs(*bond.Bond) {
			l.MAC = l.PermanentMAC
		}
		l.Master, l.Port = "", nil
	})
}

// followers are the links whose address is not theirs to keep: a bond whose
// ports change takes its first port's unless it is told one, its ports take
// the bond's (bond_enslave, bond_set_mac_address), and a VLAN follows its
// parent (vlan_sync_address).
func (b *builder) followers() map[string]bool {
	follow, released := map[string]bool{}, map[string]bool{}
	for _, had := range b.observed.Links {
		if l, there := b.want.Link(had.Name); there && l.Master == "" && b.wasPort(had) {
			follow[had.Name], released[had.Name] = true, true
		}
	}
	for _, l := range b.want.Links {
		if l.Bond == nil {
			continue
		}
		had, was := b.observed.Link(l.Name)
		samePorts := was && had.Bond != nil && slices.Equal(had.Bond.Ports, l.Bond.Ports)
		sameMACs := was && had.Bond != nil && had.Bond.Mode == l.Bond.Mode && had.Bond.Options["fail_over_mac"] == l.Bond.Options["fail_over_mac"]
		d, _ := b.file.Network.Bond(l.Name)
		if samePorts && sameMACs && (d.MAC.IsZero() || d.MAC == had.MAC) {
			continue
		}
		follow[l.Name] = true
		for _, port := range l.Bond.Ports {
			follow[port] = true
		}
		if !sameMACs && was && had.Bond != nil {
			for _, port := range had.Bond.Ports {
				delete(released, port)
			}
		}
	}
	for range b.want.Links { // VLANs on VLANs
		for _, l := range b.want.Links {
			if l.VLAN != nil && follow[l.VLAN.Parent] {
				follow[l.Name] = true
			}
		}
	}
	for name := range released {
		delete(follow, name)
	}
	return follow
}

// wasPort reports a link that was a port of a bond.
func (b *builder) wasPort(l netstate.Link) bool {
	master, there := b.observed.Link(l.Master)
	return there && master.Bond != nil
}

// inheritMAC gives a bond of which no port stays the hardware address of its
// first new one: the kernel would let it keep the address of a port that is
// gone, and two links would have one. Where other ports stay it is told of.
func (b *builder) inheritMAC(l netstate.Link) {
	had, was := b.observed.Link(l.Name)
	if l.Bond == nil || !was || had.Bond == nil || !l.MAC.IsZero() || plan.OwnMACs(*l.Bond) {
		return
	}
	gone, stays := "", false
	for _, name := range had.Bond.Ports {
		stays = stays || slices.Contains(l.Bond.Ports, name)
		if port, _ := b.observed.Link(name); port.PermanentMAC == had.MAC && !slices.Contains(l.Bond.Ports, name) {
			gone = name
		}
	}
	switch {
	case gone == "" || len(l.Bond.Ports) == 0:
	case stays:
		b.warn("%s keeps the hardware address of %s, which leaves it: in one network the two disturb each other; macaddress gives it another", l.Name, gone)
	default:
		first, _ := b.observed.Link(l.Bond.Ports[0])
		mac := first.PermanentMAC
		if mac.IsZero() {
			mac = first.MAC
		}
		if !mac.IsZero() {
			b.setMAC(l.Name, mac, b.at.Line(network("bonds", l.Name, "interfaces")...), "no port stays, and "+gone+" takes its own along")
		}
	}
}

// forgetOffloads takes from a wanted bond whose ports change the offload that
// follows from them and that nobody asked for (bond_fix_features); plan leaves
// the others that follow from links below.
func (b *builder) forgetOffloads() {
	const cutsSends = "tso"
	for _, l := range b.want.Links {
		had, was := b.observed.Link(l.Name)
		_, said := b.reasons[plan.Step{Kind: plan.Offload, Link: l.Name, Key: cutsSends}.Target()]
		if l.Bond == nil || said || was && had.Bond != nil && slices.Equal(had.Bond.Ports, l.Bond.Ports) {
			continue
		}
		b.change(l.Name, func(l *netstate.Link) {
			l.Offloads = maps.Clone(l.Offloads)
			delete(l.Offloads, cutsSends)
		})
	}
}
