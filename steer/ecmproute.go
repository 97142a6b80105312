package steer

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/netstate"
)

// ErrNotMultipath is a route that delivers nothing.
var ErrNotMultipath = errors.New("not a route with next hops")

// MultipathOf reads a route out of a host, with the sysctls that decide its
// hash; a route with one next hop has one link. Next hops that share a link
// are named with their gateway too. Errors: ErrNotMultipath,
// errors.ErrUnsupported for a host that is not Linux. An unread kernel release
// leaves every era from 5.14 on in doubt.
func MultipathOf(h netstate.Host, r netstate.Route) (Multipath, error) {
	if h.Kernel.OS != "" && h.Kernel.OS != "linux" {
		return Multipath{}, fmt.Errorf("read route %s: hash of %s: %w", r.Dst, h.Kernel.OS, errors.ErrUnsupported)
	}
	if r.Type != "" {
		return Multipath{}, fmt.Errorf("read route %s: %s: %w", r.Dst, r.Type, ErrNotMultipath)
	}
	hops := r.Hops
	if len(hops) == 0 && r.Link != "" {
		hops = []netstate.NextHop{{Gateway: r.Gateway, Link: r.Link, Weight: 1}}
	}
	m := Multipath{BigEndian: h.Kernel.BigEndian}.OfKernel(h.Kernel.Release)
	for _, hop := range hops {
		if !hop.Dead {
			m.Hops = append(m.Hops, Hop{Link: hopName(hops, hop), Weight: hop.Weight, Source: sourceOf(h, hop)})
		}
	}
	family := "ipv4"
	if Is6(r.Dst.Addr()) {
		family = "ipv6"
	}
	m.read(h, family)
	switch {
	case r.Object == 0:
	case r.Group == netstate.HashThreshold:
		m.Era, m.Doubt = MultipathHashed, nil // nexthop_select_path_hthr: no address comes before the hash
		if major, minor, _, _, ok := splitRelease(h.Kernel.Release); !ok || major*1000+minor < 5014 {
			m.Doubt = []MultipathEra{MultipathJoint}
		}
	case r.Group == netstate.Resilient:
		m.Opaque = fmt.Sprintf("the route's nexthop object %d is a resilient group, which keeps flows where they were: ask the kernel (steer show --route)", r.Object)
	case len(r.Hops) > 1:
		m.Opaque = fmt.Sprintf("the route names nexthop object %d, and how it spreads was not read: ask the kernel (steer show --route)", r.Object)
	}
	return m, nil
}

// read takes the policy, its fields and the seed from the host's sysctls.
func (m *Multipath) read(h netstate.Host, family string) {
	number := func(key string) (n int64, known bool) {
		values := h.SysctlInts(key)
		if len(values) != 1 {
			return 0, false
		}
		return values[0], true
	}
	key := "net." + family + ".fib_multipath_hash_policy"
	policy, known := number(key)
	switch {
	case !known:
		m.Opaque = key + " of the host is not known"
	case policy < 0 || policy >= int64(len(multipathWords)):
		m.Opaque = fmt.Sprintf("%s is %d, newer than this program", key, policy)
	default:
		m.Policy = MultipathPolicy(policy)
	}
	if fields, known := number("net." + family + ".fib_multipath_hash_fields"); known {
		m.Fields = HashFields(fields)
	}
	if seed, known := number("net.ipv4.fib_multipath_hash_seed"); known {
		m.Seed = uint32(seed)
	}
	if skips, _ := number("net.ipv4.fib_multipath_use_neigh"); skips != 0 && family == "ipv4" {
		m.Opaque = "net.ipv4.fib_multipath_use_neigh makes the kernel skip next hops whose neighbour does not answer: ask the kernel (steer show --route)"
	}
}

// hopName is the link's name, with the gateway when another leg has the link.
func hopName(hops []netstate.NextHop, hop netstate.NextHop) string {
	same := 0
	for _, other := range hops {
		if other.Link == hop.Link {
			same++
		}
	}
	if same > 1 && hop.Gateway.IsValid() {
		return hop.Link + " via " + hop.Gateway.String()
	}
	return hop.Link
}

// sourceOf is the IPv4 address that the kernel sends from on a leg
// (inet_select_addr): the link's in the gateway's subnet, else its first, else
// the first of any link; never one of 127.0.0.0/8.
func sourceOf(h netstate.Host, hop netstate.NextHop) netip.Addr {
	var first netip.Addr
	l, _ := h.Link(hop.Link)
	for _, p := range l.Addresses {
		switch a := p.Addr(); {
		case !a.Is4() || a.IsLoopback():
			continue
		case hop.Gateway.IsValid() && p.Contains(hop.Gateway):
			return a
		case !first.IsValid():
			first = a
		}
	}
	if first.IsValid() {
		return first
	}
	for _, l := range h.Links {
		for _, p := range l.Addresses {
			if a := p.Addr(); a.Is4() && !a.IsLoopback() {
				return a
			}
		}
	}
	return first
}
