// Package tunnel knows what lies under a link, through the tunnels that its packets
// travel in, and what a hash on the way still tells apart of them. Rates are
// package predict's.
package tunnel

import (
	"fmt"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/routing"
)

// Stack is what lies under an interface.
type Stack struct {
	// Base is the bond or plain link that carries the frames.
	Base netstate.Link
	// Tags are the VLAN tags added on the way down, outside of tunnels; Outer the
	// bytes that tunnels add to a frame, the tags inside them too.
	Tags, Outer int
	// Passed are the devices on the way, the base not among them.
	Passed []netstate.Link
	// Tunnel is the outermost, whose packets the base's hash sees; nil none.
	Tunnel *netstate.Tunnel
	// Fits is the largest MTU inside that all tunnels carry whole; zero none, or not
	// known. Narrow says which tunnel that is, where its own MTU is larger.
	Fits   int
	Narrow string
}

// maxStack bounds how deep devices may lie on each other, against loops.
const maxStack = 16

// Below walks from an interface through VLANs, bridges and tunnels to the bond or
// plain link that carries its frames. A bridge is passed when exactly one of
// its ports leads out of the host; false where a link is missing.
func Below(h netstate.Host, l netstate.Link) (Stack, bool) {
	s := Stack{}
	for range maxStack {
		next, ok := under(h, l)
		if !ok {
			s.Base = l
			return s, true
		}
		lower, found := h.Link(next)
		if l.VLAN != nil {
			s.Tags++
		}
		if l.Tunnel != nil {
			s.enters(l, lower)
		}
		s.Passed = append(s.Passed, l)
		if l = lower; !found {
			return s, false
		}
	}
	return s, false
}

// enters counts what a tunnel adds, on the link that carries it.
func (s *Stack) enters(l, lower netstate.Link) {
	s.Outer += l.Tunnel.Headroom() + framing.TagBytes*s.Tags
	s.Tags = 0
	s.Tunnel = l.Tunnel
	fits := lower.MTU - s.Outer
	if lower.MTU == 0 || fits <= 0 || s.Fits > 0 && s.Fits <= fits {
		return
	}
	s.Fits = fits
	if room := lower.MTU - l.Tunnel.Headroom(); l.MTU > room {
		s.Narrow = fmt.Sprintf("the MTU of %s, %d, and the %d bytes that %s adds do not fit %s's %d: packets are cut in two or lost (set %s's to %d at most)",
			l.Name, l.MTU, l.Tunnel.Headroom(), l.Tunnel.Title(), lower.Name, lower.MTU, l.Name, room)
	}
}

// Whole is the largest MTU, that one at most, whose packets the tunnels carry whole.
func (s Stack) Whole(mtu int) int {
	if s.Fits > 0 {
		return min(mtu, s.Fits)
	}
	return mtu
}

func under(h netstate.Host, l netstate.Link) (string, bool) {
	switch on := l.RidesOn(); {
	case l.Tunnel != nil:
		return carrier(h, *l.Tunnel)
	case on != "":
		_, here := h.Link(on)
		return on, here
	}
	return h.OutwardPort(l)
}

// carrier is the link that a tunnel's packets leave by: its own word, the route to its
// peer, or the link with its own outer address.
func carrier(h netstate.Host, t netstate.Tunnel) (string, bool) {
	if t.Lower != "" {
		return t.Lower, true
	}
	if t.Remote.IsValid() && !t.Remote.IsMulticast() {
		if l, _, ok := routing.Egress(h, t.Local, t.Remote); ok && l.Tunnel == nil {
			return l.Name, true
		}
	}
	l, ok := h.LinkWith(t.Local)
	return l.Name, ok
}
