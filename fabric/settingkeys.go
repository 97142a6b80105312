package fabric

import (
	"fmt"
	"net/netip"
	"regexp"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// ProfileNames are the sets of sysctls that `profiles` may name.
func ProfileNames() []string { return []string{"throughput", "security"} }

// RoleNames are what `roles` may say of a host.
func RoleNames() []string { return []string{"router", "kubernetes", "multihomed", "benchmark"} }

// settingKeys are what is wanted of a host's network and netplan cannot say.
var settingKeys = []key[Settings]{
	{"bonding", "bond options by bond and kernel name, for those that netplan lacks", byName("bond", bondingKeys, func(s *Settings) *map[string]map[string]string { return &s.Bonding })},
	{"links", "settings of devices by netplan ID", byName("link", settingLinkKeys, func(s *Settings) *map[string]LinkSettings { return &s.Links })},
	{"multipath", "routes over several next hops", list(multipathKeys, func(s *Settings) *[]MultipathRoute { return &s.Multipath })},
	{"mptcp", "MPTCP's path manager", reader[Settings]{schema: sub(mptcpKeys, func(*Settings) *netstate.MPTCP { return nil }).schema, read: readMPTCP}},
	{"profiles", "sets of sysctls to write; left out: none", distinct(word(ProfileNames()...), func(s *Settings) *[]string { return &s.Profiles })},
	{"roles", "what else the host is, which profiles must spare; some are seen by themselves", distinct(word(RoleNames()...), func(s *Settings) *[]string { return &s.Roles })},
	{"source_rules", "netplan IDs whose addresses get a routing table and rules: what comes in by a link leaves by it", distinct(deviceName, func(s *Settings) *[]string { return &s.SourceRules })},
	{"absent", "bonds, VLANs and dummies that the host must not have", distinct(deviceName, func(s *Settings) *[]string { return &s.Absent })},
}

var deviceName = scalar[string]{
	schema: map[string]any{"type": []string{"string", "number"}},
	parse: func(s string) (string, error) {
		if why := BadName(s); why != "" {
			return "", fmt.Errorf("%q %s", s, why)
		}
		return s, nil
	},
}

// distinct is a key that holds a list of different scalars; an empty list is
// not nil.
func distinct[T any](s scalar[string], at func(*T) *[]string) reader[T] {
	base := many(s, at)
	return reader[T]{
		schema: func(w *schemaWriter) map[string]any {
			schema := base.schema(w)
			schema["uniqueItems"] = true
			return schema
		},
		read: func(d *decoder, p place, n *yamldoc.Node, into *T) {
			first := map[string]bool{}
			for i, item := range n.Items {
				if item.Kind == yamldoc.ScalarNode && first[item.Text] {
					d.wrong(p.item(i), item, item.Text+" is named twice", "")
				}
				first[item.Text] = true
			}
			base.read(d, p, n, into)
			if *at(into) == nil {
				*at(into) = []string{}
			}
		},
	}
}

var settingLinkKeys = object[LinkSettings]{
	name: "link_settings", doc: "A device's settings. What is left out stays as it is.",
	keys: append([]key[LinkSettings]{
		{"offloads", "offloads on or off, by the names of ethtool -K", texts(truth, func(l *LinkSettings) *map[string]bool { return &l.Offloads })},
		{"rings", "descriptor rings", sub(ringKeys, func(l *LinkSettings) *LinkSettings { return l })},
		{"channels", "queues with an interrupt each", sub(channelKeys, func(l *LinkSettings) *map[string]int { return &l.Channels })},
		{"coalesce", "interrupt moderation, by the names of ethtool -C", sub(coalesceKeys, func(l *LinkSettings) *map[string]int { return &l.Coalescing })},
		{"qdisc", "root queueing discipline in tc's words: fq maxrate 10gbit; default is the kernel's own", one(qdisc, func(l *LinkSettings) *string { return &l.Qdisc })},
	}, lifted(portKeys(), func(l *LinkSettings) *map[string]string { return &l.Port })...),
	alias: map[string]string{"offload": "offloads", "features": "offloads", "ring": "rings", "queues": "channels", "coalescing": "coalesce", "prio": "port_prio"},
}

var ringKeys = object[LinkSettings]{
	name: "rings", doc: "Descriptor rings, as ethtool -G.",
	keys: []key[LinkSettings]{
		{"rx", "receive descriptors", one(integer(1, 1<<20), func(l *LinkSettings) *int { return &l.RingRx })},
		{"tx", "transmit descriptors", one(integer(1, 1<<20), func(l *LinkSettings) *int { return &l.RingTx })},
	},
}

var channelKeys = object[map[string]int]{
	name: "channels", doc: "Queues with an interrupt each, as ethtool -L.",
	keys: []key[map[string]int]{
		{"rx", "that receive only", entry("rx", integer(0, 4096))},
		{"tx", "that transmit only", entry("tx", integer(0, 4096))},
		{"combined", "that do both", entry("combined", integer(0, 4096))},
	},
}

// coalesceSwitches and coalesceNumbers are ethtool -C's names (struct
// ethtool_coalesce, include/uapi/linux/ethtool.h).
var (
	coalesceSwitches = []string{"adaptive-rx", "adaptive-tx"}
	coalesceNumbers  = []string{
		"rx-usecs", "rx-frames", "rx-usecs-irq", "rx-frames-irq", "tx-usecs", "tx-frames", "tx-usecs-irq", "tx-frames-irq",
		"stats-block-usecs", "pkt-rate-low", "rx-usecs-low", "rx-frames-low", "tx-usecs-low", "tx-frames-low",
		"pkt-rate-high", "rx-usecs-high", "rx-frames-high", "tx-usecs-high", "tx-frames-high", "sample-interval",
	}
)

var coalesceKeys = object[map[string]int]{
	name: "coalesce", doc: "Interrupt moderation, as ethtool -C.", keys: coalesceRows(),
}

func coalesceRows() []key[map[string]int] {
	var rows []key[map[string]int]
	for _, name := range coalesceSwitches {
		rows = append(rows, key[map[string]int]{name, "the driver adapts the rest by itself", entry(name, zeroOrOne)})
	}
	for _, name := range coalesceNumbers {
		rows = append(rows, key[map[string]int]{name, "as ethtool -C has it", entry(name, integer(0, 1<<31-1))})
	}
	return rows
}

// zeroOrOne is a switch as a number.
var zeroOrOne = scalar[int]{schema: switchSchema, hint: truth.hint, parse: func(s string) (int, error) {
	on, err := parseSwitch(s)
	if on {
		return 1, err
	}
	return 0, err
}}

// switchSchema is what parseSwitch reads.
var switchSchema = either(truth.schema, map[string]any{"enum": []string{"0", "1"}}, map[string]any{"type": "integer", "minimum": 0, "maximum": 1})

// parseSwitch reads a truth value, or the 0 and 1 that the kernel prints.
func parseSwitch(s string) (bool, error) {
	if s == "0" || s == "1" {
		return s == "1", nil
	}
	return yamldoc.ParseBool(s)
}

// qdisc is checked for its form only; which disciplines and parameters there
// are is the plan's to know.
var qdisc = scalar[string]{
	schema: map[string]any{"type": "string", "pattern": qdiscForm.String()},
	parse: func(s string) (string, error) {
		if s = FoldBlanks(s); !qdiscForm.MatchString(s) {
			return "", fmt.Errorf("%q is no queueing discipline in tc's words", s)
		}
		return s, nil
	},
	hint: "write it as tc-qdisc(8) does: fq, fq maxrate 10gbit, fq_codel, default",
}

var qdiscForm = regexp.MustCompile(`^[a-z][a-z0-9_]*( [a-z_]+ [0-9][0-9.a-zA-Z]*)*$`)

// entry is a key of a mapping kept as a map.
func entry[V any](name string, s scalar[V]) reader[map[string]V] {
	return reader[map[string]V]{
		schema: func(*schemaWriter) map[string]any { return s.schema },
		read: func(d *decoder, at place, n *yamldoc.Node, into *map[string]V) {
			v, ok := s.decode(d, at, n)
			if !ok {
				return
			}
			if *into == nil {
				*into = map[string]V{}
			}
			(*into)[name] = v
		},
	}
}

var multipathKeys = object[MultipathRoute]{
	name: "multipath_route", doc: "A route over several next hops; flows are spread over them.",
	keys: []key[MultipathRoute]{
		{"to", "where to: default, a network, an address", one(destination, func(r *MultipathRoute) *netip.Prefix { return &r.To })},
		{"table", "routing table, main when left out", one(tableNumber, func(r *MultipathRoute) *int { return &r.Table })},
		{"metric", "the lower wins", one(integer(0, 1<<32-1), func(r *MultipathRoute) *int { return &r.Metric })},
		{"hops", "the next hops, two or more", list(hopKeys, func(r *MultipathRoute) *[]netstate.NextHop { return &r.Hops })},
	},
	required: []string{"to", "hops"},
	alias:    map[string]string{"dst": "to", "nexthops": "hops", "next_hops": "hops", "via": "hops"},
	finish:   finishMultipath,
}

// hopKeys follows the kernel in the range of weights: an octet, less one
// (rtnh_hops, include/uapi/linux/rtnetlink.h).
var hopKeys = object[netstate.NextHop]{
	name: "next_hop", doc: "One leg of a multipath route.",
	keys: []key[netstate.NextHop]{
		{"via", "next hop's address; left out: directly reachable", one(address, func(h *netstate.NextHop) *netip.Addr { return &h.Gateway })},
		{"dev", "the device's netplan ID", one(deviceName, func(h *netstate.NextHop) *string { return &h.Link })},
		{"weight", "its share, 1 when left out", one(integer(1, 256), func(h *netstate.NextHop) *int { return &h.Weight })},
	},
	required: []string{"dev"},
	alias:    map[string]string{"gateway": "via", "link": "dev", "device": "dev"},
	finish: func(_ *decoder, _ place, _ *yamldoc.Node, h *netstate.NextHop) {
		if h.Weight == 0 {
			h.Weight = 1
		}
	},
}

// finishMultipath gives "default" its family and refuses families that mix.
func finishMultipath(d *decoder, at place, n *yamldoc.Node, r *MultipathRoute) {
	if hops := n.Get("hops"); hops != nil && len(hops.Items) == 1 {
		d.wrong(at.key("hops"), hops, "has one next hop, a multipath route has two or more", "write a route with one next hop under the device's routes")
	} else if hops != nil && len(hops.Items) == 0 && (hops.Kind == yamldoc.SequenceNode || hops.Kind == yamldoc.NullNode) {
		d.wrong(at.key("hops"), hops, "is empty", "")
	}
	if to := n.Get("to"); to != nil && to.Text == "default" {
		r.To = netip.PrefixFrom(netip.IPv4Unspecified(), 0)
		for _, hop := range r.Hops {
			if hop.Gateway.Is6() {
				r.To = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
			}
		}
	}
	seen := map[netstate.NextHop]bool{}
	for i, hop := range r.Hops {
		where := n.Find("hops", i)
		if hop.Gateway.IsValid() && r.To.IsValid() && hop.Gateway.Is4() != r.To.Addr().Is4() {
			d.wrong(at.key("hops").item(i), where.Find("via"), fmt.Sprintf("via %s is of another address family than to %s", hop.Gateway, r.To), "")
		}
		same := netstate.NextHop{Gateway: hop.Gateway, Link: hop.Link}
		if seen[same] {
			d.wrong(at.key("hops").item(i), where, "is the same next hop again", "give one a weight instead")
		}
		seen[same] = true
	}
}
