package trial

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const fromRoute = "the kernel's own answer (RTM_GETROUTE)"

// missedShare is the share of the payload that the counted links must miss to
// say that traffic goes by others.
const missedShare = 0.5

// astray is an address whose traffic takes another link than the one that
// holds it. Out is "" where only the counters say so.
type astray struct {
	host          string
	own           netip.Addr
	holder, out   string
	fromItsKernel bool
}

// misrouted: what should leave, or arrive, by one link goes by another, and
// that one is full or slower.
func (v *wayView) misrouted() (hypothesis, bool) {
	all := v.byRoutes()
	for _, seen := range v.byCounters() {
		if !slices.ContainsFunc(all, func(a astray) bool { return a.own == seen.own }) {
			all = append(all, seen)
		}
	}
	if len(all) == 0 || !v.room() {
		return hypothesis{}, false
	}
	sure := 0.5
	switch {
	case v.fullBesideIdle(v.egress) || v.fullBesideIdle(v.ingress):
		sure = 0.95
	case v.goesElsewhere():
		sure = 0.9
	default:
		if used, _ := v.lossyTogether(v.egress); len(used) > 0 {
			sure = 0.8
		}
	}
	first := all[0]
	verb, way := "leaves", "sent from"
	if first.host == v.to {
		verb, way = "arrives", "sent to"
	}
	by := "another link"
	if first.out != "" {
		by = first.out
	}
	h := hypothesis{
		cause: record.AsymmetricRoute, seen: true, sure: sure, mended: "With each address on its own link",
		summary: fmt.Sprintf("What is %s %s %s by %s and not by %s, the link of %s with the address: it takes the wrong link.", way, first.own, verb, by, first.holder, first.host),
	}
	if verb == "arrives" {
		h.remedy = record.Remedy{remedy.OwnAnswers(first.host, v.from, first.own)}
	}
	var own []netip.Addr
	for _, a := range all {
		if a.host == first.host {
			own = append(own, a.own)
		}
		source := fromCounters
		if a.fromItsKernel {
			source = fromRoute
		}
		h.evidence = append(h.evidence, record.Evidence{What: fmt.Sprintf("%s on %s uses", a.own, a.host), Value: fmt.Sprintf("%s and not %s", cmp.Or(a.out, "another link"), a.holder), Source: source})
	}
	if verb == "leaves" {
		h.remedy = remedy.Else(remedy.OwnTables(v.fabric.Hosts[first.host], own, v.lanes), "give each address of "+first.host+" a route by its own link, in a table of its own (`ip rule`)")
	}
	h.evidence = append(h.evidence, v.loads()...)
	if used, _ := usedAndUnused(v.egress); len(used) > 0 {
		v.weighOwnLimits(&h, used, v.egress)
	}
	if sure < worthNaming+0.2 {
		h.against = append(h.against, record.Evidence{What: "the links in use", Value: "none is full", Source: fromCounters})
	}
	return h, true
}

// byRoutes are the addresses of the sender whose packets its kernel sends by
// another link than the one that holds them.
func (v *wayView) byRoutes() []astray {
	h := v.fabric.Hosts[v.from]
	var out []astray
	for _, r := range v.trial.Routes {
		holder, ok := h.LinkWith(r.Src)
		if r.Host != v.from || !ok || holder.Loopback() || r.Link == "" || r.Link == holder.Name || legOf(h, r.Dst, holder.Name) {
			continue
		}
		if slices.ContainsFunc(v.lanes, func(l record.Lane) bool { return l.Src == r.Src }) {
			out = append(out, astray{v.from, r.Src, holder.Name, r.Link, true})
		}
	}
	return out
}

// legOf reports a multipath route to the address with a leg on the link.
func legOf(h netstate.Host, to netip.Addr, link string) bool {
	return slices.ContainsFunc(h.Routes, func(r netstate.Route) bool {
		return r.Dst.IsValid() && r.Dst.Contains(to) && slices.ContainsFunc(r.Hops, func(n netstate.NextHop) bool { return n.Link == link })
	})
}

// byCounters are the addresses on plain links that idle while streams of those
// addresses fill others.
func (v *wayView) byCounters() []astray {
	var out []astray
	for i, side := range [][]linkLoad{v.egress, v.ingress} {
		host := []string{v.from, v.to}[i]
		full, idle := split(side)
		if len(full) == 0 {
			full, idle = v.almostFull(side)
		}
		if len(full) == 0 {
			full, idle = usedAndUnused(side)
		}
		if len(full) == 0 {
			continue
		}
		for _, lane := range v.lanes {
			own := []netip.Addr{lane.Src, lane.Dst}[i]
			link, ok := v.idleHolder(host, own, idle)
			if ok && lane.Goodput > 0 && !v.carriesItsOwn(host, own, i == 0) && !slices.ContainsFunc(out, func(a astray) bool { return a.own == own }) {
				out = append(out, astray{host, own, link, names(full), false})
			}
		}
	}
	return out
}

// carriesItsOwn reports an address whose link carried about what its streams did:
// they use it, and are slow for another reason.
func (v *wayView) carriesItsOwn(host string, own netip.Addr, sending bool) bool {
	var streams, carried unit.BitRate
	for _, l := range v.lanes {
		if at := l.Dst; sending && l.Src == own || !sending && at == own {
			streams += l.Goodput
		}
	}
	h := v.fabric.Hosts[host]
	holder, _ := h.LinkWith(own)
	below, _, _ := h.Below(holder.Name)
	for i, side := range [][]linkLoad{v.egress, v.ingress} {
		for _, l := range side {
			if (i == 0) == sending && len(below) == 1 && l.link == below[0].Name {
				carried += l.payload
			}
		}
	}
	return streams > 0 && carried >= streams*9/10
}

// idleHolder is the link, in no bond, that holds the address and idles.
func (v *wayView) idleHolder(host string, own netip.Addr, idle []linkLoad) (string, bool) {
	h := v.fabric.Hosts[host]
	link, ok := h.LinkWith(own)
	if !ok || link.Loopback() {
		return "", false
	}
	below, _, bond := h.Below(link.Name)
	if bond != nil || len(below) != 1 || slices.ContainsFunc(h.Routes, func(r netstate.Route) bool { return len(r.Hops) > 1 }) {
		return "", false
	}
	return link.Name, slices.ContainsFunc(idle, func(l linkLoad) bool { return l.link == below[0].Name && l.share() <= idleLink })
}

// goesElsewhere: the links that hold the addresses carried far less than what
// arrived.
func (v *wayView) goesElsewhere() bool {
	for _, side := range [][]linkLoad{v.egress, v.ingress} {
		var sum float64
		for _, l := range side {
			sum += float64(l.payload)
		}
		if len(side) > 0 && sum < missedShare*float64(v.goodput) {
			return true
		}
	}
	return false
}

// fullBesideIdle reports a side with a link as good as full beside one that idles.
func (v *wayView) fullBesideIdle(side []linkLoad) bool {
	full, idle := split(side)
	if len(full) == 0 {
		full, idle = v.almostFull(side)
	}
	return len(full) > 0 && least(idle) <= idleLink
}

// usedAndUnused are a side's links that carry traffic, and those that carry
// none at all.
func usedAndUnused(side []linkLoad) (used, unused []linkLoad) {
	for _, l := range side {
		if l.share() > idleLink {
			used = append(used, l)
		} else if l.share() < 0.01 {
			unused = append(unused, l)
		}
	}
	if len(unused) == 0 {
		return nil, nil
	}
	return used, unused
}
