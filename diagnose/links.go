package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	fromCounters = "RTM_GETLINK IFLA_STATS64, over the common window"
	fromBond     = "IFLA_BOND_XMIT_HASH_POLICY"
	fromPorts    = "IFLA_BOND_SLAVE_STATE, IFLA_BOND_SLAVE_MII_STATUS and IFLA_BOND_SLAVE_AD_AGGREGATOR_ID"
	fromTCP      = "TCP_INFO of every stream, over the common window"
	fromSteer    = "transmit hash of each stream's addresses and ports"
)

// lineRate: the links carry what they can.
func (v *wayView) lineRate() (record.Finding, bool) {
	if v.share() < atCeiling && !(v.share() >= slackLink && (allFull(v.egress) || allFull(v.ingress))) {
		return record.Finding{}, false
	}
	if c, ok := v.cap(); ok && c.payload < v.ceiling()*(1-nearTie) {
		return record.Finding{}, false // the cap is what binds
	}
	side := v.weaker()
	small, isSmall := v.smallPackets(side)
	if f, ok := v.held(side); ok {
		if isSmall {
			f.Summary += " " + small.Summary
		}
		return f, true
	}
	if isSmall {
		return small, true
	}
	if fraction(v.trial.Goodput, v.trial.Ceiling) < pairShare && v.trial.Ceiling > 0 {
		return v.partOfPair(side), true
	}
	if f, ok := v.idleStandby(side); ok {
		return f, true
	}
	what := fmt.Sprintf("All %d links run at their line rate.", len(side))
	if len(side) == 1 {
		what = "The one link in use runs at its line rate."
	}
	return record.Finding{
		Cause: record.LineRate, Confidence: 0.95, Summary: what + " Nothing is left to gain but larger frames or faster links.",
		Evidence: v.loads(), Remedy: "none needed: only more or faster links carry more",
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

// held: every link the sender uses is kept below its speed by a queueing
// discipline of its own.
func (v *wayView) held(side []linkLoad) (record.Finding, bool) {
	var evidence []record.Evidence
	for _, l := range side {
		link, _ := v.fabric.Hosts[l.host].Link(l.link)
		for _, q := range link.Qdiscs {
			if l.host == v.from && q.Parent == "root" && q.Rate > 0 && (q.Rate < link.Speed || link.Speed == 0) {
				evidence = append(evidence, record.Evidence{What: "rate of the root qdisc " + q.Kind + " on " + l.link + " of " + l.host, Value: q.Rate.String(), Source: "RTM_GETQDISC"})
				break
			}
		}
	}
	if len(side) == 0 || len(evidence) < len(side) {
		return record.Finding{}, false
	}
	return record.Finding{
		Cause: record.Shaper, Confidence: 0.95,
		Summary:  fmt.Sprintf("A root qdisc holds %s of %s below its speed, and the result is its rate.", names(side), v.from),
		Evidence: append(evidence, v.loads()...),
		Remedy:   fmt.Sprintf("raise or remove the shaper on %s (`tc qdisc show`)", v.from),
	}, true
}

// fullLink: one side has a full link while others idle. A policy that could
// not have done better is single-link, chance is hash-imbalance.
func (v *wayView) fullLink() (record.Finding, bool) {
	for _, side := range [][]linkLoad{v.egress, v.ingress} {
		full, idle := split(side)
		if len(full) == 0 || len(idle) == 0 {
			continue
		}
		if c, ok := v.cap(); ok && c.payload <= total(full)*(1+nearTie) {
			continue // more links would not pass the cap
		}
		f := v.imbalance(side, full, idle)
		f.Evidence = append(v.loads(), f.Evidence...)
		return f, true
	}
	return record.Finding{}, false
}

// split is the links of a side that are full and those with room left; none
// is idle when even the least used is nearly full.
func split(side []linkLoad) (full, idle []linkLoad) {
	least := 1.0
	for _, l := range side {
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

func (v *wayView) imbalance(side, full, idle []linkLoad) record.Finding {
	host := side[0].host
	d := v.dealt(host == v.from)
	f := record.Finding{Cause: record.HashImbalance, Confidence: 0.9}
	f.Evidence = append(d.evidence, v.placements()...)
	where := fmt.Sprintf("%s of %s", names(full), host)
	unused := fmt.Sprintf("%s carried %s of what it could", names(idle), percent(mean(idle)))
	flows := fmt.Sprintf("The %d streams", len(v.lanes))
	if len(v.lanes) == 1 {
		flows = "One stream"
	}
	flows += fmt.Sprintf(" from %s to %s", v.from, v.to)
	switch {
	case host == v.from && v.misrouted(idle):
		f.Cause = record.AsymmetricRoute
		f.Summary = fmt.Sprintf("%s leave by %s, and %s, though it holds the address that some of them send from: a route leads them out by the wrong link.", flows, where, unused)
		f.Remedy = fmt.Sprintf("give each source address of %s a route by its own link (`ip route get` with from shows where traffic leaves)", v.from)
	case len(v.lanes) <= len(full):
		f.Cause, f.Confidence = record.SingleLink, 0.97
		f.Summary = fmt.Sprintf("%s use %d of %d links (%s): a hash never splits a flow.", flows, len(full), len(side), where)
		if len(v.lanes) == 1 {
			f.Summary = fmt.Sprintf("%s uses one link (%s): a hash never splits a flow.", flows, where)
		}
		f.Remedy = fmt.Sprintf("use at least %d streams with ports chosen for different links (`linerate steer pick`)", len(side))
		if v.plain() {
			f.Summary = strings.Replace(f.Summary, "a hash never splits a flow", "a stream has one pair of addresses", 1)
			f.Remedy = fmt.Sprintf("use at least %d streams: they take turns on the pairs of addresses", len(side))
		}
		if d.mend != "" && !d.reach.Ports {
			f.Remedy = fmt.Sprintf("%s; then use at least %d streams", d.mend, len(side))
		}
	case d.mend != "" && !d.reach.Ports && !(d.reach.Addresses && v.pairs() > len(full)):
		f.Cause, f.Confidence = record.SingleLink, 0.97
		f.Summary = fmt.Sprintf("%s use %s, because %s; %s.", flows, where, strings.TrimSuffix(d.reach.Why, "."), unused)
		f.Remedy = d.mend
	default:
		f.Summary = fmt.Sprintf("%s share %s while %s: the ports fell that way.", flows, where, unused)
		f.Remedy = "choose source ports for different links (`linerate steer pick`), or use more streams"
		if !d.reach.Ports && d.reach.Addresses {
			f.Summary = fmt.Sprintf("%s share %s while %s: the addresses hash that way.", flows, where, unused)
			f.Remedy = "choose other addresses (`linerate steer pick`), or " + d.mend
		}
	}
	return f
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
				value += fmt.Sprintf(", %s of %v", percent(l.share()), l.ceiling)
			}
			out = append(out, record.Evidence{What: fmt.Sprintf("%s on %s %s", l.link, l.host, side.verb), Value: value, Source: fromCounters})
		}
	}
	for _, l := range v.outside {
		out = append(out, record.Evidence{What: fmt.Sprintf("%s on %s", l.link, l.host), Value: "not used by its bond now", Source: fromPorts})
	}
	return out
}

// lacpDown: the ports in the active aggregator are full, and others that
// could help are outside.
func (v *wayView) lacpDown() (record.Finding, bool) {
	for _, side := range [][]linkLoad{v.egress, v.ingress} {
		if !allFull(side) {
			continue
		}
		h := v.fabric.Hosts[side[0].host]
		for _, l := range h.Links {
			if l.Bond == nil || l.Bond.Mode != netstate.LACP || !carries(l, side) {
				continue
			}
			// A stream for each usable port and no more has no use for others.
			usable := h.UsablePorts(l.Name)
			if len(usable) >= len(l.Bond.Ports) || len(v.lanes) <= len(usable) {
				continue
			}
			return v.aggregator(h, l, usable), true
		}
	}
	return record.Finding{}, false
}

func (v *wayView) aggregator(h netstate.Host, bond netstate.Link, usable []string) record.Finding {
	in := strings.Join(usable, ", ")
	if in == "" {
		in = "none"
	}
	f := record.Finding{
		Cause: record.LACPDown, Confidence: 0.95,
		Summary: fmt.Sprintf("%s of %s has %d of its %d ports in the active aggregator, and they are full.", bond.Name, h.Name, len(usable), len(bond.Bond.Ports)),
		Evidence: append([]record.Evidence{{What: "ports in use of " + bond.Name + " on " + h.Name, Value: in,
			Source: "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID against IFLA_BOND_AD_INFO_AGGREGATOR"}}, v.loads()...),
		Remedy: "check the switch's LACP on the other ports: same channel group, same speed, LACP on",
	}
	for _, name := range bond.Bond.Ports {
		if p, ok := h.Link(name); ok && p.Port != nil && (!p.Up || !p.Port.MIIUp) {
			f.Remedy = fmt.Sprintf("bring %s of %s up: it has no link (cable, optic, switch port)", name, h.Name)
			break
		}
	}
	return f
}

// carries reports whether a port of the bond is among the links.
func carries(bond netstate.Link, side []linkLoad) bool {
	return slices.ContainsFunc(side, func(l linkLoad) bool { return slices.Contains(bond.Bond.Ports, l.link) })
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
	if len(links) == 0 {
		return 0
	}
	sum := 0.0
	for _, l := range links {
		sum += l.share()
	}
	return sum / float64(len(links))
}
