package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Unreachable is the reason of a failure whose host could not be reached.
const Unreachable = "unreachable"

// dial reaches hosts, several at a time. One that cannot be reached is kept as
// such: its pairs fail, the others need not. Only a bad reach and the
// end of ctx are errors.
func (c *Campaign) dial(ctx context.Context, hosts []fabric.Host) error {
	dialed, errs := make([]*fleet.Host, len(hosts)), make([]error, len(hosts))
	fleet.ForEach(len(hosts), func(i int) {
		dialed[i], errs[i] = fleet.Dial(ctx, hosts[i].Name, hosts[i].Reach, c.cfg.Fleet)
	})
	var bad error
	for i, h := range hosts {
		switch err := errs[i]; {
		case err == nil:
			c.hosts[h.Name] = dialed[i]
			delete(c.unreached, h.Name)
			for _, note := range dialed[i].Notes() {
				c.cfg.Tell(Event{Kind: Noted, Note: h.Name + ": " + note})
			}
		case errors.Is(err, fleet.ErrReach):
			bad = errors.Join(bad, err)
		default:
			c.lost(h.Name, err)
		}
	}
	return errors.Join(ctx.Err(), bad)
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

// lost keeps a host as one that cannot be reached.
func (c *Campaign) lost(name string, err error) {
	if h := c.hosts[name]; h != nil {
		_ = h.Close() // it is gone already
		delete(c.hosts, name)
	}
	c.unreached[name] = err
}

// tellLost tells which hosts are left out, one line each.
func (c *Campaign) tellLost() {
	for _, h := range c.cfg.Fabric.Hosts {
		if err := c.unreached[h.Name]; err != nil {
			c.cfg.Tell(Event{Kind: Noted, Note: fmt.Sprintf("%s is left out: %v", h.Name, err), Reach: h.Reach, Err: err})
		}
	}
}

// tellLeftOut tells which links the hosts are managed over and are left out for it.
func (c *Campaign) tellLeftOut() {
	var hosts []netstate.Host
	for _, h := range c.cfg.Fabric.Hosts {
		if c.hosts[h.Name] != nil {
			hosts = append(hosts, c.state.Hosts[h.Name])
		}
	}
	for _, line := range fabric.LeftOut(hosts) {
		c.cfg.Tell(Event{Kind: Noted, Note: line})
	}
}

// checkWithin is how long a host may take to say that it is there.
const checkWithin = 5 * time.Second

// lostOf finds out which ends of a trial do not answer any more, after an error
// that says so.
func (c *Campaign) lostOf(ctx context.Context, spec measure.Spec) bool {
	found := false
	for _, name := range []string{spec.From, spec.To} {
		c.mu.Lock()
		h, gone := c.hosts[name], c.down[name] != nil
		c.mu.Unlock()
		if h == nil || gone {
			found = found || gone
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, checkWithin)
		_, err := ask.Call(ctx, h, agentapi.Hello, agentapi.HelloRequest{Version: agentapi.Version})
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			found = true
			c.mu.Lock()
			c.down[name] = err
			c.mu.Unlock()
			c.cfg.Tell(Event{Kind: Noted, Note: fmt.Sprintf("%s is left out from here on: %v", name, err)})
		}
	}
	return found
}

// downEnd is why an end of a trial is left out; nil when both are there.
func (c *Campaign) downEnd(spec measure.Spec) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range []string{spec.From, spec.To} {
		if err := errors.Join(c.unreached[name], c.down[name]); err != nil {
			return err
		}
	}
	return nil
}

// blindPaths are the pairs of hosts that nobody knows the addresses of, because
// they are not declared and the host was not reached: with every other host.
func (c *Campaign) blindPaths() []fabric.Path {
	var out []fabric.Path
	onPath := func(name string) bool {
		return slices.ContainsFunc(c.state.Paths, func(p fabric.Path) bool { return p.From == name || p.To == name })
	}
	if len(c.cfg.Fabric.Paths) > 0 {
		return nil // the file says which pairs there are
	}
	hosts := c.cfg.Fabric.Hosts
	for i, a := range hosts {
		for _, b := range hosts[i+1:] {
			blind := func(h fabric.Host) bool { return c.unreached[h.Name] != nil && h.Network.IsZero() && !onPath(h.Name) }
			if a.Reach != "" && b.Reach != "" && (blind(a) || blind(b)) {
				out = append(out, fabric.Path{From: a.Name, To: b.Name})
			}
		}
	}
	return out
}

// put puts trials off until the end.
func (r *run) put(specs ...measure.Spec) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again = append(r.again, specs...)
}

// drop takes a trial off those that were asked for.
func (r *run) drop() {
	r.mu.Lock()
	r.total--
	r.mu.Unlock()
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if r.c.record.Asked != nil {
		r.c.record.Asked.Trials--
	}
}

// lastTry reaches the hosts that were left out once more, and measures what was
// put off because of them. What still cannot be is a failure each, and one line
// for each host.
func (r *run) lastTry(ctx context.Context, m Matrix) error {
	if len(r.again) == 0 {
		return nil
	}
	put := r.again
	r.again = nil
	if r.c.care.Halt(0) == "" {
		r.c.revive(ctx, put)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var paths []fabric.Path
	put = slices.DeleteFunc(put, func(s measure.Spec) bool {
		p := fabric.Path{From: s.From, To: s.To}
		same := func(o fabric.Path) bool { return o.From == p.From && o.To == p.To }
		switch {
		case r.c.downEnd(s) != nil:
			return false
		case !slices.ContainsFunc(r.c.state.Paths, same):
			r.drop() // now that both are there, they turn out to have nothing in common
			return true
		case !slices.ContainsFunc(paths, same):
			paths = append(paths, p)
		}
		return false
	})
	if err := r.c.latency(ctx, paths); err != nil {
		return err
	}
	batches, _ := r.c.batches(m, paths)
	wanted := make(map[key]bool)
	for _, s := range put {
		wanted[keyOfSpec(s)] = true
	}
	for i := range batches {
		batches[i].specs = slices.DeleteFunc(batches[i].specs, func(s measure.Spec) bool { return !wanted[keyOfSpec(s)] })
	}
	r.left = slices.DeleteFunc(batches, func(b batch) bool { return len(b.specs) == 0 })
	for len(r.left) > 0 && r.c.care.Halt(0) == "" {
		if err := r.batch(ctx); err != nil {
			return err
		}
	}
	return r.giveUp(append(r.again, slices.DeleteFunc(put, func(s measure.Spec) bool { return r.c.downEnd(s) == nil })...))
}

// giveUp makes failures of trials whose hosts did not come back.
func (r *run) giveUp(specs []measure.Spec) error {
	counts := make(map[string]int)
	done := make(map[key]bool)
	for _, s := range specs {
		if done[keyOfSpec(s)] {
			continue
		}
		done[keyOfSpec(s)] = true
		f := record.Failure{From: s.From, To: s.To, Direction: s.Direction, Streams: s.Streams, Reason: Unreachable}
		for _, name := range []string{s.To, s.From} {
			if err := r.c.downEnd(measure.Spec{From: name, To: name}); err != nil {
				f.Error = err.Error()
				counts[name]++
			}
		}
		if err := r.c.keep(func(rec *record.Record) { rec.Failures = append(rec.Failures, f) }); err != nil {
			return err
		}
		r.count()
	}
	for _, h := range r.c.cfg.Fabric.Hosts {
		if n := counts[h.Name]; n > 0 {
			r.tell(Event{Kind: Noted, Note: fmt.Sprintf("%s was tried again in vain: %s not measured", h.Name, unit.Counted(n, "trial"))})
		}
	}
	return nil
}

// revive reaches the hosts of trials that are not there once more. Those that
// come back are held and looked at; the others stay left out.
func (c *Campaign) revive(ctx context.Context, specs []measure.Spec) {
	var hosts []fabric.Host
	for _, h := range c.cfg.Fabric.Hosts {
		wanted := slices.ContainsFunc(specs, func(s measure.Spec) bool { return s.From == h.Name || s.To == h.Name })
		if why := errors.Join(c.unreached[h.Name], c.down[h.Name]); wanted && why != nil && h.Reach != "" {
			if old := c.hosts[h.Name]; old != nil {
				_ = old.Close()
				delete(c.hosts, h.Name)
			}
			delete(c.down, h.Name)
			c.unreached[h.Name] = why
			hosts = append(hosts, h)
		}
	}
	_ = c.dial(ctx, hosts) // what still is unreachable is kept as that
	for _, h := range hosts {
		host := c.hosts[h.Name]
		if host == nil {
			continue
		}
		if err := c.welcome(ctx, h, host); err != nil {
			_ = host.Close()
			delete(c.hosts, h.Name)
			c.unreached[h.Name] = err
			continue
		}
		c.cfg.Tell(Event{Kind: Noted, Note: h.Name + " is back"})
	}
}

// welcome holds a host that came late, and looks at it.
func (c *Campaign) welcome(ctx context.Context, h fabric.Host, host *fleet.Host) error {
	if err := fleet.LockAll(ctx, []*fleet.Host{host}, c.cfg.Locking); err != nil {
		return err
	}
	reply, err := host.Observe(ctx)
	if err != nil {
		return fmt.Errorf("observe %s: %w", h.Name, err)
	}
	declared, err := c.cfg.Fabric.State(h.Name)
	if err != nil {
		return err
	}
	merged, differences := fabric.Merge(declared, h, reply.Host)
	merged.Name = h.Name
	c.state.Hosts[h.Name] = merged
	c.differences = append(c.differences, differences...)
	if i := slices.IndexFunc(c.record.Environment.Hosts, func(o netstate.Host) bool { return o.Name == h.Name }); i >= 0 {
		c.record.Environment.Hosts[i] = merged
	}
	if len(c.cfg.Fabric.Paths) > 0 {
		return nil
	}
	var hosts []netstate.Host
	for _, o := range c.cfg.Fabric.Hosts {
		hosts = append(hosts, c.state.Hosts[o.Name])
	}
	for _, p := range c.cfg.Fabric.Over(fabric.PathsBetween(hosts)) {
		known := slices.ContainsFunc(c.state.Paths, func(o fabric.Path) bool { return o.Joins(p.From, p.To) })
		if !known && (p.From == h.Name || p.To == h.Name) {
			c.state.Paths = append(c.state.Paths, p)
		}
	}
	c.paths = c.state.Paths
	return nil
}
