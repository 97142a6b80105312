package wanted

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// whyExtra is the reason for taking something away.
const whyExtra = "the file does not say it, and exact was asked for"

// extraAddresses are static addresses of the file's devices that the file does
// not say: exact takes them away, else they are named. Leases, link-local
// addresses, loopback ones and those with settings that no plan could put back stay either way.
func (b *builder) extraAddresses() {
	by := b.at.Line("network")
	for _, d := range b.definitions() {
		for _, name := range b.links(d.device.ID) {
			l, _ := b.want.Link(name)
			for _, a := range slices.Clone(l.Addresses) {
				if slices.Contains(d.device.Addresses, a) || slices.Contains(l.Leases, a) || a.Addr().IsLinkLocalUnicast() || a.Addr().IsLoopback() {
					continue
				}
				if b.request.Exact && l.AddressSettings[a] == "" && !b.saidElsewhere(a.Addr()) {
					b.drop(name, a, by, whyExtra)
				} else {
					b.leave("address %s of %s is not in the file and stays", a, name)
				}
			}
		}
	}
}

// saidElsewhere reports an address that the file gives to a device of any host:
// it takes an address once, so that a second one of the same cannot be said.
func (b *builder) saidElsewhere(a netip.Addr) bool {
	for _, h := range b.request.Fabric.Hosts {
		for _, d := range h.Network.Devices() {
			if slices.ContainsFunc(d.Addresses, func(p netip.Prefix) bool { return p.Addr() == a }) {
				return true
			}
		}
	}
	return false
}

// extraRoutes are the static routes over the file's devices, of the main table
// or of all others, that it does not ask for. Other programs' stay, and so does
// what no fabric file can say.
func (b *builder) extraRoutes(ofMain bool) {
	by := b.at.Line("network")
	for _, r := range slices.Clone(b.want.Routes) {
		if (mainTable(r.Table) == tableMain) != ofMain || !static(r.Protocol) || !b.overDeclared(r) || b.ownRoute(r) {
			continue
		}
		if b.request.Exact && describe.CanSayRoute(b.observed, r) && !b.besideOwn(r) {
			b.dropRoute(r, by, whyExtra)
		} else {
			b.leave("route %s is not in the file and stays", routeWords(r))
		}
	}
}

// overDeclared reports a route over links that the file names, and no others.
func (b *builder) overDeclared(r netstate.Route) bool {
	if len(r.Hops) == 0 {
		return b.declared[r.Link] != ""
	}
	return !slices.ContainsFunc(r.Hops, func(h netstate.NextHop) bool { return b.declared[h.Link] == "" })
}

// besideOwn reports a route of the destination, table and metric of one of the
// file's: it takes one only, so that the other cannot be said.
func (b *builder) besideOwn(r netstate.Route) bool {
	return slices.ContainsFunc(b.own, func(p placedRoute) bool { return sameKey(p.route, r) })
}

func (b *builder) ownRoute(r netstate.Route) bool {
	return slices.ContainsFunc(b.own, func(p placedRoute) bool { return sameKey(p.route, r) && sameWay(p.route, r) })
}

// extraRules are those that have to do with links of the file, select by an
// address or a network alone, and are a person's or a script's. Rules for
// everything, or with a mark or the like, are other programs' (VPNs, container
// networks).
func (b *builder) extraRules() {
	if len(b.declared) == 0 {
		return
	}
	by := b.at.Line("network")
	for _, r := range slices.Clone(b.want.Rules) {
		if kernelRule(r) || b.fromFile(r) {
			continue
		}
		simple := r.Selectors == "" && (r.From.IsValid() || r.To.IsValid()) && describe.CanSayRule(r)
		if !simple || !b.request.Exact || !b.belongs(r) || b.sharesPlace(r) {
			b.leave("rule %s is not in the file and stays", ruleWords(r))
			continue
		}
		b.want.Rules = slices.DeleteFunc(b.want.Rules, func(have netstate.Rule) bool { return have == r })
		b.because(plan.Step{Kind: plan.Rule, Rule: &r}, by, whyExtra)
	}
}

// sharesPlace reports a rule with another of its priority: the kernel asks them
// in the order in which they came, and one that is put back comes last.
func (b *builder) sharesPlace(r netstate.Rule) bool {
	return slices.ContainsFunc(b.observed.Rules, func(o netstate.Rule) bool {
		return o != r && o.Priority == r.Priority && ruleFamily(o) == ruleFamily(r)
	})
}

// belongs reports a rule that has to do with a link of the file.
func (b *builder) belongs(r netstate.Rule) bool {
	for link, id := range b.declared {
		if id != "" && describe.RuleBelongs(b.observed, r, link) {
			return true
		}
	}
	return false
}

// mptcp lays the file's limits and endpoints over the path manager's.
func (b *builder) mptcp() {
	wanted := b.file.MPTCP
	if wanted == nil {
		return
	}
	path := []any{"mptcp"}
	if b.observed.MPTCP == nil {
		b.wrong(path, "", "this kernel has no MPTCP, or its path manager could not be read")
		return
	}
	m := *b.observed.MPTCP
	m.Endpoints = slices.Clone(m.Endpoints)
	if b.at.Has("mptcp", "subflows") {
		m.Subflows = wanted.Subflows
		b.because(plan.Step{Kind: plan.MPTCPLimit, Key: "subflows"}, b.at.Line("mptcp", "subflows"), "")
	}
	if b.at.Has("mptcp", "add_addr_accepted") {
		m.AddAddrAccepted = wanted.AddAddrAccepted
		b.because(plan.Step{Kind: plan.MPTCPLimit, Key: "add_addr_accepted"}, b.at.Line("mptcp", "add_addr_accepted"), "")
	}
	b.want.MPTCP = &m
	said := map[netip.Addr]bool{}
	for i, e := range wanted.Endpoints {
		said[e.Addr] = true
		b.endpoint(e, []any{"mptcp", "endpoints", i})
	}
	for _, e := range slices.Clone(m.Endpoints) {
		switch {
		case said[e.Addr] || e.Flags&netstate.MPTCPImplicit != 0:
		case b.request.Exact && b.at.Has("mptcp", "endpoints") && describe.CanSayEndpoint(b.observed, e) && (e.Link == "" || b.declared[e.Link] != ""):
			b.dropEndpoint(e, b.at.Line("mptcp", "endpoints"), whyExtra)
		default:
			b.leave("MPTCP endpoint %s is not in the file and stays", e.Addr)
		}
	}
	if n := len(m.Endpoints); n > netstate.MPTCPMax {
		b.wrong(append(path, "endpoints"), "use exact to remove those that the file does not say", "the path manager would have %d endpoints, the kernel takes %d", n, netstate.MPTCPMax)
	}
	b.need("net.mptcp.enabled", 1, path, "without it no socket speaks MPTCP")
}

// endpoint adds one, in the place of one that differs only in what it is for.
func (b *builder) endpoint(e netstate.MPTCPEndpoint, path []any) {
	if e.Link != "" {
		name, ok := b.linkOf(e.Link, append(slices.Clone(path), "dev"))
		if !ok {
			return
		}
		e.Link = name
	}
	same := func(have netstate.MPTCPEndpoint) bool {
		return have.Addr == e.Addr && have.Flags == e.Flags && have.Link == e.Link && have.Port == e.Port
	}
	if slices.ContainsFunc(b.want.MPTCP.Endpoints, same) {
		return
	}
	if !slices.ContainsFunc(b.want.Links, func(l netstate.Link) bool { return b.has(l.Name, e.Addr) }) {
		b.wrong(append(slices.Clone(path), "address"), "", "endpoint %s is no address of the host", e.Addr)
	}
	by := b.at.Line(path...)
	for _, have := range slices.Clone(b.want.MPTCP.Endpoints) {
		if have.Addr == e.Addr {
			b.dropEndpoint(have, by, "the file's takes its place")
		}
	}
	b.want.MPTCP.Endpoints = append(b.want.MPTCP.Endpoints, e)
	b.because(plan.Step{Kind: plan.MPTCPEndpoint, Endpoint: &e}, by, "")
}

func (b *builder) dropEndpoint(e netstate.MPTCPEndpoint, by, why string) {
	b.want.MPTCP.Endpoints = slices.DeleteFunc(b.want.MPTCP.Endpoints, func(have netstate.MPTCPEndpoint) bool { return have == e })
	b.because(plan.Step{Kind: plan.MPTCPEndpoint, Endpoint: &e}, by, why)
}
