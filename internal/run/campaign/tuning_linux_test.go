package campaign

import (
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
)

// One shaped link on real kernels: larger frames are all that there is to gain,
// each step is counted against the budget, and the group takes all back.
func TestKernelTune(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	f := twoPairs(t)
	f.Hosts, f.Paths = f.Hosts[:2], f.EffectivePaths()[:1]
	c, err := Open(t.Context(), Config{Fabric: f, Version: "test", JournalDir: t.TempDir(), Unguarded: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	found := c.State().Hosts
	path := c.State().Paths[0]
	load, err := c.Tune(t.Context(), Tuning{Path: path, Direction: flow.Forward, Duration: 700 * time.Millisecond, CeilingMTU: tune.LargestMTU(c.State(), path.From, path.To)})
	if err != nil {
		t.Fatal(err)
	}
	r := c.Record()
	for _, s := range r.Steps {
		t.Logf("kept %v: %s: %v, then %v (%s)", s.Kept, s.Change, s.Before, s.After, s.Verdict)
	}
	out := r.Tuning
	t.Logf("%+v", *out)
	sent := time.Duration(0)
	for _, tr := range r.Trials {
		sent += time.Duration((tr.WarmUp + tr.Window) * float64(time.Second))
	}
	if out.Windows != len(r.Trials) || out.Windows > tune.DefaultWindows || out.Traffic < sent.Seconds() || out.Traffic > tune.DefaultTraffic.Seconds() {
		t.Errorf("%d windows and %.1f s, of %d trials that sent %v", out.Windows, out.Traffic, len(r.Trials), sent)
	}
	if load.Traffic.Streams != 1 || len(r.Steps) == 0 || !r.Steps[0].Kept || r.Steps[0].Change != "MTU 9000 on eth0 of a and eth0 of b" {
		t.Errorf("%d streams; steps %+v", load.Traffic.Streams, r.Steps)
	}
	kept := 0
	for _, s := range out.Settings {
		if s.Kept {
			kept++
		}
	}
	if kept != 2 {
		t.Errorf("%d settings kept, want one MTU on each host: %+v", kept, out.Settings)
	}
	after := 0
	for _, tr := range r.Trials {
		if tr.Phase == record.PhaseAfter {
			after++
		}
	}
	if after != 1 {
		t.Errorf("%d proofs of the result, want one", after)
	}
	for name, h := range c.hosts {
		if _, err := h.Rollback(t.Context(), agentapi.RollbackRequest{Group: out.Group}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, h := range c.State().Hosts {
		if pl, err := plan.Between(h, found[name]); err != nil || len(pl.Steps) > 0 {
			t.Errorf("%s is not as it was found: %v %v", name, pl.Steps, err)
		}
	}
}

// A budget that is spent ends the search, and the result is proven all the
// same.
func TestKernelTuneBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	f := twoPairs(t)
	f.Hosts, f.Paths = f.Hosts[:2], f.EffectivePaths()[:1]
	c, err := Open(t.Context(), Config{Fabric: f, Version: "test", JournalDir: t.TempDir(), Unguarded: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Tune(t.Context(), Tuning{Path: c.State().Paths[0], Direction: flow.Forward, Duration: 200 * time.Millisecond, Budget: tune.Budget{MostWindows: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if out := c.Record().Tuning; out.Windows > 3 || out.Stopped != "windows" || len(out.Left) == 0 || len(c.Record().Steps) != 0 {
		t.Errorf("%+v, %d steps", out, len(c.Record().Steps))
	}
}

// A few measurements are spent where the prediction sees the largest gain, both
// ways too, and what is left for want of more is said.
func TestKernelTuneFewWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	f := twoPairs(t)
	f.Hosts, f.Paths = f.Hosts[:2], f.EffectivePaths()[:1]
	c, err := Open(t.Context(), Config{Fabric: f, Version: "test", JournalDir: t.TempDir(), Unguarded: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	path := c.State().Paths[0]
	tuned := Tuning{Path: path, Direction: flow.Both, Duration: 500 * time.Millisecond, Budget: tune.Budget{MostWindows: 5}, CeilingMTU: tune.LargestMTU(c.State(), path.From, path.To)}
	if _, err := c.Tune(t.Context(), tuned); err != nil {
		t.Fatal(err)
	}
	out, steps := c.Record().Tuning, c.Record().Steps
	for _, s := range steps {
		t.Logf("kept %v: %s: %v, then %v (%s)", s.Kept, s.Change, s.Before, s.After, s.Verdict)
	}
	if len(steps) == 0 || steps[0].Change != "MTU 9000 on eth0 of a and eth0 of b" || out.Windows > 5 {
		t.Errorf("%+v; steps %+v", out, steps)
	}
	after := 0
	for _, tr := range c.Record().Trials {
		if tr.Phase == record.PhaseAfter && tr.Direction == flow.Both {
			after++
		}
	}
	if after != 1 {
		t.Errorf("%d proofs of the result, want one", after)
	}
}
