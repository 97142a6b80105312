package plan

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// Routing tables by number (include/uapi/linux/rtnetlink.h).
const (
	tableMain  = 254
	tableLocal = 255
)

// metricIPv6 is what the kernel gives an IPv6 route without a metric
// (IP6_RT_PRIO_USER).
const metricIPv6 = 1024

// canonical is a route as the kernel would show it: the main table and IPv6's
// metric by number, legs with a weight and in one order, without what says who
// made it or how it is just now.
func canonical(r netstate.Route) netstate.Route {
	if r.Table == 0 {
		r.Table = tableMain
	}
	if r.Metric == 0 && r.Dst.Addr().Is6() {
		r.Metric = metricIPv6
	}
	r.Dst, r.Protocol = r.Dst.Masked(), ""
	if r.Type != "" { // it leads nowhere, and IPv6 says lo (ip6_route_info_create)
		r.Link, r.Gateway, r.Hops = "", netip.Addr{}, nil
	}
	r.OnLink = r.OnLink && r.Gateway.IsValid()
	r.Hops = slices.Clone(r.Hops)
	for i := range r.Hops {
		r.Hops[i].Weight, r.Hops[i].Dead = max(r.Hops[i].Weight, 1), false
	}
	slices.SortStableFunc(r.Hops, func(a, b netstate.NextHop) int {
		return cmp.Or(a.Gateway.Compare(b.Gateway), strings.Compare(a.Link, b.Link))
	})
	return r
}

// routeKey tells two routes apart: two with one key are the same route.
func routeKey(r netstate.Route) string {
	c := canonical(r)
	return routeWords(&c, false)
}

// routePlace is what only one route can have (fib_table_insert with
// NLM_F_EXCL): destination, table and metric.
func routePlace(r netstate.Route) string {
	c := canonical(r)
	return routeWords(&netstate.Route{Dst: c.Dst, Table: c.Table, Metric: c.Metric, Extra: only(c.Extra, "tos")}, false)
}

func only(m map[string]string, key string) map[string]string {
	if v, ok := m[key]; ok {
		return map[string]string{key: v}
	}
	return nil
}

func routeIndex(routes []netstate.Route, r netstate.Route) int {
	want := routeKey(r)
	return slices.IndexFunc(routes, func(have netstate.Route) bool { return routeKey(have) == want })
}

// uses reports a route that goes over one of the links.
func uses(r netstate.Route, links []string) bool {
	return slices.Contains(links, r.Link) || slices.ContainsFunc(r.Hops, func(h netstate.NextHop) bool {
		return slices.Contains(links, h.Link)
	})
}

// far reports a route over a gateway, which another route has to reach first.
func far(r netstate.Route) bool { return r.Gateway.IsValid() || len(r.Hops) > 0 }

// restored reports routes the kernel makes from addresses when a link comes
// up: the local table, connected prefixes, link-local and multicast. What
// somebody else made to such a place, with a metric of its own, goes with the
// link and stays away.
func restored(host netstate.Host, r netstate.Route) bool {
	special := r.Dst.Addr().IsMulticast() || r.Dst.Addr().IsLinkLocalUnicast()
	made := r.Protocol == madeBy || r.Protocol == "boot"
	if kernelMade(host, r) || !made && r.Table == tableLocal || special && r.Protocol == "" {
		return true
	}
	if far(r) || r.Type != "" || r.Table != 0 && r.Table != tableMain || r.Metric != connectedMetric(r.Dst) {
		return false
	}
	l, _ := host.Link(r.Link)
	return slices.ContainsFunc(l.Addresses, func(a netip.Prefix) bool { return a.Masked() == r.Dst.Masked() })
}

// kernelMade reports a route that came with an address by itself: it leads over
// no gateway, and IPv4's names its source. Others that bear the kernel's mark are
// programs' (Cilium's): they go with their link and stay away.
func kernelMade(host netstate.Host, r netstate.Route) bool {
	if r.Protocol != "kernel" || far(r) || r.Type != "" || r.Object != 0 {
		return false
	}
	l, _ := host.Link(r.Link)
	return r.Dst.Addr().Is6() || r.Source.IsValid() || canonical(r).Table == tableMain && slices.ContainsFunc(l.Addresses, func(a netip.Prefix) bool { return a.Masked() == r.Dst.Masked() })
}

// connectedMetric is that of a prefix that comes with an address
// (fib_add_ifaddr; IP6_RT_PRIO_ADDRCONF).
func connectedMetric(p netip.Prefix) int {
	if p.Addr().Is6() {
		return 256
	}
	return 0
}

// ours reports a route that a plan may add or remove by itself: not one of the
// kernel, a router's advertisement, a DHCP client or a routing daemon.
func ours(h netstate.Host, r netstate.Route) bool {
	switch r.Protocol {
	case "", "static", "boot":
		return !restored(h, r)
	}
	return false
}

// leasedRoute reports a route that comes with a lease.
func leasedRoute(r netstate.Route) bool { return r.Protocol == "dhcp" || r.Protocol == "ra" }

// ruleKey tells two rules apart.
func ruleKey(r netstate.Rule) string {
	if r.Table == 0 && r.Action == "" {
		r.Table = tableMain
	}
	family := "ipv4 "
	if ipv6Rule(&r) {
		family = "ipv6 "
	}
	if r.From.IsValid() && r.From.Bits() == 0 {
		r.From = r.From.Masked()
	}
	r.Selectors = SortedConditions(r.Selectors)
	return family + ruleWords(&r)
}

// SortedConditions returns a rule's conditions (netstate.Rule.Selectors) in an
// order of their own: kernels list them in different ones. Those of one word
// stand alone.
func SortedConditions(text string) string {
	var all []string
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		c := words[i]
		if c != "not" && c != "l3mdev" && i+1 < len(words) {
			i++
			c += " " + words[i]
		}
		all = append(all, c)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func ruleIndex(rules []netstate.Rule, r netstate.Rule) int {
	want := ruleKey(r)
	return slices.IndexFunc(rules, func(have netstate.Rule) bool { return ruleKey(have) == want })
}
