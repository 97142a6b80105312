// Package decided is a trial's finding once probes were made for it: how likely each
// cause is by what they showed.
package decided

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/diagnose/trial"
	"github.com/linerate/linerate/diagnose/trial/carried"
	"github.com/linerate/linerate/diagnose/trial/probed"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

const (
	// A cause that nobody had thought of is possible too, and no outcome speaks
	// for it. Where a finding names none, those that it leaves open are likely
	// in sum; one that its decision names had some reason to be there.
	somethingElse = 0.10
	leftOpen      = 0.80
	leastDoubt    = 0.15
	// decided is the share of all that is still possible from which a cause is
	// named, surest what a few trials can make of it.
	decided = 0.60
	surest  = 0.97
	// comesAndGoes is a swing of the rate from which on two trials may meet two limits.
	comesAndGoes = 0.5
)

// Explained is what a record's trial shows in that state, with the probes made for it.
func Explained(state predict.Fabric, r record.Record, t record.Trial) record.Finding {
	return By(state, trial.Judge(state, t), t, r.ProbesOf(t))
}

// By is a trial's finding once probes were made for it in the fabric's state: each
// outcome makes the causes that would show it likelier and the others less so. A probe of
// kind "same" is what the others are set beside, else the trial itself; probes that show
// nothing, none at all, or a path that is full now, leave the finding as it is.
func By(f predict.Fabric, finding record.Finding, t record.Trial, probes []record.Trial) record.Finding {
	base := t
	for _, p := range probes {
		if kind, _, _ := p.Probe(); kind == record.ProbeSame {
			base = p
		}
	}
	var seen []probed.Outcome
	for _, p := range probes {
		seen = append(seen, probed.Outcomes(base, p)...)
	}
	if len(seen) == 0 {
		return finding
	}
	again := judgedAgain(f, base, probes)
	if diagnose.Fraction(base.Goodput, t.Goodput) > 1+probed.KeptBy && diagnose.Fraction(base.Goodput, base.Ceiling) > probed.Reached {
		finding.Summary += fmt.Sprintf(" Measured again, the same streams carried %v: what limits them comes and goes, and no probe met it.", base.Goodput)
		return finding
	}
	chances := chancesOf(finding, again)
	for _, o := range seen {
		chances.weigh(o)
	}
	out := chances.finding(finding, t, seen, again)
	if swing, _ := carried.Swing(t.Blocks); swing > comesAndGoes && out.Cause != finding.Cause && out.Cause != record.Unknown && finding.Confidence >= decided {
		finding.Summary += fmt.Sprintf(" What limits it comes and goes, and the probes met it at another time: they point to %s.", out.Cause)
		finding.Confidence = min(finding.Confidence, decided)
		return finding
	}
	if len(out.Ways) > 0 { // none in a record from before there were steps
		out.Do(remedy.OfTrial(f.Hosts, t, out.Cause, out.Ways))
	}
	return out
}

// chances are the causes that are possible, and how likely each is.
type chances map[record.Cause]float64

// chancesOf begins with what the trial alone, and the probes as trials of
// their own, say.
func chancesOf(finding record.Finding, again []record.Finding) chances {
	c := make(chances)
	raise := func(cause record.Cause, to float64) {
		if cause != record.Unknown {
			c[cause] = max(c[cause], to)
		}
	}
	for _, cause := range finding.Decide.Between {
		raise(cause, leastDoubt)
	}
	for _, one := range append([]record.Finding{finding}, again...) {
		raise(one.Cause, one.Confidence)
		for _, a := range one.Also {
			raise(a.Cause, a.Confidence)
		}
	}
	sum := c.sum()
	if finding.Cause == record.Unknown && sum > 0 && sum < leftOpen {
		for cause := range c {
			c[cause] *= leftOpen / sum
		}
		sum = leftOpen
	}
	c[record.Unknown] = max(somethingElse, 1-sum)
	return c
}

func (c chances) sum() float64 {
	sum := 0.0
	for _, p := range c {
		sum += p
	}
	return sum
}

// judgedAgain is what the probes' own trials say. One that was made unlike the
// trial, by its pace or its protocol, says nothing of it.
func judgedAgain(f predict.Fabric, base record.Trial, probes []record.Trial) []record.Finding {
	var out []record.Finding
	for _, p := range probes {
		switch kind, _, _ := p.Probe(); kind {
		case record.ProbeSame, record.ProbeLonger, record.ProbeObserved:
			out = append(out, trial.Judge(f, p))
		case record.ProbePacketSize:
			if len(p.Sizes) > 0 {
				with := base
				with.Sizes = p.Sizes
				out = append(out, trial.Judge(f, with))
			}
		}
	}
	return out
}

// weigh makes each cause as likely as what was seen is where it binds.
func (c chances) weigh(o probed.Outcome) {
	for cause := range c {
		c[cause] *= probed.Given(o, cause)
	}
	c.share()
}

// share makes the sum one.
func (c chances) share() {
	sum := c.sum()
	if sum <= 0 {
		return
	}
	for cause := range c {
		c[cause] /= sum
	}
}

// ranked are the causes, the likeliest first.
func (c chances) ranked() []record.Cause {
	order := record.Causes()
	var out []record.Cause
	for _, cause := range order {
		if c[cause] > 0 {
			out = append(out, cause)
		}
	}
	slices.SortStableFunc(out, func(a, b record.Cause) int { return cmp.Compare(c[b], c[a]) })
	return out
}

// finding writes down what is the likeliest now, with what the probes showed.
func (c chances) finding(old record.Finding, t record.Trial, seen []probed.Outcome, again []record.Finding) record.Finding {
	order := c.ranked()
	best := order[0]
	out := old
	out.Missing, out.Decide = nil, record.Decision{}
	if best == record.Unknown || c[best] < decided {
		best = record.Unknown
		out.Summary = "What the probes showed does not settle it. " + leftOver(order, c)
		out.Do(record.ByHand(stillUnknown))
		out.Expected, out.Gain, out.Next, out.Against = 0, 0, nil, nil
		out.Confidence = 0
	} else {
		out = inWords(best, old, again)
		out.Confidence = min(c[best], surest)
	}
	out.Cause = best
	out.From, out.To, out.Direction, out.Streams = t.From, t.To, t.Direction, t.Streams
	out.Rate, out.Ceiling, out.Phase, out.Step = t.Goodput, t.Ceiling, t.Phase, t.Step
	out.Also = c.also(best, order, old, again)
	said := ""
	var facts []record.Evidence
	for _, o := range seen {
		said += o.Says + " "
		if e := o.Evidence(); probed.Given(o, best) >= probed.Even {
			facts = append(facts, e)
		} else {
			out.Against = append(out.Against, e)
		}
	}
	out.Summary = said + out.Summary
	out.Evidence = append(facts, out.Evidence...)
	return out
}

// also are the causes that are still possible.
func (c chances) also(best record.Cause, order []record.Cause, old record.Finding, again []record.Finding) []record.Alternative {
	var out []record.Alternative
	for _, cause := range order {
		if cause == best || cause == record.Unknown || c[cause] < worthKeeping {
			continue
		}
		f := inWords(cause, old, again)
		out = append(out, record.Alternative{Cause: cause, Confidence: c[cause], Summary: f.Summary, For: f.Evidence, Against: f.Against, Expected: f.Expected})
	}
	return out
}

// worthKeeping is the likelihood below which a cause is no alternative.
const worthKeeping = 0.03

// inWords is a finding of a cause in the words that a judgement of it has
// found already: the probes' own first, then the trial's, then what can be said
// of every such case.
func inWords(cause record.Cause, old record.Finding, again []record.Finding) record.Finding {
	for _, f := range append(append([]record.Finding(nil), again...), old) {
		if f.Cause == cause {
			f.Missing, f.Decide, f.Also = nil, record.Decision{}, nil
			return f
		}
	}
	out := record.Finding{Cause: cause}
	out.Do(remedy.Usual(cause))
	for _, f := range append(append([]record.Finding(nil), again...), old) {
		for _, a := range f.Also {
			if a.Cause == cause && out.Summary == "" {
				out.Summary, out.Evidence, out.Against, out.Expected = a.Summary, a.For, a.Against, a.Expected
			}
		}
	}
	out.Summary = cmp.Or(out.Summary, plainly[cause])
	return out
}

// plainly says of a cause what is true wherever it binds, for causes that were not judged before a probe named them.
var plainly = map[record.Cause]string{
	record.LineRate:        "The links in use are full.",
	record.HashImbalance:   "The streams share links while others idle.",
	record.SingleLink:      "Only one link can be used for this traffic.",
	record.ReceiveWindow:   "The receiver's window is the limit of each stream.",
	record.SendBuffer:      "The sender's buffer is the limit of each stream.",
	record.Congestion:      "Something on the way drops packets, whatever the rate, and the senders slow down for it.",
	record.Reordering:      "Packets overtake each other on the way, and the senders take that for loss.",
	record.SenderCPU:       "The sender's processor is the limit.",
	record.ReceiverCPU:     "The receiver's processor is the limit.",
	record.CardSlot:        "The card, or its slot, carries no more.",
	record.Shaper:          "Something on the way lets no more through than this rate, and no link is full: a shaper.",
	record.MTU:             "Packets of the full size are lost on the way.",
	record.LACPDown:        "Ports of the bond are not in use.",
	record.AsymmetricRoute: "Traffic leaves by the wrong link.",
	record.Pacing:          "The sender paces its streams.",
	record.Application:     "The program sends, or reads, no faster.",
}

const stillUnknown = "measure with both hosts observed and the fabric declared (speeds, rates, round trip), and look at the switches' own counters"

// leftOver names what is still possible.
func leftOver(order []record.Cause, c chances) string {
	var words []string
	for _, cause := range order {
		if cause != record.Unknown && c[cause] >= worthKeeping && len(words) < 3 {
			words = append(words, fmt.Sprintf("%s (%.0f %%)", cause, 100*c[cause]))
		}
	}
	if len(words) == 0 {
		return "None of the causes that were thought of shows it."
	}
	return "Still possible: " + strings.Join(words, ", ") + "."
}
