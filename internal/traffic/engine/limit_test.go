package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/unit"
)

// TestLimit: each stream sends so many bytes, no more and no fewer, and stays
// connected.
func TestLimit(t *testing.T) {
	for _, limit := range []unit.Bytes{1, 20_000, 5<<20 + 7} { // below, and above, one call's length
		e, _ := pair(t, loopback, 3)
		if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: limit}); err != nil {
			t.Fatal(err)
		}
		want := slices.Repeat([]uint64{uint64(limit)}, 3)
		for _, session := range []string{"out", "in"} {
			if got := awaitTotal(t, e, session, uint64(3*limit)); !slices.Equal(got, want) {
				t.Errorf("limit %d: session %s counts %v", limit, session, got)
			}
		}
		time.Sleep(50 * time.Millisecond)
		for _, session := range []string{"out", "in"} {
			r, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: session, Since: -1})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Samples[0].Bytes; !slices.Equal(got, want) || len(r.Errors) > 0 {
				t.Errorf("limit %d: session %s went on to %v (errors %v)", limit, session, got, r.Errors)
			}
		}
		if _, err := e.Finish(t.Context(), agentapi.SessionRequest{Session: "out"}); err != nil {
			t.Error(err)
		}
	}
}

func TestLimitRefused(t *testing.T) {
	e, _ := pair(t, loopback, 1)
	if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: -1}); err == nil {
		t.Error("a negative limit was taken")
	}
}

// awaitTotal samples until a session's streams have carried as much together.
func awaitTotal(t *testing.T, e *Engine, session string, total uint64) []uint64 {
	t.Helper()
	for {
		r, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: session, Since: -1})
		if err != nil {
			t.Fatal(err)
		}
		var sum uint64
		for _, b := range r.Samples[0].Bytes {
			sum += b
		}
		if sum >= total {
			return r.Samples[0].Bytes
		}
		if r.Samples[0].At > 30*time.Second {
			t.Fatalf("session %s stands at %v", session, r.Samples[0].Bytes)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
