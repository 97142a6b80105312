package device

import (
	"net/netip"

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
	for _, d := range routes {
		if d.To == r.Dst && Table(d.Table) == Table(r.Table) && d.Metric == r.Metric {
			return true
		}
	}
	return false
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
