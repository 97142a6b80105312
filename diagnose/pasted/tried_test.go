package pasted

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestTriedRemedies: what people say they tried, each beside the same in vain; and slots,
// hashes and speeds as they tell them.
func TestTriedRemedies(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a larger ring", "The shaper's 10G card stays at 4 Gbit/s and the switch counts pause frames.\nRaising the rx ring from 512 to 4096 solves it.\n", record.ReceiverCPU, 0.6, 0.65, "ethtool -G", ""},
		{"a larger ring in vain", "The shaper's 10G card stays at 4 Gbit/s and the switch counts pause frames.\nRaising the rx ring from 512 to 4096 makes no difference.\n", record.Unknown, 0, 0, "", "Larger rings help"},
		{"a larger window", "The upload to the servers overseas runs at 5 Mbit/s and the line has a gigabit.\nWith a larger window size set by hand the link can sustain 90.\n", record.ReceiveWindow, 0.6, 0.7, "tcp_rmem", ""},
		{"Windows is no window", "Uploads to the NFS server are slow from Windows, Linux could reach full speed.\nWe set both machines up alike.\n", record.Unknown, 0, 0, "", "A larger window"},
		{"another cable", "Only 300 Mbit/s between the two desktops over gigabit.\nI replaced the cable and it is full speed now.\n", record.Congestion, 0.55, 0.65, "CRC", ""},
		{"another cable in vain", "Only 300 Mbit/s between the two desktops over gigabit.\nI replaced the cable, same result.\n", record.Unknown, 0, 0, "", "Another cable"},
		{"an older driver", "Our 2.5G card receives at 200 Mbit/s only.\nDowngrading the driver fixed the slow receive.\n", record.CardSlot, 0.55, 0.65, "pin", ""},
		{"a setting that was forced", "Small pages load through the wireguard container, the rest hangs and is slow.\nThe MTU in its config fixed it once I took it out.\n", record.MTU, 0.7, 0.8, "ping -M do", ""},
		{"an MTU in vain", "The VPN is slow.\nSomebody says that lowering the MTU fixes it.\nLowering the MTU to 1300 made no difference here.\n", record.Unknown, 0, 0, "ping -M do", "Smaller packets help"},
		{"a large MTU of an overlay", "Two guests get 8.9 Gbps directly, through nebula only 480 Mbps.\nAfter I set the MTU to 8600 it can reach 1.72 Gbps.\n", record.ReceiverCPU, 0.6, 0.7, "9000", ""},
		{"a core that is full, and is not", "OpenVPN gives only 90 Mbit/s, openvpn is at 100% CPU.\nMeasured again the CPU load is only 20 % meanwhile.\n", record.SenderCPU, 0.4, 0.5, "mpstat", ""},
		{"two told causes", "OpenVPN is slow, only 90 Mbit/s, and openvpn is at 100% CPU.\nLowering the MTU to 1300 fixes the stalls.\n", record.MTU, 0.55, 0.61, "", ""},
		{"a slot that is full", "A card with four gigabit ports hangs on PCIe gen 2 x1, and four streams in parallel get 3.06 Gbps in all, not 4.\n", record.CardSlot, 0.6, 0.65, "lanes", ""},
		{"a slot with room", "A card with four gigabit ports hangs on PCIe gen 2 x4, and four streams in parallel get 3.06 Gbps in all, not 4.\n", record.Unknown, 0, 0, "", "PCIe generation"},
		{"SONiC without a hash to set", "Our SONiC switch sends all over one of two members, why?\nadmin@sonic:~$ sudo config switch-hash global lag-hash SRC_IP DST_IP\nError: LAG hash is not supported\n", record.SingleLink, 0.5, 0.55, "capabilities", ""},
		{"addresses alone", "Packets with one pair of addresses and many ports leave by a single output port.\nIt looks like only L3 hash is used for IPv4.\n", record.SingleLink, 0.6, 0.7, "L4_SRC_PORT", ""},
		{"ports too", "Packets with one pair of addresses and many ports leave by all output ports.\nThe hash takes L4 ports as well, it is slow for another reason.\n", record.Unknown, 0, 0, "", "reads no ports"},
		{"a link that comes up slow", "The board has gigabit and on a 2.5G switch it always negotiates to 100Mbps, the speed test says so as well.\n", record.LineRate, 0.55, 0.65, "four pairs", ""},
		{"a PHY that falls back", "Ethernet drops to a tenth now and then.\nRTL8211F Gigabit Ethernet mdio_mux-0.0:00: Downshift occurred from negotiated speed 1Gbps to actual speed 100Mbps, check cabling!\n", record.LineRate, 0.8, 0.9, "cable", ""},
		{"NCCL over a bond", "The bond has two ports of 200 Gb each.\nWith ib_write_bw the result is 395Gb/s.\nBut nccl-test shows 240Gb/s only.\n", record.SingleLink, 0.5, 0.6, "QPS_PER_CONNECTION", ""},
		{"NCCL as fast", "The bond has two ports of 200 Gb each.\nWith ib_write_bw the result is 395Gb/s.\nAnd nccl-test shows 380Gb/s only.\n", record.Unknown, 0, 0, "", "queue pair"},
		{"other guests are no copy's network", "Copying through the firewall guest gives 1 gbit/sec speed, iperf3 shows 850 Mbits/sec.\nOther VMs on the host are fine (iperf3 shows 18 Gbits/sec).\n", record.Unknown, 0, 0, "", "The network carries"},
		{"one flow measured, four told", "With four of them at once I get 92 Gbps, a single one is slow.\n# iperf3 -c 198.51.100.5\n[  5] local 198.51.100.4 port 46158 connected to 198.51.100.5 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  42.8 GBytes  36.7 Gbits/sec  3148             sender\n[  5]   0.00-10.00  sec  42.8 GBytes  36.7 Gbits/sec                  receiver\n", record.ReceiverCPU, 0.5, 0.6, "one core", ""},
	})
}

// TestUnlikeFrames: MTUs within one host that do not fit each other, and that do.
func TestUnlikeFrames(t *testing.T) {
	link := func(n int, name string, mtu int) string {
		return fmt.Sprintf("%d: %s: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu %d qdisc mq state UP mode DEFAULT group default qlen 1000\n    link/ether 02:00:5e:00:53:%02d brd ff:ff:ff:ff:ff:ff\n", n, name, mtu, n)
	}
	const hangs, storage = "Downloads inside containers hang, the host itself is fine.\n# ip link\n", "We enabled jumbo frames for iSCSI and large pings fail by the second port.\n# ip link\n"
	judgeHardware(t, []hardwareCase{
		{"a bridge above a cloud's card", hangs + link(2, "ens3", 1450) + link(3, "docker0", 1500), record.MTU, 0.6, 0.7, "daemon.json", ""},
		{"a bridge that fits", hangs + link(2, "ens3", 1450) + link(3, "docker0", 1450), record.Unknown, 0, 0, "", "daemon.json"},
		{"one port of two", storage + link(2, "ens1f0", 9000) + link(3, "ens1f1", 1500), record.MTU, 0.4, 0.5, "ens1f1", ""},
		{"both ports", storage + link(2, "ens1f0", 9000) + link(3, "ens1f1", 9000), record.MTU, 0.45, 0.55, "switch port", "1500) beside"},
	})
}

// TestTooWide: a mask that contains another link's subnet, and one that does not.
func TestTooWide(t *testing.T) {
	const text = "Transfers to other subnets stall since the second card is in.\n# ip addr\n2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n    inet 10.20.0.5/24 brd 10.20.0.255 scope global eth0\n3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n    inet 10.99.1.5/% scope global eth1\n"
	judgeHardware(t, []hardwareCase{
		{"a mask of a class", strings.Replace(text, "%", "8 brd 10.255.255.255", 1), record.AsymmetricRoute, 0.55, 0.65, "10.0.0.0/8", ""},
		{"a mask of a network", strings.Replace(text, "%", "24 brd 10.99.1.255", 1), record.Unknown, 0, 0, "", "10.0.0.0/8"},
	})
}

// TestMasked: a partner that somebody masked is a partner.
func TestMasked(t *testing.T) {
	const text = "With -P 16 both ports together get 23.4 Gbit/s only.\n# cat /proc/net/bonding/bond0\nEthernet Channel Bonding Driver: v5.14.0\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\nTransmit Hash Policy: layer2 (0)\nMII Status: up\n\n802.3ad info\nLACP active: on\nActive Aggregator Info:\n\tAggregator ID: 1\n\tNumber of ports: 2\n\tActor Key: 21\n\tPartner Key: 15\n\tPartner Mac Address: xx\n\nSlave Interface: ens1f0\nMII Status: up\nSpeed: 25000 Mbps\nAggregator ID: 1\n\nSlave Interface: ens1f1\nMII Status: up\nSpeed: 25000 Mbps\nAggregator ID: 1\n"
	judgeHardware(t, []hardwareCase{{"masked", text, record.SingleLink, 0.4, 0.9, "layer2", "partner answers"}})
}

// TestBareInterrupts: rows of /proc/interrupts whose numbers follow each other are no
// numbered lines.
func TestBareInterrupts(t *testing.T) {
	var b strings.Builder
	b.WriteString("Bursts lose packets in the guest:\n")
	for n := range 4 {
		fmt.Fprintf(&b, " %d:  27149014%d          0          0          0   PCI-MSI 5767168-edge      ens192-rxtx-%d\n", 56+n, n, n)
	}
	judgeHardware(t, []hardwareCase{{"all by core 0", b.String(), record.ReceiverCPU, 0.6, 0.9, "core 0", ""}})
}

// TestOVSByFlows: a bond that hashes flows and carries all by one member.
func TestOVSByFlows(t *testing.T) {
	members := func(a, b string) []string {
		return []string{"member eno1: enabled\n  active member\n  may_enable: true\n" + a, "member eno2: enabled\n  may_enable: true\n" + b}
	}
	judgeHardware(t, []hardwareCase{
		{"told beside its output", "One of its interfaces gets nearly all of the traffic of the LACP bond.\n" + bondShow("balance-tcp", "negotiated", "false", members("", "")...), record.HashImbalance, 0.45, 0.55, "bond-rebalance-interval", ""},
		{"loads on one", "The bond is slow.\n" + bondShow("balance-tcp", "negotiated", "false", members("  hash 71: 912203 kB load\n  hash 9: 3312 kB load\n", "  hash 3: 12 kB load\n")...), record.HashImbalance, 0.7, 0.75, "buckets", ""},
		{"loads on both", "The bond is slow.\n" + bondShow("balance-tcp", "negotiated", "false", members("  hash 71: 912203 kB load\n", "  hash 3: 812203 kB load\n")...), Healthy, 0, 1, "", "bond-rebalance-interval"},
	})
}

// TestReceivedInVain: datagrams and packets that arrive and are of no use, and the same in
// numbers that nobody minds.
func TestReceivedInVain(t *testing.T) {
	const udp, sums = "Our relay drops about a tenth of its syslog.\n# netstat -anus\nUdp:\n    6834146 packets received\n    287775 packets to unknown port received\n    %d packet receive errors\n    1305 packets sent\n    %d receive buffer errors\n    0 send buffer errors\n    MemErrors: %d\n",
		"One direction has 6.7 Gbit/s, the other only 20 Mbit/s.\n# ethtool -S em1\nNIC statistics:\n     rx_packets: 16924351\n     tx_packets: 10987251\n     rx_csum_offload_errors: %d\n"
	judgeHardware(t, []hardwareCase{
		{"all sockets' memory", fmt.Sprintf(udp, 1945378, 0, 1945378), record.ReceiverCPU, 0.6, 0.7, "udp_mem", ""},
		{"one socket's buffer", fmt.Sprintf(udp, 1945378, 1945378, 0), record.ReceiverCPU, 0.6, 0.7, "rmem_max", "pages of 4 KiB"},
		{"a few", fmt.Sprintf(udp, 538, 538, 0), record.Unknown, 0, 0, "", "were dropped there"},
		{"wrong checksums", fmt.Sprintf(sums, 123049), record.CardSlot, 0.5, 0.6, "tso off", ""},
		{"a few wrong checksums", fmt.Sprintf(sums, 49), record.Unknown, 0, 0, "", "wrong"},
	})
}

// TestToldOfTheWay: relays, pause frames, disks and connections as people tell of them.
func TestToldOfTheWay(t *testing.T) {
	const grows = "Copying from S3 to our c6a.12xlarge EC2 instance starts at 900 MBps in the beginning and gradually reduces to 300MBps.\n"
	judgeHardware(t, []hardwareCase{
		{"by a relay", "Tailscale is slow: direct I get 10 MB/s with scp, in relay mode 1 MB/s.\n", record.Shaper, 0.5, 0.6, "netcheck", "The network carries"},
		{"pause frames were it", "The link of 400 GbE is capped at 308 Gb/s and every drop counter is zero.\nIt turned out to be 802.3x pause.\n", record.Congestion, 0.55, 0.65, "ethtool -a", ""},
		{"pause frames in vain", "The link of 400 GbE is slow and every drop counter is zero.\nDisabling flow control made no difference.\n", record.Unknown, 0, 0, "", "one slow receiver"},
		{"a socket that is full", "Points are missing in the graphs: the UDP receive buffer of the relay is full at times and drops.\n", record.ReceiverCPU, 0.5, 0.6, "ss -uampn", ""},
		{"credits, or a volume's", grows + "- Volume Type: gp3\n", record.Application, 0.4, 0.5, "iostat", ""},
		{"one connection of several", "The build downloads at 21 Mbit/s only, though the line has more.\nTwo parallel downloads doubles the bandwidth.\n", record.ReceiveWindow, 0.4, 0.5, "ss -tin", ""},
		{"several that do not add up", "The build downloads at 21 Mbit/s only, though the line has more.\nTwo parallel downloads do not double the bandwidth.\n", record.Unknown, 0, 0, "", "each connection has a limit"},
		{"what an overlay takes", "TLS handshakes hang between the tenant's nodes, ping works.\nLarge packets (> 1350 bytes) are silently dropped in the VXLAN tunnel.\n", record.MTU, 0.4, 0.6, "ping -M do", ""},
		{"USB 2", "Why is the upload so bad? The gadget is a USB 2.0 ethernet adapter.\nDownload 300Mbps Upload 5Mbps here.\n", record.CardSlot, 0.5, 0.6, "lsusb -t", ""},
		{"USB 3", "Why is the upload so bad? The gadget is a USB 3.0 ethernet adapter.\nDownload 300Mbps Upload 5Mbps here.\n", record.Unknown, 0, 0, "", "480 Mbit/s"},
		{"one interface of a subnet", "All eight NICs have an address in the same subnet.\nAll traffic is routed through a single interface of the client.\n", record.AsymmetricRoute, 0.5, 0.6, "arp_ignore", ""},
		{"an address at the other's MAC", "Two USB adapters on the same subnet do not work together: ARP is answered with the other ones MAC.\n", record.AsymmetricRoute, 0.5, 0.6, "arp_ignore", ""},
		{"iperf2 beside iperf3 in one line", "Running iperf3 with 1 stream we see 7.9Gbps only. Running the same with iperf2 we see 23Gbps.\n", record.SenderCPU, 0.6, 0.65, "3.16", ""},
		{"busybox' cores", "Through the gateway only 1 Gbit/s, four cores.\nCPU0:   0% usr   0% sys   0% nic   0% idle   0% io   1% irq  98% sirq\nCPU1:   2% usr   4% sys   0% nic  90% idle   0% io   0% irq   1% sirq\nCPU2:   3% usr   5% sys   0% nic  90% idle   0% io   0% irq   0% sirq\nCPU3:   2% usr   4% sys   0% nic  91% idle   0% io   0% irq   0% sirq\n", record.ReceiverCPU, 0.6, 0.95, "", ""},
		{"an adapter that negotiates little", "My adapter only negotiates 100Mb/s, it is a 2.5G one and so is the port.\n", record.LineRate, 0.55, 0.65, "four pairs", ""},
		{"a guest's one queue", "On the VPS the allocated vCore goes to 100% at every download, and it is slow.\n", record.SenderCPU, 0.5, 0.6, "mpstat", ""},
	})
}
