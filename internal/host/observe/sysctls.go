package observe

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/advise/profile"
	"github.com/linerate/linerate/netstate"
)

// hostKeys are the tunables that decide throughput, or explain it, once a
// host or namespace.
var hostKeys = []string{
	"net.core.busy_poll",
	"net.core.busy_read",
	"net.core.default_qdisc",
	"net.core.dev_weight",
	"net.core.flow_limit_table_len",
	"net.core.gro_normal_batch",
	"net.core.high_order_alloc_disable",
	"net.core.netdev_budget",
	"net.core.netdev_budget_usecs",
	"net.core.netdev_max_backlog",
	"net.core.optmem_max",
	"net.core.rmem_default",
	"net.core.rmem_max",
	"net.core.rps_sock_flow_entries",
	"net.core.somaxconn",
	"net.core.txrehash",
	"net.core.wmem_default",
	"net.core.wmem_max",
	"net.ipv4.fib_multipath_hash_fields",
	"net.ipv4.fib_multipath_hash_policy",
	"net.ipv4.fib_multipath_hash_seed",
	"net.ipv4.fib_multipath_use_neigh",
	"net.ipv4.ip_forward",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.ip_local_reserved_ports",
	"net.ipv4.ip_no_pmtu_disc",
	"net.ipv4.ipfrag_low_thresh",
	"net.ipv4.tcp_adv_win_scale",
	"net.ipv4.tcp_allowed_congestion_control",
	"net.ipv4.tcp_available_congestion_control",
	"net.ipv4.tcp_base_mss",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_dsack",
	"net.ipv4.tcp_ecn",
	"net.ipv4.tcp_fack",
	"net.ipv4.tcp_limit_output_bytes",
	"net.ipv4.tcp_low_latency",
	"net.ipv4.tcp_max_orphans",
	"net.ipv4.tcp_max_reordering",
	"net.ipv4.tcp_max_tw_buckets",
	"net.ipv4.tcp_mem",
	"net.ipv4.tcp_min_tso_segs",
	"net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_mtu_probing",
	"net.ipv4.tcp_no_metrics_save",
	"net.ipv4.tcp_no_ssthresh_metrics_save",
	"net.ipv4.tcp_notsent_lowat",
	"net.ipv4.tcp_pacing_ca_ratio",
	"net.ipv4.tcp_pacing_ss_ratio",
	"net.ipv4.tcp_rcvbuf_low_rtt",
	"net.ipv4.tcp_recovery",
	"net.ipv4.tcp_reordering",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack",
	"net.ipv4.tcp_shrink_window",
	"net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_timestamps",
	"net.ipv4.tcp_tso_rtt_log",
	"net.ipv4.tcp_tso_win_divisor",
	"net.ipv4.tcp_tw_recycle",
	"net.ipv4.tcp_window_scaling",
	"net.ipv4.tcp_wmem",
	"net.ipv4.udp_mem",
	"net.ipv4.udp_rmem_min",
	"net.ipv4.udp_wmem_min",
	"net.ipv6.auto_flowlabels",
	"net.ipv6.fib_multipath_hash_fields",
	"net.ipv6.fib_multipath_hash_policy",
	"net.ipv6.flowlabel_consistency",
	"net.mptcp.add_addr_timeout",
	"net.mptcp.allow_join_initial_addr_port",
	"net.mptcp.checksum_enabled",
	"net.mptcp.enabled",
	"net.mptcp.pm_type",
	"net.mptcp.scheduler",
	"net.netfilter.nf_conntrack_count",
	"net.netfilter.nf_conntrack_max",
	"kernel.numa_balancing",
	"vm.min_free_kbytes",
}

// linkKeys are the settings of one link (of "all" and "default" too) by
// family: which answers ARP, which drops by the reverse path.
var linkKeys = map[string][]string{
	"ipv4": {"accept_local", "arp_announce", "arp_filter", "arp_ignore", "forwarding", "rp_filter", "src_valid_mark"},
	"ipv6": {"accept_ra", "disable_ipv6", "keep_addr_on_down", mtu6},
}

// mtu6 is a link's MTU for IPv6. It is told where it is not the link's own: a router, or
// a person, has made it a lower one.
const mtu6 = "mtu"

// withoutSameMTU takes the MTUs for IPv6 away that say what their links do, and that
// nobody asked for.
func withoutSameMTU(values map[string]netstate.Sysctl, links []netstate.Link, asked []string) {
	for _, l := range links {
		if key := netstate.LinkSysctl("ipv6", l.Name, mtu6); values[key].Value == strconv.Itoa(l.MTU) && !slices.Contains(asked, key) {
			delete(values, key)
		}
	}
}

// sysctlKeys lists what to read of a host with these links.
func sysctlKeys(links []netstate.Link) []string {
	keys := append([]string(nil), hostKeys...)
	for _, family := range []string{"ipv4", "ipv6"} {
		for _, link := range append([]string{"all", "default"}, configured(links)...) {
			for _, name := range linkKeys[family] {
				if name == mtu6 && (link == "all" || link == "default") {
					continue // that is no link's
				}
				keys = append(keys, netstate.LinkSysctl(family, link, name))
			}
		}
	}
	keys = append(keys, profile.Keys(links)...)
	// What has a default for new links is a setting of each.
	for _, family := range []string{"ipv4", "ipv6"} {
		for _, key := range slices.Clone(keys) {
			name, ok := strings.CutPrefix(key, "net."+family+".conf.default.")
			if !ok {
				continue
			}
			for _, link := range configured(links) {
				keys = append(keys, netstate.LinkSysctl(family, link, name))
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// manyLinks is from how many links on only those with an address are looked at:
// a host of containers has thousands of others.
const manyLinks = 256

// configured are the links whose own settings are read: with few links all of
// them, for a link keeps its settings when its addresses go.
func configured(links []netstate.Link) []string {
	var names []string
	for _, l := range links {
		if (len(l.Addresses) > 0 || len(links) < manyLinks) && l.Kind != "loopback" {
			names = append(names, l.Name)
		}
	}
	return names
}
