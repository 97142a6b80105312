package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestUnevenAndHalf: links of a bundle that do not carry alike, ports that are outside, and
// copies of which nobody says by which link they went.
func TestUnevenAndHalf(t *testing.T) {
	const bond = "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nMII Status: up\n\n802.3ad info\nLACP rate: slow\nActive Aggregator Info:\n        Aggregator ID: 4\n        Number of ports: 1\n        Partner Mac Address: xx:xx:xx:xx:xx:21\n\nSlave Interface: enp4s0\nMII Status: up\nSpeed: 1000 Mbps\nAggregator ID: "
	judgeHardware(t, []hardwareCase{
		{"a port of another aggregator", bond + "3\n", record.LACPDown, 0.8, 0.9, "outside the LACP group", ""},
		{"a port of the active one", bond + "4\n", record.Unknown, 0, 0, "", "outside the LACP group"},
		{"not equally", "All of our LAGs between these switches are up.\nThe links of a LAG are not used evenly at all, the counters say.\n", record.HashImbalance, 0.4, 0.5, "do not carry alike", ""},
		{"evenly", "All of our LAGs between these switches are up.\nThe links of a LAG are used evenly by now, the counters say.\n", record.Unknown, 0, 0, "", "do not carry alike"},
		{"by chance", "We put two ports into a bond for the backups.\nMost runs come to one port's rate, occasionally one shows the combined rate.\n", record.HashImbalance, 0.5, 0.6, "other ports", ""},
		{"one link", "We put two ports into a bond for the backups.\nThe throughput is that of a single interface, whatever we run over it.\n", record.SingleLink, 0.4, 0.5, "", ""},
		{"a team of Windows", "Three 1gbps lines go to one switch, with New-NetSwitchTeam at the PC.\nWindows copies run at 112MBps, nothing more.\n", record.SingleLink, 0.5, 0.6, "one link is full", ""},
		{"two copies by a bundle", "With the two ports in a LAG, Samba gets 180 Mbps here.\nWith one port alone, Samba gets 930 Mbps there.\n", record.Unknown, 0, 0, "", "by another transfer"},
		{"two copies without one", "From the old PC, Samba gets 180 Mbps here.\nFrom the new PC, Samba gets 930 Mbps there.\n", record.Unknown, 0, 0, "", "by another transfer"},
	})
}

// TestOneDirection: what a guest, a switch's buffer or an offload makes of one direction.
func TestOneDirection(t *testing.T) {
	run := func(command, rate, retr string) string {
		return "$ " + command + "\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-20.00  sec  9.99 GBytes  " + rate + "  " + retr + "             sender\n[  5]   0.00-20.00  sec  9.99 GBytes  " + rate + "                  receiver\n"
	}
	const guest = "A Windows guest with virtio on our server is slow in one direction only.\n"
	judgeHardware(t, []hardwareCase{
		{"a guest receives slowly", guest + run("iperf3 -c 10.0.0.1", "8.90 Gbits/sec", "0") + run("iperf3 -R -c 10.0.0.1", "900 Mbits/sec", "0"), record.ReceiverCPU, 0.45, 0.55, "packets one by one", ""},
		{"a guest that loses", guest + run("iperf3 -c 10.0.0.1", "8.90 Gbits/sec", "0") + run("iperf3 -R -c 10.0.0.1", "900 Mbits/sec", "8100"), record.Unknown, 0, 0, "", "packets one by one"},
		{"no guest", "Our server is slow in one direction only.\n" + run("iperf3 -c 10.0.0.1", "8.90 Gbits/sec", "0") + run("iperf3 -R -c 10.0.0.1", "900 Mbits/sec", "0"), record.Unknown, 0, 0, "", "packets one by one"},
		{"an offload that slows", "We have a virtual firewall for all of our guests.\nWith LRO enabled on its cards, what it forwards becomes 40 times slower.\n", record.CardSlot, 0.6, 0.7, "Leave that one offload off", ""},
		{"an offload that does not", "We have a virtual firewall for all of our guests, which is slow.\nWith LRO enabled on its cards, what it forwards is no slower than before.\n", record.Unknown, 0, 0, "", "Leave that one offload off"},
		{"what helped, said later", "Downloads in the guest are slow.\n1. Open the adapter's properties\n2. Disable both entries of Large Send Offload there\nThis workaround fixes it until the next restart.\n", record.CardSlot, 0.6, 0.7, "Leave that one offload off", ""},
		{"what did not help", "Downloads in the guest are slow.\n1. Open the adapter's properties\n2. Disable both entries of Large Send Offload there\nThis has not fixed it at all.\n", record.Unknown, 0, 0, "", "Leave that one offload off"},
		{"oversized", "[bug] Frames of our lab are lost.\nThe \"oversized\" packets get dropped where they enter the bridge.\nOnce that MTU is adjusted, ping works.\n", record.MTU, 0.5, 0.6, "ping -M do", ""},
		{"a small buffer", "Uploads to the NAS are slow, downloads are not.\nThe Netgear has only a tiny packet buffer for its ports.\n", record.Congestion, 0.5, 0.6, "each burst", ""},
		{"a large buffer", "Uploads to the NAS are slow, downloads are not.\nThe Netgear has a huge packet buffer for its ports.\n", record.Unknown, 0, 0, "", "each burst"},
		{"100 Mbit/s", "The copies to the new box got slow this week, I can't say why.\n" + run("iperf3 -c 10.0.0.1", "94.1 Mbits/sec", "0"), record.LineRate, 0.45, 0.5, "four pairs", ""},
		{"less than that", "The copies to the new box got slow this week, I can't say why.\n" + run("iperf3 -c 10.0.0.1", "61.3 Mbits/sec", "0"), record.Unknown, 0, 0, "", "four pairs"},
	})
}

// TestWaitsTold: programs that wait for each other, windows over long ways, and rates that
// the next clause tells.
func TestWaitsTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a buffer between", "We replicate a pool by zfs send between two servers.\nWith mbuffer at both ends it runs at 3 Gbit/s instead of 1.8 Gbit/s.\n", record.Application, 0.5, 0.6, "reads or writes in bursts", "by another transfer"},
		{"a buffer in vain", "We replicate a pool by zfs send between two servers, and that is slow.\nmbuffer at both ends made no difference at all.\n", record.Unknown, 0, 0, "", "reads or writes in bursts"},
		{"a window", "Fetching images is slow over a WAN with 90 ms RTT.\nThe program's maximum window size is the same since 2010.\n", record.ReceiveWindow, 0.45, 0.55, "in each round trip", ""},
		{"a window in a LAN", "Fetching images is slow over a LAN with 1 ms RTT.\nThe program's maximum window size is the same since 2010.\n", record.Unknown, 0, 0, "", "a window is spoken of"},
		{"the next clause", "Two PCs with a gigabit switch, iperf3 gives around 935 Mbit/s speeds.\nUsing Samba in the file manager, and get no more than a poor 55 MB/s (=440Mbits/s).\n", record.Application, 0.45, 0.55, "the copy (samba) gets 440 Mbit/s", ""},
		{"a link's own speed", "Two PCs with a gigabit switch, the port shows 1 Gbit/s speed.\nUsing Samba in the file manager, and get no more than a poor 55 MB/s (=440Mbits/s).\n", record.Unknown, 0, 0, "", "the copy (samba) gets"},
		{"a letter for gigabits", "Tests by iperf3 from the PC get 2.3G both ways.\nCopying files to it by SMB runs at around 900 Mbps.\n", record.Application, 0.4, 0.55, "gets 900 Mbit/s", ""},
		{"a card's speed", "The PC has a card of 2.5G and iperf3 on it.\nCopying files to it by SMB runs at around 900 Mbps.\n", record.Unknown, 0, 0, "", "gets 900 Mbit/s"},
		{"cores", "Beyond a few million packets a second it drops packets.\nOur cores jump to 100% then, and not before.\n", record.SenderCPU, 0.5, 0.65, "", ""},
		{"squeezed", "The load of CPU0 grows with the traffic, and it is slow.\nFor that CPU alone time_squeezed is high.\n", record.ReceiverCPU, 0.5, 0.65, "time_squeeze", ""},
		{"loaded", "It is slow, 400 Mbit/s at most.\nThe guest's CPU is highly loaded during the run.\n", record.SenderCPU, 0.5, 0.65, "top -H", ""},
		{"not loaded", "It is slow, 400 Mbit/s at most.\nThe guest's CPU is not highly loaded during the run.\n", record.Unknown, 0, 0, "", "the processor is the limit"},
		{"alot", "Can I send snapshots another way? ssh eats up alot of cpu there.\n", record.SenderCPU, 0.5, 0.6, "aes128-gcm", ""},
	})
}

// TestIndented: outputs within Markdown's blocks of code, and what is indented by itself.
func TestIndented(t *testing.T) {
	const ovs = "$ ovs-appctl bond/show\n---- bond3 ----\nbond_mode: balance-slb\nlacp_status: off\nmember ens1f0: enabled\n  active member\n  may_enable: true\n  hash 7: 9830214 kB load\nmember ens1f1: enabled\n  may_enable: true\n"
	block := func(text string) string {
		return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n"
	}
	judgeHardware(t, []hardwareCase{
		{"as printed", ovs, record.SingleLink, 0.85, 0, "bucket 7", ""},
		{"a block", block(ovs), record.SingleLink, 0.85, 0, "bucket 7", ""},
		{"a block between sentences", "This is what our bond shows at the moment:\n\n" + block(ovs) + "\nWhy does the second port not send?\n", record.SingleLink, 0.85, 0, "bucket 7", ""},
		{"dashes that a forum set", strings.ReplaceAll(ovs, "--", "\u2013"), record.SingleLink, 0.85, 0, "bucket 7", ""},
		{"the bond's own part is missing", "member ens1f0: enabled\n  may_enable: true\nmember ens1f1: enabled\n  may_enable: true\n$ ovs-vsctl show\n7d2c3b1e-0000-4b2a-9a1f-000000000051\n    Bridge br-ex\n        Port bond3\n            Interface ens1f0\n            Interface ens1f1\n", record.Unknown, 0, 0, "", "LACP is current"},
	})
}

// TestOldVersions: an older version that was faster, disks that any link could carry, and
// what hosts compute.
func TestOldVersions(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"the older version", "Downloads in the bridged guest are very slow with 7.2.\nReverting to 7.1 improves performance to 200 mbit/s, not ideal.\n", record.CardSlot, 0.45, 0.5, "With an older version", ""},
		{"the older version in vain", "Downloads in the bridged guest are very slow with 7.2.\nReverting to 7.1 did not improve them.\n", record.Unknown, 0, 0, "", "With an older version"},
		{"not with that version", "Transfer speed from the guest over the router is really slow. I tested version 6.1.50 and this was not an issue.\n", record.CardSlot, 0.45, 0.5, "With an older version", ""},
		{"with that version too", "Transfer speed from the guest over the router is really slow. I tested version 6.1.50 and this was an issue as well.\n", record.Unknown, 0, 0, "", "With an older version"},
		{"the CPU of the NAS", "Samba to the NAS is slow, the network is not.\nI see that the CPU on the NAS is the bottleneck.\n", record.SenderCPU, 0.5, 0.65, "", ""},
		{"not the CPU of the NAS", "Samba to the NAS is slow, the network is not.\nI see that the CPU of the NAS is idle and the disk is the bottleneck.\n", record.Unknown, 0, 0, "", "the processor is the limit"},
		{"encryption", "Backups over SFTP to the NAS are slow.\nThe encryption bothers its CPU too much.\n", record.SenderCPU, 0.5, 0.65, "", ""},
		{"no encryption", "Backups over SFTP to the NAS are slow.\nThe encryption never bothers its CPU too much.\n", record.Unknown, 0, 0, "", "the processor is the limit"},
		{"any link", "The pool reads at 2 GB/s locally.\nNFS copies run at 300 MB/s over 10Gb and 40Gb, all the same.\n", record.Application, 0.4, 0.5, "", ""},
		{"one link of two", "The pool reads at 2 GB/s locally.\nNFS copies run at 300 MB/s over 10Gb and faster over 40Gb.\n", record.Unknown, 0, 0, "", "over any link"},
	})
}

// TestNominal: what a port shows is not what it carried, and one link of a bundle that a
// later sentence names.
func TestNominal(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"what a port shows", "Our two 10G ports are in a LAGG, slow to the NAS.\nEach interface is showing 10Gbps there.\n", record.Unknown, 0, 0, "", "one link is full"},
		{"what it carries", "Our two 10G ports are in a LAGG, slow to the NAS.\niperf3 runs come to 10Gbps there.\n", record.SingleLink, 0.4, 0.6, "one link", ""},
		{"pinned to one link", "NFS from this server is pinned to a single 1GbE link, it seems.\nWhy, even though it has a bond0 of two?\n", record.SingleLink, 0.4, 0.6, "", ""},
		{"a link of its own", "NFS from this server is pinned to a single 1GbE link, it seems.\nWhy, even though it has four cores?\n", record.Unknown, 0, 0, "", "one link is full"},
		{"signs within a sentence", "iperf3 between both servers gets 36 Gbit/s with parallel streams.\nBut an NFS client (mounted with vers=4.2 and rsize=1048576 and wsize=1048576, of the same server in the same rack) copies files at 6 Gbit/s only.\n", record.Application, 0.4, 0.6, "gets 6", ""},
	})
}

// TestFoundOff: offloads that somebody finds off, a processor that is full, and which end it is.
func TestFoundOff(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"found off", "The guest's network throughput is slow, 3 Gbits/sec of 10.\nAfter a while we found the csum/tso of its tap interface are off.\n", record.ReceiverCPU, 0.45, 0.5, "an offload is off", ""},
		{"found on", "The guest's network throughput is slow, 3 Gbits/sec of 10.\nAfter a while we found the csum/tso of its tap interface are on.\n", record.Unknown, 0, 0, "", "an offload is off"},
		{"all of it", "Wireguard is slow here, and the speed test ends with packet loss.\nIt uses CPU 100% then.\n", record.SenderCPU, 0.5, 0.6, "", ""},
		{"part of it", "Wireguard is slow here, and the speed test ends with packet loss.\nIt uses CPU 30% then.\n", record.Unknown, 0, 0, "", "the processor is the limit"},
		{"the end that receives", "We see dropped packets at 180 kpps coming over the tunnel's interface, it is slow.\nA single core will be at 100% CPU usage then.\n", record.ReceiverCPU, 0.5, 0.7, "one core is full", ""},
		{"the end that sends", "We see retransmits at 180 kpps leaving by the tunnel's interface, it is slow.\nA single core will be at 100% CPU usage then.\n", record.SenderCPU, 0.5, 0.7, "one core is full", ""},
	})
}

// TestHalfBundles: ports that a switch suspends, teams without carrier, and large frames
// beside a run with small ones.
func TestHalfBundles(t *testing.T) {
	team := func(name, first, second string) string {
		port := func(index, name, of, state string) string {
			flags := map[string]string{"UP": "BROADCAST,MULTICAST,UP,LOWER_UP", "DOWN": "NO-CARRIER,BROADCAST,MULTICAST,UP"}[state]
			return index + ": " + name + ": <" + flags + "> mtu 1500 qdisc pfifo_fast master " + of + " state " + state + " mode DEFAULT group default qlen 1000\n"
		}
		return "$ ip link\n38: " + name + ": <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc noqueue state DOWN mode DEFAULT group default\n" + port("17", "Ethernet0", name, first) + port("23", "Ethernet4", name, second)
	}
	const run = "# iperf3 -c 192.0.2.5\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  10.9 GBytes  9.39 Gbits/sec    0             sender\n"
	judgeHardware(t, []hardwareCase{
		{"half a team", team("PortChannel7", "UP", "DOWN"), record.LACPDown, 0.55, 0.65, "Ethernet4 without carrier", ""},
		{"a whole team", team("PortChannel7", "UP", "UP"), record.LACPDown, 0.55, 0.65, "takes none of them into use", "without carrier may"},
		{"a team without any", team("PortChannel7", "DOWN", "DOWN"), record.Unknown, 0, 0, "", "takes none of them into use"},
		{"half a bridge", team("br7", "UP", "DOWN"), record.Unknown, 0, 0, "", "takes none of them into use"},
		{"suspended", "Traffic is lost while a port of the Cisco switch is in suspended state with LACP.\nThen teamd moves all the traffic to the other port and recovers.\n", record.LACPDown, 0.5, 0.6, "the switch suspends a port", "return path"},
		{"not suspended", "Traffic is lost while a port of the Cisco switch is in use, with LACP and never suspended.\nThen teamd moves all the traffic to the other port and recovers.\n", record.Unknown, 0, 0, "", "the switch suspends a port"},
		{"the other interface", "The server has two cards, and connections to the second one are slow.\nThe traffic leaves by the other interface, I see.\n", record.AsymmetricRoute, 0.5, 0.65, "the one best route", ""},
		{"large frames", "When the MTU is changed to 9000 the speed drops to 0 here.\nWith an MTU of 1500:\n" + run, record.MTU, 0.45, 0.55, "ping -M do", ""},
		{"large frames that pass", "When the MTU is changed to 9000 the speed is the same here.\nWith an MTU of 1500:\n" + run, record.LineRate, 0.5, 0.55, "", "ping -M do -s 8972"},
	})
}

// TestPortsWithoutLink: ports of bundles without a link, by outputs that say it each in its
// own way.
func TestPortsWithoutLink(t *testing.T) {
	lagg := func(proto, carrier string, flags ...string) string {
		text := "# ifconfig lagg4\nlagg4: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tmedia: Ethernet autoselect\n\tstatus: " + carrier + "\n\tlaggproto " + proto + " lagghash l2,l3,l4\n"
		for i, f := range flags {
			text += "\tlaggport: ix" + string(rune('0'+i)) + " flags=" + f + "\n"
		}
		return text
	}
	linux := func(first string) string {
		return "Our bond is slow since yesterday.\n$ ifconfig\nbond3: flags=5187<UP,BROADCAST,RUNNING,MASTER,MULTICAST>  mtu 1500\n        inet 192.0.2.20  netmask 255.255.255.0\n\neth4: flags=" + first + "  mtu 1500\n        txqueuelen 1000  (Ethernet)\n\neth5: flags=6211<UP,BROADCAST,RUNNING,SLAVE,MULTICAST>  mtu 1500\n        txqueuelen 1000  (Ethernet)\n"
	}
	dladm := func(link string) string {
		return "# dladm show-aggr\nkey: 3 (0x0003) policy: L4      address: 0:14:4f:0:0:1 (auto)\n           device       address                 speed           duplex  link    state\n           nxge1        0:14:4f:0:0:1     " + link + "\n           nxge0        0:14:4f:0:0:2     1000  Mbps    full    up      attached\n"
	}
	slot := func(driver, gts, width string) string {
		return "[    3.6] " + driver + " 0000:07:00.0: PCI Express bandwidth of " + gts + "GT/s available\n[    3.6] " + driver + " 0000:07:00.0: (Speed:5.0GT/s, Width: x" + width + ", Encoding Loss:20%)\n"
	}
	judgeHardware(t, []hardwareCase{
		{"a lagg without any", lagg("loadbalance", "no carrier", "0<>", "0<>"), record.LACPDown, 0.7, 0.8, "ix0 and ix1 have no link", "gives each flow one link"},
		{"a lagg with one", lagg("roundrobin", "active", "4<ACTIVE>", "0<>"), record.SingleLink, 0.7, 0.8, "1 of 2 links", ""},
		{"a whole lagg", lagg("loadbalance", "active", "4<ACTIVE>", "4<ACTIVE>"), record.SingleLink, 0.45, 0.55, "gives each flow one link", "have no link"},
		{"a bond's port that does not run", linux("6147<UP,BROADCAST,SLAVE,MULTICAST>"), record.SingleLink, 0.8, 0.9, "eth4 has no link", ""},
		{"both run", linux("6211<UP,BROADCAST,RUNNING,SLAVE,MULTICAST>"), record.Unknown, 0, 0, "", "has no link"},
		{"Solaris 10", dladm("0     Mbps    unknown down    standby"), record.SingleLink, 0.8, 0.9, "nxge1 has no link", ""},
		{"Solaris 10, whole", dladm("1000  Mbps    full    up      attached"), record.Unknown, 0, 0, "", "has no link"},
		{"a slot for no such card", slot("ixgbe", "4", "1"), record.CardSlot, 0.6, 0.7, "x1 at 5 GT/s", ""},
		{"a slot for a gigabit", slot("igb", "4", "1"), record.Unknown, 0, 0, "", "PCIe slot limits"},
		{"a slot that does", slot("ixgbe", "16", "4"), record.Unknown, 0, 0, "", "PCIe slot limits"},
	})
}

// TestBundlesTold: what people say of a bundle, in the words of their own.
func TestBundlesTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"not all", "We noticed that this ESXi host wasn't utilizing all NICs that are assigned to its NIC team.\n", record.HashImbalance, 0.4, 0.5, "do not carry alike", ""},
		{"all", "We noticed that this ESXi host was utilizing all NICs that are assigned to its NIC team.\n", record.Unknown, 0, 0, "", "do not carry alike"},
		{"did not come up", "After the upgrade of the node the network bond did not come up, with 802.3ad.\n", record.LACPDown, 0.4, 0.6, "LACP has not agreed", ""},
		{"came up", "After the upgrade of the node the network bond did come up, with 802.3ad.\n", record.Unknown, 0, 0, "", "LACP has not agreed"},
		{"one way", "The bond has one port less since the link was down, which is slow.\nLACP packets come only from the switch then, none of ours is there.\n", record.LACPDown, 0.55, 0.65, "", ""},
		{"ECMP", "ECMP does not distribute the packets of our flows equally over its next hops.\n", record.HashImbalance, 0.4, 0.5, "do not carry alike", ""},
		{"few words", "LAG hashing doesn't work\nWe use SONiC with a port channel of four.\n", record.HashImbalance, 0.4, 0.5, "do not carry alike", ""},
		{"a slot's ceiling", "All four ports together carry 3.1 Gbps, three of them 2.8 Gbps.\nThere is a ceiling of about 3 Gbps for what goes through a Board 4's PCIe slot.\n", record.CardSlot, 0.5, 0.6, "share its lanes", ""},
		{"a slot that is none", "All four ports together carry 3.1 Gbps, three of them 2.8 Gbps.\nMaybe the PCIe bus is the bottleneck, I have not looked.\n", record.Unknown, 0, 0, "", "share its lanes"},
		{"a high load", "iperf from the guest comes to 1.4 Gbps only.\nThere is a very high CPU utilization during the test - around 80% system time.\n", record.SenderCPU, 0.5, 0.65, "", ""},
		{"a load at other times", "iperf from the guest comes to 1.4 Gbps only.\nThere is no high CPU utilization during the test - around 8% system time.\n", record.Unknown, 0, 0, "", "the processor is the limit"},
	})
}
