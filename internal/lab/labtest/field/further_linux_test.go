package field

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/record"
)

// further are kinds that were written down before anybody had seen what is said of them.
func further() []kind {
	return slices.Concat(inTime(), elsewhereLimits(), patterns(), rarerWays(), rarerBonds(), rarer(), later())
}

// nftBridge is a rule of the switch in the middle.
func nftBridge(rules ...string) string {
	out := "m: nft add table bridge t\nm: nft add chain bridge t c '{ type filter hook forward priority 0 ; }'\n"
	for _, rule := range rules {
		out += "m: nft add rule bridge t c " + rule + "\n"
	}
	return out
}

// farSingly is a path long enough for what befalls packets to count.
func farSingly(s *stand) { s.singly, s.delay = true, pick[time.Duration](s, 5, 10)*time.Millisecond }

// few is that with few streams.
func few(s *stand) { farSingly(s); s.flows = pick(s, 2, 4) }

const wentAway = "failed|went down|stood still|away|outage|nothing came"

// inTime are faults that come and go.
func inTime() []kind {
	slow := causes(record.Shaper, record.Congestion)
	return []kind{
		{name: "a limit that comes every second second", shape: "cable", truth: slow, done: func(s *stand) string {
			return fmt.Sprintf("m&: while :; do tc qdisc change dev pb root handle 1: %s; sleep 1; tc qdisc change dev pb root handle 1: %s; sleep 1; done\n", s.tbf(s.rate/4), s.tbf(s.rate))
		}},
		{name: "a limit that begins while it is measured", shape: "cable", truth: slow, done: func(s *stand) string {
			return fmt.Sprintf("m&: while [ $(cat /sys/class/net/pb/statistics/tx_bytes) -lt %d ]; do sleep 0.1; done; tc qdisc change dev pb root handle 1: %s\n", int(float64(s.rate)/8*1.5), s.tbf(s.rate/4))
		}},
		{name: "silence of 300 ms every second", shape: "cable", truth: causes(record.Congestion, record.LACPDown), says: wentAway, done: func(s *stand) string {
			return fmt.Sprintf("m&: while :; do tc qdisc change dev pb parent 1:1 handle 2: netem delay %[1]dus loss 100%% limit 20000; sleep 0.3; tc qdisc change dev pb parent 1:1 handle 2: netem delay %[1]dus loss 0%% limit 20000; sleep 0.7; done\n", s.delay.Microseconds())
		}},
		{name: "losses for half of each second", shape: "cable", suit: farSingly, truth: causes(record.Congestion), done: func(s *stand) string {
			return fmt.Sprintf("m&: while :; do tc qdisc change dev pb parent 1:1 handle 2: netem delay %[1]dus loss 8%% limit 20000; sleep 0.5; tc qdisc change dev pb parent 1:1 handle 2: netem delay %[1]dus loss 0%% limit 20000; sleep 0.5; done\n", s.delay.Microseconds())
		}},
		{name: "a delay that jumps every second", shape: "cable", suit: func(s *stand) { s.singly, s.delay, s.flows = true, 2*time.Millisecond, 2 }, truth: causes(record.Reordering, record.Congestion), says: "round trip|delay", done: func(s *stand) string {
			return "m&: while :; do tc qdisc change dev pb parent 1:1 handle 2: netem delay 150ms limit 20000; sleep 0.4; tc qdisc change dev pb parent 1:1 handle 2: netem delay 2ms limit 20000; sleep 0.6; done\n"
		}},
		{name: "other traffic for half of each second", shape: "cable", truth: causes(record.LineRate), says: otherWords, done: func(s *stand) string {
			return "b&: iperf3 -s -p 5999\nhere: sleep 0.5\nc&: while :; do iperf3 -c 10.9.0.2 -p 5999 -u -b " + s.part(0.9) + " -t 1; sleep 0.6; done\nhere: sleep 1\n"
		}},
		{name: "an address that another host takes now and then", shape: "cable", truth: causes(record.Congestion, record.AsymmetricRoute), says: wentAway, unmeasured: "(?i)no answer|refused|reset|broken|streams", done: func(s *stand) string {
			return "c: ip addr add 10.9.0.2/24 dev eth0\na: sysctl -qw net.ipv4.neigh.eth0.base_reachable_time_ms=500\na: sysctl -qw net.ipv4.neigh.eth0.delay_first_probe_time=1\n"
		}},
	}
}

// elsewhereLimits are limits of kinds of their own.
func elsewhereLimits() []kind {
	slow := causes(record.Shaper, record.Congestion)
	mid := func(name string, suit func(*stand), truth []record.Cause, qdisc func(*stand) string) kind {
		return kind{name: name, shape: "cable", suit: suit, truth: truth, done: func(s *stand) string {
			return "m: tc qdisc replace dev pb parent 1:1 handle 3: " + qdisc(s) + "\n"
		}}
	}
	return []kind{
		{name: "a rate in cells with overhead", shape: "cable", truth: causes(record.Shaper), done: func(s *stand) string {
			return s.netem("pb", "rate "+s.part(s.between(0.4, 0.6))+" 40 48 5")
		}},
		{name: "slots of few packets", shape: "cable", suit: singly, truth: append(slow, record.Reordering), done: func(s *stand) string {
			return s.netem("pb", fmt.Sprintf("slot 15ms 25ms packets %d", pick(s, 20, 30)))
		}},
		mid("sfq of few packets", oneFast, slow, func(*stand) string { return "sfq limit 2 perturb 1" }),
		mid("choke with a short queue", oneFast, slow, func(s *stand) string {
			return "choke limit 40 min 2 max 5 avpkt 1000 burst 3 probability 0.5 bandwidth " + s.part(1)
		}),
		mid("codel that aims at little", oneFast, slow, func(*stand) string { return "codel target 50us interval 1ms limit 6" }),
		{name: "the way back carries little", shape: "cable", truth: slow, says: "return path|acknowledg", suit: singly, done: func(s *stand) string {
			return "b: tc qdisc replace dev eth0 root handle 5: tbf rate 150kbit burst 3000 limit 20000\n"
		}},
		{name: "acknowledgements are lost", shape: "cable", suit: few, truth: causes(record.Congestion), says: "acknowledg|return path", done: func(s *stand) string { return s.netem("pa", "loss 45%") }},
		{name: "each port has a limit in a firewall", shape: "cable", suit: func(s *stand) { singly(s); s.flows = pick(s, 2, 4) }, truth: slow, done: func(s *stand) string {
			return "m: nft add table bridge t\nm: nft add set bridge t m '{ typeof tcp sport ; flags dynamic ; size 1000 ; }'\nm: nft add chain bridge t c '{ type filter hook forward priority 0 ; }'\n" +
				fmt.Sprintf("m: nft add rule bridge t c iifname pa update @m '{ tcp sport limit rate over %s bytes/second burst 30000 bytes }' drop\n", s.bytesPart(s.between(0.08, 0.12)))
		}},
		{name: "a quota that is used up", shape: "cable", truth: slow, says: wentAway, unmeasured: "(?i)no answer|streams|nothing|timed? ?out|timeout", done: func(s *stand) string {
			return nftBridge(fmt.Sprintf("iifname pa quota over %d mbytes drop", int(float64(s.rate)/8e6*2)))
		}},
		{name: "a firewall that lets two connections through", shape: "cable", suit: func(s *stand) { s.flows = 8 }, truth: slow, says: "streams|no answer", unmeasured: "(?i)no answer|streams|refused", done: func(s *stand) string {
			return "m: nft add table bridge t\nm: nft add set bridge t s '{ type ipv4_addr ; flags dynamic ; size 100 ; }'\nm: nft add chain bridge t c '{ type filter hook forward priority 0 ; }'\nm: nft add rule bridge t c iifname pa ct state new add @s '{ ip saddr ct count over 3 }' drop\n"
		}},
		{name: "a one-armed router with a slower link", shape: "cable", suit: func(s *stand) { s.speeds["c eth0"] = s.rate * 4 / 10 }, truth: slow, done: viaThird},
		{name: "a router that shapes one DSCP and everything else less", shape: "routed", truth: slow, done: func(s *stand) string {
			r := s.between(0.2, 0.5)
			return fmt.Sprintf("m: tc qdisc replace dev pb root handle 5: htb default 20\nm: tc class add dev pb parent 5: classid 5:1 htb rate %[1]s\nm: tc class add dev pb parent 5:1 classid 5:10 htb rate %[2]s ceil %[1]s\nm: tc class add dev pb parent 5:1 classid 5:20 htb rate %[2]s ceil %[2]s\nm: tc filter add dev pb parent 5: u32 match ip dsfield 0xb8 0xfc flowid 5:10\n", s.part(1), s.part(r))
		}},
		{name: "a shaper at the receiver's ingress", shape: "cable", truth: causes(record.Shaper), done: func(s *stand) string {
			return fmt.Sprintf("b: ip link add in0 type dummy\nb: ip link set in0 up\nb: tc qdisc add dev in0 root %s\nb: ip link del in0\nm: tc qdisc add dev sw0 root handle 9: pfifo\nm: tc qdisc replace dev pb root handle 5: drr\nm: tc class add dev pb parent 5: classid 5:1 drr quantum 3000\nm: tc qdisc add dev pb parent 5:1 handle 6: %s\nm: tc filter add dev pb parent 5: matchall flowid 5:1\n", s.tbf(s.rate), s.tbf(s.rate*35/100))
		}},
		{name: "a policer of IPv6", shape: "cable", suit: singly, truth: slow, done: func(s *stand) string {
			return sixAlone() + nftBridge(fmt.Sprintf("iifname pa meta protocol ip6 limit rate over %s bytes/second burst 60000 bytes drop", s.bytesPart(s.between(0.3, 0.6))))
		}},
	}
}

// patterns are losses and lateness that no list has.
func patterns() []kind {
	lossy := causes(record.Congestion)
	return []kind{
		{name: "correlated losses", shape: "cable", suit: few, truth: lossy, done: func(s *stand) string { return s.netem("pb", "loss 4% 25%") }},
		{name: "losses of four states", shape: "cable", suit: few, truth: lossy, done: func(s *stand) string { return s.netem("pb", "loss state 1% 25% 20% 50% 1%") }},
		{name: "every fifth packet is early", shape: "cable", suit: func(s *stand) { few(s); s.delay = 20 * time.Millisecond }, truth: causes(record.Reordering), done: func(s *stand) string { return s.netem("pb", "reorder 100% gap 5") }},
		{name: "a third of the packets twice", shape: "cable", suit: singly, truth: causes(record.LineRate), says: otherWords, done: func(s *stand) string {
			return "m: tc qdisc change dev pb parent 1:1 handle 2: netem delay 2ms duplicate 40% limit 20000\n"
		}},
		{name: "losses without SACK", shape: "cable", suit: farSingly, truth: lossy, done: func(s *stand) string {
			return "a: sysctl -qw net.ipv4.tcp_sack=0\nb: sysctl -qw net.ipv4.tcp_sack=0\n" + s.netem("pb", "loss 1.5%")
		}},
		{name: "losses with a slow timer", shape: "cable", suit: farSingly, truth: lossy, done: func(s *stand) string {
			return "a: ip route replace 10.9.0.0/24 dev eth0 src 10.9.0.1 rto_min 1000ms\n" + s.netem("pb", "loss 2%")
		}},
		{name: "losses of IPv6", shape: "cable", suit: farSingly, truth: lossy, done: func(s *stand) string { return sixAlone() + s.netem("pb", "loss 2%") }},
		{name: "losses and a limit", shape: "cable", suit: farSingly, truth: causes(record.Congestion, record.Shaper), done: func(s *stand) string {
			return s.netem("pb", "loss 0.5%") + "m: tc qdisc change dev pb root handle 1: " + s.tbf(s.rate*4/10) + "\n"
		}},
		{name: "one source port in two loses packets", shape: "cable", suit: func(s *stand) { farSingly(s); s.flows = 4 }, truth: lossy, done: func(s *stand) string {
			return nftBridge("iifname pa tcp sport '&' 1 == 1 numgen random mod 12 == 0 drop")
		}},
		{name: "the receiver's buffers at their start for IPv6", shape: "cable", suit: func(s *stand) { s.delay, s.flows = 20*time.Millisecond, 1 }, truth: causes(record.ReceiveWindow), done: func(s *stand) string {
			return sixAlone() + "b: sysctl -qw 'net.ipv4.tcp_rmem=4096 30000 60000'\n"
		}},
	}
}

// sixAlone leaves hosts a and b IPv6 addresses alone.
func sixAlone() string {
	var out string
	for i, host := range []string{"a", "b"} {
		out += fmt.Sprintf("%[1]s: ip addr flush dev eth0\n%[1]s: ip addr add fd00:9::%[2]d/64 dev eth0 nodad\n", host, i+1)
	}
	return out
}

// viaThird leads what goes from a to b over c, a router with one link.
func viaThird(*stand) string {
	return `c: sysctl -qw net.ipv4.ip_forward=1
		c: sysctl -qw net.ipv4.conf.all.send_redirects=0
		c: sysctl -qw net.ipv4.conf.eth0.send_redirects=0
		a: ip route add 10.9.0.2/32 via 10.9.0.3 dev eth0 src 10.9.0.1
		`
}

// rarerWays are ways, neighbours and sizes that are wrong.
func rarerWays() []kind {
	oneLink := causes(record.SingleLink, record.HashImbalance, record.AsymmetricRoute)
	eight := func(s *stand) { s.flows = 8 }
	hole := "(?i)mtu|bytes|pass"
	return []kind{
		{name: "a route that remembers a tiny MTU", shape: "routed", truth: causes(record.MTU), done: func(s *stand) string {
			return "a: ip route replace 10.9.2.0/24 via 10.9.1.254 mtu lock 250\n"
		}},
		{name: "a hole for large packets of IPv6", shape: "cable", suit: singly, truth: causes(record.MTU), unmeasured: hole, done: func(s *stand) string {
			return sixAlone() + "a: sysctl -qw net.ipv4.tcp_mtu_probing=0\n" + nftBridge("iifname pa meta length '>' 1400 drop")
		}},
		{name: "a GRE that takes less than its ends say", shape: "overlay", suit: singly, truth: causes(record.MTU), unmeasured: hole, done: func(s *stand) string {
			return s.overlaid("gre", 1476) + "a: sysctl -qw net.ipv4.tcp_mtu_probing=0\n" + nftBridge("iifname pa meta length '>' 1420 drop")
		}},
		{name: "a neighbour entry of the other link", shape: "two", suit: eight, truth: oneLink, done: func(s *stand) string {
			return `m: ip link add x0 type veth peer name x1
				m: ip link set x0 master sw0 up
				m: ip link set x1 master sw1 up
				b: sysctl -qw net.ipv4.conf.all.rp_filter=0
				b: sysctl -qw net.ipv4.conf.eth0.rp_filter=0
				here: ip -n ` + prefix + `a neigh replace 10.9.2.2 dev eth1 nud permanent lladdr $(ip netns exec ` + prefix + `b cat /sys/class/net/eth0/address)
				`
		}},
		{name: "next hops of a resilient group, one of which has all buckets", shape: "ecmp", suit: eight, truth: oneLink, done: func(s *stand) string {
			return "a: ip nexthop add id 1 via 10.9.1.254 dev eth0\na: ip nexthop add id 2 via 10.9.3.254 dev eth1\na: ip nexthop add id 10 group 1,200/2,1 type resilient buckets 32\na: ip route replace 10.99.0.2/32 src 10.99.0.1 nhid 10\n"
		}},
		{name: "a group of next hops of weight nine to one", shape: "ecmp", suit: eight, truth: oneLink, done: func(s *stand) string {
			return "a: ip nexthop add id 1 via 10.9.1.254 dev eth0\na: ip nexthop add id 2 via 10.9.3.254 dev eth1\na: ip nexthop add id 10 group 1,9/2,1\na: ip route replace 10.99.0.2/32 src 10.99.0.1 nhid 10\n"
		}},
		{name: "one of two next hops loses packets", shape: "ecmp", suit: func(s *stand) { farSingly(s); s.flows = 16 }, truth: causes(record.Congestion), done: func(s *stand) string { return s.netem("qb", "loss 4%") }},
		{name: "one of two next hops is slower", shape: "ecmp", suit: func(s *stand) { s.flows = 16 }, truth: causes(record.Shaper, record.HashImbalance), done: func(s *stand) string {
			return "m: tc qdisc change dev qb root handle 1: " + s.tbf(s.rate*3/10) + "\n"
		}},
		{name: "a limit under Geneve", shape: "overlay", truth: causes(record.Shaper, record.Congestion), done: func(s *stand) string {
			return s.overlaid("geneve", 1450) + "m: tc qdisc change dev pb root handle 1: " + s.tbf(s.rate*4/10) + "\n"
		}},
		{name: "a small window over GRE", shape: "overlay", suit: func(s *stand) { s.delay, s.flows = 20*time.Millisecond, 1 }, truth: causes(record.ReceiveWindow), done: func(s *stand) string {
			return s.overlaid("gre", 1476) + "b: sysctl -qw 'net.ipv4.tcp_rmem=4096 30000 60000'\n"
		}},
	}
}

// rebonded makes both hosts' bonds anew; the words are those of ip link add type bond.
func rebonded(words string, more string) string {
	var out string
	for i, host := range []string{"a", "b"} {
		out += fmt.Sprintf("%[1]s: ip link del bond0\n%[1]s: ip link add bond0 type bond %[2]s\n", host, words)
		for n := range 2 {
			out += fmt.Sprintf("%[1]s: ip link set eth%[2]d down\n%[1]s: ip link set eth%[2]d master bond0\n%[1]s: ip link set eth%[2]d up\n", host, n)
		}
		out += fmt.Sprintf("%[1]s: ip addr add 10.9.0.%[2]d/24 dev bond0\n%[1]s: ip link set bond0 up\n", host, i+1)
	}
	return out + more + "here: sleep 3\n"
}

// rarerBonds are bonds of other modes, and members with a fault of their own.
func rarerBonds() []kind {
	eight := func(s *stand) { s.flows = 8 }
	one := causes(record.SingleLink, record.HashImbalance)
	unbundled := "m: ip link set pa0 nomaster\nm: ip link set pa1 nomaster\nm: ip link set pb0 nomaster\nm: ip link set pb1 nomaster\nm: ip link del boa\nm: ip link del bob\n"
	for _, p := range []string{"pa0", "pa1", "pb0", "pb1"} {
		unbundled += "m: ip link set " + p + " master sw0\nm: ip link set " + p + " up\n"
	}
	return []kind{
		{name: "balance-alb to one peer", shape: "xor", suit: eight, truth: one, done: func(s *stand) string { return unbundled + rebonded("mode balance-alb miimon 50", "") }},
		{name: "balance-tlb to one peer", shape: "xor", suit: eight, truth: one, done: func(s *stand) string { return unbundled + rebonded("mode balance-tlb miimon 50", "") }},
		{name: "active-backup", shape: "xor", suit: eight, truth: one, done: func(s *stand) string {
			return unbundled + rebonded("mode active-backup miimon 50 num_grat_arp 3", "")
		}},
		{name: "round robin over ways of unequal length", shape: "xor", suit: func(s *stand) { singly(s); s.flows, s.delay = 2, 2*time.Millisecond }, truth: causes(record.Reordering), done: func(s *stand) string {
			var out string
			for n := range 2 {
				out += fmt.Sprintf("m: ip link add r%[1]d type bridge stp_state 0 forward_delay 0\nm: ip link set r%[1]d up\n", n)
				for _, host := range []string{"a", "b"} {
					out += fmt.Sprintf("m: ip link set p%[2]s%[1]d nomaster\nm: ip link set p%[2]s%[1]d master r%[1]d\nm: ip link set p%[2]s%[1]d up\n", n, host)
				}
			}
			return out + rebonded("mode balance-rr miimon 50", "m: tc qdisc change dev pb1 parent 1:1 handle 2: netem delay 20ms limit 20000\n")
		}},
		{name: "LACP is lost on one port", shape: "bond", suit: eight, truth: causes(record.LACPDown), done: func(s *stand) string {
			return "a: tc qdisc add dev eth1 ingress\na: tc filter add dev eth1 ingress protocol 0x8809 matchall action drop\nhere: sleep 6\n"
		}},
		{name: "a member that drops large packets", shape: "bond", suit: func(s *stand) { singly(s); s.flows = 8 }, truth: causes(record.MTU, record.Congestion, record.LACPDown), says: "mtu|bytes|pass", unmeasured: "(?i)mtu|bytes|pass|streams", done: func(s *stand) string {
			return "m: tc qdisc add dev pa1 ingress\nm: tc filter add dev pa1 ingress protocol ip basic match 'cmp(u16 at 2 layer 1 gt 1400)' action drop\na: sysctl -qw net.ipv4.tcp_mtu_probing=0\n"
		}},
		{name: "a bond's ports by a queue's number", shape: "xor", suit: eight, truth: one, done: func(s *stand) string {
			return "m: ip link set bob type bond xmit_hash_policy vlan+srcmac\n"
		}},
		{name: "ARP monitoring that nobody answers", shape: "xor", suit: eight, truth: causes(record.LACPDown, record.SingleLink), says: wentAway + "|down", unmeasured: "(?i)no answer|unreachable|down|carrier|streams", done: func(s *stand) string {
			return rebonded("mode active-backup arp_interval 200 arp_ip_target 10.9.0.77 arp_validate all", "")
		}},
		{name: "a member that is half as fast and loses packets", shape: "bond", suit: func(s *stand) { farSingly(s); s.flows = 8 }, truth: causes(record.Congestion, record.Shaper, record.HashImbalance), done: func(s *stand) string {
			return s.netem("pb1", "loss 1%") + "m: tc qdisc change dev pb1 root handle 1: " + s.tbf(s.rate*5/10) + "\n"
		}},
	}
}

// allowed lets namespaces choose what only the first may (tcp_set_default_congestion_control).
const allowed = "here: sysctl -qw 'net.ipv4.tcp_allowed_congestion_control=reno cubic hybla illinois'\n"

// furtherOdd are odd networks that are well, of further kinds.
func furtherOdd() []kind {
	onEach := func(script string) func(*stand) string {
		var out string
		for i, host := range []string{"a", "b"} {
			out += strings.NewReplacer("HOST", host, "PEER", fmt.Sprint(2-i), "N", fmt.Sprint(i+1)).Replace(script)
		}
		return func(*stand) string { return out }
	}
	cable := func(name string, done func(*stand) string) kind { return kind{name: name, shape: "cable", done: done} }
	eight := func(s *stand) { s.flows = 8 }
	return []kind{
		cable("a switch that floods", func(*stand) string {
			return "m: ip link set sw0 type bridge ageing_time 0\n"
		}),
		cable("a one-armed router", viaThird),
		cable("IPv6 in SIT", onEach("HOST: ip link add sit7 type sit local 10.9.0.N remote 10.9.0.PEER ttl 64\nHOST: ip link set sit7 mtu 1480 up\nHOST: ip addr add fd00:8::N/64 dev sit7 nodad\n")),
		cable("GRE over IPv6", onEach("HOST: ip addr flush dev eth0\nHOST: ip addr add fd00:9::N/64 dev eth0 nodad\nHOST: ip link add tun7 type ip6gre local fd00:9::N remote fd00:9::PEER ttl 64\nHOST: ip link set tun7 mtu 1448 up\nHOST: ip addr add 10.8.0.N/24 dev tun7\n")),
		cable("ipvlans", onEach("HOST: ip addr flush dev eth0\nHOST: ip link add iv0 link eth0 type ipvlan mode l2\nHOST: ip link set iv0 up\nHOST: ip addr add 10.9.0.N/24 dev iv0\n")),
		cable("ESP without a cipher", onEach("HOST: ip xfrm state add src 10.9.0.1 dst 10.9.0.2 proto esp spi 0x101 mode transport enc 'ecb(cipher_null)' '' auth 'hmac(sha1)' 0x0102030405060708090a0b0c0d0e0f1011121314\nHOST: ip xfrm state add src 10.9.0.2 dst 10.9.0.1 proto esp spi 0x102 mode transport enc 'ecb(cipher_null)' '' auth 'hmac(sha1)' 0x0102030405060708090a0b0c0d0e0f1011121314\nHOST: ip xfrm policy add src 10.9.0.N dst 10.9.0.PEER dir out tmpl proto esp mode transport\nHOST: ip xfrm policy add src 10.9.0.PEER dst 10.9.0.N dir in tmpl proto esp mode transport\n")),
		cable("a port mirror", func(*stand) string {
			return "m: ip link add mon type dummy\nm: ip link set mon up\nm: tc qdisc add dev pa ingress\nm: tc filter add dev pa ingress matchall action mirred egress mirror dev mon\n"
		}),
		cable("routes by the source's address", onEach("HOST: ip rule add from 10.9.0.N lookup 77\nHOST: ip route add 10.9.0.0/24 dev eth0 src 10.9.0.N table 77\n")),
		cable("a second address of the same subnet", onEach("HOST: ip addr add 10.9.0.1N/24 dev eth0\n")),
		cable("an address with a prefix of 32", onEach("HOST: ip addr flush dev eth0\nHOST: ip addr add 10.7.0.N/32 dev eth0\nHOST: ip route add 10.7.0.PEER/32 dev eth0 src 10.7.0.N\n")),
		cable("cake at the link's rate", func(s *stand) string {
			return "a: tc qdisc replace dev eth0 root handle 5: cake bandwidth " + s.part(0.97) + " besteffort\n"
		}),
		{name: "hybla", shape: "cable", suit: func(s *stand) { s.flows = 4 }, done: func(*stand) string {
			return allowed + "a: sysctl -qw net.ipv4.tcp_congestion_control=hybla\n"
		}},
		{name: "illinois", shape: "cable", suit: func(s *stand) { s.flows = 4 }, done: func(*stand) string {
			return allowed + "a: sysctl -qw net.ipv4.tcp_congestion_control=illinois\n"
		}},
		{name: "a VLAN over a bond", shape: "bond", suit: eight, done: onEach("HOST: ip addr flush dev bond0\nHOST: ip link add link bond0 name v7 type vlan id 7\nHOST: ip link set v7 up\nHOST: ip addr add 10.9.0.N/24 dev v7\n")},
		cable("a bond of one port", onEach("HOST: ip addr flush dev eth0\nHOST: ip link set eth0 down\nHOST: ip link add bond0 type bond mode active-backup miimon 50\nHOST: ip link set eth0 master bond0\nHOST: ip link set bond0 up\nHOST: ip addr add 10.9.0.N/24 dev bond0\n")),
		{name: "hosts of 9000, another of 1500 beside", shape: "cable", suit: func(s *stand) { s.mtu = 9000 }, done: func(*stand) string { return "c: ip link set eth0 mtu 1500\n" }},
		{name: "two subnets of unequal speed", shape: "two", suit: func(s *stand) {
			s.speeds["a eth1"], s.speeds["b eth1"] = s.rate/2, s.rate/2
			s.flows = 8
		}},
		cable("initial windows of two", onEach("HOST: ip route replace 10.9.0.0/24 dev eth0 src 10.9.0.N initcwnd 2 initrwnd 4 quickack 1\n")),
	}
}
