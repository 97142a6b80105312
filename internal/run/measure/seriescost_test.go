package measure

import (
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/unit"
)

// Code 4.7: a round is asked for its series at each poll, 36,000 times in an
// hour. Each point is computed once: those that were known are never touched
// again.
func TestSeriesCost(t *testing.T) {
	const polls = 3000
	sink, source := &end{host: "b"}, &end{host: "a", sending: true}
	r := &round{ends: ends{source, sink}}
	computed := 0
	for n := range polls {
		s := agentapi.Sample{At: time.Duration(n) * 100 * time.Millisecond, Bytes: []uint64{uint64(n) * 1000}}
		sink.samples, source.samples = append(sink.samples, s), append(source.samples, s)
		got := r.series()
		if want := n; len(got) != want {
			t.Fatalf("%d samples make %d points", n+1, len(got))
		}
		for i := range got {
			if got[i].Rate != marked {
				computed++
				got[i].Rate = marked // a point that is computed again loses it
			}
		}
	}
	if computed != polls-1 {
		t.Errorf("%d points were computed for %d samples", computed, polls)
	}
}

// TestLongWindow: what is kept of a window is bounded however long it lasts: an hour that
// was asked for takes no more samples than ten minutes, and one that waits until it is
// sure some more for each doubling.
func TestLongWindow(t *testing.T) {
	samples := func(exact, last time.Duration) int {
		sink, source := &end{host: "b"}, &end{host: "a", sending: true}
		r := &round{ends: ends{source, sink}, trials: []*trial{{spec: Spec{Duration: exact}}}}
		for at := time.Duration(0); ; at += r.nextPoll(last) {
			for _, e := range r.ends {
				e.samples = append(e.samples, agentapi.Sample{At: at, Bytes: []uint64{uint64(at)}})
			}
			if at >= last {
				return len(sink.samples)
			}
		}
	}
	for _, last := range []time.Duration{10 * time.Minute, time.Hour} {
		if n := samples(last, last); n > pollsAtMost+2 {
			t.Errorf("%d samples of %v", n, last)
		}
	}
	for last, most := range map[time.Duration]int{time.Hour: 4 * pollsAtMost, 16 * time.Hour: 7 * pollsAtMost} {
		if n := samples(0, last); n > most || n < pollsAtMost {
			t.Errorf("%d samples of %v until it is sure, want %d at most", n, last, most)
		}
	}
}

const marked unit.BitRate = -12345
