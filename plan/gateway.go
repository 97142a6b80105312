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
		if _, action := byRules(h, leg, func(int) bool { return false }); action != "" {
			return "a rule of the host (" + action + ") refuses the lookup of its gateway " + leg.Gateway.String()
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
	main := func() bool {
		return by(tableMain) || slices.ContainsFunc(addresses, func(a netip.Prefix) bool { return a.Contains(gateway) })
	}
	found, _ := byRules(h, leg, func(table int) bool { return table == tableMain && main() || by(table) })
	return found
}

// byRules follows the rules as the gateway's own lookup does, which has no source, no mark
// and no port, is root's and comes in by lo (fib_check_nh_v4_gw): whether a table of them
// leads to it, and else the action of the rule that refuses it.
func byRules(h netstate.Host, leg netstate.NextHop, by func(table int) bool) (found bool, refuses string) {
	six := leg.Gateway.Is6()
	rules := slices.DeleteFunc(slices.Clone(h.Rules), func(r netstate.Rule) bool { return ipv6Rule(&r) != six })
	slices.SortStableFunc(rules, func(a, b netstate.Rule) int { return a.Priority - b.Priority })
	whole := false // the kernel's own rules are there, and so is every other
	from := 0
	for _, r := range rules {
		table := r.Table
		if table == 0 {
			table = tableMain
		}
		whole = whole || table == tableLocal && r.Priority == 0
		if r.Priority < from || !meets(r, leg) {
			continue
		}
		switch r.Action {
		case "":
			if by(table) {
				return true, ""
			}
		case "goto":
			from = r.Goto
		case "nop":
		default:
			return false, r.Action
		}
	}
	return !whole && by(tableMain), ""
}

// meets reports a rule that applies to the lookup of a gateway. A condition that nobody knows
// here is not met.
func meets(r netstate.Rule, leg netstate.NextHop) bool {
	words := strings.Fields(r.Selectors)
	not := len(words) > 0 && words[0] == "not"
	if not {
		words = words[1:]
	}
	holds := (!r.From.IsValid() || r.From.Bits() == 0) && (!r.To.IsValid() || r.To.Contains(leg.Gateway))
	for i := 0; i+1 < len(words); i += 2 {
		switch value := words[i+1]; words[i] {
		case "iif":
			holds = holds && value == "lo"
		case "oif":
			holds = holds && value == leg.Link
		case "uidrange":
			holds = holds && strings.HasPrefix(value, "0-")
		case "suppress_prefixlength": // leaves what a default route would answer
		default:
			holds = false
		}
	}
	return (holds && len(words)%2 == 0) != not
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
