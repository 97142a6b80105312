// Package subnets finds hosts that reach each other without a router: those with
// addresses in one subnet.
package subnets

import (
	"net/netip"
	"slices"
	"sort"
)

// End is a host's addresses with their networks.
type End struct {
	Name      string
	Addresses []netip.Prefix
}

// Pair is two ends of a list, by number, the smaller first.
type Pair struct {
	A, B int
	// IPv6: they share no subnet of IPv4.
	IPv6 bool
}

// Pairs are the ends that share a subnet, in the list's order.
func Pairs(ends []End) []Pair {
	var all []Pair
	neighbours := neighboursOf(ends)
	for i, a := range ends {
		for _, j := range neighbours(i) {
			switch b := ends[j]; {
			case len(Common(a.Addresses, b.Addresses, "ipv4")) > 0:
				all = append(all, Pair{A: i, B: j})
			case len(Common(a.Addresses, b.Addresses, "ipv6")) > 0:
				all = append(all, Pair{A: i, B: j, IPv6: true})
			}
		}
	}
	return all
}

// neighboursOf finds for an end the later ones that may share a subnet with it, in
// order: two addresses of one subnet begin alike by the longer prefix of the two,
// so that a fleet of many subnets need not be compared host by host.
func neighboursOf(ends []End) func(i int) []int {
	lengths := make(map[int]bool) // of the prefixes
	for _, e := range ends {
		for _, p := range e.Addresses {
			lengths[p.Bits()] = true
		}
	}
	by := make(map[netip.Prefix][]int)
	for i, e := range ends {
		for _, p := range e.Addresses {
			for bits := range lengths {
				if key, err := p.Addr().Prefix(bits); err == nil && bits >= p.Bits() && Connects(p) {
					if at := by[key]; len(at) == 0 || at[len(at)-1] != i {
						by[key] = append(at, i)
					}
				}
			}
		}
	}
	return func(i int) []int {
		var all []int
		for _, p := range ends[i].Addresses {
			for bits := range lengths {
				if key, err := p.Addr().Prefix(bits); err == nil && bits >= p.Bits() {
					at := by[key]
					all = append(all, at[sort.SearchInts(at, i+1):]...)
				}
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
}

// Common are a's networks in which both have an address of their own;
// family "" is both families. Loopback and link-local networks are everyone's
// and connect nobody.
func Common(a, b []netip.Prefix, family string) []netip.Prefix {
	var common []netip.Prefix
	for _, x := range a {
		if !Connects(x) || family == "ipv4" && !x.Addr().Is4() || family == "ipv6" && x.Addr().Is4() {
			continue
		}
		for _, y := range b {
			if Connects(y) && x.Contains(y.Addr()) && y.Contains(x.Addr()) && x.Addr() != y.Addr() {
				common = append(common, x.Masked())
				break
			}
		}
	}
	return common
}

// Connects reports an address that other hosts may reach: no loopback, link-local,
// multicast or unspecified one.
func Connects(p netip.Prefix) bool {
	a := p.Addr()
	return !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsMulticast() && !a.IsUnspecified()
}
