// Package campaign is the loop: observe, predict, measure, diagnose, tune,
// apply, measure again, keep or revert. It joins the stages and decides
// nothing that a stage below could decide.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/fleet"
	"github.com/linerate/linerate/internal/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Config is a campaign to run.
type Config struct {
	Fabric  fabric.Fabric
	Version string
	// BackEnd and BackEndWhy say which lab this runs in; "" on real hosts.
	BackEnd, BackEndWhy string
	JournalDir          string
	Unguarded           bool         // as fleet.Config
	Logger              *slog.Logger // nil is silence
	// Tell is told what happens, as it happens; nil is nobody.
	Tell func(Event)
	Now  func() time.Time // nil is time.Now
}

// Campaign is the hosts of a fabric, reached, and what has been learned.
type Campaign struct {
	cfg   Config
	hosts map[string]*fleet.Host
	// unreached are the hosts that could not be reached, and why.
	unreached map[string]error
	state     predict.Fabric // merged: what holds now
	paths     []fabric.Path  // with what was measured of them
	record    record.Record

	differences []fabric.Difference
}

// Open reaches every host that the fabric says how to reach, and observes it.
// Hosts without reach stay declared. Close lets go of them.
func Open(ctx context.Context, cfg Config) (*Campaign, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Tell == nil {
		cfg.Tell = func(Event) {}
	}
	c := &Campaign{cfg: cfg, hosts: make(map[string]*fleet.Host), unreached: make(map[string]error), paths: append([]fabric.Path(nil), cfg.Fabric.Paths...)}
	started := cfg.Now().UTC()
	c.record = record.Record{
		Schema: record.Schema, ID: started.Format("20060102T150405.000Z"), Started: started, Linerate: cfg.Version,
		Fabric:      record.Fabric{File: cfg.Fabric.File, Text: cfg.Fabric.Text, Paths: cfg.Fabric.Paths},
		Environment: record.Environment{BackEnd: cfg.BackEnd, Why: cfg.BackEndWhy},
		Latency:     []record.Latency{}, Trials: []record.Trial{},
	}
	for _, h := range cfg.Fabric.Hosts {
		if h.Reach == "" {
			continue
		}
		host, err := fleet.Dial(ctx, h.Name, h.Reach, fleet.Config{Version: cfg.Version, JournalDir: cfg.JournalDir, Unguarded: cfg.Unguarded, Logger: cfg.Logger})
		if ctx.Err() != nil || errors.Is(err, fleet.ErrReach) {
			return nil, errors.Join(err, c.Close())
		}
		if err != nil { // its pairs fail, the others need not
			c.unreached[h.Name] = err
			continue
		}
		c.hosts[h.Name] = host
		c.record.Environment.Kernel = host.Hello.Kernel
	}
	if len(c.hosts) < 2 && len(c.unreached) > 0 {
		return nil, errors.Join(c.firstUnreached(), c.Close())
	}
	if err := c.Observe(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	for _, h := range cfg.Fabric.Hosts {
		c.record.Environment.Hosts = append(c.record.Environment.Hosts, c.state.Hosts[h.Name])
	}
	return c, nil
}

// firstUnreached is the error of the first host, in file order, that could
// not be reached.
func (c *Campaign) firstUnreached() error {
	for _, h := range c.cfg.Fabric.Hosts {
		if err := c.unreached[h.Name]; err != nil {
			return err
		}
	}
	return nil
}

// Close lets go of every host; traffic that still ran ends.
func (c *Campaign) Close() error {
	var errs []error
	for _, h := range c.hosts {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

// State is the merged state of file and hosts.
func (c *Campaign) State() predict.Fabric { return c.state }

// Differences are where file and hosts disagreed.
func (c *Campaign) Differences() []fabric.Difference { return c.differences }

// Record is what was measured so far.
func (c *Campaign) Record() record.Record { return c.record }

// Observe reads every reached host anew and merges it with the file.
func (c *Campaign) Observe(ctx context.Context) error {
	state := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: c.paths}
	c.differences = nil
	for _, h := range c.cfg.Fabric.Hosts {
		declared, err := c.cfg.Fabric.State(h.Name)
		if err != nil {
			return err
		}
		host, reached := c.hosts[h.Name]
		if !reached {
			state.Hosts[h.Name] = declared
			continue
		}
		reply, err := host.Observe(ctx)
		if err != nil {
			return fmt.Errorf("observe %s: %w", h.Name, err)
		}
		merged, differences := fabric.Merge(declared, h, reply.Host)
		merged.Name = h.Name
		state.Hosts[h.Name] = merged
		c.differences = append(c.differences, differences...)
	}
	if len(state.Paths) == 0 {
		state.Paths = c.commonSubnets(state)
	}
	c.state, c.paths = state, state.Paths
	return nil
}

// commonSubnets are the paths of a file that names none: what it declares
// says where hosts meet, else what was observed.
func (c *Campaign) commonSubnets(state predict.Fabric) []fabric.Path {
	if paths := c.cfg.Fabric.EffectivePaths(); len(paths) > 0 {
		return paths
	}
	var hosts []netstate.Host
	for _, h := range c.cfg.Fabric.Hosts {
		hosts = append(hosts, state.Hosts[h.Name])
	}
	return fabric.PathsBetween(hosts)
}

// network is the campaign's hosts as measure wants them.
func (c *Campaign) network() measure.Network {
	n := measure.Network{Endpoints: make(map[string]measure.Endpoint), Fabric: c.state, Machines: make(map[string]string)}
	for name, h := range c.hosts {
		n.Endpoints[name], n.Machines[name] = h, h.Hello.Machine
	}
	return n
}

// reached reports whether both ends of a path can be measured.
func (c *Campaign) reached(p fabric.Path) error {
	for _, name := range []string{p.From, p.To} {
		if err := c.unreached[name]; err != nil {
			return err
		}
		if c.hosts[name] == nil {
			return fmt.Errorf("measure %s to %s: %w: hosts.%s.reach is not set", p.From, p.To, fleet.ErrUnreachable, name)
		}
	}
	return nil
}

// Latency measures the round trip of every path, each way, and sets the
// paths' RTT where the file does not declare one.
func (c *Campaign) Latency(ctx context.Context) error {
	for i, p := range c.state.Paths {
		if c.reached(p) != nil {
			continue // its trials say why
		}
		for _, way := range [][2]string{{p.From, p.To}, {p.To, p.From}} {
			l, err := measure.Latency(ctx, c.network(), way[0], way[1])
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				f := record.Failure{From: way[0], To: way[1], Error: err.Error()}
				c.record.Failures = append(c.record.Failures, f)
				c.cfg.Tell(Event{Kind: Failed, Failure: &f})
				continue
			}
			c.record.Latency = append(c.record.Latency, l)
			c.cfg.Tell(Event{Kind: Pinged, Latency: &l})
			if p.RTT == 0 && l.AvgMS > 0 {
				c.state.Paths[i].RTT = time.Duration(l.AvgMS * float64(time.Millisecond))
			}
		}
	}
	return nil
}

// Matrix is a set of trials to run.
type Matrix struct {
	// Base is what every trial of the set has in common, besides what the
	// other fields say.
	Base       measure.Spec
	Phase      record.Phase
	Streams    []int
	Directions []flow.Direction
	Ports      string // "chosen" or "kernel"
	Duration   time.Duration
	// DurationAt is the window of some stream counts that want another one.
	DurationAt map[int]time.Duration
	Longest    time.Duration
	Buffer     unit.Bytes
	CeilingMTU int
}

// Run measures every path in every direction at every stream count, predicts
// each trial before and diagnoses it after. A pair that fails is recorded and
// the others go on; only the end of ctx stops the run.
func (c *Campaign) Run(ctx context.Context, m Matrix) error {
	total := len(c.state.Paths) * len(m.Streams) * len(m.Directions)
	done := 0
	for _, p := range c.state.Paths {
		for _, streams := range m.Streams {
			for _, d := range m.Directions {
				spec := m.Base
				spec.From, spec.To, spec.Direction, spec.Streams, spec.Ports = p.From, p.To, d, streams, m.Ports
				spec.SocketBuffer, spec.Duration, spec.Longest = m.Buffer, m.Duration, m.Longest
				spec.Phase, spec.CeilingMTU = m.Phase, m.CeilingMTU
				if d, ok := m.DurationAt[streams]; ok {
					spec.Duration = d
				}
				t, err := c.trial(ctx, spec)
				done++
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					f := record.Failure{From: p.From, To: p.To, Direction: d, Streams: streams, Error: err.Error()}
					c.record.Failures = append(c.record.Failures, f)
					c.cfg.Tell(Event{Kind: Failed, Failure: &f, Done: done, Total: total})
					continue
				}
				c.cfg.Tell(Event{Kind: Measured, Trial: &t, Done: done, Total: total})
			}
		}
	}
	return nil
}

// trial runs one trial, with its prediction and its finding, and keeps it.
func (c *Campaign) trial(ctx context.Context, spec measure.Spec) (record.Trial, error) {
	if err := c.reached(fabric.Path{From: spec.From, To: spec.To}); err != nil {
		return record.Trial{}, err
	}
	cfg := measure.Config{Network: c.network(), Logger: c.cfg.Logger, Progress: func(p measure.Progress) {
		c.cfg.Tell(Event{Kind: Running, Progress: &p})
	}}
	t, err := measure.Run(ctx, cfg, spec)
	if err != nil {
		return t, err
	}
	prediction, err := predict.Predict(c.state, predict.Traffic{
		From: spec.From, To: spec.To, Direction: spec.Direction, Streams: spec.Streams, Protocol: "tcp", Ports: spec.Ports, SocketBuffer: spec.SocketBuffer,
	})
	if err == nil {
		t.Predicted, t.Limit = prediction.Rate, prediction.Limit
	}
	finding := diagnose.Trial(c.state, t)
	t.Finding = &finding
	c.record.Trials = append(c.record.Trials, t)
	return t, nil
}

// Findings are the findings of all trials so far.
func (c *Campaign) Findings() []record.Finding {
	var out []record.Finding
	for _, t := range c.record.Trials {
		if t.Finding != nil {
			out = append(out, *t.Finding)
		}
	}
	return out
}

// Finish notes the state of the hosts at the end of a run that changed them.
func (c *Campaign) Finish() {
	names := make([]string, 0, len(c.state.Hosts))
	for name := range c.state.Hosts {
		names = append(names, name)
	}
	slices.Sort(names)
	c.record.Environment.After = nil
	for _, name := range names {
		c.record.Environment.After = append(c.record.Environment.After, c.state.Hosts[name])
	}
}
