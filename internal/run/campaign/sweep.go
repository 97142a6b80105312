package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
)

// Variant is one value of a sweep.
type Variant struct {
	Value string
	// Lay lays the value over a trial; nil leaves it as it is.
	Lay func(*measure.Spec)
	// MTU is what the hosts' links of a path are set to for the trial, and put
	// back after it; zero leaves them.
	MTU int
}

// Sweep is trials that differ in one setting.
type Sweep struct {
	// Setting is its name, such as "mss".
	Setting  string
	Variants []Variant
	// Repeats is how often each value is measured, by turns: A B A B; zero is
	// three.
	Repeats int
	// Approve is shown what would be done to the hosts before anything is
	// touched, and is asked only where something would; nil approves.
	Approve func([]plan.Plan) (bool, error)
}

// usualRepeats is enough to tell a difference from what runs differ by.
const usualRepeats = 3

// StreamsSetting is the setting whose values are stream counts.
const StreamsSetting = "streams"

// ErrDeclined is a change that the user did not want.
var ErrDeclined = errors.New("the change was declined")

// label is the variant as a trial carries it.
func (s Sweep) label(v Variant) string { return s.Setting + "=" + v.Value }

// Sweep measures every path and direction of the set with each value of a
// setting by turns, so that what changes meanwhile changes for all of them,
// and keeps what came of it in the record. Hosts that a value changes are put
// back before it returns, and by themselves should this process die.
func (c *Campaign) Sweep(ctx context.Context, m Matrix, s Sweep) error {
	if s.Repeats == 0 {
		s.Repeats = usualRepeats
	}
	r := &run{c: c, total: len(c.state.Paths) * len(m.Streams) * len(m.Directions) * len(s.Variants) * s.Repeats}
	var err error
	if err = c.approve(s); err != nil {
		return err
	}
	c.asked(m, r.total)
	if c.care, err = c.careFor(ctx, m.Care); err != nil {
		return err
	}
	defer func() { c.care.stop() }()
	for _, p := range c.state.Paths {
		if err := c.reached(p); err != nil {
			for range s.Repeats * len(s.Variants) {
				for _, f := range unmade(m, p, err) {
					if err := r.failed(f); err != nil {
						return err
					}
				}
			}
			continue
		}
		for _, streams := range m.Streams {
			for _, d := range m.Directions {
				if err := r.sweep(ctx, m, s, p, streams, d); err != nil {
					return err
				}
			}
		}
	}
	return c.endedEarly(c.care, r.done, r.total)
}

// sweep measures one pair and direction with all values, and keeps what came
// of it.
func (r *run) sweep(ctx context.Context, m Matrix, s Sweep, p fabric.Path, streams int, d flow.Direction) (err error) {
	c := r.c
	turns, batches := s.turns(m.spec(p, streams, d))
	mtu := mtuSwitch{c: c, path: p, deadline: standing(m.spec(p, streams, d)) * time.Duration(s.Repeats)}
	defer func() { err = errors.Join(err, mtu.back()) }()
	for i, v := range turns {
		if c.care.Halt(0) != "" {
			break
		}
		r.left = batches[i:]
		if todo, _ := c.unmeasured(batches[i : i+1]); len(todo) == 0 {
			r.count() // a resumed record has it
			continue
		}
		if err := mtu.to(ctx, v.MTU); err != nil {
			return err
		}
		if err := r.batch(ctx); err != nil {
			return err
		}
	}
	return c.swept(s, p, d, streams)
}

// turns are the values in the order they are measured, and the trial of each.
func (s Sweep) turns(spec measure.Spec) (turns []Variant, batches []batch) {
	for range s.Repeats {
		for _, v := range s.Variants {
			one := spec
			one.Variant = s.label(v)
			if v.Lay != nil {
				v.Lay(&one)
			}
			turns = append(turns, v)
			batches = append(batches, batch{specs: []measure.Spec{one}, kind: fmt.Sprintf("%s %d", one.Direction, one.Streams), thought: thought(one)})
		}
	}
	return turns, batches
}

// standing is how long a change has to stand for a trial under it, with all
// its repetitions.
func standing(spec measure.Spec) time.Duration {
	const mostRuns, slack = 3, time.Minute
	return max(unconfirmed, mostRuns*(2*max(thought(spec), spec.Longest)+slack/2)+slack)
}

// swept compares the trials of a sweep and keeps the result, in the place of
// one that an interrupted run has left.
func (c *Campaign) swept(s Sweep, p fabric.Path, d flow.Direction, streams int) error {
	var values []string
	for _, v := range s.Variants {
		values = append(values, v.Value)
	}
	return c.keep(func(r *record.Record) {
		var mine []record.Trial
		for _, t := range r.Trials {
			if t.From == p.From && t.To == p.To && t.Direction == d && (t.Streams == streams || s.Setting == StreamsSetting) {
				mine = append(mine, t)
			}
		}
		result := compare.Sweep(s.Setting, values, mine)
		r.Sweeps = slices.DeleteFunc(r.Sweeps, func(old record.Sweep) bool {
			return old.Setting == result.Setting && old.From == result.From && old.To == result.To && old.Direction == result.Direction && old.Streams == result.Streams
		})
		r.Sweeps = append(r.Sweeps, result)
	})
}
