package campaign

import (
	"context"
	"errors"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// mostTurns of found and final state are taken where one does not tell them
// apart: what is sure without them ends them.
const mostTurns = 4

// neverSlower holds what the hosts became against what they were found as:
// every step was proven against the one before it, but a machine changes
// meanwhile. Where the looks at both do not show the sum of the gains beyond
// noise, all is put back and set again by turns, for as many looks at each; what
// does not pay then is put back for good.
func (u *tuning) neverSlower(ctx context.Context) error {
	if len(u.kept) == 0 || u.Objective == tune.Latency {
		return nil
	}
	now := u.samplesNow()
	pays, sure := tune.Pays(u.gain, u.foundSamples(), now)
	if sure && pays || pays && u.full(2) != "" {
		return nil
	}
	turns := mostTurns
	if sure {
		turns = 0
	}
	return u.byTurns(ctx, turns, now, func(now []record.Trial) (bool, bool) {
		return tune.Pays(u.gain, u.foundSamples(), now)
	})
}

// byTurns puts all back, and looks at what was found and at what is set again, as
// one change a host, by turns: until holds says of the looks at the latter, to
// which those now belong too, that it stands, or is sure that it does not. What
// neither so many turns nor the budget show to stand goes back for good.
func (u *tuning) byTurns(ctx context.Context, most int, now []record.Trial, holds func(now []record.Trial) (stands, sure bool)) error {
	wanted := u.c.state.Hosts
	if err := u.putBack(); err != nil {
		return err
	}
	for turn, sure := 0, false; turn < most && !sure && u.full(2) == ""; turn++ {
		changes, b, err := u.turn(ctx, wanted)
		if err != nil {
			return errors.Join(err, u.c.revert(changes), u.asFound())
		}
		now = append(now, b.Trial)
		var stands bool
		if stands, sure = holds(now); stands {
			return u.stand(changes, now)
		}
		if err := u.c.revert(changes); err != nil {
			return err
		}
	}
	return u.asFound()
}

// stand confirms changes that were set again, which these looks are at.
func (u *tuning) stand(changes []change, looks []record.Trial) error {
	if err := u.c.confirm(changes); err != nil {
		return errors.Join(err, u.asFound())
	}
	u.kept, u.s.Trials = [][]change{changes}, looks
	return nil
}

// samplesNow are the looks at the present state and traffic.
func (u *tuning) samplesNow() []record.Trial { return u.samplesAt(u.s.Load) }

// samplesAt are those at the present state under a load.
func (u *tuning) samplesAt(l tune.Load) (out []record.Trial) {
	for _, t := range u.s.Trials {
		if same(t, l) {
			out = append(out, t)
		}
	}
	return out
}

// foundSamples are the looks at the hosts and traffic as they were found.
func (u *tuning) foundSamples() []record.Trial {
	if len(u.founds) == 0 {
		return []record.Trial{u.found.Trial}
	}
	return u.founds
}

// best is the look at the present state and traffic that carried most: a
// disturbance only ever lowers a rate.
func (u *tuning) best() (best record.Trial, ok bool) {
	for _, t := range u.samplesNow() {
		if !ok || t.Goodput > best.Goodput {
			best, ok = t, true
		}
	}
	return best, ok
}

// turn looks at what was found, then sets the hosts again as one change each and
// looks at that.
func (u *tuning) turn(ctx context.Context, wanted map[string]netstate.Host) ([]change, look, error) {
	a, err := u.look(ctx, u.foundLoad(), asked{step: "as-found", again: true})
	if err != nil {
		return nil, a, err
	}
	u.founds = append(u.foundSamples(), a.Trial)
	return u.setAgain(ctx, wanted)
}

// foundLoad is the traffic that the tune began with.
func (u *tuning) foundLoad() tune.Load {
	l := tune.Load{Traffic: u.s.Traffic}
	l.Traffic.Streams, l.Traffic.Ports, l.Traffic.Pace, l.Traffic.SocketBuffer = u.found.Streams, u.found.Ports, 0, 0
	l.Traffic.Congestion = controlled(u.found.Trial)
	if windowed(u.found.Trial) {
		l.Traffic.SocketBuffer = u.found.Lanes[0].Asked.RcvBuf
	}
	return l
}

// setAgain sets what was put back, as one change a host, and measures it.
func (u *tuning) setAgain(ctx context.Context, wanted map[string]netstate.Host) ([]change, look, error) {
	plans, err := plansTo(u.c.state.Hosts, wanted)
	if err != nil {
		return nil, look{}, err
	}
	changes, err := u.c.carryOut(ctx, plans, u.unconfirmed())
	if err != nil {
		return nil, look{}, err
	}
	if err := u.c.Observe(ctx); err != nil {
		return changes, look{}, err
	}
	b, err := u.look(ctx, u.s.Load, asked{step: "set-again", again: true})
	return changes, b, err
}

// putBack undoes the whole run, as one rollback a host.
func (u *tuning) putBack() error {
	var hosts []string
	for _, changes := range u.kept {
		for _, ch := range changes {
			if !slices.Contains(hosts, ch.host) {
				hosts = append(hosts, ch.host)
			}
		}
	}
	u.kept = nil
	return u.c.revertRun(u.Group, hosts)
}

// asFound is the end of a tune that did not pay: the hosts are as they were, so
// is the traffic, and the steps say so.
func (u *tuning) asFound() error {
	for i := range u.c.record.Steps {
		s := &u.c.record.Steps[i]
		if s.Kept {
			s.Kept, s.Verdict = false, s.Verdict+"; rolled back: all steps together were no faster than what was found"
		}
	}
	for i := range u.out.Settings {
		u.out.Settings[i].Kept = false
	}
	u.gain = 0
	u.s.Load, u.s.Fabric, u.s.Trials = u.foundLoad(), u.c.state, u.foundSamples()
	return nil
}

// doubt follows a proof that is slower than what was found. That may be the
// machine, which changes meanwhile: once, and where the budget allows it, all is
// put back and set again by turns, and the looks of the same minutes count, the
// proof among them. What is slower then too, or cannot be looked at again, goes
// back for good.
func (u *tuning) doubt(ctx context.Context, proof record.Trial) error {
	turns := doubtTurns
	if u.doubted {
		turns = 0
	}
	u.doubted = true
	earlier, founds := u.samplesNow(), len(u.foundSamples())
	err := u.byTurns(ctx, turns, append(earlier, proof), func(now []record.Trial) (bool, bool) {
		return !tune.Slower(tune.Middle(u.founds[founds:]), tune.Middle(now[len(earlier):])), false
	})
	if len(u.kept) > 0 { // it stands: what was seen earlier was of another machine
		u.founds = u.founds[founds:]
	}
	return err
}

// doubtTurns are what one disturbed look of either needs to be outvoted.
const doubtTurns = 2

// prove measures the result in the direction asked for, and of both also each
// way by itself where the budget allows it: the trials of the phase after. A
// result that is slower than what was found is none: all goes back, and what was
// found is measured instead.
func (u *tuning) prove(ctx context.Context) error {
	all := u.proven()
	for i, d := range all {
		if i > 0 && u.Budget.Left(u.spent, 1, u.usual()) != "" {
			break // the proof of both has each way in it already
		}
		more := 0
		for more < len(all)-i-1 && u.Budget.Left(u.spent, more+2, u.usual()) == "" {
			more++
		}
		l, err := u.result(ctx, asked{phase: record.PhaseAfter, direction: d, last: true, more: more})
		if err != nil {
			return err
		}
		if i == 0 && len(u.kept) > 0 && u.Objective != tune.Latency && tune.Slower(tune.Middle(u.foundSamples()), l.Trial) {
			for i, t := range u.c.record.Trials {
				if t.Phase == record.PhaseAfter {
					u.demote(i)
				}
			}
			if err := u.doubt(ctx, l.Trial); err != nil {
				return err
			}
			return u.prove(ctx)
		}
	}
	return nil
}

// result is one proof of the result. One that lies below what the search saw, or
// below the target that it saw reached, is taken again where the budget allows it,
// and the best one counts: a disturbance only ever lowers a rate.
func (u *tuning) result(ctx context.Context, a asked) (look, error) {
	tries, seen := u.tries()
	best, err := u.look(ctx, u.s.Load, a)
	at, again, looks := len(u.c.record.Trials)-1, a, 1
	again.patient, again.more = a.more == 0, 0
	for try := 1; err == nil && try < tries && !asSeen(best.share(), seen, u.Target) && u.Budget.Left(u.spent, looks, u.usual()) == ""; try++ {
		var l look
		if l, err = u.look(ctx, u.s.Load, again); err != nil {
			break
		}
		last := len(u.c.record.Trials) - 1
		if l.Goodput < best.Goodput {
			u.demote(last)
		} else {
			u.demote(at)
			best, at = l, last
		}
		looks = 1 + a.more // a third look is worth no other direction's proof
	}
	return best, err
}

const (
	usualTries = 2
	// disturbedTries are those of a result whose looks differ, and not because
	// packets are lost.
	disturbedTries = 4
)

// tries is how often a proof may be taken, and the share of the ceiling that it
// is to bear out: of looks that something disturbed the best one's.
func (u *tuning) tries() (most int, seen float64) {
	if best, ok := u.best(); ok && !u.lossy && tune.Scattered(u.samplesNow()) {
		return disturbedTries, share(best)
	}
	newest, _ := u.newest()
	return usualTries, share(newest)
}

func (l look) share() float64 { return share(l.Trial) }

// share is what part of the ceiling a trial reached; 1 where there is none.
func share(t record.Trial) float64 {
	if t.Ceiling <= 0 {
		return 1
	}
	return float64(t.Goodput / t.Ceiling)
}

// asSeen reports a proof's share of the ceiling that bears out the share that the
// search saw.
func asSeen(share, seen, target float64) bool {
	return share >= target || seen < target && share >= (1-disturbedBy)*seen
}

// disturbedBy is how far a proof may lie below the search's own look.
const disturbedBy = 0.005

// proven are the directions of the proof.
func (u *tuning) proven() []flow.Direction {
	if u.Direction == flow.Both {
		return []flow.Direction{flow.Both, flow.Forward, flow.Reverse}
	}
	return []flow.Direction{u.Direction}
}

// demote makes a trial one of the steps: a result has one proof.
func (u *tuning) demote(i int) {
	t := &u.c.record.Trials[i]
	t.Phase, t.Step = record.PhaseStep, "proof"
	if f := t.Finding; f != nil {
		f.Phase, f.Step = record.PhaseStep, "proof"
	}
}
