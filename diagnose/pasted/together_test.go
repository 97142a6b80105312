package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestTogetherTold: kinds of ways and windows in other words, each beside the same where it
// says nothing of the kind.
func TestTogetherTold(t *testing.T) {
	const home = "I reach the NAS at home by wireguard when I am away, and it is slow.\n"
	judgeHardware(t, []hardwareCase{
		{"a greeting that hangs, and sizes", "Image pulls end in TLS handshake timeouts at random.\nThe line is PPPoE, so the MTU there is 1492.\n", record.MTU, 0.5, 0.65, "clamp-mss-to-pmtu", ""},
		{"a greeting that hangs by a tunnel", "Since we use the VPN, curl hangs after the client hello.\nPings through the tunnel work.\n", record.MTU, 0.45, 0.6, "", ""},
		{"a greeting that hangs, and no more", "Since the update, curl hangs after the client hello.\nOther servers work.\n", record.Unknown, 0, 0, "", "first full packet"},
		{"a greeting, and sizes in vain", "Image pulls end in TLS handshake timeouts.\nA lower MTU made no difference.\n", record.Unknown, 0, 0, "", "first full packet"},
		{"a largest window", "The upload to the far site is slow, and the maximum window I see in the capture is 96 KB.\n", record.ReceiveWindow, 0.5, 0.65, "rwnd_limited", ""},
		{"a large window", "The upload to the far site is slow, and the maximum window I see in the capture is 16 MB.\n", record.Unknown, 0, 0, "", "a small window or buffer is it"},
		{"a window of that system", "Raising the TCP windows size helps a lot: the copy over the ocean needs minutes now instead of hours.\n", record.ReceiveWindow, 0.6, 0.7, "tcp_rmem", ""},
		{"that system itself", "Changing Windows to another edition helps nothing, the copy is slow.\n", record.Unknown, 0, 0, "", "A larger window"},
		{"rings", "iperf3 resends a lot in the VM, it is slow.\nAfter modifying the rings by ethtool-G on the host the retransmissions disappeared.\n", record.ReceiverCPU, 0.55, 0.7, "ethtool -G", ""},
		{"paths that are slower together", "With MPTCP I get a better rate when I use just one interface than when I use both of them.\n", record.ReceiveWindow, 0.4, 0.5, "out of order", ""},
		{"paths that add up", "With MPTCP I get a better rate than with just one interface, 180 of 200 Mbit/s.\n", record.Unknown, 0, 0, "", "MPTCP's window"},
		{"requests at once", "Downloads from the bucket are slow, but throughput grows steadily with fetch concurrency.\n", record.Application, 0.45, 0.6, "More requests", ""},
		{"requests at once in vain", "Downloads from the bucket are slow, and throughput does not grow with fetch concurrency.\n", record.Unknown, 0, 0, "", "requests under way"},
		{"a program over a good network", "Copies by sshfs crawl at 3 MB/s. I have ruled out the network with iperf.\n", record.Application, 0.45, 0.6, "plain copy", ""},
		{"a program over a network", "Copies by sshfs crawl at 3 MB/s. I have not ruled out the network yet.\n", record.Unknown, 0, 0, "", "the program"},
		{"all ways at once", "SMB multichannel uses all routes that it finds, the VPN's too, and the copy to the NAS is slow.\n", record.AsymmetricRoute, 0.5, 0.6, "SmbMultichannelConstraint", ""},
		{"one way", "SMB multichannel is on, and the copy to the NAS is slow.\n", record.Unknown, 0, 0, "", "every way that it finds"},
		{"a line that sends little", home + "The internet line there is 500/20 Mbit/s. Through the VPN I get 17 Mbit/s.\n", record.LineRate, 0.5, 0.6, "what it sends", ""},
		{"less than it sends", home + "The internet line there is 500/200 Mbit/s. Through the VPN I get 17 Mbit/s.\n", record.MTU, 0.4, 0.5, "", "what it sends"},
		{"two lines", home + "The internet line there is 500/20 Mbit/s, mine is 100/40.\nMy line: 100/40 Mbit/s. Through the VPN I get 17 Mbit/s.\n", record.MTU, 0.4, 0.5, "", "what it sends"},
		{"one test of a fast link", "Two servers have 100G cards with a DAC cable between. iperf only shows 23 Gbit/s.\n", record.ReceiverCPU, 0.4, 0.5, "LnkSta", ""},
		{"several flows of a fast link", "Two servers have 100G cards with a DAC cable between. iperf shows 23 Gbit/s by one stream and 24 Gbit/s by 8 streams.\n", record.Unknown, 0, 0, "", "one core a flow"},
		{"UDP at the tool's rate", "By TCP iperf shows 90 Mbit/s over our link. With UDP the speed drops to a poor 1.05 Mbit/s.\n", record.Pacing, 0.55, 0.7, "-u -b", ""},
		{"UDP at another rate", "By TCP iperf shows 90 Mbit/s over our link. With UDP the speed drops to a poor 7 Mbit/s.\n", record.Unknown, 0, 0, "", "iperf sends by UDP"},
		{"a tunnel over two lines", "Our multilink tunnel is slow.\nWhen I unplug one WAN cable it gets fast again.\n", record.Reordering, 0.5, 0.6, "one line", ""},
		{"a tunnel over two lines in vain", "Our multilink tunnel is slow.\nWhen I unplug one WAN cable it stays as it is.\n", record.Unknown, 0, 0, "", "several lines"},
		{"less than one of its lines", "I run a multipath tunnel over two paths. By each path I get 6 Mbit/s without the tunnel. By the tunnel I only get 2 Mbit/s.\n", record.Reordering, 0.45, 0.55, "2.00 Mbit/s by all", ""},
		{"an encrypted part of a rate", "What reduces throughput from '9.6 Gbits/sec unencrypted without IPsec' to '5.1 Gbits/sec with IPsec'?\n", record.SenderCPU, 0.5, 0.6, "5.10 Gbit/s where", ""},
		{"twice without it", "Tailscale is slow in our LAN.\nOver Tailscale:\n[ ID] Interval           Transfer     Bitrate\n[  5]   0.00-10.00  sec  94.5 MBytes  79.3 Mbits/sec                  receiver\nDirect it is twice of that.\n", record.SenderCPU, 0.4, 0.5, "mpstat", ""},
		{"an offload of ESP", "GRE in IPsec is very slow, 0.2 Gbit/s, once esp_offload is loaded.\n", record.CardSlot, 0.4, 0.5, "xfrm_stat", "24 bytes of GRE"},
		{"a fetch that hangs, and sizes", "In the container apt-get update is stuck at waiting for headers.\nWith the default MTU of 1500 that is, on a VM in OpenStack.\n", record.MTU, 0.5, 0.6, "daemon.json", ""},
		{"a fetch that hangs where the host's works", "In the container wget hangs after a few kilobytes.\nOn the host itself it works.\n", record.MTU, 0.4, 0.5, "daemon.json", ""},
		{"a fetch that hangs", "In the container wget hangs after a few kilobytes.\nThat began on Monday, it is a network problem.\n", record.Unknown, 0, 0, "", "stand still"},
		{"some pages by a VPN", "With the VPN up, some websites do not load, others are fine.\n", record.MTU, 0.45, 0.6, "clamp-mss-to-pmtu", ""},
		{"all pages by a VPN", "With the VPN up, websites load slowly.\n", record.Unknown, 0, 0, "", "stand still"},
		{"a tunnel below the full size", "By wireguard it crawls and then stalls.\nThe MTU is set below 1500 on the tunnel interface.\n", record.Unknown, 0, 0, "", "has MTU 1500"},
		{"Windows is slower", "The other site is 12 ms away. With Linux I get 900 Mbit/s there, when I boot Windows I get 150 Mbit/s.\n", record.ReceiveWindow, 0.5, 0.6, "autotuninglevel", ""},
		{"Windows is as fast", "The other site is 12 ms away. With Linux I get 170 Mbit/s there, when I boot Windows I get 150 Mbit/s.\n", record.Unknown, 0, 0, "", "Windows' ends differ"},
		{"a gigabit within", "Both cards and the switch are 2.5G. By iperf between them I only get 940 Mbit/s speeds.\n", record.LineRate, 0.4, 0.5, "a gigabit: a router", ""},
		{"USB 2.5G is no USB 2", "The new usb2.5G ethernet adapter is slow, I get 300 Mbit/s.\n", record.Unknown, 0, 0, "", "USB 2 (480"},
		{"a copy beside a test", "On our 10G links iperf3 shows 4.5 Gbit/s, a direct smb copy of files is 1.06 gigabytes/sec.\n", record.SenderCPU, 0.45, 0.6, "one thread", ""},
		{"losses by satellite", "By a satellite link TCP is slow. There is 2.5% packet loss.\n", record.Congestion, 0.5, 0.6, "BBR", ""},
		{"a shaper that slows", "The line is fine, 100 Mbit/s. If I start SQM, I can only reach 48 Mbit/s.\n", record.Shaper, 0.5, 0.6, "tc -s qdisc", ""},
		{"a shaper that does not", "The line is slow, 48 Mbit/s. If I start SQM, the delays get better.\n", record.Unknown, 0, 0, "", "shaper (SQM"},
		{"the vendor's firmware", "The router is slow, 350 Mbit/s of the gigabit. With the stock firmware I always had 940.\n", record.ReceiverCPU, 0.45, 0.6, "flow_offloading", ""},
		{"an offload that is off", "Through the router I get 700 Mbit/s. If I disable flow offloading it will only be 500 Mbit/s.\n", record.ReceiverCPU, 0.5, 0.6, "", ""},
		{"one core of a router", "The router still uses one CPU core for the download stream, it is slow, 600 Mbit/s of a gigabit.\n", record.ReceiverCPU, 0.45, 0.6, "packet steering", ""},
		{"a busy disk", "Reads by iSCSI are slow in the VM. Disk active time is pegged at 100%, the CPU is idle.\n", record.Application, 0.5, 0.6, "iostat -x 2", ""},
		{"an idle disk", "Reads by iSCSI are slow in the VM. Disk active time is at 10%, the CPU is idle.\n", record.Unknown, 0, 0, "", "whatever the links carry"},
		{"another program is faster", "With that transfer tool I get 8 MB/s in our LAN, significantly slower than a copy using SMB.\n", record.Application, 0.45, 0.6, "top -H", ""},
		{"slower by its processor", "Backups to the NAS are slow, worse than by rsync. The CPU on that small machine is the bottleneck there.\n", record.SenderCPU, 0.5, 0.6, "", "this program does not use it"},
		{"one mount over several links", "Does this NFS server support single client transfers across multiple NICs?\n", record.SingleLink, 0.5, 0.65, "nconnect", ""},
		{"a link that was slowed", "Two hosts have two gigabit links each. If I reduce the link speed to 100Mb/s both are used, at gigabit they get 900 Mb/s.\n", record.Unknown, 0, 0, "", "came up at 100"},
		{"an older kernel's line of a slot", "We only get 55 Gbit/s.\n[   10.3] mlx5_core 0000:b3:00.1: 63.008 Gb/s available PCIe bandwidth, limited by 8 GT/s x8 link at 0000:b2:00.0 (capable of 252.048 Gb/s with 16 GT/s x16 link)\n", record.CardSlot, 0.6, 0, "x8 at 8 GT/s", ""},
		{"short lines", "iperf is slow by a tunnel of our own.\nDirect it is 900 Mbit/s.\nwith oddvpn 500mbps\n", record.SenderCPU, 0.4, 0.6, "500 Mbit/s where", ""},
		{"pods that resend", "Between the pods (calico, vxlan) iperf gets 4 Mbit/s.\nThe capture has constant TCP retransmits.\n# iperf -c 10.2.28.8\n[  1] local 10.2.189.106 port 52870 connected with 10.2.28.8 port 5001\n[ ID] Interval       Transfer     Bandwidth\n[  1] 0.00-10.03 sec  5.25 MBytes  4.39 Mbits/sec\n", record.CardSlot, 0.45, 0.6, "tx-checksum-ip-generic off", ""},
		{"pods that do not", "Between the pods (calico, vxlan) iperf gets 4 Mbit/s.\n# iperf -c 10.2.28.8\n[  1] local 10.2.189.106 port 52870 connected with 10.2.28.8 port 5001\n[ ID] Interval       Transfer     Bandwidth\n[  1] 0.00-10.03 sec  5.25 MBytes  4.39 Mbits/sec\n", record.Unknown, 0, 0, "", "much is sent again"},
	})
}

// TestFullRun: a run that fills one link, where people ask about a bundle.
func TestFullRun(t *testing.T) {
	const head = "My NAS has an LACP bond to the switch and my PC as well, and from PC to NAS it is slow.\n"
	run := func(rate, streams string) string {
		return "$ iperf3 -c 192.0.2.2 -P " + streams + "\nConnecting to host 192.0.2.2, port 5201\n[  4] local 192.0.2.28 port 20741 connected to 192.0.2.2 port 5201\n[ ID] Interval           Transfer     Bandwidth       Retr\n[  4]   0.00-10.00  sec  1.07 GBytes   " + rate + " Mbits/sec    3             sender\n[  4]   0.00-10.00  sec  1.07 GBytes   " + rate + " Mbits/sec                  receiver\n"
	}
	judgeHardware(t, []hardwareCase{
		{"one link is full", head + run("921", "1"), record.SingleLink, 0.55, 0.65, "one link of the bundle", ""},
		{"by words alone", "My NAS has an LACP bond to the switch. I can't get above 930Mb from the PC.\n", record.SingleLink, 0.4, 0.5, "several connections", ""},
		{"above another rate", "My NAS has an LACP bond to the switch. I can't get above 230Mb from the PC.\n", record.Unknown, 0, 0, "", "several links that carry like one"},
		{"no link is full", head + run("621", "1"), record.Unknown, 0, 0, "", "one link of the bundle"},
		{"no bundle", "My NAS is slow from my PC.\n" + run("921", "1"), record.Unknown, 0, 0, "", "one link of the bundle"},
		{"more than a link", head + run("1621", "1"), record.Unknown, 0, 0, "", "one link of the bundle"},
		{"ports that are faster", "My NAS has an LACP bond of 2x10G to the switch, and is slow.\n" + run("921", "1"), record.Unknown, 0, 0, "", "one link of the bundle"},
	})
}

// TestFasterAtFirst: a run at the rate of 100 Mbit/s Ethernet, of which one second was faster.
func TestFasterAtFirst(t *testing.T) {
	run := func(first string) string {
		return "iperf3 is slow between the two.\n[ 15] local 192.0.2.1 port 42668 connected to 192.0.2.2 port 5201\n[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd\n" +
			"[ 15]   0.00-1.00   sec  47.5 MBytes   " + first + " Mbits/sec    0    822 KBytes\n[ 15]   1.00-2.00   sec  11.2 MBytes  94.4 Mbits/sec    0    822 KBytes\n[ 15]   2.00-3.00   sec  11.2 MBytes  94.4 Mbits/sec    0    822 KBytes\n" +
			"[ ID] Interval           Transfer     Bandwidth       Retr\n[ 15]   0.00-3.00   sec  33.7 MBytes  94.2 Mbits/sec    0             sender\n[ 15]   0.00-3.00   sec  33.7 MBytes  94.2 Mbits/sec                  receiver\n"
	}
	judgeHardware(t, []hardwareCase{
		{"never faster", run("94.2"), record.LineRate, 0.4, 0.5, "", ""},
		{"faster at first", run("398"), record.Unknown, 0, 0, "", "came up at 100"},
	})
}
