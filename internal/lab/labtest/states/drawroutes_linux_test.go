package states

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/netstate"
)

// routing draws routes, rules and ECMP over the links that are up and have
// addresses.
func (d *drawing) routing() {
	d.host.Routes = slices.DeleteFunc(slices.Clone(d.host.Routes), func(r netstate.Route) bool { return r.Protocol == "static" || r.Protocol == "boot" })
	d.host.Rules = slices.DeleteFunc(slices.Clone(d.host.Rules), func(r netstate.Rule) bool { return r.Protocol == "static" })
	if d.host.Routes == nil {
		d.host.Routes = []netstate.Route{}
	}
	var hops, hops6 []netstate.NextHop
	for i, name := range d.holders() {
		l, _ := d.host.Link(name)
		for _, a := range l.Addresses {
			if a.Bits() == 24 && a.Addr() != nearAddr(name) && a.Addr().As4()[3] == 1 {
				d.linkRoutes(i, l, a)
				hops = append(hops, netstate.NextHop{Gateway: host4(a.Addr(), 254), Link: name, Weight: 1 + d.IntN(4)})
			}
			if a.Bits() == 64 && a.Addr().Is6() && !a.Addr().IsLinkLocalUnicast() && !slices.ContainsFunc(hops6, func(h netstate.NextHop) bool { return h.Link == name }) {
				gateway := a.Addr().As16()
				gateway[15] = 0xfe
				hops6 = append(hops6, netstate.NextHop{Gateway: netip.AddrFrom16(gateway), Link: name, Weight: 1 + d.IntN(4)})
			}
		}
	}
	for i, all := range [...][]netstate.NextHop{hops, hops6} {
		dst := []netip.Prefix{netip.MustParsePrefix("10.210.0.0/16"), netip.MustParsePrefix("fd21::/32")}[i]
		switch {
		case len(all) > 1 && d.chance(0.5):
			d.route(netstate.Route{Dst: dst, Table: 254, Hops: all[:2+d.IntN(min(len(all)-1, 3))]})
		case len(all) > 0 && d.chance(0.4):
			d.route(netstate.Route{Dst: dst, Table: 254, Gateway: all[0].Gateway, Link: all[0].Link, MTU: pick(d, 0, 1300)})
		case d.chance(0.3):
			d.route(netstate.Route{Dst: dst, Table: 254, Type: pick(d, "blackhole", "unreachable", "prohibit")})
		}
	}
	if d.chance(0.3) {
		d.rule(netstate.Rule{Priority: 300, Family: "ipv4", Table: 301, Selectors: pick(d, "fwmark 0x10", "iif p4", "not fwmark 0x1/0xff", "ipproto 6 dport 80-90")})
	}
	if d.chance(0.2) {
		d.rule(netstate.Rule{Priority: 310, Family: "ipv6", To: netip.MustParsePrefix("fd99::/32"), Action: pick(d, "blackhole", "unreachable")})
	}
}

func (d *drawing) route(r netstate.Route) {
	r.Protocol = "static"
	d.host.Routes = append(d.host.Routes, r)
}

func (d *drawing) rule(r netstate.Rule) {
	r.Protocol = "static"
	d.host.Rules = append(d.host.Rules, r)
}

// linkRoutes draws the routes of one link's subnet.
func (d *drawing) linkRoutes(i int, l netstate.Link, a netip.Prefix) {
	net := byte(10*i) + a.Addr().As4()[2]
	gateway := host4(a.Addr(), 254)
	prefix := func(b2 byte, bits int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 200, net, b2}), bits)
	}
	if d.chance(0.5) {
		r := netstate.Route{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: gateway, Link: l.Name, Table: 1000 + int(net)}
		if d.chance(0.5) {
			r.Metrics, r.MTU = map[string]string{"advmss": "1200", "initcwnd": "20"}, 1300
		}
		d.route(r)
		d.rule(netstate.Rule{Priority: 1000 + int(net), From: netip.PrefixFrom(a.Addr(), 32), Table: 1000 + int(net), Family: "ipv4"})
	}
	if d.chance(0.4) { // the article's: a route to one host, by an address of one's own choice
		d.route(netstate.Route{Dst: prefix(5, 32), Gateway: gateway, Link: l.Name, Table: 254, Source: a.Addr()})
	}
	if d.chance(0.3) {
		d.route(netstate.Route{Dst: prefix(64, 26), Gateway: netip.AddrFrom4([4]byte{192, 0, 2, net}), Link: l.Name, Table: 254, OnLink: true, Metric: 10 * d.IntN(3)})
	}
	if d.chance(0.3) {
		d.route(netstate.Route{Dst: prefix(128, 26), Link: l.Name, Table: pick(d, 254, 77), Metric: d.IntN(3)})
	}
}

func (d *drawing) mptcp() {
	if d.host.MPTCP == nil {
		return
	}
	m := netstate.MPTCP{Subflows: d.IntN(9), AddAddrAccepted: d.IntN(9)}
	for _, name := range d.holders() {
		l, _ := d.host.Link(name)
		for _, a := range l.Addresses {
			if len(m.Endpoints) < 6 && !a.Addr().IsLinkLocalUnicast() && d.chance(0.3) {
				m.Endpoints = append(m.Endpoints, netstate.MPTCPEndpoint{Addr: a.Addr(), Link: pick(d, "", name), Flags: pick(d, netstate.MPTCPSubflow, netstate.MPTCPSignal, netstate.MPTCPSubflow|netstate.MPTCPBackup)})
			}
		}
	}
	d.host.MPTCP = &m
}
