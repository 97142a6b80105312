package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/trial/carried"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// strayShare is what stray packets may take of a link.
const strayShare = 0.02

// fullLink: one side has a full link while another hardly carries anything. A policy
// that could not have done better is single-link, chance is hash-imbalance.
func (v *wayView) fullLink() (hypothesis, bool) {
	return v.oneSided(func(full, idle []linkLoad, placed int) float64 {
		switch {
		case placed == 0:
			return 1
		case placed < 0 && least(idle) <= idleLink: // nobody knows where streams are: the counters alone
			return 0.9
		case placed < 0:
			return 0.8
		}
		return 0
	})
}

// unevenLinks: full links beside others that carry streams too, but less.
func (v *wayView) unevenLinks() (hypothesis, bool) {
	h, ok := v.oneSided(func(full, idle []linkLoad, placed int) float64 {
		switch {
		case placed <= 0 || least(idle) >= roomLink || v.spreadEvenly(slices.Concat(full, idle), full[0].host == v.from):
			return 0
		case least(idle) <= strayShare && len(v.lanes)-placed > len(full): // one would have the idle link to itself
			return 0.85
		}
		return 0.5
	})
	h.seen = false
	return h, ok
}

// oneSided is the first side on which links are full and others not, as sure
// as the given doubt leaves it: placed is how many streams are on the links
// that are not full, negative unknown.
func (v *wayView) oneSided(doubt func(full, idle []linkLoad, placed int) float64) (hypothesis, bool) {
	for i, side := range [][]linkLoad{v.egress, v.ingress} {
		full, idle := split(side)
		if len(full) == 0 {
			full, idle = v.almostFull(side)
		}
		lossy := false
		if len(full) == 0 {
			full, idle = v.lossyTogether(side)
			lossy = true
		}
		if len(full) == 0 || len(idle) == 0 {
			continue
		}
		if v.striping() != nil && least(idle) > idleLink {
			continue // dealt out in unequal pieces: no flow has one link
		}
		if i == 1 && slices.ContainsFunc(v.lanes, v.standsStill) {
			continue // where a stream that does not arrive would arrive nobody sees
		}
		if c, ok := v.cap(); ok && c.payload <= total(full)*(1+nearTie) {
			continue // more links would not pass the cap
		}
		placed := len(v.lanesOn(idle, i == 0))
		if placed == 0 && !v.placedOn(i == 0) && slices.ContainsFunc(idle, func(l linkLoad) bool { return l.share() > strayShare }) {
			placed = -1
		}
		if clean := carried.Lossless(v.lanes); placed < 0 && len(clean) < len(v.lanes) && diagnose.Fraction(carried.Goodput(clean), total(full)) >= fullLink {
			continue // the others have room because their streams lose
		}
		sure := doubt(full, idle, placed)
		if sure == 0 {
			continue
		}
		h := v.imbalance(side, full, idle)
		if placed > 0 && h.cause == record.SingleLink && v.pairs() == 1 && len(v.lanes) > len(full) {
			continue // streams of one pair of addresses are on both: ports do count
		}
		h.sure *= sure
		if !allFull(full) {
			h.sure *= 0.85
		}
		v.weighOwnLimits(&h, full, side)
		h.unpromised = lossy // what the losses leave on other links nobody knows
		return h, true
	}
	return hypothesis{}, false
}

// almostFull are a side's links where some are used nearly to the full, by what they carry
// or by the headers of small segments too, and all others hardly at all: collisions make one
// link's streams fight.
func (v *wayView) almostFull(side []linkLoad) (full, idle []linkLoad) {
	headers, most := v.wireFactorOf(side), mostLoaded(side)
	for _, l := range side {
		switch s := l.share(); {
		case l.untold(most):
			return nil, nil
		case s >= slackLink, headers > 1 && s*headers >= fullWire, s >= roomLink && (v.neverEmpty(l) || v.gathered()):
			full = append(full, l)
		case s <= idleLink:
			idle = append(idle, l)
		default:
			return nil, nil
		}
	}
	return full, idle
}

// lossyTogether are a side's links in use and those that carry nothing, where losses limit
// the streams that would leave them clearly more than the links in use take: on links of
// their own they would have it.
func (v *wayView) lossyTogether(side []linkLoad) (used, unused []linkLoad) {
	left, ok := v.lossLeavesAlone()
	most := mostLoaded(side)
	if !ok || len(v.lanes) < 2 || !v.heldByLosses() || slices.ContainsFunc(side, func(l linkLoad) bool { return l.untold(most) }) {
		return nil, nil
	}
	used, unused = usedAndUnused(side)
	if total(used) <= 0 || min(left, v.ceiling()) < total(used)*leastBrought {
		return nil, nil
	}
	return used, unused
}

// heldByLosses reports streams that carry about what the response to their losses leaves,
// where no core is full and none of the hosts drops.
func (v *wayView) heldByLosses() bool {
	left, ok := v.lossLeaves()
	part := diagnose.Fraction(v.waits.goodput, left)
	_, onArrival := v.dropper()
	return ok && v.waits.loss() >= lossShare && v.disorder() <= 0.3 && part > 0.4 && part < 1.6 && v.bursty() < 0.5 && !v.oneCoreFull() && !onArrival
}

// gathered reports several streams that wait in one deep queue: with all of
// them on one link, and that nearly full, it is the link's.
func (v *wayView) gathered() bool { return len(v.lanes) > 1 && v.waits.queued() > deepQueue }

// oneLinkToo reports a way whose streams, for all that is seen of a limit, wait
// in the queue of the one link of several that they arrive by: where the other
// way fills one, theirs is no shaper.
func (v *wayView) oneLinkToo(named record.Cause) bool {
	if _, hidden := v.hiddenShaper(); !hidden || named != record.Shaper || !v.gathered() {
		return false
	}
	used, unused := usedAndUnused(v.ingress)
	return len(used) == 1 && len(unused) > 0 && (used[0].share() >= leastGathered || v.waits.backFull)
}

// leastGathered is what such a link carries at the least: two ways that gather
// delay each other's acknowledgements, and where those wait behind a full link, any.
const leastGathered = 0.6

// neverEmpty reports a link of the sender's whose own queue always holds more
// than stray packets: whatever it carries, it is the link that they wait for.
func (v *wayView) neverEmpty(l linkLoad) bool {
	return slices.ContainsFunc(v.trial.Links, func(u record.LinkUse) bool {
		return u.Host == l.host && u.Link == l.link && l.host == v.from && float64(u.MeanBacklog) >= ownPackets*float64(max(v.waits.mss, 1))
	})
}

func least(links []linkLoad) float64 {
	low := 1.0
	for _, l := range links {
		low = min(low, l.share())
	}
	return low
}

func (v *wayView) imbalance(side, full, idle []linkLoad) hypothesis {
	host := side[0].host
	d := v.striped(host == v.from)
	h := hypothesis{cause: record.HashImbalance, at: host, seen: true, sure: 0.9, mended: "With ports chosen for every link"}
	h.evidence = append(append(v.loads(), d.evidence...), v.placements()...)
	n := len(v.lanes)
	verb := "leave by"
	if host != v.from {
		verb = "reach " + host + " by"
	}
	one := names(full)
	unused := fmt.Sprintf("%s carried %s of what %s could", names(idle), diagnose.Percent(mean(idle)), []string{"it", "they"}[min(len(idle)-1, 1)])
	if n == 1 {
		verb = strings.Replace(strings.Replace(verb, "leave", "leaves", 1), "reach", "reaches", 1)
	}
	who := fmt.Sprintf("%s from %s %s %s", flows(n), v.from, verb, one)
	if elsewhere := len(v.lanesOn(idle, host == v.from)); elsewhere > 0 {
		who = fmt.Sprintf("%d of %d streams from %s %s %s", n-elsewhere, n, v.from, verb, one)
	}
	switch {
	case n <= len(full):
		v.tooFew(&h, d, who, full, side)
	case len(d.mend) > 0 && !d.reach.Ports && !(d.reach.Addresses && v.pairs() > len(full)):
		h.cause, h.sure = record.SingleLink, 0.97
		h.summary = fmt.Sprintf("%s, because %s; %s.", who, strings.TrimSuffix(d.reach.Why, "."), unused)
		h.remedy, h.mended = d.mend, d.mended
		if far, used := v.switchToo(); host == v.from && len(far.mend) > 0 {
			h.remedy, h.mended = record.Remedy{d.mend[0].Joined(far.mend[0])}, d.mended+" there and on the switch"
			h.summary += fmt.Sprintf(" They reach %s by %s alone as well, which the switch decides: it must read ports too.", v.to, names(used))
		}
	case !d.reach.Ports && d.reach.Addresses:
		h.summary = fmt.Sprintf("%s while %s: the addresses hash that way.", who, unused)
		h.remedy, h.mended = d.mend.Or(record.Ask("choose other addresses (`linerate steer addresses`)")), "With addresses or ports for every link"
	case d.hidden:
		h.summary = fmt.Sprintf("%s while %s: %s, and they fell that way.", who, unused, d.reach.Why)
		h.remedy, h.mended = d.mend, "With flows on every link"
	case d.heavier(full, idle):
		h.summary = fmt.Sprintf("%s while %s: the weights of the route's next hops prefer %s, and the links are equally fast.", who, unused, one)
		h.remedy, h.mended = record.Remedy{d.even}, "With next hops of one weight"
	default:
		h.summary = fmt.Sprintf("%s while %s: the ports fell that way.", who, unused)
		h.remedy = v.traffic().OtherPorts(max(len(side), n))
	}
	return h
}

// switchToo is the switch's hash where it, too, has the streams arrive by some links only
// that their ports would spread; zero where none is known to be between the bonds.
func (v *wayView) switchToo() (far striped, used []linkLoad) {
	bond, there := bondAt(v.fabric.Hosts[v.from], v.lanes[0].Src), bondAt(v.fabric.Hosts[v.to], v.lanes[0].Dst)
	used, unused := usedAndUnused(v.ingress)
	if bond == nil || there == nil || bond.Bond.AD == nil || bond.Bond.AD.PartnerMAC.IsZero() || bond.Bond.AD.PartnerMAC == there.MAC || len(unused) == 0 {
		return striped{}, nil
	}
	far = v.switched()
	if far.reach.Ports {
		far.mend = nil
	}
	return far, used
}

// tooFew: there are no more streams than full links, so that no rule could
// have used the others.
func (v *wayView) tooFew(h *hypothesis, d striped, who string, full, side []linkLoad) {
	h.cause, h.sure = record.SingleLink, 0.97
	h.summary = fmt.Sprintf("%s, %d of %d links: a hash never splits a flow.", who, len(full), len(side))
	h.remedy = record.Remedy{v.traffic().Spread(len(side))}
	h.mended = fmt.Sprintf("With %d streams on as many links", len(side))
	if v.plain() {
		h.summary = strings.Replace(h.summary, "a hash never splits a flow", "a stream has one pair of addresses", 1)
		h.remedy = record.Remedy{v.traffic().More(len(side))}.Or(record.Ask("let the program use every pair of addresses"))
	}
	if len(d.mend) > 0 && !d.reach.Ports {
		h.remedy = record.Remedy{d.mend[0].Joined(v.traffic().Spread(len(side)))}
	}
	if v.trial.Protocol == "mptcp" && !slices.ContainsFunc(v.lanes, func(l record.Lane) bool { return len(l.Subflows) > 1 }) {
		opener := v.from // linerate's sender opens, and with an iperf3 server its client
		if _, seen := v.fabric.Hosts[opener]; !seen {
			opener = v.to
		}
		h.summary = strings.TrimSuffix(h.summary, ".") + ": each connection has one subflow."
		h.remedy = record.Do(record.Ask("give " + opener + ", which opens the connections, an endpoint with `subflow` for each further address (`linerate steer mptcp` writes the lines of both hosts)")).Or(h.remedy[0]...)
	}
}

// spreadEvenly reports streams of which no link of a side has two more than another: no
// place of them is at fault. By plain links they arrive as they leave.
func (v *wayView) spreadEvenly(side []linkLoad, sending bool) bool {
	if !sending && !v.placedOn(false) && v.plain() && len(v.ingress) == len(v.egress) {
		side, sending = v.egress, true
	}
	if !v.placedOn(sending) {
		return false
	}
	least, most := len(v.lanes), 0
	for _, l := range side {
		n := len(v.lanesOn([]linkLoad{l}, sending))
		least, most = min(least, n), max(most, n)
	}
	return most-least <= 1 && most > 0
}

// placedOn reports that steer places every stream on that side.
func (v *wayView) placedOn(sending bool) bool {
	return !slices.ContainsFunc(v.lanes, func(l record.Lane) bool { return sending && l.EgressLink == "" || !sending && l.IngressLink == "" })
}

// worthMoreStreams is how much more the other links must promise than the end of what
// holds each stream, for them to be the first thing to mend.
const worthMoreStreams = 1.1

// tooFewStreams: fewer streams than links, each held by itself below its link. A
// stream more brings as much again over an idle link, while the end of what
// holds it brings no more than its own link's rest.
func (v *wayView) tooFewStreams() (hypothesis, bool) {
	n, links := len(v.lanes), len(v.egress)
	if n == 0 || n >= links || len(v.ingress) < links || !v.room() || !v.eachByItself() {
		return hypothesis{}, false
	}
	if least(v.egress) > idleLink && least(v.ingress) > idleLink { // single packets are dealt out over all
		return hypothesis{}, false
	}
	used := total(v.egress) / unit.BitRate(float64(links)) * unit.BitRate(float64(n))
	share := diagnose.Fraction(v.goodput, used)
	if share*float64(links)/float64(n) < worthMoreStreams {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.SingleLink, seen: true, sure: 0.85, mended: fmt.Sprintf("With %d streams on as many links", links),
		summary: fmt.Sprintf("%s from %s can use no more than %d of %d links, whose part is %s used: streams over the idle ones bring more than the end of what limits %s.",
			flows(n), v.from, n, links, diagnose.Percent(share), theStreams(n)),
		evidence: append(append(v.placements(), v.loads()...), v.tcpEvidence()...),
		remedy:   record.Remedy{v.traffic().Spread(links)},
	}
	return h, true
}

// eachByItself: what holds the streams is each one's own, a window, a buffer,
// losses, and not something that they share.
func (v *wayView) eachByItself() bool {
	w := v.waits
	if !w.known || w.idle() >= limitedShare || w.starved >= limitedShare {
		return false
	}
	return w.queued() <= 1 && max(w.rwnd, w.sndbuf) >= limitedShare && w.unheeded < unreadMost ||
		w.queued() <= deepQueue && w.loss() >= lossShare && v.bursty() < 0.5 ||
		v.disorder() >= 0.5
}
