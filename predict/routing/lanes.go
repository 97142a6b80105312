package routing

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Lanes are the lanes of one family between two hosts, as Lanes of package
// predict says.
func Lanes(a, b netstate.Host, v6 bool) []flow.Lane {
	ends := laneEnds{a: addresses(a, v6), b: addresses(b, v6), innerA: innerAddresses(a), innerB: innerAddresses(b)}
	ends.dropShared()
	lanes := ends.byHostRoutes(a)
	if len(lanes) == 0 {
		for _, l := range ends.turned().byHostRoutes(b) {
			lanes = append(lanes, l.Reverse())
		}
	}
	lanes = append(lanes, ends.without(lanes).bySubnets()...)
	if len(lanes) == 0 {
		lanes = ends.byRoutes(a)
	}
	return lanes
}

// laneEnds are the addresses of the two hosts that lanes are made of, and those
// of any family that lo and dummies hold.
type laneEnds struct {
	a, b           []netip.Prefix
	innerA, innerB []netip.Prefix
}

func (e laneEnds) turned() laneEnds {
	return laneEnds{a: e.b, b: e.a, innerA: e.innerB, innerB: e.innerA}
}

// addresses lists the host's usable addresses of one family, links in order.
// A network on a link that leads nowhere is the host's own, all of it: it is shared
// with nobody.
func addresses(h netstate.Host, v6 bool) []netip.Prefix {
	var all []netip.Prefix
	for _, l := range h.Links {
		if !l.Up || l.Port != nil {
			continue
		}
		for _, p := range l.Addresses {
			addr := p.Addr()
			if addr.Is4() == v6 || addr.IsLoopback() || addr.IsLinkLocalUnicast() || !l.MaySend(addr) {
				continue
			}
			if h.LeadsNowhere(l) {
				p = netip.PrefixFrom(addr, addr.BitLen())
			}
			all = append(all, p)
		}
	}
	return all
}

func innerAddresses(h netstate.Host) []netip.Prefix {
	var all []netip.Prefix
	for _, l := range h.Links {
		if h.LeadsNowhere(l) {
			all = append(all, l.Addresses...)
		}
	}
	return all
}

// dropShared removes addresses that both hosts hold, such as a container
// bridge's: nothing sent to one of them leaves the host.
func (e *laneEnds) dropShared() {
	same := func(list []netip.Prefix) func(netip.Prefix) bool {
		return func(p netip.Prefix) bool { return contains(list, p.Addr()) }
	}
	a, b := slices.Clone(e.a), slices.Clone(e.b)
	e.a, e.b = slices.DeleteFunc(slices.Clone(a), same(b)), slices.DeleteFunc(b, same(a))
}

func contains(list []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Addr() == addr })
}

// without leaves the addresses that no lane uses yet.
func (e laneEnds) without(lanes []flow.Lane) laneEnds {
	rest := laneEnds{innerA: e.innerA, innerB: e.innerB}
	for _, p := range e.a {
		if !slices.ContainsFunc(lanes, func(l flow.Lane) bool { return l.Src == p.Addr() }) {
			rest.a = append(rest.a, p)
		}
	}
	for _, p := range e.b {
		if !slices.ContainsFunc(lanes, func(l flow.Lane) bool { return l.Dst == p.Addr() }) {
			rest.b = append(rest.b, p)
		}
	}
	return rest
}

// byHostRoutes makes a lane of every route of host a to a single address of
// the other side. The source is the route's own, the next hop where that is
// the host's own address (which means directly reachable), the address of lo
// where the other side's is lo's too, or the link's first address.
func (e laneEnds) byHostRoutes(a netstate.Host) []flow.Lane {
	var lanes []flow.Lane
	for _, r := range a.Routes {
		if !r.Dst.IsValid() || !r.Dst.IsSingleIP() || !contains(e.b, r.Dst.Addr()) {
			continue
		}
		src := e.source(a, r)
		lane := flow.Lane{Src: src, Dst: r.Dst.Addr()}
		if src.IsValid() && !slices.Contains(lanes, lane) {
			lanes = append(lanes, lane)
		}
	}
	return lanes
}

func (e laneEnds) source(a netstate.Host, r netstate.Route) netip.Addr {
	for _, own := range []netip.Addr{r.Source, r.Gateway} {
		if own.IsValid() && contains(e.a, own) {
			return own
		}
	}
	if contains(e.innerB, r.Dst.Addr()) {
		for _, p := range e.a {
			if contains(e.innerA, p.Addr()) {
				return p.Addr()
			}
		}
	}
	if l, ok := outLink(a, r, netip.Addr{}); ok {
		return e.firstOn(l)
	}
	return netip.Addr{}
}

// firstOn is the link's first usable address; the zero Addr when none.
func (e laneEnds) firstOn(l netstate.Link) netip.Addr {
	for _, p := range l.Addresses {
		if contains(e.a, p.Addr()) {
			return p.Addr()
		}
	}
	return netip.Addr{}
}

// bySubnets pairs the addresses of each common subnet in order; the side with
// fewer repeats its own.
func (e laneEnds) bySubnets() []flow.Lane {
	var lanes []flow.Lane
	var done []netip.Prefix
	for _, p := range e.a {
		subnet := p.Masked()
		if slices.Contains(done, subnet) {
			continue
		}
		done = append(done, subnet)
		var near, far []netip.Addr
		for _, q := range e.a {
			if q.Masked() == subnet {
				near = append(near, q.Addr())
			}
		}
		for _, q := range e.b {
			if subnet.Contains(q.Addr()) && q.Contains(p.Addr()) {
				far = append(far, q.Addr())
			}
		}
		if len(far) == 0 {
			continue
		}
		for i := range max(len(near), len(far)) {
			lanes = append(lanes, flow.Lane{Src: near[i%len(near)], Dst: far[i%len(far)]})
		}
	}
	return lanes
}

// byRoutes makes lanes to the addresses that host a has the most specific
// routes to; a default route leads to the first address only.
func (e laneEnds) byRoutes(a netstate.Host) []flow.Lane {
	var lanes []flow.Lane
	best := -1
	for _, p := range e.b {
		l, prefix, ok := Egress(a, netip.Addr{}, p.Addr())
		if !ok {
			continue
		}
		src := e.firstOn(l)
		if !src.IsValid() || prefix.Bits() < best || prefix.Bits() == 0 && len(lanes) > 0 {
			continue
		}
		if prefix.Bits() > best {
			best, lanes = prefix.Bits(), nil
		}
		lanes = append(lanes, flow.Lane{Src: src, Dst: p.Addr()})
	}
	return lanes
}
