package describe

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// What a fabric file can say of what a host has. Everything is written down,
// read back and compared: a statement that would read back as anything but what
// it stands for, weaker or other, is none.

// CanSayRoute reports a route of the host that a fabric file can say: Describe
// writes it where its links are written. Whose the route is counts, too: what
// another program made is that program's to say.
func CanSayRoute(h netstate.Host, r netstate.Route) bool {
	why := ""
	if len(r.Hops) > 0 {
		_, why = MultipathNode(h, r)
	} else {
		_, why = RouteNode(h, r)
	}
	return why == ""
}

// CanSayRule is CanSayRoute of a rule.
func CanSayRule(r netstate.Rule) bool {
	_, why := RuleNode(r)
	return why == ""
}

// CanSayEndpoint is CanSayRoute of an MPTCP endpoint.
func CanSayEndpoint(h netstate.Host, e netstate.MPTCPEndpoint) bool {
	_, why := EndpointNode(h, e)
	return why == ""
}

// RuleBelongs reports a rule that has to do with the link: it leads to a table
// with routes over it, or is for packets from its addresses or to its networks.
func RuleBelongs(h netstate.Host, r netstate.Rule, link string) bool {
	l, _ := h.Link(link)
	return owner(l, r.From) || owner(l, r.To) || slices.ContainsFunc(h.Routes, func(route netstate.Route) bool {
		return r.Action == "" && route.Table == r.Table && (route.Link == link || slices.ContainsFunc(route.Hops, func(hop netstate.NextHop) bool { return hop.Link == link }))
	})
}

func owner(l netstate.Link, p netip.Prefix) bool {
	return slices.ContainsFunc(l.Addresses, func(a netip.Prefix) bool { return p.IsValid() && p.Contains(a.Addr()) })
}

// otherOwner says whose a route or rule is by its protocol; "" it is a person's
// or a script's, whose things a fabric says.
func otherOwner(protocol string) string {
	switch protocol {
	case "", "static", "boot":
		return ""
	case "dhcp":
		return "made by DHCP"
	case "ra":
		return "made by router advertisements"
	}
	return "made by " + protocol
}

// otherRoute is what of a route no key of the file holds, whatever its way; ""
// nothing.
func otherRoute(r netstate.Route) string {
	if who := otherOwner(r.Protocol); who != "" {
		return who
	}
	return BeyondKeys(r)
}

func BeyondKeys(r netstate.Route) string {
	dst := r.Dst.Addr()
	switch {
	case r.Table == fabric.LocalTable:
		return "of the kernel's own table"
	case r.Table < 1:
		return "of no table"
	case r.Object != 0:
		return "a nexthop object"
	case dst.IsMulticast(), dst.IsLinkLocalUnicast():
		return "link-local or multicast, which is left to the kernel"
	}
	for _, key := range fabric.SortedNames(r.Extra) {
		return "its " + key
	}
	return ""
}

// RouteNode is a route as the file says it under its link, one that delivers
// nothing under any; nil and why it cannot.
func RouteNode(h netstate.Host, r netstate.Route) (*yamldoc.Node, string) {
	if why := otherRoute(r); why != "" {
		return nil, why
	}
	return WayNode(h, r)
}

// WayNode is RouteNode whoever made the route.
func WayNode(h netstate.Host, r netstate.Route) (*yamldoc.Node, string) {
	l, there := h.Link(r.Link)
	switch {
	case r.Type == "" && !there:
		return nil, "over no link that is known"
	case l.Kind == "loopback":
		return nil, "over the loopback"
	case r.Gateway.IsValid() && slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == r.Gateway }):
		return nil, "its next hop is the host's own address"
	}
	n := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	n.Set("to", yamldoc.Text(toText(r.Dst, r.Gateway.IsValid())))
	switch {
	case r.Type != "":
		n.Set("type", yamldoc.Text(r.Type))
	case r.Gateway.IsValid():
		n.Set("via", yamldoc.Text(r.Gateway.String()))
		if r.OnLink {
			n.Set("on-link", yamldoc.Text("true"))
		}
	default:
		n.Set("scope", yamldoc.Text("link"))
	}
	if r.Source.IsValid() {
		n.Set("from", yamldoc.Text(r.Source.String()))
	}
	placeNode(n, r)
	n.Set("mtu", yamldoc.Count(r.MTU))
	for _, m := range fabric.RouteMetrics {
		if v := r.Metrics[m[1]]; v != "" {
			n.Set(m[0], yamldoc.Text(v))
		}
	}
	back, ok := fabric.ReadRoute(n)
	return n, otherwise(ok, back.Kernel(r.Link), r)
}

// toText is a destination; netplan's word for IPv6's default needs a next hop
// to tell the family.
func toText(dst netip.Prefix, overGateway bool) string {
	if dst.Bits() == 0 && (dst.Addr().Is4() || overGateway) {
		return "default"
	}
	return dst.String()
}

func placeNode(n *yamldoc.Node, r netstate.Route) {
	n.Set("metric", yamldoc.Count(r.Metric))
	if r.Table != fabric.MainTable {
		n.Set("table", yamldoc.Count(r.Table))
	}
}

// otherwise says why what was read back is not what was meant; "" it is.
func otherwise(read bool, back, meant netstate.Route) string {
	if !read {
		return "which the file cannot represent"
	}
	back, meant = fabric.Numbered(back), fabric.Numbered(meant)
	if back.Words(nil) == meant.Words(nil) {
		return ""
	}
	for _, key := range fabric.SortedNames(meant.Metrics) {
		if meant.Metrics[key] != back.Metrics[key] {
			return "its " + key
		}
	}
	switch {
	case len(meant.Hops) > 0 && meant.MTU != 0:
		return "its mtu"
	case len(meant.Hops) > 0 && meant.Source.IsValid():
		return "its source"
	case slices.ContainsFunc(meant.Hops, func(h netstate.NextHop) bool { return h.OnLink }):
		return "a next hop's onlink"
	}
	return "which the file cannot represent"
}

// HashPolicyOf is the sysctl that spreads flows over a route's next hops.
func HashPolicyOf(r netstate.Route) string {
	if r.Dst.Addr().Is6() {
		return "net.ipv6.fib_multipath_hash_policy"
	}
	return "net.ipv4.fib_multipath_hash_policy"
}

// MultipathNode is a route over several next hops as the file says it.
func MultipathNode(h netstate.Host, r netstate.Route) (*yamldoc.Node, string) {
	if why := otherRoute(r); why != "" {
		return nil, why
	}
	if policy := HashPolicyOf(r); h.Sysctls[policy].Value == "" {
		return nil, policy + " was not read"
	}
	hops := &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true}
	gateway := false
	for _, hop := range r.Hops {
		if _, there := h.Link(hop.Link); !there {
			return nil, "over no link that is known"
		}
		item := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
		item.Set("dev", yamldoc.Text(hop.Link))
		if hop.Gateway.IsValid() {
			gateway = true
			item.Set("via", yamldoc.Text(hop.Gateway.String()))
		}
		if hop.Weight > 1 {
			item.Set("weight", yamldoc.Count(hop.Weight))
		}
		hops.Items = append(hops.Items, item)
	}
	n := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	n.Set("to", yamldoc.Text(toText(r.Dst, gateway)))
	placeNode(n, r)
	n.Set("hops", hops)
	back, ok := fabric.ReadMultipath(n)
	return n, otherwise(ok, back.Kernel(), r)
}

// RuleNode is a policy rule as the file says it.
func RuleNode(r netstate.Rule) (*yamldoc.Node, string) {
	switch who := otherOwner(r.Protocol); {
	case who != "":
		return nil, who
	case r.Action != "":
		return nil, "its action"
	case r.Priority == 0, r.Priority == priorityMain, r.Priority == priorityDefault:
		return nil, "a priority of the kernel's own rules"
	}
	n := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	if r.From.IsValid() {
		n.Set("from", yamldoc.Text(r.From.String()))
	} else if !r.To.IsValid() {
		// netplan asks for one of the two, and the family is said by nothing else.
		everything := "0.0.0.0/0"
		if r.IPv6() {
			everything = "::/0"
		}
		n.Set("from", yamldoc.Text(everything))
	}
	if r.To.IsValid() {
		n.Set("to", yamldoc.Text(r.To.String()))
	}
	words := strings.Fields(r.Selectors)
	for i := 0; i < len(words); i++ {
		key := map[string]string{"fwmark": "mark", "tos": "type-of-service"}[words[i]]
		if key == "" || i+1 == len(words) {
			return nil, "its " + words[i]
		}
		i++
		v, err := strconv.ParseUint(words[i], 0, 32)
		if err != nil {
			return nil, "its " + words[i-1] + " with a mask"
		}
		n.Set(key, yamldoc.Text(strconv.FormatUint(v, 10)))
	}
	n.Set("table", yamldoc.Count(r.Table))
	n.Set("priority", yamldoc.Count(r.Priority))
	back, ok := fabric.ReadRule(n)
	read := back.Kernel()
	if !ok || read.Words() != r.Words() || read.IPv6() != r.IPv6() {
		return nil, "which the file cannot represent"
	}
	return n, ""
}

// The kernel's own rules (fib_default_rules_init, net/ipv4/fib_rules.c).
const (
	priorityMain    = 32766
	priorityDefault = 32767
)

// KernelRule reports the rules that every host has.
func KernelRule(r netstate.Rule) bool {
	own := r.Priority == 0 && r.Table == fabric.LocalTable || r.Priority == priorityMain && r.Table == fabric.MainTable || r.Priority == priorityDefault && r.Table == fabric.MainTable-1
	return own && !r.From.IsValid() && !r.To.IsValid() && r.Selectors == "" && r.Action == ""
}

// EndpointNode is an MPTCP endpoint as the file says it, its number aside, which
// the kernel gives.
func EndpointNode(h netstate.Host, e netstate.MPTCPEndpoint) (*yamldoc.Node, string) {
	if e.Flags&netstate.MPTCPImplicit != 0 {
		return nil, "made by the kernel"
	}
	if _, there := h.LinkWith(e.Addr); !there {
		return nil, "no address of the host"
	}
	n := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	n.Set("address", yamldoc.Text(e.Addr.String()))
	if e.Link != "" {
		n.Set("dev", yamldoc.Text(e.Link))
	}
	n.Set("port", yamldoc.Count(int(e.Port)))
	if words := strings.Fields(e.Flags.String()); len(words) > 0 {
		n.Set("flags", yamldoc.Texts(words))
	}
	back, ok := fabric.ReadEndpoint(n)
	if !ok || back.Words() != e.Words() {
		return nil, "which the file cannot represent"
	}
	return n, ""
}
