// Package diagnose says what limits a measured result, with the evidence and
// the remedy. It judges a record against the state of the hosts and the
// prediction; it must never measure, and never guess: what the evidence does
// not decide is unknown, with the measurement that would.
package diagnose

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Shares by which a link or a time counts as full, in use or idle. A link
// shaped to a rate carries 97 to 100 % of it; one that a single greedy TCP
// flow fills stays above 93 % with every congestion control seen.
const (
	fullLink     = 0.93
	idleLink     = 0.20
	atCeiling    = 0.95
	limitedShare = 0.30 // of the window's time
	busyCore     = 0.90
	lossShare    = 1e-3
)

// Trial says what limits one trial. The fabric is the state in which it was
// measured.
func Trial(f predict.Fabric, t record.Trial) record.Finding {
	var worst *wayView
	for _, d := range t.Direction.Ways() {
		v := view(f, t, d)
		if worst == nil || v.share() < worst.share() {
			worst = v
		}
	}
	finding := worst.judge()
	finding.From, finding.To, finding.Direction, finding.Streams = t.From, t.To, t.Direction, t.Streams
	finding.Rate, finding.Ceiling = t.Goodput, t.Ceiling
	finding.Phase, finding.Step = t.Phase, t.Step
	if finding.Cause != record.LineRate && finding.Expected == 0 {
		finding.Expected = expected(f, t)
	}
	return finding
}

// Record judges every trial of a record, in order, against the fabric of its
// phase.
func Record(r record.Record, state func(record.Trial) predict.Fabric) []record.Finding {
	var out []record.Finding
	for _, t := range r.Trials {
		out = append(out, Trial(state(t), t))
	}
	return out
}

// wayView is one direction of a trial: who sent by which links, who received
// by which, and how full each was.
type wayView struct {
	fabric   predict.Fabric
	trial    record.Trial
	way      flow.Direction
	from, to string
	goodput  unit.BitRate
	lanes    []record.Lane
	egress   []linkLoad // the sender's, as its counters say
	ingress  []linkLoad // the receiver's
}

// linkLoad is how full a link was in the direction that matters.
type linkLoad struct {
	host, link string
	payload    unit.BitRate
	ceiling    unit.BitRate // zero unknown
}

func (l linkLoad) share() float64 {
	if l.ceiling == 0 {
		return 0
	}
	return float64(l.payload / l.ceiling)
}

func view(f predict.Fabric, t record.Trial, d flow.Direction) *wayView {
	v := &wayView{fabric: f, trial: t, way: d, from: t.From, to: t.To}
	if d == flow.Reverse {
		v.from, v.to = t.To, t.From
	}
	for _, l := range t.Lanes {
		if l.Way == d {
			v.lanes = append(v.lanes, l)
			v.goodput += l.Goodput
		}
	}
	for _, l := range t.Links {
		switch l.Host {
		case v.from:
			v.egress = append(v.egress, linkLoad{l.Host, l.Link, l.TxPayload, l.Ceiling})
		case v.to:
			v.ingress = append(v.ingress, linkLoad{l.Host, l.Link, l.RxPayload, l.Ceiling})
		}
	}
	return v
}

// ceiling is the sum of the weaker side's links; zero when unknown.
func (v *wayView) ceiling() unit.BitRate {
	least := unit.BitRate(0)
	for _, side := range [][]linkLoad{v.egress, v.ingress} {
		var sum unit.BitRate
		for _, l := range side {
			if l.ceiling == 0 {
				sum = 0
				break
			}
			sum += l.ceiling
		}
		if sum > 0 && (least == 0 || sum < least) {
			least = sum
		}
	}
	return least
}

func (v *wayView) share() float64 {
	if c := v.ceiling(); c > 0 {
		return float64(v.goodput / c)
	}
	return 0
}

// judge goes from what is certain to what is inferred: links that are full
// first, then caps, then what TCP itself says it waited for, then processors.
func (v *wayView) judge() record.Finding {
	for _, rule := range []func() (record.Finding, bool){
		v.lineRate, v.lacpDown, v.fullLink, v.shaper, v.processor, v.windows, v.loss,
	} {
		if f, ok := rule(); ok {
			return f
		}
	}
	return v.unknown()
}

// expected is what this trial would carry with every link in use: the
// prediction with a policy that reaches ports and ports chosen, at the MTU
// that is set.
func expected(f predict.Fabric, t record.Trial) unit.BitRate {
	best := withPolicy(f, t.From, t.To)
	streams := max(t.Streams, linkCount(best, t.From, t.To))
	p, err := predict.Predict(best, predict.Traffic{From: t.From, To: t.To, Direction: t.Direction, Streams: streams, Protocol: t.Protocol, Ports: "chosen"})
	if err != nil {
		return 0
	}
	return p.Rate
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
