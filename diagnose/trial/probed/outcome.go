// Package probed says what a probe showed beside the trial that it was made for, in one
// word of a table and as people say it, and how likely each cause shows that. It must not
// judge trials.
package probed

import (
	"fmt"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// What a probe must differ by, as a share of what was before: a sound network's runs do by a
// few percent, by ten beside other traffic.
const (
	grewBy  = 1.20
	KeptBy  = 0.10 // about where it was
	fellTo  = 0.80
	longBy  = 1.10 // of the same trial, longer: its own mean over more of it
	longTo  = 0.90
	Reached = 0.93 // of a pace

	// A share of loss below lossNone is none; an outcome about loss needs so
	// many expected losses that seeing none is no chance (e^-5 is 0.7 %).
	lossNone   = 1e-5
	lossFew    = 1e-4
	lossKept   = 1.0 / 3
	lossMany   = 0.02 // of datagrams: they were more than passes
	leastCount = 5

	passedMore  = 1.15 // of the rate that TCP had
	passedSame  = 1.12
	offeredMore = 1.25
	overtaken   = 1e-3 // of the datagrams
	busyLink    = 0.10 // of a link's ceiling, while nothing is sent
	busyNothing = 0.50 // of a core
)

// The words for what a probe showed.
const (
	Unclear   = "unclear"
	Grew      = "grew"
	Each      = "each" // grew, as many times as the streams, and nothing is lost
	Kept      = "kept"
	Fell      = "fell"
	Clean     = "clean"
	Lossy     = "lossy"
	Short     = "short"
	Carried   = "carried"
	Capped    = "capped"
	Held      = "held"
	Dropped   = "dropped"
	Reordered = "reordered"
	Vanish    = "vanish"
	Pass      = "pass"
	Links     = "links"
	Sender    = "sender"
	Receiver  = "receiver"
	Quiet     = "quiet"
)

// Outcome is what one probe showed, in one of the words of the table, and as
// people say it.
type Outcome struct {
	Kind  record.ProbeKind
	Word  string
	Says  string // a sentence
	What  string
	Value string
}

// Evidence is what it showed as a fact beside others.
func (o Outcome) Evidence() record.Evidence {
	return record.Evidence{What: o.What, Value: o.Value, Source: "the probe (" + string(o.Kind) + ")"}
}

// Outcomes is what a probe shows beside the trial as it was; none for what is
// no probe, or the trial itself again.
func Outcomes(base, p record.Trial) []Outcome {
	kind, _, ok := p.Probe()
	if !ok {
		return nil
	}
	var out []Outcome
	switch kind {
	case record.ProbeStreams:
		out = []Outcome{probedStreams(base, p)}
	case record.ProbeBuffer:
		out = []Outcome{probedBuffer(base, p)}
	case record.ProbeLonger:
		out = []Outcome{probedLonger(base, p)}
	case record.ProbeSlower:
		out = []Outcome{probedSlower(base, p)}
	case record.ProbeDatagrams:
		out = probedDatagrams(base, p)
	case record.ProbePacketSize:
		out = []Outcome{probedSize(p)}
	case record.ProbeIdle:
		out = probedIdle(p)
	case record.ProbeObserved:
		out = []Outcome{{Word: Unclear, What: "the rate with both hosts observed", Value: p.Goodput.String(),
			Says: fmt.Sprintf("With both hosts observed it is %v.", p.Goodput)}}
	}
	for i := range out {
		out[i].Kind = kind
	}
	return out
}

// changed is how a rate changed, in a word of the table.
func changed(from, to unit.BitRate, up, down float64) string {
	g := diagnose.Fraction(to, from)
	switch {
	case from <= 0 && to > 0, g >= up:
		return Grew
	case g <= down:
		return Fell
	case g >= 1-KeptBy && g <= 1+KeptBy:
		return Kept
	}
	return Unclear
}

func probedStreams(base, p record.Trial) Outcome {
	if before, now := linksUsed(base), linksUsed(p); before > 0 && now > before {
		return probedLinks(base, p, before, now)
	}
	o := Outcome{Word: changed(base.Goodput, p.Goodput, grewBy, fellTo),
		What: fmt.Sprintf("the rate with %s instead of %d", unit.Counted(p.Streams, "stream"), base.Streams), Value: fromTo(base, p)}
	switch with := fmt.Sprintf("With %s instead of %d ", unit.Counted(p.Streams, "stream"), base.Streams); o.Word {
	case Grew:
		o.Says = with + fmt.Sprintf("the rate grew from %v to %v: each stream has a limit of its own.", base.Goodput, p.Goodput)
		if nothingLost(base) && nothingLost(p) && sameEach(base, p) {
			o.Word = Each
			o.Says = with + fmt.Sprintf("the rate grew from %v to %v, each stream carries what it did before, and nothing is lost: something holds each flow to that rate.", base.Goodput, p.Goodput)
		}
	case Kept:
		o.Says = with + fmt.Sprintf("the rate stayed where it was (%v, %v before): the limit is common to all of them.", p.Goodput, base.Goodput)
	case Fell:
		o.Says = with + fmt.Sprintf("the rate fell from %v to %v: they are in each other's way.", base.Goodput, p.Goodput)
	default:
		o.Says = with + fmt.Sprintf("the rate went from %v to %v, which may be chance.", base.Goodput, p.Goodput)
	}
	return o
}

// nothingLost reports a trial that sent enough to tell, and hardly anything again, and of
// which hardly anything was marked (ECN): to congestion control a mark is a loss.
func nothingLost(t record.Trial) bool {
	share, segments := repeated(t)
	return segments > 0 && share < lossFew && float64(record.ECNMarks(t.Lanes)) < lossFew*segments
}

// sameEach reports streams that carry as much each in both trials.
func sameEach(a, b record.Trial) bool {
	each := diagnose.Fraction(b.Goodput/unit.BitRate(max(b.Streams, 1)), a.Goodput/unit.BitRate(max(a.Streams, 1)))
	return each >= 1-KeptBy && each <= 1+KeptBy
}

// probedLinks is what more streams show that used more links as well: the rate
// of a link is what can be set beside what it was.
func probedLinks(base, p record.Trial, before, now int) Outcome {
	was, is := base.Goodput/unit.BitRate(before), p.Goodput/unit.BitRate(now)
	o := Outcome{Word: Unclear, What: fmt.Sprintf("the rate of each link with %s instead of %d", unit.Counted(p.Streams, "stream"), base.Streams), Value: fmt.Sprintf("%v, %v before", is, was)}
	with := fmt.Sprintf("With %s instead of %d, traffic used %s instead of %d", unit.Counted(p.Streams, "stream"), base.Streams, unit.Counted(now, "link"), before)
	if changed(was, is, grewBy, fellTo) == Kept {
		o.Word, o.Says = Kept, with+fmt.Sprintf(", and each carried what one did (%v, %v before): each link is capped.", is, was)
		return o
	}
	o.Says = with + fmt.Sprintf(": the rate went from %v to %v, which does not tell a limit of the links from one of the streams.", base.Goodput, p.Goodput)
	return o
}

// linksUsed is how many links a trial's senders sent its streams by; zero where
// nobody counted.
func linksUsed(t record.Trial) int {
	const part = 0.05 // of all that was carried; acknowledgements are less
	used := 0
	for _, l := range t.Links {
		sends := t.Direction == flow.Both || (l.Host == t.From) == (t.Direction != flow.Reverse)
		if sends && float64(l.TxPayload) >= part*float64(t.Goodput) && t.Goodput > 0 {
			used++
		}
	}
	return used
}

func fromTo(base, p record.Trial) string {
	return fmt.Sprintf("%v, %v before", p.Goodput, base.Goodput)
}

func probedBuffer(base, p record.Trial) Outcome {
	_, value, _ := p.Probe()
	o := Outcome{Word: changed(base.Goodput, p.Goodput, grewBy, fellTo),
		What: fmt.Sprintf("the rate with socket buffers of %v", unit.Bytes(value)), Value: fromTo(base, p)}
	switch with := fmt.Sprintf("With socket buffers of %v ", unit.Bytes(value)); o.Word {
	case Grew:
		o.Says = with + fmt.Sprintf("the rate grew from %v to %v: a window or a buffer was the limit.", base.Goodput, p.Goodput)
	case Kept:
		o.Says = with + fmt.Sprintf("the rate stayed where it was (%v, %v before): no window or buffer is the limit.", p.Goodput, base.Goodput)
	default:
		o.Says = with + fmt.Sprintf("the rate went from %v to %v.", base.Goodput, p.Goodput)
	}
	return o
}

func probedLonger(base, p record.Trial) Outcome {
	o := Outcome{Word: changed(base.Goodput, p.Goodput, longBy, longTo),
		What: fmt.Sprintf("the rate over %.0f s", p.Window), Value: fromTo(base, p)}
	switch over := fmt.Sprintf("Over %.0f s ", p.Window); o.Word {
	case Grew:
		o.Says = over + fmt.Sprintf("the rate is %v and not %v: it was still growing.", p.Goodput, base.Goodput)
	case Fell:
		o.Says = over + fmt.Sprintf("the rate is %v and not %v: it does not last.", p.Goodput, base.Goodput)
	case Kept:
		o.Says = over + fmt.Sprintf("the rate is the same (%v, %v before).", p.Goodput, base.Goodput)
	default:
		o.Says = over + fmt.Sprintf("the rate is %v, %v before.", p.Goodput, base.Goodput)
	}
	return o
}

// repeated is the share of its segments that a trial had to send again, and how
// many segments it sent.
func repeated(t record.Trial) (share, segments float64) {
	var again float64
	for _, l := range t.Lanes {
		again += float64(l.Retransmits)
		sent := float64(l.TCP.SegmentsOut)
		if sent == 0 && l.TCP.SndMSS > 0 {
			sent = float64(l.Goodput) / 8 * t.Window / float64(l.TCP.SndMSS)
		}
		segments += sent
	}
	if segments <= 0 {
		return 0, 0
	}
	return again / segments, segments
}

// probedSlower: what is lost at a pace that the path carried before is not lost for
// want of room.
func probedSlower(base, p record.Trial) Outcome {
	_, pace, _ := p.Probe()
	before, _ := repeated(base)
	now, segments := repeated(p)
	o := Outcome{What: fmt.Sprintf("segments sent again at a pace of %v", unit.BitRate(pace)),
		Value: fmt.Sprintf("%.3f %%, %.3f %% before", 100*now, 100*before)}
	at := fmt.Sprintf("Paced at %v, ", unit.BitRate(pace))
	switch {
	case before < lossNone && now < lossNone:
		o.Word, o.Says = Unclear, at+"as without, nothing is lost."
	case now >= max(lossFew, lossKept*before):
		o.Word = Lossy
		o.Says = at + fmt.Sprintf("%.2g %% of the segments are lost all the same (%.2g %% before): they are not lost for want of room.", 100*now, 100*before)
	case before*segments < leastCount:
		o.Word, o.Says = Unclear, at+"too few segments were sent for one to be lost."
	case diagnose.Fraction(p.Goodput, unit.BitRate(pace)) < Reached:
		o.Word, o.Says = Short, at+fmt.Sprintf("no more than %v arrives, and hardly any segment is lost.", p.Goodput)
	default:
		o.Word = Clean
		o.Says = at + fmt.Sprintf("all of it arrives and hardly any segment is lost (%.2g %%, %.2g %% before): the loss came of sending more than passes.", 100*now, 100*before)
	}
	return o
}

func probedDatagrams(base, p record.Trial) []Outcome {
	if p.UDP == nil || p.UDP.Sent == 0 {
		return nil
	}
	u := *p.UDP
	lost := float64(u.Lost-min(u.SocketDrops, u.Lost)) / float64(u.Sent)
	over := diagnose.Fraction(p.Goodput, base.Goodput)
	o := Outcome{What: "datagrams that arrived, and those lost on the way", Value: fmt.Sprintf("%v (TCP: %v), %.3f %%", p.Goodput, base.Goodput, 100*lost)}
	switch of := fmt.Sprintf("Of UDP %v arrives", p.Goodput); {
	case u.SocketDrops > u.Lost/2 && float64(u.SocketDrops) > lossMany*float64(u.Sent):
		o.Word, o.Says = Dropped, of+": the receiver's socket was too full for the rest."
	case lost > lossMany && over <= passedSame:
		o.Word, o.Says = Capped, of+fmt.Sprintf(" and %.0f %% of what was sent is lost: the way lets no more through, whatever the protocol.", 100*lost)
	case lost > lossFew && lost*float64(u.Sent) >= leastCount:
		o.Word, o.Says = Lossy, of+fmt.Sprintf(", where TCP had %v, and %.2g %% is lost%s", base.Goodput, 100*lost, whyLost(over))
	case p.RateLimit > 0 && diagnose.Fraction(p.RateLimit, base.Goodput) >= offeredMore && over <= passedSame && over >= 1-KeptBy:
		o.Word, o.Says = Held, of+fmt.Sprintf(" of %v that was offered, as much as TCP had (%v), and nothing is lost: the sender itself is the limit.", p.RateLimit, base.Goodput)
	case over >= passedMore:
		o.Word, o.Says = Carried, of+fmt.Sprintf(" where TCP had %v, and nothing is lost: the way has room, and it is TCP or the hosts that stop.", base.Goodput)
	default:
		o.Word, o.Says = Unclear, of+fmt.Sprintf(", where TCP had %v: no more was sent.", base.Goodput)
	}
	out := []Outcome{o}
	if u.Received > 0 && float64(u.Reordered) > overtaken*float64(u.Received) {
		share := 100 * float64(u.Reordered) / float64(u.Received)
		out = append(out, Outcome{Word: Reordered, What: "datagrams that another overtook", Value: fmt.Sprintf("%.2f %%", share),
			Says: fmt.Sprintf("%.2g %% of the datagrams were overtaken on the way.", share)})
	}
	return out
}

// whyLost is what datagrams that are lost at a rate say, by what TCP had.
func whyLost(over float64) string {
	if over >= passedMore {
		return ": there is room, and packets are lost for another reason."
	}
	return ", though no more was sent than passes: packets are lost at any rate."
}

func probedSize(p record.Trial) Outcome {
	o := Outcome{Word: Unclear, What: "packets of the full size", Value: "nobody answers echoes",
		Says: "Nobody answers echoes, so sizes cannot be told apart."}
	for _, s := range p.Sizes {
		switch {
		case !s.Answers || s.Sent == 0:
		case s.Passed < s.Sent:
			o.Word, o.Value = Vanish, fmt.Sprintf("%d of %d of %d bytes came back", s.Passed, s.Sent, s.MTU)
			o.Says = fmt.Sprintf("Packets of %d bytes do not get from %s to %s and back%s.", s.MTU, s.From, s.To, host.AtMost(s.Passes))
			return o
		case o.Word == Unclear:
			o.Word, o.Value = Pass, fmt.Sprintf("all of %d bytes came back", s.MTU)
			o.Says = fmt.Sprintf("Packets of %d bytes pass.", s.MTU)
		}
	}
	return o
}

// probedIdle: what links carry and processors do while the trial's hosts send
// nothing to each other is somebody else's.
func probedIdle(p record.Trial) []Outcome {
	var out []Outcome
	for _, l := range p.Links {
		if share := max(diagnose.Fraction(l.TxPayload, l.Ceiling), diagnose.Fraction(l.RxPayload, l.Ceiling)); share >= busyLink {
			out = append(out, Outcome{Word: Links, What: "what " + l.Link + " of " + l.Host + " carries while nothing is sent", Value: diagnose.Percent(share),
				Says: fmt.Sprintf("While nothing was sent, %s of %s carried %s of what it can: other traffic uses it.", l.Link, l.Host, diagnose.Percent(share))})
			break
		}
	}
	for _, c := range p.CPU {
		if c.Shared || c.Busiest < busyNothing {
			continue
		}
		word := Receiver
		if c.Host == p.From && p.Direction != flow.Reverse || c.Host == p.To && p.Direction == flow.Reverse {
			word = Sender
		}
		out = append(out, Outcome{Word: word, What: "the busiest core of " + c.Host + " while nothing is sent", Value: diagnose.Percent(c.Busiest),
			Says: fmt.Sprintf("While nothing was sent, a core of %s was busy %s of the time with something else.", c.Host, diagnose.Percent(c.Busiest))})
	}
	if out == nil {
		out = []Outcome{{Word: Quiet, What: "links and processors while nothing is sent", Value: "idle", Says: "While nothing is sent the links and the processors are idle."}}
	}
	return out
}
