package fabric

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// addressList reads addresses as netplan writes them: text, or a mapping of
// one address to its options.
var addressList = reader[Device]{
	schema: func(*schemaWriter) map[string]any {
		text := map[string]any{"type": "string", "pattern": `^[0-9a-fA-F.:]+/[0-9]+$`}
		options := map[string]any{"type": "object", "maxProperties": 1, "additionalProperties": map[string]any{"type": "object"}}
		return map[string]any{"type": []string{"array", "null"}, "items": either(text, options)}
	},
	read: func(d *decoder, at place, n *yamldoc.Node, into *Device) {
		if !d.want(at, n, yamldoc.SequenceNode) {
			return
		}
		for i, item := range n.Items {
			text := item
			if item.Kind == yamldoc.MappingNode && len(item.Pairs) == 1 {
				p := item.Pairs[0]
				text = &yamldoc.Node{Kind: yamldoc.ScalarNode, Text: p.Key, Line: p.Line, Column: p.Column}
			}
			p, ok := prefix.decode(d, at.item(i), text)
			if !ok {
				continue
			}
			into.Addresses = append(into.Addresses, p)
			if options := optionsOf(item, text); options != nil {
				addressOptions(d, at.item(i), options)
			}
			if label := optionsOf(item, text).Get("label"); label != nil && label.Kind == yamldoc.ScalarNode && label.Text != "" {
				if into.Labels == nil {
					into.Labels = map[netip.Prefix]string{}
				}
				into.Labels[p] = label.Text
			}
		}
	},
}

// addressOptions are what netplan takes behind an address (address_option_handlers,
// handle_address_option_lifetime).
var addressOptions = mapping("address_options", map[string]keptKind{"label": is(free), "lifetime": is(word("0", "forever"))})

// optionsOf is the mapping of options behind an address, nil where it has none.
func optionsOf(n, address *yamldoc.Node) *yamldoc.Node {
	if n.Kind != yamldoc.MappingNode {
		return nil
	}
	return n.Get(address.Text)
}

var prefix = scalar[netip.Prefix]{parse: parsePrefix, hint: "write the address with its prefix length: 10.0.0.1/24"}

// destination is "default", a network, or one address.
var destination = scalar[netip.Prefix]{
	schema: map[string]any{"type": "string"},
	parse: func(s string) (netip.Prefix, error) {
		if s == "default" {
			return netip.Prefix{}, nil
		}
		if a, err := netip.ParseAddr(s); err == nil {
			return netip.PrefixFrom(a, a.BitLen()), nil
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return p, fmt.Errorf("%q is neither default nor an address or network", s)
		}
		return p.Masked(), nil
	},
}

// table numbers as the kernel has them; 253 to 255 are default, main, local.
var tableNumber = integer(1, 1<<32-1)

var routeKeys = object[Route]{
	name: "route", doc: "A static route.",
	keys: append([]key[Route]{
		{"to", "where to: default, a network, an address", one(destination, func(r *Route) *netip.Prefix { return &r.To })},
		{"via", "next hop; the interface's own address means directly reachable", one(address, func(r *Route) *netip.Addr { return &r.Via })},
		{"from", "source address", one(address, func(r *Route) *netip.Addr { return &r.From })},
		{"on-link", "the next hop is directly reachable", one(truth, func(r *Route) *bool { return &r.OnLink })},
		{"metric", "the lower wins", one(integer(0, 1<<32-1), func(r *Route) *int { return &r.Metric })},
		{"table", "routing table", one(tableNumber, func(r *Route) *int { return &r.Table })},
		{"type", "kind of route", one(word("unicast", "anycast", "blackhole", "broadcast", "local", "multicast", "nat", "prohibit", "throw", "unreachable", "xresolve"), func(r *Route) *string { return &r.Type })},
		{"scope", "how far the destination is", one(word("global", "link", "host"), func(r *Route) *string { return &r.Scope })},
		{"mtu", "MTU along the route in bytes", one(integer(0, 65536), func(r *Route) *int { return &r.MTU })},
	}, keptRows(func(r *Route) *[]yamldoc.Pair { return &r.Unread }, routeMetricRows())...),
	required: []string{"to"},
	alias:    map[string]string{"gateway": "via", "src": "from", "dst": "to"},
	finish:   finishRoute,
}

// finishRoute gives "default" its family and refuses what netplan refuses.
func finishRoute(d *decoder, at place, n *yamldoc.Node, r *Route) {
	if to := n.Get("to"); to != nil && to.Text == "default" {
		r.To = netip.PrefixFrom(netip.IPv4Unspecified(), 0)
		if r.Via.Is6() || !r.Via.IsValid() && r.From.Is6() {
			r.To = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
		}
	}
	if r.Via.IsUnspecified() { // which the kernel takes for no gateway
		r.Via = netip.Addr{}
	}
	if r.Via.IsValid() && r.To.IsValid() && r.Via.Is4() != r.To.Addr().Is4() {
		d.wrong(at, n.Find("via"), fmt.Sprintf("via %s is of another address family than to %s", r.Via, r.To), "")
	}
	unicast := r.Type == "" || r.Type == "unicast"
	if r.Undeliverable() && r.Via.IsValid() {
		d.wrong(at, n.Find("via"), fmt.Sprintf("a route of type %s leads nowhere, and has no via (fib_create_info)", r.Type), "take via out, or the type")
	}
	switch nearby := slices.Contains([]string{"broadcast", "multicast", "anycast"}, r.Type); {
	case r.Scope == "" && (unicast && n.Get("via") == nil || nearby): // handle_routes of netplan's src/parse.c (LP 1805038)
		r.Scope = "link"
	case unicast && n.Get("via") == nil && r.Scope == "global":
		d.wrong(at, n, "has no via", "add via: ADDRESS, or scope: link for a directly reachable network")
	}
}

var ruleKeys = object[Rule]{
	name: "rule", doc: "A policy routing rule.",
	keys: []key[Rule]{
		{"from", "source network", one(destination, func(r *Rule) *netip.Prefix { return &r.From })},
		{"to", "destination network", one(destination, func(r *Rule) *netip.Prefix { return &r.To })},
		{"table", "routing table to look in", one(tableNumber, func(r *Rule) *int { return &r.Table })},
		{"priority", "the lower is asked first", one(integer(0, 1<<32-1), func(r *Rule) *int { return &r.Priority })},
		{"mark", "firewall mark", one(integer(0, 1<<32-1), func(r *Rule) *int { return &r.Mark })},
		{"type-of-service", "TOS value", one(integer(0, 255), func(r *Rule) *int { return &r.TOS })},
	},
	finish: finishRule,
}

// finishRule refuses what netplan refuses: a rule of no address family.
func finishRule(d *decoder, at place, n *yamldoc.Node, r *Rule) {
	const ecn = 3
	if r.TOS&ecn != 0 {
		d.wrong(at, n.Find("type-of-service"), fmt.Sprintf("%d has bits of ECN set, its last two (RFC 3168), by which no rule selects", r.TOS), fmt.Sprintf("write %d", r.TOS&^ecn))
	}
	if r.From.IsValid() && r.To.IsValid() && r.From.Addr().Is4() != r.To.Addr().Is4() {
		d.wrong(at, n, fmt.Sprintf("goes from %s to %s, which are of two address families", r.From, r.To), "write one rule for each family")
	}
	if !r.From.IsValid() && !r.To.IsValid() {
		d.wrong(at, n, "has neither from nor to, so that it is of no address family", "write from: 0.0.0.0/0 or from: ::/0 for all traffic")
	}
}

// parsePrefix reads an address with its prefix length.
func parsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err == nil {
		return p, nil
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return netip.Prefix{}, fmt.Errorf("%q has no prefix length (write %s/%d?)", s, s, a.BitLen())
	}
	return netip.Prefix{}, fmt.Errorf("%q is no address with a prefix length such as 10.0.0.1/24", s)
}
