package campaign

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// A step that other traffic proves is not kept where the traffic as it was found
// is slower with it; a harmless one is, also where one look at what was found was
// too high: it is looked at again.
func TestKernelFirstTraffic(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	u := onePair(t)
	u.Duration = 700 * time.Millisecond
	var err error
	if u.found, err = u.look(t.Context(), u.s.Load, asked{phase: record.PhaseBefore}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, key, value string
		times            unit.BitRate // of the link, what the first traffic is held to have been
		kept             bool
	}{
		{"slower than it was", "net.ipv4.tcp_rmem", "512 512 512", 1, false},
		{"once seen too high", "net.ipv4.tcp_wmem", "4096 16384 8388608", 1.06, true},
		{"as fast as it was", "net.ipv4.tcp_wmem", "4096 16384 6291456", 1, true},
	} {
		before, seen := u.valueOf(t, "b", c.key), len(u.c.record.Trials)
		// What the link carries: a look at it may have been disturbed.
		u.found.Goodput, u.found.GoodputLow, u.found.GoodputHigh = c.times*u.found.Ceiling, 0, 0
		u.founds = nil
		p := tune.Proposal{Change: "it", Load: u.s.Load, ProofA: u.s.Load,
			Hosts: map[string]netstate.Host{"b": withValue(u.c.state.Hosts["b"], c.key, c.value)}}
		p.ProofA.Traffic.Streams = 2
		p.ProofB = p.ProofA
		slow := freshSample(u, unit.Kbps) // so that the step is proven at one look
		slow.Streams = 2
		u.s.Trials = []record.Trial{slow}
		r, _, err := u.step(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		back := 0
		for _, tr := range u.c.record.Trials[seen:] {
			t.Logf("%s: %s: %d streams %v [%v, %v]", c.name, tr.Step, tr.Streams, tr.Goodput, tr.GoodputLow, tr.GoodputHigh)
			if tr.Step == "as-found" {
				back++
			}
		}
		set := u.out.Settings[len(u.out.Settings)-1]
		if now := u.valueOf(t, "b", c.key); r.step.Kept != c.kept || set.Kept != c.kept || u.changed() != c.kept || (now != before) != c.kept {
			t.Errorf("%s: %s is %q, was %q; step %+v, setting %+v", c.name, c.key, now, before, *r.step, set)
		}
		if strings.Contains(r.step.Verdict, "as it was found is slower") == c.kept {
			t.Errorf("%s: verdict %q", c.name, r.step.Verdict)
		}
		if c.times != 1 && back == 0 {
			t.Errorf("%s: what was found was not looked at again", c.name)
		}
	}
	if len(u.out.Left) > 0 {
		t.Errorf("left %q", u.out.Left)
	}
}

// What was kept and does not pay against as many looks at what was found goes
// back, however fast its best look was; the traffic with it.
func TestKernelNeverSlower(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
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
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
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

// A proof that is slower than a look at what was found, and than nothing that is
// seen there any more, keeps its change: the machine was another one then.
func TestKernelProofDoubted(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	u := onePair(t)
	const rmem = "net.ipv4.tcp_rmem"
	var err error
	if u.found, err = u.look(t.Context(), u.s.Load, asked{phase: record.PhaseBefore}); err != nil {
		t.Fatal(err)
	}
	once := u.found.Trial
	once.Goodput, once.GoodputLow, once.GoodputHigh = 2*once.Goodput, 2*once.GoodputLow, 2*once.GoodputHigh
	u.founds = []record.Trial{once}
	u.keep(t, rmem, "4096 131072 8388608")
	after := u.valueOf(t, "b", rmem)
	if err := u.prove(t.Context()); err != nil {
		t.Fatal(err)
	}
	proofs := 0
	for _, tr := range u.c.record.Trials {
		t.Logf("%s %s: %v [%v, %v]", tr.Phase, tr.Step, tr.Goodput, tr.GoodputLow, tr.GoodputHigh)
		if tr.Phase == record.PhaseAfter {
			proofs++
		}
	}
	if now := u.valueOf(t, "b", rmem); now != after || !u.changed() || !u.c.record.Steps[0].Kept || proofs != 1 {
		t.Errorf("%s is %q, was set to %q; %d proofs, steps %+v", rmem, now, after, proofs, u.c.record.Steps)
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
	u.kept = append(u.kept, changes)
	u.c.record.Steps = append(u.c.record.Steps, *r.step)
}
