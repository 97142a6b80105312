package pasted

import (
	"testing"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// TestBestPaths: a router that knows paths which are alike and uses one, or several.
func TestBestPaths(t *testing.T) {
	const asks = "Why does all the traffic to these nodes take the first of our two uplinks only?\n\n"
	table := func(first, second, localPref string) string {
		return asks + "edge7# show ip bgp\nBGP table version is 31, local router ID is 192.0.2.7\nStatus codes: s suppressed, d damped, h history, * valid, > best, i - internal\n              r RIB-failure, S Stale\nOrigin codes: i - IGP, e - EGP, ? - incomplete\n\n" +
			"    Network          Next Hop            Metric    LocPrf       Weight Path\n" + first + " 198.51.100.0/24   192.0.2.21           0        100          0        ?\n" + second + "                   192.0.2.22           0        " + localPref + "          0        ?\n"
	}
	frr := func(mark string) string {
		return asks + "spine1# show ip bgp\nBGP table version is 5, local router ID is 192.0.2.1, vrf id 0\nDefault local pref 100, local AS 65101\nStatus codes:  s suppressed, d damped, h history, u unsorted, * valid, > best, = multipath,\n               i internal, r RIB-failure, S Stale, R Removed\nNexthop codes: @NNN nexthop's vrf id, < announce-nh-self\nOrigin codes:  i - IGP, e - EGP, ? - incomplete\n\n     Network          Next Hop            Metric LocPrf Weight Path\n" +
			" *>  198.51.100.0/24  192.0.2.21               0             0 65102 i\n *" + mark + "                   192.0.2.22               0             0 65102 i\n"
	}
	prefix := func(more string) string {
		return asks + "edge7# show ip bgp 198.51.100.40/32\nBGP routing table entry for 198.51.100.40/32\nPaths: (2 available, best #2, table Default-IP-Routing-Table)\n  Advertised to non peer-group peers:\n  192.0.2.22\n  65010\n    192.0.2.22 from 192.0.2.22 (192.0.2.22)\n      Origin incomplete, localpref 100, valid, external" + more + "\n      Last update: Tue Jul 27 19:01:04 2021\n\n  65010\n    192.0.2.21 from 192.0.2.21 (192.0.2.21)\n      Origin incomplete, localpref 100, valid, external" + more + ", best\n      Last update: Tue Jul 27 19:00:40 2021\n"
	}
	nxos := func(second string) string {
		return asks + "leaf9# show ip bgp 198.51.100.0/24\nBGP routing table information for VRF default, address family IPv4 Unicast\nBGP routing table entry for 198.51.100.0/24, version 55\nPaths: (2 available, best #1)\nFlags: (0x8008001a) (high32 00000000) on xmit-list, is in urib, is best urib route, is in HW\nMultipath: eBGP\n\n  Advertised path-id 1\n  Path type: external, path is valid, is best path, no labeled nexthop, in rib\n  AS-Path: 65002 , path sourced external to AS\n    192.0.2.21 (metric 0) from 192.0.2.21 (192.0.2.121)\n      Origin IGP, MED not set, localpref 100, weight 0\n\n  Path type: external, path is valid, " + second + ", no labeled nexthop\n  AS-Path: 65002 , path sourced external to AS\n    192.0.2.22 (metric 0) from 192.0.2.22 (192.0.2.122)\n      Origin IGP, MED not set, localpref 100, weight 0\n"
	}
	judgeHardware(t, []hardwareCase{
		{"one of two", table("*>i", "* i", "100"), record.SingleLink, 0.5, 0.65, "2 paths to 198.51.100.0/24 alike", ""},
		{"one is better", table("*>i", "* i", "90"), record.Unknown, 0, 0, "", "knows paths that are alike"},
		{"both", table("*>i", "*mi", "100"), record.Unknown, 0, 0, "", "knows paths that are alike"},
		{"FRR, one", frr(" "), record.SingleLink, 0.5, 0.65, "maximum-paths", ""},
		{"FRR, both", frr("="), record.Unknown, 0, 0, "", "knows paths that are alike"},
		{"a prefix", prefix(""), record.SingleLink, 0.5, 0.65, "2 paths to 198.51.100.40/32 alike", ""},
		{"a prefix by both", prefix(", multipath"), record.Unknown, 0, 0, "", "knows paths that are alike"},
		{"NX-OS", nxos("not best reason: newer EBGP path"), record.SingleLink, 0.5, 0.65, "2 paths to 198.51.100.0/24 alike", ""},
		{"NX-OS, both", nxos("is multipath"), record.Unknown, 0, 0, "", "knows paths that are alike"},
		{"NX-OS, one is better", nxos("not best reason: AS Path"), record.Unknown, 0, 0, "", "knows paths that are alike"},
		{"by words", "Our USG is the router of the cluster.\nOnly a single node gets any load, caused by the lack of support for BGP multipath in it.\n", record.SingleLink, 0.45, 0.55, "one path of several", ""},
	})
}

// TestRefusedMTU: a link that takes no larger MTU, by its system's word.
func TestRefusedMTU(t *testing.T) {
	const asks = "NFS got slow when we went to jumbo frames in our storage network.\n\n"
	judgeHardware(t, []hardwareCase{
		{"ifconfig", asks + "# ifconfig eth3 mtu 9000\nSIOCSIFMTU: Invalid argument\n", record.MTU, 0.55, 0.7, "eth3 refuses the larger MTU", ""},
		{"ip", asks + "# ip link set dev enp3s0f0 mtu 9000\nError: mtu greater than device maximum.\n", record.MTU, 0.55, 0.7, "enp3s0f0 refuses", ""},
		{"an older ip", asks + "# ip link set dev vmbr1 mtu 9000\nRTNETLINK answers: Invalid argument\n", record.MTU, 0.55, 0.7, "vmbr1 refuses", ""},
		{"FreeBSD", asks + "# ifconfig re0 mtu 9000\nifconfig: ioctl SIOCSIFMTU (set mtu): Invalid argument\n", record.MTU, 0.55, 0.7, "re0 refuses", ""},
		{"another thing refused", asks + "# ip link set dev vmbr1 master br0\nRTNETLINK answers: Invalid argument\n", record.Unknown, 0, 0, "", "refuses the larger MTU"},
		{"back to 1500", asks + "# ip link set dev vmbr1 mtu 1500\nRTNETLINK answers: Invalid argument\n", record.Unknown, 0, 0, "", "refuses the larger MTU"},
	})
}

// TestAskedElse: a bond's usual hash where somebody asks about something else, and channels
// that are whole while traffic is lost.
func TestAskedElse(t *testing.T) {
	const bond = "Ethernet Channel Bonding Driver: v3.7.1 (April 27, 2011)\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\nTransmit Hash Policy: layer2+3 (2)\nMII Status: up\n\n802.3ad info\nLACP rate: fast\nActive Aggregator Info:\n\tAggregator ID: 1\n\tNumber of ports: 2\n"
	const channel = "root@leaf3:~# show interfaces portchannel\nFlags: A - active, I - inactive, Up - up, Dw - Down, N/A - not available,\n       S - selected, D - deselected, * - not synced\n  No.  Team Dev        Protocol     Ports\n-----  --------------  -----------  -------------------------\n  207  PortChannel207  LACP(A)(Up)  Ethernet16(S) Ethernet20(S)\n"
	judgeHardware(t, []hardwareCase{
		{"a label", "networkctl calls our bond degraded, though it is not.\n\n" + bond, record.Unknown, 0, 0, "", "chooses a port"},
		{"a rate", "The network's throughput over our bond is only 1 Gbit/s.\n\n" + bond, record.SingleLink, 0.4, 0, "", ""},
		{"a mode alone", "Why is our bond only as fast as one of its ports?\n\n$ nmcli -f bond connection show bond0\nbond.options:                           mode=active-backup,miimon=100\n", record.SingleLink, 0.4, 0.5, "active-backup", ""},
		{"a mode that adds up", "Why is our bond only as fast as one of its ports?\n\n$ nmcli -f bond connection show bond0\nbond.options:                           mode=balance-rr,miimon=100\n", record.Reordering, 0.5, 0.6, "", "stand by idle"},
		{"nothing asked", bond, record.SingleLink, 0.4, 0.5, "chooses a port", ""},
		{"no aggregator, by words", "We had to set its name by hand, or /proc/net/bonding/bond0 said \"bond bond0 has no active aggregator\".\n", record.LACPDown, 0.4, 0.6, "LACP", ""},
		{"by words of Chinese", "网卡用 bond4 的时候 lacp 协商不成功，请问怎么办？\n", record.LACPDown, 0.4, 0.6, "LACP", ""},
		{"whole", channel, scene.Healthy, 0.6, 0.8, "Nothing is wrong", ""},
		{"whole, and traffic is lost", "Permanent traffic loss is seen when one port of it is shut down.\n\n" + channel, record.Unknown, 0, 0, "", "Nothing is wrong"},
		{"whole, and too much comes", channel + "\nWith 240 Gbit/s by each of them the traffic towards the one egress link of 400G is hence over-subscribed, and it drops.\n", record.Congestion, 0.45, 0.55, "more is sent into a link", "Nothing is wrong"},
		{"the same path", "The VXLAN packets of all our flows are still hashed to the same ECMP path, and only that one is busy.\n", record.HashImbalance, 0.4, 0.5, "do not carry alike", ""},
		{"another path", "The VXLAN packets of our flows are hashed to different ECMP paths.\n", record.Unknown, 0, 0, "", "do not carry alike"},
	})
}

// TestResentCopies: a copy that writes in step, where somebody saw packets sent again, and
// rates that are told of something else.
func TestResentCopies(t *testing.T) {
	const copied = "# dd if=/dev/zero of=/mnt/nas/z bs=1M count=2000 oflag=sync\n2097152000 bytes (2.1 GB, 2.0 GiB) copied, 151.1 s, 13.9 MB/s\n"
	judgeHardware(t, []hardwareCase{
		{"in step", "Copies to the server are slow.\n\n" + copied, record.Application, 0.8, 0, "writes synchronously", ""},
		{"sent again", "Copies to the server are slow, a capture shows frequent packet re-transmissions.\n\n" + copied, record.Congestion, 0.45, 0.55, "the losses come first", ""},
		{"a dip", "Our NAS got 10 GbE, and reads by the cluster stay slow.\nEvery half hour the read throughput dropped to less than 120 MB/sec, nobody knows why.\n", record.Unknown, 0, 0, "", "what a gigabit carries"},
		{"another program fills it", "Our object store does 1 GB/s at most over the bond, why?\nWith nginx we have been able to push the full 20G across the NICs but this one doesn't saturate them.\n", record.Application, 0.45, 0.55, "another program is faster", ""},
	})
}
