package campaign

import (
	"context"
	"errors"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/tune"
)

// neverSlower holds what the hosts became against what they were found as:
// every step was proven against the one before it, but a machine changes
// meanwhile. Where the sum of their gains does not show in the best look at what
// they led to, all is put back and set again for a second look at each; what is
// not faster then is put back for good.
func (u *tuning) neverSlower(ctx context.Context) error {
	t, ok := u.best()
	if len(u.kept) == 0 || ok && tune.Faster(u.found.Trial, t) || u.Objective == tune.Latency {
		return nil
	}
	wanted := u.c.state.Hosts
	if err := u.putBack(); err != nil {
		return err
	}
	if u.full(2) != "" {
		return u.asFound(t)
	}
	a, err := u.look(ctx, u.foundLoad(), asked{step: "as-found", again: true})
	if err != nil {
		return errors.Join(err, u.asFound(t))
	}
	changes, b, err := u.setAgain(ctx, wanted)
	if err != nil {
		return errors.Join(err, u.c.revert(changes), u.asFound(t))
	}
	if !tune.Faster(a.Trial, b.Trial) {
		return errors.Join(u.c.revert(changes), u.asFound(t))
	}
	if err := u.c.confirm(changes); err != nil {
		return errors.Join(err, u.asFound(t))
	}
	u.kept = []done{{changes, allSteps}}
	return nil
}

// best is the look at the present state and traffic that carried most: a
// disturbance only ever lowers a rate.
func (u *tuning) best() (best record.Trial, ok bool) {
	for _, t := range u.s.Trials {
		if same(t, u.s.Load) && (!ok || t.Goodput > best.Goodput) {
			best, ok = t, true
		}
	}
	return best, ok
}

// foundLoad is the traffic that the tune began with.
func (u *tuning) foundLoad() tune.Load {
	l := tune.Load{Traffic: u.s.Traffic}
	l.Traffic.Streams, l.Traffic.Ports, l.Traffic.Pace = u.found.Streams, u.found.Ports, 0
	return l
}

// setAgain sets what was put back, as one change a host, and measures it.
func (u *tuning) setAgain(ctx context.Context, wanted map[string]netstate.Host) ([]change, look, error) {
	plans, err := plansTo(u.c.state.Hosts, wanted)
	if err != nil {
		return nil, look{}, err
	}
	changes, err := u.c.carryOut(ctx, plans, agentapi.ApplyRequest{Deadline: unconfirmed, Group: u.Group, Title: u.Title})
	if err != nil {
		return nil, look{}, err
	}
	if err := u.c.Observe(ctx); err != nil {
		return changes, look{}, err
	}
	b, err := u.look(ctx, u.s.Load, asked{step: "set-again", again: true})
	return changes, b, err
}

// putBack undoes every confirmed change, the newest first.
func (u *tuning) putBack() error {
	var kept []change
	for _, d := range u.kept {
		kept = append(kept, d.changes...)
	}
	u.kept = nil
	return u.c.revert(kept)
}

// asFound is the end of a tune whose changes did not pay: the hosts are as they
// were, and the steps say so. The traffic goes back too where it was found to
// carry no less.
func (u *tuning) asFound(last record.Trial) error {
	for i := range u.c.record.Steps {
		s := &u.c.record.Steps[i]
		if s.Kept && len(s.Commands) > 0 {
			s.Kept, s.Verdict = false, s.Verdict+"; put back: all changes together were no faster than the hosts as found"
		}
	}
	for i := range u.out.Settings {
		u.out.Settings[i].Kept = false
	}
	if !tune.Faster(u.found.Trial, last) {
		u.s.Load = u.foundLoad()
	}
	u.s.Fabric, u.s.Trials = u.c.state, []record.Trial{u.found.Trial}
	return nil
}

// prove measures the result in the direction asked for, and of both also each
// way by itself: the trials of the phase after. One that lies below what the
// search saw is measured a second time where the budget allows it, and the
// better one counts: a disturbance only ever lowers a rate.
func (u *tuning) prove(ctx context.Context) error {
	all := u.proven()
	seen, _ := u.newest()
	for i, d := range all {
		l, err := u.look(ctx, u.s.Load, asked{phase: record.PhaseAfter, direction: d, last: true, more: len(all) - i - 1})
		if err != nil {
			return err
		}
		if l.share() >= (1-disturbedBy)*min(share(seen), u.Target) || u.Budget.Left(u.spent, len(all)-i, u.usual()) != "" {
			continue
		}
		again, err := u.look(ctx, u.s.Load, asked{phase: record.PhaseAfter, direction: d, last: true, more: len(all) - i - 1, patient: i == len(all)-1})
		if err != nil {
			return err
		}
		u.demote(again.Goodput >= l.Goodput)
	}
	return nil
}

func (l look) share() float64 { return share(l.Trial) }

// share is what part of the ceiling a trial reached; 1 where there is none.
func share(t record.Trial) float64 {
	if t.Ceiling <= 0 {
		return 1
	}
	return float64(t.Goodput / t.Ceiling)
}

// disturbedBy is how far a proof may lie below the search's own look, or below
// the target.
const disturbedBy = 0.005

// proven are the directions of the proof.
func (u *tuning) proven() []flow.Direction {
	if u.Direction == flow.Both {
		return []flow.Direction{flow.Both, flow.Forward, flow.Reverse}
	}
	return []flow.Direction{u.Direction}
}

// demote makes the first of the last two trials, or the second, one of the
// steps: a result has one proof.
func (u *tuning) demote(first bool) {
	trials := u.c.record.Trials
	i := len(trials) - 1
	if first {
		i--
	}
	trials[i].Phase, trials[i].Step = record.PhaseStep, "proof"
	if f := trials[i].Finding; f != nil {
		f.Phase, f.Step = record.PhaseStep, "proof"
	}
}
