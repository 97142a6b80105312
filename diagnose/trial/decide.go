package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
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
)

// Decide is a trial's finding once probes were made for it in the fabric's state: each
// outcome makes the causes that would show it likelier and the others less so. A probe of
// kind "same" is what the others are set beside, else the trial itself; probes that show
// nothing, none at all, or a path that is full now, leave the finding as it is.
func Decide(f predict.Fabric, finding record.Finding, t record.Trial, probes []record.Trial) record.Finding {
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
			out = append(out, Judge(f, p))
		case record.ProbePacketSize:
			if len(p.Sizes) > 0 {
				with := base
				with.Sizes = p.Sizes
				out = append(out, Judge(f, with))
			}
		}
	}
	return out
}

// weigh makes each cause as likely as what was seen is where it binds.
func (c chances) weigh(o probed.Outcome) {
	for cause := range c {
		c[cause] *= given(o, cause)
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
		if e := o.Evidence(); given(o, best) >= even {
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

// sight is one thing that a probe may show.
type sight struct {
	kind record.ProbeKind
	word string
}

// How likely something is seen where a cause binds: as good as always, mostly,
// as likely as not, seldom, hardly ever. Finer shades would be invented.
const (
	always = 0.95
	mostly = 0.80
	even   = 0.50
	rarely = 0.20
	hardly = 0.05
	// elsewhere is of a cause that nobody thought of.
	elsewhere = 0.40
)

// likelihood is how likely a sight is where a cause binds; a cause that is not
// named is even.
type likelihood map[record.Cause]float64

// given is how likely the outcome is where the cause binds.
func given(o probed.Outcome, c record.Cause) float64 {
	if o.Word == probed.Unclear {
		return even
	}
	if c == record.Unknown {
		return elsewhere
	}
	if p, ok := shows[sight{o.Kind, o.Word}][c]; ok {
		return p
	}
	return even
}

// shows is the table: by what is seen, the causes that would show it and those
// that would not.
var shows = map[sight]likelihood{
	// A limit of each stream grows with their number, one of the way or of the
	// links does not; a processor's does while cores are left.
	{record.ProbeStreams, probed.Grew}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Congestion: always, record.Pacing: mostly, record.Reordering: mostly,
		record.SenderCPU: even, record.ReceiverCPU: even, record.HashImbalance: even, record.Application: even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.LACPDown: hardly, record.SingleLink: rarely,
		record.AsymmetricRoute: rarely, record.MTU: rarely,
	},
	{record.ProbeStreams, probed.Each}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Pacing: always, record.Shaper: mostly, record.Application: mostly,
		record.Congestion: hardly, record.Reordering: rarely, record.SenderCPU: even, record.ReceiverCPU: even, record.HashImbalance: rarely,
		record.LineRate: hardly, record.CardSlot: hardly, record.LACPDown: hardly, record.SingleLink: rarely, record.AsymmetricRoute: rarely, record.MTU: rarely,
	},
	{record.ProbeStreams, probed.Kept}: {
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: hardly, record.Pacing: rarely, record.Reordering: rarely,
		record.SenderCPU: even, record.ReceiverCPU: even, record.HashImbalance: even, record.Application: even,
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.LACPDown: always, record.SingleLink: mostly,
		record.AsymmetricRoute: mostly, record.MTU: mostly,
	},
	{record.ProbeStreams, probed.Fell}: {
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: hardly, record.Pacing: hardly,
		record.SenderCPU: mostly, record.ReceiverCPU: mostly, record.Reordering: rarely, record.Application: rarely,
	},
	{record.ProbeBuffer, probed.Grew}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Congestion: rarely, record.Reordering: rarely,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.SingleLink: hardly, record.HashImbalance: hardly,
		record.SenderCPU: hardly, record.ReceiverCPU: hardly, record.Pacing: hardly, record.LACPDown: hardly, record.MTU: hardly,
		record.Application: rarely, record.AsymmetricRoute: hardly,
	},
	{record.ProbeBuffer, probed.Kept}: {
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: mostly, record.Reordering: mostly,
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.SingleLink: always, record.HashImbalance: always,
		record.SenderCPU: always, record.ReceiverCPU: always, record.Pacing: always, record.LACPDown: always, record.MTU: always,
		record.Application: mostly, record.AsymmetricRoute: always,
	},
	// A stream that recovers from loss over a long way grows for seconds, and so
	// does an automatic window; a bucket is empty after a while.
	{record.ProbeLonger, probed.Grew}: {
		record.Congestion: mostly, record.ReceiveWindow: even, record.SendBuffer: even, record.Reordering: even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.Pacing: hardly, record.SingleLink: rarely,
		record.HashImbalance: rarely, record.SenderCPU: rarely, record.ReceiverCPU: rarely,
	},
	{record.ProbeLonger, probed.Fell}: {
		record.Shaper: mostly, record.Congestion: even, record.SenderCPU: even, record.ReceiverCPU: even,
		record.LineRate: hardly, record.Pacing: hardly, record.ReceiveWindow: rarely, record.SendBuffer: rarely,
		record.CardSlot: hardly, record.SingleLink: rarely, record.HashImbalance: rarely,
	},
	{record.ProbeLonger, probed.Kept}: {record.Congestion: even, record.Shaper: even},
	// At a pace below what passes a queue does not overflow; what is lost by
	// chance, or overtaken, is so at any pace.
	{record.ProbeSlower, probed.Clean}: {
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.SingleLink: mostly, record.HashImbalance: mostly,
		record.LACPDown: mostly, record.ReceiverCPU: mostly, record.Congestion: hardly, record.Reordering: rarely, record.MTU: hardly,
	},
	{record.ProbeSlower, probed.Lossy}: {
		record.Congestion: always, record.Reordering: mostly, record.MTU: even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.SingleLink: hardly, record.HashImbalance: hardly,
		record.LACPDown: hardly, record.ReceiverCPU: rarely, record.SenderCPU: hardly, record.ReceiveWindow: hardly, record.SendBuffer: hardly,
		record.Pacing: hardly, record.Application: hardly,
	},
	{record.ProbeSlower, probed.Short}: {
		record.Application: mostly, record.ReceiveWindow: even, record.SendBuffer: even, record.SenderCPU: even, record.ReceiverCPU: even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.Congestion: rarely, record.Pacing: mostly,
	},
	// Datagrams know no window and take no loss to heart.
	{record.ProbeDatagrams, probed.Carried}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Application: mostly, record.Pacing: mostly, record.SenderCPU: even,
		record.ReceiverCPU: even, record.Reordering: even, record.Congestion: hardly,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.SingleLink: hardly, record.LACPDown: hardly,
		record.HashImbalance: rarely, record.MTU: rarely,
	},
	{record.ProbeDatagrams, probed.Capped}: {
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.SingleLink: mostly, record.LACPDown: mostly,
		record.HashImbalance: even, record.Congestion: rarely, record.ReceiverCPU: rarely,
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Application: hardly, record.Pacing: rarely, record.SenderCPU: hardly,
		record.Reordering: hardly,
	},
	{record.ProbeDatagrams, probed.Lossy}: {
		record.Congestion: always, record.Reordering: rarely, record.Shaper: rarely, record.LineRate: rarely, record.CardSlot: rarely,
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Application: hardly, record.Pacing: hardly, record.SenderCPU: hardly,
		record.ReceiverCPU: rarely,
	},
	// A queue of the sender's own host holds datagrams back as it does TCP.
	{record.ProbeDatagrams, probed.Held}: {
		record.Shaper: mostly, record.LineRate: mostly, record.CardSlot: mostly, record.SenderCPU: mostly, record.SingleLink: mostly,
		record.LACPDown: mostly, record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: hardly, record.Reordering: hardly,
		record.ReceiverCPU: rarely, record.Application: rarely, record.MTU: rarely,
	},
	{record.ProbeDatagrams, probed.Dropped}: {
		record.ReceiverCPU: always, record.Application: even, record.Shaper: hardly, record.Congestion: hardly, record.LineRate: hardly,
		record.SenderCPU: hardly, record.SendBuffer: hardly,
	},
	{record.ProbeDatagrams, probed.Reordered}: {
		record.Reordering: always, record.Congestion: rarely, record.Shaper: rarely, record.LineRate: rarely, record.ReceiveWindow: rarely,
		record.SendBuffer: rarely, record.CardSlot: rarely, record.SenderCPU: rarely, record.ReceiverCPU: rarely, record.Pacing: rarely,
		record.Application: rarely,
	},
	{record.ProbePacketSize, probed.Vanish}: {
		record.MTU: always, record.Congestion: hardly, record.Shaper: hardly, record.LineRate: hardly, record.ReceiveWindow: hardly,
		record.SendBuffer: hardly, record.Reordering: hardly, record.SenderCPU: hardly, record.ReceiverCPU: hardly, record.CardSlot: hardly,
		record.HashImbalance: hardly, record.SingleLink: hardly, record.LACPDown: hardly, record.AsymmetricRoute: rarely, record.Pacing: hardly,
		record.Application: hardly,
	},
	{record.ProbePacketSize, probed.Pass}: {record.MTU: hardly, record.AsymmetricRoute: even},
	{record.ProbeIdle, probed.Links}: {
		record.LineRate: always, record.Congestion: mostly, record.Shaper: even, record.ReceiveWindow: rarely, record.SendBuffer: rarely,
		record.Pacing: rarely, record.Application: rarely, record.SenderCPU: rarely, record.ReceiverCPU: rarely,
	},
	{record.ProbeIdle, probed.Sender}:   {record.SenderCPU: always, record.ReceiverCPU: rarely, record.LineRate: rarely, record.Shaper: rarely},
	{record.ProbeIdle, probed.Receiver}: {record.ReceiverCPU: always, record.SenderCPU: rarely, record.LineRate: rarely, record.Shaper: rarely},
	{record.ProbeIdle, probed.Quiet}:    {record.LineRate: even, record.SenderCPU: even, record.ReceiverCPU: even},
}

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
	if out.Summary == "" {
		out.Summary = plainly[cause]
	}
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
