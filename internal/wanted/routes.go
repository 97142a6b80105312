package wanted

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

const (
	// RT_TABLE_MAIN (include/uapi/linux/rtnetlink.h).
	tableMain = 254
	// RT_TABLE_LOCAL.
	// metricIPv6 is what an IPv6 route without a metric gets (IP6_RT_PRIO_USER,
	// include/net/ip6_route.h).
	metricIPv6 = 1024
	// protocolStatic marks what a plan adds.
	protocolStatic = "static"
)

func mainTable(table int) int {
	if table == 0 {
		return tableMain
	}
	return table
}

// static reports a route that a person, a script or linerate made.
func static(protocol string) bool {
	return protocol == "" || protocol == "static" || protocol == "boot"
}

// metricOf is a route's metric as the kernel keeps it.
func metricOf(r netstate.Route) int {
	if r.Metric == 0 && r.Dst.Addr().Is6() {
		return metricIPv6
	}
	return r.Metric
}

// sameKey reports two routes of which the kernel's table has room for one: of
// one destination, table and metric.
func sameKey(a, b netstate.Route) bool {
	return a.Dst == b.Dst && mainTable(a.Table) == mainTable(b.Table) && metricOf(a) == metricOf(b) && a.Extra["tos"] == b.Extra["tos"]
}

// sameWay reports that two routes lead the same way.
func sameWay(a, b netstate.Route) bool {
	return a.Gateway == b.Gateway && a.Link == b.Link && a.Type == b.Type &&
		slices.EqualFunc(a.Hops, b.Hops, func(x, y netstate.NextHop) bool {
			return x.Gateway == y.Gateway && x.Link == y.Link && max(x.Weight, 1) == max(y.Weight, 1)
		})
}

// routeWords are a route as a person reads it.
func routeWords(r netstate.Route) string {
	var w strings.Builder
	fmt.Fprintf(&w, "to %s", r.Dst)
	if r.Gateway.IsValid() {
		fmt.Fprintf(&w, " via %s", r.Gateway)
	}
	if r.Link != "" {
		fmt.Fprintf(&w, " dev %s", r.Link)
	}
	if len(r.Hops) > 0 {
		fmt.Fprintf(&w, " over %d next hops", len(r.Hops))
	}
	if mainTable(r.Table) != tableMain {
		fmt.Fprintf(&w, " table %d", r.Table)
	}
	if r.Metric != 0 {
		fmt.Fprintf(&w, " metric %d", r.Metric)
	}
	return w.String()
}

// routes adds the file's routes. A next hop that is the device's own address
// is none: the destination is directly reachable (the IBM VPC article's).
func (b *builder) routes() {
	for _, d := range b.definitions() {
		for i, r := range d.device.Routes {
			path := b.routePath(d, i)
			if r.Type != "" && r.Type != "unicast" && !r.Undeliverable() {
				b.wrong(append(path, "type"), "", "routes of type %s are not made here", r.Type)
				continue
			}
			names := b.links(d.device.ID)
			if len(names) == 0 {
				b.leave("the route to %s of %s: it is not there", r.To, d.device.ID)
				continue
			}
			name, ok := b.linkOf(d.device.ID, path)
			if !ok {
				continue
			}
			wanted := b.fileRoute(d.device, r, name)
			if bond := b.bondOf(name); bond != "" && !b.wasThere(wanted) {
				b.wrong(path, "write it under bonds."+bond+".routes", "%s is a port of %s, and no route leads over a port", name, bond)
				continue
			}
			b.route(wanted, path)
		}
	}
}

// routePath is where a definition's route stands; gateway4 and gateway6 are
// routes, too, and come in the order of the file.
func (b *builder) routePath(d section, i int) []any {
	gateways := 0
	for _, key := range []string{"gateway4", "gateway6"} {
		if b.at.Has(network(d.name, d.device.ID, key)...) {
			gateways++
		}
	}
	if gateways == 0 {
		return network(d.name, d.device.ID, "routes", i)
	}
	return network(d.name, d.device.ID)
}

func (b *builder) fileRoute(d fabric.Device, r fabric.Route, link string) netstate.Route {
	out := r.Kernel(link)
	if d.DirectlyReachable(r) || b.has(link, r.Via) {
		out.Gateway, out.OnLink = netip.Addr{}, false
	}
	if out.MTU != r.MTU {
		b.leave("mtu %d of the route to %s: the kernel has %d at most", r.MTU, r.To, out.MTU)
	}
	if r.Scope == "host" {
		b.leave("scope host of the route to %s: the kernel chooses the scope", r.To)
	}
	return out
}

// has reports that the address is the link's own.
func (b *builder) has(link string, a netip.Addr) bool {
	l, _ := b.want.Link(link)
	return a.IsValid() && slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == a })
}

// route adds a route of the file. One that is there already is kept with what
// it has; one of the same destination, table and metric that leads elsewhere
// gives way, unless it is another program's.
func (b *builder) route(r netstate.Route, path []any) {
	for _, other := range b.own {
		if sameKey(other.route, r) {
			b.wrong(path, "give one another metric, or write one multipath route", "the file has a route %s already", routeWords(other.route))
			return
		}
	}
	b.own = append(b.own, placedRoute{r, path})
	if b.holds(r) {
		return
	}
	by := b.at.Line(path...)
	for _, have := range slices.Clone(b.want.Routes) {
		switch {
		case !sameKey(have, r):
		case static(have.Protocol):
			b.dropRoute(have, by, "the file's takes its place")
		case r.Dst.Addr().Is6(): // IPv6 takes several
		default:
			b.wrong(path, "give it another metric", "the route %s is there already, and is %s's", routeWords(have), have.Protocol)
			return
		}
	}
	b.want.Routes = append(b.want.Routes, r)
	b.because(plan.Step{Kind: plan.Route, Route: &r}, by, "")
}

// holds reports a route that is there as the file says it, whoever made it.
func (b *builder) holds(r netstate.Route) bool {
	return slices.ContainsFunc(b.want.Routes, func(have netstate.Route) bool {
		return sameKey(have, r) && sameWay(have, r) && (!static(have.Protocol) || b.sameDetails(have, r))
	})
}

// sameDetails reports that a route has what the file says besides its way.
func (b *builder) sameDetails(have, want netstate.Route) bool {
	return (!want.Source.IsValid() || want.Source == have.Source) && (want.MTU == 0 || want.MTU == have.MTU) &&
		(len(want.Metrics) == 0 || maps.Equal(want.Metrics, have.Metrics))
}

func (b *builder) dropRoute(r netstate.Route, by, why string) {
	b.want.Routes = slices.DeleteFunc(b.want.Routes, func(have netstate.Route) bool { return sameKey(have, r) && sameWay(have, r) })
	b.because(plan.Step{Kind: plan.Route, Route: &r}, by, why)
}

// multipath adds the file's routes over several next hops.
func (b *builder) multipath() {
	families := map[string]bool{}
	for i, m := range b.file.Multipath {
		r := m.Kernel()
		r.Hops = nil
		complete := true
		for j, hop := range m.Hops {
			name, ok := b.linkOf(hop.Link, []any{"multipath", i, "hops", j, "dev"})
			complete = complete && ok
			hop.Link = name
			r.Hops = append(r.Hops, hop)
		}
		if !complete {
			b.leave("the multipath route to %s: not all of its devices are there", m.To)
			continue
		}
		b.route(r, []any{"multipath", i})
		families[familyOf(r.Dst.Addr())] = true
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		if families[family] {
			b.need("net."+family+".fib_multipath_hash_policy", 1, []any{"multipath"}, "0 hashes addresses alone: all flows of two hosts would take one next hop")
		}
	}
}

func familyOf(a netip.Addr) string {
	if a.Is4() {
		return "ipv4"
	}
	return "ipv6"
}

// reachability refuses next hops and sources that the kernel would
// (fib_check_nh and fib_valid_prefsrc, net/ipv4/fib_semantics.c). A route that
// is there already it took.
func (b *builder) reachability() {
	for _, p := range b.own {
		if b.wasThere(p.route) {
			continue
		}
		hops := p.route.Hops
		if len(hops) == 0 {
			hops = []netstate.NextHop{{Gateway: p.route.Gateway, Link: p.route.Link, OnLink: p.route.OnLink}}
		}
		for _, hop := range hops {
			if hop.Gateway.IsValid() && !hop.OnLink && !p.route.OnLink && !b.toCome(hop.Link, hop.Gateway) && !b.neighbour(hop.Gateway, hop.Link) {
				b.wrong(p.path, "correct the address, or write on-link: true", "next hop %s is in no network of %s", hop.Gateway, hop.Link)
			}
		}
		if s := p.route.Source; s.IsValid() && !b.toCome(p.route.Link, s) && !slices.ContainsFunc(b.want.Links, func(l netstate.Link) bool { return b.has(l.Name, s) }) {
			b.wrong(p.path, "", "source %s is no address of the host", s)
		}
	}
}

// wasThere reports a route that the host has now.
func (b *builder) wasThere(r netstate.Route) bool {
	return slices.ContainsFunc(b.observed.Routes, func(have netstate.Route) bool { return sameKey(have, r) && sameWay(have, r) })
}

// toCome reports a link whose addresses of the family are a server's to give,
// and not given yet: what can be reached there nobody knows.
func (b *builder) toCome(link string, a netip.Addr) bool {
	d, ok := b.file.Network.Device(b.declared[link])
	l, _ := b.want.Link(link)
	return ok && a.Is4() && d.DHCP4() && !slices.ContainsFunc(l.Leases, func(p netip.Prefix) bool { return p.Addr().Is4() })
}

// neighbour reports that an address can be reached on the link directly.
func (b *builder) neighbour(a netip.Addr, link string) bool {
	if slices.ContainsFunc(b.behindVRF(link), func(port string) bool { return b.neighbour(a, port) }) {
		return true
	}
	l, _ := b.want.Link(link)
	if a.IsLinkLocalUnicast() && a.Is6() || slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return true
	}
	return slices.ContainsFunc(b.want.Routes, func(r netstate.Route) bool {
		return r.Link == link && !r.Gateway.IsValid() && r.Type == "" && r.Dst.Bits() > 0 && r.Dst.Contains(a)
	})
}

// behindVRF are the ports of a VRF, whose networks are what its table can reach; none of
// another link.
func (b *builder) behindVRF(link string) (ports []string) {
	for _, d := range b.file.Network.Others {
		if d.Section != "vrfs" || d.ID != link {
			continue
		}
		for _, key := range d.Unread {
			if key.Key != "interfaces" {
				continue
			}
			for _, item := range key.Value.Items {
				ports = append(ports, b.devices[item.Text]...)
			}
		}
	}
	return ports
}
