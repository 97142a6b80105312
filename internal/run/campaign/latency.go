package campaign

import (
	"context"
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
)

// Latency measures the round trip of every path, each way, and sets the
// paths' RTT where the file does not declare one.
func (c *Campaign) Latency(ctx context.Context) error { return c.latency(ctx, c.state.Paths) }

// latency is Latency of some of the paths.
func (c *Campaign) latency(ctx context.Context, paths []fabric.Path) error {
	for i, p := range c.state.Paths {
		if c.reached(p) != nil || !slices.ContainsFunc(paths, func(o fabric.Path) bool { return o.From == p.From && o.To == p.To }) {
			continue // its trials say why
		}
		for _, way := range [][2]string{{p.From, p.To}, {p.To, p.From}} {
			if _, listens := c.cfg.Listeners[way[0]]; listens {
				continue // it cannot be asked
			}
			if l, there := c.pinged[way]; there { // an interrupted run has it
				c.learnRTT(i, p, l)
				continue
			}
			l, err := measure.Latency(ctx, c.network(), way[0], way[1], c.cfg.Pings)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				f := record.Failure{From: way[0], To: way[1], Error: err.Error()}
				c.record.Failures = append(c.record.Failures, f)
				c.cfg.Tell(Event{Kind: Failed, Failure: &f})
				continue
			}
			if err := c.keep(func(r *record.Record) { r.Latency = append(r.Latency, l) }); err != nil {
				return err
			}
			c.cfg.Tell(Event{Kind: Pinged, Latency: &l})
			c.learnRTT(i, p, l)
		}
	}
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
	if declared.RTT == 0 && l.AvgMS > 0 {
		c.state.Paths[path].RTT = time.Duration(l.AvgMS * float64(time.Millisecond))
	}
}
