// Package campaign is the loop: observe, predict, measure, diagnose, tune,
// apply, measure again, keep or roll back. It joins the stages. Don't decide here
// what a stage below could decide.
//
// A tune's samples (looks) are counted against its budget. Don't let one sample
// decide what the prediction did not expect: A and B are measured again by turns
// and their medians decide, for a machine that is busy elsewhere for a moment must
// not decide what a host keeps.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	diagnosetrial "github.com/linerate/linerate/diagnose/trial"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/run/pathcheck"
	"github.com/linerate/linerate/internal/switchwatch"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// Config is a campaign to run.
type Config struct {
	Fabric fabric.Fabric
	// Fleet is how its hosts are reached.
	Fleet fleet.Config
	// BackEnd and BackEndWhy say which lab this runs in; "" on real hosts.
	BackEnd, BackEndWhy string
	// Tell is told what happens, as it happens; nil is nobody.
	Tell func(Event)
	// Keep is given the record each time that something was measured; its
	// error ends the run. Nil keeps it in memory alone.
	Keep func(record.Record) error
	// Resume is an interrupted run's record to go on with; nil begins anew.
	Resume *record.Record
	// Locking keeps other runs off the hosts; nil does not.
	Locking *fleet.Locking
	// Pings is how idle latency is measured.
	Pings measure.Pings
	Now   func() time.Time // nil is time.Now
	// Follow is the fabric as it is now, asked for before the hosts are looked at
	// again: a lab's cables follow their hosts' frames. Nil is Fabric as it was.
	Follow func() (fabric.Fabric, error)
	// Listeners are the hosts of the fabric that an iperf3 server speaks for.
	Listeners map[string]measure.Listener
	// Switches is how the fabric's switches are asked what they count during trials; nil
	// asks none.
	Switches *switchwatch.Config
}

// Campaign is the hosts of a fabric, reached, and what has been learned.
type Campaign struct {
	cfg   Config
	hosts map[string]*fleet.Host
	// unreached are the hosts that could not be reached, and why.
	unreached map[string]error
	// down are hosts that stopped answering while a matrix runs, and why.
	down   map[string]error
	state  predict.Fabric // merged: what holds now
	paths  []fabric.Path  // with what was measured of them
	mu     sync.Mutex     // guards record while trials run at the same time
	record record.Record
	// kept and pinged are what a resumed record has, not yet asked for.
	kept   map[key]int
	pinged map[[2]string]record.Latency

	care        *care // of the matrix that runs; nil is none
	differences []fabric.Difference
	// routes is what was wrong with each pair's routes when they were checked.
	routes map[pair][]pathcheck.Problem
	// seen is what was asked of the network besides trials.
	seen seen
	// watch is the switches that are asked; nil none.
	watch *switchwatch.Watch
}

// Open reaches every host that the fabric says how to reach, and observes it.
// Hosts without reach stay declared. Close lets go of them.
func Open(ctx context.Context, cfg Config) (*Campaign, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Tell = oneByOne(cfg.Tell)
	c := &Campaign{cfg: cfg, hosts: make(map[string]*fleet.Host), unreached: make(map[string]error), down: make(map[string]error), paths: append([]fabric.Path(nil), cfg.Fabric.Paths...)}
	started := cfg.Now().UTC()
	c.record = record.Record{
		Schema: record.Schema, ID: started.Format("20060102T150405.000Z"), Started: started, Linerate: cfg.Fleet.Version,
		Fabric:      record.Fabric{File: cfg.Fabric.File, Text: cfg.Fabric.Text, Paths: cfg.Fabric.Paths},
		Environment: record.Environment{BackEnd: cfg.BackEnd, Why: cfg.BackEndWhy},
		Latency:     []record.Latency{}, Trials: []record.Trial{},
	}
	var hosts []fabric.Host
	for _, h := range cfg.Fabric.Hosts {
		if h.Reach != "" {
			hosts = append(hosts, h)
		}
	}
	if err := c.dial(ctx, hosts); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	for _, h := range hosts {
		if host := c.hosts[h.Name]; host != nil {
			c.record.Environment.Kernel = host.Hello.Kernel
		}
	}
	if len(c.hosts) < 2 && len(c.unreached) > 0 {
		return nil, errors.Join(c.firstUnreached(), c.Close())
	}
	if err := fleet.LockAll(ctx, slices.Collect(maps.Values(c.hosts)), cfg.Locking); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := c.observe(ctx, true); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if len(c.hosts) < 2 && len(c.unreached) > 0 {
		return nil, errors.Join(c.firstUnreached(), c.Close())
	}
	c.tellLost()
	c.tellLeftOut()
	c.watchSwitches(ctx)
	if cfg.Resume != nil {
		c.resume(*cfg.Resume)
		return c, nil
	}
	for _, h := range cfg.Fabric.Hosts {
		c.record.Environment.Hosts = append(c.record.Environment.Hosts, c.state.Hosts[h.Name])
	}
	return c, nil
}

// oneByOne tells one event after the other: trials run at the same time.
func oneByOne(tell func(Event)) func(Event) {
	var mu sync.Mutex
	return func(e Event) {
		if tell == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		tell(e)
	}
}

// Close lets go of every host; traffic that still ran ends.
func (c *Campaign) Close() error {
	c.watch.Close()
	return fleet.CloseAll(c.hosts)
}

// State is the merged state of file and hosts.
func (c *Campaign) State() predict.Fabric { return c.state }

// Reached reports whether a host of the fabric answers.
func (c *Campaign) Reached(name string) bool { return c.hosts[name] != nil }

// Differences are where file and hosts disagreed.
func (c *Campaign) Differences() []fabric.Difference { return c.differences }

// Record is what was measured so far.
func (c *Campaign) Record() record.Record { return c.record }

// Observe reads every reached host anew and merges it with the file.
func (c *Campaign) Observe(ctx context.Context) error { return c.observe(ctx, false) }

// observe is Observe; where some hosts may be lost, one that stops answering
// counts as not reached.
func (c *Campaign) observe(ctx context.Context, some bool) error {
	if c.cfg.Follow != nil {
		var err error
		if c.cfg.Fabric, err = c.cfg.Follow(); err != nil {
			return fmt.Errorf("follow the hosts: %w", err)
		}
	}
	state := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: c.paths}
	c.differences = nil
	c.seen.forget()
	all := make([]*fleet.Host, len(c.cfg.Fabric.Hosts)) // nil: not reached
	for i, h := range c.cfg.Fabric.Hosts {
		all[i] = c.hosts[h.Name]
	}
	answers := fleet.ObserveAll(ctx, all, nil)
	for i, h := range c.cfg.Fabric.Hosts {
		declared, err := c.cfg.Fabric.State(h.Name)
		if err != nil {
			return err
		}
		if all[i] == nil {
			state.Hosts[h.Name] = declared
			continue
		}
		reply, err := answers[i].Reply, answers[i].Err
		if some && errors.Is(err, fleet.ErrUnreachable) && ctx.Err() == nil {
			c.lost(h.Name, err)
			state.Hosts[h.Name] = declared
			continue
		}
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
	return c.cfg.Fabric.Over(fabric.PathsBetween(hosts))
}

// network is the campaign's hosts as measure wants them.
func (c *Campaign) network() measure.Network {
	n := measure.Network{
		Endpoints: make(map[string]ask.Host), Fabric: c.state, Machines: make(map[string]string), Listeners: c.cfg.Listeners,
	}
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
		if _, listens := c.cfg.Listeners[name]; listens && name == p.To {
			continue
		}
		if c.hosts[name] == nil {
			return fmt.Errorf("%w: hosts.%s has no address: write `reach: ssh://root@ADDRESS` below it", fleet.ErrUnreachable, name)
		}
	}
	return nil
}

// trial runs one trial, with its prediction and its finding, and keeps it.
func (c *Campaign) trial(ctx context.Context, spec measure.Spec) (record.Trial, error) {
	t, err := c.judged(ctx, spec, func(p measure.Progress) { c.cfg.Tell(Event{Kind: Running, Progress: &p}) })
	if err == nil {
		err = c.keep(func(r *record.Record) { r.Trials = append(r.Trials, t) })
	}
	return t, err
}

// judged runs one trial, with its prediction and its finding.
func (c *Campaign) judged(ctx context.Context, spec measure.Spec, tell func(measure.Progress)) (record.Trial, error) {
	if err := errors.Join(c.reached(fabric.Path{From: spec.From, To: spec.To}), c.passable(spec), c.subflowsStay(spec)); err != nil {
		return record.Trial{}, err
	}
	spec, err := measure.ByDevice(c.network(), spec)
	if err != nil {
		return record.Trial{}, err
	}
	var loaded []record.Latency
	cfg := c.measuring(tell)
	cfg.Pinged = func(l []record.Latency) { loaded = l }
	trials, err := c.countedBySwitches(ctx, func() ([]record.Trial, error) {
		t, err := measure.Run(ctx, cfg, spec)
		return []record.Trial{t}, err
	})
	t := trials[0]
	if err != nil {
		return t, c.blamed(spec, err)
	}
	if err := c.pingedLoaded(loaded); err != nil {
		return t, err
	}
	c.judge(ctx, &t, spec)
	return t, nil
}

// measuring is how this campaign's trials are run.
func (c *Campaign) measuring(tell func(measure.Progress)) measure.Config {
	cfg := measure.Config{Network: c.network(), Progress: tell}
	if c.care != nil {
		cfg.Care = c.care
	}
	return cfg
}

// judge adds the prediction to a trial, what the network says besides, and the
// finding.
func (c *Campaign) judge(ctx context.Context, t *record.Trial, spec measure.Spec) {
	prediction, err := predict.Predict(c.state, spec.Traffic())
	if err == nil {
		t.Predicted, t.Limit = prediction.Rate, prediction.Limit
	}
	c.evidence(ctx, t)
	finding := diagnosetrial.Judge(c.state, *t)
	t.Finding = &finding
	c.routed(t)
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
