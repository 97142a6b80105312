package field

import (
	"fmt"
	"strings"
	"time"

	"github.com/linerate/linerate/record"
)

// later are kinds of a third list, written down before anybody had looked at how they
// would be judged.
func later() []kind {
	slow, lossy := causes(record.Shaper, record.Congestion), causes(record.Congestion)
	oneLink := causes(record.SingleLink, record.HashImbalance, record.AsymmetricRoute)
	down := causes(record.LACPDown, record.SingleLink)
	eight := func(s *stand) { s.flows = 8 }
	hole := "(?i)mtu|bytes|pass"
	silent := "(?i)no answer|streams|nothing|timed? ?out|timeout|refused|reset|unreachable"
	return []kind{
		{name: "a shaper of what the receiver takes in", shape: "cable", truth: slow, done: func(s *stand) string {
			return takenIn("b", "eth0") + "b: tc qdisc add dev ifb0 root " + s.tbf(s.rate*4/10) + "\n"
		}},
		{name: "cake of what the receiver takes in", shape: "cable", truth: slow, done: func(s *stand) string {
			return takenIn("b", "eth0") + "b: tc qdisc add dev ifb0 root cake bandwidth " + s.part(s.between(0.3, 0.6)) + " ingress\n"
		}},
		{name: "losses that a test left at the receiver's intake", shape: "cable", suit: few, truth: lossy, done: func(s *stand) string {
			return takenIn("b", "eth0") + "b: tc qdisc add dev ifb0 root netem loss 2% limit 20000\n"
		}},
		{name: "losses that a test left at the sender", shape: "cable", suit: few, truth: lossy, says: "own queue|netem", done: func(s *stand) string {
			return "a: tc qdisc add dev eth0 parent 1:1 handle 2: netem loss 2% limit 20000\n"
		}},
		{name: "fq of few packets at the sender", shape: "cable", suit: func(s *stand) { s.singly, s.flows, s.delay = true, 1, 10*time.Millisecond }, truth: slow, says: "own queue", done: func(s *stand) string {
			return fmt.Sprintf("a: tc qdisc add dev eth0 parent 1:1 handle 2: fq flow_limit %d limit 1000\n", pick(s, 3, 5))
		}},
		{name: "cake of the sender's that knows a shorter way", shape: "cable", suit: oneAfar, truth: slow, says: "own queue", done: func(s *stand) string {
			return "a: tc qdisc replace dev eth0 root handle 5: cake bandwidth " + s.part(0.95) + " rtt 500us\n"
		}},
		{name: "credits of a cloud that are used up", shape: "cable", truth: slow, done: func(s *stand) string {
			return fmt.Sprintf("m: tc qdisc replace dev pb root handle 5: tbf rate %s burst %.0f limit %.0f\n", s.part(0.25), float64(s.rate)/8*2, float64(s.rate)/8*2.1)
		}},
		{name: "a policer that allows two packets at once", shape: "cable", suit: func(s *stand) { farSingly(s); s.flows = pick(s, 2, 4) }, truth: slow, done: func(s *stand) string {
			return fmt.Sprintf("m: tc qdisc add dev pa ingress\nm: tc filter add dev pa ingress matchall action police rate %s burst 3k mtu 65535 conform-exceed drop\n", s.part(s.between(0.5, 0.8)))
		}},
		{name: "a policer of a VLAN in the switch", shape: "cable", suit: singly, truth: slow, done: func(s *stand) string {
			out := ""
			for i, host := range []string{"a", "b"} {
				out += fmt.Sprintf("%[1]s: ip addr flush dev eth0\n%[1]s: ip link add link eth0 name v7 type vlan id 7\n%[1]s: ip link set v7 up\n%[1]s: ip addr add 10.9.0.%[2]d/24 dev v7\n", host, i+1)
			}
			return out + fmt.Sprintf("m: tc qdisc add dev pa ingress\nm: tc filter add dev pa ingress protocol 802.1q matchall action police rate %s burst 60k mtu 65535 conform-exceed drop\n", s.part(s.between(0.3, 0.6)))
		}},
		{name: "an air that both ways share", shape: "cable", truth: slow, done: func(s *stand) string {
			return sharedAir() + "m: tc qdisc add dev ifb0 root " + s.tbf(s.rate*5/10) + "\n"
		}},
		{name: "few acknowledgements are let back", shape: "cable", suit: func(s *stand) { s.singly, s.flows, s.delay = true, 4, 5*time.Millisecond }, truth: slow, says: "return path|acknowledg", done: func(s *stand) string {
			return nftBridge(fmt.Sprintf("iifname pb ip length '<' 100 limit rate over %d/second burst 5 packets drop", pick(s, 40, 80)))
		}},
		{name: "a class that gets what others leave", shape: "cable", truth: causes(record.LineRate, record.Shaper), says: otherWords, done: func(s *stand) string {
			return fmt.Sprintf("m: tc qdisc replace dev pb root handle 5: htb default 20\nm: tc class add dev pb parent 5: classid 5:1 htb rate %[1]s\nm: tc class add dev pb parent 5:1 classid 5:10 htb rate %[2]s ceil %[1]s\nm: tc class add dev pb parent 5:1 classid 5:20 htb rate %[3]s ceil %[1]s\nm: tc filter add dev pb parent 5: protocol ip u32 match ip src 10.9.0.3 flowid 5:10\n", s.part(1), s.part(0.8), s.part(0.2)) +
				iperf("c", "b", "10.9.0.2", "-u -b "+s.part(s.between(0.6, 0.75)))
		}},
		{name: "others fill the links both ways", shape: "cable", truth: causes(record.LineRate), says: otherWords, done: func(s *stand) string {
			return iperf("c", "b", "10.9.0.2", "-P 5 --bidir")
		}},
		{name: "Vegas gives way to others", shape: "cable", suit: func(s *stand) { s.flows, s.delay = 2, 5*time.Millisecond }, truth: causes(record.LineRate), says: otherWords, done: func(s *stand) string {
			return strings.Replace(allowed, "hybla", "vegas", 1) + "a: sysctl -qw net.ipv4.tcp_congestion_control=vegas\n" + iperf("c", "b", "10.9.0.2", "-P 4")
		}},
		{name: "other traffic over the same bond", shape: "bond", suit: eight, truth: causes(record.LineRate), says: otherWords, done: func(s *stand) string {
			s.cable("c", "eth0", "pc")
			return "m: ip link set pc master sw0\nc: ip addr add 10.9.0.3/24 dev eth0\nc: ip link set eth0 up\n" + iperf("c", "b", "10.9.0.2", "-P 8")
		}},
		{name: "the receiver's card goes down and up", shape: "cable", suit: func(s *stand) { s.flows = 2 }, truth: causes(record.LACPDown, record.Congestion), says: wentAway, unmeasured: silent, done: func(s *stand) string {
			return "b&: sleep 3; for i in 1 2 3 4 5 6; do ip link set eth0 down; sleep 0.6; ip link set eth0 up; sleep 1.4; done\n"
		}},
		{name: "a port of the sender's bond flaps", shape: "bond", suit: eight, truth: causes(record.LACPDown, record.Congestion), says: wentAway, done: func(s *stand) string {
			return "m&: while :; do ip link set pa1 down; sleep 1; ip link set pa1 up; sleep 1.5; done\n"
		}},
		{name: "a port that waits for its delay", shape: "bond", suit: eight, truth: down, done: func(s *stand) string {
			return "a: ip link set bond0 type bond updelay 120000\nm: ip link set pa1 down\nhere: sleep 0.5\nm: ip link set pa1 up\nhere: sleep 2\n"
		}},
		{name: "nobody begins with LACP", shape: "bond", suit: eight, truth: down, unmeasured: silent, done: func(s *stand) string {
			out := ""
			for _, bond := range []string{"a bond0", "m boa"} {
				host, name, _ := strings.Cut(bond, " ")
				out += fmt.Sprintf("%[1]s: ip link set %[2]s down\n%[1]s: ip link set %[2]s type bond lacp_active off\n%[1]s: ip link set %[2]s up\n", host, name)
			}
			// What each heard before would stand for another 90 s: the links go down and up.
			for n := range 2 {
				out += fmt.Sprintf("m: ip link set pa%[1]d down\nhere: sleep 0.3\nm: ip link set pa%[1]d up\n", n)
			}
			return out + "here: sleep 5\n"
		}},
		{name: "two bonds, a port of one is in no channel", shape: "bond", suit: func(s *stand) { s.flows, s.links = 16, 4 }, truth: down, done: func(s *stand) string {
			return s.secondBond() + "m: ip link set xb1 nomaster\nm: ip link set xb1 up\nhere: sleep 4\n"
		}},
		{name: "two bonds, the switch spreads one by MAC addresses", shape: "bond", suit: func(s *stand) { s.flows, s.links = 16, 4 }, truth: oneLink, done: func(s *stand) string {
			return s.secondBond() + "m: ip link set ubb type bond xmit_hash_policy layer2\n"
		}},
		{name: "a policer of one port of the bond", shape: "bond", suit: func(s *stand) { singly(s); s.flows = 8 }, truth: append(slow, record.HashImbalance), done: func(s *stand) string {
			return fmt.Sprintf("m: tc qdisc add dev pa1 ingress\nm: tc filter add dev pa1 ingress protocol ip matchall action police rate %s burst 40k mtu 65535 conform-exceed drop\n", s.part(0.3))
		}},
		{name: "a GRE over a bond", shape: "bond", suit: eight, truth: oneLink, done: func(s *stand) string {
			return s.overlaid("gre", 1476) + "a: ip link set bond0 type bond xmit_hash_policy layer2+3\nm: ip link set bob type bond xmit_hash_policy layer2+3\n"
		}},
		{name: "one of two next hops leads nowhere", shape: "ecmp", suit: eight, truth: append(oneLink, record.LACPDown), says: "no answer|next hop|half", unmeasured: silent, done: func(s *stand) string {
			return "m: tc qdisc add dev qa ingress\nm: tc filter add dev qa ingress protocol ip matchall action drop\n"
		}},
		{name: "a host with the receiver's MAC address", shape: "cable", suit: few, truth: causes(record.Congestion, record.AsymmetricRoute), says: wentAway + "|MAC", unmeasured: silent, done: func(s *stand) string {
			return "here: ip -n " + prefix + "c link set eth0 address $(ip netns exec " + prefix + "b cat /sys/class/net/eth0/address)\nc&: ping -q -i 0.15 10.9.0.1\n"
		}},
		{name: "neighbours that are forgotten and late to answer", shape: "cable", suit: func(s *stand) { s.flows = 2 }, truth: causes(record.Congestion), says: wentAway + "|neighbour|ARP", unmeasured: silent, done: func(s *stand) string {
			return "m: nft add table bridge t\nm: nft add chain bridge t c '{ type filter hook forward priority 0 ; }'\nm: nft add rule bridge t c ether type arp numgen random mod 3 '<' 2 drop\na&: while :; do ip neigh flush dev eth0; sleep 1.2; done\n"
		}},
		{name: "a firewall that drops a tunnel's fragments", shape: "overlay", suit: singly, truth: causes(record.MTU), says: "fragment", unmeasured: hole, done: func(s *stand) string {
			return s.overlaid("vxlan", 1500) + nftBridge("iifname pa ip frag-off '&' 0x1fff != 0 drop") + "a: sysctl -qw net.ipv4.tcp_mtu_probing=0\n"
		}},
		{name: "segments that a route keeps small", shape: "cable", truth: causes(record.MTU), done: func(s *stand) string {
			return sixAlone() + fmt.Sprintf("b: ip -6 route replace fd00:9::/64 dev eth0 advmss %d\n", pick(s, 180, 240, 300))
		}},
		{name: "small buffers at both ends", shape: "cable", suit: func(s *stand) { s.delay, s.flows = 20*time.Millisecond, 1 }, truth: causes(record.ReceiveWindow, record.SendBuffer), done: func(s *stand) string {
			return "a: sysctl -qw 'net.ipv4.tcp_wmem=4096 16384 40000'\nb: sysctl -qw 'net.ipv4.tcp_rmem=4096 40000 80000'\n"
		}},
		{name: "one long port of a bond and a small window", shape: "bond", suit: func(s *stand) { s.flows = 4 }, truth: causes(record.ReceiveWindow, record.HashImbalance, record.SingleLink), done: func(s *stand) string {
			return "m: tc qdisc change dev pb1 parent 1:1 handle 2: netem delay 40ms limit 20000\nb: sysctl -qw 'net.ipv4.tcp_rmem=4096 40000 80000'\n"
		}},
		{name: "every packet of IPv6 is marked", shape: "cable", suit: func(s *stand) { s.singly, s.delay = true, 5*time.Millisecond }, truth: lossy, done: func(s *stand) string {
			return sixAlone() + "a: sysctl -qw net.ipv4.tcp_ecn=1\nb: sysctl -qw net.ipv4.tcp_ecn=1\n" + nftBridge("iifname pa ip6 ecn ect0 ip6 ecn set ce")
		}},
	}
}

// oneAfar is a single stream over a long way.
func oneAfar(s *stand) { s.singly, s.flows, s.delay = true, 1, 20*time.Millisecond }

// takenIn leads what a host's link receives through ifb0, where it can be queued.
func takenIn(host, link string) string {
	return fmt.Sprintf("%[1]s: ip link add ifb0 type ifb\n%[1]s: ip link set ifb0 up\n%[1]s: tc qdisc add dev %[2]s ingress\n%[1]s: tc filter add dev %[2]s ingress matchall action mirred egress redirect dev ifb0\n", host, link)
}

// sharedAir leads what a and b send through one queue of the middle.
func sharedAir() string {
	out := "m: ip link add ifb0 type ifb\nm: ip link set ifb0 up\n"
	for _, p := range []string{"pa", "pb"} {
		out += fmt.Sprintf("m: tc qdisc add dev %[1]s ingress\nm: tc filter add dev %[1]s ingress matchall action mirred egress redirect dev ifb0\n", p)
	}
	return out
}

// secondBond gives both hosts a second bond of two more links, in a subnet of its own.
func (s *stand) secondBond() string {
	s.t.Helper()
	out := "m: ip link add sw1 type bridge stp_state 0 forward_delay 0\nm: ip link set sw1 up\n"
	for i, host := range []string{"a", "b"} {
		const mode = "mode 802.3ad lacp_rate fast miimon 50 xmit_hash_policy layer3+4"
		out += fmt.Sprintf("%[1]s: ip link add bond1 type bond %[2]s\nm: ip link add ub%[1]s type bond %[2]s\n", host, mode)
		for n := range 2 {
			link, port := fmt.Sprintf("eth%d", n+2), fmt.Sprintf("x%s%d", host, n)
			s.cable(host, link, port)
			out += fmt.Sprintf("%[1]s: ip link set %[2]s master bond1\n%[1]s: ip link set %[2]s up\nm: ip link set %[3]s down\nm: ip link set %[3]s master ub%[1]s\nm: ip link set %[3]s up\n", host, link, port)
		}
		out += fmt.Sprintf("%[1]s: ip addr add 10.9.8.%[2]d/24 dev bond1\n%[1]s: ip link set bond1 up\nm: ip link set ub%[1]s master sw1\nm: ip link set ub%[1]s up\n", host, i+1)
	}
	return out + "here: sleep 4\n"
}

// laterOdd are odd networks that are well, written down with later.
func laterOdd() []kind {
	cable := func(name string, done func(*stand) string) kind { return kind{name: name, shape: "cable", done: done} }
	onEach := func(script string) func(*stand) string {
		var out string
		for i, host := range []string{"a", "b"} {
			out += strings.NewReplacer("HOST", host, "PEER", fmt.Sprint(2-i), "N", fmt.Sprint(i+1)).Replace(script)
		}
		return func(*stand) string { return out }
	}
	return []kind{
		cable("a firewall that drops pings", func(*stand) string { return nftBridge("ip protocol icmp drop") }),
		cable("a firewall that lets two pings a second through", func(*stand) string {
			return nftBridge("ip protocol icmp limit rate over 2/second burst 2 packets drop")
		}),
		cable("a modem that thins acknowledgements", func(*stand) string {
			return nftBridge("iifname pb ip length '<' 100 tcp flags == ack numgen inc mod 2 == 0 drop")
		}),
		cable("acknowledgements in bunches", func(s *stand) string { return s.netem("pa", "slot 4ms 6ms") }),
		cable("a way back of an eighth", func(s *stand) string {
			return "m: tc qdisc change dev pa root handle 1: " + s.tbf(s.rate/8) + "\n"
		}),
		{name: "another continent", shape: "cable", suit: func(s *stand) { s.delay, s.flows = 50*time.Millisecond, 4 }},
		cable("a bridge that knows VLANs", func(*stand) string { return "m: ip link set sw0 type bridge vlan_filtering 1\n" }),
		cable("a switch that marks a class", func(*stand) string { return nftBridge("iifname pa ip dscp set cs1") }),
		cable("cards without a cable beside", onEach("HOST: ip link add eth5 type veth peer name no5\nHOST: ip link set eth5 up\nHOST: ip addr add 10.66.N.1/24 dev eth5\n")),
		{name: "scalable", shape: "cable", suit: func(s *stand) { s.flows = 4 }, done: func(*stand) string {
			return strings.Replace(allowed, "hybla", "scalable", 1) + "a: sysctl -qw net.ipv4.tcp_congestion_control=scalable\n"
		}},
		cable("one packet in a hundred twice", func(s *stand) string { return s.netem("pb", "duplicate 1%") }),
		{name: "two bonds", shape: "bond", suit: func(s *stand) { s.flows, s.links = 16, 4 }, done: (*stand).secondBond},
		{name: "one bond and a link beside", shape: "bond", suit: func(s *stand) { s.flows = 8 }, done: func(s *stand) string {
			out := "m: ip link add sw1 type bridge stp_state 0 forward_delay 0\nm: ip link set sw1 up\n"
			for i, host := range []string{"a", "b"} {
				s.cable(host, "eth7", "x"+host)
				out += fmt.Sprintf("m: ip link set x%[1]s master sw1\n%[1]s: ip addr add 10.9.7.%[2]d/24 dev eth7\n%[1]s: ip link set eth7 up\n", host, i+1)
			}
			return out
		}},
	}
}
