package scenariorun

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/whatif"
)

// hostChange is what a step sets of hosts, at the lab's scale.
type hostChange struct {
	hosts   []string // nil is all
	what    whatif.Changes
	sysctls map[string]string
	bonds   scenario.BondChange // nil is none
}

func (c hostChange) isZero() bool {
	return c.what.String() == "" && len(c.sysctls) == 0 && c.bonds == nil
}

// change sets what a step sets: the hosts first, since a shaper's rate follows
// the frames. Where ports, modes or switches change, the network is built anew
// and what earlier steps set of hosts is set again.
func (r *run) change(ctx context.Context, step scenario.Step) error {
	changed, with, err := r.now.After(step)
	if err != nil {
		return err
	}
	what, err := whatif.Parse(with)
	if err != nil {
		return err
	}
	c := hostChange{hosts: step.Hosts, what: what, sysctls: make(map[string]string, len(step.Sysctl))}
	if len(step.Bond) > 0 {
		if c.bonds, err = scenario.ParseBond(step.Bond); err != nil {
			return err
		}
	}
	for key, value := range step.Sysctl {
		c.sysctls[key] = scenario.ScaledSysctl(key, value, changed.Windows())
	}
	if c.isZero() && step.With == "" && !step.Rebuilds() {
		return nil
	}
	todo := []hostChange{c}
	if step.Rebuilds() {
		if err := r.rebuild(ctx, changed); err != nil {
			return err
		}
		todo = append(slices.Clone(r.carried), c)
	}
	r.now = changed
	for _, c := range todo {
		if err := r.carry(ctx, c); err != nil {
			return err
		}
	}
	r.carried = append(r.carried, c)
	if err := r.lab.Shape(lab.NetworkOf(r.now, r.mtus).Fabric); err != nil {
		return err
	}
	return r.lab.Settle(ctx)
}

// rebuild takes the network down and builds the changed one.
func (r *run) rebuild(ctx context.Context, changed scenario.Scenario) error {
	down := r.lab
	r.lab = nil
	if err := down.Down(); err != nil {
		return fmt.Errorf("build the network anew: %w", err)
	}
	raised, err := lab.Raise(ctx, lab.NetworkOf(changed, nil))
	if err != nil {
		return fmt.Errorf("build the network anew: %w", err)
	}
	r.lab = raised
	clear(r.mtus)
	return nil
}

// carry sets one change of hosts.
func (r *run) carry(ctx context.Context, c hostChange) error {
	if c.isZero() {
		return nil
	}
	machine := maps.Clone(c.sysctls)
	for _, h := range r.now.Fabric.Hosts {
		if len(c.hosts) > 0 && !slices.Contains(c.hosts, h.Name) {
			continue
		}
		mtus, err := r.lab.Change(ctx, h.Name, slices.Collect(maps.Keys(c.sysctls)), func(host *netstate.Host) error {
			if err := become(host, c); err != nil {
				return err
			}
			for _, key := range []string{"net.core.rmem_max", "net.core.wmem_max"} {
				if v, ok := host.Sysctls[key]; ok && c.what.String() != "" {
					machine[key] = v.Value
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("change %s: %w", h.Name, err)
		}
		for link, mtu := range mtus {
			r.mtus[scenario.Port{Host: h.Name, Link: link}] = mtu
		}
	}
	return lab.Machine(machine)
}
