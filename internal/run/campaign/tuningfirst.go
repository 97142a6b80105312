package campaign

import (
	"context"
	"fmt"
	"slices"

	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/record"
)

// due is how many looks at the traffic as it was found a step takes that is to
// be kept: one where it changes hosts and was proven under another load.
func (u *tuning) due(p tune.Proposal) int {
	if u.Bare || u.Objective == tune.Latency || p.Hosts == nil || same(u.found.Trial, p.ProofB) {
		return 0
	}
	return 1
}

// lockFirst holds the traffic as it was found against a change that stands, and
// that other traffic is about to prove: it is not to be slower for it. Where it
// is, by as many looks at either as tell, that is the step's verdict; each round
// of the step knows more of what was found. Without room for a look nothing is
// held against it, and the result says so.
func (u *tuning) lockFirst(ctx context.Context, r *proof) error {
	if u.due(r.p) == 0 {
		return nil
	}
	for {
		full := u.full(1) != ""
		if len(r.firsts) > 0 {
			slows, sure := tune.Slows(u.foundsOf(r), r.firsts, u.changed()) // no way back below a change that was kept
			if slows && (sure || full) {
				u.refuse(r)
			}
			if !slows || sure || full {
				return nil
			}
		}
		if full {
			u.out.Left = append(u.out.Left, "the traffic as it was found: not measured with "+r.p.Change+", the budget was spent")
			return nil
		}
		u.owed = 0
		if len(u.foundsOf(r)) < len(r.firsts) && !u.changed() {
			if err := u.lookBack(ctx, r); err != nil || r.step.Verdict != "" {
				return err
			}
			continue
		}
		now, err := u.look(ctx, u.foundLoad(), asked{step: firstStep, again: true})
		if err != nil {
			return err
		}
		r.firsts = append(r.firsts, now.Trial)
	}
}

// lookBack puts the step's change back, looks once more at what was found, and
// sets the change again.
func (u *tuning) lookBack(ctx context.Context, r *proof) error {
	err := u.c.revert(r.changes)
	r.changes = nil
	if err != nil {
		return err
	}
	found, err := u.look(ctx, u.foundLoad(), asked{step: "as-found", again: true})
	if err != nil {
		return err
	}
	u.founds = append(u.foundSamples(), found.Trial)
	if same(found.Trial, u.s.Load) {
		u.s.Trials = append(u.s.Trials, found.Trial)
	}
	if r.changes, err = u.c.carryOut(ctx, r.plans, u.unconfirmed()); err != nil {
		return u.notApplied(ctx, r, err)
	}
	if r.p.Hosts == nil {
		return nil
	}
	return u.c.Observe(ctx)
}

// foundsOf are the looks at what was found, those of a step's proof among them.
func (u *tuning) foundsOf(r *proof) []record.Trial {
	all := slices.Clone(u.foundSamples())
	if u.changed() {
		return all
	}
	for _, a := range r.as {
		if same(a.Trial, u.foundLoad()) && !slices.ContainsFunc(all, func(t record.Trial) bool { return t.Started.Equal(a.Started) }) {
			all = append(all, a.Trial)
		}
	}
	return all
}

// refuse ends a step that the first traffic is slower with, and all others that
// would change the same.
func (u *tuning) refuse(r *proof) {
	for _, name := range r.p.HostMoves {
		u.s.Refused[name] = true
	}
	r.step.Kept = false
	r.step.Verdict = fmt.Sprintf("the traffic as it was found is slower with it: %v of %v", tune.Middle(r.firsts).Goodput, tune.Middle(u.foundsOf(r)).Goodput)
}

// firstStep names the looks at it.
const firstStep = "first-traffic"

// changed reports that hosts are not as they were found.
func (u *tuning) changed() bool {
	return slices.ContainsFunc(u.kept, func(changes []change) bool { return len(changes) > 0 })
}
