package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// hardwareCase is a text with the cause that comes first, how sure that is at least and
// at most (0 no bound), and words that the answer has, and has not.
type hardwareCase struct {
	name, text  string
	cause       record.Cause
	least, most float64
	says, never string
}

func judgeHardware(t *testing.T, cases []hardwareCase) {
	t.Helper()
	for _, c := range cases {
		a := judge(c.text)
		f := a.Findings[0]
		said := f.Text
		for _, m := range a.Missing {
			said += "\n" + m.String()
		}
		switch {
		case f.Cause != c.cause, f.Confidence < c.least, c.most > 0 && f.Confidence > c.most:
			t.Errorf("%s: %s %.2f, want %s from %.2f to %.2f: %s", c.name, f.Cause, f.Confidence, c.cause, c.least, c.most, said)
		case !strings.Contains(said, c.says):
			t.Errorf("%s: not said %q: %s", c.name, c.says, said)
		case c.never != "" && strings.Contains(said, c.never):
			t.Errorf("%s: said %q: %s", c.name, c.never, said)
		}
	}
}

// TestSlots: the kernel's and the drivers' lines about PCIe, of narrow slots and of
// those that are as they should be.
func TestSlots(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a narrow slot, by the kernel's line", "[    2.9] mlx5_core 0000:41:00.0: 15.752 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x2 link at 0000:40:03.1 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)\n", record.CardSlot, 0.6, 0.7, "at 0000:40:03.1, is x2 at 8 GT/s", "32 GT/s"},
		{"a narrow slot that carries what it can", "[    2.9] ice 0000:41:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at 0000:40:03.1 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)\n# iperf3 -c 192.0.2.2 -P 8 | grep SUM.*rec\n[SUM]   0.00-10.04  sec  30.1 GBytes  25.8 Gbits/sec                  receiver\n", record.CardSlot, 0.9, 0, "x4 at 8 GT/s", ""},
		{"a slower generation, ports not known", "[    2.9] ice 0000:41:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:40:03.1 (capable of 126.024 Gb/s with 16.0 GT/s PCIe x8 link)\n", record.CardSlot, 0.36, 0.5, "where its ports together need more", ""},
		{"a slower generation that the port does not need", "[    2.9] bnxt_en 0000:41:00.0 ens3: NIC Link is Up, 25000 Mbps full duplex, Flow control: none\n[    3.1] bnxt_en 0000:41:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:40:03.1 (capable of 126.024 Gb/s with 16.0 GT/s PCIe x8 link)\n", record.Unknown, 0, 0, "", "PCIe slot limits"},
		{"a slot that fits", "[    2.1] mlx5_core 0000:81:00.1: 252.048 Gb/s available PCIe bandwidth (16.0 GT/s PCIe x16 link)\n", record.Unknown, 0, 0, "", "PCIe slot limits"},
		{"ixgbe that is content", "[    1.9] ixgbe 0000:05:00.0: PCI Express bandwidth of 32GT/s available\n[    1.9] ixgbe 0000:05:00.0: (Speed:5.0GT/s, Width: x8, Encoding Loss:20%)\n", record.Unknown, 0, 0, "", "PCIe slot limits"},
		{"ixgbe that complains", "[    1.9] ixgbe 0000:05:00.0: PCI Express bandwidth of 8GT/s available\n[    1.9] ixgbe 0000:05:00.0: (Speed:5.0GT/s, Width: x2, Encoding Loss:20%)\n[    1.9] ixgbe 0000:05:00.0: This is not sufficient for optimal performance of this card.\n", record.CardSlot, 0.6, 0, "x2 at 5 GT/s", ""},
		{"an old ixgbe", "[    2.1] ixgbe 0000:01:00.0: (PCI Express:5.0GT/s:Width x4) 00:00:5e:00:53:01\n[    2.1] ixgbe 0000:01:00.0: PCI-Express bandwidth available for this card is not sufficient for optimal performance.\n", record.CardSlot, 0.6, 0, "x4 at 5 GT/s", ""},
		{"an e1000e of one lane", "[    2.1] e1000e 0000:03:00.0 eth1: (PCI Express:2.5GT/s:Width x1) 00:00:5e:00:53:01\n[    8.1] e1000e 0000:03:00.0 eth1: NIC Link is Up 1000 Mbps Full Duplex, Flow Control: None\n", record.Unknown, 0, 0, "", "PCIe slot limits"},
		{"mlx4 in half its lanes", "[    4.4] mlx4_core 0000:05:00.0: PCIe link speed is 8.0GT/s, device supports 8.0GT/s\n[    4.4] mlx4_core 0000:05:00.0: PCIe link width is x4, device supports x8\n", record.CardSlot, 0.6, 0, "x4 at 8 GT/s", ""},
		{"mlx4 in all its lanes", "[    4.4] mlx4_core 0000:05:00.0: PCIe link speed is 8.0GT/s, device supports 8.0GT/s\n[    4.4] mlx4_core 0000:05:00.0: PCIe link width is x8, device supports x8\n", record.Unknown, 0, 0, "", "PCIe slot limits"},
		{"bnx2x of two ports in four lanes", "[    1.9] bnx2x 0000:04:00.0 eth4: Broadcom NetXtreme II BCM57810 10 Gigabit Ethernet XGb (B0) PCI-E x4 5GHz (Gen2) found at mem 92000000, IRQ 32, node addr 00:00:5e:00:53:01\n[    8.9] bnx2x 0000:04:00.0 eth4: NIC Link is Up, 10000 Mbps full duplex, Flow control: none\n[    8.9] bnx2x 0000:04:00.1 eth5: NIC Link is Up, 10000 Mbps full duplex, Flow control: none\n", record.CardSlot, 0.7, 0, "x4 at 5 GT/s", ""},
		{"a slot by /sys", "root@n1:~# grep . /sys/class/net/ens1f0/device/*_link_*\n/sys/class/net/ens1f0/device/current_link_speed:8.0 GT/s PCIe\n/sys/class/net/ens1f0/device/current_link_width:4\n/sys/class/net/ens1f0/device/max_link_speed:8.0 GT/s PCIe\n/sys/class/net/ens1f0/device/max_link_width:16\nroot@n1:~# ethtool ens1f0 | grep Speed\n\tSpeed: 100000Mb/s\n", record.CardSlot, 0.7, 0, "the card of ens1f0", ""},
		{"firmware that knows a wider slot", "# lspci -vv -s 03:00.0\n03:00.0 Ethernet controller: Intel Corporation Ethernet Controller X710 for 10GbE SFP+ (rev 02)\n\tLnkCap:\tPort #0, Speed 8GT/s, Width x8, ASPM L1\n\tLnkSta:\tSpeed 8GT/s, Width x1 (downgraded)\n# dmidecode -t slot\nSystem Slot Information\n\tDesignation: PCIE2\n\tType: x8 PCI Express 3\n\tCurrent Usage: In Use\n\tBus Address: 0000:03:00.0\n", record.CardSlot, 0.6, 0, "seat the card anew", ""},
	})
}

// TestDriverLogs: what drivers and the bond write of ports that are slow, stuck or of
// unknown speed, and what they write where all is well.
func TestDriverLogs(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"unstamped lines of an old driver, in a bond", "tg3 0000:03:00.0: eth2: Link is up at 100 Mbps, full duplex\ntg3 0000:03:00.1: eth3: Link is up at 1000 Mbps, full duplex\nbonding: bond1: enslaving eth2 as a backup interface with an up link.\nbonding: bond1: enslaving eth3 as a backup interface with an up link.\n", record.LineRate, 0.7, 0.8, "eth2 negotiated 100 Mbit/s", ""},
		{"two ports of one speed", "bnx2 0000:02:00.0: eth0: NIC Copper Link is Up, 1000 Mbps full duplex\nbnx2 0000:02:00.1: eth1: NIC Copper Link is Up, 1000 Mbps full duplex\n", record.Unknown, 0, 0, "", "negotiated"},
		{"a storage port and a slower one on another card", "[   11.1] igb 0000:05:00.0 eno1: igb: eno1 NIC Link is Up 1000 Mbps Full Duplex, Flow Control: RX\n[   11.4] ixgbe 0000:82:00.0 ens2f0: NIC Link is Up 10 Gbps, Flow Control: RX/TX\n", record.Unknown, 0, 0, "", "negotiated"},
		{"ports of two speeds on one card, on purpose", "[   11.1] i40e 0000:82:00.0 ens2f0: NIC Link is Up, 1000 Mbps Full Duplex, Flow Control: None\n[   11.4] i40e 0000:82:00.1 ens2f1: NIC Link is Up, 10 Gbps Full Duplex, Flow Control: None\n", record.Unknown, 0, 0, "", "negotiated"},
		{"a link that came back slower", "[ 1234.5] r8169 0000:03:00.0 enp3s0: Link is Up - 2.5Gbps/Full - flow control rx/tx\n[ 1334.5] r8169 0000:03:00.0 enp3s0: Link is Down\n[ 1338.5] r8169 0000:03:00.0 enp3s0: Link is Up - 100Mbps/Full - flow control off\n", record.LineRate, 0.6, 0.75, "ran at 2.50 Gbit/s before", ""},
		{"a link that first came up slowly", "[    4.5] e1000e 0000:00:1f.6 eno1: NIC Link is Up 10 Mbps Full Duplex, Flow Control: None\n[    9.5] e1000e 0000:00:1f.6 eno1: NIC Link is Up 1000 Mbps Full Duplex, Flow Control: None\n", record.Unknown, 0, 0, "", "before"},
		{"half duplex in the log", "[   11.1] e1000e 0000:00:19.0 eth0: NIC Link is Up 100 Mbps Half Duplex, Flow Control: None\n", record.Congestion, 0.8, 0, "half duplex", ""},
		{"an e1000e that hangs", "[ 6110.1] e1000e 0000:00:1f.6 eno1: Detected Hardware Unit Hang:\n[ 6112.1] e1000e 0000:00:1f.6 eno1: Detected Hardware Unit Hang:\n[ 6114.1] e1000e 0000:00:1f.6 eno1: Detected Hardware Unit Hang:\n[ 6115.0] e1000e 0000:00:1f.6 eno1: Reset adapter unexpectedly\n", record.CardSlot, 0.7, 0, "ethtool -K eno1 tso off", ""},
		{"one watchdog, once", "[ 9110.1] NETDEV WATCHDOG: eno1 (igb): transmit queue 2 timed out\n[ 9113.1] igb 0000:02:00.0 eno1: igb: eno1 NIC Link is Up 1000 Mbps Full Duplex, Flow Control: RX\n", record.Unknown, 0, 0, "", "stopped sending"},
		{"a speed that was read later", "[   12.1] bond0: (slave eno2): failed to get link speed/duplex\n[   15.3] bond0: (slave eno2): link status definitely up, 10000 Mbps full duplex\n[   15.3] bond0: active interface up!\n", record.Unknown, 0, 0, "", "could not read the speed"},
		{"a link that went down and came back", "[   15.1] bond0: (slave ens1f1): link status definitely up, 100000 Mbps full duplex\n[ 4428.4] bond0: (slave ens1f1): speed changed to 0 on port 2\n[ 4428.5] bond0: (slave ens1f1): link status definitely down, disabling slave\n[ 4431.1] bond0: (slave ens1f1): link status definitely up, 100000 Mbps full duplex\n", record.Unknown, 0, 0, "", "could not read the speed"},
		{"a link that is down", "[ 4428.3] igb 0000:02:00.1 ens1f1: igb: ens1f1 NIC Link is Down\n[ 4428.4] bond0: (slave ens1f1): speed changed to 0 on port 2\n", record.Unknown, 0, 0, "", "could not read the speed"},
		{"a speed that was never read", "[   15.3] bond0: (slave ens1f1): link status up again after 0 ms\n[   15.4] bond0: (slave ens1f1): speed changed to 0 on port 2\n", record.LACPDown, 0.7, 0, "speed and duplex of ens1f1", ""},
		{"a port that flaps beside a quiet one", restless("212", "8"), record.Congestion, 0.5, 0.7, "212 times", ""},
		{"a guest of ESXi that drops", esxtop("4.20"), record.ReceiverCPU, 0.6, 0.8, "drops 4.2 %", ""},
		{"a guest of ESXi that may not send", strings.Replace(esxtop("0.00"), "5302.10 1500.00   0.00", "5302.10 1500.00   9.80", 1), record.Congestion, 0.5, 0.7, "traffic shaping", ""},
		{"a guest of ESXi that takes all", esxtop("0.00"), record.Unknown, 0, 0, "", "virtual switch drops"},
		{"both ports saw the switch restart", restless("44", "42"), record.Unknown, 0, 0, "", "lost or found"},
	})
}

// restless is a bond whose ports changed their carrier that often.
func restless(first, second string) string {
	port := func(n, name, changes string) string {
		return n + ": " + name + ": <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000\n    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff\n" +
			"    RX:  bytes packets errors dropped  missed   mcast\n    900000000 900000 0 0 0 0\n    RX errors:  length    crc   frame    fifo overrun\n    0 0 0 0 0\n" +
			"    TX:  bytes packets errors dropped carrier collsns\n    900000000 900000 0 0 0 0\n    TX errors: aborted   fifo  window heartbt transns\n    0 0 0 0 " + changes + "\n"
	}
	return "root@n1:~# ip -s -s link\n" + port("2", "eno1", first) + port("3", "eno2", second)
}

// esxtop is its network screen with that part of a guest's packets dropped.
func esxtop(dropped string) string {
	return "[root@esx1:~] esxtop -b -n 1\n   PORT-ID              USED-BY  TEAM-PNIC DNAME              PKTTX/s  MbTX/s   PSZTX    PKTRX/s  MbRX/s   PSZRX %DRPTX %DRPRX\n" +
		"  33554436               vmnic0          - vSwitch0           8120.11   94.10 1500.00    4120.00    2.10   66.00   0.00   0.00\n" +
		"  67108870        1234:vm1.eth0     vmnic0 vSwitch0           8120.11   94.10 1500.00   44120.00 5302.10 1500.00   0.00   " + dropped + "\n"
}

// TestThreads: what iperf3 prints of its own thread, full and not.
func TestThreads(t *testing.T) {
	sum := func(rate string) string {
		return "[SUM]   0.00-10.00  sec  9.99 GBytes  " + rate + " Gbits/sec    3             sender\n[SUM]   0.00-10.04  sec  9.99 GBytes  " + rate + " Gbits/sec                  receiver\n"
	}
	cpu := func(sender, receiver string) string {
		return "CPU Utilization: local/sender " + sender + "% (1.0%u/90.0%s), remote/receiver " + receiver + "% (2.0%u/50.0%s)\n"
	}
	judgeHardware(t, []hardwareCase{
		{"a full thread, version said, slow", "# iperf3 -V -c 192.0.2.9 -P 6\niperf 3.12\n" + sum("3.12") + cpu("99.9", "40.2"), record.SenderCPU, 0.9, 0, "single thread", ""},
		{"a full thread of the receiver, version not said", "# iperf3 -V -c 192.0.2.9 -P 6\n" + sum("17.1") + cpu("61.0", "99.4"), record.ReceiverCPU, 0.8, 0.9, "3.16", ""},
		{"one stream, one thread, any version", "# iperf3 -V -c 192.0.2.9\niperf 3.18\n[  5]   0.00-10.00  sec  25.0 GBytes  21.4 Gbits/sec    0             sender\n[  5]   0.00-10.00  sec  25.0 GBytes  21.4 Gbits/sec                  receiver\n" + cpu("99.2", "70.1"), record.SenderCPU, 0.7, 0.85, "one stream", ""},
		{"iperf2 half as fast again", "# iperf -c 192.0.2.9 -P 4\n[SUM]  0.0-10.0 sec  27.5 GBytes  23.4 Gbits/sec\n# iperf3 -c 192.0.2.9 -P 4\n" + sum("12.8"), record.SenderCPU, 0.8, 0, "iperf2", ""},
		{"iperf2 as fast", "# iperf -c 192.0.2.9 -P 4\n[SUM]  0.0-10.0 sec  15.5 GBytes  13.4 Gbits/sec\n# iperf3 -c 192.0.2.9 -P 4\n" + sum("12.8"), record.Unknown, 0, 0, "", "single thread"},
		{"threads, several cores' worth", "# iperf3 -V -c 192.0.2.9 -P 6\niperf 3.17.1\n" + sum("33.1") + cpu("310.4", "280.1"), record.Unknown, 0, 0, "", "single thread"},
		{"a new iperf3 with a core's worth", "# iperf3 -V -c 192.0.2.9 -P 6\niperf 3.18\n" + sum("13.1") + cpu("99.4", "80.1"), record.Unknown, 0, 0, "", "single thread"},
		{"a thread with room", "# iperf3 -V -c 192.0.2.9 -P 6\niperf 3.9\n" + sum("5.11") + cpu("31.4", "40.1"), record.Unknown, 0, 0, "", "single thread"},
		{"line rate with a full thread", "# ethtool ens1 | grep Speed\n\tSpeed: 10000Mb/s\n# iperf3 -V -c 192.0.2.9 -P 4\niperf 3.9\n" + sum("9.41") + cpu("98.0", "99.0"), record.LineRate, 0.7, 0, "", "single thread"},
	})
}

// TestOverlays: a VXLAN device with the default offloads, where packets are lost and
// where they are not.
func TestOverlays(t *testing.T) {
	const on = "n1# ethtool -k flannel.1 | grep ip-generic\n\ttx-checksum-ip-generic: on\n"
	row := func(rate, again string) string {
		return "pod1# iperf3 -c 10.42.0.9\n[  5]   0.00-10.00  sec   242 MBytes  " + rate + "  " + again + "             sender\n[  5]   0.00-10.04  sec   240 MBytes  " + rate + "                  receiver\n"
	}
	node := "n1# iperf3 -c 192.0.2.2\n[  5]   0.00-10.00  sec  10.9 GBytes  9.35 Gbits/sec    9             sender\n[  5]   0.00-10.04  sec  10.9 GBytes  9.34 Gbits/sec                  receiver\n"
	judgeHardware(t, []hardwareCase{
		{"far below the underlay", on + row("181 Mbits/sec", "2210") + node, record.CardSlot, 0.7, 0.8, "tx-checksum-ip-generic off", ""},
		{"many segments sent again", on + row("181 Mbits/sec", "2210"), record.CardSlot, 0.45, 0.6, "tx-checksum-ip-generic off", ""},
		{"wrong checksums at the receiver", on + "n2# nstat -az | grep Csum\nTcpInCsumErrors                 48211              0.0\n", record.CardSlot, 0.8, 0, "TcpInCsumErrors", ""},
		{"an overlay as fast as its underlay", on + row("8.61 Gbits/sec", "12") + node, record.Unknown, 0, 0, "", "tx-checksum-ip-generic off"},
		{"no rate at all", on, record.Unknown, 0, 0, "", "tx-checksum-ip-generic off"},
		{"an overlay over a slow line", on + row("93.1 Mbits/sec", "0"), record.Unknown, 0, 0, "", "tx-checksum-ip-generic off"},
	})
}

// TestGuests: virtual cards of one queue and of several, with what was carried.
func TestGuests(t *testing.T) {
	row := func(prompt, to, rate string) string {
		return prompt + "# iperf3 -c " + to + " -P 4\n[SUM]   0.00-10.00  sec  12.9 GBytes  " + rate + " Gbits/sec  31             sender\n[SUM]   0.00-10.04  sec  12.9 GBytes  " + rate + " Gbits/sec                  receiver\n"
	}
	queues := func(host, n string) string {
		return "root@" + host + ":~# ethtool -i enp1s0 | head -1\ndriver: virtio_net\nroot@" + host + ":~# ethtool -l enp1s0\nChannel parameters for enp1s0:\nPre-set maximums:\nCombined:\t" + n + "\nCurrent hardware settings:\nCombined:\t" + n + "\n"
	}
	vtnet := func(options string) string {
		return "root@fw:~ # ifconfig vtnet0\nvtnet0: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\toptions=" + options + "\n\tether 52:54:00:00:53:01\n\tinet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.255\n"
	}
	single := func(to, rate string) string {
		return "root@fw:~ # iperf3 -c " + to + "\n[  5]   0.00-10.00  sec  1013 MBytes   " + rate + " Mbits/sec   21             sender\n[  5]   0.00-10.00  sec  1013 MBytes   " + rate + " Mbits/sec                  receiver\n"
	}
	xml := "root@kvm1:~# virsh dumpxml web | grep -A8 '<interface'\n    <interface type='bridge'>\n      <source bridge='br0'/>\n      <model type='virtio'/>\n    </interface>\n"
	judgeHardware(t, []hardwareCase{
		{"one queue that sends, beside a faster host", queues("vm3", "1") + row("root@vm3:~", "192.0.2.9", "9.02") + row("root@kvm1:~", "192.0.2.9", "23.4"), record.SenderCPU, 0.55, 0.7, "one queue", "cat /proc/net/bonding"},
		{"one queue that receives", queues("vm3", "1") + row("root@bare7:~", "192.0.2.3", "14.1"), record.ReceiverCPU, 0.45, 0.6, "top -H", ""},
		{"libvirt's XML without queues", xml + row("root@bare7:~", "192.0.2.3", "14.1") + row("root@bare7:~", "192.0.2.4", "24.3"), record.ReceiverCPU, 0.55, 0.7, "queues='4'", ""},
		{"four queues", queues("vm3", "4") + row("root@vm3:~", "192.0.2.9", "9.02") + row("root@kvm1:~", "192.0.2.9", "23.4"), record.Unknown, 0, 0, "", "one queue"},
		{"one queue at the line rate of its gigabit", queues("vm3", "1") + "root@vm3:~# iperf3 -c 192.0.2.9\n[  5]   0.00-10.04  sec  1.10 GBytes   941 Mbits/sec                  receiver\n", record.LineRate, 0.5, 0.55, "", "one queue"},
		{"one queue over a slow line", queues("vm3", "1") + single("203.0.113.9", "212"), record.Unknown, 0, 0, "", "one queue"},
		{"a firewall's guest without offloads, to its neighbour", vtnet("80028<VLAN_MTU,JUMBO_MTU,LINKSTATE>") + single("192.0.2.7", "910"), record.SenderCPU, 0.45, 0.6, "top -aSHP", ""},
		{"the same over the provider's line", vtnet("80028<VLAN_MTU,JUMBO_MTU,LINKSTATE>") + single("203.0.113.7", "480"), record.Unknown, 0, 0, "", "limits it most likely"},
		{"the same with offloads", vtnet("c00b8<VLAN_MTU,JUMBO_MTU,VLAN_HWCSUM,TXCSUM,RXCSUM,TSO4,LRO,LINKSTATE>") + single("192.0.2.7", "910"), record.Unknown, 0, 0, "", "limits it most likely"},
		{"a guest's interrupt is no PPPoE", vtnet("80028<VLAN_MTU,JUMBO_MTU,LINKSTATE>") + "root@fw:~ # top -aSH\nCPU 0:  0.4% user,  0.0% nice, 8.1% system, 90.1% interrupt,  1.4% idle\n  PID USERNAME    PRI NICE   SIZE    RES STATE    C   TIME    WCPU COMMAND\n   12 root        -92    -     0B   400K CPU0     0   2:11  98.12% [intr{irq28: virtio_pci1}]\n", record.ReceiverCPU, 0.85, 0, "virtual card", "PPPoE"},
		{"a card's interrupt with PPPoE", "root@fw:~ # ifconfig\nigb0: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tether 52:54:00:00:53:01\npppoe0: flags=88d1<UP,POINTOPOINT,RUNNING,NOARP,SIMPLEX,MULTICAST> metric 0 mtu 1492\nroot@fw:~ # top -aSH\nCPU 0:  0.4% user,  0.0% nice, 8.1% system, 90.1% interrupt,  1.4% idle\n  PID USERNAME    PRI NICE   SIZE    RES STATE    C   TIME    WCPU COMMAND\n   12 root        -92    -     0B   400K CPU0     0   2:11  98.12% [intr{irq264: igb0:rxq0}]\n", record.ReceiverCPU, 0.85, 0, "PPPoE", ""},
	})
}

// TestWork: a monitor while the work runs, beside what a test carried.
func TestWork(t *testing.T) {
	run := func(rate string) string {
		return "# iperf3 -c 192.0.2.9\n[  5]   0.00-10.00  sec  10.9 GBytes  " + rate + "    9             sender\n[  5]   0.00-10.04  sec  10.9 GBytes  " + rate + "                  receiver\n"
	}
	sar := func(received string) string {
		return "# sar -n DEV 5 1\nAverage:        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\nAverage:         eno1  69012.00   4411.00 " + received + "    311.20      0.00      0.00      0.00      8.39\n"
	}
	full := "# mpstat -P ALL 1 1\n10:11:12     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\nAverage:       0    2.00    0.00    8.00    0.00    0.00   90.00    0.00    0.00    0.00    0.00\nAverage:       1    1.00    0.00    2.00    0.00    0.00    0.00    0.00    0.00    0.00   97.00\n"
	judgeHardware(t, []hardwareCase{
		{"a copy far below the test", run("23.4 Gbits/sec") + sar("240100.50"), record.Application, 0.5, 0.6, "app_limited", ""},
		{"a link that nobody uses", run("23.4 Gbits/sec") + sar("14.50"), record.Unknown, 0, 0, "", "not the limit, as far"},
		{"the monitor saw the test", run("9.12 Gbits/sec") + sar("1151000.10") + run("4.12 Gbits/sec"), record.Unknown, 0, 0, "", "not the limit, as far"},
		{"the work fills a gigabit link", run("8.11 Gbits/sec") + sar("121800.00"), record.Unknown, 0, 0, "", "not the limit, as far"},
		{"a core is full", run("8.11 Gbits/sec") + sar("240100.50") + full, record.ReceiverCPU, 0.6, 0, "", "not the limit, as far"},
	})
}

// TestRDMA: NCCL over bonds of RDMA cards, and bridges with ACS.
func TestRDMA(t *testing.T) {
	nccl := func(busbw string) string {
		return "node1:411:411 [0] NCCL INFO NET/IB : Using [0]mlx5_bond_0:1/RoCE [1]mlx5_bond_1:1/RoCE [RO]; OOB bond0:192.0.2.11<0>\n# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n  8589934592    2147483648     float     sum      -1   692133   12.41   " + busbw + "      0   692011   12.41   " + busbw + "      0\n# Avg bus bandwidth    : " + busbw + "\n"
	}
	wire := func(device, qps, rate string) string {
		return "node1# ib_write_bw -d " + device + " -q " + qps + " --report_gbits 192.0.2.12\n                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : " + device + "\n Number of qps   : " + qps + "\t\tTransport type : IB\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536      10000            " + rate + "             " + rate + "\t\t     0.352711\n"
	}
	acs := func(redirect string) string {
		line := "\t\tACSCtl:\tSrcValid" + redirect + " TransBlk- ReqRedir" + redirect + " CmpltRedir" + redirect + " UpstreamFwd" + redirect + " EgressCtrl- DirectTrans-\n"
		return "# lspci -vvv | grep -i acsctl\n" + line + line
	}
	bridge := "# lspci -vvv\n00:1c.0 PCI bridge: Intel Corporation PCI Express Root Port #1\n\tLnkSta:\tSpeed 8GT/s, Width x8\n\tCapabilities: [220 v1] Access Control Services\n\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n"
	judgeHardware(t, []hardwareCase{
		{"one port of each bond", nccl("23.10") + wire("mlx5_bond_0", "4", "184.10"), record.SingleLink, 0.7, 0.8, "NCCL_IB_QPS_PER_CONNECTION=4", ""},
		{"both ports of each bond", nccl("44.60") + wire("mlx5_bond_0", "4", "184.10"), record.Unknown, 0, 0, "", "NCCL_IB_QPS_PER_CONNECTION"},
		{"queue pairs that somebody set", "NCCL_IB_QPS_PER_CONNECTION=4\n" + nccl("23.10") + wire("mlx5_bond_0", "4", "184.10"), record.Unknown, 0, 0, "", "NCCL_IB_QPS_PER_CONNECTION"},
		{"NCCL far below the wire", strings.ReplaceAll(nccl("9.10"), "_bond_", "_") + wire("mlx5_0", "2", "184.10"), record.CardSlot, 0.4, 0.5, "ACSCtl", ""},
		{"ACS, its cards cut off", acs("+"), record.CardSlot, 0.55, 0.7, "2 of 2", ""},
		{"no ACS, its cards cut off", acs("-"), record.Unknown, 0, 0, "", "have ACS on"},
		{"ACS where nobody speaks of GPUs or RDMA", bridge, record.Unknown, 0, 0, "", "has ACS on"},
	})
}

// TestHyperV: virtual machine queues that are off, and where that costs nothing.
func TestHyperV(t *testing.T) {
	table := func(on string) string {
		return "PS C:\\> Get-NetAdapterVmq\n\nName                           InterfaceDescription              Enabled BaseVmqProcessor MaxProcessors NumberOfReceive\n" +
			"                                                                                                        Queues\n" +
			"----                           --------------------              ------- ---------------- ------------- ---------------\n" +
			"Embedded NIC 1                 Broadcom NetXtreme-E 25Gb         " + on + "   0:2              8             31\n"
	}
	guest := func(weight, vrss string) string {
		return "PS C:\\> Get-VMNetworkAdapter -VMName sql1 | fl VMName,VmqWeight,VrssEnabled\n\nVMName      : sql1\nVmqWeight   : " + weight + "\nVrssEnabled : " + vrss + "\n"
	}
	speed := "PS C:\\> Get-NetAdapter\n\nName           InterfaceDescription      ifIndex Status MacAddress        LinkSpeed\n----           --------------------      ------- ------ ----------        ---------\nEmbedded NIC 1 Broadcom NetXtreme-E 25Gb       7 Up     00-00-5E-00-53-01    1 Gbps\n"
	judgeHardware(t, []hardwareCase{
		{"off on the card and for the guest", guest("0", "False") + table("False"), record.ReceiverCPU, 0.7, 0.85, "Enable-NetAdapterVmq", ""},
		{"off on the card", table("False"), record.ReceiverCPU, 0.6, 0.7, "Embedded NIC 1", ""},
		{"on for both", guest("100", "True") + table("True "), record.Unknown, 0, 0, "", "VMQ) are off"},
		{"off on a gigabit card", speed + table("False"), record.Unknown, 0, 0, "", "VMQ) are off"},
	})
}

// TestKernelWords: what the kernel says that it lacks, and what is said beside healthy
// traffic.
func TestKernelWords(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a full neighbour table", "[ 9110.1] neighbour: arp_cache: neighbor table overflow!\n[ 9110.2] neighbour: arp_cache: neighbor table overflow!\n", record.Congestion, 0.6, 0.8, "gc_thresh3", ""},
		{"no memory for TCP", "[1043311.1] TCP: out of memory -- consider tuning tcp_mem\n", record.ReceiveWindow, 0.5, 0.7, "sockstat", ""},
		{"wrong receive checksums", "[  811.2] ens1f0: hw csum failure\n[  811.2] CPU: 3 PID: 0 Comm: swapper/3 Not tainted 5.4.0-150-generic\n[  819.2] ens1f0: hw csum failure\n", record.CardSlot, 0.45, 0.6, "ethtool -K ens1f0 rx off", ""},
		{"renamed links and SYN cookies", "[    2.2] igb 0000:02:00.0 eno1: renamed from eth0\n[ 8110.1] TCP: request_sock_TCP: Possible SYN flooding on port 443. Sending cookies.\n", record.Unknown, 0, 0, "", "memory left"},
	})
}

// TestInterrupts: which cores a card's queues interrupt, and backlogs that were full.
func TestInterrupts(t *testing.T) {
	rows := func(name string, counts ...string) string {
		out := "# grep " + name + " /proc/interrupts\n"
		for i, c := range counts {
			out += "  4" + string(rune('4'+i)) + ":  " + c + "  IR-PCI-MSI 52428" + string(rune('4'+i)) + "-edge  " + name + "-TxRx-" + string(rune('0'+i)) + "\n"
		}
		return out
	}
	backlog := func(dropped string) string {
		const rest = " 000f0123 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
		return "# cat /proc/net/softnet_stat\n0a1b2c3d " + dropped + rest + "00000000\n0a1b2c3d 00000000" + rest + "00000001\n"
	}
	judgeHardware(t, []hardwareCase{
		{"all queues on one core", rows("ens1f0", "912233441          0          0          1", "812233441          0          0          0", "712233441          0          0          0"), record.ReceiverCPU, 0.7, 0.85, "All 3 receive queues of ens1f0 interrupt core 0", ""},
		{"a queue a core", rows("ens1f0", "912233441          0          0", "0 812233441          0", "0          0 712233441"), record.Unknown, 0, 0, "", "receive queues"},
		{"a card that idles", rows("ens1f0", "9122          0          0", "8122          0          0"), record.Unknown, 0, 0, "", "receive queues"},
		{"a host of one core", rows("ens1f0", "912233441", "812233441"), record.Unknown, 0, 0, "", "receive queues"},
		{"disks are no cards", strings.ReplaceAll(rows("nvme0", "912233441          0", "812233441          0"), "-TxRx-", "q"), record.Unknown, 0, 0, "", "receive queues"},
		{"a full backlog", backlog("00012abc"), record.ReceiverCPU, 0.6, 0.7, "netdev_max_backlog", ""},
		{"a backlog that took all", backlog("00000003"), record.Unknown, 0, 0, "", "netdev_max_backlog"},
	})
}
