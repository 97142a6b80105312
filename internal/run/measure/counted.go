package measure

import (
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// increases is how much named counters grew over an end's window: between the
// readings nearest to its edges, as not every sample has one. Those that did
// not grow are left out; nil is not read twice.
func (e *end) increases(of func(agentapi.Sample) map[string]uint64) map[string]uint64 {
	open, shut := e.edges()
	from, to := e.nearest(open.At, of), e.nearest(shut.At, of)
	if from < 0 || to <= from {
		return nil
	}
	a, b := of(e.samples[from]), of(e.samples[to])
	out := make(map[string]uint64)
	for name, n := range b {
		if more := netstate.Grown(a[name], n); more > 0 {
			out[name] = more
		}
	}
	return out
}

// nearest is the sample with a reading that is nearest to a moment, the earlier
// of two; negative where none has one.
func (e *end) nearest(at time.Duration, of func(agentapi.Sample) map[string]uint64) int {
	found := -1
	for k, s := range e.samples {
		if of(s) == nil {
			continue
		}
		if found < 0 || (s.At-at).Abs() < (e.samples[found].At-at).Abs() {
			found = k
		}
	}
	return found
}

// driverOf is what a sample has of the driver of an end's i-th link.
func driverOf(i int) func(agentapi.Sample) map[string]uint64 {
	return func(s agentapi.Sample) map[string]uint64 {
		if i < len(s.Links) {
			return s.Links[i].Driver
		}
		return nil
	}
}

// meanBacklog is what waited in the queues of an end's i-th link, over the
// window's samples.
func (e *end) meanBacklog(i int) unit.Bytes {
	sum, n := unit.Bytes(0), unit.Bytes(0)
	for _, s := range e.during() {
		if i < len(s.Links) {
			sum, n = sum+s.Links[i].QdiscBacklog, n+1
		}
	}
	return sum / max(n, 1)
}
