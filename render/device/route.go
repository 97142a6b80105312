package device

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
)

// MainTable is RT_TABLE_MAIN (include/uapi/linux/rtnetlink.h).
const MainTable = 254

// Table is a route's or rule's table; zero in a file means main.
func Table(n int) int {
	if n == 0 {
		return MainTable
	}
	return n
}

// declared reports whether the definition has the route already.
func declared(routes []fabric.Route, r netstate.Route) bool {
	return slices.ContainsFunc(routes, func(d fabric.Route) bool {
		return d.To == r.Dst && Table(d.Table) == Table(r.Table) && d.Metric == r.Metric
	})
}

// asDeclared is a route of a host as a definition says it.
func asDeclared(r netstate.Route) fabric.Route {
	d := fabric.Route{To: r.Dst, Via: r.Gateway, From: r.Source, OnLink: r.OnLink, Metric: r.Metric, Table: r.Table, Type: r.Type, MTU: r.MTU}
	if !r.Gateway.IsValid() && r.Type == "" {
		d.Scope = "link"
	}
	return d
}

// Via is a route's next hop; zero where the destination is directly
// reachable, which netplan also says by the device's own address.
func (d Device) Via(r fabric.Route) netip.Addr {
	if d.DirectlyReachable(r) {
		return netip.Addr{}
	}
	return r.Via
}

// Is4 reports a rule of IPv4: the kernel's family for one that names no
// network.
func Is4(r fabric.Rule) bool {
	if r.From.IsValid() {
		return r.From.Addr().Is4()
	}
	return !r.To.IsValid() || r.To.Addr().Is4()
}

// RouteKeys are a route's keys in netplan's words, with what is said of each; a
// next hop that is the device's own address is none.
func (d Device) RouteKeys(r fabric.Route) map[string]string {
	said := map[string]string{"to": r.To.String(), "scope": r.Scope}
	for _, p := range r.Unread {
		if p.Value != nil {
			said[p.Key] = p.Value.Text
		}
	}
	if via := d.Via(r); via.IsValid() {
		said["via"] = via.String()
	}
	if r.From.IsValid() {
		said["from"] = r.From.String()
	}
	if r.OnLink {
		said["on-link"] = "true"
	}
	if r.Type != "unicast" {
		said["type"] = r.Type
	}
	putNumbers(said, map[string]int{"metric": r.Metric, "table": r.Table, "mtu": r.MTU})
	return said
}

// RuleKeys are a rule's keys in netplan's words, with what is said of each.
func RuleKeys(r fabric.Rule) map[string]string {
	said := map[string]string{}
	if r.From.IsValid() {
		said["from"] = r.From.String()
	}
	if r.To.IsValid() {
		said["to"] = r.To.String()
	}
	putNumbers(said, map[string]int{"table": r.Table, "priority": r.Priority, "mark": r.Mark, "type-of-service": r.TOS})
	return said
}

func putNumbers(said map[string]string, numbers map[string]int) {
	for key, n := range numbers {
		if n != 0 {
			said[key] = strconv.Itoa(n)
		}
	}
}
