package describe

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// unsaid is what a host has and a fabric file cannot say, with the reason.
type unsaid struct {
	lines  []string
	counts map[string]int // by reason
}

// mostUnsaid is how many of a kind are named: a router may have a million routes
// of a daemon.
const mostUnsaid = 20

func (u *unsaid) add(words, why string) {
	if u.counts == nil {
		u.counts = map[string]int{}
	}
	if u.counts[why]++; u.counts[why] <= mostUnsaid {
		u.lines = append(u.lines, fmt.Sprintf("  %s (%s)", words, why))
	}
}

// remark puts it above a host's network.
func (u *unsaid) remark(n *yamldoc.Node) {
	if len(u.lines) == 0 {
		return
	}
	n.Remark("what no key of this file says stays as it is: it is never planned, changed or removed")
	for _, line := range u.lines {
		n.Remark("%s", line)
	}
	for _, why := range fabric.SortedNames(u.counts) {
		if more := u.counts[why] - mostUnsaid; more > 0 {
			n.Remark("  and %d more (%s)", more, why)
		}
	}
}

// routes are those over a link, and under the first device those over none.
func (d *describer) routes(l netstate.Link, routes *yamldoc.Node) {
	for _, r := range d.host.Routes {
		over := r.Link == l.Name || r.Type != "" && l.Name == d.first
		if !over || len(r.Hops) > 0 || d.implied(l, r) || d.isLeased(r) {
			continue
		}
		node, why := RouteNode(d.host, r)
		if why == "" && !d.place(r) {
			why = "another route of its destination, table and metric is written"
		}
		if why != "" {
			d.unsaid.add(routeLine(r), why)
			continue
		}
		routes.Items = append(routes.Items, node)
	}
}

// place reports the first route of its destination, table and metric, of which
// the file takes one.
func (d *describer) place(r netstate.Route) bool {
	r = fabric.Numbered(r)
	at := routePlace{r.Dst, r.Table, r.Metric}
	if d.places[at] {
		return false
	}
	if d.places == nil {
		d.places = map[routePlace]bool{}
	}
	d.places[at] = true
	return true
}

type routePlace struct {
	dst           netip.Prefix
	table, metric int
}

// routeLine is a route as ip-route(8) would add it.
func routeLine(r netstate.Route) string {
	line := "ip route "
	if r.Dst.Addr().Is6() {
		line = "ip -6 route "
	}
	if line += r.Words(nil); r.Protocol != "" {
		line += " proto " + r.Protocol
	}
	return line
}

func ruleLine(r netstate.Rule) string {
	line := "ip rule "
	if r.IPv6() {
		line = "ip -6 rule "
	}
	if line += r.Words(); r.Protocol != "" && r.Protocol != "boot" {
		line += " proto " + r.Protocol
	}
	return line
}

// rules are those that have to do with a link and stand under none yet.
func (d *describer) rules(l netstate.Link, rules *yamldoc.Node) {
	for i, r := range d.host.Rules {
		if d.ruled[i] || KernelRule(r) || !RuleBelongs(d.host, r, l.Name) {
			continue
		}
		d.ruled[i] = true
		node, why := RuleNode(r)
		if why != "" {
			d.unsaid.add(ruleLine(r), why)
			continue
		}
		rules.Items = append(rules.Items, node)
	}
}

// multipath are the routes over several next hops.
func (d *describer) multipath() *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.SequenceNode}
	for _, r := range d.host.Routes {
		if len(r.Hops) == 0 {
			continue
		}
		node, why := MultipathNode(d.host, r)
		for _, hop := range r.Hops {
			if why == "" && !d.needed[hop.Link] {
				why = "over " + hop.Link + ", which is not written"
			}
		}
		if why == "" && !d.place(r) {
			why = "another route of its destination, table and metric is written"
		}
		if why != "" {
			d.unsaid.add(routeLine(r), why)
			continue
		}
		n.Items = append(n.Items, node)
		if policy := HashPolicyOf(r); !slices.Contains(d.restsOn, policy) {
			d.restsOn = append(d.restsOn, policy)
		}
	}
	return n
}

// mptcp is the path manager's state where it is not the kernel's own.
func (d *describer) mptcp() *yamldoc.Node {
	m := d.host.MPTCP
	if m == nil {
		return nil
	}
	endpoints := &yamldoc.Node{Kind: yamldoc.SequenceNode}
	told := map[netip.Addr]bool{}
	for _, e := range m.Endpoints {
		node, why := EndpointNode(d.host, e)
		switch {
		case e.Flags&netstate.MPTCPImplicit != 0:
			continue
		case why == "" && e.Link != "" && !d.needed[e.Link]:
			why = "on " + e.Link + ", which is not written"
		case why == "" && told[e.Addr]:
			why = "another endpoint of its address is written"
		}
		if why != "" {
			d.unsaid.add("ip mptcp endpoint "+e.Words(), why)
			continue
		}
		told[e.Addr] = true
		endpoints.Items = append(endpoints.Items, node)
	}
	if len(endpoints.Items) == 0 && m.Subflows == fabric.DefaultSubflows && m.AddAddrAccepted == 0 {
		return nil
	}
	if v, known := d.host.Sysctls[mptcpEnabled]; !known || v.Value == "" {
		d.unsaid.add(fmt.Sprintf("ip mptcp limits subflows %d add_addr_accepted %d", m.Subflows, m.AddAddrAccepted), mptcpEnabled+" was not read")
		return nil
	}
	d.restsOn = append(d.restsOn, mptcpEnabled)
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	n.Set("subflows", yamldoc.Text(fmt.Sprint(m.Subflows)))
	n.Set("add_addr_accepted", yamldoc.Text(fmt.Sprint(m.AddAddrAccepted)))
	n.Set("endpoints", yamldoc.Filled(endpoints))
	return n
}

const mptcpEnabled = "net.mptcp.enabled"

// rest notes the routes and rules that stand nowhere.
func (d *describer) rest() {
	for _, r := range d.host.Routes {
		l, _ := d.host.Link(r.Link)
		switch {
		case len(r.Hops) > 0, r.Type == "" && d.needed[r.Link], r.Type != "" && d.first != "":
		case r.Protocol == "kernel", r.Table == fabric.LocalTable, d.implied(l, r):
		case r.Type != "":
			d.unsaid.add(routeLine(r), "no link is written")
		default:
			d.unsaid.add(routeLine(r), strings.TrimSpace("over "+r.Link)+", which is not written")
		}
	}
	for i, r := range d.host.Rules {
		if !d.ruled[i] && !KernelRule(r) {
			_, why := RuleNode(r)
			d.unsaid.add(ruleLine(r), kindOr(why, "it belongs to no link written here"))
		}
	}
}

// implied reports a route that the kernel makes from an address or an up link:
// the local table, connected networks, link-local, multicast and broadcast.
func (d *describer) implied(l netstate.Link, r netstate.Route) bool {
	dst := r.Dst.Addr()
	switch {
	case r.Protocol != "kernel" && r.Protocol != "":
		return false
	case r.Table == fabric.LocalTable, dst.IsMulticast(), dst.IsLinkLocalUnicast(), dst.IsLoopback():
		return true
	case r.Gateway.IsValid() || len(r.Hops) > 0 || r.Protocol == "" && r.Table != fabric.MainTable:
		return false
	}
	return slices.ContainsFunc(l.Addresses, func(a netip.Prefix) bool { return a.Masked() == r.Dst || a.Addr() == dst })
}
