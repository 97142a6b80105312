package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestNarrowTold: packets that do not fit, small windows and full cores in other words, each
// beside the same where it says nothing of the kind.
func TestNarrowTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"larger than the MTU", "Guests of two hosts talk by VXLAN, and that fails.\nFrames bigger than the uplink's MTU get no reply at all.\n", record.MTU, 0.55, 0.7, "ping -M do", ""},
		{"wrapped by hand", "Guests of two hosts talk by VXLAN, and that fails for some.\nWhenever a guest sends packets that are longer than the uplink's MTU\nthey are lost on the way.\n", record.MTU, 0.55, 0.7, "ping -M do", ""},
		{"a paragraph of its own", "Guests of two hosts talk by VXLAN, and that fails for some.\nWhenever a guest sends packets that are longer than the uplink's MTU\n\nthey are lost on the way.\n", record.Unknown, 0, 0, "", "The largest packet that passes"},
		{"a tunnel of 1500", "Metrics by wireguard crawl and then stall.\nBoth ends have MTU 1500 in wg0 now, still bad.\n", record.MTU, 0.5, 0.6, "1420", ""},
		{"a tunnel of 1420", "Metrics by wireguard crawl and then stall.\nBoth ends have MTU 1420 in wg0 now, still bad.\n", record.Unknown, 0, 0, "", "has MTU 1500"},
		{"a tunnel of 1500 in vain", "Metrics by wireguard crawl and then stall.\nBoth ends have MTU 1500 in wg0. Changing the MTU made no difference.\n", record.Unknown, 0, 0, "", "has MTU 1500"},
		{"a small buffer", "Uploads to the far bucket are slow, due to a tiny TCP send buffer in that library.\n", record.ReceiveWindow, 0.5, 0.65, "sndbuf_limited", ""},
		{"a small buffer, perhaps", "Uploads to the far bucket are slow, maybe due to a tiny TCP send buffer in that library.\n", record.Unknown, 0, 0, "", "small window"},
		{"a window that is the limit", "Uploads over the ocean are slow. The fixed TCP window is the limit there, says the capture.\n", record.ReceiveWindow, 0.5, 0.65, "", ""},
		{"the processor", "With four subflows it is slower than with one.\nI believe the CPU is the main bottleneck here.\n", record.SenderCPU, 0.5, 0.6, "top -H", ""},
		{"lanes before the generation", "A 40G card is slow, iperf3 gets 11 Gbit/s.\nThe board says Type: x4 PCI Express 2 for that slot.\n", record.CardSlot, 0.5, 0.65, "lspci -vv", ""},
		{"lanes enough", "A 10G card is slow, iperf3 gets 5 Gbit/s.\nThe board says Type: x16 PCI Express 3 for that slot.\n", record.Unknown, 0, 0, "", "By what is said, the card is in a slot"},
	})
}

// TestWaysInTwoClauses: what a clause says of a way, and the next one of its rate.
func TestWaysInTwoClauses(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"nodes and pods", "Our cluster has flannel and links of 10 Gbit/s.\nWhen I ran iperf on two nodes, it showed 9.3 Gbit/s. But when I start two pods there and measure between the pods, it could only achieve 3 Gbit/s.\n", record.ReceiverCPU, 0.5, 0.6, "3.00 Gbit/s where the path carries 9.30", ""},
		{"nodes alone", "Our cluster has flannel and links of 10 Gbit/s.\nWhen I ran iperf on two nodes, it showed 9.3 Gbit/s. Between the pods I did not measure yet.\n", record.Unknown, 0, 0, "", "where the path carries"},
		{"half of the bare metal's", "With calico and VXLAN the pods are slow: iperf3 shows half the speed of the bare metal hosts.\n", record.ReceiverCPU, 0.4, 0.5, "mpstat", ""},
		{"half of what it is without", "The openvpn client is slow, about half of what it is without VPN.\n", record.SenderCPU, 0.4, 0.5, "cipher", ""},
		{"a link's speed is no rate", "Pods of calico go by a bond and carry only 22 Gbit/s, slow.\nThe interface shows Speed: 10000Mb/s for each of them.\n", record.Unknown, 0, 0, "", "10 Gbit/s where"},
		{"two instances in two regions", "I measure between two instances in different regions of AWS, Ohio and Sydney, and iperf shows only 60 Mbit/s.\n", record.ReceiveWindow, 0.4, 0.6, "tcp_rmem", ""},
		{"forwarded out of the other", "After boot the rules are wrong and packets are forwarded out eth0 instead of eth1.\n", record.AsymmetricRoute, 0.5, 0.6, "ip route get", ""},
	})
}

// TestSecondNICByRoutes: the addresses of links that the kernel's own routes name.
func TestSecondNICByRoutes(t *testing.T) {
	const routes = "I can not reach anything by the second NIC of an Azure VM.\nroot@vm7:~# ip route\ndefault via 10.9.1.1 dev eth0 proto dhcp src 10.9.1.7 metric 100\n10.9.1.0/24 dev eth0 proto kernel scope link src 10.9.1.7\n10.9.2.0/24 dev eth1 proto kernel scope link src 10.9.2.7\n"
	both := func(metric string) string {
		return "default via 10.9.1.1 dev eth0 proto dhcp metric 100\ndefault via 10.9.2.1 dev eth1 proto dhcp metric " + metric + "\n10.9.1.0/24 dev eth0 proto kernel scope link src 10.9.1.7\n10.9.2.0/24 dev eth1 proto kernel scope link src 10.9.2.7\n"
	}
	judgeHardware(t, []hardwareCase{
		{"one default", routes + "root@vm7:~# ip rule\n0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n", record.AsymmetricRoute, 0.7, 0.85, "table 102", ""},
		{"a rule for it", routes + "root@vm7:~# ip rule\n0:\tfrom all lookup local\n100:\tfrom 10.9.2.7 lookup 102\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\nroot@vm7:~# ip route show table 102\ndefault via 10.9.2.1 dev eth1\n", record.Unknown, 0, 0, "", "default route by"},
		{"two defaults", "All traffic leaves by eth0 and eth1 is never used, so that we get 1 Gbit/s and not two.\n$ ip route\n" + both("101"), record.AsymmetricRoute, 0.45, 0.6, "via 10.9.2.1 dev eth1 table 102", ""},
		{"two defaults side by side", "All traffic leaves by eth0 and eth1 is never used, so that we get 1 Gbit/s and not two.\n$ ip route\n" + both("100"), record.Unknown, 0, 0, "", "smaller metric"},
		{"two defaults and nothing missed", "This is how the routes of ours are set up.\n$ ip route\n" + both("101"), record.Unknown, 0, 0, "", "smaller metric"},
	})
}

// TestUnevenQueues: a card of which one queue has most interrupts.
func TestUnevenQueues(t *testing.T) {
	const head = "Forwarding is slow on our box.\n# cat /proc/interrupts\n            CPU0       CPU1       CPU2       CPU3\n"
	row := func(irq, count, name, at string) string {
		return "  " + irq + ":  " + at + count + "  PCI-MSI " + irq + "-edge      " + name + "\n"
	}
	judgeHardware(t, []hardwareCase{
		{"one of four", head + row("50", "9100000 0 0 0", "enp3s0-TxRx-0", "") + row("51", "1000000 0 0", "enp3s0-TxRx-1", "0 ") + row("52", "1200000 0", "enp3s0-TxRx-2", "0 0 ") + row("53", "1100000", "enp3s0-TxRx-3", "0 0 0 "), record.ReceiverCPU, 0.45, 0.55, "Queue 0 of enp3s0", ""},
		{"alike", head + row("50", "2100000 0 0 0", "enp3s0-TxRx-0", "") + row("51", "1900000 0 0", "enp3s0-TxRx-1", "0 ") + row("52", "2200000 0", "enp3s0-TxRx-2", "0 0 ") + row("53", "2000000", "enp3s0-TxRx-3", "0 0 0 "), record.Unknown, 0, 0, "", "times the interrupts"},
	})
}

// TestCutPackets: a capture of an overlay whose outer packets come in pieces.
func TestCutPackets(t *testing.T) {
	const head = "A service behind the ingress network hangs with large answers.\n# tcpdump -ni eth0 udp port 4789\n"
	outer := "10:01:02.000001 IP 192.0.2.4.40102 > 192.0.2.5.4789: VXLAN, flags [I] (0x08), vni 300\n"
	judgeHardware(t, []hardwareCase{
		{"in pieces", head + outer + "IP truncated-ip - 88 bytes missing! 10.7.0.3.8080 > 10.7.0.9.40022: Flags [.], seq 1:1399, ack 9, win 219, length 1398\n", record.MTU, 0.55, 0.7, "1450 for VXLAN", ""},
		{"whole", head + outer + "IP 10.7.0.3.8080 > 10.7.0.9.40022: Flags [.], seq 1:1349, ack 9, win 219, length 1348\n", record.Unknown, 0, 0, "", "in pieces"},
	})
}

// TestDrownedOverlay: a run between pods that loses nearly all.
func TestDrownedOverlay(t *testing.T) {
	run := func(rate, bytes, resent string) string {
		return "iperf3 between pods of two nodes (calico, 10G cards) is extremely slow.\nConnecting to host 10.244.3.9, port 5201\n[  5] local 10.244.1.4 port 40020 connected to 10.244.3.9 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-20.00  sec  " + bytes + " MBytes  " + rate + " Mbits/sec  " + resent + "             sender\n[  5]   0.00-20.00  sec  " + bytes + " MBytes  " + rate + " Mbits/sec                  receiver\n"
	}
	judgeHardware(t, []hardwareCase{
		{"nearly all is lost", run("4.19", "10.0", "2900"), record.CardSlot, 0.5, 0.6, "tx-checksum-ip-generic off", ""},
		{"some is lost", run("4190", "10000", "2900"), record.Unknown, 0, 0, "", "tx-checksum-ip-generic off` on both nodes (flannel.1"},
	})
}

// TestMTUBlamed: MTUs that do not fit, as those tell who found it.
func TestMTUBlamed(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"bigger than another", "The new nodes are slow.\nTheir tunnel comes up with MTU 1420, i.e. larger than the 1390 of the provider's network, and we see heavy packet loss.\n", record.MTU, 0.5, 0.6, "ping -M do", ""},
		{"bigger, and well", "The new nodes are slow.\nTheir links come up with MTU 9000, i.e. larger than the 1500 of the old ones, and all of it works.\n", record.Unknown, 0, 0, "", "MTUs of the way do not fit"},
		{"a mismatch", "After the upgrade large answers hang on the private network (an MTU mismatch).\n", record.MTU, 0.42, 0.6, "ping -M do", ""},
		{"a device on the way", "The overlay can not be set.\nIf a router on the path has a lower MTU, then all packets of the overlay are dropped there.\n", record.Unknown, 0, 0, "", "MTUs of the way do not fit"},
		{"needed", "Replication is slow in that cloud.\nWe had to lower the MTU to 1400 on each node to avoid fragments.\n", record.MTU, 0.5, 0.75, "ping -M do", ""},
		{"dropping it", "With MTU 1500 the mesh crawls.\nDropping the mtu to 1420 restores nearly all of the speed.\n", record.MTU, 0.6, 0.8, "", ""},
		{"tuned, in the next sentence", "Downloads of the containers stall.\nOur provider told us to tune the MTU settings. This fixed the problem.\n", record.MTU, 0.6, 0.8, "", ""},
		{"not able to", "Pods are slow across sites, where a router has a smaller MTU and our packets are lost.\nThat router is not ours and we can't change its MTU.\n", record.MTU, 0.5, 0.6, "ping -M do", ""},
		{"does not work because of it", "Overlay networks do not work there because they define an MTU of 1450 as well, and get nothing through.\n", record.MTU, 0.5, 0.7, "ping -M do", ""},
	})
}

// TestToolsAndPartsTold: what a test shows beside a copy and beside another test, parts of
// the line rate, and links that came up slow.
func TestToolsAndPartsTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a copy is faster than iperf3", "On our 10G network iperf3 shows 4.4 Gbit/s only. Copying files by SMB between the same two runs at 1.05 gigabytes/sec.\n", record.SenderCPU, 0.45, 0.55, "-P 4", ""},
		{"a copy is slower than iperf3", "On our 10G network iperf3 shows 9.4 Gbit/s. Copying files by SMB between the same two runs at 1.05 gigabytes/sec only.\n", record.Unknown, 0, 0, "", "a copy carries"},
		{"low beside the other", "We get low numbers from iperf3 compared to iperf on all of our 10G cards, why?\n", record.SenderCPU, 0.55, 0.65, "3.16", ""},
		{"it falls short", "Two hosts back to back with 10G cards, 16 cores each.\nWhat do you see instead? a) iperf 2.0.5 saturates the link with 9.7 Gbit/s\nb) iperf3 fails to saturate it. The best are 6.5 Gbit/s with iperf version 2.0.5 in mind.\n", record.SenderCPU, 0.55, 0.65, "3.16", ""},
		{"both in one sentence", "Between these two hosts with 10G cards iperf gets 9.3 Gbits/sec with three connections,\nbut iperf3 with as many gets 5.1 Gbits/sec at best.\n", record.SenderCPU, 0.55, 0.65, "3.16", ""},
		{"neither falls short", "Two hosts back to back with 10G cards, 16 cores each, the bond is no better.\nWhat do you see instead? iperf 2.0.5 saturates the link.\niperf3 does not fall short of it either.\n", record.Unknown, 0, 0, "", "Another tool carries more"},
		{"a part of the line rate", "Two servers with 100G cards. Linux guests with virtio get 95% of the line rate, and Windows guests get only 40-50% of line rate.\n", record.ReceiverCPU, 0.4, 0.5, "vhost", ""},
		{"all of the line rate", "Two servers with 100G cards. Linux guests with virtio get 95% of the line rate, and Windows guests get 93% of line rate, which is not bad.\n", record.Unknown, 0, 0, "", "each of its packets is copied"},
		{"a queue of RSS", "Windows receives UDP slowly.\nAll of it comes in only one RSS queue, whose core is full.\n", record.ReceiverCPU, 0.55, 0.65, "", ""},
		{"capped", "The bond of two 2.5G ports is not great.\nThis capped one processor at 100% while it ran.\n", record.SenderCPU, 0.5, 0.65, "", ""},
		{"100 TX", "The firewall's WAN port is slow.\nThe link is detected at 100 TX instead of 1000 T.\n", record.LineRate, 0.55, 0.65, "four pairs", ""},
	})
}

// TestAnswersTold: answers that do not come back, tunnels in programs and lines at their rate.
func TestAnswersTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a strict filter", "Pods of the new image can not reach any service.\nThe reverse path filter of the first interface was strict there. With loose it works.\n", record.AsymmetricRoute, 0.5, 0.65, "rp_filter=2", ""},
		{"martians", "What the load balancer sends to the pods is lost.\nThe packets are logged as martians on eth2.\n", record.AsymmetricRoute, 0.5, 0.65, "rp_filter=2", ""},
		{"a filter that is not it", "What the load balancer sends to the pods is lost.\nIt is not the rp_filter dropping them, I checked.\n", record.Unknown, 0, 0, "", "reverse path filter has to do"},
		{"no answer leaves", "Pods whose address is on the secondary interface can not be reached.\nI see the traffic coming in on the node, but no return traffic.\n", record.AsymmetricRoute, 0.5, 0.65, "table 102", ""},
		{"no answer, one interface", "Pods can not be reached.\nI see the traffic coming in on the node, but no return traffic.\n", record.Unknown, 0, 0, "", "second interface and no answer"},
		{"a program's tunnel", "It is slow on our little router, 30 Mbps at most.\nThe log says: Missing WireGuard kernel module. Falling back to slow userspace implementation.\n", record.SenderCPU, 0.5, 0.65, "kernel's module", ""},
		{"the line's own rate", "I test from home to my server. I can't get more than my upstream connection speed, is that expected?\n", record.Unknown, 0, 0, "", ""},
		{"the line's own rate, said", "I test from home to my server.\nEach of us is limited to their outgoing connection speed.\n", record.LineRate, 0.5, 0.65, "-R", ""},
		{"a gateway and no rate", "Two networks peer, one has a NAT gateway. Sometimes connections time out and I don't know why.\n", record.Unknown, 0, 0, "", "provider's gateway"},
	})
}

// TestStandsStillAnyhow: a test that stands still with smaller packets too.
func TestStandsStillAnyhow(t *testing.T) {
	const run = "[  5]   0.00-1.00   sec   640 KBytes  5.24 Mbits/sec  410   41.0 KBytes       \n[  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    5   1.36 KBytes       \n[  5]   2.00-3.00   sec  0.00 Bytes  0.00 bits/sec    2   1.36 KBytes       \n[  5]   3.00-4.00   sec  0.00 Bytes  0.00 bits/sec    1   1.36 KBytes       \n"
	judgeHardware(t, []hardwareCase{
		{"the MTU may be it", "Uploads to my VPS stall.\n" + run, record.MTU, 0.4, 0.5, "ping -M do", ""},
		{"a smaller MTU changes nothing", "Uploads to my VPS stall.\nI set the MTU to 1380, no effect.\n" + run, record.Congestion, 0.4, 0.5, "mtr", ""},
	})
}
