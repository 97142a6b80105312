package scenariorun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// tune has linerate tune the pair, as `linerate tune` would unaided, and puts the
// hosts back unless they are to be kept.
func (r *run) tune(ctx context.Context, step string, m scenario.Measurement) (err error) {
	r.result.Tools[m.Tool] = r.cfg.Version
	if r.mtus, err = r.lab.MTUs(); err != nil {
		return err
	}
	c, err := r.open(ctx, campaign.Config{
		Fabric: r.pair(m), Follow: func() (fabric.Fabric, error) { return r.follow(m) },
		Tell: func(e campaign.Event) {
			if e.Kind == campaign.Proven {
				r.tell(Progress{Step: step, Tried: e.Step})
			}
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Changeable(ctx); err != nil {
		return err
	}
	if err := c.Latency(ctx); err != nil {
		return err
	}
	largest := min(tune.LargestMTU(c.State(), m.From, m.To), lab.NetworkOf(r.now, nil).LargestMTU())
	if _, err := c.Tune(ctx, campaign.Tuning{
		Path: c.State().Paths[0], Direction: m.Direction, Duration: m.Duration, CeilingMTU: largest, Title: "lab run " + r.now.Name,
	}); err != nil {
		return err
	}
	last, err := trialOf(ctx, c, lastLook(c.Record().Tuning.Load, m, largest))
	if err != nil {
		return err
	}
	row, err := r.tuned(c, m, largest, last)
	if err != nil {
		return err
	}
	r.keep(c, step, m, 0, row, last)
	if m.Keep {
		return nil
	}
	return c.TakeBack()
}

// lastLook is what a tune's row is measured by: the traffic that it found, for
// longer than its own proof and no part of what it may cost. A tune's windows are
// of few seconds, and of several proofs the best counts: streams that lose packets
// every few seconds carry some percent less than that.
func lastLook(l record.TunedLoad, m scenario.Measurement, largest int) campaign.Matrix {
	base := measure.Spec{Socket: record.Socket{SndBuf: l.SocketBuffer, RcvBuf: l.SocketBuffer, Congestion: l.Congestion, Pacing: l.Pace}}
	if l.ZeroCopy {
		base.Mode = agentapi.ModeZeroCopy
	}
	return campaign.Matrix{
		Base: base, Phase: record.PhaseAfter, Streams: []int{l.Streams}, Ports: l.Ports,
		Directions: []flow.Direction{m.Direction}, Duration: lastWindow, CeilingMTU: largest,
	}
}

// lastWindow is four of a tune's longest.
const lastWindow = 10 * time.Second

// follow lets the lab's cables follow the frames that the hosts send: a line
// carries other rates of payload in larger frames, and so does a slot.
func (r *run) follow(m scenario.Measurement) (fabric.Fabric, error) {
	mtus, err := r.lab.MTUs()
	if err != nil {
		return fabric.Fabric{}, err
	}
	if !maps.Equal(mtus, r.mtus) {
		r.mtus = mtus
		if err := r.lab.Shape(lab.NetworkOf(r.now, mtus).Fabric); err != nil {
			return fabric.Fabric{}, err
		}
	}
	return r.pair(m), nil
}

// tuned is the row of a tune, at the lab's scale, by the look at what it came to.
func (r *run) tuned(c *campaign.Campaign, m scenario.Measurement, largest int, last record.Trial) (scenario.Row, error) {
	rec := c.Record()
	if last.Goodput == 0 {
		return scenario.Row{}, failure(rec)
	}
	var before unit.BitRate
	for _, t := range rec.Trials {
		if t.Direction == m.Direction && t.Phase == record.PhaseBefore {
			before = t.Goodput
		}
	}
	load := rec.Tuning.Load
	traffic := predict.Between(m.From, m.To, m.Direction, load.Streams)
	traffic.Ports, traffic.SocketBuffer, traffic.Congestion = load.Ports, load.SocketBuffer, load.Congestion
	row := rowOf(last)
	row.Tuned = &scenario.Tuned{
		Before: before, Forward: last.Forward, Reverse: last.Reverse, CeilingMTU: largest, Changes: kept(rec.Steps),
		Stopped: rec.Tuning.Stopped, Windows: rec.Tuning.Windows, Traffic: rec.Tuning.Traffic,
	}
	best, err := r.linesAt(c.State(), largest)
	if err != nil {
		return row, err
	}
	if row.Ceiling, _, err = predict.CeilingOf(best, traffic, largest); err != nil {
		return row, fmt.Errorf("predict ceiling: %w", err)
	}
	if f := last.Finding; f != nil {
		switch f.Cause {
		case record.CardSlot:
			row.Tuned.LimitedAt = slots(best, traffic)
		case record.SingleLink:
			row.Tuned.LimitedAt = switchHash(best, traffic)
		}
		if row.Tuned.LimitedAt > 0 {
			row.Tuned.LimitedBy = f.Cause
		}
	}
	return row, nil
}

// kept are the changes that stayed, in words.
func kept(steps []record.Step) []string {
	all := []string{}
	for _, s := range steps {
		if s.Kept {
			all = append(all, s.Change)
		}
	}
	return all
}

// linesAt are the hosts with frames of that MTU, whatever tune left, and the lines
// without the lab's shapers, which count too little where frames are smaller.
func (r *run) linesAt(f predict.Fabric, mtu int) (predict.Fabric, error) {
	mtus := make(map[scenario.Port]int)
	for _, p := range scenario.Ports(r.now.Fabric) {
		mtus[p] = mtu
	}
	lines := lab.NetworkOf(r.now, mtus).Fabric
	hosts := make(map[string]netstate.Host, len(f.Hosts))
	for name, h := range f.Hosts {
		declared, err := lines.State(name)
		if err != nil {
			return predict.Fabric{}, err
		}
		h = h.Clone()
		for i := range h.Links {
			l := &h.Links[i]
			l.MTU = mtu
			if line, ok := declared.Link(l.Name); ok && line.Speed > 0 {
				l.Speed, l.Framing, l.Qdiscs = line.Speed, line.Framing, nil
			}
		}
		hosts[name] = h
	}
	f.Hosts = hosts
	return f, nil
}

// slots is what the slots of cards leave of the traffic, all its ways; zero where
// a way has none that is known.
func slots(f predict.Fabric, t predict.Traffic) (sum unit.BitRate) {
	for _, way := range t.Direction.Ways() {
		one := t
		one.Direction = way
		p, err := predict.Predict(f, one)
		if err != nil {
			return 0
		}
		least := unit.BitRate(math.Inf(1))
		for _, l := range p.Limits {
			if l.Cause == record.CardSlot && l.Rate > 0 {
				least = min(least, l.Rate)
			}
		}
		if math.IsInf(float64(least), 1) {
			return 0
		}
		sum += least
	}
	return sum
}

// enough streams on chosen ports use every link that a hash would let them.
const enough = 32

// switchHash is what the switches' own hash leaves of the traffic, all its ways,
// were the hosts to hash ports and as many streams sent as could be told apart; zero
// where it holds nothing: with another hash of the switches it would be as much.
func switchHash(f predict.Fabric, t predict.Traffic) unit.BitRate {
	held, free := supposing(f, t, "policy=layer3+4"), supposing(f, t, "policy=layer3+4,switch_hash=layer3+4")
	if free <= held {
		return 0
	}
	return held
}

// supposing is what the traffic would come to after a change, with enough streams;
// zero where nobody can say.
func supposing(f predict.Fabric, t predict.Traffic, change string) unit.BitRate {
	what, err := whatif.Parse(change)
	if err != nil {
		return 0
	}
	if f, _, _, err = what.Apply(f, fabric.Measure{}); err != nil {
		return 0
	}
	t.Streams, t.Ports = enough, predict.PortsChosen
	p, err := predict.Predict(f, t)
	if err != nil {
		return 0
	}
	return p.Rate
}
