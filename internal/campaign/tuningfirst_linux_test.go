package campaign

import (
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/tune"
	"github.com/linerate/linerate/unit"
)

// A step that slows the traffic as it was found is put back at the end, though
// a later one stays: a receive buffer that no packet fits, and a send buffer that
// does no harm.
func TestKernelFirstTraffic(t *testing.T) {
	f := twoPairs(t)
	f.Hosts, f.Paths = f.Hosts[:2], f.EffectivePaths()[:1]
	c, err := Open(t.Context(), Config{Fabric: f, Version: "test", JournalDir: t.TempDir(), Unguarded: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	before := c.State().Hosts["b"].Sysctls
	u := c.begin(Tuning{Path: c.State().Paths[0], Direction: flow.Forward, Duration: 700 * time.Millisecond})
	if u.found, err = u.look(t.Context(), u.s.Load, asked{phase: record.PhaseBefore}); err != nil {
		t.Fatal(err)
	}
	// What the link carries: a look at it may have been disturbed.
	u.found.Goodput, u.found.GoodputLow, u.found.GoodputHigh = u.found.Ceiling, 0, 0
	const rmem, wmem = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"
	u.keep(t, rmem, "512 512 512")
	u.keep(t, wmem, "4096 16384 8388608")
	u.s.Load.Traffic.Streams = 2
	if err := u.firstTraffic(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tr := range append([]record.Trial{u.found.Trial}, c.Record().Trials...) {
		t.Logf("%s: %v [%v, %v]", tr.Step, tr.Goodput, tr.GoodputLow, tr.GoodputHigh)
	}
	b := c.State().Hosts["b"]
	steps := c.Record().Steps
	if b.Sysctls[rmem] != before[rmem] || b.Sysctls[wmem].Value == before[wmem].Value || steps[0].Kept || !steps[1].Kept || len(u.kept) != 1 || len(u.out.Left) > 0 {
		t.Errorf("%s %s, %s %s; steps %+v; left %q", rmem, b.Sysctls[rmem].Value, wmem, b.Sysctls[wmem].Value, steps, u.out.Left)
	}
	if u.out.Settings[0].Kept || !u.out.Settings[1].Kept {
		t.Errorf("settings %+v", u.out.Settings)
	}
	if _, err := c.hosts["b"].Rollback(t.Context(), agentapi.RollbackRequest{Group: u.Group}); err != nil {
		t.Fatal(err)
	}
	if err := c.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := c.State().Hosts["b"].Sysctls[wmem]; now != before[wmem] {
		t.Errorf("%s is %q after the rollback, was %q", wmem, now.Value, before[wmem].Value)
	}
}

// What was kept and does not pay against as many looks at what was found goes
// back, however fast its best look was; the traffic with it.
func TestKernelNeverSlower(t *testing.T) {
	u := onePair(t)
	const wmem = "net.ipv4.tcp_wmem"
	before := u.valueOf(t, "b", wmem)
	var err error
	if u.found, err = u.look(t.Context(), u.s.Load, asked{phase: record.PhaseBefore}); err != nil {
		t.Fatal(err)
	}
	u.founds = []record.Trial{u.found.Trial}
	u.keep(t, wmem, "4096 16384 8388608")
	for _, times := range []unit.BitRate{0.99, 1.04, 1} { // the links were full before
		t := u.found.Trial
		t.Goodput, t.GoodputLow, t.GoodputHigh = times*t.Goodput, times*t.GoodputLow, times*t.GoodputHigh
		u.s.Trials = append(u.s.Trials, t)
	}
	if err := u.neverSlower(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tr := range u.c.record.Trials {
		t.Logf("%s: %v [%v, %v]", tr.Step, tr.Goodput, tr.GoodputLow, tr.GoodputHigh)
	}
	if now := u.valueOf(t, "b", wmem); now != before || u.changed() || u.c.record.Steps[0].Kept || u.out.Settings[0].Kept {
		t.Errorf("%s is %q, was %q; steps %+v", wmem, now, before, u.c.record.Steps)
	}
	if found, final := len(u.founds), len(u.c.record.Trials); found < 2 || final < 3 {
		t.Errorf("%d looks at what was found, %d in all: want a turn of both", found, final)
	}
}

// A result whose proof is slower than what was found is put back, and what was
// found is proven instead.
func TestKernelProofSlower(t *testing.T) {
	u := onePair(t)
	const rmem = "net.ipv4.tcp_rmem"
	before := u.valueOf(t, "b", rmem)
	var err error
	if u.found, err = u.look(t.Context(), u.s.Load, asked{phase: record.PhaseBefore}); err != nil {
		t.Fatal(err)
	}
	u.founds = []record.Trial{u.found.Trial}
	u.keep(t, rmem, "512 512 512")
	if err := u.prove(t.Context()); err != nil {
		t.Fatal(err)
	}
	var after []record.Trial
	for _, tr := range u.c.record.Trials {
		t.Logf("%s %s: %v [%v, %v]", tr.Phase, tr.Step, tr.Goodput, tr.GoodputLow, tr.GoodputHigh)
		if tr.Phase == record.PhaseAfter {
			after = append(after, tr)
		}
	}
	if len(after) != 1 || tune.Slower(u.found.Trial, after[0]) {
		t.Errorf("%d proofs: %+v", len(after), after)
	}
	if now := u.valueOf(t, "b", rmem); now != before || u.changed() || u.c.record.Steps[0].Kept || u.out.Settings[0].Kept {
		t.Errorf("%s is %q, was %q; steps %+v", rmem, now, before, u.c.record.Steps)
	}
}

// keep sets a value of b's, as a step that was proven.
func (u *tuning) keep(t *testing.T, key, value string) {
	t.Helper()
	b := u.c.state.Hosts["b"].Clone()
	s := b.Sysctls[key]
	s.Value = value
	b.Sysctls[key] = s
	plans, err := plansTo(u.c.state.Hosts, map[string]netstate.Host{"b": b})
	if err != nil {
		t.Fatal(err)
	}
	r := &proof{p: tune.Proposal{}, plans: plans, step: &record.Step{Kept: true, Commands: []string{"it"}}}
	changes, err := u.c.carryOut(t.Context(), plans, agentapi.ApplyRequest{Deadline: unconfirmed, Group: u.Group})
	if err == nil {
		err = u.c.confirm(changes)
	}
	if err == nil {
		err = u.c.Observe(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	u.note(r)
	u.kept = append(u.kept, done{changes, len(u.c.record.Steps)})
	u.c.record.Steps = append(u.c.record.Steps, *r.step)
}
