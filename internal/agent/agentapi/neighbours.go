package agentapi

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/netstate"
)

// LLDPRequest asks what the neighbours on links say of themselves. The host
// only listens.
type LLDPRequest struct {
	Links []string `json:"links"`
	// Wait is the longest it may take; neighbours usually speak every 30 s.
	Wait time.Duration `json:"wait_ns"`
}

// Bounds of one LLDPRequest. The wait is more than two of the usual intervals;
// a longer one is cut.
const (
	MostLLDPLinks = 64
	LongestLLDP   = 2 * time.Minute
)

// Check returns the request as it is served: every link once, the wait within
// its bounds. More links than MostLLDPLinks are an error.
func (r LLDPRequest) Check() (LLDPRequest, error) {
	var links []string
	for _, name := range r.Links {
		if !slices.Contains(links, name) {
			links = append(links, name)
		}
		if len(links) > MostLLDPLinks {
			return r, fmt.Errorf("listen on %d links: want at most %d in one request", len(r.Links), MostLLDPLinks)
		}
	}
	r.Links, r.Wait = links, min(max(r.Wait, 0), LongestLLDP)
	return r, nil
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

// CaptureRequest asks for the host as `inspect --capture` writes it.
type CaptureRequest struct {
	// Anonymous maps addresses, hardware addresses and the host's name before
	// anything leaves the host.
	Anonymous bool `json:"anonymous,omitempty"`
}

// CaptureReply is a tar.gz of at most observe.MostCapture bytes, which as one
// line of the wire is a third longer.
type CaptureReply struct {
	Archive []byte `json:"archive"`
	Files   int    `json:"files_count"`
	// Missing says what could not be read and why.
	Missing []string `json:"missing,omitempty"`
}

// Bounds of one TrafficRequest.
const (
	LeastWatch = time.Second
	MostWatch  = 10 * time.Minute
	MostFlows  = 1000
)

// TrafficRequest asks to watch for a while. The host sends nothing for it.
type TrafficRequest struct {
	// Span is how long to watch.
	Span time.Duration `json:"span_ns"`
	// Flows is how many of the heaviest connections to return.
	Flows int `json:"flows_count"`
}

// Check refuses a request outside its bounds.
func (r TrafficRequest) Check() error {
	if r.Span < LeastWatch || r.Span > MostWatch {
		return fmt.Errorf("watch for %v: want %v to %v", r.Span, LeastWatch, MostWatch)
	}
	if r.Flows < 1 || r.Flows > MostFlows {
		return fmt.Errorf("watch %d flows: want 1 to %d", r.Flows, MostFlows)
	}
	return nil
}

// TrafficReply is what was seen.
type TrafficReply struct {
	Watched livetraffic.Watched `json:"watched"`
}
