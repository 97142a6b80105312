package predict

import (
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/system"
)

// ownTransmit is how a bond of a host that is not Linux spreads what it sends, by
// its system's own rule.
func (a attachment) ownTransmit() use {
	if a.standby() > 0 {
		return use{mend: system.Named(steer.RemedyFor(system.Whole(a.host, a.base)), a.base.Name)}
	}
	if len(a.ports) == 1 {
		return use{}
	}
	r := a.own.Reach()
	u := use{why: a.base.Name + ": " + r.Why, policy: netstate.PolicyUnread, mend: system.Named(steer.RemedyFor(a.own), a.base.Name)}
	switch {
	case r.Striped:
		u.spread = byPacket
	case system.ByLoad(a.own):
		u.spread = byLoad
	case r.Ports && r.Chosen:
		u.spread = byPort
	case r.Ports:
		u.spread = byChance
	case r.Addresses:
		u.spread, u.cards, u.secret = byAddress, system.ByVirtualCard(a.own), !r.Chosen
		if r.Chosen {
			u.hash = a.own
		}
	}
	return u
}

// ownReceive is receiveUse of a bond of a host that is not Linux.
func (a attachment) ownReceive(path fabric.Path, ipv6 bool) use {
	arrival, why := system.Arrives(a.own)
	if arrival == system.FarSide {
		return a.switchUse(path, ipv6)
	}
	u := use{why: a.base.Name + ": " + why, policy: netstate.PolicyUnread, mend: system.Named(system.ArrivalRemedy(a.own), a.base.Name)}
	if arrival == system.EachAddress {
		u.spread, u.cards, u.secret = byAddress, true, true
	}
	return u
}
