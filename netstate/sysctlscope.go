package netstate

import (
	"slices"
	"strings"
)

// globalSysctls are the network tunables that network namespaces share
// although their neighbours are per namespace: ipv4_table in
// net/ipv4/sysctl_net_ipv4.c, and net_core_table in net/core/sysctl_net_core.c
// with the exceptions in namespacedCore.
var globalSysctls = []string{
	"net.ipv4.tcp_mem", "net.ipv4.udp_mem", "net.ipv4.tcp_max_orphans", "net.ipv4.tcp_low_latency",
	"net.ipv4.tcp_available_ulp", "net.ipv4.tcp_available_congestion_control", "net.ipv4.inet_peer_threshold",
	"net.ipv4.inet_peer_minttl", "net.ipv4.inet_peer_maxttl", "net.ipv4.fib_sync_mem",
}

var namespacedCore = []string{"net.core.somaxconn", "net.core.txrehash", "net.core.optmem_max"}

// ScopeOf says whether a tunable belongs to a network namespace.
func ScopeOf(name string) Scope {
	switch {
	case slices.Contains(globalSysctls, name):
		return ScopeGlobal
	case slices.Contains(namespacedCore, name):
		return ScopeNamespace
	case strings.HasPrefix(name, "net.core."):
		return ScopeGlobal
	case strings.HasPrefix(name, "net."):
		return ScopeNamespace
	}
	return ScopeGlobal
}
