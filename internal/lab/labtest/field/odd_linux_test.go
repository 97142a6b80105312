package field

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/unit"
)

// odd are networks of unusual shapes that are well.
func odd() []kind { return slices.Concat(usualOdd(), furtherOdd(), rarerOdd(), laterOdd()) }

func usualOdd() []kind {
	line := func(name, script string) kind {
		return kind{name: name, shape: "cable", done: func(*stand) string { return script }}
	}
	onEach := func(script string) string {
		var out string
		for i, host := range []string{"a", "b"} {
			out += strings.NewReplacer("HOST", host, "N", fmt.Sprint(i+1)).Replace(script)
		}
		return out
	}
	return []kind{
		{name: "VXLAN", shape: "overlay", done: func(s *stand) string { return s.overlaid("vxlan", 1450) }},
		{name: "Geneve", shape: "overlay", done: func(s *stand) string { return s.overlaid("geneve", 1450) }},
		{name: "GRE", shape: "overlay", done: func(s *stand) string { return s.overlaid("gre", 1476) }},
		{name: "IPIP", shape: "overlay", done: func(s *stand) string { return s.overlaid("ipip", 1480) }},
		{name: "addresses on lo, two next hops", shape: "ecmp", suit: func(s *stand) { s.flows = 16 }},
		{name: "addresses on lo", shape: "routed", done: func(s *stand) string {
			return "a: ip addr add 10.98.0.1/32 dev lo\nb: ip addr add 10.98.0.2/32 dev lo\na: ip route add 10.98.0.2/32 via 10.9.1.254 src 10.98.0.1\nb: ip route add 10.98.0.1/32 via 10.9.2.254 src 10.98.0.2\nm: ip route add 10.98.0.1/32 via 10.9.1.1\nm: ip route add 10.98.0.2/32 via 10.9.2.1\n"
		}},
		{name: "a router between", shape: "routed"},
		{name: "two subnets", shape: "two"},
		{name: "a bond", shape: "bond", suit: func(s *stand) { s.flows = 8 }},
		{name: "a static bond", shape: "xor", suit: func(s *stand) { s.flows = 8 }},
		line("a VLAN", onEach("HOST: ip addr flush dev eth0\nHOST: ip link add link eth0 name eth0.7 type vlan id 7\nHOST: ip link set eth0.7 up\nHOST: ip addr add 10.9.0.N/24 dev eth0.7\n")),
		line("VLANs in VLANs", onEach("HOST: ip addr flush dev eth0\nHOST: ip link add link eth0 name eth0.7 type vlan id 7\nHOST: ip link set eth0.7 up\nHOST: ip link add link eth0.7 name inner type vlan id 9\nHOST: ip link set inner mtu 1496 up\nHOST: ip addr add 10.9.0.N/24 dev inner\n")),
		line("a bridge on each host", bridged("eth0")),
		{name: "bridges over bonds", shape: "bond", suit: func(s *stand) { s.flows = 8 }, done: func(*stand) string { return bridged("bond0") }},
		line("macvlans", onEach("HOST: ip addr flush dev eth0\nHOST: ip link add mv0 link eth0 type macvlan mode bridge\nHOST: ip link set mv0 up\nHOST: ip addr add 10.9.0.N/24 dev mv0\n")),
		line("IPv6 alone", onEach("HOST: ip addr flush dev eth0\nHOST: ip addr add fd00:9::N/64 dev eth0 nodad\n")),
		line("other addresses beside", onEach("HOST: ip link add d0 type dummy\nHOST: ip link set d0 up\nHOST: ip addr add 172.17.N.1/16 dev d0\n")),
		line("a bridge without ports beside", onEach("HOST: ip link add br7 type bridge\nHOST: ip link set br7 up\nHOST: ip addr add 172.18.N.1/16 dev br7\n")),
		line("rules of a VPN", onEach("HOST: ip rule add pref 5210 fwmark 0x80000/0xff0000 lookup main\nHOST: ip rule add pref 5270 lookup 52\n")),
		line("no timestamps", onEach("HOST: sysctl -qw net.ipv4.tcp_timestamps=0\n")),
		line("no SACK", onEach("HOST: sysctl -qw net.ipv4.tcp_sack=0\n")),
		line("ECN asked for", onEach("HOST: sysctl -qw net.ipv4.tcp_ecn=1\n")),
		line("a window of the usual size kept from growing", "b: sysctl -qw net.ipv4.tcp_moderate_rcvbuf=0\nb: sysctl -qw 'net.ipv4.tcp_rmem=4096 2000000 6291456'\n"),
		line("small bursts of TSQ", "a: sysctl -qw net.ipv4.tcp_limit_output_bytes=30000\n"),
		line("fq at the sender", "a: tc qdisc replace dev eth0 parent 1:1 handle 3: fq\n"),
		line("fq_codel at the sender", "a: tc qdisc replace dev eth0 parent 1:1 handle 3: fq_codel\n"),
		line("a little of other traffic", "b&: iperf3 -s -p 5999\nhere: sleep 0.5\nc&: iperf3 -c 10.9.0.2 -p 5999 -u -b 800K -t 60\n"),
		{name: "an access line", shape: "cable", suit: func(s *stand) { s.speeds["a eth0"], s.speeds["b eth0"] = s.rate/4, s.rate }},
		{name: "two megabits", shape: "cable", suit: func(s *stand) { s.rate, s.flows, s.delay = 2*unit.Mbps, 1, 5*time.Millisecond }},
		{name: "many streams", shape: "cable", suit: func(s *stand) { s.flows = 60 }},
		{name: "a far end", shape: "cable", suit: func(s *stand) { s.delay, s.flows = 20*time.Millisecond, 4 }},
		{name: "jumbo frames", shape: "cable", suit: func(s *stand) { s.mtu = 9000 }},
		{name: "small frames", shape: "cable", suit: func(s *stand) { s.mtu = 576 }},
		{name: "segments one by one", shape: "cable", suit: singly},
		{name: "reno", shape: "cable", suit: func(s *stand) { s.flows = 4 }, done: func(*stand) string {
			return "a: sysctl -qw net.ipv4.tcp_congestion_control=reno\n"
		}},
		{name: "a queue of half a second", shape: "cable", suit: func(s *stand) { s.flows = 4 }, done: func(s *stand) string {
			return fmt.Sprintf("m: tc qdisc replace dev pb root handle 1: tbf rate %s burst 60k limit %d\n", s.part(1), int(float64(s.rate)/8/2))
		}},
		{name: "one hop for two next hops", shape: "ecmp", suit: func(s *stand) { s.flows = 4 }, done: func(s *stand) string {
			return "a: ip route replace 10.99.0.2/32 src 10.99.0.1 via 10.9.1.254\nb: ip route replace 10.99.0.1/32 src 10.99.0.2 via 10.9.2.254\na: ip link set eth1 down\nb: ip link set eth1 down\nm: ip route replace 10.99.0.2/32 via 10.9.2.1\nm: ip route replace 10.99.0.1/32 via 10.9.1.1\n"
		}},
	}
}
