package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/run/rounds"
	"github.com/linerate/linerate/record"
)

// Matrix is a set of trials to run.
type Matrix struct {
	// Base is what every trial of the set has in common, besides what the
	// other fields say.
	Base  measure.Spec
	Phase record.Phase
	// Pairs is how the pairs were chosen, as Sample was asked; nil is all.
	Pairs      *int `json:",omitempty"`
	Streams    []int
	Directions []flow.Direction
	Ports      string // "chosen" or "kernel"
	Duration   time.Duration
	// DurationAt is the window of some stream counts that want another one.
	DurationAt map[int]time.Duration
	Longest    time.Duration
	CeilingMTU int
	// Loaded is the latency series to take during the trial of most streams of
	// each pair and direction; nil is none.
	Loaded *measure.Pings
	// Pings is how idle latency is measured, see Config.
	Pings measure.Pings `json:"-"`
	// Care bounds the run; it is no part of what is measured.
	Care Care `json:"-"`
}

// spec is one trial of the set.
func (m Matrix) spec(p fabric.Path, streams int, d flow.Direction) measure.Spec {
	spec := m.Base
	spec.From, spec.To, spec.Direction, spec.Streams, spec.Ports = p.From, p.To, d, streams, m.Ports
	spec.Duration, spec.Longest, spec.Phase, spec.CeilingMTU = m.Duration, m.Longest, m.Phase, m.CeilingMTU
	if d, ok := m.DurationAt[streams]; ok {
		spec.Duration = d
	}
	if m.Loaded != nil && streams == slices.Max(m.Streams) {
		spec.Loaded = m.Loaded
	}
	return spec
}

// batch is trials that run at the same time: they share no host, no machine
// and no declared link, and are of one kind.
type batch struct {
	specs []measure.Spec
	kind  string
	// thought is how long it is thought to take before any was measured.
	thought time.Duration
}

// What a trial takes beside its window, and what its window takes where the
// stop rule ends it: to begin with, until the first was measured.
const (
	besideWindow = 800 * time.Millisecond
	usualWindow  = 4 * time.Second
)

// batches are the trials of the set in the order they run, and the number of
// rounds that the pairs take.
func (c *Campaign) batches(m Matrix, paths []fabric.Path) ([]batch, int) {
	turns := rounds.Rounds(c.tests(paths))
	var out []batch
	for _, round := range turns {
		for _, streams := range m.Streams {
			for _, d := range m.Directions {
				b := batch{kind: fmt.Sprintf("%s %d", d, streams)}
				for _, i := range round {
					spec := m.spec(paths[i], streams, d)
					b.specs = append(b.specs, spec)
					b.thought = max(b.thought, thought(spec))
				}
				out = append(out, b)
			}
		}
	}
	return out, len(turns)
}

// widest is the most trials that run at the same time.
func widest(batches []batch) int {
	n := 0
	for _, b := range batches {
		n = max(n, len(b.specs))
	}
	return n
}

func thought(s measure.Spec) time.Duration {
	if s.Tool != "" {
		return s.ToolTakes()
	}
	window := usualWindow
	switch {
	case s.Duration > 0:
		window = s.Duration
	case s.Longest > 0:
		window = min(window, s.Longest)
	}
	return window + besideWindow
}

// tests are paths as schedule wants them. Hosts of one machine share its
// processors, so their pairs take turns.
func (c *Campaign) tests(paths []fabric.Path) []rounds.Test {
	hosts := make(map[string]int) // by machine
	for _, h := range c.hosts {
		hosts[h.Hello.Machine]++
	}
	var out []rounds.Test
	for _, p := range paths {
		t := rounds.Test{A: p.From, B: p.To}
		for _, name := range []string{p.From, p.To} {
			h := c.hosts[name]
			if h == nil || h.Hello.Machine == "" || hosts[h.Hello.Machine] < 2 {
				continue
			}
			t.Over = append(t.Over, "machine "+h.Hello.Machine)
		}
		out = append(out, t)
	}
	return out
}

// run is a matrix that is being measured.
type run struct {
	c     *Campaign
	pace  rounds.Pace
	left  []batch
	begun time.Time // of the batch that runs

	mu          sync.Mutex // guards what follows, and the order of events
	done, total int
	denied      map[string]record.Failure // by target that listens
	again       []measure.Spec            // put off: a host was left out
}

// Run measures every path in every direction at every stream count, predicts
// each trial before and diagnoses it after. Pairs that share no host, machine
// or link are measured at the same time. A pair that fails is recorded and the
// others go on; only the end of ctx, or a record that cannot be kept, stops
// the run. Hosts that do not answer are left out, and tried once more at the end. What the record of a resumed run has already is not measured again.
func (c *Campaign) Run(ctx context.Context, m Matrix) error {
	r := &run{c: c}
	var reachable []fabric.Path
	var fails []record.Failure
	for _, p := range append(slices.Clone(c.state.Paths), c.blindPaths()...) {
		r.total += len(m.Streams) * len(m.Directions)
		err := c.reached(p)
		if err == nil {
			reachable = append(reachable, p)
			continue
		}
		for _, streams := range m.Streams {
			for _, d := range m.Directions {
				spec := m.spec(p, streams, d)
				if c.downEnd(spec) != nil {
					r.put(spec)
					continue
				}
				fails = append(fails, record.Failure{From: p.From, To: p.To, Direction: d, Streams: streams, Error: err.Error()})
			}
		}
	}
	batches, turns := c.batches(m, reachable)
	r.left, r.done = c.unmeasured(batches)
	c.asked(m, r.total)
	c.resumable(m)
	r.tell(Event{Kind: Planned, Rounds: turns, Left: r.expect(0), Together: widest(batches)})
	for _, f := range fails {
		if err := r.failed(f); err != nil {
			return err
		}
	}
	var err error
	if c.care, err = c.careFor(ctx, m.Care); err != nil {
		return err
	}
	defer c.careless()
	for len(r.left) > 0 && c.care.Halt(0) == "" {
		if err := r.batch(ctx); err != nil {
			return err
		}
	}
	if err := r.lastTry(ctx, m); err != nil {
		return err
	}
	return c.endedEarly(c.care, r.done, r.total)
}

// expect is how long what is left takes, when the batch that runs has run for
// so long.
func (r *run) expect(elapsed time.Duration) time.Duration {
	var sum time.Duration
	for i, b := range r.left {
		d := r.pace.Expect(b.kind, b.thought)
		if i == 0 {
			d = max(d-elapsed, 0)
		}
		sum += d
	}
	return sum
}

// tell tells an event with how far the run is.
func (r *run) tell(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Done, e.Total = r.done, r.total
	if e.Kind == Running {
		e.Left = r.expect(r.c.cfg.Now().Sub(r.begun))
	}
	r.c.cfg.Tell(e)
}

// batch runs the first batch that is left, and takes it off.
func (r *run) batch(ctx context.Context) error {
	b := r.left[0]
	var err error
	if b.specs, err = r.untried(b.specs); err != nil || len(b.specs) == 0 {
		r.left = r.left[1:]
		return err
	}
	r.begun = r.c.cfg.Now()
	first := r.c.trials()
	errs := make(chan error, len(b.specs))
	for _, spec := range b.specs {
		go func() { errs <- r.trial(ctx, spec, len(b.specs)) }()
	}
	var failed error
	for range b.specs {
		if err := <-errs; err != nil && failed == nil {
			failed = err
		}
	}
	r.c.sortFrom(first, b.specs)
	if failed != nil {
		return failed
	}
	r.pace.Took(b.kind, b.thought, r.c.cfg.Now().Sub(r.begun))
	r.left = r.left[1:]
	return nil
}

// trial runs one trial of a batch and keeps it, or its failure.
func (r *run) trial(ctx context.Context, spec measure.Spec, together int) error {
	t, err := r.c.judged(ctx, spec, func(p measure.Progress) {
		r.tell(Event{Kind: Running, Progress: &p, Together: together})
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, measure.ErrHalted) {
		return nil // Run says why, once for all
	}
	if errors.Is(err, fleet.ErrUnreachable) && r.c.lostOf(ctx, spec) {
		r.put(spec)
		return ctx.Err()
	}
	if err != nil {
		return r.failed(failureOf(spec, err))
	}
	if err := r.c.keep(func(rec *record.Record) { rec.Trials = append(rec.Trials, t) }); err != nil {
		return err
	}
	r.count()
	r.tell(Event{Kind: Measured, Trial: &t, Together: together})
	return nil
}

func (r *run) failed(f record.Failure) error {
	if err := r.c.keep(func(rec *record.Record) { rec.Failures = append(rec.Failures, f) }); err != nil {
		return err
	}
	r.deny(f)
	r.count()
	r.tell(Event{Kind: Failed, Failure: &f})
	return nil
}

func (r *run) count() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
}

// trials is how many trials the record has.
func (c *Campaign) trials() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.record.Trials)
}

// sortFrom puts trials that ran at the same time into the order of their
// specs: which of them ended first says nothing.
func (c *Campaign) sortFrom(first int, specs []measure.Spec) {
	place := make(map[string]int)
	for i, s := range specs {
		place[s.From+" "+s.To] = i
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.record.Trials[first:], func(a, b record.Trial) int {
		return place[a.From+" "+a.To] - place[b.From+" "+b.To]
	})
}

// keep changes the record and has it kept.
func (c *Campaign) keep(change func(*record.Record)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.record)
	if c.cfg.Keep == nil {
		return nil
	}
	return c.cfg.Keep(c.record)
}
