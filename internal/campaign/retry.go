package campaign

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/fleet"
	"github.com/linerate/linerate/internal/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// dialing is how this campaign's hosts are reached.
func (c *Campaign) dialing() fleet.Config {
	return fleet.Config{Version: c.cfg.Version, JournalDir: c.cfg.JournalDir, Unguarded: c.cfg.Unguarded, Bus: c.cfg.Bus, Logger: c.cfg.Logger}
}

// lose remembers a trial that failed for a host that is gone: it is tried
// again at the end.
func (r *run) lose(spec measure.Spec, err error) {
	if !errors.Is(err, fleet.ErrUnreachable) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = append(r.lost, spec)
}

// retry tries the trials of hosts that were gone once more, when all others
// are done: of those hosts that are back. The others' failures stand.
func (r *run) retry(ctx context.Context, m Matrix) error {
	if len(r.lost) == 0 || r.c.care.Halt(0) != "" {
		return nil
	}
	ends := make(map[string]bool)
	for _, s := range r.lost {
		ends[s.From], ends[s.To] = true, true
	}
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		if err := r.c.redial(ctx, name); err != nil {
			return err
		}
	}
	var again []measure.Spec
	for _, s := range r.lost {
		if r.c.hosts[s.From] != nil && r.c.hosts[s.To] != nil {
			again = append(again, s)
		}
	}
	r.lost = nil
	if len(again) == 0 {
		return nil
	}
	if err := r.c.forgive(again); err != nil {
		return err
	}
	r.mu.Lock()
	r.done -= len(again)
	r.mu.Unlock()
	r.left = r.c.batchesOf(m, again)
	for len(r.left) > 0 && r.c.care.Halt(0) == "" {
		if err := r.batch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// batchesOf are those of a matrix with nothing but some of its trials.
func (c *Campaign) batchesOf(m Matrix, specs []measure.Spec) []batch {
	var paths []fabric.Path
	wanted := make(map[key]bool)
	for _, s := range specs {
		p := fabric.Path{From: s.From, To: s.To}
		if !slices.ContainsFunc(paths, func(o fabric.Path) bool { return o.From == p.From && o.To == p.To }) {
			paths = append(paths, p)
		}
		wanted[keyOfSpec(s)] = true
	}
	all, _ := c.batches(m, paths)
	var out []batch
	for _, b := range all {
		b.specs = slices.DeleteFunc(b.specs, func(s measure.Spec) bool { return !wanted[keyOfSpec(s)] })
		if len(b.specs) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// forgive takes the failures of trials off the record: they are tried again.
func (c *Campaign) forgive(specs []measure.Spec) error {
	return c.keep(func(r *record.Record) {
		r.Failures = slices.DeleteFunc(r.Failures, func(f record.Failure) bool {
			return slices.ContainsFunc(specs, func(s measure.Spec) bool {
				return f.From == s.From && f.To == s.To && f.Direction == s.Direction && f.Streams == s.Streams
			})
		})
	})
}

// redial reaches a host anew that does not answer any more, or never did. One
// that stays away is no error.
func (c *Campaign) redial(ctx context.Context, name string) error {
	h, declared := c.cfg.Fabric.Host(name)
	if !declared || h.Reach == "" {
		return nil
	}
	if old := c.hosts[name]; old != nil {
		if old.Alive(ctx) {
			return nil
		}
		_ = old.Close() // it is gone
		delete(c.hosts, name)
	}
	host, err := fleet.Dial(ctx, h.Name, h.Reach, c.dialing())
	if err == nil && c.cfg.Holding != nil {
		_, err = host.Hold(ctx, agentapi.HoldRequest{Holder: c.cfg.Holding.Holder})
	}
	if err == nil {
		var now netstate.Host
		var differences []fabric.Difference
		if now, differences, err = c.observe(ctx, h, host); err == nil {
			c.state.Hosts = maps.Clone(c.state.Hosts) // whoever has the old state keeps it
			c.state.Hosts[name], c.hosts[name] = now, host
			c.differences = append(c.differences, differences...)
			delete(c.unreached, name)
			return nil
		}
	}
	if host != nil {
		_ = host.Close()
	}
	c.unreached[name] = err
	return ctx.Err()
}

// observe reads one host anew and merges it with the file.
func (c *Campaign) observe(ctx context.Context, h fabric.Host, host *fleet.Host) (netstate.Host, []fabric.Difference, error) {
	declared, err := c.cfg.Fabric.State(h.Name)
	if err != nil {
		return declared, nil, err
	}
	reply, err := host.Observe(ctx)
	if err != nil {
		return declared, nil, err
	}
	merged, differences := fabric.Merge(declared, h, reply.Host)
	merged.Name = h.Name
	return merged, differences, nil
}
