package campaign

import (
	"context"
	"errors"
	"slices"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/tune"
)

// allSteps is the number of a change that sets what several steps found.
const allSteps = -1

// firstTraffic holds the traffic as it was found against the hosts as they
// became: they are not to be slower for it either. Where it is, the steps are
// taken back one by one, the newest first; one whose end mends it stays undone,
// the others are set again. Where none does, the machine has changed, and the
// result says so.
func (u *tuning) firstTraffic(ctx context.Context) error {
	first := u.foundLoad()
	if !u.changed() || same(u.found.Trial, u.s.Load) || u.Objective == tune.Latency {
		return nil
	}
	b, ok, err := u.asGood(ctx, first)
	if err != nil || ok {
		return err
	}
	for i := len(u.kept) - 1; i >= 0; i-- {
		if u.full(2) != "" {
			break
		}
		if len(u.kept[i].changes) == 0 || u.superseded(i) {
			continue
		}
		mended, err := u.without(ctx, i, first, b)
		if err != nil || mended {
			return err
		}
	}
	u.out.Left = append(u.out.Left, "the traffic as it was found: slower at the end than at the beginning, whatever single change is taken back")
	return nil
}

// asGood looks at the first traffic, twice where it seems slower than it was
// found, and returns the better look. Without room for a look the result says
// so, and nothing is held against it.
func (u *tuning) asGood(ctx context.Context, first tune.Load) (b look, ok bool, err error) {
	for range 2 {
		if u.full(1) != "" {
			u.out.Left = append(u.out.Left, "the traffic as it was found: not measured on the hosts as they became, the budget was spent")
			return b, true, nil
		}
		again, err := u.look(ctx, first, asked{step: firstStep, again: true})
		if err != nil {
			return b, false, err
		}
		if again.Goodput >= b.Goodput {
			b = again
		}
		if !tune.Slower(tune.Middle(u.foundLooks()), b.Trial) {
			return b, true, nil
		}
	}
	return b, false, nil
}

// firstStep names the looks of it.
const firstStep = "first-traffic"

// without takes a step's changes back and looks at the first traffic; where
// that is faster than b, and as fast as it was found, the step stays undone,
// else it is set again.
func (u *tuning) without(ctx context.Context, i int, first tune.Load, b look) (mended bool, err error) {
	wanted := u.c.state.Hosts
	if err := u.c.revert(u.kept[i].changes); err != nil {
		return false, err
	}
	a, err := u.look(ctx, first, asked{step: firstStep, again: true})
	if err == nil && tune.Faster(b.Trial, a.Trial) && !tune.Slower(tune.Middle(u.foundLooks()), a.Trial) {
		u.undone(u.kept[i].step)
		u.kept = slices.Delete(u.kept, i, i+1)
		u.s.Fabric = u.c.state
		if !u.changed() { // what was proven with it is not proven without
			return true, u.asFound()
		}
		return true, nil
	}
	changes, again := u.restore(wanted)
	u.kept[i].changes = changes
	return false, errors.Join(err, again)
}

// changed reports that hosts are not as they were found.
func (u *tuning) changed() bool {
	return slices.ContainsFunc(u.kept, func(d done) bool { return len(d.changes) > 0 })
}

// superseded reports a step whose settings a later one that is kept has set
// again: by itself it cannot be taken back.
func (u *tuning) superseded(i int) bool {
	for _, s := range u.out.Settings {
		if !s.Kept || s.Step != u.kept[i].step {
			continue
		}
		if slices.ContainsFunc(u.out.Settings, func(later record.Setting) bool {
			return later.Kept && later.Step > s.Step && later.Host == s.Host && later.What == s.What
		}) {
			return true
		}
	}
	return false
}

// restore sets hosts as they were before a step was taken back, also when the
// run was interrupted: the step had been proven.
func (u *tuning) restore(wanted map[string]netstate.Host) ([]change, error) {
	ctx := context.Background()
	plans, err := plansTo(u.c.state.Hosts, wanted)
	if err != nil {
		return nil, err
	}
	changes, err := u.c.carryOut(ctx, plans, agentapi.ApplyRequest{Deadline: unconfirmed, Group: u.Group, Title: u.Title})
	if err != nil {
		return nil, err
	}
	if err := u.c.confirm(changes); err != nil {
		return nil, err
	}
	return changes, u.c.Observe(ctx)
}

// undone notes that a step was put back after all.
func (u *tuning) undone(step int) {
	for i := range u.c.record.Steps {
		s := &u.c.record.Steps[i]
		if s.Kept && (i == step || step == allSteps && len(s.Commands) > 0) {
			s.Kept, s.Verdict = false, s.Verdict+"; put back: the traffic as it was found was slower with it"
		}
	}
	for i := range u.out.Settings {
		if step == allSteps || u.out.Settings[i].Step == step {
			u.out.Settings[i].Kept = false
		}
	}
}
