package campaign

import (
	"context"
	"time"

	"github.com/linerate/linerate/internal/evidence/switchcount"
	"github.com/linerate/linerate/internal/switchwatch"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// watchSwitches reaches the switches that the fabric says how to reach. One that does not
// answer is told, and noted in every trial.
func (c *Campaign) watchSwitches(ctx context.Context) {
	if c.cfg.Switches == nil {
		return
	}
	speed := func(host, link string) unit.BitRate {
		l, _ := c.state.Hosts[host].Link(link)
		return l.Speed
	}
	c.watch = switchwatch.Open(ctx, c.cfg.Fabric.Topology, speed, *c.cfg.Switches, func(what string) { c.cfg.Tell(Event{Kind: Noted, Note: what}) })
}

// countedBySwitches runs trials of one window, and keeps what the switches counted
// meanwhile in each.
func (c *Campaign) countedBySwitches(ctx context.Context, run func() ([]record.Trial, error)) ([]record.Trial, error) {
	c.watch.Begin(ctx)
	trials, err := run()
	var span switchcount.Span
	if err == nil && len(trials) > 0 {
		t := trials[0]
		open := t.Started.Add(time.Duration(t.WarmUp * float64(time.Second)))
		span = switchcount.Span{Start: t.Started, Open: open, Close: open.Add(time.Duration(t.Window * float64(time.Second)))}
	}
	counted := c.watch.Over(ctx, span)
	for i := range trials {
		trials[i].Switches = counted
	}
	return trials, err
}
