package field

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// faults are all kinds of them.
func faults() []kind {
	return slices.Concat(otherTraffic(), limits(), marksAndQueues(), memory(), lost(), tunnels(), ways(), bonds(), further())
}

func singly(s *stand) { s.singly = true }

// fastSender has the queue before the link to the receiver, not at the sender's own.
func fastSender(s *stand) {
	s.singly, s.delay = true, 10*time.Millisecond
	s.speeds["a eth0"] = 4 * s.rate
}

// oneFast is a single stream of a fast sender, over a longer way.
func oneFast(s *stand) {
	fastSender(s)
	s.flows, s.delay = 1, 20*time.Millisecond
}

// causes is one or several.
func causes(all ...record.Cause) []record.Cause { return all }

const otherWords = "other traffic|rest is|copies"

// iperf is traffic of another program, without end.
func iperf(from, to, address, more string) string {
	return fmt.Sprintf("%[2]s&: iperf3 -s -p 5999\nhere: sleep 0.5\n%[1]s&: iperf3 -c %[3]s -p 5999 -t 60 %[4]s\nhere: sleep 2\n", from, to, address, more)
}

// otherTraffic is what others send over the same links.
func otherTraffic() []kind {
	line := causes(record.LineRate)
	full := func(name string, done func(*stand) string) kind {
		return kind{name: name, shape: "cable", done: done, truth: line, says: otherWords}
	}
	return []kind{
		full("TCP of another host to the receiver", func(s *stand) string { return iperf("c", "b", "10.9.0.2", "-P 6") }),
		full("UDP of another host to the receiver", func(s *stand) string {
			return iperf("c", "b", "10.9.0.2", "-u -b "+s.part(s.between(0.4, 0.8)))
		}),
		full("TCP of the sender's own to the receiver", func(s *stand) string { return iperf("a", "b", "10.9.0.2", "-P 4") }),
		full("UDP of the sender's own to the receiver", func(s *stand) string {
			return iperf("a", "b", "10.9.0.2", "-u -b "+s.part(s.between(0.4, 0.7)))
		}),
		full("TCP of the sender's own to another host", func(s *stand) string { return iperf("a", "c", "10.9.0.3", "-P 6") }),
		full("UDP of the sender's own to another host", func(s *stand) string {
			return iperf("a", "c", "10.9.0.3", "-u -b "+s.part(s.between(0.4, 0.7)))
		}),
		full("broadcast that every port gets", func(s *stand) string {
			var out string
			for range int(s.between(0.4, 0.6) * float64(s.rate) / 9.8e6) {
				out += "c&: ping -q -b -i 0.001 -s 1200 10.9.0.255\n"
			}
			return out + "here: sleep 1\n"
		}),
		{name: "copies of all packets", shape: "cable", truth: line, says: otherWords, done: func(s *stand) string {
			return "m: tc qdisc change dev pb parent 1:1 handle 2: netem delay 2ms duplicate 100% limit 20000\n"
		}},
		{name: "traffic in transit over the same trunk", shape: "cable", truth: causes(record.Shaper, record.Congestion), says: otherWords, done: func(s *stand) string {
			return fmt.Sprintf(`m: ip link add sw1 type bridge stp_state 0 forward_delay 0
				m: ip link set sw1 up
				m: ip addr add 10.9.0.9/24 dev sw1
				m: ip link add x0 type veth peer name x1
				m: ip link set x0 master sw0 up
				m: ip link set x1 master sw1 up
				m: ip link set pb nomaster
				m: ip link set pb master sw1
				m: tc qdisc add dev x0 root %s
				m&: iperf3 -s -p 5999
				here: sleep 0.5
				c&: iperf3 -c 10.9.0.9 -p 5999 -P 6 -t 60
				here: sleep 2
				`, s.tbf(s.rate))
		}},
		{name: "other traffic over one of two links", shape: "two", truth: line, says: otherWords, done: func(s *stand) string { return iperf("c", "b", "10.9.2.2", "-P 8") }},
	}
}

// limits are shapers and policers.
func limits() []kind {
	shaper := causes(record.Shaper)
	dropped := causes(record.Shaper, record.Congestion)
	nft := func(rule string) string {
		return "m: nft add table bridge t\nm: nft add chain bridge t c '{ type filter hook forward priority 0 ; }'\nm: nft add rule bridge t c " + rule + "\n"
	}
	mid := func(name string, qdisc func(*stand) string) kind {
		return kind{name: name, shape: "cable", truth: dropped, done: func(s *stand) string {
			return "m: tc qdisc replace dev pb root handle 5: " + qdisc(s) + "\n"
		}}
	}
	return []kind{
		mid("cake in the middle", func(s *stand) string { return "cake bandwidth " + s.part(s.between(0.25, 0.7)) }),
		mid("hfsc in the middle", func(s *stand) string {
			r := s.part(s.between(0.25, 0.7))
			return fmt.Sprintf("hfsc default 1\nm: tc class add dev pb parent 5: classid 5:1 hfsc sc rate %s ul rate %s", r, r)
		}),
		mid("a limit that halves while it runs", func(s *stand) string {
			return s.tbf(s.rate*6/10) + "\nm&: sleep 3; tc qdisc change dev pb root handle 5: " + s.tbf(s.rate*3/10)
		}),
		mid("a token bucket of megabytes", func(s *stand) string {
			return fmt.Sprintf("tbf rate %s burst 2mb limit 3mb", s.part(s.between(0.2, 0.5)))
		}),
		{name: "each flow has a limit in the middle", shape: "cable", truth: causes(record.Shaper, record.Pacing), suit: func(s *stand) { s.flows = pick(s, 1, 2) }, done: func(s *stand) string {
			return fmt.Sprintf("m: tc qdisc replace dev pb parent 1:1 handle 3: fq maxrate %s flow_limit 300\n", s.part(s.between(0.15, 0.3)))
		}},
		{name: "bytes policed by a firewall", shape: "cable", suit: singly, truth: dropped, done: func(s *stand) string {
			return nft(fmt.Sprintf("iifname pa limit rate over %s bytes/second burst 60000 bytes drop", s.bytesPart(s.between(0.3, 0.6))))
		}},
		{name: "packets policed by a firewall", shape: "cable", suit: singly, truth: dropped, done: func(s *stand) string {
			return nft(fmt.Sprintf("iifname pa limit rate over %s/second burst 40 packets drop", s.packetsPart(s.between(0.3, 0.6))))
		}},
		{name: "a policer at the receiver itself", shape: "cable", suit: singly, truth: dropped, done: func(s *stand) string {
			return fmt.Sprintf("b: tc qdisc add dev eth0 ingress\nb: tc filter add dev eth0 ingress matchall action police rate %s burst 60k mtu 65535 conform-exceed drop\n", s.part(s.between(0.3, 0.6)))
		}},
		{name: "packets policed at the receiver itself", shape: "cable", suit: singly, truth: dropped, done: func(s *stand) string {
			return fmt.Sprintf("b: tc qdisc add dev eth0 ingress\nb: tc filter add dev eth0 ingress matchall action police pkts_rate %s pkts_burst 40 conform-exceed drop\n", s.packetsPart(s.between(0.3, 0.6)))
		}},
		{name: "a policer of the sender's own", shape: "cable", suit: singly, truth: dropped, done: func(s *stand) string {
			return fmt.Sprintf("a: tc qdisc add dev eth0 clsact\na: tc filter add dev eth0 egress matchall action police rate %s burst 60k mtu 65535 conform-exceed drop\n", s.part(s.between(0.3, 0.6)))
		}},
		{name: "cake of the sender's own", shape: "cable", truth: shaper, done: func(s *stand) string {
			return "a: tc qdisc replace dev eth0 root handle 5: cake bandwidth " + s.part(s.between(0.25, 0.7)) + "\n"
		}},
		{name: "hfsc of the sender's own", shape: "cable", truth: shaper, done: func(s *stand) string {
			r := s.part(s.between(0.25, 0.7))
			return fmt.Sprintf("a: tc qdisc replace dev eth0 root handle 5: hfsc default 1\na: tc class add dev eth0 parent 5: classid 5:1 hfsc sc rate %s ul rate %s\n", r, r)
		}},
		{name: "fq with a limit of each flow at the sender", shape: "cable", suit: func(s *stand) { s.flows = pick(s, 1, 2) }, truth: causes(record.Pacing, record.Shaper), done: func(s *stand) string {
			return fmt.Sprintf("a: tc qdisc replace dev eth0 parent 1:1 handle 3: fq maxrate %s\n", s.part(s.between(0.15, 0.3)))
		}},
		{name: "a small class of the sender's prio and htb", shape: "cable", truth: shaper, done: func(s *stand) string {
			return fmt.Sprintf("a: tc qdisc replace dev eth0 root handle 5: prio bands 3 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\na: tc qdisc add dev eth0 parent 5:2 handle 20: htb default 1\na: tc class add dev eth0 parent 20: classid 20:1 htb rate %s burst 15k\n", s.part(s.between(0.25, 0.6)))
		}},
		{name: "a router's limit", shape: "routed", truth: shaper, done: func(s *stand) string {
			return "m: tc qdisc replace dev pb root handle 1: " + s.tbf(s.rate*unit.BitRate(s.between(0.25, 0.7)*1000)/1000) + "\n"
		}},
		{name: "one of two providers is slower", shape: "two", truth: shaper, says: "eth1", done: func(s *stand) string {
			return "m: tc qdisc replace dev qb root handle 1: " + s.tbf(s.rate*4/10) + "\n"
		}},
	}
}

// marksAndQueues are marks instead of losses, and queues that are too short.
func marksAndQueues() []kind {
	lossy := causes(record.Congestion)
	ecn := "a: sysctl -qw net.ipv4.tcp_ecn=1\nb: sysctl -qw net.ipv4.tcp_ecn=1\n"
	short := func(limit int) string { return fmt.Sprintf("limit %d", limit) }
	return []kind{
		{name: "one packet in some is marked", shape: "cable", suit: func(s *stand) { s.singly, s.delay = true, 5*time.Millisecond }, truth: lossy, done: func(s *stand) string {
			return ecn + fmt.Sprintf("m: nft add table bridge t\nm: nft add chain bridge t c '{ type filter hook forward priority 0 ; }'\nm: nft add rule bridge t c iifname pa ip ecn ect0 numgen random mod %d == 0 ip ecn set ce\n", pick(s, 30, 60, 90))
		}},
		{name: "red that marks too early", shape: "cable", suit: oneFast, truth: causes(record.Congestion, record.Shaper), done: func(s *stand) string {
			return ecn + "m: tc qdisc replace dev pb parent 1:1 handle 3: red limit 400000 min 1500 max 3000 avpkt 1000 burst 2 probability 0.9 bandwidth " + s.part(1) + " ecn\n"
		}},
		{name: "red that drops too early", shape: "cable", suit: oneFast, truth: causes(record.Congestion, record.Shaper), done: func(s *stand) string {
			return "m: tc qdisc replace dev pb parent 1:1 handle 3: red limit 400000 min 1500 max 3000 avpkt 1000 burst 2 probability 0.9 bandwidth " + s.part(1) + "\n"
		}},
		{name: "a short queue of the sender's own", shape: "cable", suit: func(s *stand) { s.flows = pick(s, 1, 2) }, truth: lossy, says: "own queue", done: func(s *stand) string {
			return fmt.Sprintf("a: tc qdisc replace dev eth0 root handle 5: htb default 1\na: tc class add dev eth0 parent 5: classid 5:1 htb rate %s burst 16k\na: tc qdisc add dev eth0 parent 5:1 pfifo limit 1\n", s.part(1))
		}},
		{name: "a short queue of the switch", shape: "cable", suit: fastSender, truth: causes(record.Congestion, record.Shaper), done: func(s *stand) string {
			return fmt.Sprintf("m: tc qdisc replace dev pb root handle 5: htb default 1\nm: tc class add dev pb parent 5: classid 5:1 htb rate %s burst 1600\nm: tc qdisc add dev pb parent 5:1 pfifo %s\na: tc qdisc replace dev eth0 root handle 5: netem delay 10ms limit 20000\n", s.part(0.9), short(pick(s, 2, 4)))
		}},
		{name: "a delay that holds few packets", shape: "cable", suit: fastSender, truth: causes(record.Congestion, record.Shaper), done: func(s *stand) string {
			return fmt.Sprintf("m: tc qdisc change dev pb parent 1:1 handle 2: netem delay 10ms limit %d\n", pick(s, 8, 12, 16))
		}},
		{name: "a pie that aims at a millisecond", shape: "cable", suit: oneFast, truth: causes(record.Congestion, record.Shaper), done: func(s *stand) string {
			return "m: tc qdisc replace dev pb parent 1:1 handle 3: pie target 100us tupdate 2ms limit 4\n"
		}},
	}
}

// memory is windows and buffers, and why they are small.
func memory() []kind {
	window, buffer := causes(record.ReceiveWindow), causes(record.SendBuffer)
	far := func(s *stand) {
		s.delay = pick[time.Duration](s, 5, 10, 20) * time.Millisecond
		s.flows = pick(s, 1, 2)
	}
	sys := func(host, key, value string) func(*stand) string {
		return func(*stand) string { return fmt.Sprintf("%s: sysctl -qw '%s=%s'\n", host, key, value) }
	}
	return []kind{
		{name: "a route with a window at the receiver", shape: "cable", suit: far, truth: window, done: func(s *stand) string {
			return fmt.Sprintf("b: ip route replace 10.9.0.0/24 dev eth0 src 10.9.0.2 window %d\n", pick(s, 16000, 20000, 30000))
		}},
		{name: "no window scaling at the receiver", shape: "cable", suit: func(s *stand) { far(s); s.delay, s.flows = 20*time.Millisecond, 1 }, truth: window, done: sys("b", "net.ipv4.tcp_window_scaling", "0")},
		{name: "no window scaling at the sender", shape: "cable", suit: func(s *stand) { far(s); s.delay, s.flows = 20*time.Millisecond, 1 }, truth: causes(record.ReceiveWindow, record.SendBuffer), done: sys("a", "net.ipv4.tcp_window_scaling", "0")},
		{name: "no autotuning at the receiver", shape: "cable", suit: far, truth: window, done: func(s *stand) string {
			return "b: sysctl -qw net.ipv4.tcp_moderate_rcvbuf=0\nb: sysctl -qw 'net.ipv4.tcp_rmem=4096 32768 6291456'\n"
		}},
		{name: "a small maximum at the receiver", shape: "cable", suit: far, truth: window, done: sys("b", "net.ipv4.tcp_rmem", "4096 32768 65536")},
		{name: "overhead of windows at the receiver", shape: "cable", suit: far, truth: window, done: func(s *stand) string {
			return "b: sysctl -qw net.ipv4.tcp_adv_win_scale=4\nb: sysctl -qw 'net.ipv4.tcp_rmem=4096 16384 32768'\n"
		}},
		{name: "a small maximum at the sender", shape: "cable", suit: func(s *stand) { far(s); s.flows = 1 }, truth: buffer, done: sys("a", "net.ipv4.tcp_wmem", "4096 16384 32768")},
		{name: "no memory for TCP on the machine", shape: "cable", suit: far, truth: causes(record.ReceiveWindow, record.Congestion, record.SendBuffer), says: "tcp_mem|memory", done: func(s *stand) string {
			was := strings.TrimSpace(s.shell("cat /proc/sys/net/ipv4/tcp_mem"))
			s.t.Cleanup(func() { s.shell("sysctl -qw 'net.ipv4.tcp_mem=" + was + "'") })
			return "here: sysctl -qw 'net.ipv4.tcp_mem=8 12 16'\n"
		}},
		{name: "a clamp of windows by the router's route", shape: "routed", suit: far, truth: window, done: func(s *stand) string {
			return "b: ip route replace 10.9.1.0/24 via 10.9.2.254 window 18000\n"
		}},
	}
}

// lost is packets that are lost, late, copied or damaged in a pattern.
func lost() []kind {
	lossy := causes(record.Congestion)
	far := func(s *stand) { s.singly, s.delay = true, pick[time.Duration](s, 5, 10)*time.Millisecond }
	nft := func(rule string) func(*stand) string {
		return func(s *stand) string {
			return "m: nft add table bridge t\nm: nft add chain bridge t c '{ type filter hook forward priority 0 ; }'\nm: nft add rule bridge t c " + rule + "\n"
		}
	}
	return []kind{
		{name: "every so many packets lost", shape: "cable", suit: far, truth: lossy, done: nft("iifname pa ip length '>' 500 numgen inc mod 50 == 0 drop")},
		{name: "large packets lost now and then", shape: "cable", suit: far, truth: causes(record.Congestion), done: nft("iifname pa ip length '>' 1400 numgen random mod 40 == 0 drop")},
		{name: "damaged packets", shape: "cable", suit: far, truth: lossy, done: func(s *stand) string { return s.netem("pb", "corrupt 2%") }},
		{name: "losses in bursts", shape: "cable", suit: far, truth: lossy, done: func(s *stand) string { return s.netem("pb", "loss gemodel 0.5% 20%") }},
		{name: "one of two links loses packets", shape: "two", suit: far, truth: lossy, done: func(s *stand) string { return s.netem("qb", "loss 4%") }},
		{name: "one member of the bond loses packets", shape: "bond", suit: func(s *stand) { far(s); s.flows = 8 }, truth: lossy, done: func(s *stand) string { return s.netem("pb1", "loss 4%") }},
		{name: "late packets without DSACK", shape: "cable", suit: func(s *stand) { s.singly, s.delay = true, 1*time.Millisecond }, truth: causes(record.Reordering), done: func(s *stand) string {
			return "a: sysctl -qw net.ipv4.tcp_dsack=0\nb: sysctl -qw net.ipv4.tcp_dsack=0\nm: tc qdisc change dev pb parent 1:1 handle 2: netem delay 20ms reorder 50% 25% limit 20000\n"
		}},
		{name: "delay that jumps about", shape: "cable", suit: func(s *stand) { s.singly, s.delay = true, 1*time.Millisecond }, truth: causes(record.Reordering, record.Congestion), done: func(s *stand) string {
			return "m: tc qdisc change dev pb parent 1:1 handle 2: netem delay 20ms 15ms limit 20000\n"
		}},
		{name: "the link is away for a second", shape: "cable", suit: func(s *stand) { s.flows = 2 }, truth: causes(record.LACPDown, record.Congestion), says: "failed|went down|stood still", done: func(s *stand) string {
			return "m&: sleep 2.2; for i in 1 2 3 4 5 6; do ip link set pb down; sleep 1; ip link set pb up; sleep 1.3; done\n"
		}},
	}
}

// tunnels are faults below overlays, which are measured beside them.
func tunnels() []kind {
	return []kind{
		{name: "losses under a VXLAN", shape: "overlay", suit: func(s *stand) { s.singly, s.delay = true, 10*time.Millisecond }, truth: causes(record.Congestion), done: func(s *stand) string { return s.overlaid("vxlan", 1450) + s.netem("pb", "loss 2%") }},
		{name: "a limit under IPIP", shape: "overlay", truth: causes(record.Shaper, record.Congestion), done: func(s *stand) string {
			return s.overlaid("ipip", 1450) + "m: tc qdisc replace dev pb root handle 1: " + s.tbf(s.rate*4/10) + "\n"
		}},
	}
}

// ways are routes and addresses that lead elsewhere than one thinks.
func ways() []kind {
	oneLink := causes(record.SingleLink, record.HashImbalance, record.AsymmetricRoute)
	return []kind{
		{name: "two next hops chosen by addresses alone", shape: "ecmp", suit: func(s *stand) { s.flows = 8 }, truth: oneLink, done: func(s *stand) string {
			return "a: sysctl -qw net.ipv4.fib_multipath_hash_policy=0\n"
		}},
		{name: "a router that chooses by addresses alone", shape: "ecmp", suit: func(s *stand) { s.flows = 8 }, truth: oneLink, says: "one link", done: func(s *stand) string {
			return "m: sysctl -qw net.ipv4.fib_multipath_hash_policy=0\n"
		}},
		{name: "next hops of unequal weight", shape: "ecmp", suit: func(s *stand) { s.flows = 8 }, truth: oneLink, done: func(s *stand) string {
			return "a: ip route replace 10.99.0.2/32 src 10.99.0.1 nexthop via 10.9.1.254 weight 9 nexthop via 10.9.3.254 weight 1\n"
		}},
		{name: "one next hop is missing at the sender", shape: "ecmp", suit: func(s *stand) { s.flows = 8 }, truth: oneLink, done: func(s *stand) string {
			return "a: ip route replace 10.99.0.2/32 src 10.99.0.1 via 10.9.1.254\n"
		}},
		{name: "both subnets leave by one link", shape: "two", truth: causes(record.AsymmetricRoute, record.SingleLink), done: func(s *stand) string {
			return "a: ip route replace 10.9.2.0/24 dev eth0 src 10.9.2.1\na: sysctl -qw net.ipv4.conf.all.arp_ignore=0\nb: sysctl -qw net.ipv4.conf.all.rp_filter=0\nb: sysctl -qw net.ipv4.conf.eth0.rp_filter=0\nb: sysctl -qw net.ipv4.conf.eth1.rp_filter=0\nm: ip link add x0 type veth peer name x1\nm: ip link set x0 master sw0 up\nm: ip link set x1 master sw1 up\n"
		}},
		{name: "a router with a small MTU that says nothing", shape: "routed", suit: singly, truth: causes(record.MTU), unmeasured: "(?i)mtu|bytes|pass", done: func(s *stand) string {
			return "m: tc qdisc add dev pa ingress\nm: tc filter add dev pa ingress protocol ip basic match 'cmp(u16 at 2 layer 1 gt 1400)' action drop\na: sysctl -qw net.ipv4.tcp_mtu_probing=0\n"
		}},
		{name: "hosts of 9000, a switch of 1500", shape: "cable", truth: causes(record.MTU), unmeasured: "(?i)mtu|bytes|pass", suit: func(s *stand) { s.mtu, s.singly = 9000, true }, done: func(s *stand) string {
			return "m: nft add table bridge t\nm: nft add chain bridge t c '{ type filter hook forward priority 0 ; }'\nm: nft add rule bridge t c ip length '>' 1500 drop\n"
		}},
		{name: "one of two links takes 1400 bytes", shape: "two", suit: singly, truth: causes(record.MTU), unmeasured: "(?i)mtu|bytes|pass", done: func(s *stand) string {
			return "m: nft add table bridge t\nm: nft add chain bridge t c '{ type filter hook forward priority 0 ; }'\nm: nft add rule bridge t c iifname qa ip length '>' 1400 drop\na: sysctl -qw net.ipv4.tcp_mtu_probing=0\n"
		}},
	}
}

// bonds are bundles of which half works.
func bonds() []kind {
	eight := func(s *stand) { s.flows = 8 }
	one := causes(record.SingleLink, record.HashImbalance)
	return []kind{
		{name: "the switch spreads by MAC addresses", shape: "bond", suit: eight, truth: one, done: func(s *stand) string { return "m: ip link set bob type bond xmit_hash_policy layer2\n" }},
		{name: "the host spreads by MAC addresses", shape: "xor", suit: eight, truth: one, done: func(s *stand) string { return "a: ip link set bond0 type bond xmit_hash_policy layer2\n" }},
		{name: "a bridge over a bond that spreads by MAC addresses", shape: "xor", suit: eight, truth: one, done: func(s *stand) string {
			return "a: ip link set bond0 type bond xmit_hash_policy layer2\n" + bridged("bond0")
		}},
		{name: "a port of the switch is in no channel", shape: "bond", suit: eight, truth: causes(record.LACPDown), done: func(s *stand) string {
			return "m: ip link set pb1 nomaster\nm: ip link set pb1 up\nhere: sleep 4\n"
		}},
		{name: "a member is down at the receiver", shape: "bond", suit: eight, truth: causes(record.LACPDown, record.SingleLink), done: func(s *stand) string { return "m: ip link set pb1 down\nhere: sleep 1\n" }},
		{name: "a static member leads nowhere", shape: "xor", suit: eight, truth: causes(record.LACPDown, record.SingleLink, record.HashImbalance), says: "streams.*no answer|half|nothing arrives", unmeasured: "(?i)no answer|streams", done: func(s *stand) string {
			return "m: ip link set pb1 nomaster\nm: ip link set pb1 up\nhere: sleep 1\n"
		}},
		{name: "broadcast instead of a hash", shape: "xor", suit: eight, truth: one, says: otherWords + "|broadcast", done: func(s *stand) string {
			var out string
			for i, host := range []string{"a", "b"} {
				out += fmt.Sprintf("%[1]s: ip link del bond0\n%[1]s: ip link add bond0 type bond mode broadcast miimon 50\n", host)
				for n := range 2 {
					out += fmt.Sprintf("%[1]s: ip link set eth%[2]d down\n%[1]s: ip link set eth%[2]d master bond0\n%[1]s: ip link set eth%[2]d up\n", host, n)
				}
				out += fmt.Sprintf("%[1]s: ip addr add 10.9.0.%[2]d/24 dev bond0\n%[1]s: ip link set bond0 up\nhere: sleep 1\n", host, i+1)
			}
			return out
		}},
		{name: "one port at half the speed", shape: "bond", suit: func(s *stand) { s.flows = 8; s.speeds["b eth1"] = s.rate }, truth: causes(record.HashImbalance, record.Shaper, record.SingleLink), done: func(s *stand) string {
			return "m: tc qdisc replace dev pb1 root handle 1: " + s.tbf(s.rate*3/10) + "\n"
		}},
		{name: "one stream over a bond", shape: "bond", suit: func(s *stand) { s.flows = 1 }, truth: one, done: func(*stand) string { return "" }},
		{name: "few streams of one port", shape: "bond", suit: func(s *stand) { s.flows = 2 }, truth: causes(record.HashImbalance, record.SingleLink), done: func(s *stand) string {
			return "m: ip link set bob type bond xmit_hash_policy layer2+3\n"
		}},
	}
}

// bridged puts the addresses of both hosts on a bridge over a link, as hypervisors do.
func bridged(link string) string {
	var out string
	for i, host := range []string{"a", "b"} {
		out += fmt.Sprintf("%[1]s: ip addr flush dev %[2]s\n%[1]s: ip link add br0 type bridge forward_delay 0 stp_state 0\n%[1]s: ip link set %[2]s master br0\n%[1]s: ip link set br0 up\n%[1]s: ip addr add 10.9.0.%[3]d/24 dev br0\n", host, link, i+1)
	}
	return out
}
