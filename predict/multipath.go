package predict

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/steer"
)

// multipath is the route with several next hops that the host sends by, and
// the plain links of its hops; false where there is none, a hop rides on
// something else, or the hash takes no ports: then all of a lane's flows take
// one hop, as with a single one.
func multipath(h netstate.Host, src, dst netip.Addr) (steer.Multipath, []netstate.Link, bool) {
	_, prefix, ok := routing.Egress(h, src, dst)
	if !ok {
		return steer.Multipath{}, nil, false
	}
	r, ok := routing.RouteOver(h, src, dst, prefix)
	if !ok {
		return steer.Multipath{}, nil, false
	}
	m, err := steer.MultipathOf(h, r)
	if err != nil || !m.Reach().Ports {
		return steer.Multipath{}, nil, false
	}
	var links []netstate.Link
	for _, hop := range r.Hops {
		l, ok := routing.HopLink(h, hop)
		if hop.Dead || !ok || !l.Up {
			continue
		}
		if routing.Holds(l, src) {
			return steer.Multipath{}, nil, false
		}
		links = append(links, l)
	}
	return m, links, len(links) > 1 && allPlain(links)
}

// allPlain reports links that ride on nothing.
func allPlain(links []netstate.Link) bool {
	return !slices.ContainsFunc(links, func(l netstate.Link) bool {
		return l.Bond != nil || l.VLAN != nil || l.Tunnel != nil || l.OVS != nil || l.Switches()
	})
}

// hops is an attachment that stands for a route's next hops; m is nil where
// others choose among them: those that send to an address of lo.
func hops(h netstate.Host, m *steer.Multipath, links []netstate.Link, transmit bool) attachment {
	a := attachment{host: h, base: links[0], ports: links, hops: m}
	a.base.Name = "route over "
	for i, l := range links {
		if i > 0 {
			a.base.Name += ", "
		}
		a.base.Name += l.Name
		a.base.MTU = mtuOf(a.base, l)
		a.caps = append(a.caps, framing.CapacityOf(l, transmit))
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
