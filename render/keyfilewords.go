package render

import (
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
)

// NetworkManager's words, as libnm 1.42 has them
// (src/libnm-core-impl/nm-setting-bond.c, src/libnm-base/nm-ethtool-base.c).

// keyfileOptionOf is how the [bond] section says an option, by either name of
// the kernel; false for one that NetworkManager does not know.
func keyfileOptionOf(name string) (bondopt.Saying, bool) {
	o, twin := bondopt.ByTwin(name)
	if !twin {
		o, _ = bondopt.Find(name)
	}
	return o.Saying(bondopt.Keyfile)
}

// keyfileFeatures are the offloads, without their prefix "feature-".
const keyfileFeatures = " esp-hw-offload esp-tx-csum-hw-offload fcoe-mtu gro gso highdma hw-tc-offload l2-fwd-offload loopback lro " +
	"macsec-hw-offload ntuple rx rx-all rx-fcs rx-gro-hw rx-gro-list rx-udp-gro-forwarding rx-udp_tunnel-port-offload rx-vlan-filter " +
	"rx-vlan-stag-filter rx-vlan-stag-hw-parse rxhash rxvlan sg tls-hw-record tls-hw-rx-offload tls-hw-tx-offload tso tx " +
	"tx-checksum-fcoe-crc tx-checksum-ip-generic tx-checksum-ipv4 tx-checksum-ipv6 tx-checksum-sctp tx-esp-segmentation " +
	"tx-fcoe-segmentation tx-gre-csum-segmentation tx-gre-segmentation tx-gso-list tx-gso-partial tx-gso-robust tx-ipxip4-segmentation " +
	"tx-ipxip6-segmentation tx-nocache-copy tx-scatter-gather tx-scatter-gather-fraglist tx-sctp-segmentation tx-tcp-ecn-segmentation " +
	"tx-tcp-mangleid-segmentation tx-tcp-segmentation tx-tcp6-segmentation tx-tunnel-remcsum-segmentation tx-udp-segmentation " +
	"tx-udp_tnl-csum-segmentation tx-udp_tnl-segmentation tx-vlan-stag-hw-insert txvlan "

// keyfileCoalescing are the kinds of interrupt moderation, without their
// prefix "coalesce-".
const keyfileCoalescing = " adaptive-rx adaptive-tx pkt-rate-high pkt-rate-low rx-frames rx-frames-high rx-frames-irq rx-frames-low " +
	"rx-usecs rx-usecs-high rx-usecs-irq rx-usecs-low sample-interval stats-block-usecs tx-frames tx-frames-high tx-frames-irq " +
	"tx-frames-low tx-usecs tx-usecs-high tx-usecs-irq tx-usecs-low "

// keyfileCoalesce is NetworkManager's word for one of ethtool -C, which calls
// some "rx-frame-low"; "" for one that it lacks.
func keyfileCoalesce(name string) string {
	name = strings.Replace(name, "-frame-", "-frames-", 1)
	if strings.Contains(keyfileCoalescing, " "+name+" ") {
		return name
	}
	return ""
}

// keyfileOffloads are netplan's names of offloads by ethtool's, which
// NetworkManager's are too.
var keyfileOffloads = [...][2]string{
	{"receive-checksum-offload", "rx"}, {"transmit-checksum-offload", "tx"}, {"tcp-segmentation-offload", "tso"},
	{"tcp6-segmentation-offload", "tx-tcp6-segmentation"}, {"generic-segmentation-offload", "gso"},
	{"generic-receive-offload", "gro"}, {"large-receive-offload", "lro"},
}

// keyfileRouteOptions are a route's unread netplan keys by the words of
// routeN_options (nm_ip_route_attribute_validate).
var keyfileRouteOptions = [...][2]string{
	{"congestion-window", "cwnd"}, {"advertised-receive-window", "initrwnd"}, {"advertised-mss", "advmss"},
}

// keyfileOverrides are netplan's dhcp4-overrides and dhcp6-overrides: the
// section's word, and whether it says the opposite.
var keyfileOverrides = [...]struct {
	netplan, word string
	opposite      bool
}{
	{"use-dns", "ignore-auto-dns", true}, {"use-routes", "ignore-auto-routes", true}, {"route-metric", "route-metric", false},
	{"send-hostname", "dhcp-send-hostname", false}, {"hostname", "dhcp-hostname", false},
}

// keyfileBridge are netplan's bridge parameters by NetworkManager's.
var keyfileBridge = [...][2]string{
	{"stp", "stp"}, {"priority", "priority"}, {"forward-delay", "forward-delay"}, {"hello-time", "hello-time"},
	{"max-age", "max-age"}, {"ageing-time", "ageing-time"},
}

// mptcpFlagNumbers are the flags of connection.mptcp-flags by ip-mptcp(8)'s
// words (NMMptcpFlags). Those of an endpoint go with enabled and
// also-without-default-route: what the file names is wanted on links without a
// default route too.
var mptcpFlagNumbers = map[string]int{"signal": 0x10, "subflow": 0x20, "backup": 0x40, "fullmesh": 0x80}

const mptcpEnabled = 0x2 | 0x8
