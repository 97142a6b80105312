// Package scenariorun runs a scenario: it has the lab build the network, sets and
// measures step by step, with the programs that the scenario names, and returns
// the rows at the published scale. It must not judge beyond what packages
// scenario and diagnose say.
package scenariorun

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Config is a scenario to run, where its network can be built.
type Config struct {
	Scenario scenario.Scenario
	// WhatIf is laid over the network before the first step, see
	// scenario.CheckChange; "" nothing.
	WhatIf              string
	Version             string
	BackEnd, BackEndWhy string
	JournalDir          string
	Logger              *slog.Logger // nil is silence
	// Tell is told what is done, as it is done; nil is nobody.
	Tell func(Progress)
	// Locking keeps other runs off the hosts; nil does not.
	Locking *fleet.Locking
}

// Progress is how far a run is: rows done of all, and the step.
type Progress struct {
	Step        string
	Done, Total int
	// Row is the one that was just measured, Tried what tune has just tried of it;
	// both are nil at the beginning of a step.
	Row   *scenario.Row
	Tried *record.Step
}

// Result is what a run showed.
type Result struct {
	Kernel   string
	Rows     []scenario.Row
	Findings []record.Finding
	// Tools are the versions of the programs that measured, by tool.
	Tools map[scenario.Tool]string
	// Notes are what a reader should know of single rows.
	Notes []string
	// LeftOut are the steps that this kernel cannot do.
	LeftOut []scenario.LeftOut
}

// Run builds the network, runs the scenario and takes the network down again,
// whatever happens. What was measured before an error is returned with it.
func Run(ctx context.Context, cfg Config) (result Result, err error) {
	for _, tool := range toolsOf(cfg.Scenario) {
		if err := installed(tool); err != nil {
			return Result{}, err
		}
	}
	if err := lab.Has(cfg.Scenario.Needs()); err != nil {
		return Result{}, fmt.Errorf("build %s: %w", cfg.Scenario.Name, err)
	}
	raised, err := lab.Raise(ctx, lab.NetworkOf(cfg.Scenario, nil))
	if err != nil {
		return Result{}, err
	}
	r := &run{cfg: cfg, now: cfg.Scenario, lab: raised, mtus: make(map[scenario.Port]int), measured: make(map[place]unit.BitRate)}
	defer func() {
		if r.lab != nil { // one that could not be built again has taken itself down
			err = errors.Join(err, r.lab.Down())
		}
	}()
	r.result.Tools = make(map[scenario.Tool]string)
	if err := r.leaveOut(); err != nil {
		return r.result, err
	}
	err = r.run(ctx)
	return r.result, err
}

func toolsOf(s scenario.Scenario) []scenario.Tool {
	seen := make(map[scenario.Tool]bool)
	for _, step := range s.Steps {
		for _, m := range step.Measure {
			seen[m.Tool] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// run is a scenario that runs.
type run struct {
	cfg    Config
	now    scenario.Scenario // with the network as the steps have changed it
	lab    *lab.Raised
	mtus   map[scenario.Port]int
	result Result
	total  int
	// measured are the rows so far, for the ratios of later ones.
	measured map[place]unit.BitRate
	// carried are the changes of hosts so far, for a network that is built anew.
	carried []hostChange
}

// place is a row's: the same of two steps can be set against each other.
type place struct {
	step, from, to, direction string
	tool                      scenario.Tool
	rows, row                 int
}

func (r *run) run(ctx context.Context) error {
	if err := r.change(ctx, scenario.Step{With: r.cfg.WhatIf}); err != nil {
		return fmt.Errorf("lay what-if over the network: %w", err)
	}
	for _, step := range r.cfg.Scenario.Steps {
		r.tell(Progress{Step: step.Name})
		if err := r.change(ctx, step); err != nil {
			return fmt.Errorf("step %s: %w", step.Name, err)
		}
		for _, m := range step.Measure {
			if err := r.measure(ctx, step.Name, m); err != nil {
				return fmt.Errorf("step %s: %s, %s: %w", step.Name, m.Tool, between(m), err)
			}
		}
	}
	return nil
}

// leaveOut takes out the steps that this kernel cannot do, and counts the rows
// of the others.
func (r *run) leaveOut() error {
	steps := r.cfg.Scenario.Steps
	r.cfg.Scenario.Steps = nil
	for _, step := range steps {
		err := lab.Has(step.Needs)
		var lacks *lab.LacksError
		switch {
		case errors.As(err, &lacks):
			r.result.LeftOut = append(r.result.LeftOut, scenario.LeftOut{Step: step.Name, Why: lacks.Error()})
			continue
		case err != nil:
			return err
		}
		r.cfg.Scenario.Steps = append(r.cfg.Scenario.Steps, step)
		for _, m := range step.Measure {
			r.total += m.Rows()
		}
	}
	return nil
}

func (r *run) tell(p Progress) {
	p.Done, p.Total = len(r.result.Rows), r.total
	if r.cfg.Tell != nil {
		r.cfg.Tell(p)
	}
}

// become lays a step over one host.
func become(host *netstate.Host, c hostChange) error {
	if c.what.String() != "" {
		f, _, _, err := c.what.Apply(predict.Fabric{Hosts: map[string]netstate.Host{host.Name: *host}}, fabric.Measure{})
		if err != nil {
			return err
		}
		*host = f.Hosts[host.Name]
	}
	for key, value := range c.sysctls {
		v := host.Sysctls[key]
		v.Value = value
		host.Sysctls[key] = v
	}
	for i := range host.Links {
		if b := host.Links[i].Bond; b != nil && c.bonds != nil {
			c.bonds(b)
		}
	}
	return nil
}

// pair is the network as it is now, of a measurement's hosts alone.
func (r *run) pair(m scenario.Measurement) fabric.Fabric {
	f := lab.NetworkOf(r.now, r.mtus).Fabric
	f.Paths, f.Hosts = pathsOf(f, m), hostsOf(f, m)
	return f
}

// open reaches the hosts of a fabric as they are now.
func (r *run) open(ctx context.Context, cfg campaign.Config) (*campaign.Campaign, error) {
	cfg.Fleet = fleet.Config{Version: r.cfg.Version, JournalDir: r.cfg.JournalDir, Logger: r.cfg.Logger}
	cfg.BackEnd, cfg.BackEndWhy, cfg.Locking = r.cfg.BackEnd, r.cfg.BackEndWhy, r.cfg.Locking
	c, err := campaign.Open(ctx, cfg)
	if err == nil {
		r.result.Kernel = c.Record().Environment.Kernel
	}
	return c, err
}

// usualWindow is the window where the scenario says none: long enough for a
// share to be sure within a percent.
const usualWindow = 4 * time.Second

// measure makes the rows of a measurement.
func (r *run) measure(ctx context.Context, step string, m scenario.Measurement) (err error) {
	if m.Tool == scenario.Tune {
		return r.tune(ctx, step, m)
	}
	if m.Duration == 0 {
		m.Duration = usualWindow
	}
	m.Buffer = unit.Bytes(float64(m.Buffer) / r.now.Windows())
	c, err := r.open(ctx, campaign.Config{Fabric: r.pair(m)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	switch m.Tool {
	case scenario.Ping:
		return r.ping(ctx, c, step, m)
	case scenario.IPerf3:
		return r.iperf3(ctx, c, step, m)
	case scenario.NFS:
		return r.nfs(ctx, c, step, m)
	}
	if m.Protocol == scenario.ProtocolMPTCP {
		return r.mptcp(ctx, c, step, m)
	}
	if m.Several() {
		return r.together(ctx, c, step, m)
	}
	return r.campaign(ctx, c, step, m)
}
