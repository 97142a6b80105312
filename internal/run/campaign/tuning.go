package campaign

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// Tuning is how to tune.
type Tuning struct {
	Path      fabric.Path
	Direction flow.Direction // of the proofs
	// Duration is each proof's window; zero is one that the round trip asks for.
	Duration time.Duration
	// Thorough proves each change by itself and also tries what the load of the
	// links already rules out.
	Thorough bool
	// Target is the share of the ceiling that is wanted; zero is
	// tune.DefaultTarget. Above it only what the prediction is sure of is tried.
	Target    float64
	Objective tune.Objective
	// LatencyBound is the longest p99 under load, of the objective Latency.
	LatencyBound time.Duration
	Budget       tune.Budget
	// Bounce is the consent to changes in which a port, a link or a bond carries
	// nothing for seconds; they come last.
	Bounce bool
	// Group and Title name the changes in the hosts' journals: one rollback of
	// the group undoes them. "" is the record's ID.
	Group, Title string
	// Bare leaves the trials of the phases before and after to the caller, the
	// budget aside, and what only the evidence asks for untried, buffers
	// excepted.
	Bare bool
	// Approve is shown the plans of a step before anything is touched; false
	// skips the step. Nil approves: the caller has asked already.
	Approve func(record.Step, []plan.Plan) (bool, error)
	// CeilingMTU is the MTU the ceiling is computed at.
	CeilingMTU int
	// Within are the only ports that receivers may listen on; nil is any.
	Within *flow.PortRange
}

// LongestProof is the longest window of a proof.
const LongestProof = 30 * time.Second

// tuning is a tune that runs.
type tuning struct {
	c *Campaign
	Tuning
	s     tune.State
	spent tune.Spent
	found look // the hosts and traffic as they were found
	// founds are all looks at them, found the first.
	founds []record.Trial
	// kept are the confirmed changes of each step that was kept, oldest first; of
	// a step of traffic alone there are none.
	kept [][]change
	// gain is what the prediction expects of all steps that were kept, together.
	gain float64
	// doubted: a slow proof was looked at again by turns.
	doubted bool
	// owed is how many looks at the first traffic the step in progress takes yet.
	owed int
	// lossy is set once a look has shown losses on a path without a queue.
	lossy bool
	out   record.Tuning
}

// Tune searches the settings and the traffic that reach the ceiling at the
// least cost: one change after the other, each proven by a measurement before
// and after it under the same traffic, what does not help put back. It returns
// the traffic that carried most; the record's Tuning says the rest. When ctx
// ends in the middle of a step that step is put back.
func (c *Campaign) Tune(ctx context.Context, t Tuning) (tune.Load, error) {
	u := c.begin(t)
	err := u.run(ctx)
	u.close()
	return u.s.Load, err
}

// begin is a tune that has measured nothing yet.
func (c *Campaign) begin(t Tuning) *tuning {
	u := &tuning{c: c, Tuning: t}
	if u.Group == "" {
		u.Group = c.record.ID
	}
	if u.Target <= 0 {
		u.Target = tune.DefaultTarget
	}
	alone := predict.Between(t.Path.From, t.Path.To, t.Direction, 1)
	alone.Protocol, alone.Ports = "tcp", predict.PortsKernel
	u.s = tune.State{
		Fabric: c.state, Tried: make(map[tune.Name]bool), Refused: make(map[tune.Name]bool), Thorough: t.Thorough, Target: u.Target, CeilingMTU: t.CeilingMTU,
		Objective: t.Objective, Bound: t.LatencyBound, Calm: !t.Bounce && !t.Bare,
		Load:   tune.Load{Traffic: alone},
		Trials: c.record.Trials,
	}
	u.out = record.Tuning{Group: u.Group, Objective: "throughput", Target: u.Target, Settings: []record.Setting{}}
	if t.Objective != "" {
		u.out.Objective = string(t.Objective)
	}
	return u
}

// run is the whole tune. What an error leaves in place has been proven.
func (u *tuning) run(ctx context.Context) error {
	if u.Bare {
		return u.search(ctx)
	}
	found, err := u.look(ctx, u.s.Load, asked{phase: record.PhaseBefore})
	if err != nil {
		return err
	}
	u.found, u.founds, u.s.Trials, u.s.Loaded = found, []record.Trial{found.Trial}, []record.Trial{found.Trial}, found.loaded
	if err := u.search(ctx); err != nil {
		return err
	}
	if err := u.neverSlower(ctx); err != nil {
		return err
	}
	return u.prove(ctx)
}

// close notes what the run came to.
func (u *tuning) close() {
	l := u.s.Load
	u.out.Windows, u.out.Traffic = u.spent.Windows, u.spent.Traffic.Seconds()
	u.out.Load = record.TunedLoad{Streams: l.Traffic.Streams, Ports: l.Traffic.Ports, Pace: l.Traffic.Pace, ZeroCopy: l.ZeroCopy, SocketBuffer: l.Traffic.SocketBuffer, Congestion: l.Traffic.Congestion}
	u.c.record.Tuning = &u.out
}

// search tries what is worth it until nothing is, or the budget is spent.
func (u *tuning) search(ctx context.Context) error {
	for {
		proposals := tune.Propose(u.s)
		if u.Bare { // no budget bounds what nobody is sure of, but what a story tells
			proposals = slices.DeleteFunc(proposals, func(p tune.Proposal) bool { return p.Unsure && p.Name != tune.Buffers })
		}
		if len(proposals) == 0 {
			u.out.Stopped = "nothing left to try"
			u.leaveBouncing()
			if t, ok := u.newest(); ok && t.Ceiling > 0 && float64(t.Goodput) >= u.Target*float64(t.Ceiling) {
				u.out.Stopped = "target"
			}
			return nil
		}
		p := proposals[0]
		if why := u.full(u.needs(p)); why != "" {
			u.out.Stopped = why
			for _, p := range proposals {
				u.leave(p, wanting(why))
			}
			return nil
		}
		if err := u.try(ctx, p); err != nil {
			return err
		}
	}
}

// wanting says what there was too little of, by a word of tune.Budget's.
func wanting(why string) string {
	if why == "windows" {
		return "the measurements allowed are used up (--max-windows)"
	}
	return "the traffic allowed is used up (--max-seconds)"
}

// newest is the latest trial of the present state and traffic.
func (u *tuning) newest() (record.Trial, bool) {
	for i := len(u.s.Trials) - 1; i >= 0; i-- {
		if same(u.s.Trials[i], u.s.Load) {
			return u.s.Trials[i], true
		}
	}
	return record.Trial{}, false
}

// leaveBouncing notes what is left for want of consent.
func (u *tuning) leaveBouncing() {
	if !u.s.Calm {
		return
	}
	bold := u.s
	bold.Calm = false
	for _, p := range tune.Propose(bold) {
		if p.Bounces {
			u.leave(p, "traffic stops for seconds, which needs consent")
		}
	}
}

// leave notes a remedy that was not tried.
func (u *tuning) leave(p tune.Proposal, why string) {
	u.out.Left = append(u.out.Left, fmt.Sprintf("%s: %s", p.Change, why))
}

// try carries one proposal through and goes on from the state that it leads
// to.
func (u *tuning) try(ctx context.Context, p tune.Proposal) error {
	u.s.Tried[p.Key] = true
	if !p.Unsure { // what does not pay together may pay alone
		for _, key := range p.Keys {
			u.s.Tried[key] = true
		}
	}
	r, b, err := u.step(ctx, p)
	if r != nil {
		u.c.record.Steps = append(u.c.record.Steps, *r.step)
		u.c.cfg.Tell(Event{Kind: Proven, Step: r.step})
	}
	switch {
	case err != nil || r == nil:
	case r.step.Kept:
		u.goOn(p, r.bs, b)
		if p.Unsure {
			u.forget(tune.MTU, tune.Buffers, tune.HashPolicy) // hidden until now by what is mended
			if p.Name == tune.Streams {
				u.forget(tune.Congestion) // one stream's loss was another matter
			}
		}
	case p.Name == tune.Streams && p.Unsure: // still more will not help either
		u.s.Tried[tune.Streams] = true
	}
	u.s.Fabric = u.c.state
	return err
}

// goOn is the state after a step that was kept, seen by these looks, of which b
// was decisive.
func (u *tuning) goOn(p tune.Proposal, bs []look, b look) {
	u.s.Load = p.Load
	if p.Hosts != nil {
		u.s.Trials = nil // measured in a state that is no more
		u.forgetStreams(p)
	}
	for _, l := range bs {
		if !l.Started.Equal(b.Started) {
			u.s.Trials = append(u.s.Trials, l.Trial)
		}
	}
	u.s.Trials, u.s.Loaded = append(u.s.Trials, b.Trial), b.loaded
}

// forgetStreams lets numbers of streams be tried again that did not help under
// another congestion control or bonding mode.
func (u *tuning) forgetStreams(p tune.Proposal) {
	if slices.Contains(p.Moves, tune.Congestion) || slices.Contains(p.Moves, tune.BondMode) {
		u.forget(tune.Streams)
	}
}

// forget lets these moves be tried again, whatever came of them before.
func (u *tuning) forget(moves ...tune.Name) {
	for key := range u.s.Tried {
		if slices.ContainsFunc(moves, func(m tune.Name) bool { return strings.HasPrefix(string(key), string(m)) }) {
			delete(u.s.Tried, key)
		}
	}
}
