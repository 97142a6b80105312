package diagnose

import (
	"cmp"
	"slices"

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
)

// Decide is a trial's finding once probes were made for it: each outcome makes
// the causes that would show it likelier and the others less so. The fabric is
// the state that the probes were made in. A probe of kind "same" is what the
// others are set beside, else the trial itself; probes that show nothing, and
// none at all, leave the finding as it is.
func Decide(f predict.Fabric, finding record.Finding, t record.Trial, probes []record.Trial) record.Finding {
	base := t
	for _, p := range probes {
		if kind, _, _ := p.Probe(); kind == record.ProbeSame {
			base = p
		}
	}
	var seen []outcome
	for _, p := range probes {
		seen = append(seen, outcomes(base, p)...)
	}
	if len(seen) == 0 {
		return finding
	}
	again := judgedAgain(f, base, probes)
	chances := chancesOf(finding, again)
	for _, o := range seen {
		chances.weigh(o)
	}
	return chances.finding(finding, t, seen, again)
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
			out = append(out, Trial(f, p))
		case record.ProbePacketSize:
			if len(p.Sizes) > 0 {
				with := base
				with.Sizes = p.Sizes
				out = append(out, Trial(f, with))
			}
		}
	}
	return out
}

// weigh makes each cause as likely as what was seen is where it binds.
func (c chances) weigh(o outcome) {
	for cause := range c {
		c[cause] *= o.given(cause)
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
func (c chances) finding(old record.Finding, t record.Trial, seen []outcome, again []record.Finding) record.Finding {
	order := c.ranked()
	best := order[0]
	out := old
	out.Missing, out.Decide = nil, record.Decision{}
	if best == record.Unknown || c[best] < decided {
		best = record.Unknown
		out.Summary = "What the probes showed does not settle it. " + leftOver(order, c)
		out.Remedy = stillUnknown
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
		said += o.says + " "
		if e := o.evidence(); o.given(best) >= even {
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
