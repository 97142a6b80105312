package predict

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/maxmin"
	"github.com/linerate/linerate/predict/tiers"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// overSwitches finds the way of each leg through the switches that the fabric describes;
// nil where it describes none.
func (w *way) overSwitches() {
	w.switches = make([]*tiers.Way, len(w.legs))
	for n, l := range w.legs {
		out, in := w.out.at[l.out], w.in.at[l.in]
		way, ok := tiers.Between(fabric.NetworkOf(w.path), tiers.Side{Host: out.host.Name, Links: out.portNames()}, tiers.Side{Host: in.host.Name, Links: in.portNames()})
		if !ok {
			continue
		}
		w.switches[n] = way
		if u := &w.in.uses[l.in]; u.bySwitch && u.spread == notKnown && !fabric.NetworkOf(w.path).SharesOut(in.host.Name) {
			u.spread, u.why = byChance, "each switch has one of these links: those before it decide which a flow arrives by"
		}
	}
}

// wordUse is how a switch spreads flows by a word that is none of the kernel's.
func wordUse(word string) use {
	u := use{bySwitch: true, why: "the switch: " + word + " decides which link a flow takes, by a rule that is not published"}
	switch topology.FieldsOf(word) {
	case topology.ByMAC:
		u.why = "the switch: " + word + " puts all flows between two hosts on one link"
	case topology.OneOfAll:
		u.why = "the switch has no channel there: it sends all to the port where it last heard the address"
	case topology.ByAddress:
		u.spread, u.secret = byAddress, true
	case topology.ByPort:
		u.spread = byChance
	}
	return u
}

// routed is a flow's cells over the switches: each route from one of the sender's ports,
// as likely as the others; false where the switches are not described.
func (p *plan) routed(n int, out, in choice, a assumption) ([]int, bool) {
	w := p.way
	over := w.switches[n]
	if over == nil {
		return nil, false
	}
	l := w.legs[n]
	ask := tiers.Ask{Frame: w.frame(l), Lane: n, Low: a.low, Mean: a.mean, Last: w.path.SwitchHash}
	if u := w.out.uses[l.out]; u.spread == byPort && u.policy == netstate.Layer34 && w.out.at[l.out].computed {
		ask.Hashed = len(w.out.at[l.out].ports)
	}
	u := w.in.uses[l.in]
	if !u.bySwitch && in.ports[0] != everyPort {
		ask.In = in.ports
	}
	ports := out.ports
	if ports[0] == everyPort {
		ports = anyOf(len(w.out.at[l.out].ports)).ports
	}
	var found []tiers.Route
	var from []int
	for _, o := range ports {
		ask.Out = o
		routes, ok := over.Routes(ask)
		if !ok {
			return nil, false
		}
		if in.free && u.bySwitch && u.spread == byPort {
			routes = tiers.Arriving(routes, in.ports[0])
		}
		if a.worst {
			routes = routes[:1]
		}
		sum := 0.0
		for _, r := range routes {
			sum += r.Share
		}
		for _, r := range routes {
			r.Share /= sum * float64(len(ports))
			found, from = append(found, r), append(from, o)
		}
	}
	if out.ports[0] == everyPort {
		return []int{p.cell(planned{n, everyPort, in.ports[0], p.route(tiers.Striped(found))})}, true
	}
	cells, shares := make([]int, len(found)), make([]float64, len(found))
	for i, r := range found {
		cells[i], shares[i] = p.cell(planned{n, from[i], r.In, p.route(r)}), r.Share
	}
	return tiers.Alike(cells, shares), true
}

// route is the number of a route, counted from 1, new or known.
func (p *plan) route(r tiers.Route) int {
	r.In, r.Share = 0, 0
	i := slices.IndexFunc(p.routes, func(k tiers.Route) bool { return sameRoute(k, r) })
	if i < 0 {
		i = len(p.routes)
		p.routes = append(p.routes, r)
	}
	return i + 1
}

func sameRoute(a, b tiers.Route) bool {
	return slices.Equal(a.Links, b.Links) && slices.Equal(a.Weights, b.Weights)
}

// onSwitches adds what a cell's flow claims of the links between switches.
func (n *network) onSwitches(p plan, c planned, add func(resource int, weight float64)) {
	if c.over == 0 {
		return
	}
	s, tags := p.way.segment(p.way.legs[c.leg]), p.way.legs[c.leg].outTags
	route := p.routes[c.over-1]
	for i, l := range route.Links {
		add(n.between[l], route.Weights[i]/p.way.switchLink(l).Share(s, tags))
	}
}

// switchLink is a link between switches as a capacity.
func (w *way) switchLink(link int) framing.Capacity {
	l := fabric.NetworkOf(w.path).Links[link]
	return framing.Capacity{Rate: l.Rate, Framing: l.Framing}
}

// betweenSwitches numbers the links between switches.
func (n *network) betweenSwitches(w *way) {
	if fabric.NetworkOf(w.path) == nil || !slices.ContainsFunc(w.switches, func(s *tiers.Way) bool { return s != nil }) {
		return
	}
	for _, l := range fabric.NetworkOf(w.path).Links {
		n.between = append(n.between, n.add(l.Rate))
	}
}

// switchLimit is what the links between switches carry of the plan's flows: alone, where
// all flows cross some, else beside the hosts' own links. False where they limit
// nothing.
func (w *way) switchLimit(p plan, b bounds) (Limit, bool) {
	if len(p.routes) == 0 {
		return Limit{}, false
	}
	alone := w.network(bounds{}, middle)
	alone.outCard, alone.inCard = nil, nil
	for _, ids := range slices.Concat(alone.out, alone.in) {
		for i := range ids {
			ids[i] = maxmin.None
		}
	}
	r := p.run(alone, math.Inf(1))
	if math.IsInf(r.rate, 1) {
		whole := w.network(b, middle)
		r = p.run(whole, b.flowCap(middle))
		for i := range whole.between {
			whole.between[i] = maxmin.None
		}
		if without := p.run(whole, b.flowCap(middle)).rate; math.IsInf(r.rate, 1) || r.rate > without*(1-Differs) {
			return Limit{}, false
		}
	}
	return w.narrowest(p, r), true
}

// narrowest names the switch whose links are the fullest.
func (w *way) narrowest(p plan, r result) Limit {
	links := fabric.NetworkOf(w.path).Links
	loads := make([]float64, len(links))
	var ways []*tiers.Way
	for i, c := range p.cells {
		if c.over == 0 {
			continue
		}
		s, tags := w.segment(w.legs[c.leg]), w.legs[c.leg].outTags
		for n, l := range p.routes[c.over-1].Links {
			loads[l] += r.loads[i] * p.routes[c.over-1].Weights[n] / w.switchLink(l).Share(s, tags)
		}
		ways = append(ways, w.switches[c.leg])
	}
	l := Limit{Rate: unit.BitRate(r.rate), Cause: record.Unknown}
	n, ok := tiers.Narrowest(ways, loads)
	if !ok {
		return l
	}
	s, c := w.segment(w.legs[0]), w.switchLink(n.First)
	tags := w.legs[0].outTags
	l.Cause, l.Where, l.Why, l.Switch = record.LineRate, n.Where, n.Why, n.Switch
	all := float64(n.All) * c.Share(s, tags)
	switch {
	case len(n.Used)+len(n.Idle) > 1 && w.flows() == 1:
		l.Cause = record.SingleLink
		l.Why += ": one flow uses one of them"
	case len(n.Idle) > 0 && len(n.Used) == 1:
		l.Cause = record.SingleLink
	case len(n.Idle) > 0:
		l.Cause = record.HashImbalance
	case len(n.Used) > 1 && p.chance() && r.rate < all*imbalance:
		l.Cause = record.HashImbalance
		l.Why += ": flows land on them by chance, and some share a link while others idle"
	}
	count := fmt.Sprint(min(len(n.Used), w.flows()))
	if l.Cause == record.HashImbalance && len(n.Idle) == 0 {
		count = fmt.Sprintf("on average %.2f", r.rate/float64(c.Rate)/c.Share(s, tags))
	}
	l.Why += fmt.Sprintf("; %s of %s x %s x %d/%d (payload of a full frame) = %s", count, unit.Counted(len(n.Used)+len(n.Idle), "link"),
		c.Rate, s.Payload(), s.Frame(c.Framing, c.CountedTags(tags)), l.Rate)
	return l
}

// mostBetween is what the switches' links carry between the hosts at most, whatever the
// hash; +Inf where they are not described.
func (w *way) mostBetween() float64 {
	sum := 0.0
	done := map[[2]int]bool{}
	for n, over := range w.switches {
		if over == nil {
			return math.Inf(1)
		}
		l := w.legs[n]
		if done[[2]int{l.out, l.in}] {
			continue
		}
		done[[2]int{l.out, l.in}] = true
		s := w.segment(l)
		sum += over.Most(func(link int) float64 { return w.switchLink(link).Share(s, l.outTags) },
			w.out.at[l.out].payloads(s, l.outTags), w.in.at[l.in].payloads(s, l.inTags))
	}
	return sum
}

// payloads is what each port carries, +Inf unknown.
func (a attachment) payloads(s framing.Segment, tags int) []float64 {
	all := make([]float64, len(a.ports))
	for i := range all {
		if all[i] = float64(a.payload(i, s, tags)); a.caps[i].Rate == 0 {
			all[i] = math.Inf(1)
		}
	}
	return all
}
