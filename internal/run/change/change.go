// Package change carries what a fabric file wants out on its hosts, as one:
// every host is planned before the first is touched, the result is
// checked from both ends, and all of it is confirmed over new connections or
// all of it rolled back. Whoever asked confirms, over a connection that works
// after the change: one that cut its own author off is exactly the one to roll
// back. It decides neither what is wanted nor in what steps: that is wanted's and
// plan's.
package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/render"
)

// Config says what to change and how.
type Config struct {
	Fabric fabric.Fabric
	// Only names the hosts to change; nil is every host that the file says how
	// to reach. The others are looked at all the same, for the proofs.
	Only []string
	// Exact and Profiles are wanted.Request's.
	Exact    bool
	Profiles []string
	// Persist is the configuration system whose files keep the change over a
	// reboot: PersistAuto, PersistAlways, PersistNone or a format of package
	// render.
	Persist string
	// DespiteOwner changes links that another program manages and whose files
	// are not written.
	DespiteOwner bool

	// Fleet is how the hosts are reached.
	Fleet fleet.Config
	// Roots is where hosts' configuration files are, by host, in the place of
	// /: a network namespace has files then. For tests.
	Roots   map[string]string
	Locking *fleet.Locking // nil holds nobody off
	// Recover has the hosts that change roll back first what dead processes left
	// pending there; without it such a change is Pending, and stays.
	Recover bool
	// Tell is told what happens, a line each; nil is nobody.
	Tell func(string)
}

// Persist's words beside the formats.
const (
	PersistAuto = "auto" // what manages the host's network now, if that can be written
	// PersistAlways is PersistAuto also for what holds already and is not in
	// the files: a tune's settings, or what somebody typed.
	PersistAlways = "always"
	PersistNone   = "none"
)

// Host is one host's part of a change.
type Host struct {
	Name string
	Plan plan.Plan
	// Warnings are things that will happen and that somebody should know.
	Warnings []string
	// Persist is the format whose files are written on confirmation, "" none;
	// PersistWhy says why that one.
	Persist    render.Format
	PersistWhy string
	// Reach is how the host is reached, as the file says it.
	Reach string
	// Pending is the journal entry of an earlier change that is neither
	// confirmed nor rolled back; nil none. Nothing is changed until it is.
	Pending *agentapi.JournalEntry
}

// Change is the hosts of a fabric, reached and planned. Close lets go of them.
type Change struct {
	cfg    Config
	hosts  map[string]*fleet.Host
	reach  map[string]string
	order  []string // hosts to change, in the order in which they are
	before predict.Fabric
	inside map[string]bool // hosts that are network namespaces
	want   map[string]netstate.Host
	parts  []Host
}

// ErrNoHosts is the error for a file of which no host can be reached.
var ErrNoHosts = errors.New("no host of the file says how to reach it")

// ErrSystem is the error for a host that does not run Linux.
var ErrSystem = errors.New("only hosts that run Linux are changed")

// Open reaches and observes the hosts, and plans what is to change: nothing is
// touched. The error joins every problem of every host: what the file wants
// and the host cannot have (plan.RuleError), a link that another program
// manages (*OwnerError), hosts that do not answer (fleet.ErrUnreachable).
func Open(ctx context.Context, cfg Config) (*Change, error) {
	if cfg.Tell == nil {
		cfg.Tell = func(string) {}
	}
	c := &Change{cfg: cfg, hosts: map[string]*fleet.Host{}, reach: map[string]string{}, inside: map[string]bool{}, want: map[string]netstate.Host{}}
	err := c.open(ctx)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Change) open(ctx context.Context) error {
	if err := c.choose(); err != nil {
		return err
	}
	if err := c.dial(ctx); err != nil {
		return err
	}
	if err := fleet.LockAll(ctx, slices.Collect(maps.Values(c.hosts)), c.cfg.Locking); err != nil {
		return err
	}
	if c.cfg.Recover {
		if err := c.recover(ctx); err != nil {
			return err
		}
	}
	state, err := c.observe(ctx)
	if err != nil {
		return err
	}
	c.before = state
	var problems []error
	for _, name := range c.order {
		part, err := c.plan(ctx, name)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
			continue
		}
		c.parts = append(c.parts, part)
	}
	return errors.Join(problems...)
}

// choose settles which hosts change, and in what order: this host last, since
// the others are reached from it.
func (c *Change) choose() error {
	for _, name := range c.cfg.Only {
		h, known := c.cfg.Fabric.Host(name)
		switch {
		case !known:
			return fmt.Errorf("find host %q in %s: no such host", name, c.cfg.Fabric.File)
		case bondopt.Foreign(h.System):
			return fmt.Errorf("change %s: %w: it runs %s", name, ErrSystem, bondopt.SystemTitle(h.System))
		case h.Reach == "":
			return fmt.Errorf("change %s: %w (hosts.%s.reach)", name, ErrNoHosts, name)
		}
	}
	var here []string
	for _, h := range c.cfg.Fabric.Hosts {
		if h.Reach == "" || bondopt.Foreign(h.System) {
			continue
		}
		c.reach[h.Name] = h.Reach
		if c.cfg.Only != nil && !slices.Contains(c.cfg.Only, h.Name) {
			continue
		}
		if h.Reach == "local:" {
			here = append(here, h.Name)
			continue
		}
		c.order = append(c.order, h.Name)
	}
	c.order = append(c.order, here...)
	if len(c.order) == 0 {
		return fmt.Errorf("change the hosts of %s: %w", c.cfg.Fabric.File, ErrNoHosts)
	}
	return nil
}

// dial reaches the hosts, several at a time.
func (c *Change) dial(ctx context.Context) error {
	all := c.cfg.Fabric.Hosts
	hosts, errs := make([]*fleet.Host, len(all)), make([]error, len(all))
	fleet.ForEach(len(all), func(i int) {
		if c.reach[all[i].Name] != "" {
			hosts[i], errs[i] = fleet.Dial(ctx, all[i].Name, all[i].Reach, c.dialing(all[i].Name, false))
		}
	})
	var failed error // of the first that is to change
	for i, h := range all {
		switch {
		case hosts[i] != nil:
			c.hosts[h.Name] = hosts[i]
		case errs[i] == nil: // the file does not say how to reach it
		case slices.Contains(c.order, h.Name):
			failed = cmp.Or(failed, errs[i])
		default: // it only takes part in the proofs
			c.cfg.Tell(fmt.Sprintf("%s is left out of the proofs: %v", h.Name, errs[i]))
		}
	}
	return failed
}

func (c *Change) dialing(name string, fresh bool) fleet.Config {
	cfg := c.cfg.Fleet
	cfg.Root, cfg.Fresh = c.cfg.Roots[name], fresh
	return cfg
}

// observe reads every reached host anew.
func (c *Change) observe(ctx context.Context) (predict.Fabric, error) {
	state := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: c.cfg.Fabric.Paths}
	var all []netstate.Host
	declared := c.cfg.Fabric.Hosts
	hosts := make([]*fleet.Host, len(declared)) // nil: not reached
	for i, h := range declared {
		hosts[i] = c.hosts[h.Name]
	}
	seen := fleet.ObserveAll(ctx, hosts, func(i int) []string { return wanted.Sysctls(declared[i]) })
	for i, h := range declared {
		if hosts[i] == nil {
			continue
		}
		reply, err := seen[i].Reply, seen[i].Err
		if err != nil {
			return state, fmt.Errorf("observe %s: %w", h.Name, err)
		}
		reply.Host.Name = h.Name
		c.inside[h.Name] = reply.InNamespace
		state.Hosts[h.Name] = reply.Host
		all = append(all, reply.Host)
	}
	if len(state.Paths) == 0 {
		state.Paths = c.cfg.Fabric.Over(fabric.PathsBetween(all))
	}
	return state, nil
}

// recover rolls back what dead processes left pending. A host that has something
// else against a change, as a change that is looked after, says so again when it
// is to change.
func (c *Change) recover(ctx context.Context) error {
	fleet.ForEach(len(c.order), func(i int) {
		name := c.order[i]
		if left, err := c.pending(ctx, name); err != nil || left == nil {
			return
		}
		if _, err := ask.Call(ctx, c.hosts[name], agentapi.Apply, agentapi.ApplyRequest{Check: true}); err == nil {
			c.cfg.Tell("roll back " + name + ": an earlier change was left unconfirmed, and nobody looks after it")
		}
	})
	return ctx.Err()
}

// plan is what one host would have to change.
func (c *Change) plan(ctx context.Context, name string) (Host, error) {
	observed := c.before.Hosts[name]
	want, err := wanted.Of(wanted.Request{
		Fabric: c.cfg.Fabric, Host: name, Observed: observed, Exact: c.cfg.Exact, Profiles: c.cfg.Profiles, InNamespace: c.inside[name],
	})
	if err != nil {
		return Host{}, err
	}
	steps, err := plan.Between(observed, want.Host)
	if err != nil {
		return Host{}, err
	}
	steps.Host = name
	part := Host{Name: name, Reach: c.reach[name], Plan: steps.Explain(want.Reasons), Warnings: want.Warnings}
	part.Plan.Left = slices.Concat(part.Plan.Left, want.Left)
	if err := c.persist(ctx, &part, want); err != nil {
		return Host{}, err
	}
	if err := c.owned(part); err != nil {
		return Host{}, err
	}
	if part.Pending, err = c.pending(ctx, name); err != nil {
		return Host{}, err
	}
	c.want[name] = want.Host
	return part, nil
}

// pending is the newest change that still waits on a host.
func (c *Change) pending(ctx context.Context, name string) (*agentapi.JournalEntry, error) {
	reply, err := ask.Call(ctx, c.hosts[name], agentapi.Journal, agentapi.Empty{})
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	for i := len(reply.Entries) - 1; i >= 0; i-- {
		if reply.Entries[i].Pending {
			return &reply.Entries[i], nil
		}
	}
	return nil, nil
}

// Hosts are the hosts to change, in the order in which they would be.
func (c *Change) Hosts() []Host { return slices.Clone(c.parts) }

// Empty reports that nothing would change.
func (c *Change) Empty() bool {
	return !slices.ContainsFunc(c.parts, func(h Host) bool { return len(h.Plan.Steps)+len(h.Plan.Files) > 0 })
}

// Close lets go of every host.
func (c *Change) Close() error { return fleet.CloseAll(c.hosts) }
