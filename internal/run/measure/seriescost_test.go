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

const marked unit.BitRate = -12345
