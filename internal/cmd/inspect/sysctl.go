package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
)

// shownSysctls are the tunables a person looks at first, whatever they are.
var shownSysctls = []string{
	"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_available_congestion_control",
	"net.core.default_qdisc", "net.ipv4.tcp_mtu_probing", "net.ipv4.conf.all.arp_ignore", "net.ipv4.conf.all.rp_filter",
}

// kernelDefaults is the one table of what tunables are where nobody changed
// them, each kernel's value where it changed (Linux 4.19 to 6.18:
// Documentation/networking/ip-sysctl.rst and admin-guide/sysctl/net.rst, and
// read off a new namespace). What hangs on memory, cores or the kernel's
// configuration is not in it. A key that ends in ".*.NAME" is each link's.
var kernelDefaults = map[string][]string{
	"net.core.busy_poll":                         {"0"},
	"net.core.busy_read":                         {"0"},
	"net.core.default_qdisc":                     {"pfifo_fast"},
	"net.core.dev_weight":                        {"64"},
	"net.core.gro_normal_batch":                  {"8"},
	"net.core.high_order_alloc_disable":          {"0"},
	"net.core.netdev_budget":                     {"300"},
	"net.core.netdev_max_backlog":                {"1000"},
	"net.core.optmem_max":                        {"20480", "131072"},
	"net.core.rmem_default":                      {"212992"},
	"net.core.rmem_max":                          {"212992", "4194304"},
	"net.core.rps_sock_flow_entries":             {"0"},
	"net.core.somaxconn":                         {"4096", "128"},
	"net.core.txrehash":                          {"1"},
	"net.core.wmem_default":                      {"212992"},
	"net.core.wmem_max":                          {"212992", "4194304"},
	"net.ipv4.fib_multipath_hash_fields":         {"7"},
	"net.ipv4.fib_multipath_hash_policy":         {"0"},
	"net.ipv4.fib_multipath_use_neigh":           {"0"},
	"net.ipv4.icmp_echo_ignore_broadcasts":       {"1"},
	"net.ipv4.icmp_ignore_bogus_error_responses": {"1"},
	"net.ipv4.ip_forward":                        {"0"},
	"net.ipv4.ip_local_port_range":               {"32768 60999"},
	"net.ipv4.ip_local_reserved_ports":           {""},
	"net.ipv4.ip_no_pmtu_disc":                   {"0"},
	"net.ipv4.tcp_adv_win_scale":                 {"1"},
	"net.ipv4.tcp_base_mss":                      {"1024"},
	"net.ipv4.tcp_congestion_control":            {"cubic"},
	"net.ipv4.tcp_dsack":                         {"1"},
	"net.ipv4.tcp_ecn":                           {"2"},
	"net.ipv4.tcp_limit_output_bytes":            {"1048576", "4194304"},
	"net.ipv4.tcp_max_reordering":                {"300"},
	"net.ipv4.tcp_min_tso_segs":                  {"2"},
	"net.ipv4.tcp_moderate_rcvbuf":               {"1"},
	"net.ipv4.tcp_mtu_probing":                   {"0"},
	"net.ipv4.tcp_no_metrics_save":               {"0"},
	"net.ipv4.tcp_notsent_lowat":                 {"4294967295"},
	"net.ipv4.tcp_pacing_ca_ratio":               {"120"},
	"net.ipv4.tcp_pacing_ss_ratio":               {"200"},
	"net.ipv4.tcp_recovery":                      {"1"},
	"net.ipv4.tcp_reordering":                    {"3"},
	"net.ipv4.tcp_rmem":                          {"4096 131072 6291456", "4096 131072 33554432", "4096 87380 6291456"},
	"net.ipv4.tcp_sack":                          {"1"},
	"net.ipv4.tcp_shrink_window":                 {"0"},
	"net.ipv4.tcp_slow_start_after_idle":         {"1"},
	"net.ipv4.tcp_syncookies":                    {"1"},
	"net.ipv4.tcp_timestamps":                    {"1"},
	"net.ipv4.tcp_tso_win_divisor":               {"3"},
	"net.ipv4.tcp_window_scaling":                {"1"},
	"net.ipv4.tcp_wmem":                          {"4096 16384 4194304"},
	"net.ipv4.udp_rmem_min":                      {"4096"},
	"net.ipv4.udp_wmem_min":                      {"4096"},
	"net.ipv6.auto_flowlabels":                   {"1"},
	"net.ipv6.fib_multipath_hash_fields":         {"7"},
	"net.ipv6.fib_multipath_hash_policy":         {"0"},
	"net.ipv6.flowlabel_consistency":             {"1"},
	"net.mptcp.add_addr_timeout":                 {"120"},
	"net.mptcp.allow_join_initial_addr_port":     {"1"},
	"net.mptcp.checksum_enabled":                 {"0"},
	"net.mptcp.enabled":                          {"1"},
	"net.mptcp.pm_type":                          {"0"},
	"net.mptcp.scheduler":                        {"default"},
	"net.ipv4.conf.*.accept_local":               {"0"},
	"net.ipv4.conf.*.accept_source_route":        {"0", "1"},
	"net.ipv4.conf.*.arp_announce":               {"0"},
	"net.ipv4.conf.*.arp_filter":                 {"0"},
	"net.ipv4.conf.*.arp_ignore":                 {"0"},
	"net.ipv4.conf.*.forwarding":                 {"0"},
	"net.ipv4.conf.*.log_martians":               {"0"},
	"net.ipv4.conf.*.rp_filter":                  {"0"},
	"net.ipv4.conf.*.secure_redirects":           {"1"},
	"net.ipv4.conf.*.send_redirects":             {"1"},
	"net.ipv4.conf.*.src_valid_mark":             {"0"},
	"net.ipv6.conf.*.accept_ra":                  {"1"},
	"net.ipv6.conf.*.disable_ipv6":               {"0"},
	"net.ipv6.conf.*.keep_addr_on_down":          {"0"},
}

// defaultsOf are the kernel's values of a key; none where it has no fixed one.
func defaultsOf(key string) []string {
	if parts := strings.Split(key, "."); len(parts) == 5 && parts[2] == "conf" {
		parts[3] = "*"
		key = strings.Join(parts, ".")
	}
	return kernelDefaults[key]
}

// printSysctls prints the tunables that matter most, and those that are not as
// the kernel sets them, with whose they are; all of them where asked for.
func printSysctls(con *console.Console, h netstate.Host, all bool) {
	first := true
	for _, key := range shownSysctls {
		if v, ok := h.Sysctls[key]; ok && !all {
			if first {
				fmt.Fprintln(con.Stdout)
			}
			first = false
			fmt.Fprint(con.Stdout, console.Wrapped(key+" = ", v.Value+changedText(key, v.Value), con.Width()))
		}
	}
	for _, scope := range []struct {
		scope netstate.Scope
		title string
	}{{netstate.ScopeNamespace, "this network namespace"}, {netstate.ScopeGlobal, "the whole machine"}} {
		var lines []string
		for _, key := range h.SysctlKeys() {
			v := h.Sysctls[key]
			changed := changedText(key, v.Value)
			if v.Scope != scope.scope || !all && (changed == "" || slices.Contains(shownSysctls, key)) {
				continue
			}
			lines = append(lines, console.Wrapped("  "+key+" = ", v.Value+changed, con.Width()))
		}
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintln(con.Stdout)
		if all {
			fmt.Fprintf(con.Stdout, "sysctls of %s:\n", scope.title)
		} else {
			fmt.Fprint(con.Stdout, console.Wrapped("", "sysctls of "+scope.title+" that are not the kernel's defaults:", con.Width()))
		}
		for _, line := range lines {
			fmt.Fprint(con.Stdout, line)
		}
	}
}

// changedText is the kernel's default behind a value that is another.
func changedText(key, value string) string {
	defaults := defaultsOf(key)
	if len(defaults) == 0 || slices.Contains(defaults, value) {
		return ""
	}
	return " (kernel: " + console.OrNone(defaults[0] != "", defaults[0]) + ")"
}
