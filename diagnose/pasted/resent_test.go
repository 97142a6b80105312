package pasted

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// rows are a run of iperf3 of one stream: for each second its rate in Mbit/s, what it
// sent again, and its window in KBytes.
func rows(seconds [][3]float64) string {
	var out strings.Builder
	out.WriteString("$ iperf3 -c 192.0.2.60\nConnecting to host 192.0.2.60, port 5201\n[  5] local 192.0.2.61 port 47110 connected to 192.0.2.60 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n")
	for i, s := range seconds {
		rate := fmt.Sprintf("%.0f Mbits/sec", s[0])
		if s[0] == 0 {
			rate = "0.00 bits/sec"
		}
		fmt.Fprintf(&out, "[  5]   %d.00-%d.00   sec  %.2f MBytes  %s  %3.0f   %.2f KBytes       \n", i, i+1, s[0]/8.39, rate, s[1], s[2])
	}
	return out.String()
}

// TestResent: runs that lose all the time, against full links, clean ones, and those
// that lost at the start.
func TestResent(t *testing.T) {
	losing := [][3]float64{{1710, 402, 44}, {1650, 377, 51}, {1930, 421, 62}, {1510, 399, 40}, {1720, 388, 47}, {1690, 411, 58}}
	judgeHardware(t, []hardwareCase{
		{"small window, losses in each second", rows(losing), record.Congestion, 0.6, 0.7, "show interfaces counters errors", "9000"},
		{"slow and lossy", rows([][3]float64{{31, 22, 61}, {27, 25, 45}, {35, 31, 38}, {29, 19, 52}, {33, 24, 49}}), record.Congestion, 0.5, 0.7, "sent again", ""},
		{"a full gigabit link that drops a little", rows([][3]float64{{941, 210, 402}, {939, 180, 390}, {940, 190, 410}, {941, 177, 377}, {940, 201, 399}}), record.LineRate, 0.5, 0.55, "", "lost all the time"},
		{"losses while it starts", rows([][3]float64{{2100, 512, 210}, {4410, 0, 1400}, {4420, 0, 1400}, {4400, 0, 1410}, {4415, 0, 1410}}), record.Unknown, 0, 0, "mpstat", "lost all the time"},
		{"clean and slow", rows([][3]float64{{4180, 0, 571}, {4170, 0, 708}, {4180, 0, 844}, {4170, 0, 889}, {4180, 0, 988}}), record.Unknown, 0, 0, "mpstat", "lost"},
		{"a limit's even rate", rows([][3]float64{{300, 41, 512}, {287, 44, 480}, {288, 39, 500}, {287, 40, 490}, {288, 42, 505}, {287, 43, 498}}), record.Congestion, 0.4, 0.48, "policer", ""},
		{"dealt by turns over a bond", "# cat /sys/class/net/bond0/bonding/mode\nbalance-rr 0\n" + rows(losing), record.Reordering, 0.5, 0, "", "lost all the time"},
	})
}

// TestStandsStill: runs in which nothing arrives, by the size of their segments.
func TestStandsStill(t *testing.T) {
	still := [][3]float64{{58, 9, 41}, {0, 2, 1.41}, {0, 1, 1.41}, {0, 0, 1.41}, {0, 1, 1.41}, {0, 0, 1.41}}
	jumbo := [][3]float64{{61, 6, 52}, {0, 2, 8.74}, {0, 1, 8.74}, {0, 1, 8.74}, {0, 0, 8.74}}
	tunnel := "# ip link show wg0\n9: wg0: <POINTOPOINT,NOARP,UP,LOWER_UP> mtu 1500 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\n    link/none\n"
	judgeHardware(t, []hardwareCase{
		{"ordinary segments", rows(still), record.MTU, 0.4, 0.5, "-s 1472", "9216"},
		{"ordinary segments into a tunnel", tunnel + rows(still), record.MTU, 0.65, 0.75, "the tunnel wg0", "9216"},
		{"large segments", rows(jumbo), record.MTU, 0.5, 0.6, "9216", ""},
		{"a pause of a second", rows([][3]float64{{600, 3, 300}, {0, 1, 290}, {610, 0, 350}, {620, 0, 360}, {615, 0, 370}}), record.Unknown, 0, 0, "", "stands still"},
	})
}

// TestAskedBuffer: iperf3's word for a buffer that the kernel does not give.
func TestAskedBuffer(t *testing.T) {
	const refused = "$ iperf3 -c 192.0.2.7 -w 4M\niperf3: error - socket buffer size not set correctly\n"
	judgeHardware(t, []hardwareCase{
		{"the sending limit", refused + "$ sysctl net.core.rmem_max net.core.wmem_max\nnet.core.rmem_max = 33554432\nnet.core.wmem_max = 212992\n", record.SendBuffer, 0.8, 0, "Run without -w", "Start the other end"},
		{"the receiving limit", refused + "$ sysctl net.core.rmem_max net.core.wmem_max\nnet.core.rmem_max = 212992\nnet.core.wmem_max = 33554432\n", record.ReceiveWindow, 0.8, 0, "net.core.rmem_max", ""},
		{"no limit shown, quoted in a sentence", "With more than 416K it says \"error - socket buffer size not set correctly\" and ends.\n", record.SendBuffer, 0.55, 0.65, "both hosts", ""},
		{"limits that are no problem", refused + "$ sysctl net.core.rmem_max net.core.wmem_max\nnet.core.rmem_max = 67108864\nnet.core.wmem_max = 67108864\n", record.SendBuffer, 0.4, 0.5, "", ""},
		{"small limits that nobody ran into", "$ sysctl net.core.rmem_max net.core.wmem_max\nnet.core.rmem_max = 212992\nnet.core.wmem_max = 212992\n", record.Unknown, 0, 0, "", "asked for a socket buffer"},
	})
}

// TestAnswers: arping of an address that one interface answers, or two.
func TestAnswers(t *testing.T) {
	habets := func(macs ...string) string {
		out := "# arping -c 3 -I eno1 192.0.2.80\nARPING 192.0.2.80\n"
		for i, m := range macs {
			out += fmt.Sprintf("60 bytes from %s (192.0.2.80): index=%d time=1.%03d msec\n", m, i, i)
		}
		return out
	}
	judgeHardware(t, []hardwareCase{
		{"two neighbours' MACs", habets("00:00:5e:00:53:1a", "00:00:5e:00:53:1b", "00:00:5e:00:53:1a"), record.AsymmetricRoute, 0.7, 0.8, "arp_ignore", ""},
		{"two strangers' MACs, of iputils", "$ arping -c 2 192.0.2.9\nARPING 192.0.2.9 from 192.0.2.1 eth0\nUnicast reply from 192.0.2.9 [00:00:5E:00:53:1A]  0.711ms\nUnicast reply from 192.0.2.9 [00:00:5E:11:22:33]  0.902ms\n", record.AsymmetricRoute, 0.55, 0.65, "two hosts", ""},
		{"one MAC", habets("00:00:5e:00:53:1a", "00:00:5e:00:53:1a", "00:00:5e:00:53:1a"), record.Unknown, 0, 0, "", "ARP flux"},
		{"ping", "$ ping -c 2 192.0.2.9\nPING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.\n64 bytes from 192.0.2.9: icmp_seq=1 ttl=64 time=0.3 ms\n64 bytes from 192.0.2.9: icmp_seq=2 ttl=64 time=0.3 ms\n", record.Unknown, 0, 0, "", "ARP"},
	})
}

// TestPathsShort: disks with fewer paths than sessions.
func TestPathsShort(t *testing.T) {
	disk := func(paths ...string) string {
		return "# multipath -ll\n36001405aa00bb11cc22dd33ee44ff550 dm-3 LIO-ORG,block0\nsize=2.0T features='0' hwhandler='1 alua' wp=rw\n`-+- policy='round-robin 0' prio=50 status=active\n" + strings.Join(paths, "\n") + "\n"
	}
	sessions := "# iscsiadm -m session\ntcp: [1] 198.51.100.5:3260,1 iqn.2020-01.example:nas (non-flash)\ntcp: [2] 203.0.113.5:3260,2 iqn.2020-01.example:nas (non-flash)\n"
	judgeHardware(t, []hardwareCase{
		{"one path of two sessions", disk("  `- 4:0:0:0 sdc 8:32 active ready running") + sessions, record.SingleLink, 0.7, 0.8, "rescan", ""},
		{"both", disk("  |- 4:0:0:0 sdc 8:32 active ready running", "  `- 5:0:0:0 sdd 8:48 active ready running") + sessions, record.Unknown, 0, 0, "", "has one path"},
		{"a disk of one path, no sessions shown", disk("  `- 4:0:0:0 sdc 8:32 active ready running"), record.Unknown, 0, 0, "", "has one path"},
	})
}

// TestPortsOfCards: a port that is slow, one that comes and goes, one that was not taken,
// and the same words where nothing is wrong.
func TestPortsOfCards(t *testing.T) {
	flaps := func(n int) string {
		out := ""
		for i := range n {
			out += fmt.Sprintf("[ %d.1] bna: enp9s0f1 link up\n[ %d.7] bna: enp9s0f1 link down\n", 100+20*i, 110+20*i)
		}
		return out
	}
	const queues = ` 61:   51270338          0          0          0   PCI-MSI 3145728-edge      ens192-rxtx-0
 62:   47106142          0          0          0   PCI-MSI 3145729-edge      ens192-rxtx-1
`
	judgeHardware(t, []hardwareCase{
		{"100 Mbit/s, by grep", "\\# ethtool enp5s0|grep Speed\n        Speed: 100Mb/s\n", record.LineRate, 0.45, 0.55, "four pairs", ""},
		{"100 Mbit/s of a card that can do more", "# ethtool enp5s0\nSettings for enp5s0:\n\tSupported link modes:   10baseT/Half 10baseT/Full\n\t                        100baseT/Half 100baseT/Full\n\t                        1000baseT/Full\n\tSpeed: 100Mb/s\n\tDuplex: Full\n\tLink detected: yes\n", record.LineRate, 0.6, 0.7, "1000 Mbit/s", ""},
		{"100 Mbit/s of a card that can do no more", "# ethtool enp5s0\nSettings for enp5s0:\n\tSupported link modes:   10baseT/Half 10baseT/Full\n\t                        100baseT/Half 100baseT/Full\n\tSpeed: 100Mb/s\n\tDuplex: Full\n\tLink detected: yes\n", record.Unknown, 0, 0, "", "four pairs"},
		{"a gigabit port", "# ethtool enp5s0 | grep Speed\n        Speed: 1000Mb/s\n", record.Unknown, 0, 0, "", "four pairs"},
		{"a link that is lost again and again", flaps(4), record.CardSlot, 0.6, 0.7, "enp9s0f1", ""},
		{"a link that was lost once", flaps(1), record.Unknown, 0, 0, "", "again and again"},
		{"containers that come and go", strings.ReplaceAll(flaps(5), "bna: enp9s0f1", "veth7f1a2b3:"), record.Unknown, 0, 0, "", "again and again"},
		{"ports that were up", "[  301.2] team0: Device eth4 is up. Set it down before adding it as a team port\n[  301.3] team0: Device eth5 is up. Set it down before adding it as a team port\n", record.LACPDown, 0.75, 0, "ip link set eth4 down", ""},
		{"ports that were taken", "[  301.2] team0: Port device eth4 added\n[  301.3] team0: Port device eth5 added\n", record.Unknown, 0, 0, "", "not added"},
		{"queues on one core, of vmxnet3", "$ cat /proc/interrupts | grep ens192\n" + queues, record.ReceiverCPU, 0.7, 0, "irqbalance", ""},
		{"queues on two", "$ cat /proc/interrupts | grep ens192\n" + strings.Replace(queues, "47106142          0", "0          47106142", 1), record.Unknown, 0, 0, "", "one core does"},
		{"a full table of connections, as a heading", "# nf_conntrack: table full, dropping packet\nSeen during the load test.\n", record.Congestion, 0.8, 0, "nf_conntrack_max", ""},
		{"half the lanes, quoted", "It says\n\n  LnkCap:  Port #0, Speed 8GT/s, Width x8, ...\n\nand\n\n  LnkSta:  Speed 5GT/s, Width x1, ...\n", record.CardSlot, 0.5, 0.6, "x1 at 5 GT/s", ""},
		{"all lanes, quoted", "  LnkCap:  Port #0, Speed 8GT/s, Width x8, ...\n  LnkSta:  Speed 8GT/s, Width x8, ...\n", record.Unknown, 0, 0, "", "PCIe slot limits"},
		{"lines of several cards", "$ lspci -vv | grep LnkSta:\n  LnkSta:  Speed 8GT/s, Width x8\n  LnkSta:  Speed 2.5GT/s, Width x1\n  LnkSta:  Speed 5GT/s, Width x4\n", record.Unknown, 0, 0, "", "PCIe slot limits"},
	})
}

// TestDriversDrops: counters of packets without a buffer, by the drivers' own names, with
// and without the command above them.
func TestDriversDrops(t *testing.T) {
	const head = "NIC statistics:\n"
	judgeHardware(t, []hardwareCase{
		{"be2net, by queue", "# ethtool -S ens4f0\n" + head + "     rxq0: rx_pkts: 51000000\n     rxq0: rx_drops_no_frags: 410000\n     rxq1: rx_pkts: 49000000\n     rxq1: rx_drops_no_frags: 390000\n", record.CardSlot, 0.55, 0.65, "800000", ""},
		{"be2net, next to none", "# ethtool -S ens4f0\n" + head + "     rxq0: rx_pkts: 51000000\n     rxq0: rx_drops_no_frags: 11\n     rxq1: rx_pkts: 49000000\n     rxq1: rx_drops_no_frags: 0\n", record.Unknown, 0, 0, "", "receive ring"},
		{"bnx2x, without the command", head + "     [0]: rx_ucast_packets: 9000000\n     [0]: rx_discards: 32000\n     [1]: rx_ucast_packets: 9100000\n     [1]: rx_discards: 31000\n", record.CardSlot, 0.55, 0.65, "63000", ""},
		{"filtered frames are no loss", head + "     rx_packets: 81000000\n     rx_address_filtered: 5400000\n     rx_dropped_too_short: 5710\n", record.Unknown, 0, 0, "", "receive ring"},
		{"a counter that somebody quotes", "The card misses some, look:\n\n> rx_missed_errors: 22637\n", record.CardSlot, 0.55, 0.65, "22637", ""},
		{"a counter of zero", "# free -h | head -1\n              total        used        free\n\n> rx_missed_errors: 0\n", record.Unknown, 0, 0, "", "receive ring"},
	})
}

// TestPluginRate: the CNI plugin's limit, met and not met.
func TestPluginRate(t *testing.T) {
	run := func(rate string) string {
		return "[SUM]   0.00-10.04  sec   240 MBytes  " + rate + " Mbits/sec                  receiver\n"
	}
	const plugin = "{\n  \"type\": \"bandwidth\",\n  \"ingressRate\": 200000000,\n  \"ingressBurst\": 200000,\n  \"egressRate\": 900000000,\n  \"egressBurst\": 900000\n}\n"
	judgeHardware(t, []hardwareCase{
		{"met", run("191") + plugin, record.Shaper, 0.9, 0, "ingressRate", "egressRate of"},
		{"far below it", run("31") + plugin, record.Unknown, 0, 0, "", "CNI plugin"},
		{"above it", run("4100") + plugin, record.Unknown, 0, 0, "", "CNI plugin"},
	})
}

// TestQuestions: what sentences say, and sentences that say something else.
func TestQuestions(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a bond that is as fast as one link", "We bonded two gigabit ports of the file server (mode 6) and hoped for twice the speed. It is stuck at 940 Mbit/s in every test.\n", record.SingleLink, 0.5, 0.6, "-P 8", ""},
		{"the complaint comes later", "Our backup host has an LACP channel of two 10G ports to a stacked pair.\n\nWhatever I try, only one of the links moves at all.\n", record.SingleLink, 0.4, 0.5, "load-balance", ""},
		{"what is wrong stands behind an output", "Since the upgrade we run jumbo frames between the two sites:\n\n```\n# free -h | head -1\n              total        used        free\n```\n\nSmall requests are answered, and each larger download hangs for good.\n", record.MTU, 0.4, 0.5, "-s 1472", ""},
		{"what is wrong stands far away", "We run jumbo frames between the two sites, and that is fine.\n" + strings.Repeat("\n", 60) + "# free -h | head -1\n              total        used        free\nOn another machine the browser hangs now and then, sorry to mention it.\n", record.Unknown, 0, 0, "", "By the words"},
		{"a bundle that adds up", "# free -h | head -1\n              total        used        free\nWith the LACP bond three clients together get 1.88 Gbit/s from it, so that works now.\n", record.LineRate, 0.45, 0.55, "", "By the words"},
		{"a bond whose outputs decide", "We use an LACP bond and only get 10 Gbit/s from it, whatever we try.\n" + silent, record.LACPDown, 0.8, 0, "no partner", "By the words"},
		{"jumbo frames and silence", "I set the MTU to 9000 on both servers and on the bridge.\nSince then ssh works but every copy hangs after some kilobytes.\n", record.MTU, 0.4, 0.5, "-s 8972", ""},
		{"shares that no longer open", "Since I turned on jumbo frames on the desktop I see the file server in the list but can't open its folders, with 1500 everything is fine.\n", record.MTU, 0.4, 0.5, "-s 8972", ""},
		{"too large for a tunnel", "Pods on different nodes lose any packet larger than 1355 bytes, it is dropped silently on the way.\n", record.MTU, 0.4, 0.5, "inner MTU", ""},
		{"jumbo frames that work", "# free -h | head -1\n              total        used        free\nWith an MTU of 9000 everywhere the copy is a little faster than before.\n", record.Unknown, 0, 0, "", "By the words"},
		{"large frames that a test carries", "I set the MTU to 9000 on both servers, sometimes ssh hangs.\n" + rows([][3]float64{{4180, 0, 571}, {4170, 0, 708}, {4180, 0, 844}, {4170, 0, 889}}), record.Unknown, 0, 0, "", "By the words"},
		{"softirqs of some core", "The process `ksoftirqd` was at 99% CPU in top all that time.\n", record.ReceiverCPU, 0.6, 0.7, "rps_cpus", ""},
		{"softirqs of one core", "While it copies, the thread ksoftirqd/7 sits at 99% and nothing else is busy.\n", record.ReceiverCPU, 0.6, 0.7, "rps_cpus", ""},
		{"softirqs that are idle", "# free -h | head -1\n              total        used        free\nWhile it copies, the thread ksoftirqd/7 sits at 12% and nothing else is busy.\n", record.Unknown, 0, 0, "", "rps_cpus"},
		{"an allowance that is used up", "During the test we saw bw_out_allowance_exceeded increase by some thousands each second.\n", record.Shaper, 0.6, 0.75, "larger instance", ""},
		{"an allowance that is not", "# free -h | head -1\n              total        used        free\nDuring the test bw_out_allowance_exceeded was zero all the time on that instance.\n", record.Unknown, 0, 0, "", "allowance"},
		{"an iperf3 of one thread", "Between two 25G hosts iperf3 3.9 gets 14 Gbit/s with -P 8, and top shows it on only one core.\n", record.SenderCPU, 0.5, 0.6, "3.16", ""},
		{"an iperf3 of many threads", "# free -h | head -1\n              total        used        free\nBetween two 25G hosts iperf3 3.17 gets 14 Gbit/s with -P 8, and top shows it on all cores.\n", record.Unknown, 0, 0, "", "single thread"},
	})
}
