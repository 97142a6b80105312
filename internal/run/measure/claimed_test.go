package measure

import (
	"math"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/unit"
)

// TestClaimed: two senders, of which the second begins a second later, and
// whose buffers still hold what they handed over.
func TestClaimed(t *testing.T) {
	at := func(seconds float64, sent, retrans, waiting [2]uint64) agentapi.Sample {
		s := agentapi.Sample{At: time.Duration(seconds * float64(time.Second)), Bytes: []uint64{0, 0}}
		for i := range 2 {
			c := agentapi.TCPCount{Present: true, BytesSent: sent[i], BytesRetrans: retrans[i]}
			c.Last.NotSent = unit.Bytes(waiting[i])
			s.TCP = append(s.TCP, c)
		}
		return s
	}
	e := &end{sending: true, way: way{streams: 2}, samples: []agentapi.Sample{
		at(1, [2]uint64{0, 0}, [2]uint64{}, [2]uint64{}),
		at(2, [2]uint64{1000, 0}, [2]uint64{}, [2]uint64{}),
		at(3, [2]uint64{2000, 500}, [2]uint64{100, 0}, [2]uint64{100, 500}),
	}}
	sink := &end{way: way{streams: 2}, samples: []agentapi.Sample{{Bytes: []uint64{9, 9}}, {At: time.Second, Bytes: []uint64{99999, 9}}}}
	got := (&trial{ends: ends{sink, e}}).claimed()
	want := 8 * (2000.0/2 + 1000.0/1)
	if math.Abs(float64(got)-want) > 1 {
		t.Errorf("claimed %v, want %v", float64(got), want)
	}
	blind := &end{sending: true, way: way{streams: 1}, samples: []agentapi.Sample{{Bytes: []uint64{0}}, {At: time.Second, Bytes: []uint64{125}}}}
	if got := (&trial{ends: ends{blind}}).claimed(); math.Abs(float64(got)-1000) > 1 {
		t.Errorf("without TCP_INFO: %v, want 1000", float64(got))
	}
}
