//go:build linux && !portable

package engine

import (
	"runtime"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// TestBesideDecides: the try ends with the better of the two, whichever it is,
// and gives the thread its cores back where that is the free one.
func TestBesideDecides(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("one core: nothing to choose")
	}
	for name, c := range map[string]struct {
		rates [besideSteps]float64 // the first is not counted
		kept  bool
	}{
		"better beside": {[...]float64{9e9, 4e9, 5e9, 4e9, 5e9}, true},
		"as good":       {[...]float64{1e9, 4e9, 4e9, 4e9, 4e9}, true},
		"better free":   {[...]float64{1e9, 5e9, 4e9, 4e9, 4e9}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &session{streams: []*stream{{core: -1}}, ended: make(chan struct{})}
			st := s.streams[0]
			defer lockThread(&st.thread)()
			had, err := affinity(0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = setAffinity(0, had...) }()
			for i, rate := range c.rates {
				if want := i == 2 || i == 4; (st.kept.Load() > 0) != want {
					t.Errorf("span %d: kept on %d", i, st.kept.Load())
				}
				s.beside.step(st, rate, had[0])
			}
			now, err := affinity(0)
			if err != nil {
				t.Fatal(err)
			}
			if kept := st.kept.Load() == int32(had[0])+1; kept != c.kept || kept != (len(now) == 1) {
				t.Errorf("kept %v on %v of %v, want %v", kept, now, had, c.kept)
			}
		})
	}
}

// TestBesideIsTriedOnce: over loopback it is decided after a few samples, and
// left alone where threads are to be.
func TestBesideIsTriedOnce(t *testing.T) {
	for _, unpinned := range []bool{false, true} {
		e, _, _, err := connected(t, loopback, 1, openings{sink: agentapi.SinkRequest{Unpinned: unpinned}, source: agentapi.SourceRequest{Unpinned: unpinned}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out"}); err != nil {
			t.Fatal(err)
		}
		in, err := e.sessions.Get("in")
		if err != nil {
			t.Fatal(err)
		}
		state := 0
		for range besideSteps + 2 {
			time.Sleep(besideSpan + 5*time.Millisecond)
			for _, session := range []string{"out", "in"} {
				if _, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: session, Since: -1}); err != nil {
					t.Fatal(err)
				}
			}
			in.beside.mu.Lock()
			state = in.beside.state
			in.beside.mu.Unlock()
			if state == besideSteps {
				break
			}
		}
		if decided := state == besideSteps; decided == unpinned {
			t.Errorf("unpinned %v: in state %d", unpinned, state)
		}
		e.Close()
	}
}
