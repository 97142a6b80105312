package fabric

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// keptKind judges the value of a key that is kept as it was written.
type keptKind func(*decoder, place, *yamldoc.Node)

// keptKinds are what the keys that are kept as they were written may hold, where
// netplan itself refuses all else (netplan 1.2.2, the handlers of src/parse.c): a reader
// that took "maybe" for no would turn it into its opposite.
var keptKinds = keptKindRows()

func keptKindRows() map[string]keptKind {
	number, text := is(integer(0, 1<<32-1)), is(free)
	switches := func(into map[string]keptKind, names ...string) map[string]keptKind {
		for _, name := range names {
			into[name] = is(truth)
		}
		return into
	}
	overrides := mapping("dhcp_overrides", switches(map[string]keptKind{"hostname": text, "route-metric": number, "use-domains": text},
		"send-hostname", "use-dns", "use-hostname", "use-mtu", "use-ntp", "use-routes"))
	kinds := map[string]keptKind{
		"activation-mode": is(word("manual", "off")),
		"renderer":        deviceRenderer,
		"link-local":      each(word("ipv4", "ipv6")),
		ovsKey: func(d *decoder, at place, n *yamldoc.Node) {
			if lacp := n.Get("lacp"); lacp != nil {
				is(word(netstate.OVSLACPs()...))(d, at.key("lacp"), lacp)
			}
		},
		"dhcp-identifier": is(word("mac", "duid")),

		"ipv6-address-generation": is(word("eui64", "stable-privacy")),
		"ipv6-address-token":      is(tokenAddress),
		"ipv6-mtu":                number,
		"optional-addresses":      each(word("ipv4-ll", "ipv6-ra", "dhcp4", "dhcp6", "static")),
		"infiniband-mode":         is(word("datagram", "connected")),
		"embedded-switch-mode":    is(word("switchdev", "legacy")),
		"virtual-function-count":  number,
		"dhcp4-overrides":         overrides, "dhcp6-overrides": overrides,
		"ra-overrides": mapping("ra_overrides", switches(map[string]keptKind{"use-domains": is(truthOr("route")), "table": number}, "use-dns")),
		"nameservers":  mapping("nameservers", map[string]keptKind{"addresses": each(address), "search": each(free)}),
		"networkmanager": mapping("networkmanager", map[string]keptKind{"name": text, "uuid": text, "stable-id": text, "device": text,
			"passthrough": func(d *decoder, at place, n *yamldoc.Node) { d.want(at, n, yamldoc.MappingNode) }}),
		"congestion-window": number, "advertised-receive-window": number, "advertised-mss": number,
	}
	switches(kinds, "dhcp4", "dhcp6", "accept-ra", "optional", "wakeonlan", "emit-lldp", "ignore-carrier", "critical", "ipv6-privacy",
		"hairpin", "port-mac-learning", "neigh-suppress", "delay-virtual-functions-rebind")
	for _, k := range offloadKeys {
		kinds[k[0]] = is(truth)
	}
	return kinds
}

// sectionRenderer is the word for all devices of a section.
var sectionRenderer = word("networkd", "NetworkManager")

// deviceRenderer is that of one device; a VLAN's may be the card's filter
// (handle_netdef_renderer).
func deviceRenderer(d *decoder, at place, n *yamldoc.Node) {
	if strings.Contains(string(at), ".vlans.") {
		is(word("networkd", "NetworkManager", "sriov"))(d, at, n)
		return
	}
	is(sectionRenderer)(d, at, n)
}

// is judges a value by what a scalar reads.
func is[V any](s scalar[V]) keptKind {
	return func(d *decoder, at place, n *yamldoc.Node) { s.decode(d, at, n) }
}

// each judges the items of a list by it.
func each[V any](s scalar[V]) keptKind {
	return func(d *decoder, at place, n *yamldoc.Node) {
		if n == nil || !d.want(at, n, yamldoc.SequenceNode) {
			return
		}
		for _, item := range n.Items {
			s.decode(d, at, item)
		}
	}
}

// mapping judges a mapping's keys and their values by what is known.
func mapping(name string, kinds map[string]keptKind) keptKind {
	o := object[struct{}]{name: name}
	for _, key := range SortedNames(kinds) {
		o.keys = append(o.keys, keyOf(key, kinds[key]))
	}
	return func(d *decoder, at place, n *yamldoc.Node) { o.decode(d, at, n, &struct{}{}) }
}

func keyOf(name string, kind keptKind) key[struct{}] {
	return key[struct{}]{name: name, value: reader[struct{}]{read: func(d *decoder, at place, n *yamldoc.Node, _ *struct{}) {
		if n.Kind != yamldoc.NullNode {
			kind(d, at, n)
		}
	}}}
}

// truthOr is yes, no, or one word more.
func truthOr(more string) scalar[string] {
	return scalar[string]{
		schema: either(truth.schema, map[string]any{"const": more}),
		parse: func(s string) (string, error) {
			if _, err := yamldoc.ParseBool(s); err != nil && !strings.EqualFold(s, more) {
				return "", fmt.Errorf("%q is neither true nor false nor %s", s, more)
			}
			return s, nil
		},
		hint: "write true, false or " + more,
	}
}

// tokenAddress is the lower half of an IPv6 address, as one (handle_netdef_addrtok).
var tokenAddress = scalar[netip.Addr]{
	schema: address.schema,
	parse: func(s string) (netip.Addr, error) {
		a, err := netip.ParseAddr(s)
		if err != nil || !a.Is6() || a.Zone() != "" {
			return a, fmt.Errorf("%q is no IPv6 address", s)
		}
		return a, nil
	},
	hint: `write the lower half of the address: "::2"`,
}

// bridgeParameters are what netplan takes for a bridge (bridge_params_handlers).
var bridgeParameters = mapping("bridge_parameters", map[string]keptKind{
	"ageing-time": is(free), "aging-time": is(free), "forward-delay": is(free), "hello-time": is(free), "max-age": is(free),
	"priority": is(integer(0, 1<<32-1)), "stp": is(truth),
	"path-cost": byPort(integer(0, 1<<32-2)), "port-priority": byPort(integer(0, 63)),
})

// byPort judges values that stand by a bridge's ports by what a scalar reads.
func byPort(s scalar[int]) keptKind {
	return func(d *decoder, at place, n *yamldoc.Node) {
		if d.want(at, n, yamldoc.MappingNode) {
			for _, p := range n.Pairs {
				s.decode(d, at.key(p.Key), p.Value)
			}
		}
	}
}
