package plan

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// legs are the next hops of a route, one where it is no multipath route.
func legs(r netstate.Route) []netstate.NextHop {
	if len(r.Hops) > 0 {
		return r.Hops
	}
	return []netstate.NextHop{{Gateway: r.Gateway, Link: r.Link, OnLink: r.OnLink}}
}

// unreachable says why the kernel would refuse to add a route: its link does not
// lead to a gateway of it directly, or a rule refuses the lookup (fib_check_nh,
// ip6_route_check_nh). It keeps one whose gateway has become so. "" is nothing.
// without is an address that is taken for gone; the zero value is none.
func unreachable(h netstate.Host, r netstate.Route, without netip.Prefix) string {
	for _, leg := range legs(r) {
		if !leg.Gateway.IsValid() || leg.Link == "" || leg.OnLink || r.OnLink || reaches(h, leg, r.Table, without) {
			continue
		}
		if barred(h, leg) {
			return "a rule of the host refuses the lookup of its gateway " + leg.Gateway.String() + " (EINVAL)"
		}
		return "its gateway " + leg.Gateway.String() + " is in no network of its link (ENETUNREACH)"
	}
	return ""
}

// reaches reports a link that leads to a gateway directly: by the network of
// one of its addresses, or by a route without a gateway, of the table of the
// route over the gateway or, by way of the rules, of the main one. An IPv4 route
// of the main table has the rules' way only.
func reaches(h netstate.Host, leg netstate.NextHop, table int, without netip.Prefix) bool {
	link, gateway := leg.Link, leg.Gateway
	if gateway.Is6() && gateway.IsLinkLocalUnicast() {
		return true
	}
	l, _ := h.Link(link)
	addresses := slices.DeleteFunc(slices.Clone(l.Addresses), func(a netip.Prefix) bool { return a == without })
	by := func(table int) bool {
		return slices.ContainsFunc(h.Routes, func(r netstate.Route) bool {
			if r.Link != link || far(r) || r.Type != "" || canonical(r).Table != table || !r.Dst.Contains(gateway) {
				return false
			}
			return !madeOf(r, without, l) || slices.ContainsFunc(addresses, func(a netip.Prefix) bool { return a.Masked() == r.Dst.Masked() })
		})
	}
	if table == 0 {
		table = tableMain
	}
	byRulesAlone := table == tableMain && gateway.Is4() // fib_check_nh_v4_gw asks no table but another than the main one
	if !byRulesAlone && by(table) {
		return true
	}
	if barred(h, leg) {
		return false
	}
	return by(tableMain) || slices.ContainsFunc(addresses, func(a netip.Prefix) bool { return a.Contains(gateway) })
}

// barred reports a rule before that of the main table that refuses the gateway's
// own lookup, which has no source and no mark and comes in by lo
// (fib_check_nh_v4_gw asks the rules where the route's table does not lead to the
// gateway).
func barred(h netstate.Host, leg netstate.NextHop) bool {
	last := mainPriority(h, leg.Gateway.Is6())
	return slices.ContainsFunc(h.Rules, func(r netstate.Rule) bool {
		if r.Action == "" || r.Action == "goto" || r.Action == "nop" || ipv6Rule(&r) != leg.Gateway.Is6() || r.Priority >= last {
			return false
		}
		conditions, not := strings.CutPrefix(r.Selectors, "not")
		conditions = strings.TrimSpace(conditions)
		matches := !r.From.IsValid() && (!r.To.IsValid() || r.To.Contains(leg.Gateway)) && (conditions == "" || conditions == "iif lo" || conditions == "oif "+leg.Link)
		return matches != not
	})
}

// mainPriority is where the rules lead all traffic of a family to the main table.
func mainPriority(h netstate.Host, six bool) int {
	at := kernelMain
	for _, r := range h.Rules {
		if r.Table == tableMain && r.Action == "" && r.Selectors == "" && !r.From.IsValid() && !r.To.IsValid() && ipv6Rule(&r) == six {
			at = min(at, r.Priority)
		}
	}
	return at
}

// madeOf reports a connected route that goes with an address of a link, or
// came with one that the link has no more.
func madeOf(r netstate.Route, address netip.Prefix, l netstate.Link) bool {
	if r.Protocol != "kernel" {
		return false
	}
	gone := !slices.ContainsFunc(l.Addresses, func(a netip.Prefix) bool {
		if r.Source.IsValid() {
			return a.Addr() == r.Source
		}
		return r.Dst.Addr().Is4() || a.Masked() == r.Dst.Masked() // IPv6 names no source
	})
	return gone || address.IsValid() && (r.Dst.Masked() == address.Masked() || r.Source == address.Addr())
}

// stranded are the routes whose gateway is reached by an address alone. The
// kernel keeps them when it goes, but adds none of them again before it is back.
func stranded(h netstate.Host, l netstate.Link, a netip.Prefix) []netstate.Route {
	var out []netstate.Route
	for _, r := range h.Routes {
		if kernelMade(h, r) || r.Table == tableLocal || !uses(r, []string{l.Name}) {
			continue
		}
		if unreachable(h, r, netip.Prefix{}) == "" && unreachable(h, r, a) != "" {
			out = append(out, r)
		}
	}
	return out
}
