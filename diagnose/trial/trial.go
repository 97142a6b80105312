// Package trial says what limits a measured result, with the evidence and the
// remedy. It judges a record against the state of the hosts and the
// prediction.
//
// Each cause is a hypothesis of its own that is compared with the evidence by
// itself. judge.go has the one list of them and names the one that binds;
// decide.go says which measurement tells those apart that remain. A new cause,
// or a new sign of an old one, goes into its own file and never into another's
// condition. Don't decide what the evidence does not: answer unknown.
package trial

import (
	"slices"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/diagnose/trial/without"
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
	slackLink    = 0.85 // a link above it is used about as much as a full one
	roomLink     = 0.75 // below it there is room that a fault must have left
	atCeiling    = 0.95
	nearTie      = without.NearTie
	limitedShare = 0.30 // of the window's time
	busyCore     = 0.90
)

// Judge says what limits one trial. The fabric is the state in which it was
// measured.
func Judge(f predict.Fabric, t record.Trial) record.Finding {
	finding := worstWay(f, t)
	finding.From, finding.To, finding.Direction, finding.Streams = t.From, t.To, t.Direction, t.Streams
	finding.Rate, finding.Ceiling = t.Goodput, t.Ceiling
	finding.Phase, finding.Step = t.Phase, t.Step
	return finding
}

// worstWay is what limits the way that carries least of what it could; but a
// port that is out takes its part from both, and is seen where the rest is full.
func worstWay(f predict.Fabric, t record.Trial) record.Finding {
	worst := view(f, t, t.Direction.Ways()[0])
	finding := worst.judge()
	if t.Direction != flow.Both {
		return finding
	}
	other := view(f, t, t.Direction.Ways()[1])
	its := other.judge()
	if other.share() < worst.share() {
		worst, finding, other, its = other, its, worst, finding
	}
	if its.Cause == finding.Cause && its.Confidence >= worthNaming && len(finding.Ways) > 0 && len(its.Ways) > 0 {
		worst.eachWay = true
		both := finding.Ways[0].Joined(its.Ways[0])
		finding = worst.judge()
		finding.Do(append(record.Remedy{both}, finding.Ways[1:]...))
	} else if its.Cause != finding.Cause && min(its.Confidence, finding.Confidence) >= sureEnough && min(its.Gain, finding.Gain) > 0 {
		worst.other, other.other = its.Cause, finding.Cause
		if finding, its = worst.judge(), other.judge(); its.Gain > finding.Gain {
			return its
		}
	}
	if finding.Cause == record.LACPDown {
		return finding
	}
	if h, ok := other.fullLink(); ok && h.strong() && len(worst.lanes) > 0 && (finding.Confidence < sureEnough || worst.oneLinkToo(finding.Cause)) {
		return its
	}
	if h, ok := other.lacpDown(); ok && len(worst.outside) > 0 && finding.Confidence < h.sure {
		return its
	}
	return finding
}

// wayView is one direction of a trial: who sent by which links, who received
// by which, and how full each was.
type wayView struct {
	eachWay  bool         // both ways have the same cause, and are mended together
	other    record.Cause // of the other way, where it is another one, which stays; "" none
	trunk    bool         // the links between switches are what binds
	fabric   predict.Fabric
	trial    record.Trial
	way      flow.Direction
	from, to string
	goodput  unit.BitRate
	lanes    []record.Lane
	// egress are the sender's links, as its counters say, and ingress the
	// receiver's. Ports that their bond does not use are apart: they idle by
	// its state, not for want of flows.
	egress, ingress []linkLoad
	outside         []linkLoad
	waits           waits // of the streams that are held back
}

// linkLoad is how full a link was in the direction that matters.
type linkLoad struct {
	host, link string
	payload    unit.BitRate
	ceiling    unit.BitRate // zero unknown
}

func (l linkLoad) share() float64 {
	return diagnose.Fraction(l.payload, l.ceiling)
}

// traffic is what a remedy may change of the trial itself.
func (v *wayView) traffic() remedy.Traffic { return remedy.Of(v.trial) }

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
			v.add(&v.egress, linkLoad{l.Host, l.Link, l.TxPayload, l.Ceiling})
		case v.to:
			v.add(&v.ingress, linkLoad{l.Host, l.Link, l.RxPayload, l.Ceiling})
		}
	}
	v.waits = v.waitsOf(v.judgedLanes())
	return v
}

func (v *wayView) add(side *[]linkLoad, l linkLoad) {
	if l.share() <= idleLink && v.unused(l) {
		v.outside = append(v.outside, l)
		return
	}
	*side = append(*side, l)
}

// unused reports a port that its bond leaves aside while it uses others: a
// standby, down, or outside the active aggregator.
func (v *wayView) unused(l linkLoad) bool {
	h := v.fabric.Hosts[l.host]
	link, ok := h.Link(l.link)
	if !ok || link.Port == nil {
		return false
	}
	usable := h.UsablePorts(link.Port.Bond)
	return len(usable) > 0 && !slices.Contains(usable, l.link)
}

// ceiling is the sum of the weaker side's links; zero when unknown.
func (v *wayView) ceiling() unit.BitRate {
	out, in := total(v.egress), total(v.ingress)
	if out == 0 || in == 0 {
		return max(out, in)
	}
	return min(out, in)
}

func (v *wayView) share() float64 { return diagnose.Fraction(v.goodput, v.ceiling()) }
