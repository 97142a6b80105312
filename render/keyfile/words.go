package keyfile

import (
	"strings"
)

// NetworkManager's words, as libnm 1.42 has them
// (src/libnm-core-impl/nm-setting-bond.c, src/libnm-base/nm-ethtool-base.c).

// BondOption is one option of the [bond] section.
type BondOption struct {
	name string
	// modes are those that NetworkManager takes the option in; "" is all. A
	// file with the option in another mode is refused as a whole.
	modes string
	// since is the first release that knows the option; "" all of interest.
	// Earlier ones drop it.
	since string
}

const (
	modesPrimary = "active-backup balance-tlb balance-alb"
	modesARP     = "balance-rr active-backup balance-xor broadcast"
)

var bondOptions = [...]BondOption{
	{"mode", "", ""}, {"miimon", "", ""}, {"updelay", "", ""}, {"downdelay", "", ""}, {"peer_notif_delay", "", "1.30"},
	{"xmit_hash_policy", "", ""}, {"min_links", "", ""}, {"all_slaves_active", "", ""}, {"resend_igmp", "", ""},
	{"num_grat_arp", "", ""}, {"num_unsol_na", "", ""}, {"lp_interval", "", ""}, {"use_carrier", "", ""},
	{"primary_reselect", "", ""}, {"fail_over_mac", "", ""}, {"arp_all_targets", "", ""}, {"ad_select", "", ""},
	{"lacp_rate", "802.3ad", ""}, {"lacp_active", "802.3ad", "1.44"},
	{"ad_actor_sys_prio", "802.3ad", ""}, {"ad_actor_system", "802.3ad", ""}, {"ad_user_port_key", "802.3ad", ""},
	{"packets_per_slave", "balance-rr", ""}, {"tlb_dynamic_lb", "balance-tlb balance-alb", ""},
	{"primary", modesPrimary, ""}, {"active_slave", modesPrimary, ""},
	{"arp_interval", modesARP, ""}, {"arp_ip_target", modesARP, ""}, {"arp_validate", modesARP, ""},
	{"arp_missed_max", modesARP, "1.44"}, {"ns_ip6_target", modesARP, "1.44"},
}

// BondOptionOf returns an option by its name; false for one that
// NetworkManager lacks.
func BondOptionOf(name string) (BondOption, bool) {
	for _, o := range bondOptions {
		if o.name == name {
			return o, true
		}
	}
	return BondOption{}, false
}

// Takes reports whether NetworkManager takes the option in the mode.
func (o BondOption) Takes(mode string) bool {
	if o.modes == "" {
		return true
	}
	for _, m := range strings.Fields(o.modes) {
		if m == mode {
			return true
		}
	}
	return false
}

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

// scopeNumbers are the scopes of routes (RT_SCOPE_UNIVERSE and its like).
var scopeNumbers = map[string]string{"global": "0", "link": "253", "host": "254"}

// mptcpFlagNumbers are the flags of connection.mptcp-flags by ip-mptcp(8)'s
// words (NMMptcpFlags). Those of an endpoint go with enabled and
// also-without-default-route: what the file names is wanted on links without a
// default route too.
var mptcpFlagNumbers = map[string]int{"signal": 0x10, "subflow": 0x20, "backup": 0x40, "fullmesh": 0x80}

const mptcpEnabled = 0x2 | 0x8
