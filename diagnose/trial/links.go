package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	fromCounters = "RTM_GETLINK IFLA_STATS64, over the common window"
	fromPorts    = "IFLA_BOND_SLAVE_STATE, IFLA_BOND_SLAVE_MII_STATUS and IFLA_BOND_SLAVE_AD_AGGREGATOR_ID"
	fromTCP      = "TCP_INFO of every stream, over the common window"
	fromSteer    = "transmit hash of each stream's addresses and ports"
)

// atLineRate: the links carry what they can.
func (v *wayView) atLineRate() (hypothesis, bool) {
	if v.share() < atCeiling && !(v.share() >= slackLink && (allFull(v.egress) || allFull(v.ingress))) {
		return hypothesis{}, false
	}
	if c, ok := v.cap(); ok && c.payload < v.ceiling()*(1-nearTie) {
		return hypothesis{}, false // the cap is what binds
	}
	side := v.weaker()
	if _, ok := v.held(side); ok {
		return hypothesis{}, false
	}
	if small, ok := v.smallPackets(side); ok {
		return small, true
	}
	if diagnose.Fraction(v.trial.Goodput, v.trial.Ceiling) < pairShare && v.trial.Ceiling > 0 {
		return v.partOfPair(side), true
	}
	if h, ok := v.idleStandby(side); ok {
		return h, true
	}
	if h, ok := v.narrowRoute(); ok {
		return h, true
	}
	what := fmt.Sprintf("All %d links run at their line rate.", len(side))
	switch len(side) {
	case 1:
		what = "The one link in use runs at its line rate."
	case 2:
		what = "Both links run at their line rate."
	}
	return hypothesis{
		cause: record.LineRate, seen: true, sure: 0.95, nothingToWin: true,
		summary:  what + " Nothing is left to gain but larger frames or faster links.",
		evidence: v.loads(), remedy: record.ByHand("none needed: only more or faster links carry more"),
	}, true
}

// nearLineRate: a little below what counts as full on every link, and nothing
// says why: what is left is noise and what congestion control leaves.
func (v *wayView) nearLineRate() (hypothesis, bool) {
	share := v.share()
	side := v.weaker()
	if share < slackLink-0.03 || len(side) == 0 || slices.ContainsFunc(side, func(l linkLoad) bool { return l.share() < roomLink }) {
		return hypothesis{}, false
	}
	if _, ok := v.held(side); ok {
		return hypothesis{}, false
	}
	if full, idle := split(side); len(full) > 0 && slices.ContainsFunc(idle, func(l linkLoad) bool { return l.share() < slackLink-0.03 }) {
		return hypothesis{}, false // not as full as each other
	}
	if w := v.waits; max(w.rwnd, w.sndbuf) >= limitedShare && w.queued() <= 1 && share < atCeiling {
		return hypothesis{}, false // a window or a buffer says why, and nothing waits for the links
	}
	if h, ok := v.idleStandby(side); ok && share >= slackLink {
		return h, true
	}
	if share >= slackLink && v.trial.Ceiling > 0 && diagnose.Fraction(v.trial.Goodput, v.trial.Ceiling) < pairShare {
		return v.partOfPair(side), true
	}
	if h, ok := v.unbridged(side); ok {
		return h, true
	}
	h := hypothesis{
		cause: record.LineRate, sure: 0.6, nothingToWin: true,
		summary: fmt.Sprintf("The links run at %s of their line rate, each about as full as the others. What is left is the swing of congestion control and a busy machine, not a limit of its own.", diagnose.Percent(share)),
		remedy:  record.ByHand("none needed: measure longer (`--duration 30s`) if the last few per cent matter"), evidence: v.loads(),
	}
	if share >= slackLink {
		h.sure = 0.8
	}
	if v.losesBelowFull() {
		h.sure = 0.45
		h.against = append(h.against, v.waits.lossEvidence())
	} else if v.waits.queued() > 1 {
		h.sure += 0.05
		h.evidence = append(h.evidence, v.tcpEvidence()...)
	}
	if slices.ContainsFunc(side, func(l linkLoad) bool { return l.share() > least(side)+atCeiling-slackLink }) {
		h.sure = min(h.sure, 0.6) // one is full, and another is not quite
	}
	return h, true
}

// unbridged: one or two streams swing below a full link, and no queue bridges it: after
// each loss the window takes its time to grow back.
func (v *wayView) unbridged(side []linkLoad) (hypothesis, bool) {
	w := v.waits
	if v.share() >= (fullLink+slackLink)/2 || len(v.lanes) > 2 || w.repeated == 0 || w.cwndLimited < fullWindows && w.flight <= fullFlight*w.cwnd || w.queued() > 0.3 {
		return hypothesis{}, false
	}
	return hypothesis{
		cause: record.Congestion, sure: 0.55, mended: "Without them",
		summary:  fmt.Sprintf("%s is not kept full: after each of a few losses the window of %s shrinks, and no queue bridges the time that it takes to grow again.", side[0].link, theStreams(len(v.lanes))),
		evidence: append(v.tcpEvidence(), v.loads()...),
		remedy:   record.Remedy{v.traffic().More(4)}.Or(record.Ask("look for a short queue that drops before the link is full: `tc -s qdisc show` on both hosts, the switch port's drops (a buffer below the bandwidth-delay product)")),
		decide:   v.decideStreams(record.Congestion, record.Shaper),
	}, true
}

func allFull(side []linkLoad) bool {
	return len(side) > 0 && !slices.ContainsFunc(side, func(l linkLoad) bool { return l.share() < fullLink })
}

// weaker is the side whose links carry less in all, the sender's at a tie.
func (v *wayView) weaker() []linkLoad {
	out, in := total(v.egress), total(v.ingress)
	if out == 0 || in > 0 && in < out*(1-nearTie) {
		return v.ingress
	}
	return v.egress
}

// mostLoaded is the payload of the link of a side that carries most.
func mostLoaded(side []linkLoad) (most unit.BitRate) {
	for _, l := range side {
		most = max(most, l.payload)
	}
	return most
}

// untold reports a link that carries something beside the busiest of its side and whose
// speed is unknown: it may be full, and it may have room.
func (l linkLoad) untold(busiest unit.BitRate) bool {
	return l.ceiling <= 0 && l.payload > busiest*idleLink
}

// split is the links of a side that are full and those with room left; none
// is idle when even the least used is nearly full.
func split(side []linkLoad) (full, idle []linkLoad) {
	least, most := 1.0, mostLoaded(side)
	for _, l := range side {
		if l.untold(most) {
			continue
		}
		least = min(least, l.share())
		if l.share() >= fullLink {
			full = append(full, l)
		} else {
			idle = append(idle, l)
		}
	}
	if least >= slackLink {
		return full, nil
	}
	return full, idle
}

// placements says where steer puts the streams.
func (v *wayView) placements() []record.Evidence {
	count := make(map[string]int)
	var order []string
	for _, l := range v.lanes {
		if l.EgressLink == "" {
			continue
		}
		if count[l.EgressLink] == 0 {
			order = append(order, l.EgressLink)
		}
		count[l.EgressLink]++
	}
	var parts []string
	for _, link := range order {
		parts = append(parts, fmt.Sprintf("%d on %s", count[link], link))
	}
	if len(parts) == 0 {
		return nil
	}
	what := fmt.Sprintf("where the %d streams of %s hash to", len(v.lanes), v.from)
	if len(v.lanes) == 1 {
		what = "where the stream of " + v.from + " hashes to"
	}
	return []record.Evidence{{What: what, Value: strings.Join(parts, ", "), Source: fromSteer}}
}

// loads is every link's share as evidence.
func (v *wayView) loads() []record.Evidence {
	var out []record.Evidence
	for _, side := range []struct {
		links []linkLoad
		verb  string
	}{{v.egress, "sent"}, {v.ingress, "received"}} {
		for _, l := range side.links {
			value := fmt.Sprintf("%v of payload", l.payload)
			if l.ceiling > 0 {
				value += fmt.Sprintf(", %s of %v", diagnose.Percent(l.share()), l.ceiling)
			}
			out = append(out, record.Evidence{What: fmt.Sprintf("%s on %s %s", l.link, l.host, side.verb), Value: value, Source: fromCounters})
		}
	}
	for _, l := range v.outside {
		out = append(out, record.Evidence{What: fmt.Sprintf("%s on %s", l.link, l.host), Value: "not used by its bond now", Source: fromPorts})
	}
	return out
}

func names(links []linkLoad) string {
	var s []string
	for _, l := range links {
		s = append(s, l.link)
	}
	return strings.Join(s, " and ")
}

// total is what the links carry in all; zero when one is unknown.
func total(links []linkLoad) (sum unit.BitRate) {
	for _, l := range links {
		if l.ceiling <= 0 {
			return 0
		}
		sum += l.ceiling
	}
	return sum
}

func mean(links []linkLoad) float64 {
	sum := 0.0
	for _, l := range links {
		sum += l.share()
	}
	return sum / float64(max(len(links), 1))
}
