package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/analysis/series"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// round is trials that start together and share one window.
type round struct {
	cfg     Config
	asked   Spec // the first, which stands for all in what is told of the round
	trials  []*trial
	ends    ends          // of all trials
	known   series.Series // of them, so far
	started time.Time
	warmUp  time.Duration
	notes   []string
	settled bool // the window's beginning moves no more
	stalled bool // nothing arrived: there is nothing to wait for
	loaded  []*loadedSeries
	counted unit.Bytes // that cfg.Care was told of
	failing bool       // a link is made to fail: sample often
	late    lateness   // of that
}

// runRound carries out trials at the same time and returns their results, in
// the order of the specs, and the deepest dip of their sum. Everything it
// opened is closed when it returns.
func runRound(ctx context.Context, cfg Config, specs []Spec) ([]record.Trial, float64, error) {
	if len(specs) > 0 && specs[0].Tool != "" {
		return runTools(ctx, cfg, specs)
	}
	r := newRound(cfg, specs)
	defer func() {
		for _, t := range r.trials {
			t.finish()
		}
	}()
	r.report("connecting", 0)
	for _, spec := range specs {
		t := &trial{cfg: cfg, spec: spec, streams: make(map[flow.Direction][]agentapi.Stream), started: r.started}
		r.trials = append(r.trials, t)
		if err := t.open(ctx); err != nil {
			return nil, 0, &PairError{From: spec.From, To: spec.To, Err: err}
		}
		r.ends = append(r.ends, t.ends...)
	}
	r.report("warming up", 0)
	if err := r.start(ctx); err != nil {
		return nil, 0, err
	}
	if err := r.warm(ctx); err != nil {
		return nil, 0, err
	}
	stopPings, stopFailing := r.pingLoaded(ctx), r.failLinks(ctx)
	stop, err := r.window(ctx)
	stopPings()
	if err = errors.Join(err, stopFailing()); err != nil {
		return nil, 0, err
	}
	if err := r.conclude(ctx); err != nil {
		return nil, 0, err
	}
	var results []record.Trial
	for _, t := range r.trials {
		t.warmUp, t.notes = r.warmUp, append(t.notes, r.notes...)
		result, err := t.result(stop)
		if err != nil {
			return nil, 0, err
		}
		results = append(results, result)
	}
	if r.cfg.Pinged != nil {
		r.cfg.Pinged(r.latencies(results))
	}
	return results, r.ends.counted().Dip(), nil
}

// PairError is an error of one pair of a round: those measured with it are not
// measured either, and are not to blame.
type PairError struct {
	From, To string
	Err      error
}

func (p *PairError) Error() string { return p.Err.Error() }
func (p *PairError) Unwrap() error { return p.Err }

func newRound(cfg Config, specs []Spec) *round {
	r := &round{cfg: cfg, started: time.Now()}
	if len(specs) > 0 {
		r.asked = specs[0]
	}
	return r
}

// start lets every sending end send.
func (r *round) start(ctx context.Context) error {
	for _, e := range r.ends {
		if !e.sending || r.idle() {
			continue
		}
		if _, err := ask.Call(ctx, e.at, agentapi.Start, agentapi.StartRequest{Session: e.session}); err != nil {
			return fmt.Errorf("start streams of %s: %w", e.host, err)
		}
	}
	return nil
}

// ends are sessions that are sampled together.
type ends []*end

// take samples every end at once.
func (es ends) take(ctx context.Context) error {
	errs := make(chan error, len(es))
	for _, e := range es {
		go func() {
			reply, err := ask.Call(ctx, e.at, agentapi.ReadSamples, agentapi.SampleRequest{Session: e.session, Since: len(e.samples)})
			if err == nil && len(reply.Errors) > 0 {
				err = fmt.Errorf("%s: %s", e.host, reply.Errors[0])
			}
			if err == nil {
				err = e.add(reply.Samples)
			}
			errs <- err
		}()
	}
	var all []error
	for range es {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}
