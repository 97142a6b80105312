package campaign

import (
	"context"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// look is a trial of a tune, and the longest p99 under its load; zero where it
// was not asked for.
type look struct {
	record.Trial
	loaded time.Duration
}

// asked is how a look is taken.
type asked struct {
	phase record.Phase
	step  string
	// direction is another than the tune's; "" is that.
	direction flow.Direction
	// patient waits for streams that grow slowly.
	patient bool
	// last may use what is kept for the proof of the result, of which more looks
	// are to follow.
	last bool
	more int
	// again is a look that is to decide what the first did not: a longer one.
	again bool
}

const (
	// A look's window: as long as means of a shaped link settle within half a
	// percent in, and as so many round trips, of which a congestion window takes
	// tens to go up and down; but no longer than a sixteenth of the traffic.
	sampleLeast      = 1200 * time.Millisecond
	sampleRoundTrips = 30
	sampleMost       = 2500 * time.Millisecond
	// lossySample is the window where packets are lost at random: some losses, not
	// one more or less, are to be in it.
	lossySample = 3 * time.Second
	// warmUsual is a look's longest warm-up; HyStart may leave a stream at a
	// third of its share for 8 s, which warmPatient waits for.
	warmUsual   = 2500 * time.Millisecond
	warmPatient = 8 * time.Second
	// warmLeast is the shortest warm-up that is worth a look.
	warmLeast = 500 * time.Millisecond
	// beside is how long the links carry a trial's traffic besides its warm-up
	// and window: while streams connect, until the last sample is in, and while
	// queues and send buffers drain (0.5 to 0.65 s by the links' counters).
	beside = 700 * time.Millisecond
	// tardy is by how much a busy machine ends a window late.
	tardy = 200 * time.Millisecond
	// stale looks are taken again: a machine that others use changes meanwhile.
	stale = 20 * time.Second
)

// windowOf is a look's window, which is longer where much hangs on it; a proof
// of the result is no longer than its part of what is left of the budget.
func (u *tuning) windowOf(a asked) time.Duration {
	switch {
	case u.Duration > 0 || !a.last && !a.again && !u.lossy:
		return u.window()
	case !a.last:
		return u.longer()
	}
	part := (u.Budget.Traffic() - u.spent.Traffic) / time.Duration(a.more+1)
	return max(min(u.longer(), part-warmLeast-beside-tardy), sampleLeast)
}

// longer is the window of a look that much hangs on.
func (u *tuning) longer() time.Duration {
	if u.Duration > 0 {
		return u.Duration
	}
	if u.lossy {
		return lossySample
	}
	return min(2*u.window(), sampleMost)
}

// window is the length of a look's window.
func (u *tuning) window() time.Duration {
	if u.Duration > 0 {
		return u.Duration
	}
	return min(max(sampleLeast, sampleRoundTrips*u.Path.RTT, sampleRoundTrips*u.roundTrip()), sampleMost)
}

// roundTrip is the path's as the campaign knows it.
func (u *tuning) roundTrip() time.Duration {
	for _, p := range u.c.state.Paths {
		if p.From == u.Path.From && p.To == u.Path.To {
			return p.RTT
		}
	}
	return 0
}

// proofs is how many windows the proof of the result takes at least.
func (u *tuning) proofs() int {
	if u.Bare {
		return 0
	}
	return 1
}

// usual is what a look takes as a rule, where much hangs on it.
func (u *tuning) usual() time.Duration { return u.longer() + warmLeast + beside + tardy }

// full says why that many looks more do not fit the budget, beside the proof of
// the result; "" where they do.
func (u *tuning) full(looks int) string {
	if u.Bare {
		return ""
	}
	return u.Budget.Left(u.spent, looks+u.proofs(), u.usual())
}

// searched says why that many looks more do not fit the step in progress, which
// leaves room for the first traffic.
func (u *tuning) searched(looks int) string { return u.full(looks + u.owed) }

// needs is how many looks a try takes at least, if it is to be kept.
func (u *tuning) needs(p tune.Proposal) int {
	if _, fresh := u.lately(p.ProofA); fresh {
		return 1 + u.due(p)
	}
	return 2 + u.due(p)
}

// warm is how long a look may warm up within the budget.
func (u *tuning) warm(a asked) time.Duration {
	most := warmUsual
	if a.patient {
		most = warmPatient
	}
	if u.Bare {
		return max(most, warmPatient)
	}
	reserve := time.Duration(a.more) * u.usual()
	if !a.last {
		reserve = time.Duration(u.proofs()+u.owed) * u.usual()
	}
	return min(most, u.Budget.Traffic()-u.spent.Traffic-reserve-u.windowOf(a)-beside-tardy)
}

// look measures the hosts as they are now under the load, and keeps the trial.
func (u *tuning) look(ctx context.Context, l tune.Load, a asked) (look, error) {
	spec := u.spec(l, a)
	pings := len(u.c.record.Latency)
	t, err := u.c.trial(ctx, spec)
	if err != nil {
		return look{}, err
	}
	u.spent.Windows++
	window := time.Duration(t.Window * float64(time.Second))
	// A machine that ends a window late stops sending late, too.
	u.spent.Traffic += time.Duration(t.WarmUp*float64(time.Second)) + window + beside + max(window-spec.Duration, 0)
	u.lossy = u.lossy || tune.Lossy(t)
	u.c.cfg.Tell(Event{Kind: Measured, Trial: &t})
	return look{t, longestLoaded(u.c.record.Latency[pings:])}, nil
}

func longestLoaded(all []record.Latency) time.Duration {
	longest := 0.0
	for _, l := range all {
		if l.Load != nil {
			longest = max(longest, l.P99MS)
		}
	}
	return time.Duration(longest * float64(time.Millisecond))
}

// spec is the trial of a look.
func (u *tuning) spec(l tune.Load, a asked) measure.Spec {
	t := l.Traffic
	if a.direction != "" {
		t.Direction = a.direction
	}
	if a.phase == "" {
		a.phase = record.PhaseStep
	}
	spec := measure.Spec{
		From: t.From, To: t.To, Direction: t.Direction, Streams: t.Streams, Ports: t.Ports, Lanes: t.Lanes,
		Socket:   record.Socket{SndBuf: t.SocketBuffer, RcvBuf: t.SocketBuffer, Congestion: t.Congestion, Pacing: t.Pace},
		Duration: u.windowOf(a), LongestWarm: max(u.warm(a), warmLeast), Once: !u.Bare, Phase: a.phase, Step: a.step, CeilingMTU: u.CeilingMTU, Within: u.Within,
	}
	if l.ZeroCopy {
		spec.Mode = agentapi.ModeZeroCopy
	}
	if u.Objective == tune.Latency {
		spec.Loaded = &measure.Pings{}
	}
	return spec
}

// same reports a trial of just this load.
func same(t record.Trial, l tune.Load) bool {
	w := l.Traffic
	return t.From == w.From && t.To == w.To && t.Direction == w.Direction && t.Streams == w.Streams && t.Ports == w.Ports &&
		zeroCopied(t) == l.ZeroCopy && paced(t) == (w.Pace > 0) && windowed(t) == (w.SocketBuffer > 0) && controlled(t) == w.Congestion && t.Group == "" && t.Variant == ""
}

func zeroCopied(t record.Trial) bool { return t.Method.Send != "" && t.Method.Send != "write" }

func paced(t record.Trial) bool {
	return slices.ContainsFunc(t.Lanes, func(l record.Lane) bool { return l.Asked != nil && l.Asked.Pacing > unit.BitRate(0) })
}

func windowed(t record.Trial) bool {
	return slices.ContainsFunc(t.Lanes, func(l record.Lane) bool { return l.Asked != nil && l.Asked.RcvBuf > 0 })
}

// controlled is the congestion control that a trial's sockets asked for.
func controlled(t record.Trial) string {
	for _, l := range t.Lanes {
		if l.Asked != nil {
			return l.Asked.Congestion
		}
	}
	return ""
}

// lately is a look at this state under the load that was taken not long ago.
func (u *tuning) lately(l tune.Load) (look, bool) {
	for _, t := range slices.Backward(u.s.Trials) {
		if same(t, l) && (u.Bare || u.c.cfg.Now().Sub(t.Started) < stale) {
			return look{t, u.s.Loaded}, true
		}
	}
	return look{}, false
}

// looked is a look at this state under the load: one taken lately, or a new
// one.
func (u *tuning) looked(ctx context.Context, l tune.Load, name string) (look, error) {
	if a, fresh := u.lately(l); fresh {
		return a, nil
	}
	again, err := u.look(ctx, l, asked{step: name})
	if err == nil && same(again.Trial, u.s.Load) {
		u.s.Trials, u.s.Loaded = append(u.s.Trials, again.Trial), again.loaded
	}
	return again, err
}
