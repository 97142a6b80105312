package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// Together measures all paths at the same time, in one window, at every stream
// count and direction of the set. The trials of one window share a group, and
// the record gains their sum beside what hosts and links let through together.
// A group in which one pair fails is a failure of all its pairs.
func (c *Campaign) Together(ctx context.Context, m Matrix) error {
	r := &run{c: c, total: len(c.state.Paths) * len(m.Streams) * len(m.Directions), begun: c.cfg.Now()}
	c.asked(m, r.total)
	r.tell(Event{Kind: Planned, Rounds: len(m.Streams) * len(m.Directions)})
	var paths []fabric.Path
	for _, p := range c.state.Paths {
		err := c.reached(p)
		if err == nil {
			paths = append(paths, p)
			continue
		}
		for _, f := range unmade(m, p, err) {
			if err := r.failed(f); err != nil {
				return err
			}
		}
	}
	var err error
	if c.care, err = c.careFor(ctx, m.Care); err != nil {
		return err
	}
	defer c.careless()
	for _, streams := range m.Streams {
		for _, d := range m.Directions {
			if len(paths) == 0 || c.care.Halt(0) != "" {
				break
			}
			if err := r.group(ctx, m, paths, streams, d); err != nil {
				return err
			}
		}
	}
	return c.endedEarly(c.care, r.done, r.total)
}

// unmade are the failures of a pair that cannot be reached.
func unmade(m Matrix, p fabric.Path, err error) (all []record.Failure) {
	for _, streams := range m.Streams {
		for _, d := range m.Directions {
			all = append(all, record.Failure{From: p.From, To: p.To, Direction: d, Streams: streams, Error: err.Error()})
		}
	}
	return all
}

// group measures the paths in one window and keeps the trials and their sum.
func (r *run) group(ctx context.Context, m Matrix, paths []fabric.Path, streams int, d flow.Direction) error {
	c := r.c
	var specs []measure.Spec
	for _, p := range paths {
		spec := m.spec(p, streams, d)
		spec.Group = fmt.Sprintf("%s %d", d, streams)
		specs = append(specs, spec)
	}
	if left, err := r.untried(specs); err != nil || len(left) == 0 {
		return err
	}
	trials, err := c.together(ctx, specs, func(p measure.Progress) {
		r.tell(Event{Kind: Running, Progress: &p, Together: len(specs)})
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, measure.ErrHalted) {
		return nil // Together says why, once for all
	}
	if err != nil {
		for _, s := range specs {
			if err := r.failed(failureOf(s, besides(s, err))); err != nil {
				return err
			}
		}
		return nil
	}
	g := c.sum(specs, trials)
	if err := c.keep(func(rec *record.Record) {
		rec.Trials, rec.Groups = append(rec.Trials, trials...), append(rec.Groups, g)
	}); err != nil {
		return err
	}
	for i := range trials {
		r.count()
		r.tell(Event{Kind: Measured, Trial: &trials[i]})
	}
	r.tell(Event{Kind: Summed, Group: &g})
	return nil
}

// besides is the error of a round as one pair of it has it: where another pair
// failed, it is said which.
func besides(s measure.Spec, err error) error {
	var of *measure.PairError
	if !errors.As(err, &of) || of.From == s.From && of.To == s.To {
		return err
	}
	return fmt.Errorf("not measured, as %s to %s failed, which is measured at the same time: %w", of.From, of.To, err)
}

// together measures specs in one window and judges each trial.
func (c *Campaign) together(ctx context.Context, specs []measure.Spec, tell func(measure.Progress)) ([]record.Trial, error) {
	specs = slices.Clone(specs)
	for i, s := range specs {
		if err := errors.Join(c.passable(s), c.subflowsStay(s)); err != nil {
			return nil, err
		}
		var err error
		if specs[i], err = measure.ByDevice(c.network(), s); err != nil {
			return nil, err
		}
	}
	var loaded []record.Latency
	cfg := c.measuring(tell)
	cfg.Pinged = func(l []record.Latency) { loaded = l }
	trials, err := c.countedBySwitches(ctx, func() ([]record.Trial, error) { return measure.Together(ctx, cfg, specs) })
	if err != nil {
		for _, s := range specs {
			err = c.blamed(s, err)
		}
		return nil, err
	}
	if err := c.pingedLoaded(loaded); err != nil {
		return nil, err
	}
	for i := range trials {
		c.judge(ctx, &trials[i], specs[i])
	}
	return trials, nil
}

// sum adds trials of one window up, with the ceiling of all together.
func (c *Campaign) sum(specs []measure.Spec, trials []record.Trial) record.Group {
	g := record.Sum(trials)
	var all []predict.Traffic
	for _, s := range specs {
		all = append(all, s.Traffic())
	}
	ceiling, limit, err := predict.CeilingTogether(c.state, all)
	if err == nil {
		g.Ceiling, g.Limit = ceiling, limit
	}
	g.Notes = append(g.Notes, record.CheckGroup(trials, g.Ceiling)...)
	return g
}
