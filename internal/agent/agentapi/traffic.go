package agentapi

import (
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/evidence/livetraffic"
)

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
