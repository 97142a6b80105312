package observe

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/host/openvswitch"
	"github.com/linerate/linerate/netstate"
)

// addOpenVSwitch adds the bonds of Open vSwitch to a host. One switch serves every
// network namespace: a bond is this one's where it has each member, by name, number and address, as
// the switch knows them.
func addOpenVSwitch(h *netstate.Host, bonds []openvswitch.Bond) {
	for _, b := range bonds {
		own := func(m openvswitch.Member) bool {
			l, ok := h.Link(m.Name)
			return ok && l.Index == m.IfIndex && strings.EqualFold(l.MAC.String(), m.MAC)
		}
		bond, taken := h.Link(b.Name) // --fake-iface of ovs-vsctl(8), a tap in user space; no other is its
		if taken && bond.Kind != netstate.KindOVSBridge && bond.Kind != "tun" || len(b.Members) < 2 || slices.ContainsFunc(b.Members, func(m openvswitch.Member) bool { return !own(m) }) {
			continue
		}
		state := b.State
		bond.Name, bond.Kind, bond.Master, bond.Up, bond.Carrier, bond.OVS = b.Name, netstate.KindOVSBond, b.Bridge, true, false, &state
		for _, m := range b.Members {
			l, _ := h.Link(m.Name)
			l.Master = b.Name
			bond.Carrier = bond.Carrier || l.Up && l.Carrier
			if bond.MTU == 0 || l.MTU < bond.MTU {
				bond.MTU = l.MTU
			}
			h.SetLink(l)
		}
		h.SetLink(bond)
		if l, ok := h.Link(b.Bridge); ok { // in user space the kernel has it as a tap
			l.Kind = netstate.KindOVSBridge
			h.SetLink(l)
		}
	}
}
