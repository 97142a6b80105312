package steer

import (
	"slices"

	"github.com/linerate/linerate/flow"
)

// Answered is a multipath route of whose flows the kernel itself said where
// they go, one by one (RTM_GETROUTE): exact whatever the route's key, and for
// those flows only.
type Answered struct {
	// Table holds the answers; its links are those of the route's hops.
	Table
	Route Multipath
}

var _ Spreader = Answered{}

// Place says what the kernel answered. Why may hold a remark on a known one.
func (a Answered) Place(f flow.Frame) Placement {
	p := a.Table.Place(f)
	own := func(h Hop) bool { return h.Source == f.Src.Unmap() }
	if p.Known && f.Src.Unmap().Is4() && !f.Forwarded && a.Route.Era <= MultipathSourceFirst && slices.ContainsFunc(a.Route.Hops, own) {
		p.Why = preferred
	}
	return p
}

// Reach is what the answers show; where they differ in nothing, what the
// route's policy says, as far as it is known.
func (a Answered) Reach() Reach {
	seen := a.Table.Reach()
	if len(a.Links()) < 2 || seen.Chosen || a.Route.Opaque != "" {
		return seen
	}
	r := a.Route.Policy.reach(a.Route.fields())
	r.Chosen = r.Ports || r.Addresses
	return r
}

// portRemedy is what would let streams use the route's next hops evenly.
func (m Multipath) portRemedy(reach Reach, lanes int, v verdict) string {
	const sysctl = "net.ipv4.fib_multipath_hash_policy=1 (net.ipv6 for IPv6)"
	switch {
	case v.remark != "":
		return "send from an address of none of the next hops' links, such as a loopback's"
	case m.Opaque != "" || reach.Ports && !reach.Chosen:
		return "ask the kernel (--route), or set net.ipv4.fib_multipath_hash_seed (Linux 6.11)"
	case reach.Ports:
		return "allow more ports, or give more pairs of addresses (--lane)"
	case lanes < len(m.Hops):
		return "set " + sysctl + ", by which ports decide; or give more pairs of addresses (--lane)"
	}
	return "set " + sysctl + ", by which ports decide; or give other pairs of addresses (--lane)"
}
