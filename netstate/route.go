package netstate

import "net/netip"

// Route is one entry of a routing table.
type Route struct {
	Dst     netip.Prefix `json:"dst"` // 0.0.0.0/0 for the default route
	Gateway netip.Addr   `json:"gateway,omitzero"`
	Link    string       `json:"link,omitempty"`
	Source  netip.Addr   `json:"source,omitzero"`
	Table   int          `json:"table"`
	Metric  int          `json:"metric,omitempty"`
	Hops    []NextHop    `json:"next_hops,omitempty"` // ECMP
	// Object is the number of the nexthop object (ip-nexthop(8)) that the route
	// names; zero is none: the route holds its next hops itself.
	Object int `json:"nexthop_object,omitempty"`
	// Group is how Object spreads flows over Hops; "" is an object that is no
	// group, or one that was not read.
	Group NexthopGroup `json:"nexthop_group,omitempty"`
	// Type is the kernel's word for a route that delivers nothing
	// ("blackhole", "unreachable", "prohibit", "throw"); "" is unicast.
	Type string `json:"type,omitempty"`
	// Protocol says who made the route ("kernel", "boot", "static", "dhcp",
	// "ra", or a number); "" unknown.
	Protocol string `json:"protocol,omitempty"`
	// OnLink: the gateway is reachable on the link whatever the addresses say.
	OnLink bool `json:"on_link,omitempty"`
	// MTU is the route's own limit; zero is the link's.
	MTU int `json:"mtu_bytes,omitempty"`
	// Metrics are its other metrics by ip-route(8)'s names ("advmss", "window").
	Metrics map[string]string `json:"metrics,omitempty"`
	// Extra are attributes that no field holds, kept by the kernel's number
	// ("rta-11"); a plan cannot restore a route that has any.
	Extra map[string]string `json:"extra,omitempty"`
}

// NexthopGroup is how a group of nexthop objects chooses among them.
type NexthopGroup string

// The kinds of groups, by ip-nexthop(8)'s words.
const (
	// HashThreshold (mpath) gives each next hop its share of the hash's values, as
	// a route with its own next hops does.
	HashThreshold NexthopGroup = "hash-threshold"
	// Resilient keeps a table of buckets, which change with the traffic.
	Resilient NexthopGroup = "resilient"
)

// NextHop is one leg of a multipath route.
type NextHop struct {
	Gateway netip.Addr `json:"gateway,omitzero"`
	Link    string     `json:"link"`
	Weight  int        `json:"weight"`
	// Dead: the kernel leaves this leg out for now (RTNH_F_DEAD): its link is
	// down, or has no carrier and the host ignores such routes.
	Dead bool `json:"dead,omitempty"`
	// OnLink is as a route's.
	OnLink bool `json:"on_link,omitempty"`
}

// Rule is a policy routing rule.
type Rule struct {
	Priority int          `json:"priority"`
	From     netip.Prefix `json:"from,omitzero"`
	To       netip.Prefix `json:"to,omitzero"`
	Table    int          `json:"table"`
	// Family is "ipv4" or "ipv6"; "" where From or To says it.
	Family string `json:"family,omitempty"`
	// Action is what the rule does when it is not a table's lookup
	// ("blackhole", "unreachable", "prohibit", "goto", "nop").
	Action string `json:"action,omitempty"`
	// Goto is the priority of the rule that the action "goto" leads to; zero
	// is none, or unknown.
	Goto int `json:"goto_priority,omitempty"`
	// Selectors are its further conditions in ip-rule(8)'s words
	// ("fwmark 0x1 iif eth0"); "" none. A rule with any does not apply to
	// all traffic.
	Selectors string `json:"selectors,omitempty"`
	// Protocol says who made the rule, as a route's; "" unknown.
	Protocol string `json:"protocol,omitempty"`
}
