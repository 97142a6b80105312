// Package routing says by which links and addresses a host sends to a peer and
// hears from it. It knows two hosts as data, and no path between them.
package routing

import (
	"net/netip"
	"slices"
	"sort"

	"github.com/linerate/linerate/netstate"
)

// mainTable is RT_TABLE_MAIN (include/uapi/linux/rtnetlink.h); a route that
// names no table is in it.
const mainTable = 254

// Egress returns the link by which the host sends from src to dst: policy
// rules in order, the longest prefix of the first table that answers, then
// the lowest metric (fib_rules_lookup, fib_table_lookup). Addresses on links
// count as routes of the main table, so that declared hosts answer too. Of
// several next hops the one that holds src is taken. False when no route.
func Egress(h netstate.Host, src, dst netip.Addr) (netstate.Link, netip.Prefix, bool) {
	for _, table := range tables(h, src, dst) {
		if l, prefix, ok := lookup(h, table, src, dst); ok {
			return l, prefix, true
		}
	}
	return netstate.Link{}, netip.Prefix{}, false
}

// tables lists the tables that the rules select, main last where no rule
// names it.
func tables(h netstate.Host, src, dst netip.Addr) []int {
	rules := append([]netstate.Rule(nil), h.Rules...)
	sort.SliceStable(rules, func(i, j int) bool { return rules[i].Priority < rules[j].Priority })
	var ids []int
	named := false
	for _, r := range rules {
		if r.From.IsValid() && !r.From.Contains(src) || r.To.IsValid() && !r.To.Contains(dst) {
			continue
		}
		ids = append(ids, r.Table)
		named = named || tableID(r.Table) == mainTable
	}
	if !named {
		ids = append(ids, mainTable)
	}
	return ids
}

func tableID(table int) int {
	if table == 0 {
		return mainTable
	}
	return table
}

func lookup(h netstate.Host, table int, src, dst netip.Addr) (best netstate.Link, prefix netip.Prefix, found bool) {
	metric := 0
	for _, r := range h.Routes {
		if tableID(r.Table) != tableID(table) || !r.Dst.IsValid() || !r.Dst.Contains(dst) {
			continue
		}
		if found && (r.Dst.Bits() < prefix.Bits() || r.Dst.Bits() == prefix.Bits() && r.Metric >= metric) {
			continue
		}
		if l, ok := outLink(h, r, src); ok {
			best, prefix, metric, found = l, r.Dst.Masked(), r.Metric, true
		}
	}
	if tableID(table) != mainTable {
		return best, prefix, found
	}
	if l, p, ok := connected(h, dst); ok && (!found || p.Bits() > prefix.Bits()) {
		return l, p, true
	}
	return best, prefix, found
}

// connected is the first link that is up with an address in dst's subnet.
func connected(h netstate.Host, dst netip.Addr) (best netstate.Link, prefix netip.Prefix, found bool) {
	for _, l := range h.Links {
		if !l.Up || l.Loopback() {
			continue
		}
		for _, p := range l.Addresses {
			if p.Contains(dst) && p.Addr() != dst && (!found || p.Bits() > prefix.Bits()) {
				best, prefix, found = l, p.Masked(), true
			}
		}
	}
	return best, prefix, found
}

// outLink is the link a route leads out by: its own, its gateway's subnet's,
// or, of a multipath route, the one that holds src and else the first.
func outLink(h netstate.Host, r netstate.Route, src netip.Addr) (netstate.Link, bool) {
	hops := r.Hops
	if len(hops) == 0 {
		hops = []netstate.NextHop{{Gateway: r.Gateway, Link: r.Link}}
	}
	var first netstate.Link
	found := false
	for _, hop := range hops {
		l, ok := HopLink(h, hop)
		if !ok || !l.Up {
			continue
		}
		if !found {
			first, found = l, true
		}
		if Holds(l, src) {
			return l, true
		}
	}
	return first, found
}

func HopLink(h netstate.Host, hop netstate.NextHop) (netstate.Link, bool) {
	if hop.Link != "" {
		return h.Link(hop.Link)
	}
	if !hop.Gateway.IsValid() {
		return netstate.Link{}, false
	}
	if l, ok := h.LinkWith(hop.Gateway); ok {
		return l, true
	}
	l, _, ok := connected(h, hop.Gateway)
	return l, ok
}

func Holds(l netstate.Link, addr netip.Addr) bool {
	return slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == addr })
}
