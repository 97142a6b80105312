package trial

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/diagnose/trial/without"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// hypothesis is one cause held against the evidence of one way of a trial.
type hypothesis struct {
	cause record.Cause
	// seen: the limit itself was seen at work, such as a full link; what is
	// only inferred from how the streams fared ranks behind it.
	seen bool
	// sure is how likely it is the limit that binds now.
	sure    float64
	summary string
	// mended begins the sentence about the rate without this cause, such as
	// "With layer3+4"; "" says none.
	mended       string
	evidence     []record.Evidence
	against      []record.Evidence
	remedy       record.Remedy
	switches     bool   // what repairs it is a switch's hash, in whatever words
	bothBuffers  bool   // what repairs it raises the buffers of both ends
	at           string // the host that the remedy is for; "" the cause tells
	missing      []string
	decide       record.Decision
	nothingToWin bool // the rate is what there is, or nobody can tell what its end brings
	unpromised   bool // its end brings something, and nobody can tell how much
	stands       bool // all streams stand still, and this says why
}

// A hypothesis below worthNaming is not the finding, one below worthListing no
// alternative.
const (
	worthNaming  = 0.40
	worthListing = 0.10
)

// hypotheses are all the causes in the order of a tie: what is certain comes
// before what is inferred.
func (v *wayView) hypotheses() []func() (hypothesis, bool) {
	return []func() (hypothesis, bool){
		v.sizesLost, v.offered, v.paced, v.nominalRate, v.lacpDown, v.unbegun, v.beyondReceiver, v.stalledStreams, v.misrouted, v.broadcast, v.headersTakeLinks, v.onSwitches, v.switchTrunk, v.atLineRate, v.fullLink, v.otherTraffic, v.declaredCap, v.ownShaper, v.cloudCap, v.fullReturnPath, v.cardSlot,
		v.flowRate, v.senderCore, v.receiverCore, v.tooFewStreams, v.receiveWindow, v.sendBuffer, v.smallQueue, v.slowReader, v.slowWriter, v.selfPaced,
		v.lostDatagrams, v.smallSegments, v.blackHole, v.outOfOrder, v.ownQueue, v.noMemory, v.damaged, v.marked, v.lossOnPath, v.hiddenShaper, v.nearLineRate, v.unevenLinks, v.anyCore,
	}
}

// judge holds every cause against the evidence and names the one that binds.
func (v *wayView) judge() record.Finding {
	if h, ok := v.outage(); ok {
		return v.finding(h, nil)
	}
	var all []hypothesis
	for _, try := range v.hypotheses() {
		if h, ok := try(); ok && h.sure > 0 && (v.goodput > 0 || ofRest(h)) {
			v.lessSure(&h)
			all = append(all, h)
		}
	}
	all = v.worthMending(onceEach(ranked(all)))
	if len(all) == 0 || all[0].sure < worthNaming {
		return v.finding(v.unknown(all), all)
	}
	return v.finding(all[0], all[1:])
}

// ofRest reports what may be named of a way that carried nothing.
func ofRest(h hypothesis) bool {
	return h.cause == record.MTU || h.cause == record.AsymmetricRoute || h.stands
}

// ranked has the likeliest first, and what was seen before what was inferred.
func ranked(all []hypothesis) []hypothesis {
	slices.SortStableFunc(all, func(a, b hypothesis) int {
		if a.strong() != b.strong() {
			if a.strong() {
				return -1
			}
			return 1
		}
		if a.strong() {
			return 0 // the order of the list
		}
		return cmp.Compare(b.sure, a.sure)
	})
	return all
}

// strong: a limit that was seen, and hardly doubted.
func (h hypothesis) strong() bool { return h.seen && h.sure >= 0.75 }

// onceEach keeps the first of each cause.
func onceEach(all []hypothesis) []hypothesis {
	var out []hypothesis
	for _, h := range all {
		if !slices.ContainsFunc(out, func(o hypothesis) bool { return o.cause == h.cause }) {
			out = append(out, h)
		}
	}
	return out
}

// worthMending has that first, of what was seen, whose end brings clearly more than the
// end of what was: another limit that is as tight leaves little to gain.
func (v *wayView) worthMending(all []hypothesis) []hypothesis {
	named := func(h hypothesis) bool { return h.strong() && !h.nothingToWin }
	candidate := func(h hypothesis) bool { // a full buffer is known by what is in flight
		return named(h) || all[0].cause == record.Congestion && (h.cause == record.ReceiveWindow || h.cause == record.SendBuffer) && h.sure >= worthNaming
	}
	if len(all) < 2 || !named(all[0]) || !ofCore(all[0].cause) && !slices.ContainsFunc(all[1:], candidate) { // before anything is predicted
		return all
	}
	best, next := v.after(all[0])
	if best <= 0 {
		return all
	}
	if i := v.ownAlmost(all, best, next); i > 0 {
		all[i].sure, all[i].seen, all[i].unpromised = min(all[0].sure, almostOwn), true, true // what a core does then nobody knows
		return slices.Insert(slices.Delete(slices.Clone(all), i, i+1), 0, all[i])
	}
	first, least := 0, max(best, v.trial.Goodput)*leastBrought
	if best < v.trial.Goodput*(1+worthSaying) { // its end alone brings nothing
		least = v.trial.Goodput * leastBesides
	}
	for i, h := range all[1:] {
		if !candidate(h) || without.Placement(h.cause) && without.Placement(all[0].cause) {
			continue
		}
		if gained, _ := v.after(h); gained > least {
			least, first = gained, i+1
		}
	}
	return slices.Insert(slices.Delete(slices.Clone(all), first, first+1), 0, all[first])
}

// ownAlmost is which cause is a limit that the run or the program set itself and that the
// rate nearly reaches, where the first is a processor whose end would bring no more than
// that: a full one does with less of it per byte, the more there is to do at once. Zero none.
func (v *wayView) ownAlmost(all []hypothesis, best unit.BitRate, next *record.NextLimit) int {
	if next == nil || next.Cause != record.Pacing || !ofCore(all[0].cause) || best > v.trial.Goodput*ownReached {
		return 0
	}
	return max(slices.IndexFunc(all, func(h hypothesis) bool {
		return h.sure >= worthListing && (h.cause == record.Pacing || h.cause == record.Application && v.trial.RateLimit > 0)
	}), 0)
}

func ofCore(c record.Cause) bool { return c == record.SenderCPU || c == record.ReceiverCPU }

// ownReached is how much more the end of a full processor may bring at the most for a limit
// of one's own to be what binds; almostOwn how sure that is.
const ownReached, almostOwn = 1.25, 0.65

// How many times more something must bring to go before what was first, or brings nothing.
const leastBrought, leastBesides = 1.1, 1.05

// finding writes the judgement down.
func (v *wayView) finding(h hypothesis, others []hypothesis) record.Finding {
	h = v.fullInSpite(h)
	f := record.Finding{
		Cause: h.cause, Confidence: h.sure, Summary: h.summary, Evidence: h.evidence, Against: h.against,
		Missing: append(slices.Clone(h.missing), v.missing()...), Decide: h.decide,
	}
	if !h.nothingToWin && !h.unpromised {
		f.Expected, f.Next = v.after(h)
		if both, ok := v.withTwin(h, f.Next); ok {
			h = both
			f.Expected, f.Next = v.after(h)
		}
	}
	f.Do(remedy.On(v.fabric.Hosts, h.cause, v.from, v.to, h.at, h.remedy))
	f.Also = v.alternatives(h, others)
	v.notInForce(&f)
	if f.Decide.Probe == "" && h.sure < sureEnough {
		f.Decide = v.decision(h, others)
	}
	rate := v.trial.Goodput
	if f.Expected <= rate || rate < 1 { // of less than a bit a second no gain is a number
		return f
	}
	f.Gain = float64(f.Expected/rate) - 1
	if h.mended != "" && f.Gain >= worthSaying {
		f.Summary += fmt.Sprintf(" %s: %v instead of %v.", h.mended, f.Expected, rate)
	}
	return f
}

// worthSaying is the gain from which a summary names the rate to come;
// sureEnough the confidence from which nothing more need be measured.
const (
	worthSaying = 0.03
	sureEnough  = 0.75
)

// alternatives shares out what confidence the first leaves.
func (v *wayView) alternatives(first hypothesis, others []hypothesis) []record.Alternative {
	sum := 0.0
	for _, h := range others {
		sum += h.sure
	}
	left := 1 - first.sure
	var out []record.Alternative
	for _, h := range others {
		sure := h.sure
		if sum > left {
			sure *= left / sum
		}
		if first.cause != record.Unknown {
			sure = min(sure, first.sure)
		}
		if h.sure < worthListing || sure < 0.01 || first.strong() && without.Placement(first.cause) && (without.Placement(h.cause) || h.cause == record.LineRate) {
			continue
		}
		a := record.Alternative{Cause: h.cause, Confidence: sure, Summary: h.summary, For: h.evidence, Against: h.against}
		if !h.nothingToWin && !h.unpromised {
			a.Expected, _ = v.after(h)
		}
		out = append(out, a)
	}
	// Limits that were seen came in the order of the list.
	slices.SortStableFunc(out, func(a, b record.Alternative) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return out
}

// missing names the evidence that was not to be had.
func (v *wayView) missing() []string {
	var out []string
	if !v.waits.known && v.trial.UDP == nil && v.trial.Protocol != "mptcp" {
		out = append(out, "what TCP on "+v.from+" waited for (busy, window and buffer times of TCP_INFO)")
	}
	for _, side := range []struct {
		host  string
		links []linkLoad
	}{{v.from, v.egress}, {v.to, v.ingress}} {
		if len(side.links) == 0 {
			out = append(out, "the counters of "+side.host+"'s links")
		} else if total(side.links) == 0 {
			out = append(out, "the speed of a link of "+side.host)
		}
		if !slices.ContainsFunc(v.trial.CPU, func(c record.CPUUse) bool { return c.Host == side.host }) {
			out = append(out, "how busy the processors of "+side.host+" were")
		}
	}
	return out
}

// room reports that the links could carry a good deal more.
func (v *wayView) room() bool { return v.share() < slackLink }
