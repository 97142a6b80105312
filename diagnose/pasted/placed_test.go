package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestOptionsAlone: a bond's options without its ports, as people paste them.
func TestOptionsAlone(t *testing.T) {
	const streams = "$ iperf -c 198.51.100.1 -t 60 -P 3\n------------------------------------------------------------\nClient connecting to 198.51.100.1, TCP port 5001\nTCP window size: 85.0 KByte (default)\n------------------------------------------------------------\n" +
		"[  5] local 198.51.100.2 port A connected with 198.51.100.1 port 5001\n[  4] local 198.51.100.2 port 40212 connected with 198.51.100.1 port 5001\n[  3] local 198.51.100.2 port 40216 connected with 198.51.100.1 port 5001\n" +
		"[ ID] Interval       Transfer     Bandwidth\n[  5]  0.0-60.0 sec  2.2 GBytes  314 Mbits/sec\n[  4]  0.0-60.0 sec  2.2 GBytes  313 Mbits/sec\n[  3]  0.0-60.0 sec  2.2 GBytes  312 Mbits/sec\n[SUM]  0.0-60.0 sec  6.6 GBytes  939 Mbits/sec\n"
	const hashed = "BONDING_OPTS=\"mode=802.3ad miimon=100 xmit_hash_policy=layer3+4\"\n\n"
	check(t, []shows{
		{"even ports on an old kernel", "CentOS Linux release 7.6.1810 (Core)\n\n" + hashed + replaced(streams, "port A", "port 40210"), record.HashImbalance, 0.6, []string{"not named here", "even"}, nil},
		{"odd and even ports", "CentOS Linux release 7.6.1810 (Core)\n\n" + hashed + replaced(streams, "port A", "port 40211"), record.Unknown, 0, nil, nil},
		{"even ports on a kernel that drops the lowest bit", "Rocky Linux release 9.3 (Blue Onyx)\n\n" + hashed + replaced(streams, "port A", "port 40214"), record.Unknown, 0, nil, nil},
		{"no policy, LACP", "BONDING_OPTS=\"mode=802.3ad miimon=100\"\n", record.SingleLink, 0.4, []string{"layer2"}, nil},
		{"no policy, one of two", "BONDING_OPTS=\"mode=active-backup miimon=100\"\n", record.Unknown, 0, nil, nil},
	})
}

// TestNextHops: routes with several next hops, of both families.
func TestNextHops(t *testing.T) {
	const six = "# ip -6 route\n2001:db8:7::/48 proto bgp metric 20 pref medium\n\tnexthop via fe80::11 dev ens1 weight 1\n\tnexthop via fe80::12 dev ens2 weight 1\n"
	const bare = "$ ip route\ndefault\n\tnexthop via 192.0.2.1 dev ens1 weight 1\n\tnexthop via 198.51.100.1 dev ens2 weight 1\n10.1.0.0/24 dev ens9 proto kernel scope link src 10.1.0.1\n"
	check(t, []shows{
		{"IPv6, layer 3", "# sysctl net.ipv6.fib_multipath_hash_policy\nnet.ipv6.fib_multipath_hash_policy = 0\n" + six, record.SingleLink, 0.7, []string{"net.ipv6.fib_multipath_hash_policy=1", "flow label"}, []string{"net.ipv4"}},
		{"IPv6, layer 4", "# sysctl net.ipv6.fib_multipath_hash_policy net.ipv4.fib_multipath_hash_policy\nnet.ipv6.fib_multipath_hash_policy = 1\nnet.ipv4.fib_multipath_hash_policy = 0\n" + six, record.Unknown, 0, nil, nil},
		{"a default alone on its line", bare, record.SingleLink, 0.45, []string{"2 next hops"}, nil},
		{"the same with ports", "# sysctl net.ipv4.fib_multipath_hash_policy\nnet.ipv4.fib_multipath_hash_policy = 1\n" + bare, record.Unknown, 0, nil, nil},
		{"the word in a sentence", "By\ndefault\nit uses one way.\n\ndefault via 192.0.2.1 dev ens1\n192.0.2.0/24 dev ens1 proto kernel scope link src 192.0.2.8\n", record.Unknown, 0, nil, nil},
	})
}
