package fabric

import (
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// keptKinds are what the keys that are kept as they were written may hold, where
// netplan itself refuses all else (netplan 1.1, src/parse.c): a reader that took
// "maybe" for no would turn it into its opposite.
var keptKinds = keptKindRows()

func keptKindRows() map[string]func(*decoder, place, *yamldoc.Node) {
	kinds := map[string]func(*decoder, place, *yamldoc.Node){
		"activation-mode": is(word("manual", "off")),
		"renderer":        is(word("networkd", "NetworkManager", "sriov")),
		"link-local":      each(word("ipv4", "ipv6")),
		ovsKey: func(d *decoder, at place, n *yamldoc.Node) {
			if lacp := n.Get("lacp"); lacp != nil {
				is(word(netstate.OVSLACPs()...))(d, at.key("lacp"), lacp)
			}
		},
		"dhcp-identifier": is(word("mac", "duid")),

		"ipv6-address-generation": is(word("eui64", "stable-privacy")),
		"nameservers": func(d *decoder, at place, n *yamldoc.Node) {
			each(address)(d, at.key("addresses"), n.Get("addresses"))
		},
	}
	for _, name := range []string{"dhcp4", "dhcp6", "accept-ra", "optional", "wakeonlan", "emit-lldp", "ignore-carrier", "critical"} {
		kinds[name] = is(truth)
	}
	for _, k := range offloadKeys {
		kinds[k[0]] = is(truth)
	}
	return kinds
}

// is holds a value against what a scalar reads.
func is[V any](s scalar[V]) func(*decoder, place, *yamldoc.Node) {
	return func(d *decoder, at place, n *yamldoc.Node) { s.decode(d, at, n) }
}

// each holds the items of a list against it.
func each[V any](s scalar[V]) func(*decoder, place, *yamldoc.Node) {
	return func(d *decoder, at place, n *yamldoc.Node) {
		if n == nil {
			return
		}
		for _, item := range n.Items {
			s.decode(d, at, item)
		}
	}
}
