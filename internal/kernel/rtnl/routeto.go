package rtnl

import (
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// RouteTo is where the kernel sends one flow.
type RouteTo struct {
	netstate.FlowRoute
	Table int
	// Local: the destination is an address of the host itself.
	Local bool
	// Err is why the kernel has no answer: errors.ErrUnsupported for a protocol
	// it does not route by, else its own (no route, or one that refuses).
	Err error
}

// Neighbour is one entry of the neighbour tables (ARP and IPv6).
type Neighbour struct {
	Addr netip.Addr
	Link string
	// MAC is zero while it is not resolved.
	MAC   flow.MAC
	State NeighbourState
}

// NeighbourState is a set of NUD_* bits, include/uapi/linux/neighbour.h.
type NeighbourState uint16

// The states.
const (
	NeighbourIncomplete NeighbourState = 1 << iota
	NeighbourReachable
	NeighbourStale
	NeighbourDelay
	NeighbourProbe
	NeighbourFailed
	NeighbourNoARP
	NeighbourPermanent
)

// neighbourWords is ip-neighbour(8)'s words, in the order of the bits.
var neighbourWords = [...]string{"incomplete", "reachable", "stale", "delay", "probe", "failed", "noarp", "permanent"}

// String is the lowest state's word; "none" without any.
func (s NeighbourState) String() string {
	for i, word := range neighbourWords {
		if s&(1<<i) != 0 {
			return word
		}
	}
	return "none"
}

// Resolved reports that the kernel sends to the MAC it has (NUD_VALID).
func (s NeighbourState) Resolved() bool {
	return s&^(NeighbourIncomplete|NeighbourFailed) != 0
}
