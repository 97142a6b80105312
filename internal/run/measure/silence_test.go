package measure

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// wire is a link that can be broken and remembers it.
type wire struct {
	did    []string
	broken chan struct{}
	fails  error
}

func (w *wire) Break() error {
	w.did = append(w.did, "broken")
	close(w.broken)
	return w.fails
}

func (w *wire) Repair() error {
	w.did = append(w.did, "mended")
	return nil
}

// TestSilenceEnds: however the window ends, a link that was broken is mended.
func TestSilenceEnds(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		f    Failing
		cut  bool
		err  error
	}{
		{"its time is over", Failing{Host: "alpha", Link: "eth0", At: ms, For: ms}, false, nil},
		{"interrupted", Failing{Host: "alpha", Link: "eth0", At: ms, For: time.Hour}, true, nil},
		{"half broken", Failing{Host: "alpha", Link: "eth0", At: ms, For: time.Hour}, false, errDown},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w := &wire{broken: make(chan struct{}), fails: c.err}
			tr := &trial{spec: Spec{From: "alpha", To: "beta", Fail: &c.f, Silent: w}}
			r := &round{trials: []*trial{tr}, ends: ends{receiving(1e6)}}
			stop := r.failLinks(ctx)
			<-w.broken
			if c.cut {
				cancel()
			} else {
				time.Sleep(20 * ms)
			}
			if err := stop(); !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), "break eth0 of alpha") {
				t.Errorf("%v, want %v", err, c.err)
			}
			if !slices.Equal(w.did, []string{"broken", "mended"}) {
				t.Errorf("did %q", w.did)
			}
			if c.err == nil && (!tr.silent.broken || tr.silent.from < ms || tr.silent.to <= tr.silent.from) {
				t.Errorf("noted %+v", tr.silent)
			}
		})
	}
}

// TestSilentOutage: a link that keeps its carrier is an outage from when it was
// broken, not from when LACP noticed; and the return is when it was mended.
func TestSilentOutage(t *testing.T) {
	// Samples are 20 ms apart and the window opens at the fifth. The stream
	// stands still from sample 20 on, LACP notices at 60, it is mended at 100.
	tr := cut(netstate.LACP, 60, 0, 100, 10, 160)
	source, sink := tr.ends[1], tr.ends[0]
	still := uint64(0)
	for k := range source.samples {
		state := source.samples[k].Links[0].State
		state.Carrier, state.Changes = true, 1
		if k == 20 {
			still = sink.samples[k].Bytes[0]
		}
		if k > 20 && k <= 65 {
			sink.samples[k].Bytes[0] = still
		}
	}
	tr.spec.Silent = &wire{}
	tr.silent = &silence{linkName: linkName{"alpha", "eth0"}, broken: true, repaired: true, from: 15 * failPoll, to: 95 * failPoll}
	var out record.Trial
	tr.addOutages(&out)
	if len(out.Outages) != 2 || out.Outages[0].Event != "down" || out.Outages[1].Event != "up" {
		t.Fatalf("outages %+v", out.Outages)
	}
	down, up := out.Outages[0], out.Outages[1]
	if !down.Asked || !up.Asked || up.At-down.At < 1.5 || up.At-down.At > 1.7 {
		t.Errorf("down %+v, up %+v", down, up)
	}
	if down.Stalled[0] < 0.85 || down.Stalled[0] > 0.95 || down.Stalled[1] > 0.1 {
		t.Errorf("stalled %v s, want 0.9 of the first", down.Stalled)
	}
}
