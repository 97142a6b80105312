package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestBeside: what stands beside the links, as sentences tell of it, each with a text that
// says nothing of the kind.
func TestBeside(t *testing.T) {
	const wan = "Our OpenWrt has two WANs of 50 Mbit/s by mwan3, both online.\n"
	judgeHardware(t, []hardwareCase{
		{"rootless", "Uploads from our rootless containers are slow, 90 Mbit/s of a gigabit.\n", record.Application, 0.5, 0.55, "pasta", ""},
		{"containers", "Uploads from our containers are slow, 90 Mbit/s of a gigabit.\n", record.Unknown, 0, 0, "", "pasta"},
		{"the filter drops", "Pods cannot get out by the second card: the node's RPF check (reverse path filtering) drops what comes in there.\n", record.AsymmetricRoute, 0.6, 0.65, "rp_filter=2", ""},
		{"the filter is off", "Pods cannot get out by the second card, though rp_filter is 0 on all.\n", record.Unknown, 0, 0, "", "rp_filter=2"},
		{"lines that do not add up", wan + "A download gets 50 Mbit/s, the bandwidth is not aggregated.\n", record.SingleLink, 0.5, 0.55, "addresses of their own", ""},
		{"a proxy and lines", wan + "With our transparent proxy the traffic is going to only one WAN.\n", record.SingleLink, 0.54, 0.6, "the router's own", ""},
		{"lines that add up", wan + "Many downloads together get 97 Mbit/s.\n", record.Unknown, 0, 0, "", "addresses of their own"},
		{"over Wi-Fi", "We pay for a gigabit, and my old laptop gets only 81 Mbit/s over WiFi beside the router.\n", record.LineRate, 0.5, 0.55, "by cable", ""},
		{"over both", "We pay for a gigabit, and my old laptop gets only 81 Mbit/s over WiFi beside the router.\nOver ethernet it gets 85 Mbit/s as well.\n", record.Unknown, 0, 0, "", "shares the air"},
		{"another adapter", "The USB adapter gives 300 Mbit/s at most, which is slow.\nWith another adapter in that port it is at full speed.\n", record.CardSlot, 0.5, 0.55, "--set-eee", ""},
		{"another adapter, as slow", "The USB adapter gives 300 Mbit/s at most, which is slow.\nWith another adapter in that port it is slow too.\n", record.Unknown, 0, 0, "", "--set-eee"},
		{"another system", "NFS from Windows is slow, 12 MB/s at most.\nIt runs at full speed on Linux from the same laptop.\n", record.Application, 0.4, 0.5, "another system", ""},
		{"a device's window", "Copies to the branch routers take hours.\nip tcp window-size 4128\n", record.ReceiveWindow, 0.6, 0.65, "65535", ""},
		{"a device's large window", "Copies to the branch routers take hours.\nip tcp window-size 65535\n", record.Unknown, 0, 0, "", "4128"},
		{"a window with a decimal comma", "The client uploads at 1,88 MB per second over the WAN, which is slow.\nA ping averages to 8,30 ms. The TCP window was negotiated at 17 kB.\n", record.ReceiveWindow, 0.7, 0.8, "once in each round trip", ""},
		{"cores of interrupts", "The capture box loses packets at 20 Mpps.\nIts IRQ CPUs utilisation goes to 100% while it does.\n", record.ReceiverCPU, 0.45, 0.6, "full", ""},
		{"100 by default", "The 2.5G port of our board is slow.\nWhen I switch back from 2500Base-T to 100Base-TX it has a link, and 100 Mbit/s.\n", record.LineRate, 0.5, 0.7, "pairs", ""},
		{"large packets", "Pulls into nested containers stall where large packets have to be exchanged.\n", record.MTU, 0.4, 0.5, "ping -M do", ""},
		{"a test by a browser", "Between our two servers iperf gives 9.4 Gbps.\nA speed test website shows a download of 940 Mbps from the line.\n", record.Unknown, 0, 0, "", "storage"},
		{"a speed with a point", "A transceiver of 1.25 Gbps is in the router.\nBetween the servers behind it iperf gives 9.4 Gbps, slow.\n", record.Unknown, 0, 0, "", "25 Gbps"},
		{"Docker Desktop", "Downloads into the container are slow, 1400 kB/s at most.\nVersion: Docker Desktop 4.14 on Ubuntu.\n", record.Application, 0.5, 0.55, "vpnkit", "header"},
		{"the filter off helps", "Some pods reach no others over the mesh.\nI set rp_filter=0 on the nodes, which cleared up some of it.\n", record.AsymmetricRoute, 0.6, 0.65, "rp_filter=2", ""},
		{"one of the WANs", "We have multiple WAN connections here.\nA test goes out over a single WAN at a time, 50 Mbit/s.\n", record.SingleLink, 0.5, 0.55, "addresses of their own", ""},
		{"a workaround of offloads", "Services on other nodes time out over VXLAN.\nThe workaround is disabling the checksum offload of vxlan.calico.\n", record.CardSlot, 0.6, 0.75, "", ""},
		{"an offload off again", "TCP by this gateway gets 300 kbit/s.\nWith GRO turned on (the default; ethtool -K ens6 gro on) that is bad. Turning it off (ethtool -K ens6 gro off) gives the expected performance.\n", record.CardSlot, 0.6, 0.75, "", ""},
		{"a shaper off again, in Chinese", "千兆宽带，实际只能跑200m上下，关闭sqm后，测速恢复正常，能跑满900m以上\n", record.Shaper, 0.5, 0.6, "95 %", ""},
		{"a limiter on and off", "Copies by SMB from the router's disk are slow.\nSpeed with B/W Limiter: 6 MB/s\nSpeed without B/W Limiter: 25 MB/s\n", record.Shaper, 0.5, 0.6, "", "storage"},
		{"a tunnel's log of the path's MTU", "Pages by this tunnel hang.\nread UDPv4 [EMSGSIZE Path-MTU=1312]: Message too large (fd=3,code=90)\n", record.MTU, 0.6, 0.65, "ping -M do", ""},
		{"discovery that something breaks", "Large answers are slow or hang.\nDocker breaks Path MTU Discovery where the host uses IPsec: larger files time out.\n", record.MTU, 0.5, 0.65, "", ""},
		{"loss of speed", "Massive loss in speed with our WireGuard in the next town!\nOne server costs 10%, but this one 50% loss, which is not normal.\n", record.SenderCPU, 0.4, 0.5, "", "packets are lost"},
		{"another client of the server", "SMB from the Mac is slow.\nOnly 100 to 200 Mbps, but in Windows it can 1 Gbps.\n", record.Application, 0.4, 0.5, "another system", "disks"},
		{"a radio's list", "The access point is slow here.\n300.0 Mbit/s, 40MHz, MCS 15, Short GI\niperf shows 150 Mbit/s\n", record.LineRate, 0.5, 0.55, "bitrate", ""},
		{"a bond that waits", "Our active/passive bond is slow, just gigabit speeds.\n5 Gbit/s works fine with that card on its own.\n", record.SingleLink, 0.5, 0.6, "primary_reselect", ""},
		{"TCP next to nothing", "With UDP iperf3 can easily saturate the gigabit link, but by TCP the speed drops to about 70 kbit/s.\n", record.CardSlot, 0.5, 0.55, "gro off", ""},
		{"one way next to nothing", "Upload is almost 1 Gbps over a 1 Gbps link, but the download by -R yields 50 Kbps.\n", record.Unknown, 0, 0, "", "nothing is slow"},
		{"tcp_info of BBR", "Some ndt7 tests are slow.\n{\"BBRInfo\":{\"MinRTT\":2052},\"TCPInfo\":{\"State\":1,\"SndMSS\":1440,\"RTT\":24842,\"RTTVar\":3041,\"SndCwnd\":16,\"MinRTT\":2052,\"BusyTime\":1204000,\"RWndLimited\":55000,\"SndBufLimited\":0,\"BytesSent\":17601665,\"BytesRetrans\":5554240}}\n", record.Congestion, 0.55, 0.65, "32 % lost", "congestion_control=bbr"},
		{"tcp_info that waits for the receiver", "Some ndt7 tests are slow.\n{\"TCPInfo\":{\"State\":1,\"SndMSS\":1440,\"RTT\":24842,\"RTTVar\":3041,\"SndCwnd\":160,\"MinRTT\":2052,\"BusyTime\":1204000,\"RWndLimited\":955000,\"SndBufLimited\":0,\"BytesSent\":17601665,\"BytesRetrans\":0}}\n", record.ReceiveWindow, 0.7, 0.95, "79", ""},
		{"per cents of a rate", "Our UDP test is slow: iperf sent only 604 Mbit/s (95% of the target bandwidth) here.\n", record.Unknown, 0, 0, "", "iperf is full"},
		{"a hang, once", "Our storage link drops under load, which is slow.\nkernel: e1000e 0000:00:1f.6 eno1: Detected Hardware Unit Hang:\n  TDH                  <6d>\n", record.CardSlot, 0.5, 0.6, "stopped sending once", ""},
		{"a processor's load", "The tunnel is slow, 300 Mbit/s.\nIts bandwidth is being throttled due to my client's CPU usage.\n", record.SenderCPU, 0.5, 0.6, "", ""},
		{"counters of sockets", "Our collector is slow and loses a part of what is sent.\nThe box shows tons of RcvbufErrors while it runs at 3 Gbit/s.\n", record.ReceiverCPU, 0.5, 0.6, "rmem_max", ""},
		{"sums of large packets", "Pods cannot load pages by the gateway, it hangs.\nOn its bridge I saw large packets (larger than the 1500 MTU) with an incorrect checksum.\n", record.CardSlot, 0.5, 0.6, "tx off", ""},
		{"sums of any packets", "Pods cannot load pages by the gateway, it hangs.\nOn its bridge I saw packets with an incorrect checksum.\n", record.Unknown, 0, 0, "", "tx off"},
		{"interrupts in one place", "Our box forwards slowly.\nIts interrupts are concentrated in one queue that is bound to core 6.\n", record.ReceiverCPU, 0.5, 0.65, "", ""},
		{"Wi-Fi and a cable together", "I have Wi-Fi and LAN at once, 15 and 25 Mbit/s, balanced by a proxy.\nThe bandwidth remains the same as with one of them.\n", record.SingleLink, 0.5, 0.6, "", ""},
		{"an offload that many flows need", "We measure slow transfers here.\nWith three threads the throughput is double when offloads are enabled, but one thread is faster with HW offloads disabled.\nWhen offloads are enabled the total is at least double.\n", record.ReceiveWindow, 0.4, 0.5, "", "Without that offload"},
		{"a greeting", "Hi,\n\n# Setup\n\nThe board has a WROVER module and an SPI bus at 10 MHz with short wires between them.\nThe host is a small computer that runs the newest kernel and its own driver for it.\n\n# Tests\n\nThree tests were performed with a hotspot and a mirror nearby on the same evening.\nIn all cases a throughput of around 800 KiB/s was achieved by the download here.\n\nAny advice how the throughput can be increased on this kind of host?\n", record.Unknown, 0, 0, "", "documentation"},
	})
}

// TestRefusedSpeed: a driver that offers no faster speed than the link has.
func TestRefusedSpeed(t *testing.T) {
	const link = "The adapter links at 1 Gbit/s only.\nroot@nas:~# ethtool eth2\nSettings for eth2:\n\tSupported ports: [ TP MII ]\n\tSupported link modes:   100baseT/Full\n\t                        1000baseT/Full\n\tAdvertised link modes:  100baseT/Full\n\t                        1000baseT/Full\n\tSpeed: 1000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n"
	judgeHardware(t, []hardwareCase{
		{"refused", link + "root@nas:~# ethtool -s eth2 speed 5000\nCannot advertise speed 5000\n", record.LineRate, 0.6, 0.7, "no mode of 5.00 Gbit/s", ""},
		{"a slower one refused", link + "root@nas:~# ethtool -s eth2 speed 10\nCannot advertise speed 10\n", record.Unknown, 0, 0, "", "no mode of"},
		{"not tried", link, record.Unknown, 0, 0, "", "no mode of"},
	})
}

// TestFilledLine: a run at what a full link carries, where nobody says how fast any is.
func TestFilledLine(t *testing.T) {
	run := func(rate string) string {
		return "$ iperf3 -c 192.0.2.2 -t 10\nConnecting to host 192.0.2.2, port 5201\n[  5] local 192.0.2.1 port 51234 connected to 192.0.2.2 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  1.10 GBytes   " + rate + "    0             sender\n[  5]   0.00-10.04  sec  1.09 GBytes   " + rate + "                  receiver\n"
	}
	judgeHardware(t, []hardwareCase{
		{"a gigabit", run("941 Mbits/sec"), record.LineRate, 0.5, 0.55, "a link of 1.00 Gbit/s", ""},
		{"a tenth", run("94.1 Mbits/sec"), record.LineRate, 0.5, 0.55, "bad pair", ""},
		{"large frames", run("9.90 Gbits/sec"), record.LineRate, 0.5, 0.55, "a link of 10.0 Gbit/s", ""},
		{"less than one", run("870 Mbits/sec"), record.Unknown, 0, 0, "", "that is full"},
		{"a slower one beside", run("941 Mbits/sec") + run("312 Mbits/sec"), record.Unknown, 0, 0, "", "that is full"},
		{"a slow copy beside", "The copy gets 30 MB/s.\n" + run("941 Mbits/sec"), record.Application, 0.4, 0.6, "", "that is full"},
	})
}

// TestOneLinkBeside: a bond's hash is as sure as what is said of the rate makes it.
func TestOneLinkBeside(t *testing.T) {
	bond := func(policy string) string {
		return "$ cat /proc/net/bonding/bond0\nEthernet Channel Bonding Driver: v6.1.0\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\nTransmit Hash Policy: " + policy + "\nMII Status: up\n\n802.3ad info\nLACP rate: slow\n\nSlave Interface: eth0\nMII Status: up\nSpeed: 1000 Mbps\nDuplex: full\nAggregator ID: 1\n\nSlave Interface: eth1\nMII Status: up\nSpeed: 1000 Mbps\nDuplex: full\nAggregator ID: 1\n"
	}
	const said = "My two 1 gbit links give me the speed of one.\n"
	judgeHardware(t, []hardwareCase{
		{"layer2+3", bond("layer2+3 (2)"), record.SingleLink, 0.39, 0.41, "between two addresses", "MAC's"},
		{"layer2+3, and the speed of one", said + bond("layer2+3 (2)"), record.SingleLink, 0.59, 0.61, "the speed of one", ""},
		{"layer2", bond("layer2 (0)"), record.SingleLink, 0.44, 0.46, "MAC", ""},
		{"layer3+4, and the speed of one", said + bond("layer3+4 (1)"), record.Unknown, 0, 0, "", "chooses a port by MAC"},
	})
}
