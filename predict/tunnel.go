package predict

import (
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/tunnel"
)

// tunnelUses corrects how attachments spread flows that all come to them inside
// a tunnel: hashes see the outer packet.
func (w *way) tunnelUses() {
	for i := range w.out.uses {
		if t, narrow := w.tunnelled(i, legOut, func(l leg) tunnel.Stack { return l.down }); t != nil {
			w.out.uses[i] = w.out.uses[i].ofOuter(*t).noting(narrow)
		}
	}
	for i := range w.in.uses {
		if t, narrow := w.tunnelled(i, legIn, func(l leg) tunnel.Stack { return l.up }); t != nil {
			w.in.uses[i] = w.in.uses[i].ofOuter(*t).noting(narrow)
		}
	}
}

// tunnelled is the tunnel of an attachment that every leg through it uses from inside
// one, of the last leg; nil none. Narrow is what does not fit.
func (w *way) tunnelled(at int, end legEnd, under func(leg) tunnel.Stack) (t *netstate.Tunnel, narrow string) {
	for _, l := range w.legs {
		if n, _ := end(l); n == at {
			s := under(l)
			if s.Tunnel == nil {
				return nil, ""
			}
			t, narrow = s.Tunnel, s.Narrow
		}
	}
	return t, narrow
}

// ofOuter is what a hash makes of a tunnel's packets.
func (u use) ofOuter(t netstate.Tunnel) use {
	policy := u.policy
	if ports := u.spread == byPort || u.spread == byChance || u.spread == byLoad; ports && policy != netstate.Encap34 {
		policy = netstate.Layer34 // whatever rule over ports
	}
	sight, why := tunnel.Seen(t, policy, !u.bySwitch)
	switch {
	case u.spread == byPacket || u.spread == onePort:
		return u
	case u.spread == notKnown && (t.FlowPorts() || t.Opened()):
		return u // what it reads nobody said
	case sight == tunnel.Inside && u.spread == byAddress:
		u.hash, u.secret = nil, true // which link, the outer MAC addresses say
	case sight == tunnel.Inside:
		u.spread, u.outer = byChance, true
	case sight == tunnel.ByChance && u.spread != byAddress:
		u.spread, u.outer = byChance, true
	default:
		u.spread, u.hash, why = onePort, nil, tunnel.Alike(t)
	}
	u.why += "; " + why
	return u
}

// noting adds what does not fit to why the flows go as they do.
func (u use) noting(narrow string) use {
	if narrow != "" && u.why != "" {
		u.why += "; "
	}
	u.why += narrow
	return u
}
