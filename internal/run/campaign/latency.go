package campaign

import (
	"context"
	"slices"
	"sync"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
)

// Latency measures the round trip of every path, both ways at once, and sets the
// paths' RTT where the file does not declare one.
func (c *Campaign) Latency(ctx context.Context) error { return c.latency(ctx, c.state.Paths) }

// latency is Latency of some of the paths.
func (c *Campaign) latency(ctx context.Context, paths []fabric.Path) error {
	for i, p := range c.state.Paths {
		if c.reached(p) != nil || !slices.ContainsFunc(paths, func(o fabric.Path) bool { return o.From == p.From && o.To == p.To }) {
			continue // its trials say why
		}
		for _, answer := range c.bothWays(ctx, p) {
			if err := c.pingedWay(ctx, i, p, answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer is what one way of a path answered.
type answer struct {
	way   [2]string
	found record.Latency
	err   error
}

// bothWays asks both ends of a path at the same time: each counts the same round trip
// from its own side, and a hundred echoes a second take nothing from each other.
func (c *Campaign) bothWays(ctx context.Context, p fabric.Path) (answers []*answer) {
	var asked sync.WaitGroup
	for _, way := range [][2]string{{p.From, p.To}, {p.To, p.From}} {
		if _, listens := c.cfg.Listeners[way[0]]; listens {
			continue // it cannot be asked
		}
		a := &answer{way: way}
		answers = append(answers, a)
		if l, there := c.pinged[way]; there { // an interrupted run has it
			a.found = l
			continue
		}
		asked.Go(func() { a.found, a.err = measure.Latency(ctx, c.network(), way[0], way[1], c.cfg.Pings) })
	}
	asked.Wait()
	return answers
}

// pingedWay keeps what one way of a path answered.
func (c *Campaign) pingedWay(ctx context.Context, path int, declared fabric.Path, a *answer) error {
	switch _, there := c.pinged[a.way]; {
	case there:
	case ctx.Err() != nil:
		return ctx.Err()
	case a.err != nil:
		f := record.Failure{From: a.way[0], To: a.way[1], Error: a.err.Error()}
		c.record.Failures = append(c.record.Failures, f)
		c.cfg.Tell(Event{Kind: Failed, Failure: &f})
		return nil
	default:
		if err := c.keep(func(r *record.Record) { r.Latency = append(r.Latency, a.found) }); err != nil {
			return err
		}
		c.cfg.Tell(Event{Kind: Pinged, Latency: &a.found})
	}
	c.learnRTT(path, declared, a.found)
	return nil
}

// pingedLoaded keeps latencies under load.
func (c *Campaign) pingedLoaded(all []record.Latency) error {
	for _, l := range all {
		if err := c.keep(func(r *record.Record) { r.Latency = append(r.Latency, l) }); err != nil {
			return err
		}
		c.cfg.Tell(Event{Kind: Pinged, Latency: &l})
	}
	return nil
}

// learnRTT sets the round trip of a path that does not declare one.
func (c *Campaign) learnRTT(path int, declared fabric.Path, l record.Latency) {
	if trip := l.RoundTrip(); declared.RTT == 0 && trip > 0 {
		c.state.Paths[path].RTT = trip
	}
}
