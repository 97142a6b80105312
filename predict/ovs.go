package predict

import (
	"fmt"

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
	case base.OVS.Silent() != "":
		return nil, fmt.Errorf("%s on %s: %s: %w", base.Name, h.Name, base.OVS.Silent(), ErrNoLink)
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

// ovsReceives is how arrivals spread: a switch sends to a MAC where it last heard it, or
// by its hash.
func (a attachment) ovsReceives(path fabric.Path, ipv6 bool) use {
	if a.ovs.Mode == netstate.OVSBalanceTCP {
		return a.switchUse(path, ipv6)
	}
	return a.ovsUse()
}
