package predict

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// multipath is the route with several next hops that the host sends by, and
// the plain links of its hops; false where there is none, a hop rides on
// something else, or the hash takes no ports: then all of a lane's flows take
// one hop, as with a single one.
func multipath(h netstate.Host, src, dst netip.Addr) (steer.Multipath, []netstate.Link, bool) {
	_, prefix, ok := egress(h, src, dst)
	if !ok {
		return steer.Multipath{}, nil, false
	}
	i := slices.IndexFunc(h.Routes, func(r netstate.Route) bool {
		return len(r.Hops) > 1 && r.Dst.IsValid() && r.Dst.Masked() == prefix
	})
	if i < 0 {
		return steer.Multipath{}, nil, false
	}
	m, err := steer.MultipathOf(h, h.Routes[i])
	if err != nil || !m.Reach().Ports {
		return steer.Multipath{}, nil, false
	}
	var links []netstate.Link
	for _, hop := range h.Routes[i].Hops {
		l, ok := hopLink(h, hop)
		if hop.Dead || !ok || !l.Up {
			continue
		}
		if l.Bond != nil || l.VLAN != nil || l.Kind == "bridge" || holds(l, src) {
			return steer.Multipath{}, nil, false
		}
		links = append(links, l)
	}
	return m, links, len(links) > 1
}

// hops is an attachment that stands for a route's next hops.
func hops(h netstate.Host, m steer.Multipath, links []netstate.Link) attachment {
	a := attachment{host: h, base: links[0], ports: links, hops: &m}
	a.base.Name = "route over "
	for i, l := range links {
		if i > 0 {
			a.base.Name += ", "
		}
		a.base.Name += l.Name
		a.base.MTU = mtuOf(a.base, l)
		a.caps = append(a.caps, capacityOf(l, true))
	}
	return a
}

// hopUse is how flows spread over a route's next hops: by their ports, which
// can be chosen where the hash's key is known.
func (a attachment) hopUse() use {
	r := a.hops.Reach()
	u := use{spread: byChance, why: r.Why}
	if r.Chosen {
		u.spread = byPort
	}
	return u
}
