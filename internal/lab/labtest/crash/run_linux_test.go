package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// The run of a tune is several changes of one group, one of which is put back
// as it did not pay; the last one writes files.
const (
	runGroup = "20261122T103000.000Z"
	tuneOp   = "tune"
	undoOp   = "undo the tune"
)

// tuneRun carries the plans out one after the other, as `linerate tune` does
// on one host: all are confirmed but the second, which is put back and set
// again.
func (j job) tuneRun(ctx context.Context, a *apply.Applier) error {
	for i, p := range j.Plans {
		for round := range 2 {
			r, err := a.Apply(ctx, p, apply.Options{Deadline: j.Deadline, Group: apply.Group{ID: runGroup, Title: "tune"}})
			if err != nil {
				return fmt.Errorf("change %d: %w", i+1, err)
			}
			if i == 1 && round == 0 {
				if _, err = a.Rollback(ctx, r.ID); err != nil {
					return fmt.Errorf("put change %d back: %w", i+1, err)
				}
				continue
			}
			if err := a.Confirm(ctx, r.ID); err != nil {
				return fmt.Errorf("confirm change %d: %w", i+1, err)
			}
			break
		}
	}
	return nil
}

// undoRun takes the run back; that nothing of it stands is no error.
func undoRun(ctx context.Context, a *apply.Applier) error {
	if _, err := a.Recover(ctx); err != nil {
		return err
	}
	_, err := a.RollbackGroup(ctx, runGroup)
	if errors.Is(err, apply.ErrState) {
		return nil
	}
	return err
}

// runPlans are what a tune would change one after the other: policy, buffers,
// MTU; the last with files.
func runPlans(r *rand.Rand, observed netstate.Host) ([]plan.Plan, error) {
	moves := []wish{
		onBond(func(r *rand.Rand, b *netstate.Bond) { b.HashPolicy = netstate.Layer34 }),
		func(r *rand.Rand, h *netstate.Host) {
			h.Sysctls["net.ipv4.tcp_rmem"] = netstate.Sysctl{Value: fmt.Sprintf("4096 131072 %d", 8<<20+r.IntN(1<<20)), Scope: netstate.ScopeNamespace}
		},
		func(r *rand.Rand, h *netstate.Host) {
			change(h, "p2", func(l *netstate.Link) { l.MTU = pick(r, 9000, 4000) })
			change(h, "bond0", func(l *netstate.Link) { l.MTU = 9000 })
		},
		func(r *rand.Rand, h *netstate.Host) {
			h.Sysctls["net.ipv4.tcp_rmem"] = netstate.Sysctl{Value: "4096 131072 33554432", Scope: netstate.ScopeNamespace}
			change(h, "p2", func(l *netstate.Link) { l.Qdiscs = []netstate.Qdisc{{Kind: "fq", Parent: "root"}} })
		},
	}
	var plans []plan.Plan
	now := observed.Clone()
	for _, move := range moves {
		next := now.Clone()
		move(r, &next)
		p, err := plan.Between(now, next)
		if err != nil {
			return nil, err
		}
		if len(p.Steps) > 0 {
			plans = append(plans, p)
		}
		now = next
	}
	plans[len(plans)-1] = withFiles(plans[len(plans)-1])
	return plans, nil
}

// runs: kill -9 of a tune, and of the rollback of one, at its writes and at its
// steps. After the guard, or the next command, one rollback gives the host as it
// was.
func (c *cutter) runs() {
	c.t.Helper()
	plans, err := runPlans(c.r, c.observed)
	must(c.t, err)
	usual := c.dir
	defer func() { c.dir = usual }()
	if c.sample {
		c.runSample(plans)
		return
	}
	moments, steps := c.learnRun(plans)
	for i := range runCuts {
		c.dir = c.t.TempDir() // the journal of this cut
		j := c.runJob(tuneOp, plans)
		j.dieAt(c.r, i, moments[tuneOp], steps)
		c.killed("a tune", j)
		// The guard has the change that waited, at its deadline; one that was not
		// begun the next program ends.
		if e := c.newest(); i == runCuts-1 && e.Begun() {
			c.ended("the guard")
		}
		c.asFound("a tune", plans)
	}
	for i := range runCuts {
		c.dir = c.t.TempDir()
		if out, killed := c.runJob(tuneOp, plans).run(c.t); killed || out.Err != "" {
			c.t.Fatalf("tune: %+v", out)
		}
		j := c.runJob(undoOp, plans)
		j.dieAt(c.r, i, moments[undoOp], len(plans)) // a step of each at the least goes back
		c.killed("rollback of a tune", j)
		c.asFound("rollback of a tune", plans)
	}
}

// runCuts is how many cuts there are of a plan's tune, and as many of its
// rollback: of thirty plans enough, as a cut takes some seconds.
const runCuts = 3

// dieAt cuts a job by turns at a write to the disk and after a step.
func (j *job) dieAt(r *rand.Rand, turn, moments, steps int) {
	if turn%2 == 0 {
		j.DieMoment = 1 + r.IntN(moments)
		return
	}
	j.DieAfter = 1 + r.IntN(steps)
}

// runSample cuts a tune in its third change or later, and then its rollback.
func (c *cutter) runSample(plans []plan.Plan) {
	c.dir = c.t.TempDir()
	tune := c.runJob(tuneOp, plans)
	tune.DieAfter = len(plans[0].Steps) + 3*len(plans[1].Steps) + 1 // set, put back, set again
	c.killed("a tune", tune)
	undo := c.runJob(undoOp, plans)
	undo.DieAfter = 2
	c.killed("rollback of a tune", undo)
	c.ends.cuts["a tune"]++
	c.ends.old++ // what the next rollback leaves is looked at below
	c.asFound("rollback of a tune", plans)
}

func (c *cutter) runJob(op string, plans []plan.Plan) job {
	j := c.job(op)
	j.Plans, j.Guard, j.Deadline = plans, op == tuneOp, 2*c.took+5*time.Second
	return j
}

// learnRun carries a tune out whole and rolls it back.
func (c *cutter) learnRun(plans []plan.Plan) (moments map[string]int, steps int) {
	c.t.Helper()
	c.dir = c.t.TempDir()
	moments = map[string]int{}
	for _, op := range []string{tuneOp, undoOp} {
		out, killed := c.runJob(op, plans).run(c.t)
		if killed || out.Err != "" {
			c.t.Fatalf("%s without a cut: %+v", op, out)
		}
		moments[op] = out.Moment
	}
	if diff := c.same(c.observed); diff != "" || c.files() != "old" {
		c.t.Fatalf("tuned and taken back, files %s; -before +after:\n%s", c.files(), diff)
	}
	for _, p := range plans {
		steps += len(p.Steps)
	}
	return moments, steps
}

// asFound is one rollback by a program that comes after a cut, and the look
// whether the host is as it was before the tune.
func (c *cutter) asFound(what string, plans []plan.Plan) {
	c.t.Helper()
	c.ends.cuts[what]++
	undo := c.runJob(undoOp, plans)
	out, killed := undo.run(c.t)
	if killed || out.Err != "" && !out.Gone {
		c.t.Errorf("one rollback after %s: %+v: %s", what, out, c.words())
	}
	if diff := c.same(c.observed); diff != "" || c.files() != "old" {
		c.ends.between++
		c.t.Errorf("%s: files %s, -before +is:\n%s\n%s", what, c.files(), diff, c.words())
		return
	}
	c.ends.old++
}
