package field

import (
	"fmt"
	"strings"
	"time"

	"github.com/linerate/linerate/record"
)

// rarer are kinds that were written down after further had been judged, and before any of
// these was.
func rarer() []kind {
	slow, lossy := causes(record.Shaper, record.Congestion), causes(record.Congestion)
	return []kind{
		{name: "a firewall that clamps segments", shape: "cable", truth: causes(record.MTU), done: func(s *stand) string {
			return nftBridge(fmt.Sprintf("tcp flags syn tcp option maxseg size set %d", pick(s, 160, 220, 280)))
		}},
		{name: "others that go first at the switch", shape: "cable", truth: causes(record.LineRate), says: otherWords, done: func(s *stand) string {
			return "m: tc qdisc replace dev pb parent 1:1 handle 3: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\nm: tc filter add dev pb parent 3: protocol ip u32 match ip src 10.9.0.3 flowid 3:1\n" +
				iperf("c", "b", "10.9.0.2", "-u -b "+s.part(s.between(0.4, 0.7)))
		}},
		{name: "a short queue for what is served fairly with others", shape: "cable", truth: causes(record.LineRate), says: otherWords, suit: func(s *stand) { s.flows = 1 }, done: func(s *stand) string {
			return "m: tc qdisc replace dev pb parent 1:1 handle 3: fq_codel\n" + iperf("c", "b", "10.9.0.2", "-P 5")
		}},
		{name: "other traffic fills the way back", shape: "cable", truth: causes(record.LineRate, record.Congestion, record.Shaper), says: otherWords + "|return path", suit: func(s *stand) { s.flows, s.delay = 2, 5*time.Millisecond }, done: func(s *stand) string {
			return iperf("b", "c", "10.9.0.3", "-u -b "+s.part(1.3))
		}},
		{name: "few packets may wait for a processor", shape: "cable", truth: causes(record.Congestion, record.ReceiverCPU, record.SenderCPU), suit: func(s *stand) { farSingly(s); s.flows = 2 }, done: func(s *stand) string {
			was := strings.TrimSpace(s.shell("cat /proc/sys/net/core/netdev_max_backlog"))
			s.t.Cleanup(func() { s.shell("sysctl -qw net.core.netdev_max_backlog=" + was) })
			return "here: sysctl -qw net.core.netdev_max_backlog=2\n"
		}},
		{name: "a firewall that strips SACK where packets are lost", shape: "cable", suit: few, truth: lossy, done: func(s *stand) string {
			return nftBridge("tcp flags syn reset tcp option sack-perm") + s.netem("pb", "loss 2%")
		}},
		{name: "a token bucket of one packet", shape: "cable", suit: fastSender, truth: slow, done: func(s *stand) string {
			return fmt.Sprintf("m: tc qdisc replace dev pb root handle 5: tbf rate %s burst 1600 limit 6000\n", s.part(s.between(0.5, 0.8)))
		}},
		{name: "a policer with BBR", shape: "cable", suit: singly, truth: slow, done: func(s *stand) string {
			return strings.Replace(allowed, "hybla", "bbr", 1) + "a: sysctl -qw net.ipv4.tcp_congestion_control=bbr\n" +
				nftBridge(fmt.Sprintf("iifname pa limit rate over %s bytes/second burst 60000 bytes drop", s.bytesPart(s.between(0.3, 0.5))))
		}},
		{name: "losses with BBR", shape: "cable", suit: func(s *stand) { farSingly(s); s.flows = 1 }, truth: lossy, done: func(s *stand) string {
			return strings.Replace(allowed, "hybla", "bbr", 1) + "a: sysctl -qw net.ipv4.tcp_congestion_control=bbr\n" + s.netem("pb", "loss 20%")
		}},
		{name: "a limit of the sender's own VLAN", shape: "cable", truth: causes(record.Shaper), done: func(s *stand) string {
			out := ""
			for i, host := range []string{"a", "b"} {
				out += fmt.Sprintf("%[1]s: ip addr flush dev eth0\n%[1]s: ip link add link eth0 name v7 type vlan id 7\n%[1]s: ip link set v7 up\n%[1]s: ip addr add 10.9.0.%[2]d/24 dev v7\n", host, i+1)
			}
			return out + "a: tc qdisc add dev v7 root handle 7: " + s.tbf(s.rate*35/100) + "\n"
		}},
		{name: "a limit under macvlans", shape: "cable", truth: slow, done: func(s *stand) string {
			out := ""
			for i, host := range []string{"a", "b"} {
				out += fmt.Sprintf("%[1]s: ip addr flush dev eth0\n%[1]s: ip link add mv0 link eth0 type macvlan mode bridge\n%[1]s: ip link set mv0 up\n%[1]s: ip addr add 10.9.0.%[2]d/24 dev mv0\n", host, i+1)
			}
			return out + "m: tc qdisc change dev pb root handle 1: " + s.tbf(s.rate*35/100) + "\n"
		}},
		{name: "both losses and a small window", shape: "cable", suit: func(s *stand) { farSingly(s); s.delay, s.flows = 10*time.Millisecond, 2 }, truth: causes(record.ReceiveWindow, record.Congestion), done: func(s *stand) string {
			return s.netem("pb", "loss 0.3%") + "b: sysctl -qw 'net.ipv4.tcp_rmem=4096 30000 60000'\n"
		}},
		{name: "one port of the bond is shaped and the other loses", shape: "bond", suit: func(s *stand) { farSingly(s); s.flows = 8 }, truth: causes(record.Congestion, record.Shaper, record.HashImbalance), done: func(s *stand) string {
			return s.netem("pb0", "loss 3%") + "m: tc qdisc change dev pb1 root handle 1: " + s.tbf(s.rate*5/10) + "\n"
		}},
		{name: "a trunk that is one link for two", shape: "two", truth: slow, suit: func(s *stand) { s.flows = 8 }, says: "trunk|switch", done: func(s *stand) string {
			return `m: ip link add t0 type bridge stp_state 0 forward_delay 0
				m: ip link set t0 up
				m: ip link add x0 type veth peer name x1
				m: ip link set pb nomaster
				m: ip link set qb nomaster
				m: ip link set pb master t0
				m: ip link set qb master t0
				m: ip link set x1 master t0 up
				m: ip link set qa nomaster
				m: ip link set qa master sw0
				m: ip link set x0 master sw0 up
				m: tc qdisc add dev x0 root ` + s.tbf(s.rate) + `
				m: tc qdisc add dev x1 root ` + s.tbf(s.rate) + "\n" + `
				a: sysctl -qw net.ipv4.conf.all.arp_ignore=1
				b: sysctl -qw net.ipv4.conf.all.arp_ignore=1
				`
		}},
	}
}

// rarerOdd are odd networks that are well, written down with rarer.
func rarerOdd() []kind {
	cable := func(name string, done func(*stand) string) kind { return kind{name: name, shape: "cable", done: done} }
	return []kind{
		{name: "hosts of unequal MTU", shape: "cable", suit: func(s *stand) { s.mtu = 9000 }, done: func(s *stand) string {
			s.mtu = 1500
			return "b: ip link set eth0 mtu 1500\n"
		}},
		{name: "a router with a smaller MTU that says so", shape: "routed", done: func(*stand) string {
			return "m: ip link set pb mtu 1400\nb: ip link set eth0 mtu 1400\n"
		}},
		{name: "a firewall that strips timestamps", shape: "cable", done: func(*stand) string { return nftBridge("tcp flags syn reset tcp option timestamp") }},
		cable("both families", func(*stand) string {
			return "a: ip addr add fd00:9::1/64 dev eth0 nodad\nb: ip addr add fd00:9::2/64 dev eth0 nodad\n"
		}),
		cable("many addresses", func(*stand) string {
			var out strings.Builder
			for i := range 30 {
				fmt.Fprintf(&out, "a: ip addr add 10.44.%d.1/24 dev eth0\nb: ip addr add 10.55.%[1]d.1/24 dev eth0\n", i)
			}
			return out.String()
		}),
		cable("a delay of the receiver's own", func(s *stand) string {
			return "b: tc qdisc replace dev eth0 parent 1:1 handle 2: netem delay 3ms limit 20000\n"
		}),
		cable("a policer that nobody reaches", func(s *stand) string {
			return fmt.Sprintf("b: tc qdisc add dev eth0 ingress\nb: tc filter add dev eth0 ingress matchall action police rate %s burst 1m mtu 65535 conform-exceed drop\n", s.part(1.5))
		}),
		{name: "a bond whose ways are unequally long", shape: "bond", suit: func(s *stand) { s.flows = 8 }, done: func(s *stand) string {
			return "m: tc qdisc change dev pb1 parent 1:1 handle 2: netem delay 15ms limit 20000\n"
		}},
	}
}
