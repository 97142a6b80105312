package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/measure"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/tune"
)

// Tuning is how to tune.
type Tuning struct {
	Path      fabric.Path
	Direction flow.Direction // of the proofs
	Duration  time.Duration  // of each proof's window; zero the stop rule
	Longest   time.Duration
	// Thorough also tries what the load of the links already rules out.
	Thorough bool
	// Approve is shown the plans of a step before anything is touched; false
	// skips the step. Nil approves: the caller has asked already.
	Approve func(record.Step, []plan.Plan) (bool, error)
	// CeilingMTU is the MTU the ceiling is computed at.
	CeilingMTU int
}

// unconfirmed is how long a change may stand while it is being proven; then
// the host puts itself back. It is longer than a proof of the longest window
// with all its repetitions.
const unconfirmed = 3 * time.Minute

// LongestProof is the longest window of a proof.
const LongestProof = 30 * time.Second

// Tune tries one change after the other, each proven by a measurement before
// and after it under the same traffic; what does not help is put back. It
// returns the traffic that carried most. When ctx ends in the middle of a
// step that step is put back.
func (c *Campaign) Tune(ctx context.Context, t Tuning) (predict.Traffic, error) {
	s := tune.State{
		Fabric: c.state, Tried: make(map[tune.Name]bool), Thorough: t.Thorough,
		Traffic: predict.Traffic{From: t.Path.From, To: t.Path.To, Direction: t.Direction, Streams: 1, Protocol: "tcp", Ports: "kernel"},
		Trials:  c.record.Trials,
	}
	for {
		proposals := tune.Propose(s)
		if len(proposals) == 0 {
			return s.Traffic, nil
		}
		p := proposals[0]
		s.Tried[p.Name] = true
		step, b, err := c.prove(ctx, t, s, p)
		if step != nil {
			c.record.Steps = append(c.record.Steps, *step)
			c.cfg.Tell(Event{Kind: Proven, Step: step})
		}
		if err != nil {
			return s.Traffic, err
		}
		if step != nil && step.Kept {
			s.Traffic = p.Traffic
			if p.Hosts != nil {
				s.Trials = nil // measured in a state that is no more
			}
			s.Trials = append(s.Trials, b)
		}
		s.Fabric = c.state
	}
}

// prove carries one proposal through: A, change, probe, B, judge, keep or put
// back. A nil step means that nothing was tried.
func (c *Campaign) prove(ctx context.Context, t Tuning, s tune.State, p tune.Proposal) (*record.Step, record.Trial, error) {
	step := &record.Step{Change: p.Change, Why: p.Why}
	plans, err := c.Plans(p)
	if err != nil {
		return nil, record.Trial{}, err
	}
	for _, pl := range plans {
		for _, st := range pl.Steps {
			step.Commands = append(step.Commands, pl.Host+": "+st.Command())
		}
	}
	if t.Approve != nil && len(plans) > 0 {
		if ok, err := t.Approve(*step, plans); err != nil || !ok {
			return nil, record.Trial{}, err
		}
	}
	c.cfg.Tell(Event{Kind: Trying, Step: step, Plans: plans})
	a, err := c.proof(ctx, t, s, p.ProofA, p.Name)
	if err != nil {
		return nil, a, err
	}
	changes, b, err := c.rounds(ctx, t, p, plans, step, a)
	if err != nil || !step.Kept {
		return step, b, errors.Join(err, c.revert(changes))
	}
	return step, b, c.confirm(step, changes)
}

// mostRounds is how often A and B are measured when they contradict the
// prediction: a machine that is busy elsewhere for a moment must not decide.
const mostRounds = 3

// rounds changes, probes and measures B. A result that the prediction did not
// expect is not believed at once: A and B are measured again by turns, and
// the medians decide. The changes of the last round stand when it returns.
func (c *Campaign) rounds(ctx context.Context, t Tuning, p tune.Proposal, plans []plan.Plan, step *record.Step, a record.Trial) ([]change, record.Trial, error) {
	as, bs := []record.Trial{a}, []record.Trial{}
	for {
		changes, err := c.apply(ctx, plans)
		if errors.Is(err, ErrRolledBack) && ctx.Err() == nil {
			step.Verdict = "could not be applied: " + err.Error()
			return nil, a, nil
		}
		if err != nil {
			return nil, a, err
		}
		b, err := c.after(ctx, t, p, step)
		if err != nil || step.Verdict != "" { // a probe has decided
			return changes, b, err
		}
		bs = append(bs, b)
		a, b = median(as), median(bs)
		step.Before, step.After = a.Goodput, b.Goodput
		kept, verdict := tune.Judge(a, b)
		if kept == p.Promising() || len(bs) == mostRounds {
			step.Kept, step.Verdict = kept, verdict
			if len(bs) > 1 {
				step.Verdict += fmt.Sprintf(" (medians of %d rounds)", len(bs))
			}
			return changes, b, nil
		}
		if err := c.revert(changes); err != nil {
			return nil, b, err
		}
		again, err := c.trial(ctx, c.spec(t, p.ProofA, p.Name))
		if err != nil {
			return nil, b, err
		}
		c.cfg.Tell(Event{Kind: Measured, Trial: &again})
		as = append(as, again)
	}
}

// median is the trial with the middle goodput; of two, the better one, since
// a disturbance only ever lowers a rate.
func median(trials []record.Trial) record.Trial {
	sorted := slices.Clone(trials)
	slices.SortFunc(sorted, func(x, y record.Trial) int { return cmp.Compare(x.Goodput, y.Goodput) })
	return sorted[len(sorted)/2]
}

// after observes the changed hosts, probes, and measures B. A probe that
// fails is the verdict.
func (c *Campaign) after(ctx context.Context, t Tuning, p tune.Proposal, step *record.Step) (record.Trial, error) {
	if p.Hosts != nil {
		if err := c.Observe(ctx); err != nil {
			return record.Trial{}, err
		}
	}
	if p.ProbeMTU > 0 {
		ok, err := measure.ProbeMTU(ctx, c.network(), t.Path.From, t.Path.To, p.ProbeMTU)
		if err != nil {
			return record.Trial{}, err
		}
		if !ok {
			step.Verdict = fmt.Sprintf("packets of %d bytes do not get through both ways", p.ProbeMTU)
			return record.Trial{}, nil
		}
	}
	b, err := c.trial(ctx, c.spec(t, p.ProofB, p.Name))
	if err == nil {
		c.cfg.Tell(Event{Kind: Measured, Trial: &b})
	}
	return b, err
}

func (c *Campaign) spec(t Tuning, traffic predict.Traffic, name tune.Name) measure.Spec {
	return measure.Spec{
		From: traffic.From, To: traffic.To, Direction: traffic.Direction, Streams: traffic.Streams, Ports: traffic.Ports,
		SocketBuffer: traffic.SocketBuffer, Duration: t.Duration, Longest: t.Longest, Phase: record.PhaseStep, Step: string(name),
		CeilingMTU: t.CeilingMTU,
	}
}

// proof is a trial of this state under the traffic: one already measured, or
// a new one.
func (c *Campaign) proof(ctx context.Context, t Tuning, s tune.State, traffic predict.Traffic, name tune.Name) (record.Trial, error) {
	for i := len(s.Trials) - 1; i >= 0; i-- {
		old := s.Trials[i]
		if old.From == traffic.From && old.To == traffic.To && old.Direction == traffic.Direction && old.Streams == traffic.Streams && old.Ports == traffic.Ports {
			return old, nil
		}
	}
	a, err := c.trial(ctx, c.spec(t, traffic, name))
	if err == nil {
		c.cfg.Tell(Event{Kind: Measured, Trial: &a})
	}
	return a, err
}

// Plans are the steps from what holds to what the proposal wants, by host
// name.
func (c *Campaign) Plans(p tune.Proposal) ([]plan.Plan, error) {
	var out []plan.Plan
	for name, desired := range p.Hosts {
		pl, err := plan.Between(c.state.Hosts[name], desired)
		if err != nil {
			return nil, fmt.Errorf("plan %s for %s: %w", p.Name, name, err)
		}
		pl.Host = name
		if len(pl.Steps) > 0 {
			out = append(out, pl)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Host < out[j].Host })
	return out, nil
}

// change is a plan that was carried out and is not yet confirmed.
type change struct {
	host, journal string
	temporary     bool
}

// byItself is when the host takes the change back without being asked.
func (ch change) byItself() string {
	if ch.temporary {
		return "when this program ends"
	}
	return fmt.Sprintf("within %v", unconfirmed)
}

// apply carries the plans out, host by host; when one fails the others are
// put back, and the one too, should its answer have been lost on the way.
func (c *Campaign) apply(ctx context.Context, plans []plan.Plan) ([]change, error) {
	return c.carryOut(ctx, plans, agentapi.ApplyRequest{Deadline: unconfirmed})
}

// carryOut is apply as the request says, its plan left out.
func (c *Campaign) carryOut(ctx context.Context, plans []plan.Plan, how agentapi.ApplyRequest) ([]change, error) {
	var done []change
	for _, pl := range plans {
		how.Plan = pl
		reply, err := c.hosts[pl.Host].Apply(ctx, how)
		if err == nil && reply.RolledBack == "" {
			done = append(done, change{pl.Host, reply.Journal, how.Temporary})
			continue
		}
		var answered *agentapi.Error
		switch {
		case err == nil:
			err = fmt.Errorf("%s: %w: %s", pl.Host, ErrRolledBack, reply.RolledBack)
		case !errors.As(err, &answered):
			done = append(done, change{pl.Host, "", how.Temporary}) // nobody knows: the newest pending one, if any
		}
		return nil, errors.Join(err, c.revert(done))
	}
	return done, nil
}

// ErrRolledBack is a change that did not hold and was put back.
var ErrRolledBack = errors.New("change rolled back")

// revert puts changes back, newest first, also when the run was interrupted.
func (c *Campaign) revert(changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	for i := len(changes) - 1; i >= 0; i-- {
		ch := changes[i]
		reply, err := c.hosts[ch.host].Rollback(ctx, agentapi.RollbackRequest{Journal: ch.journal})
		if ch.journal == "" && errors.Is(err, fs.ErrNotExist) {
			err = nil // it had not come to a change
		}
		if err == nil && len(reply.Left) > 0 {
			err = fmt.Errorf("%s: left as somebody else set it: %v", ch.host, reply.Left)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("put back: %w (the host does it by itself %s)", err, ch.byItself()))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, c.Observe(ctx))
	}
	return errors.Join(errs...)
}

// confirm keeps changes, on all hosts or on none: when one cannot be reached
// any more, all are put back. An interrupt does not come in between.
func (c *Campaign) confirm(step *record.Step, changes []change) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, ch := range changes {
		if _, err := c.hosts[ch.host].Confirm(ctx, agentapi.ConfirmRequest{Journal: ch.journal}); err != nil {
			step.Kept, step.Verdict = false, "could not be confirmed"
			return errors.Join(fmt.Errorf("confirm change: %w: %w", ErrRolledBack, err), c.revert(changes))
		}
	}
	return nil
}
