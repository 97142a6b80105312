package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// lagg's words (lagg(4), ifconfig(8)) for those of the bonding driver.
var (
	laggProtocols = map[string]string{
		"802.3ad": "lacp", "active-backup": "failover", "balance-xor": "loadbalance", "balance-rr": "roundrobin", "broadcast": "broadcast",
	}
	laggHashes = map[string]string{"layer2": "l2", "layer2+3": "l2,l3", "layer3+4": "l3,l4"}
)

// freebsdOffloads are ifconfig(8)'s words by ethtool's.
var freebsdOffloads = map[string]string{"lro": "lro", "tso": "tso", "rx": "rxcsum", "tx": "txcsum", "rxvlan": "vlanhwtag", "txvlan": "vlanhwtag"}

// otherSysctl is a Linux tunable's counterpart elsewhere.
type otherSysctl struct {
	linux, other string
	// value turns the value over; false where it has no counterpart.
	value func(string) (string, bool)
}

func same(s string) (string, bool) { _, err := strconv.Atoi(s); return s, err == nil }

func inverted(s string) (string, bool) {
	switch s {
	case "0":
		return "1", true
	case "1":
		return "0", true
	}
	return "", false
}

// onlyOn has a counterpart for 1 and 2 only.
func onlyOn(s string) (string, bool) { return "1", s == "1" || s == "2" }

// largest is the last of several numbers: a buffer's most.
func largest(s string) (string, bool) {
	fields := strings.Fields(s)
	if len(fields) == 0 {
		return "", false
	}
	return same(fields[len(fields)-1])
}

func oneOf(words ...string) func(string) (string, bool) {
	return func(s string) (string, bool) { return s, slices.Contains(words, s) }
}

// freebsdSysctls is the one table of tunables that FreeBSD has too (tcp(4),
// inet(4), inet6(4), icmp(4), and the tuning advice of tuning(7)).
var freebsdSysctls = []otherSysctl{
	{"net.ipv4.tcp_rmem", "net.inet.tcp.recvbuf_max", largest},
	{"net.ipv4.tcp_wmem", "net.inet.tcp.sendbuf_max", largest},
	{"net.core.rmem_max", "kern.ipc.maxsockbuf", same},
	{"net.core.wmem_max", "kern.ipc.maxsockbuf", same},
	{"net.core.somaxconn", "kern.ipc.soacceptqueue", same},
	{"net.ipv4.tcp_congestion_control", "net.inet.tcp.cc.algorithm", oneOf("cubic", "htcp", "vegas", "dctcp")},
	{"net.ipv4.tcp_mtu_probing", "net.inet.tcp.pmtud_blackhole_detection", onlyOn},
	{"net.ipv4.tcp_syncookies", "net.inet.tcp.syncookies", onlyOn},
	{"net.ipv4.tcp_timestamps", "net.inet.tcp.rfc1323", same},
	{"net.ipv4.tcp_sack", "net.inet.tcp.sack.enable", same},
	{"net.ipv4.ip_forward", "net.inet.ip.forwarding", same},
	{"net.ipv6.conf.all.forwarding", "net.inet6.ip6.forwarding", same},
	{"net.ipv4.conf.all.accept_redirects", "net.inet.icmp.drop_redirect", inverted},
	{"net.ipv6.conf.all.accept_redirects", "net.inet6.icmp6.rediraccept", same},
	{"net.ipv4.conf.all.send_redirects", "net.inet.ip.redirect", same},
	{"net.ipv4.conf.all.accept_source_route", "net.inet.ip.accept_sourceroute", same},
	{"net.ipv4.icmp_echo_ignore_broadcasts", "net.inet.icmp.bmcastecho", inverted},
}

// others are the counterparts of the tunables that the host wants. Several
// that share one get the largest value, and a socket's most is never below a
// connection's.
func counterparts(in Input, l *ledger, table []otherSysctl) map[string]string {
	all := map[string]string{}
	sysctls := in.sysctls()
	for _, row := range table {
		value, wanted := sysctls[row.linux]
		if !wanted {
			continue
		}
		text, ok := row.value(value)
		if !ok {
			l.cannot("", "sysctl."+row.linux, fmt.Sprintf("%s has no counterpart of %q", row.other, value))
			continue
		}
		l.say("", "sysctl."+row.linux)
		if was, twice := all[row.other]; !twice || number(text) > number(was) {
			all[row.other] = text
		}
	}
	return all
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
