package fabric

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric/subnets"
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
	ends := make([]subnets.End, len(f.Hosts))
	for i, h := range f.Hosts {
		ends[i] = subnets.End{Name: h.Name, Addresses: h.Network.addresses()}
	}
	return pathsOf(ends)
}

// Over are the paths with the file's switches between their ends.
func (f Fabric) Over(paths []Path) []Path {
	for i := range paths {
		if f.Topology != nil { // an interface that holds a nil pointer is not nil
			paths[i].Switches = f.Topology
		}
	}
	return paths
}

// PathsBetween is EffectivePaths for observed hosts, and every pair besides of
// which each has a route to a single address of the other: interfaces with
// addresses of their own and a route for each peer share no subnet. A host that has no
// path by then has one to every host that it has a route to, and that has one back:
// there are routers between them.
func PathsBetween(hosts []netstate.Host) []Path {
	ends := make([]subnets.End, len(hosts))
	for i, h := range hosts {
		ends[i].Name = h.Name
		for _, l := range h.Links {
			for _, p := range l.Addresses {
				if h.LeadsNowhere(l) { // its network is the host's own, all of it
					p = netip.PrefixFrom(p.Addr(), p.Addr().BitLen())
				}
				ends[i].Addresses = append(ends[i].Addresses, p)
			}
		}
	}
	paths := pathsOf(ends)
	known, met := make(map[[2]string]bool, len(paths)), make(map[string]bool, len(hosts))
	for _, p := range paths {
		known[[2]string{p.From, p.To}] = true
		met[p.From], met[p.To] = true, true
	}
	for i, a := range hosts {
		for j, b := range hosts[i+1:] {
			near, far := ends[i], ends[i+1+j]
			if !known[[2]string{a.Name, b.Name}] && routesTo(a, far.Addresses) && routesTo(b, near.Addresses) {
				paths, known[[2]string{a.Name, b.Name}] = append(paths, Path{From: a.Name, To: b.Name}), true
				met[a.Name], met[b.Name] = true, true
			}
		}
	}
	for i, a := range hosts {
		for j, b := range hosts[i+1:] {
			near, far := ends[i], ends[i+1+j]
			if (!met[a.Name] || !met[b.Name]) && !known[[2]string{a.Name, b.Name}] && routed(a, far.Addresses) && routed(b, near.Addresses) {
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

// pathsOf is a path for each pair of hosts with a common subnet.
func pathsOf(ends []subnets.End) []Path {
	var paths []Path
	for _, p := range subnets.Pairs(ends) {
		path := Path{From: ends[p.A].Name, To: ends[p.B].Name}
		if p.IPv6 {
			path.Family = "ipv6"
		}
		paths = append(paths, path)
	}
	return paths
}
