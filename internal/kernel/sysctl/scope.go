package sysctl

import (
	"strings"

	"github.com/linerate/linerate/netstate"
)

// scopes is the one table of whom a key belongs to: the longest prefix that
// matches wins; one that ends in neither "." nor "_" is a whole key. Read off the kernel's
// own registrations (register_net_sysctl with init_net for what is global:
// net/ipv4/sysctl_net_ipv4.c ipv4_table against ipv4_net_table,
// net/core/sysctl_net_core.c net_core_table against netns_core_table) and
// compared with a new namespace on 6.1 and 6.18. What is not in it is global:
// refusing too much is safer than writing past a namespace.
var scopes = [...]struct {
	prefix string
	scope  netstate.Scope
}{
	{"net.ipv4.", netstate.ScopeNamespace},
	{"net.ipv6.", netstate.ScopeNamespace},
	{"net.mptcp.", netstate.ScopeNamespace},
	{"net.unix.", netstate.ScopeNamespace},
	{"net.netfilter.", netstate.ScopeNamespace},

	{"net.ipv4.cipso_", netstate.ScopeGlobal},
	{"net.ipv4.fib_sync_mem", netstate.ScopeGlobal},
	{"net.ipv4.inet_peer_", netstate.ScopeGlobal},
	{"net.ipv4.ipfrag_secret_interval", netstate.ScopeGlobal},
	{"net.ipv4.tcp_allowed_congestion_control", netstate.ScopeGlobal},
	{"net.ipv4.tcp_available_ulp", netstate.ScopeGlobal},
	{"net.ipv4.tcp_low_latency", netstate.ScopeGlobal},
	{"net.ipv4.tcp_max_orphans", netstate.ScopeGlobal},
	{"net.ipv4.tcp_mem", netstate.ScopeGlobal},
	{"net.ipv4.udp_mem", netstate.ScopeGlobal},
	{"net.ipv6.calipso_", netstate.ScopeGlobal},
	{"net.ipv6.ip6frag_secret_interval", netstate.ScopeGlobal},
	{"net.ipv6.mld_max_msf", netstate.ScopeGlobal},
	{"net.ipv6.mld_qrv", netstate.ScopeGlobal},
	{"net.netfilter.nf_conntrack_buckets", netstate.ScopeGlobal},
	{"net.netfilter.nf_conntrack_expect_max", netstate.ScopeGlobal},
	{"net.netfilter.nf_conntrack_max", netstate.ScopeGlobal},
	{"net.netfilter.nf_log_all_netns", netstate.ScopeGlobal},

	// net.core's rmem_* and wmem_* are absent from a namespace on 6.1 and
	// read-only in one on 6.18: the first namespace's hold for all.
	// optmem_max is a namespace's own on new kernels only.
	{"net.core.rps_default_mask", netstate.ScopeNamespace},
	{"net.core.somaxconn", netstate.ScopeNamespace},
	{"net.core.txrehash", netstate.ScopeNamespace},
	{"net.core.xfrm_", netstate.ScopeNamespace},
}

// ScopeOf says whom a key belongs to, in either form of Path. A key outside
// the table, and one that is no key, is global.
func ScopeOf(key string) netstate.Scope {
	canonical, err := Canonical(key)
	if err != nil {
		return netstate.ScopeGlobal
	}
	scope, longest := netstate.ScopeGlobal, 0
	for _, s := range scopes {
		open := strings.HasSuffix(s.prefix, ".") || strings.HasSuffix(s.prefix, "_")
		matches := canonical == s.prefix || open && strings.HasPrefix(canonical, s.prefix)
		if matches && len(s.prefix) > longest {
			scope, longest = s.scope, len(s.prefix)
		}
	}
	return scope
}
