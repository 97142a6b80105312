package fabric

import (
	"net/netip"
	"slices"
	"sort"

	"github.com/linerate/linerate/netstate"
)

// addresses are all that the network declares, in device order.
func (n Network) addresses() []netip.Prefix {
	var all []netip.Prefix
	for _, d := range n.Devices() {
		all = append(all, d.Addresses...)
	}
	return all
}

// EffectivePaths returns the declared paths, or without any one for every pair
// of hosts with a common subnet, IPv4 where there is one and IPv6 otherwise,
// in file order and with Declared false.
func (f Fabric) EffectivePaths() []Path {
	if len(f.Paths) > 0 {
		return f.Paths
	}
	ends := make([]end, len(f.Hosts))
	for i, h := range f.Hosts {
		ends[i] = end{h.Name, h.Network.addresses()}
	}
	return pairs(ends)
}

// PathsBetween is EffectivePaths for observed hosts, and every pair besides of
// which each has a route to a single address of the other: interfaces with
// addresses of their own and a route for each peer share no subnet. A host that has no
// path by then has one to every host that it has a route to, and that has one back:
// there are routers between them.
func PathsBetween(hosts []netstate.Host) []Path {
	ends := make([]end, len(hosts))
	for i, h := range hosts {
		ends[i].name = h.Name
		for _, l := range h.Links {
			for _, p := range l.Addresses {
				if h.LeadsNowhere(l) { // its network is the host's own, all of it
					p = netip.PrefixFrom(p.Addr(), p.Addr().BitLen())
				}
				ends[i].addresses = append(ends[i].addresses, p)
			}
		}
	}
	paths := pairs(ends)
	known, met := make(map[[2]string]bool, len(paths)), make(map[string]bool, len(hosts))
	for _, p := range paths {
		known[[2]string{p.From, p.To}] = true
		met[p.From], met[p.To] = true, true
	}
	for i, a := range hosts {
		for j, b := range hosts[i+1:] {
			near, far := ends[i], ends[i+1+j]
			if !known[[2]string{a.Name, b.Name}] && routesTo(a, far.addresses) && routesTo(b, near.addresses) {
				paths, known[[2]string{a.Name, b.Name}] = append(paths, Path{From: a.Name, To: b.Name}), true
				met[a.Name], met[b.Name] = true, true
			}
		}
	}
	for i, a := range hosts {
		for j, b := range hosts[i+1:] {
			near, far := ends[i], ends[i+1+j]
			if (!met[a.Name] || !met[b.Name]) && !known[[2]string{a.Name, b.Name}] && routed(a, far.addresses) && routed(b, near.addresses) {
				paths = append(paths, Path{From: a.Name, To: b.Name})
			}
		}
	}
	return paths
}

// routed reports a route by a gateway to one of the addresses that others can have.
func routed(h netstate.Host, addresses []netip.Prefix) bool {
	return slices.ContainsFunc(h.Routes, func(r netstate.Route) bool {
		return r.Type == "" && r.Dst.IsValid() && (r.Gateway.IsValid() || len(r.Hops) > 0) &&
			slices.ContainsFunc(addresses, func(p netip.Prefix) bool { return p.Addr().IsGlobalUnicast() && r.Dst.Contains(p.Addr()) })
	})
}

// routesTo reports a route to one of the addresses alone.
func routesTo(h netstate.Host, addresses []netip.Prefix) bool {
	return slices.ContainsFunc(h.Routes, func(r netstate.Route) bool {
		return r.Type == "" && r.Dst.IsValid() && r.Dst.IsSingleIP() &&
			slices.ContainsFunc(addresses, func(p netip.Prefix) bool { return p.Addr() == r.Dst.Addr() && !p.Addr().IsLoopback() })
	})
}

type end struct {
	name      string
	addresses []netip.Prefix
}

func pairs(ends []end) []Path {
	var paths []Path
	neighbours := neighboursOf(ends)
	for i, a := range ends {
		for _, j := range neighbours(i) {
			b := ends[j]
			switch {
			case len(commonSubnets(a.addresses, b.addresses, "ipv4")) > 0:
				paths = append(paths, Path{From: a.name, To: b.name})
			case len(commonSubnets(a.addresses, b.addresses, "ipv6")) > 0:
				paths = append(paths, Path{From: a.name, To: b.name, Family: "ipv6"})
			}
		}
	}
	return paths
}

// neighboursOf finds for an end the later ones that may share a subnet with it, in
// order: two addresses of one subnet begin alike by the longer prefix of the two,
// so that a fleet of many subnets need not be compared host by host.
func neighboursOf(ends []end) func(i int) []int {
	lengths := make(map[int]bool) // of the prefixes
	for _, e := range ends {
		for _, p := range e.addresses {
			lengths[p.Bits()] = true
		}
	}
	by := make(map[netip.Prefix][]int)
	for i, e := range ends {
		for _, p := range e.addresses {
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
		for _, p := range ends[i].addresses {
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

// commonSubnets are a's networks in which both have an address of their own;
// family "" is both families. Loopback and link-local networks are everyone's
// and connect nobody.
func commonSubnets(a, b []netip.Prefix, family string) []netip.Prefix {
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

func Connects(p netip.Prefix) bool {
	a := p.Addr()
	return !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsMulticast() && !a.IsUnspecified()
}
