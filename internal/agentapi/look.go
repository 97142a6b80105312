package agentapi

import (
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// The methods that look at what surrounds a host and how its bond hashes.
const (
	MethodLLDP      Method = "lldp"
	MethodCalibrate Method = "calibrate"
)

// LLDPRequest asks what the neighbours on links say of themselves. The host
// only listens.
type LLDPRequest struct {
	Links []string `json:"links"`
	// Wait is the longest it may take; neighbours usually speak every 30 s.
	Wait time.Duration `json:"wait_ns"`
}

// LLDPReply is who was heard, in the order of the links asked for.
type LLDPReply struct {
	Neighbors []netstate.Neighbor `json:"neighbors"`
}

// CalibrateRequest asks a host to find out how its bond hashes: it sends at
// most 64 small frames to the bond's own address, which no switch delivers to
// anybody, and looks at the ports' counters.
type CalibrateRequest struct {
	Bond string `json:"bond"`
}

// CalibrateReply is the links that the frames took, as indexes into Ports,
// which are in the order that the hash counts them.
type CalibrateReply struct {
	Ports  []string      `json:"ports"`
	Frames []PlacedFrame `json:"frames"`
}

// PlacedFrame is a frame and the link it was seen to take.
type PlacedFrame struct {
	Frame flow.Frame `json:"frame"`
	Link  int        `json:"link"`
}
