package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestGroups: what sentences tell of several links together, each with a text that says
// nothing of the kind.
func TestGroups(t *testing.T) {
	const bond = "We have a bond (LACP) of two gigabit ports to the NAS.\n"
	judgeHardware(t, []hardwareCase{
		{"by chance", bond + "iperf3 -P 8 gives 940 Mbit/s, and on some runs it shows the combined rate of both links.\n", record.HashImbalance, 0.55, 0.6, "other ports", ""},
		{"never", bond + "iperf3 -P 8 gives 940 Mbit/s on all runs.\n", record.SingleLink, 0.4, 0.7, "", "other ports"},
		{"one is full", "Our filer has a two port ifgrp by IP.\nOne of the ports is heavily utilised while the other is less used, which is an issue.\n", record.HashImbalance, 0.4, 0.55, "do not carry alike", ""},
		{"both alike", "Our filer has a two port ifgrp by IP.\nBoth of the ports are heavily utilised, which is an issue.\n", record.Unknown, 0, 0, "", "do not carry alike"},
		{"dead ports in turn", "My round robin bond has two ports with a cable and two ports without a cable.\nThat reduces the throughput by half.\n", record.LACPDown, 0.6, 0.65, "miimon", ""},
		{"all in turn", "My round robin bond has two ports with a cable.\nThat reduces the throughput by half.\n", record.Unknown, 0, 0, "", "miimon 100"},
		{"LACP's packets late", "Our filer's bundle degrades. Its log has this every few seconds:\n[node-02: clock: net.ifgrp.lacp.link.inactive:error]: ifgrp a1a, port e1c has transitioned to an inactive state. The interface group is in a degraded state.\n", record.LACPDown, 0.5, 0.6, "LACP rate", ""},
		{"trunking", "We mount NFS by four uplinks and session trunking, but only one uplink is used.\n", record.SingleLink, 0.5, 0.65, "nconnect", ""},
		{"two ports of a card", "Each port alone reaches close to 100 Gbit/s, but with both ports together we get at most 124 Gbit/s.\n", record.CardSlot, 0.5, 0.6, "LnkSta", ""},
		{"two ports of a card, in Chinese", "\u6bcf\u4e2a\u7f51\u53e3\u5355\u72ec\u6d4b\u8bd5\u80fd\u8dd1\u6ee125G\uff0c\u53cc\u7f51\u53e3\u540c\u65f6\u6d4b\u8bd5\u7684\u65f6\u5019\u541e\u5410\u91cf\u4e0a\u4e0d\u53bb\uff0c\u6700\u591a32G\n", record.CardSlot, 0.5, 0.6, "LnkSta", ""},
		{"two ports that add up", "Each port alone reaches close to 100 Gbit/s, and both ports together fill 198 Gbit/s.\n", record.Unknown, 0, 0, "", "they share the slot"},
		{"a lane for two", "- single port 2.5G: 2.35 Gbits/sec, full speed\n- dual port 2.5G: 1.1 Gbits/sec on each, which is slow\n", record.CardSlot, 0.5, 0.6, "one lane", ""},
		{"of the instance", "The page of our Azure VM size says expected network performance 4000 Mbps.\nIs this the bandwidth per NIC, or do two NICs double it?\n", record.Shaper, 0.6, 0.65, "all its interfaces", ""},
		{"of one instance", "The page of our Azure VM size says expected network performance 4000 Mbps.\n", record.Unknown, 0, 0, "", "all its interfaces"},
		{"the slow line's pace", "I bundle two WANs by a tunnel, 80 Mbit/s and 12 Mbit/s.\nWith both the transfer drops to match the slow one.\n", record.Reordering, 0.5, 0.55, "overtake", ""},
		{"UDP over two", "Our two WAN links are bonded by ZeroTier with balance-xor.\nI get 190 Mbps by UDP over both, but TCP is extremely slow.\n", record.Reordering, 0.5, 0.6, "overtake", ""},
		{"round trips that differ", "MPTCP over LTE and WiFi carries 250 Mbit/s where both are near.\nWhen the RTT difference is large the sum gets worse.\n", record.ReceiveWindow, 0.45, 0.55, "longest round trip", ""},
		{"a join without an answer", "With MPTCP I see only one subflow in use, 90 Mbit/s; the second ones don't connect.\n", record.AsymmetricRoute, 0.55, 0.6, "table 102", ""},
		{"a second interface", "Our server has two NICs on different subnets.\nWhy does it not respond to pings of the second NIC from another network?\n", record.AsymmetricRoute, 0.55, 0.6, "rp_filter=2", ""},
		{"one interface", "Our server has a NIC.\nWhy does it not respond to pings from another network?\n", record.Unknown, 0, 0, "", "rp_filter=2"},
		{"a provider, each connection", "Several sftp at once reach 70 Mbit/s, one only 2 Mbit/s.\nI found that some ISPs limit the upload of a single connection.\n", record.Shaper, 0.55, 0.65, "each connection", ""},
		{"heaps", "iperf3 -u -b 30M sends very bursty traffic here, by the capture.\nThe router in the middle drops 22 % packet loss, while iperf2 loses nothing.\n", record.Application, 0.5, 0.6, "in heaps", ""},
		{"slow at 2.5G", "Our board's port drops when it links at 2.5 Gbit/s, which is bad.\nAt 1 Gbit/s it gets 940 Mbit/s, at 2.5 Gbit/s only 210 Mbit/s.\n", record.CardSlot, 0.6, 0.7, "flow control", ""},
		{"a newer driver", "The throughput of the port is much slower since the latest driver, 300 Mbit/s.\n", record.CardSlot, 0.4, 0.5, "newer version", ""},
		{"the vendor's radio", "With OpenWrt one stream over 5 GHz Wi-Fi gets 120 Mbit/s, which is slow.\nThe stock firmware with the same settings gets 410 Mbit/s.\n", record.CardSlot, 0.5, 0.55, "aggregation of frames", ""},
		{"a guest of a fast card", "Our nodes have a 100 Gb network card each.\nTwo guests on them get only 11 Gb/s with virtio adapters.\n", record.ReceiverCPU, 0.5, 0.6, "vhost", ""},
		{"a full bundle", bond + "Three clients together get 1.89 Gbit/s.\n", record.LineRate, 0.5, 0.55, "nothing is wrong", ""},
		{"no full bundle", bond + "Three clients together get 1.52 Gbit/s.\n", record.Unknown, 0, 0, "", "nothing is wrong"},
		{"a router and MACs", bond + "It decides by the MAC address which slave sends, and behind the router all packets have the same MAC address, so only one sends.\n", record.SingleLink, 0.55, 0.65, "layer3+4", ""},
		{"a hash of layer 2", "The NAS has two ports teamed by 802.3ad, with the hash type Layer 2.\nCopies with three PCs at a time show no improvement over one link.\n", record.HashImbalance, 0.5, 0.6, "by MAC addresses", ""},
		{"a hash of layer 2+3", "The NAS has two ports teamed by 802.3ad, with the hash type Layer 2+3.\nCopies with three PCs at a time show an improvement over one link.\n", record.Unknown, 0, 0, "", "by MAC addresses"},
		{"a child outside", "I made an 802.3ad bond of two ports, but one of the child devices is inactive all the time.\n", record.LACPDown, 0.45, 0.6, "", ""},
		{"half is lost", "Our bond of two ports is in mode 0 (round-robin), and half of all traffic is lost without a word.\n", record.LACPDown, 0.5, 0.6, "static group", ""},
		{"plugged again", "After a restart the LAGG is not usable until the cables are replugged, with errors on it.\n", record.LACPDown, 0.5, 0.6, "begin anew", ""},
		{"bound to the other", "With iperf3 -B and the address of the 10G card the data comes from the other NIC, 940 Mbit/s.\n", record.AsymmetricRoute, 0.5, 0.6, "bind-dev", ""},
		{"bound to the other, then a question", "iperf3 -c 10.0.0.1 -B 10.0.1.2 always leaves by the other interface; it is slow at 300 Mbit/s; what do I do?\n", record.AsymmetricRoute, 0.5, 0.6, "bind-dev", ""},
		{"bound to the other, and a link", "iperf3 -c 10.0.0.1 -B 10.0.1.2 always leaves by the other interface, see https://forum.example.com/show.php?id=55 for more. It is slow at 300 Mbit/s.\n", record.AsymmetricRoute, 0.5, 0.6, "bind-dev", ""},
		{"bound as it should be", "With iperf3 -B and the address of the 10G card the data comes from the 10G NIC, 940 Mbit/s.\n", record.LineRate, 0.4, 0.5, "", "bind-dev"},
		{"one WAN", "Our router bundles two WAN lines, but only one WAN is used, 150 Mbit/s.\n", record.SingleLink, 0.45, 0.6, "", ""},
		{"two lines, in Chinese", "\u4e24\u6761\u7535\u4fe1\u5bbd\u5e26\u540c\u65f6\u63a5\u4e0a\uff0c\u53ea\u6709\u4e00\u6761\u80fd\u8dd1\u6ee1\n", record.SingleLink, 0.5, 0.55, "addresses of their own", ""},
		{"both ports of a card", "A dual-port card gets 21 GB/s by one port.\nWith both ports in use the bandwidth does not improve.\n", record.CardSlot, 0.5, 0.6, "LnkSta", ""},
		{"one member of each", "After an update of the switch each of the eight port channels gets a share, but within each port-channel the packets leave by one and the same member.\n", record.HashImbalance, 0.4, 0.6, "", ""},
		{"commands of a switch", "The LAG hashing does not work here.\n" + portChannel + "vlan 100 has a tester at each end of it.\n", record.HashImbalance, 0.4, 0.6, "", "documentation"},
	})
}

// TestNotGroups: sentences that deny it, ask, say the contrary, or speak of something else.
func TestNotGroups(t *testing.T) {
	for _, c := range [][2]string{
		{"Each port alone is slow, near 3 Gbit/s, but both ports together are fine, about 46 Gbit/s in total.\n", "share the slot"},
		{"Each port reaches near line rate alone, and both ports together reach line rate, about 198 Gbit/s in total, as expected. But the file copy is slow.\n", "share the slot"},
		{"Single port: full speed 2.35 Gbits/sec. Dual port 2.5G: 2.35 Gbits/sec each, so all is well.\nBut the NAS copies at 100 MB/s only.\n", "bridge chip"},
		{"Each interface has 9000 MTU and works fine. The other day we lost the second server; only rates near 300 Mbit/s are seen on one interface.\n", "share the slot"},
		{"Uploads are slow, 20 Mbit/s. I asked the ISP: our provider does not limit a single connection.\n", "limits each connection"},
		{"One upload only reaches 20 Mbit/s. Does your ISP limit each connection? You should ask.\n", "limits each connection"},
		{"Our server has two NICs on different subnets and is slow. The second responds at once; one of the two interfaces is reachable at 940 Mbit/s and the other too.\n", "rp_filter=2"},
		{"Our router has two NICs. It did not respond to the second NIC last year; that was fixed. Now the first carries only 300 Mbit/s of 1 Gbit/s.\n", "rp_filter=2"},
		{"My round robin bond has two ports. The port is not connected to that switch but to another one. Rates drop to 500 Mbit/s throughput.\n", "miimon 100"},
		{"Round robin bond: cable unplugged as a test, the interface is not connected then, and we lost no traffic: failover works. But one stream gets 600 Mbit/s.\n", "miimon 100"},
		{"iperf3 -u -b 30M shows 2 % packet loss over our link. The traffic is not in bursts; iperf3 paces it, no bursts in the capture.\n", "in heaps"},
		{"Session trunking works well here: NFS fills all four uplinks. In the old setup only one uplink was used. Now write is slow, 300 Mbit/s.\n", "goes over one connection"},
		{"Everything goes over one link now, as we pulled the other. The nconnect option is set to 8. The read rate is 940 Mbit/s.\n", "goes over one connection"},
		{"At 1 Gbit/s we only get 200 Mbit/s, and at 10 Gbit/s only the best: 9.4 Gbit/s. Why is the port slow?\n", "faster of its speeds"},
		{"The port falls back to 1 Gbit/s when it runs at 10 Gbit/s in summer. It is slow.\n", "faster of its speeds"},
		{"With OpenWrt one stream over 5 GHz Wi-Fi gets 410 Mbit/s. The stock firmware gets only 120 Mbit/s, which is slow.\n", "aggregation of frames"},
		{"Our nodes have a 100 Gb network card each. Two guests get 24 Gb/s with SR-IOV, no virtio here. We have 95 Gb/s on the host.\n", "one virtio card"},
		{"ZeroTier over one link: UDP gets 90 Mbps and TCP is still slow, 20 Mbit/s, because the receiving disk is slow.\n", "overtake"},
		{"Our Azure VM has 4000 Mbps expected network performance. I know that bandwidth is per VM, not per NIC. With one stream I get 900 Mbit/s only.\n", "all its interfaces"},
		{"To share load, an instance may have several NICs. The baseline network bandwidth of an instance is 5 Gbps. The throughput per NIC was 900 Mbit/s with a bad cable on our own host.\n", "all its interfaces"},
		{"We have a LACP bundle of two 1G links. Three clients together get 1.88 Gbit/s down, but uploads of one are slow, 200 Mbit/s.\n", "nothing is wrong"},
		{"With no improvement in sight three PCs copy at 940 Mbit/s each over our 802.3ad team, whose hash is Layer 3+4.\n", "by MAC addresses"},
		{"One of the ports was inactive for a day, as we had pulled it; our bond has both now, and a copy is slow, 80 MB/s.\n", "two groups"},
		{"Only one WAN is there, 150 Mbit/s, and one LTE modem is used as a spare line.\n", "no part of what bundles"},
		{"iperf3 is slow, 10 Gbit/s on a 40G NIC. Binding IRQs to the NUMA node had no effect.\n", "bind-dev"},
		{"iperf3 -c 10.0.0.1 -B 10.0.1.2 shows 1 Gbit/s. Setting MTU 9000 had no effect; slow.\n", "bind-dev"},
		{"It is slow: -B 10.0.1.2 used to go over the other interface until I added a rule, and now goes out eth1.\n", "bind-dev"},
		{"Round robin (balance-rr) bond. Since I replaced the cable, half of the packets are no longer lost. But speed is still only 1 Gbit/s.\n", "static group"},
		{"Before I made a static channel on the switch, half of the packets were lost with our balance-rr bond. Now nothing is lost, but TCP is slow.\n", "static group"},
		{"The load balancer does round-robin over two web servers. One server was down and half of the replies were lost; now it's fixed but downloads are slow at 3 MB/s.\n", "static group"},
		{"LACP bond with a dead port, and after I unplugged the dead cable the rate is still slow, 300 Mbit/s.\n", "begin anew"},
		{"LACP bond with a layer2 hash: several clients together get 4 Gbit/s. Changing the MTU gave no improvement.\n", "by MAC addresses"},
		{"Both ports: bandwidth does not improve with jumbo frames, each gets 9.4 Gbit/s and together 18.8, but copies are slow.\n", "share the slot"},
		{"A single port of this 100 Gb/s card gets 48 Gb/s; both ports get 48 Gb/s each, and copies are slow.\n", "bridge chip"},
		{"MPTCP is slow, 90 Mbit/s.\n$ ip mptcp limits\nadd_addr_accepted 8 subflows 8\nDo not use ip mptcp limits set subflows 0 as the wiki says.\nBefore I had ip mptcp limits set subflows 0 and it was worse.\n", "refuses every further"},
		{"MPTCP is slow, 90 Mbit/s.\n$ ip mptcp endpoint\n10.0.1.2 id 2 subflow dev eth1\nI could try ip mptcp endpoint add 10.0.1.2 dev eth1 backup or so.\n", "marked as backup"},
		{"MPTCP is slow, 300 Mbit/s over LTE, with 4 subflows.\nip mptcp endpoint add 10.0.0.1 dev eth0 fullmesh\nip mptcp endpoint add 10.0.1.1 dev eth1 fullmesh\nserver:\nip mptcp endpoint add 10.9.0.1 dev eth0 signal\nip mptcp endpoint add 10.9.1.1 dev eth1 signal\n", "and not subflow"},
		{"We compare with AWS, but this is in our own rack: two hosts with 10 Gbit/s cards, slow.\n$ iperf3 -c 192.0.2.2 -t 10\nConnecting to host 192.0.2.2, port 5201\n[  5] local 192.0.2.1 port 51234 connected to 192.0.2.2 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  11.0 GBytes   9.41 Gbits/sec    0             sender\n[  5]   0.00-10.04  sec  11.0 GBytes   9.41 Gbits/sec                  receiver\n", "a single flow"},
	} {
		for _, f := range judge(c[0]).Findings {
			if strings.Contains(f.Text, c[1]) {
				t.Errorf("%s: named %s: %s", c[0], f.Cause, f.Text)
			}
		}
	}
}

// portChannel is how SONiC's command line makes a channel of eight ports.
const portChannel = "config portchannel add PortChannel1\nconfig portchannel member add PortChannel1 Ethernet0\nconfig portchannel member add PortChannel1 Ethernet1\nconfig portchannel member add PortChannel1 Ethernet2\nconfig portchannel member add PortChannel1 Ethernet3\nconfig portchannel member add PortChannel1 Ethernet4\nconfig portchannel member add PortChannel1 Ethernet5\nconfig portchannel member add PortChannel1 Ethernet6\nconfig portchannel member add PortChannel1 Ethernet7\nconfig portchannel add PortChannel2\nconfig portchannel member add PortChannel2 Ethernet8\nconfig portchannel member add PortChannel2 Ethernet9\nconfig portchannel member add PortChannel2 Ethernet10\nconfig portchannel member add PortChannel2 Ethernet11\n"

// TestMeshAlone: MPTCP endpoints as they are typed, with and without the flag that opens
// subflows.
func TestMeshAlone(t *testing.T) {
	typed := func(flags string) string {
		return "MPTCP gives only 90 Mbit/s here, by two links of 100.\nh1.cmd(\"ip mptcp limits set subflows 4 add_addr_accepted 4\")\nh1.cmd(\"ip mptcp endpoint add 10.0.0.2 dev h1-eth0 " + flags + "\")\nh1.cmd(\"ip mptcp endpoint add 10.0.1.2 dev h1-eth1 " + flags + "\")\n"
	}
	judgeHardware(t, []hardwareCase{
		{"fullmesh alone", typed("fullmesh"), record.SingleLink, 0.6, 0.7, "and not subflow", ""},
		{"both", typed("subflow fullmesh"), record.Unknown, 0, 0, "", "and not subflow"},
	})
}

// TestFarGPUs: where GPUs and cards are, as nvidia-smi shows it.
func TestFarGPUs(t *testing.T) {
	table := func(ways ...string) string {
		text := "nccl-tests are slow with two cards, not faster than with one.\n\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
		for i, way := range ways {
			row := []string{"SYS", "SYS", "SYS", "SYS"}
			row[i] = " X "
			text += "GPU" + string(rune('0'+i)) + "\t" + strings.Join(row, "\t") + "\t" + way + "\tSYS\t0-31\t0\n"
		}
		return text + "NIC0\tSYS\tSYS\tSYS\tSYS\t X \tSYS\nNIC1\tSYS\tSYS\tSYS\tSYS\tSYS\t X \n"
	}
	judgeHardware(t, []hardwareCase{
		{"far", table("SYS", "NODE", "SYS", "PIX"), record.CardSlot, 0.5, 0.6, "3 of 4 GPUs", ""},
		{"near", table("PIX", "PXB", "PHB", "SYS"), record.Unknown, 0, 0, "", "GPUs reach"},
	})
}

// TestFlowInCloud: one flow of a test that carries what the provider gives a flow.
func TestFlowInCloud(t *testing.T) {
	run := func(rate string) string {
		return "We run m4.16xlarge instances in a placement group, and one connection is slow.\n[  4] local 172.18.8.230 port 17684 connected to 172.18.0.223 port 5201\n[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd\n[  4]   0.00-1.00   sec  2.33 GBytes  20.0 Gbits/sec  222    227 KBytes\n[  4]   1.00-2.00   sec  1.18 GBytes  " + rate + " Gbits/sec  6239    210 KBytes\n[  4]   2.00-3.00   sec  1.18 GBytes  " + rate + " Gbits/sec  6933    122 KBytes\n"
	}
	judgeHardware(t, []hardwareCase{
		{"a cluster's", run("10.0"), record.Shaper, 0.6, 0.65, "a single flow", ""},
		{"another rate", run("7.60"), record.Congestion, 0.4, 0.7, "", "a single flow"},
	})
}
