package nmstate

import (
	"slices"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/node"
)

// usual are a mapping's keys that are read, or that say nothing of the network, with ""
// as their value; of others the value that they have where nobody set them, which
// nmstatectl show writes too (nmstate 2.2; a bridge's: net/bridge/br_device.c and
// br_multicast.c).
type usual map[string]string

// portLists are nmstate's words for a list of ports.
var portLists = []string{"port", "ports", "slaves"}

var (
	ofInterface = usual{
		"name": "", "type": "", "state": "", "profile-name": "", "description": "", "alt-names": "", "wait-ip": "", "identifier": "",
		"permanent-mac-address": "", "max-mtu": "", "min-mtu": "", "driver": "", "controller": "", "mtu": "", "mac-address": "", "ipv4": "", "ipv6": "",
		"link-aggregation": "", "vlan": "", "bridge": "", "ethernet": "", "ethtool": "", "mptcp": "",
	}
	// ofEthernet are what a card agreed with its partner, unless it must not.
	ofEthernet = usual{"auto-negotiation": "true", "speed": "", "duplex": ""}
	ofFixed    = usual{"auto-negotiation": "true"}
	ofFamily   = usual{
		"enabled": "", "dhcp": "", "autoconf": "", "address": "", "auto-dns": "", "auto-routes": "", "auto-route-metric": "", "allow-extra-address": "",
		"addr-gen-mode": "", "token": "", "auto-gateway": "true", "auto-route-table-id": "0", "dhcp-send-hostname": "true", "dhcp-client-id": "ll", "dhcp-duid": "ll",
	}
	ofAddress = usual{"ip": "", "prefix-length": "", "valid-life-time": "", "preferred-life-time": "", "valid-left": "", "preferred-left": ""}
	ofBond    = usual{"mode": "", "options": "", "port": "", "ports": "", "slaves": "", "ports-config": ""}
	ofVLAN    = usual{"id": "", "base-iface": "", "protocol": "", "reorder-headers": "true", "registration-protocol": "none"}
	ofBridge  = usual{"options": "", "port": "", "ports": "", "slaves": ""}
	// ofBridgeOptions are a bridge's of the kernel's.
	ofBridgeOptions = usual{
		"stp": "", "mac-ageing-time": "", "gc-timer": "", "hello-timer": "", "group-addr": "01:80:C2:00:00:00", "group-forward-mask": "0", "group-fwd-mask": "0",
		"hash-max": "4096", "multicast-snooping": "true", "multicast-router": "auto", "multicast-last-member-count": "2", "multicast-last-member-interval": "100",
		"multicast-membership-interval": "26000", "multicast-querier-interval": "25500", "multicast-query-interval": "12500",
		"multicast-query-response-interval": "1000", "multicast-startup-query-count": "2", "multicast-startup-query-interval": "3125",
		"vlan-protocol": "802.1q", "vlan-default-pvid": "1",
	}
	ofBridgePort = usual{"name": "", "stp-path-cost": "", "stp-priority": "", "vlan": ""}
	ofEthtool    = usual{"feature": "", "ring": "", "coalesce": ""}
	ofRing       = usual{"rx": "", "tx": "", "rx-max": "", "tx-max": "", "rx-mini-max": "", "rx-jumbo-max": ""}
	ofResolver   = usual{"server": "", "search": ""}
)

// rest notes what a mapping says beside what is read of it.
func (r *reader) rest(n *yamldoc.Node, where string, read usual) {
	for _, p := range node.Pairs(n) {
		value, known := read[p.Key]
		if known && (value == "" || value == node.Said(p.Value) || node.Said(p.Value) == "") || !known && idle(p.Value) {
			continue
		}
		r.miss(p.Value, where+"."+p.Key, "a fabric cannot represent it")
	}
}

// idle reports a value that asks for nothing: empty, or off.
func idle(n *yamldoc.Node) bool {
	switch n.Kind {
	case yamldoc.MappingNode:
		return !slices.ContainsFunc(n.Pairs, func(p yamldoc.Pair) bool { return !idle(p.Value) })
	case yamldoc.SequenceNode:
		return len(n.Items) == 0
	}
	return slices.Contains([]string{"", "false", "null", "~"}, n.Text)
}
