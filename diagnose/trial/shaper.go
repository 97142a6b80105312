package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/diagnose/trial/carried"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// How near a result comes to a cap that binds, and how far past it: beyond,
// the cap is not in force. A policer, which queues nothing, leaves TCP less.
const (
	pastCap    = 1.03
	policedCap = 0.80
	// ownQueueFills is the share of a host's own shaper above which a standing
	// queue is its.
	ownQueueFills = 0.55
)

// declaredCap: a declared cap on the path or a host, reached while links idle.
func (v *wayView) declaredCap() (hypothesis, bool) {
	c, ok := v.cap()
	sure := 0.9
	if !ok {
		c, ok = v.capNear(policedCap)
		sure = 0.7
		if !ok || v.waits.queued() < 1 && v.waits.loss() < lossShare || c.payload > v.ceiling()*slackLink && v.ceiling() > 0 {
			return hypothesis{}, false
		}
	}
	return hypothesis{
		cause: record.Shaper, seen: true, sure: sure,
		summary:  fmt.Sprintf("The result is the cap of %s (%v): the links have room that the cap does not let anybody use.", c.what, c.rate),
		mended:   "Without the cap",
		evidence: append(append([]record.Evidence{{What: "declared rate of " + c.what, Value: c.rate.String(), Source: "the fabric file"}}, v.loads()...), v.tcpEvidence()...),
		remedy:   record.ByHand("more streams or tuning cannot pass the cap: if it is the provider's, only another contract or instance lifts it"),
	}, true
}

// cap is the tightest declared limit that the result has reached.
func (v *wayView) cap() (limit, bool) { return v.capNear(atCeiling) }

func (v *wayView) capNear(share float64) (tightest limit, ok bool) {
	for _, c := range v.caps() {
		s := diagnose.Fraction(v.goodput, c.payload)
		if s >= share && s <= pastCap && (!ok || c.payload < tightest.payload) {
			tightest, ok = c, true
		}
	}
	return tightest, ok
}

// notInForce says of a declared cap that more came through: the file is wrong,
// and the ceiling with it.
func (v *wayView) notInForce(f *record.Finding) {
	for _, c := range v.caps() {
		if v.goodput <= c.payload*pastCap {
			continue
		}
		f.Summary += fmt.Sprintf(" The rate that the file declares for %s (%v) is not in force: more came through.", c.what, c.rate)
		f.Evidence = append(f.Evidence, record.Evidence{What: "declared rate of " + c.what, Value: fmt.Sprintf("%v, and %v arrived", c.rate, v.goodput), Source: "the fabric file"})
	}
}

type limit struct {
	what          string
	rate, payload unit.BitRate
}

// caps are the declared limits in payload, by the efficiency the links show.
func (v *wayView) caps() []limit {
	var out []limit
	add := func(what string, rate unit.BitRate) {
		if rate > 0 {
			out = append(out, limit{what, rate, rate * unit.BitRate(v.efficiency())})
		}
	}
	for _, p := range v.fabric.Paths {
		if p.Leads(v.from, v.to) {
			add("the path", p.Rate)
		}
	}
	add(v.from, v.fabric.Hosts[v.from].Rate)
	add(v.to, v.fabric.Hosts[v.to].Rate)
	return out
}

// efficiency is the payload's share of what a shaper counts.
func (v *wayView) efficiency() float64 {
	if e := diagnose.Fraction(v.trial.Goodput, v.trial.Wire); e > 0 {
		return min(e, 1)
	}
	return 0.95
}

// ownShaper: queueing disciplines of the sender's own devices keep its links
// below their speed.
func (v *wayView) ownShaper() (hypothesis, bool) {
	if h, ok := v.held(v.weaker()); ok && v.share() >= slackLink {
		return h, true
	}
	for _, l := range v.devicesAbove() {
		for _, q := range l.Qdiscs {
			payload := q.Rate * unit.BitRate(v.efficiency())
			sure, s := 0.95, diagnose.Fraction(v.goodput, payload)
			if s < slackLink && s >= ownQueueFills && v.waits.queued() > deepQueue {
				sure = 0.85 // what waits there waits for it, though the host is late
			} else if s < slackLink {
				continue
			}
			if q.Rate <= 0 || s > pastCap || v.share() >= atCeiling {
				continue
			}
			return hypothesis{
				cause: record.Shaper, seen: true, sure: sure, mended: "Without it",
				summary: fmt.Sprintf("A %s on %s of %s lets through %v, and %v is what arrived: the links below have room.", q.Kind, l.Name, v.from, q.Rate, v.goodput),
				evidence: append([]record.Evidence{{What: "rate of the qdisc " + q.Kind + " on " + l.Name + " of " + v.from, Value: q.Rate.String(), Source: diagnose.FromQdisc}},
					append(v.loads(), v.tcpEvidence()...)...),
				remedy: remedy.Else(remedy.Unshaped(v.from, l), "raise or remove the shaper there (`tc qdisc show`, `tc class show`)").Or(record.Ask("raise its rate, where it is meant to be there")),
			}, true
		}
	}
	return hypothesis{}, false
}

// devicesAbove are the sender's devices over its counted links: bonds and
// VLANs that hold the streams' addresses or lie between.
func (v *wayView) devicesAbove() []netstate.Link {
	h := v.fabric.Hosts[v.from]
	var out []netstate.Link
	for _, lane := range v.lanes {
		l := routing.FacingOne(h, lane.Src, lane.Dst)
		ok := l.Name != ""
		for depth := 0; ok && depth < 8; depth++ {
			below := slices.ContainsFunc(v.egress, func(e linkLoad) bool { return e.link == l.Name })
			if !below && !slices.ContainsFunc(out, func(o netstate.Link) bool { return o.Name == l.Name }) {
				out = append(out, l)
			}
			if l.VLAN == nil {
				break
			}
			l, ok = h.Link(l.VLAN.Parent)
		}
	}
	return out
}

// ofSpeed is the part of its link's speed that a shaper may leave, as people set one so
// that the queue is theirs: it is not what limits.
const ofSpeed = 0.95

// held: every link the sender uses is kept well below its speed by a queueing
// discipline of its own.
func (v *wayView) held(side []linkLoad) (hypothesis, bool) {
	var evidence []record.Evidence
	var links []netstate.Link
	for _, l := range side {
		link, _ := v.fabric.Hosts[l.host].Link(l.link)
		for _, q := range link.Qdiscs {
			if l.host == v.from && q.Parent == "root" && q.Rate > 0 && (q.Rate < link.Speed*ofSpeed || link.Speed == 0) {
				evidence = append(evidence, record.Evidence{What: "rate of the root qdisc " + q.Kind + " on " + l.link + " of " + l.host, Value: q.Rate.String(), Source: diagnose.FromQdisc})
				links = append(links, link)
				break
			}
		}
	}
	if len(side) == 0 || len(evidence) < len(side) {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.Shaper, seen: true, sure: 0.95, mended: "Without it",
		summary:  fmt.Sprintf("A root qdisc limits %s of %s below its speed, and the result is its rate.", names(side), v.from),
		evidence: append(evidence, v.loads()...),
		remedy:   remedy.Else(remedy.Unshaped(v.from, links...), "raise or remove the shaper there (`tc qdisc show`, `tc class show`)").Or(record.Ask("raise its rate, where it is meant to be there")),
	}
	if small, ok := v.smallPackets(side); ok {
		h.summary += " " + small.summary
	}
	return h, true
}

// cloudCap: the driver counts packets that the provider's allowance held back
// (ENA's *_allowance_exceeded).
func (v *wayView) cloudCap() (hypothesis, bool) {
	var evidence []record.Evidence
	for _, l := range v.trial.Links {
		for name, n := range l.Driver {
			if n > 0 && strings.HasSuffix(name, "allowance_exceeded") && (l.Host == v.from || l.Host == v.to) {
				evidence = append(evidence, record.Evidence{What: name + " of " + l.Link + " on " + l.Host, Value: fmt.Sprintf("+%d", n), Source: "ethtool -S"})
			}
		}
	}
	if len(evidence) == 0 || v.share() >= atCeiling {
		return hypothesis{}, false
	}
	slices.SortFunc(evidence, func(a, b record.Evidence) int { return strings.Compare(a.What, b.What) })
	return hypothesis{
		cause: record.Shaper, seen: true, sure: 0.9,
		summary:  "The provider delayed packets: the instance's allowance is used up, whatever its links could carry.",
		evidence: append(evidence, v.loads()...),
		remedy:   record.ByHand("take an instance with a larger network allowance, or spread the traffic over more instances"),
	}, true
}

// Swings of the rate between blocks: a shaper's is flat, congestion control's
// between random losses is not.
const (
	flatSwing  = 0.05
	roughSwing = 0.12
	veryRough  = 0.20
	// burstOver is how far the fastest part of the start must exceed the rest
	// to be a token bucket's burst.
	burstOver = 1.5
)

// swing is that of the trial's blocks, of both ways together where both ran.
func (v *wayView) swing() (float64, bool) { return carried.Swing(v.trial.Blocks) }

// burst reports that the series begins well above what follows, as through a
// full token bucket.
func (v *wayView) burst() bool {
	if v.trial.Shaper != nil {
		return true
	}
	if v.trial.Direction != v.way || len(v.trial.Series) < 10 {
		return false
	}
	early := v.trial.Series[:len(v.trial.Series)/3]
	swing, steady := v.swing()
	return slices.Max(early) > burstOver*v.trial.Goodput && v.trial.Goodput > 0 && steady && swing < roughSwing && v.bursty() > -0.4
}

// hiddenShaper: packets wait or are dropped at a rate below every link, where
// no counter of the hosts shows it.
func (v *wayView) hiddenShaper() (hypothesis, bool) {
	w := v.waits
	if !w.present || w.idle() >= limitedShare || w.starved >= limitedShare || !v.room() || v.goodput <= 0 {
		return hypothesis{}, false
	}
	swing, steady := v.swing()
	sure, why := v.queueOrPolicer(swing, steady)
	if sure == 0 {
		return hypothesis{}, false
	}
	h := hypothesis{cause: record.Shaper, sure: sure, mended: "Without it"}
	h.evidence = v.tcpEvidence()
	if steady {
		h.evidence = append(h.evidence, record.Evidence{What: "swing of the rate from block to block", Value: diagnose.Percent(swing), Source: "bytes received, over the common window"})
	}
	if s := v.trial.Shaper; s != nil {
		h.evidence = append(h.evidence, record.Evidence{What: "rate at the start", Value: fmt.Sprintf("%v for %.1f s, then %v", s.Burst, s.BurstFor, s.Rate), Source: "the rate over time"})
	}
	h.evidence = append(h.evidence, v.loads()...)
	h.summary = fmt.Sprintf("Something on the way lets through about %v, less than the links between %s and %s carry: %s.", w.goodput, v.from, v.to, why)
	if best, full := v.fullAtTimes(); full {
		if w.cwndLimited < rarelyFull { // nor did the streams wait for what is under way
			h.sure *= 0.6
		}
		h.summary += fmt.Sprintf(" It comes and goes: at times all that the links carry came through (%v).", best)
		h.against = append(h.against, record.Evidence{What: "payload in the best moment", Value: best.String(), Source: "bytes received, over the common window"})
	}
	if still := v.stoodStill(); still > mostStill { // a limit lets something through all the time
		h.sure *= 0.4
		h.against = append(h.against, record.Evidence{What: "time in which nothing came through", Value: diagnose.Percent(still), Source: "bytes received, over the common window"})
	}
	if few, ok := v.lacpDown(); ok && !few.seen {
		h.sure *= 0.5
		h.against = append(h.against, few.evidence[0])
	}
	if l, ok := v.fullBeside(); ok {
		h.sure *= 0.5
		h.against = append(h.against, record.Evidence{What: l.link + " on " + l.host, Value: fmt.Sprintf("full: %s of its rate, with packets waiting; the others nearly", diagnose.Percent(l.share())), Source: fromCounters})
	}
	if v.ceiling() <= 0 {
		h.cause, h.sure, h.nothingToWin = record.Unknown, 0, true
		h.summary = fmt.Sprintf("About %v comes through: %s. Whether that is a link's own speed or a limit below it cannot be told while the links' speeds are unknown.", v.goodput, why)
		h.remedy = record.ByHand("write the links' speeds into the fabric file (hardware.links) and measure again")
		return h, true
	}
	if own := v.unknownSpeeds(); own != "" {
		h.sure *= 0.55
		h.against = append(h.against, record.Evidence{What: "speed of " + own, Value: "unknown: it may be the limit itself", Source: fromCounters})
	}
	h.remedy = record.ByHand(fmt.Sprintf("look for a rate limit on the way: `tc qdisc show` on both hosts, the switch's ports, the provider's contract for about %v", w.goodput/unit.BitRate(v.efficiency())))
	h.decide = v.decideStreams(record.Shaper, record.Congestion)
	return h, true
}

// mostStill is the part of the time in which a limit may let nothing through.
const mostStill = 0.3

// stoodStill is the part of the blocks of a trial of one way that carried as good as nothing.
func (v *wayView) stoodStill() float64 {
	if v.trial.Direction != v.way {
		return 0
	}
	return carried.Standstill(v.trial.Blocks, asGoodAsNothing)
}

// fullBeside is a link of the sender's that is full by itself while the others carry nearly
// as much: what waits, waits for the links, and no one limit is below them all.
func (v *wayView) fullBeside() (linkLoad, bool) {
	full, rest := split(v.egress)
	if len(full) == 0 || len(rest) == 0 || least(rest) < roomLink || !v.neverEmpty(full[0]) {
		return linkLoad{}, false
	}
	return full[0], true
}

// fullAtTimes is the fastest part of a trial of one way, and whether it filled the links.
func (v *wayView) fullAtTimes() (best unit.BitRate, full bool) {
	if len(v.trial.Blocks) == 0 || v.trial.Direction != v.way || v.ceiling() <= 0 {
		return 0, false
	}
	best = slices.Max(v.trial.Blocks)
	return best, best >= v.ceiling()*fullLink
}

// unknownSpeeds names a link that carries much of the way and whose speed nobody knows.
func (v *wayView) unknownSpeeds() string {
	for _, l := range slices.Concat(v.egress, v.ingress) {
		if l.ceiling <= 0 && l.payload > v.goodput*muchOfWay {
			return l.link + " of " + l.host
		}
	}
	return ""
}

// muchOfWay is the part of a way's payload from which a link can be what binds it.
const muchOfWay = 0.3

// queueOrPolicer is how sure a hidden limit is, and what shows it; zero where
// nothing does.
func (v *wayView) queueOrPolicer(swing float64, steady bool) (sure float64, why string) {
	w := v.waits
	switch {
	case w.queued() > 1:
		sure = 0.65
		if w.queued() > deepQueue {
			sure = 0.8
		}
		find := "find"
		if len(w.lanes) == 1 {
			find = "finds"
		}
		why = fmt.Sprintf("%s %s a queue there (%.1f ms on top of the path's %.1f)", theStreams(len(w.lanes)), find, w.queue(), w.minRTT)
	case w.loss() >= lossShare && w.inVain() < inVainShare:
		sure = 0.5 + 0.2*v.bursty()
		if v.burst() {
			sure += 0.25
		} else if v.evenly() {
			sure += 0.15
		}
		if swing < veryRough {
			swing = min(swing, roughSwing) // what is dropped comes again, unevenly
		}
		why = fmt.Sprintf("it drops what is above, %s of all, and queues nothing", diagnose.FewPercent(w.loss()))
	case w.minRTT > 0 && w.network() >= leastBusyNet && w.repeated < repeatedFew && steady && swing < flatSwing:
		return 0.45, "the rate is flat, and nothing that the hosts count limits it"
	default:
		return 0, ""
	}
	switch {
	case !steady:
	case swing < flatSwing:
		sure += 0.12
	case swing > veryRough:
		sure -= 0.3
	case swing > roughSwing:
		sure -= 0.2
	}
	if w.loss() >= 5*lossShare && v.bursty() < -0.4 && !v.outrunsLoss() {
		sure *= 0.7 // as many single losses leave just this rate
	}
	if v.heldByFlow() {
		sure *= 0.4
	}
	if w.heldAtHome() && (w.queued() <= 1 || swing > roughSwing) {
		sure *= 0.6
	}
	if swing > flatSwing && w.flight < farBelowWindow*w.cwnd && w.cwndLimited < rarelyFull {
		if _, full := v.sendBuffer(); full {
			sure *= 0.4 // congestion control would let more go out, and the buffer has no more
		}
	}
	if w.backFull && max(w.rwnd, w.sndbuf) >= limitedShare {
		sure *= 0.5 // acknowledgements wait where the other way's packets do
	}
	if r := v.disorder(); r > 0.5 && !v.takesLateCalmly() {
		sure *= 0.4
	}
	if v.oneCoreFull() {
		sure *= 0.6
	}
	return min(sure, 0.93), why
}
