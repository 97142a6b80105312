package wanted

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/netstate"
)

// Source rules take tables and priorities of this range.
const (
	firstTable = 10_000
	lastTable  = 19_999
)

// sourceRules gives every link that the file names a routing table of its own
// and a rule for each of its addresses, so that what comes in by a link leaves
// by it: the connected networks, and the routes over gateways on the link,
// copied from the main table.
func (b *builder) sourceRules() {
	ids := slices.Clone(b.file.SourceRules)
	slices.Sort(ids)
	taken := map[int]bool{}
	for _, id := range ids {
		path := []any{"source_rules", slices.Index(b.file.SourceRules, id)}
		name, ok := b.linkOf(id, path)
		if !ok {
			if len(b.devices[id]) == 0 {
				b.leave("source rules of %s: it is not there", id)
			}
			continue
		}
		table := b.tableFor(name, 1+slices.Index(ids, id), taken)
		taken[table] = true
		b.sourceTable(name, table, path)
		b.quietARP(name, path)
	}
}

// tableFor is the table that the link's rules lead to already, or the first
// that nothing uses from 10000 and the link's place on.
func (b *builder) tableFor(link string, index int, taken map[int]bool) int {
	l, _ := b.want.Link(link)
	for _, r := range b.observed.Rules {
		ours := r.Table > firstTable && r.Table <= lastTable && r.Selectors == "" && r.From.IsValid() && r.From.IsSingleIP() &&
			slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == r.From.Addr() })
		if ours && !taken[r.Table] && b.onlyOver(link, r.Table) {
			return r.Table
		}
	}
	table := firstTable + index
	for taken[table] || b.tableUsed(table) {
		table++
	}
	return table
}

// onlyOver reports a table whose routes all lead over the link.
func (b *builder) onlyOver(link string, table int) bool {
	return !slices.ContainsFunc(b.observed.Routes, func(r netstate.Route) bool { return r.Table == table && r.Link != link })
}

func (b *builder) tableUsed(table int) bool {
	return slices.ContainsFunc(b.want.Routes, func(r netstate.Route) bool { return r.Table == table }) ||
		slices.ContainsFunc(b.want.Rules, func(r netstate.Rule) bool { return r.Table == table || r.Priority == table })
}

func (b *builder) sourceTable(name string, table int, path []any) {
	l, _ := b.want.Link(name)
	var addresses []netip.Prefix
	for _, a := range l.Addresses {
		switch {
		case a.Addr().IsLinkLocalUnicast():
		case a.Addr().Is6() && slices.Contains(l.Leases, a):
			b.leave("source rule of %s on %s: an address by router advertisement or DHCPv6 may change", a, name)
		default:
			addresses = append(addresses, a)
			if slices.Contains(l.Leases, a) {
				b.warn("the source rule of %s holds for its lease %s only: plan again when the lease changes", name, a)
			}
		}
	}
	if len(addresses) == 0 {
		b.leave("source rules of %s: it has no address", name)
	}
	for _, a := range addresses {
		b.connected(name, a, table, path)
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		if slices.ContainsFunc(addresses, func(a netip.Prefix) bool { return familyOf(a.Addr()) == family }) {
			b.ways(name, family, table, path)
		}
	}
	for _, a := range addresses {
		r := netstate.Rule{Priority: table, From: netip.PrefixFrom(a.Addr(), a.Addr().BitLen()), Table: table, Family: familyOf(a.Addr())}
		b.wanted = append(b.wanted, r)
		b.rule(r, path, "what is sent from "+a.Addr().String()+" leaves by "+name)
	}
}

// connected adds the network of an address.
func (b *builder) connected(name string, a netip.Prefix, table int, path []any) {
	if a.IsSingleIP() {
		return
	}
	r := netstate.Route{Dst: a.Masked(), Link: name, Table: table, Protocol: protocolStatic}
	if a.Addr().Is4() {
		r.Source = a.Addr()
	}
	b.copyRoute(r, path)
}

// ways copies the routes over the link from the main table. A link without a
// default route takes another's gateway where it is in a network of its own.
func (b *builder) ways(name, family string, table int, path []any) {
	onward := false
	var elsewhere []netip.Addr
	for _, r := range slices.Clone(b.want.Routes) {
		if mainTable(r.Table) != tableMain || r.Type != "" || familyOf(r.Dst.Addr()) != family {
			continue
		}
		isDefault := r.Dst.Bits() == 0
		switch {
		case r.Link != name && isDefault && r.Gateway.IsValid():
			elsewhere = append(elsewhere, r.Gateway)
		case r.Link != name:
			for _, hop := range r.Hops {
				if isDefault && hop.Link == name && hop.Gateway.IsValid() {
					onward = true
					b.copyRoute(netstate.Route{Dst: r.Dst, Gateway: hop.Gateway, Link: name, Table: table, Protocol: protocolStatic}, path)
				}
			}
		case r.Gateway.IsValid() || r.Protocol != "kernel" && !r.Dst.Addr().IsLinkLocalUnicast():
			onward = onward || isDefault
			c := r
			c.Table, c.Protocol, c.Metric = table, protocolStatic, 0
			b.copyRoute(c, path)
		}
	}
	if onward {
		return
	}
	l, _ := b.want.Link(name)
	for _, gateway := range elsewhere {
		if slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Contains(gateway) && p.Addr() != gateway }) {
			r := netstate.Route{Dst: netip.PrefixFrom(unspecified(family), 0), Gateway: gateway, Link: name, Table: table, Protocol: protocolStatic}
			b.copyRoute(r, path)
			return
		}
	}
	b.leave("table %d of %s has no %s default route: no gateway of its networks is known, what it sends further leaves by the main table", table, name, family)
}

func unspecified(family string) netip.Addr {
	if family == "ipv4" {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// copyRoute adds a route to a link's own table, unless the table has one.
func (b *builder) copyRoute(r netstate.Route, path []any) {
	r.Metric = metricOf(r)
	for _, p := range b.own {
		if sameKey(p.route, r) {
			return
		}
	}
	b.route(r, path)
}

// quietARP makes a link answer for its own addresses alone where another has
// addresses of the same network: else any of them answers, and all that comes
// in takes one (ARP flux). rp_filter 2 takes what comes in by another than the
// best way. The greater of conf/all and the link's own counts (ip-sysctl.rst).
func (b *builder) quietARP(name string, path []any) {
	other, subnet := b.linkBeside(name)
	if other == "" {
		return
	}
	if subnet.IsValid() {
		// The same words for both, which a plan then says once.
		why := fmt.Sprintf("%s and %s are both in %s", min(name, other), max(name, other), subnet)
		b.needLink(name, "arp_ignore", 1, path, why+": each must answer ARP for its own addresses alone")
		b.needLink(name, "arp_announce", 2, path, why+": each must ask by ARP with its own address")
		b.needLink(name, "rp_filter", 2, path, why+": 1 would drop what comes in by the other")
		return
	}
	const why = "several links have addresses, and their networks may share a segment"
	b.needLink(name, "arp_ignore", 1, path, why+": each must answer ARP for its own addresses alone")
	b.needLink(name, "arp_announce", 2, path, why+": each must ask by ARP with its own address")
}

// linkBeside is another link with an IPv4 address that spans a network, one in
// the same subnet where there is one; "" there is none.
func (b *builder) linkBeside(name string) (other string, subnet netip.Prefix) {
	l, _ := b.want.Link(name)
	for _, o := range b.want.Links {
		if o.Name == name || o.Kind == "loopback" {
			continue
		}
		for _, p := range o.Addresses {
			if !p.Addr().Is4() || p.IsSingleIP() {
				continue
			}
			if slices.ContainsFunc(l.Addresses, func(a netip.Prefix) bool { return a.Addr().Is4() && a.Masked() == p.Masked() }) {
				return o.Name, p.Masked()
			}
			other = o.Name
		}
	}
	return other, netip.Prefix{}
}
