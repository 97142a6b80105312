package campaign

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Probe is one thing to try for a trial whose cause is not settled.
type Probe struct {
	Decision record.Decision
	// Spec is the trial to run; of single packets its hosts alone count.
	Spec measure.Spec
	// Says is what is done, for the person who is to agree: "4 streams".
	Says string
	// Takes is how long it lasts, Rate the most that it sends; zero is as much
	// as the way takes.
	Takes time.Duration
	Rate  unit.BitRate
}

// What probes use where the decision leaves it to them.
const (
	leastProbe, mostProbe = 2 * time.Second, 6 * time.Second
	mostLonger            = 60 * time.Second
	idleProbe             = 3 * time.Second
	sizeProbing           = 5 * time.Second
	// probeBeside is what a probe takes besides its window.
	probeBeside = 2 * time.Second

	probeStreams  = 4.0 // times as many
	mostStreams   = 64
	probeLonger   = 4.0  // times as long
	probeSlower   = 0.7  // of the rate: far enough below it that no queue fills
	probeMore     = 1.5  // of TCP's rate, in datagrams
	belowCeiling  = 0.95 // which datagrams must not pass, or the links drop them
	probeBuffer   = 32 * unit.MiB
	probeSizeIPv4 = 1500
)

// Probes are what settles a trial's cause: first the trial as it was, where the
// probe is to be set beside it, then the probe. None where the decision names
// no probe, or one that nobody here can make.
func Probes(t record.Trial, d record.Decision) []Probe {
	spec, ok := probeSpec(t, &d)
	if !ok {
		return nil
	}
	spec.Variant = d.Variant(t.Streams)
	probe := Probe{Decision: d, Spec: spec, Says: probeSays(t, d), Takes: spec.Duration + probeBeside, Rate: probeRate(spec, d)}
	if d.Probe == record.ProbePacketSize {
		probe.Takes = sizeProbing
	}
	switch d.Probe {
	case record.ProbePacketSize, record.ProbeIdle, record.ProbeObserved:
		return []Probe{probe}
	}
	same := record.Decision{Probe: record.ProbeSame}
	again := sameSpec(t)
	again.Variant = same.Variant(t.Streams)
	return []Probe{{Decision: same, Spec: again, Says: "the same again", Takes: again.Duration + probeBeside, Rate: again.Rate}, probe}
}

// sameSpec is a trial's specification, as far as its record tells: by the same
// addresses too, or more streams would be more links.
func sameSpec(t record.Trial) measure.Spec {
	s := measure.Spec{
		From: t.From, To: t.To, Direction: t.Direction, Streams: max(t.Streams, 1), Protocol: t.Protocol, Ports: t.Ports,
		Socket: record.Socket{Congestion: t.Congest}, Duration: probeWindow(t.Window),
	}
	if t.Tool == "linerate" { // of others the limit is their own default
		s.Rate = t.RateLimit
	}
	for _, l := range t.Lanes {
		if l.Asked != nil {
			s.Socket = *l.Asked
			s.Socket.Congestion = cmp.Or(s.Socket.Congestion, t.Congest)
			break
		}
	}
	for _, l := range t.Lanes {
		lane := flow.Lane{Src: l.Src, Dst: l.Dst}
		if l.Way == flow.Reverse {
			lane = lane.Reverse()
		}
		if !slices.Contains(s.Lanes, lane) {
			s.Lanes = append(s.Lanes, lane)
		}
	}
	return s
}

// probeWindow is about as long as the trial's.
func probeWindow(seconds float64) time.Duration {
	return min(max(time.Duration(seconds*float64(time.Second)), leastProbe), mostProbe)
}

// probeSpec varies a trial as its decision says, whose value it fills in where
// that is left open.
func probeSpec(t record.Trial, d *record.Decision) (measure.Spec, bool) {
	s := sameSpec(t)
	switch d.Probe {
	case record.ProbeStreams:
		d.Value = math.Round(cmp.Or(d.Value, min(probeStreams*float64(s.Streams), mostStreams)))
		s.Streams = int(d.Value)
	case record.ProbeLonger:
		d.Value = cmp.Or(d.Value, math.Round(probeLonger*s.Duration.Seconds()))
		s.Duration = min(time.Duration(d.Value*float64(time.Second)), mostLonger)
	case record.ProbeSlower:
		d.Value = cmp.Or(d.Value, math.Round(probeSlower*float64(t.Goodput)))
		s.Socket.Pacing = unit.BitRate(d.Value / float64(s.Streams*len(t.Direction.Ways())))
	case record.ProbeDatagrams:
		most := belowCeiling * float64(t.Ceiling)
		if d.Value == 0 {
			d.Value = probeMore * float64(t.Goodput)
		}
		if most > 0 {
			d.Value = min(d.Value, most)
		}
		d.Value = math.Round(d.Value)
		s.Protocol, s.Rate, s.Socket, s.Mode = "udp", unit.BitRate(d.Value/float64(len(t.Direction.Ways()))), record.Socket{}, agentapi.ModeCopy
	case record.ProbeBuffer:
		d.Value = cmp.Or(d.Value, float64(probeBuffer))
		s.Socket.SndBuf, s.Socket.RcvBuf = unit.Bytes(d.Value), unit.Bytes(d.Value)
	case record.ProbePacketSize:
		d.Value = cmp.Or(d.Value, float64(cmp.Or(t.MTU, probeSizeIPv4)))
	case record.ProbeIdle:
		s.Idle, s.Duration = true, idleProbe
	case record.ProbeObserved:
	default:
		return s, false
	}
	sends := d.Probe != record.ProbeIdle && d.Probe != record.ProbePacketSize
	return s, !sends || s.Streams > 0 && (d.Probe == record.ProbeObserved || d.Value > 0)
}

// probeSays is what a person is asked to agree to.
func probeSays(t record.Trial, d record.Decision) string {
	switch d.Probe {
	case record.ProbeStreams:
		return fmt.Sprintf("%.0f streams instead of %d", d.Value, t.Streams)
	case record.ProbeLonger:
		return fmt.Sprintf("the same for %.0f s", d.Value)
	case record.ProbeSlower:
		return fmt.Sprintf("the same, paced at %v in sum", unit.BitRate(d.Value))
	case record.ProbeDatagrams:
		return fmt.Sprintf("UDP at %v", unit.BitRate(d.Value))
	case record.ProbeBuffer:
		return fmt.Sprintf("the same with socket buffers of %v", unit.Bytes(d.Value))
	case record.ProbePacketSize:
		return fmt.Sprintf("single packets of up to %.0f bytes", d.Value)
	case record.ProbeIdle:
		return "connections that send nothing, beside the counters of links and processors"
	}
	return "the same, with both hosts observed"
}

// probeRate is the most that a probe sends; zero is as much as passes.
func probeRate(s measure.Spec, d record.Decision) unit.BitRate {
	if d.Probe == record.ProbeSlower {
		return unit.BitRate(d.Value)
	}
	return s.Rate
}

// Probe makes the probes one after the other and returns their trials in that
// order. Of single packets the trial is an empty one with their sizes. An error
// ends it; what was made before is returned with it.
func (c *Campaign) Probe(ctx context.Context, t record.Trial, probes []Probe) ([]record.Trial, error) {
	var out []record.Trial
	for _, p := range probes {
		made, err := c.probe(ctx, t, p)
		if err != nil {
			return out, fmt.Errorf("probe %s to %s with %s: %w", t.From, t.To, p.Says, err)
		}
		out = append(out, made)
	}
	return out, nil
}

func (c *Campaign) probe(ctx context.Context, t record.Trial, p Probe) (record.Trial, error) {
	if p.Decision.Probe == record.ProbePacketSize {
		return c.probeSizes(ctx, t, p)
	}
	if !c.lockLanes(p.Spec) {
		p.Spec.Lanes = nil // the hosts' addresses are others now
	}
	return c.judged(ctx, p.Spec, func(progress measure.Progress) { c.cfg.Tell(Event{Kind: Running, Progress: &progress}) })
}

// lockLanes reports that the hosts still have the addresses of a trial's lanes.
func (c *Campaign) lockLanes(spec measure.Spec) bool {
	return !slices.ContainsFunc(spec.Lanes, func(l flow.Lane) bool {
		_, near := c.state.Hosts[spec.From].LinkWith(l.Src)
		_, far := c.state.Hosts[spec.To].LinkWith(l.Dst)
		return !near || !far
	})
}

// probeSizes asks anew, whatever is known already.
func (c *Campaign) probeSizes(ctx context.Context, t record.Trial, p Probe) (record.Trial, error) {
	out := record.Trial{
		From: t.From, To: t.To, Direction: t.Direction, Streams: t.Streams, Protocol: t.Protocol, Tool: "linerate", Ports: t.Ports,
		Variant: p.Spec.Variant, Started: c.cfg.Now().UTC(), Lanes: []record.Lane{}, Links: []record.LinkUse{}, CPU: []record.CPUUse{}, Notes: []string{},
	}
	c.seen.forget()
	var err error
	out.Sizes, err = c.sizes(ctx, t)
	if len(out.Sizes) > 0 {
		err = nil
	}
	return out, err
}
