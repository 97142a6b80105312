package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// proof is a proposal that is being proven.
type proof struct {
	p      tune.Proposal
	plans  []plan.Plan
	step   *record.Step
	as, bs []look
	// firsts are looks at the first traffic with the change.
	firsts []record.Trial
	// changes stand and are not confirmed.
	changes []change
}

// step carries one proposal through: A, change, probe, B, judge, keep or put
// back. It returns the decisive look too; a nil proof means that nothing was
// tried.
func (u *tuning) step(ctx context.Context, p tune.Proposal) (*proof, look, error) {
	r := &proof{p: p, step: &record.Step{Change: p.Change, Why: p.Why}}
	ok, err := u.approved(r)
	if err != nil || !ok {
		return nil, look{}, err
	}
	u.c.cfg.Tell(Event{Kind: Trying, Step: r.step, Plans: r.plans})
	u.owed = u.due(p)
	defer func() { u.owed = 0 }()
	a, err := u.looked(ctx, p.ProofA, string(p.Name))
	if err != nil {
		return nil, a, err
	}
	r.as = append(r.as, a)
	b, err := u.rounds(ctx, r)
	if err == nil && r.step.Kept {
		if err = u.c.confirm(r.changes); err != nil {
			r.step.Kept, r.step.Verdict = false, "could not be confirmed"
		} else {
			u.kept = append(u.kept, r.changes)
			u.gain = (1+u.gain)*(1+max(p.Gain, 0)) - 1
			u.lookedAtFound()
		}
	} else {
		err = errors.Join(err, u.c.revert(r.changes))
	}
	u.note(r)
	return r, b, err
}

// lookedAtFound gathers, when the first step is kept, the looks at what was
// found.
func (u *tuning) lookedAtFound() {
	if len(u.kept) != 1 || len(u.founds) == 0 {
		return
	}
	u.founds = u.samplesAt(u.foundLoad())
}

// approved plans the step and asks for it; what needs a consent that was not
// given, or what no plan leads to, is left, and said.
func (u *tuning) approved(r *proof) (bool, error) {
	var err error
	if r.plans, err = u.c.Plans(r.p); err != nil {
		u.leave(r.p, err.Error())
		return false, nil
	}
	if d := worst(r.plans); d != plan.Online && !u.Bounce && !u.Bare {
		u.leave(r.p, fmt.Sprintf("traffic stops for seconds (%s), which needs consent", d))
		return false, nil
	}
	for _, pl := range r.plans {
		for _, st := range pl.Steps {
			r.step.Commands = append(r.step.Commands, pl.Host+": "+st.Command())
		}
	}
	if u.Approve == nil || len(r.plans) == 0 {
		return true, nil
	}
	ok, err := u.Approve(*r.step, r.plans)
	if err == nil && !ok {
		u.leave(r.p, "declined")
	}
	return ok, err
}

// rounds changes, probes and measures B, and again A and B by turns while one
// look at each does not decide; the medians do then. The changes of the last
// round stand when it returns.
func (u *tuning) rounds(ctx context.Context, r *proof) (look, error) {
	for {
		var err error
		if r.changes, err = u.c.carryOut(ctx, r.plans, u.unconfirmed()); err != nil {
			return r.as[0], u.notApplied(ctx, r, err)
		}
		b, err := u.after(ctx, r)
		if err != nil || r.step.Verdict != "" { // a probe has decided
			return b, err
		}
		r.bs = append(r.bs, b)
		a, b := median(r.as), median(r.bs)
		kept, verdict := u.judge(r, a, b)
		if kept && r.p.Promising() && !tune.Faster(a.Trial, b.Trial) { // by the best looks
			a, b = fastest(r.as), fastest(r.bs)
		}
		r.step.Before, r.step.After = a.Goodput, b.Goodput
		if kept || tune.Faster(a.Trial, b.Trial) {
			if err := u.lockFirst(ctx, r); err != nil || r.step.Verdict != "" {
				return b, err
			}
		}
		if u.decided(r, kept, a, b) {
			r.step.Kept, r.step.Verdict = kept, verdict
			if len(r.bs) > 1 {
				r.step.Verdict += fmt.Sprintf(" (medians of %d rounds)", len(r.bs))
			}
			return b, nil
		}
		err = u.c.revert(r.changes)
		r.changes = nil
		if err != nil {
			return b, err
		}
		again, err := u.look(ctx, r.p.ProofA, asked{step: string(r.p.Name), again: true})
		if err != nil {
			return b, err
		}
		r.as = append(r.as, again)
		if same(again.Trial, u.s.Load) { // of the present state: the next step's A
			u.s.Trials, u.s.Loaded = append(u.s.Trials, again.Trial), again.loaded
		}
	}
}

// unconfirmed is how a step changes hosts: for as long as it takes to prove it, and
// while this program is there to do so. Nobody else can prove it.
func (u *tuning) unconfirmed() agentapi.ApplyRequest {
	return agentapi.ApplyRequest{Deadline: unconfirmed, Temporary: true, Group: u.Group, Title: u.Title}
}

// notApplied is the step's verdict where its change left the hosts as they were,
// and else the error.
func (u *tuning) notApplied(ctx context.Context, r *proof, err error) error {
	if ctx.Err() != nil || !asBefore(err) {
		return err
	}
	r.step.Verdict = "could not be applied: " + err.Error()
	u.refused(r.p, err)
	return nil
}

// refused remembers what a host did not take, so that no bundle asks for it again:
// that option, and where the host does not permit it any other of its move.
func (u *tuning) refused(p tune.Proposal, err error) {
	if len(p.Moves) != 1 {
		return // which of them it was is not known
	}
	var a *agentapi.Error
	switch {
	case errors.As(err, &a) && (a.Code == agentapi.CodeBusy || a.Code == agentapi.CodeCancelled || a.Code == agentapi.CodeState):
		return // it may take it later
	case errors.As(err, &a) && a.Code == agentapi.CodePermission:
		u.s.Refused[p.Name] = true
	}
	u.s.Refused[p.Key] = true
}

// asBefore reports a change that was refused, or did not hold, and left the
// hosts as they were: there may be others.
func asBefore(err error) bool {
	return err != nil && !errors.Is(err, ErrNotPutBack) && (errors.Is(err, ErrRolledBack) || answered(err))
}

// answered reports an error that a host gave, and not the way to it.
func answered(err error) bool {
	var a *agentapi.Error
	return errors.As(err, &a)
}

// judge is the verdict over A and B by what the proposal is for.
func (u *tuning) judge(r *proof, a, b look) (bool, string) {
	switch {
	case u.Objective == tune.Latency:
		return tune.JudgeLatency(a.Trial, b.Trial, a.loaded, b.loaded, u.LatencyBound)
	case r.p.Cheaper: // held against the best of its kind: a disturbed look is easily matched
		if best, ok := u.best(); ok && best.Goodput > a.Goodput {
			a.Trial = best
		}
		return tune.JudgeCheaper(a.Trial, b.Trial)
	}
	return tune.JudgeTurns(r.p, trialsOf(r.as), trialsOf(r.bs), a.Trial, b.Trial)
}

func trialsOf(looks []look) []record.Trial {
	out := make([]record.Trial, len(looks))
	for i, l := range looks {
		out[i] = l.Trial
	}
	return out
}

// The rounds of A and B: as many where each is to be shown, and in general.
const (
	thoroughRounds = 3
	usualRounds    = 2
	// sureRounds is for what the prediction expects, or every turn says, and
	// noise hides.
	sureRounds = 3
	// scatteredRounds is for a story told on a machine that disturbs its looks.
	scatteredRounds = 5
)

// decided reports whether A and B need no further round: what the prediction
// expected is believed at once where it is clear or as large as expected, what
// nobody expected to gain at once where it does not, or evidently does; all else
// only by turns.
func (u *tuning) decided(r *proof, kept bool, a, b look) bool {
	if u.Thorough {
		return u.told(r, kept)
	}
	most := usualRounds
	switch {
	case r.p.Promising() && !kept && (b.Goodput > a.Goodput || r.scattered()),
		!r.p.Promising() && !kept && tune.AllTurns(trialsOf(r.as), trialsOf(r.bs)),
		r.p.Disordered && !kept && tune.Faster(a.Trial, b.Trial):
		most = sureRounds
	}
	if len(r.bs) >= most || u.searched(2) != "" {
		return true
	}
	switch {
	case r.p.Cheaper || u.Objective == tune.Latency:
		return true
	case r.p.Promising():
		return kept && (tune.Clear(a.Trial, b.Trial) || tune.AsPredicted(r.p, a.Trial, b.Trial))
	}
	if !tune.Faster(a.Trial, b.Trial) { // of single looks that say little two may err
		return len(r.bs) > 1 || !tune.Vague(a.Trial, b.Trial, r.p.Disordered)
	}
	return kept && tune.Evident(a.Trial, b.Trial)
}

// scattered reports looks at A or at B that something disturbed.
func (r *proof) scattered() bool {
	return tune.Scattered(trialsOf(r.as)) || tune.Scattered(trialsOf(r.bs))
}

// told reports whether a story has what it tells of a step: what the prediction
// expects, or three looks each, and more where the looks at one state differ.
func (u *tuning) told(r *proof, kept bool) bool {
	most := thoroughRounds
	if r.p.Promising() && r.scattered() {
		most = scatteredRounds
	}
	return kept == r.p.Promising() || len(r.bs) >= most
}

// median is the look with the middle goodput; of two, the better one, since
// a disturbance only ever lowers a rate.
func median(looks []look) look {
	sorted := slices.Clone(looks)
	slices.SortStableFunc(sorted, func(x, y look) int { return cmp.Compare(x.Goodput, y.Goodput) })
	return sorted[len(sorted)/2]
}

// fastest is the look that carried most.
func fastest(looks []look) look {
	return slices.MaxFunc(looks, func(x, y look) int { return cmp.Compare(x.Goodput, y.Goodput) })
}

// after observes the changed hosts, probes, and measures B. A probe that
// fails, or traffic that does not get through any more, is the verdict.
func (u *tuning) after(ctx context.Context, r *proof) (look, error) {
	if r.p.Hosts != nil {
		if err := u.c.Observe(ctx); err != nil {
			return look{}, err
		}
	}
	if r.p.ProbeMTU > 0 {
		ok, err := measure.ProbeMTU(ctx, u.c.network(), u.Path.From, u.Path.To, r.p.ProbeMTU)
		if err != nil {
			return look{}, err
		}
		if !ok {
			r.step.Verdict = fmt.Sprintf("packets of %d bytes do not get through both ways", r.p.ProbeMTU)
			u.refuseMTU()
			return look{}, nil
		}
	}
	b, err := u.look(ctx, r.p.ProofB, asked{step: string(r.p.Name), again: len(r.bs) > 0})
	if err != nil && ctx.Err() == nil {
		r.step.Verdict = "could not be measured: " + err.Error()
		return look{}, nil
	}
	if err == nil && r.p.Promising() && u.grows(b) && !b.CPUBound() && !u.better(r, b) && u.searched(2) == "" {
		return u.look(ctx, r.p.ProofB, asked{step: string(r.p.Name), patient: true, again: true})
	}
	return b, err
}

// refuseMTU ends the search for larger frames: the path does not take them, whatever
// else is changed. The ceiling is the one at the MTU that is set, of what was measured
// before too.
func (u *tuning) refuseMTU() {
	u.s.Refused[tune.MTU] = true
	was := u.CeilingMTU
	u.CeilingMTU, u.s.CeilingMTU = 0, 0
	counted, _, err := predict.CeilingOf(u.s.Fabric, u.s.Load.Traffic, was)
	set, mtu, err2 := predict.CeilingOf(u.s.Fabric, u.s.Load.Traffic, 0)
	if err != nil || err2 != nil || counted <= 0 {
		return
	}
	recount := func(t *record.Trial) {
		if t.CeilingMTU == was && t.Ceiling > 0 {
			t.Ceiling, t.CeilingMTU = t.Ceiling*(set/counted), mtu
		}
	}
	recount(&u.found.Trial)
	for _, all := range [][]record.Trial{u.founds, u.s.Trials, u.c.record.Trials} {
		for i := range all {
			recount(&all[i])
		}
	}
}

func (u *tuning) better(r *proof, b look) bool {
	kept, _ := u.judge(r, median(r.as), b)
	return kept
}

// grows reports a look whose streams had not come to their share.
func (u *tuning) grows(l look) bool { return !u.Bare && slices.Contains(l.Notes, measure.NotSteady) }

// note writes down the settings of a step that was tried.
func (u *tuning) note(r *proof) {
	gain := 0.0
	if r.step.Before > 0 && r.step.After > 0 {
		gain = float64(r.step.After/r.step.Before) - 1
	}
	for _, pl := range r.plans {
		for _, st := range pl.Steps {
			u.out.Settings = append(u.out.Settings, record.Setting{
				Host: pl.Host, What: st.Target(), Old: st.Old, New: st.New, Kept: r.step.Kept, Gain: gain, Step: len(u.c.record.Steps), Why: r.p.Why, Command: st.Command(),
			})
		}
	}
}
