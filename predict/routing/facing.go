package routing

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// Facing returns the links by which the host faces a peer from an address of
// its own: the link that holds the address, or, where that leads
// nowhere (lo, a dummy), those that its route to the peer leaves by: several of a
// multipath route. What comes back is taken to come in by the same ones. None
// where the host has neither the address nor a route.
func Facing(h netstate.Host, own, peer netip.Addr) []netstate.Link {
	holder, ok := h.LinkWith(own)
	if !ok {
		return nil
	}
	if !h.LeadsNowhere(holder) {
		return []netstate.Link{holder}
	}
	first, prefix, ok := Egress(h, own, peer)
	if !ok || h.LeadsNowhere(first) {
		return nil
	}
	links := []netstate.Link{first}
	r, _ := RouteOver(h, own, peer, prefix)
	for _, hop := range r.Hops {
		if l, ok := HopLink(h, hop); ok && l.Up && !hop.Dead && !h.LeadsNowhere(l) && !slices.ContainsFunc(links, func(o netstate.Link) bool { return o.Name == l.Name }) {
			links = append(links, l)
		}
	}
	return links
}

// RouteOver is the route over several next hops that egress found; false where
// the route has one.
func RouteOver(h netstate.Host, src, dst netip.Addr, prefix netip.Prefix) (netstate.Route, bool) {
	for _, table := range tables(h, src, dst) {
		for _, r := range h.Routes {
			if tableID(r.Table) == tableID(table) && len(r.Hops) > 1 && r.Dst.IsValid() && r.Dst.Masked() == prefix {
				return r, true
			}
		}
	}
	return netstate.Route{}, false
}

// Multipath is the hash by which a host spreads what it sends from an address
// to a peer over next hops; false where its route has one, or cannot be read.
func Multipath(h netstate.Host, own, peer netip.Addr) (steer.Multipath, bool) {
	_, prefix, _ := Egress(h, own, peer)
	r, ok := RouteOver(h, own, peer, prefix)
	if !ok {
		return steer.Multipath{}, false
	}
	m, err := steer.MultipathOf(h, r)
	return m, err == nil
}

// FacingOne is the link by which the host faces a peer, the one with the
// smallest MTU of several; its name is "" where there is none.
func FacingOne(h netstate.Host, own, peer netip.Addr) netstate.Link {
	var least netstate.Link
	for i, l := range Facing(h, own, peer) {
		if i == 0 || l.MTU > 0 && l.MTU < least.MTU {
			least = l
		}
	}
	return least
}
