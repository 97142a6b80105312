package predict

import (
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/tcp"
)

// LoadedRTT is the round trip that the traffic's windows are divided by,
// between hosts with cards; zero unknown.
func LoadedRTT(f Fabric, t Traffic) time.Duration {
	from, to := t.From, t.To
	if t.Direction == flow.Reverse {
		from, to = to, from
	}
	return tcp.TripOf(f.pathBetween(from, to).RTT, t.LoadedRTT, 2).RTT
}

// trip is the way's round trip under load.
func (w *way) trip() tcp.Trip {
	cards := 0
	for _, s := range []side{w.out, w.in} {
		if s.carded() {
			cards++
		}
	}
	return tcp.TripOf(w.path.RTT, w.traffic.LoadedRTT, cards)
}

// carded reports a side with a port of a network card; the others are links
// that the kernel or a shaper emulates.
func (s *side) carded() bool {
	for _, a := range s.at {
		for _, p := range a.ports {
			if p.Kind == "" && p.Framing == netstate.FramingL1 {
				return true
			}
		}
	}
	return false
}
