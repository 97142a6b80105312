package keyfile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/render/node"
)

// NetworkManager's words, as libnm 1.42 has them
// (src/libnm-core-impl/nm-setting-bond.c, src/libnm-base/nm-ethtool-base.c).

// features are the offloads, without their prefix "feature-".
const features = " esp-hw-offload esp-tx-csum-hw-offload fcoe-mtu gro gso highdma hw-tc-offload l2-fwd-offload loopback lro " +
	"macsec-hw-offload ntuple rx rx-all rx-fcs rx-gro-hw rx-gro-list rx-udp-gro-forwarding rx-udp_tunnel-port-offload rx-vlan-filter " +
	"rx-vlan-stag-filter rx-vlan-stag-hw-parse rxhash rxvlan sg tls-hw-record tls-hw-rx-offload tls-hw-tx-offload tso tx " +
	"tx-checksum-fcoe-crc tx-checksum-ip-generic tx-checksum-ipv4 tx-checksum-ipv6 tx-checksum-sctp tx-esp-segmentation " +
	"tx-fcoe-segmentation tx-gre-csum-segmentation tx-gre-segmentation tx-gso-list tx-gso-partial tx-gso-robust tx-ipxip4-segmentation " +
	"tx-ipxip6-segmentation tx-nocache-copy tx-scatter-gather tx-scatter-gather-fraglist tx-sctp-segmentation tx-tcp-ecn-segmentation " +
	"tx-tcp-mangleid-segmentation tx-tcp-segmentation tx-tcp6-segmentation tx-tunnel-remcsum-segmentation tx-udp-segmentation " +
	"tx-udp_tnl-csum-segmentation tx-udp_tnl-segmentation tx-vlan-stag-hw-insert txvlan "

// coalescing are the kinds of interrupt moderation, without their
// prefix "coalesce-".
const coalescing = " adaptive-rx adaptive-tx pkt-rate-high pkt-rate-low rx-frames rx-frames-high rx-frames-irq rx-frames-low " +
	"rx-usecs rx-usecs-high rx-usecs-irq rx-usecs-low sample-interval stats-block-usecs tx-frames tx-frames-high tx-frames-irq " +
	"tx-frames-low tx-usecs tx-usecs-high tx-usecs-irq tx-usecs-low "

// Coalesce is NetworkManager's word for one of ethtool -C, which calls
// some "rx-frame-low"; "" for one that it lacks.
func Coalesce(name string) string {
	name = strings.Replace(name, "-frame-", "-frames-", 1)
	if strings.Contains(coalescing, " "+name+" ") {
		return name
	}
	return ""
}

// routeOptions are the words of routeN_options (nm_ip_route_attribute_validate)
// and netplan's keys.
var routeOptions = [...]struct{ word, key string }{
	{"table", "table"}, {"src", "from"}, {"onlink", "on-link"}, {"mtu", "mtu"}, {"type", "type"}, {"scope", "scope"},
	{"cwnd", "congestion-window"}, {"initrwnd", "advertised-receive-window"}, {"advmss", "advertised-mss"},
}

// linkLocalOn is [ipv4] link-local for addresses beside those of the method, of
// linkLocalWords that leave it to the method or say no (NMSettingIP4LinkLocal).
const linkLocalOn = "3"

var linkLocalWords = map[string]bool{"0": true, "1": true, "2": true, linkLocalOn: true}

// scopeNumbers are the scopes of routes (RT_SCOPE_UNIVERSE and its like).
var scopeNumbers = map[string]string{"global": "0", "link": "253", "host": "254"}

// mptcpFlagNumbers are the flags of connection.mptcp-flags by ip-mptcp(8)'s
// words (NMMptcpFlags). Those of an endpoint go with enabled and
// also-without-default-route: what the file names is wanted on links without a
// default route too.
var mptcpFlagNumbers = map[string]int{"signal": 0x10, "subflow": 0x20, "backup": 0x40, "fullmesh": 0x80}

const mptcpEnabled = 0x2 | 0x8

// key is a key of a connection and the key of netplan that says the same, as
// both are written and read.
type key struct {
	group, word, netplan string
	form
}

// form turns a value of netplan's into NetworkManager's and back; false for one
// that the other has no word for. Read gives "" for what says nothing.
type form struct {
	write func(string) string
	read  func(string) (string, bool)
}

// keys is the one table of them (nm-settings-keyfile(5); netplan-yaml.md).
var keys = slices.Concat([]key{
	{"bridge", "stp", "parameters.stp", number}, {"bridge", "priority", "parameters.priority", number},
	{"bridge", "forward-delay", "parameters.forward-delay", number}, {"bridge", "hello-time", "parameters.hello-time", number},
	{"bridge", "max-age", "parameters.max-age", number}, {"bridge", "ageing-time", "parameters.ageing-time", number},
	{"ethernet", "mtu", "mtu", form{asIs, readMTU}}, {"ethernet", "cloned-mac-address", "macaddress", form{writeMAC, readMAC}},
	{"ethernet", "wake-on-lan", "wakeonlan", either("64", "0")}, // 64 is the magic packet
}, overrides("ipv4", "dhcp4"), []key{
	{"ipv4", "dhcp-client-id", "dhcp-identifier", oneOf("mac", "duid")},
}, overrides("ipv6", "dhcp6"), []key{
	{"ipv6", "mtu", "ipv6-mtu", form{asIs, readMTU}}, {"ipv6", "ip6-privacy", "ipv6-privacy", either("2", "0")},
	{"ipv6", "addr-gen-mode", "ipv6-address-generation", form{writeGeneration, readGeneration}}, {"ipv6", "token", "ipv6-address-token", text},
})

// overrides are netplan's dhcp4-overrides or dhcp6-overrides.
func overrides(group, dhcp string) []key {
	return []key{
		{group, "ignore-auto-dns", dhcp + "-overrides.use-dns", either("false", "true")},
		{group, "ignore-auto-routes", dhcp + "-overrides.use-routes", either("false", "true")},
		{group, "route-metric", dhcp + "-overrides.route-metric", form{asIs, readMetric}},
		{group, "dhcp-send-hostname", dhcp + "-overrides.send-hostname", text},
		{group, "dhcp-hostname", dhcp + "-overrides.hostname", text},
	}
}

var (
	text   = form{asIs, func(s string) (string, bool) { return s, true }}
	number = form{asIs, func(s string) (string, bool) {
		_, err := strconv.ParseUint(s, 10, 31)
		return s, err == nil || s == "true" || s == "false"
	}}
)

func asIs(s string) string { return s }

// oneOf has the same words on both sides.
func oneOf(words ...string) form {
	return form{asIs, func(s string) (string, bool) { return s, slices.Contains(words, s) }}
}

// either has one word for true and one for false.
func either(yes, no string) form {
	return form{func(s string) string {
		if node.Yes(s) {
			return yes
		}
		return no
	}, func(s string) (string, bool) { return strconv.FormatBool(s == yes), s == yes || s == no }}
}

func readMetric(s string) (string, bool) { _, err := strconv.Atoi(s); return s, err == nil }

// readMTU reads sizes: 0 and auto leave it to the device.
func readMTU(s string) (string, bool) {
	if s == "0" || s == "auto" {
		return "", true
	}
	n, err := strconv.Atoi(s)
	return s, err == nil && n > 0 && n <= 65536
}

// writeMAC writes addresses, and NetworkManager's words for making one up.
func writeMAC(s string) string {
	if _, err := flow.ParseMAC(s); err != nil {
		return s
	}
	return strings.ToUpper(s)
}

func readMAC(s string) (string, bool) {
	if slices.Contains([]string{"permanent", "random", "stable", "stable-ssid", "preserve"}, s) {
		return s, true
	}
	_, err := flow.ParseMAC(s)
	return strings.ToLower(s), err == nil
}

func writeGeneration(s string) string {
	if s == "eui64" {
		return "0"
	}
	return "1"
}

// readGeneration reads numbers and words (NMSettingIP6ConfigAddrGenMode); the defaults
// are what the daemon's own configuration says.
func readGeneration(s string) (string, bool) {
	said, known := map[string]string{"0": "eui64", "1": "stable-privacy", "2": "", "3": "", "eui64": "eui64", "stable-privacy": "stable-privacy", "default-or-eui64": "", "default": ""}[s]
	return said, known
}

// keys writes the keys of a group that the fabric says.
func (c *connection) keys(group string) {
	for _, k := range keys {
		if said := c.Text(k.netplan); k.group == group && said != "" {
			c.set(group, k.word, k.write(said))
			c.ledger.Say(c.ID, k.netplan)
		}
	}
}

// keys reads the keys of a group.
func (r *connectionReader) keys(group string) {
	for _, k := range keys {
		l, there := r.file.find(group, k.word)
		if k.group != group || !there {
			continue
		}
		said, ok := k.read(l.value)
		if !ok {
			r.refuse(l, "a fabric has no such value")
			continue
		}
		r.used[l.number] = true
		if k.word == "route-metric" && (r.metric(group) == "" || !slices.Contains([]string{"", "auto", "dhcp"}, r.file.value(group, "method"))) {
			continue // it is the routes' own, or left to NetworkManager
		}
		if said != "" {
			node.PutAt(r.entry, k.netplan, node.Text(said))
		}
	}
}
