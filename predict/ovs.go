package predict

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer/ovs"
)

// ovsOf is a bond of Open vSwitch; nil for another link. Error: ErrNoLink.
func ovsOf(h netstate.Host, base netstate.Link) (*ovs.Bond, error) {
	b, err := ovs.Of(h, base.Name)
	switch {
	case err != nil:
		return nil, nil
	case base.OVS.NoPartner:
		return nil, fmt.Errorf("%s on %s asks for LACP and no switch agrees, so it sends nothing: %w", base.Name, h.Name, ErrNoLink)
	case base.OVS.Unnegotiated():
		return nil, fmt.Errorf("%s on %s: balance-tcp sends nothing without LACP: write `openvswitch: {lacp: active}`, and LACP at the switch: %w", base.Name, h.Name, ErrNoLink)
	}
	return &b, nil
}

// ovsUse is how a bond of Open vSwitch spreads what the host sends.
func (a attachment) ovsUse() use {
	r := a.ovs.Reach()
	u := use{why: a.base.Name + ": " + r.Why}
	switch {
	case r.Ports:
		u.spread = byChance
	case a.ovs.Mode == "":
		u.spread = notKnown
	case a.ovs.Mode == netstate.OVSBalanceSLB:
		u.spread, u.byVLAN = byAddress, true
	}
	return u
}

// ovsReceives is how arrivals spread: a switch sends to a MAC where it last heard it, or by its hash.
func (a attachment) ovsReceives(path fabric.Path) use {
	if a.ovs.Mode == netstate.OVSBalanceTCP {
		return switchUse(path, len(a.ports))
	}
	return a.ovsUse()
}

// tagOf is the VLAN in which a host sends from an address of its own; 0 is none.
func tagOf(h netstate.Host, own netip.Addr) int {
	l, _ := h.LinkWith(own)
	down, _ := below(h, l)
	for _, d := range slices.Backward(down.passed) {
		if d.VLAN != nil {
			return d.VLAN.ID
		}
	}
	return 0
}

// ovsStandby counts members of active-backup that wait for the active one to fail.
func (a attachment) ovsStandby() int {
	n := 0
	for _, name := range a.base.OVS.Ports {
		if p, ok := a.host.Link(name); ok && p.Up && p.Carrier && a.ovs.Mode == netstate.OVSActiveBackup && !slices.Contains(a.ovs.Members, name) {
			n++
		}
	}
	return n
}
