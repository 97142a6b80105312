package fabric

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
)

const (
	// metricIPv6 is what an IPv6 route without a metric gets (IP6_RT_PRIO_USER,
	// include/net/ip6_route.h).
	metricIPv6 = 1024
	// LocalTable is RT_TABLE_LOCAL.
	LocalTable = 255
	// madeBy marks what linerate adds (RTPROT_STATIC).
	madeBy = "static"
)

// What the kernel makes of larger values of a route (ip_metrics_convert).
const (
	mostRouteMTU   = 65535 - 15
	mostAdvertised = 65535 - 40
)

// undeliverable are netplan's types of routes that deliver nothing.
var undeliverable = []string{"blackhole", "unreachable", "prohibit", "throw"}

// RouteMetrics are netplan's keys of a route that ip-route(8) has other words
// for.
var RouteMetrics = [...][2]string{
	{"congestion-window", "initcwnd"}, {"advertised-receive-window", "initrwnd"}, {"advertised-mss", "advmss"},
}

// routeMetricRows are RouteMetrics with what they mean.
func routeMetricRows() [][2]string {
	rows := make([][2]string, len(RouteMetrics))
	for i, k := range RouteMetrics {
		rows[i] = [2]string{k[0], k[1] + " of ip-route(8)"}
	}
	return rows
}

// Undeliverable reports a route that delivers nothing (blackhole and the like).
func (r Route) Undeliverable() bool { return slices.Contains(undeliverable, r.Type) }

// Kernel is the route as observing the kernel gives it once it is over the link:
// with its table and IPv6's metric by number. A route that delivers nothing is
// over no link.
func (r Route) Kernel(link string) netstate.Route {
	out := netstate.Route{
		Dst: r.To.Masked(), Gateway: r.Via, Link: link, Source: r.From, Table: r.Table, Metric: r.Metric,
		Protocol: madeBy, OnLink: r.OnLink, MTU: min(r.MTU, mostRouteMTU),
	}
	if r.Undeliverable() {
		out.Type, out.Link, out.Gateway, out.OnLink = r.Type, "", netip.Addr{}, false
	}
	for _, p := range r.Unread {
		for _, m := range RouteMetrics {
			if m[0] == p.Key && p.Value != nil {
				if out.Metrics == nil {
					out.Metrics = map[string]string{}
				}
				out.Metrics[m[1]] = p.Value.Text
				if n, err := strconv.Atoi(p.Value.Text); err == nil && m[1] == "advmss" {
					out.Metrics[m[1]] = strconv.Itoa(min(n, mostAdvertised))
				}
			}
		}
	}
	return Numbered(out)
}

// Kernel is the route as observing the kernel gives it; its hops' links are
// netplan IDs still.
func (m MultipathRoute) Kernel() netstate.Route {
	return Numbered(netstate.Route{
		Dst: m.To.Masked(), Table: m.Table, Metric: m.Metric, Protocol: madeBy, Hops: append([]netstate.NextHop(nil), m.Hops...),
	})
}

// Numbered is a route with its table and metric as the kernel keeps them.
func Numbered(r netstate.Route) netstate.Route {
	if r.Table == 0 {
		r.Table = MainTable
	}
	if r.Metric == 0 && r.Dst.Addr().Is6() {
		r.Metric = metricIPv6
	}
	return r
}

// Kernel is the rule as observing the kernel's gives it: a selector of every
// address is none, and says the family alone.
func (r Rule) Kernel() netstate.Rule {
	out := netstate.Rule{Priority: r.Priority, Table: r.Table, Family: "ipv4"}
	if out.Table == 0 {
		out.Table = MainTable
	}
	for _, p := range []struct {
		from netip.Prefix
		into *netip.Prefix
	}{{r.From, &out.From}, {r.To, &out.To}} {
		if !p.from.IsValid() {
			continue
		}
		if p.from.Addr().Is6() {
			out.Family = "ipv6"
		}
		if p.from.Bits() > 0 {
			*p.into = p.from.Masked()
		}
	}
	var selectors []string
	if r.TOS != 0 {
		selectors = append(selectors, fmt.Sprintf("tos %#x", r.TOS))
	}
	if r.Mark != 0 {
		selectors = append(selectors, fmt.Sprintf("fwmark %#x", r.Mark))
	}
	out.Selectors = strings.Join(selectors, " ")
	return out
}
