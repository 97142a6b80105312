package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestSeenWays: by which link it goes, what a program's buffer lets be under way, and what
// is rated, as sentences tell it, each beside a text that tells another thing.
func TestSeenWays(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"one link by MAC addresses", "LACP (mode 4) with the default layer2 hash policy.\nIn iperf3 with parallel streams the traffic stays concentrated on one physical link.\n", record.SingleLink, 0.5, 0.6, "chosen by MAC addresses", ""},
		{"all links", "LACP (mode 4) with the default layer2 hash policy.\nWith many clients the traffic runs evenly on both physical links, yet a copy is slow, 300 Mbit/s.\n", record.Unknown, 0, 0, "", "all goes by one"},
		{"round robin arrives by one", "Our bond is balance-rr, and the switch has a trunk.\nA connection is slow: traffic from one node is always received on the same single port of the other.\n", record.SingleLink, 0.5, 0.6, "the switch chooses", ""},
		{"ARP", "Our server has 4 interfaces in the same subnet and gets only 1 Gbit/s.\nAll of it arrives on the interface with the first address.\n", record.AsymmetricRoute, 0.5, 0.65, "arp_ignore", ""},
		{"the first of two routes", "Two interfaces are on the same subnet, 90 Mbit/s in all.\nAll outgoing packets always run via the first one.\n", record.AsymmetricRoute, 0.5, 0.6, "looked up by the destination", ""},
		{"vmkernel ports", "I made 4 vmkernel ports for NFS in one subnet, and get 1 Gbit/s.\nThe remaining 3 vmkernels are never used.\n", record.SingleLink, 0.5, 0.6, "nconnect", ""},
		{"the same key", "Two LACP bundles of our server lead to four switches, which have the same actor system ID.\nOne of the aggregated channels does not work, though its ports are up.\n", record.LACPDown, 0.5, 0.6, "taken for the first's", ""},
		{"credits", "Up to 10 Gbit is what our EC2 instances start with.\nc5.xlarge: drops to 1.14 Gbps after just 13 minutes.\n", record.Shaper, 0.6, 0.7, "", ""},
		{"as documented", "For our VM size Azure lists a throughput of 10000 Mbps. By our data for TCP throughput we are at that number.\n", record.Shaper, 0.55, 0.65, "type is documented with", ""},
		{"its own send buffer", "The query takes 25 s over a line of 100M with latency 20 ms; the bytes in flight are about 16K.\nsocket.setSendBufferSize(16*1024)\n", record.SendBuffer, 0.6, 0.7, "small send buffer", ""},
		{"its own large buffer", "The query takes 25 s over a line of 100M with latency 20 ms.\nsocket.setSendBufferSize(64*1024*1024)\n", record.Unknown, 0, 0, "", "small send buffer"},
		{"ssh over a WAN", "scp, sftp and rsync work fine between local hosts, but they perform poorly on the WAN.\n", record.Application, 0.5, 0.55, "window of its own", ""},
		{"OpenVPN's buffers", "OpenVPN by TCP carries only 6 Mbit/s over a link with 100 ms RTT, however many streams; CPU is low.\n", record.ReceiveWindow, 0.5, 0.6, "sndbuf 0", ""},
		{"OpenVPN nearby", "OpenVPN by TCP carries only 6 Mbit/s over a link with 2 ms RTT, however many streams; CPU is low.\n", record.Unknown, 0, 0.6, "", "sndbuf 0"},
		{"smaller segments", "B to A is slow over two tunnels, at 0.4 Mbit/s.\niperf3 -c 192.0.2.2 -t 10 -M 1350 # at once back to 49 Mbps\n", record.MTU, 0.5, 0.8, "", ""},
		{"a card of 2.5G", "The other PC has a 2.5Gb PCI-E card, mine 10G.\nIn iperf3 I get only 2.37 Gbit/s.\n", record.LineRate, 0.55, 0.65, "2.50 Gbit/s", ""},
		{"below a card of 2.5G", "The other PC has a 2.5Gb PCI-E card, mine 10G.\nIn iperf3 I get only 1.37 Gbit/s.\n", record.Unknown, 0, 0.5, "", "nothing is slow"},
		{"one cable or two", "Two 1g ports are an 802.3ad bond at the switch and the NAS. With iperf3 I see failover only.\nWhether one cable is connected or two makes no difference, the speed is always the same (around 700 Mbps).\n", record.SingleLink, 0.5, 0.6, "gives each connection one link", ""},
		{"a route of the tunnel's", "Copies between two machines on my LAN fall to 80 Mbit/s with the VPN up.\nThe route for 192.168.0.0/24 gets added by Tailscale.\n", record.AsymmetricRoute, 0.55, 0.65, "accept-routes=false", ""},
		{"pegged", "scp gets 30 MB/s over gigabit, and the CPU is pegged on the receiver.\n", record.SenderCPU, 0.5, 0.8, "", ""},
		{"bad with SQM", "I have 1 Gbit/s fibre. The download speed over IPv6 is very bad with SQM enabled, 60 Mbit/s.\n", record.Shaper, 0.5, 0.75, "", ""},
		{"measured as expected", "iperf3 shows 941 Mbit/s as expected but the SMB copy runs at 30 MB/s.\n", record.Application, 0.4, 0.6, "", ""},
		{"hoped for", "I got only about 11 Gbit/s, far from the ~38-39 Gbit/s I expected.\nOne of the NICs is in a slot with these specs:\nType: x4 PCI Express 2\n", record.CardSlot, 0.5, 0.7, "PCIe generation 2", ""},
		{"a quoted command", "The copy is slow, 11 MB/s.\n`ethtool eth7 | grep Speed`\n```\n\tSpeed: 100Mb/s\n```\n", record.LineRate, 0.45, 0.9, "100 Mbit/s", ""},
		{"a card beside a fine one", "Two cards are in the box. I210 worked fine, 900+Mbps both ways, but I219-LM only has 300+Mbps by iperf3.\n", record.CardSlot, 0.5, 0.6, "another card in the same machine", ""},
		{"a service's address", "(pod-hostnetwork) host1 -> (cluster ip) -> pod is very slow, 63 s.\nWith pod IP it's fast.\n", record.CardSlot, 0.5, 0.6, "tx-checksum-ip-generic off", ""},
		{"UDP alone loses", "Extreme UDP packet loss at 300Mbit, but TCP gets > 800Mbit w/o retransmits.\n", record.ReceiveWindow, 0.45, 0.55, "socket", ""},
		{"a router's core", "Increased load limits 10G throughput on our OPNsense box.\nCPU core spike at 100% during transfer tests.\n", record.ReceiverCPU, 0.5, 0.8, "", ""},
		{"bound by address", "Test of a 10G adapter; first with both interfaces plugged in, in the same network:\n$ iperf3 --bind 10.0.9.5 -c 10.0.9.7\nConnecting to host 10.0.9.7, port 5201\n[  5] local 10.0.9.5 port 35045 connected to 10.0.9.7 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  1.10 GBytes   942 Mbits/sec    0             sender\n[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec                  receiver\n", record.AsymmetricRoute, 0.5, 0.6, "--bind-dev", ""},
		{"only the partner's modes", "Our NAS gets 11 MB/s at most.\nSettings for eth3:\n\tSupported link modes:   10baseT/Full 100baseT/Full 1000baseT/Full\n\tAdvertised link modes:  10baseT/Full 100baseT/Full 1000baseT/Full\n\tLink partner advertised link modes:  10baseT/Full 100baseT/Full\n", record.LineRate, 0.5, 0.6, "offers no more", ""},
		{"zero windows", "The transfer gets 80 Mbit/s at most.\nThere were 30 zero window segments in a matter of seconds.\n", record.Application, 0.5, 0.6, "closes its window", ""},
	})
}

// TestNotSeenWays: words of the same kind that deny it, ask, or tell of something else.
func TestNotSeenWays(t *testing.T) {
	for _, c := range [][2]string{
		{"LACP with layer3+4. Is it true that traffic always stays on one link with a layer2 policy? I get 1 Gbit/s.\n", "all goes by one"},
		{"LACP with a layer2 hash. The traffic doesn't stay on one link, and a copy is slow.\n", "all goes by one"},
		{"balance-rr is slow, 600 Mbit/s, but traffic is not received on one port, both get half.\n", "the switch chooses"},
		{"Two NICs in the same subnet, slow. Outgoing packets never leave via the first NIC.\n", "looked up by the destination"},
		{"NFS on ESXi is slow, 80 MB/s, with two vmkernel ports, and both are used. The third vmnic was not used before.\n", "ESXi takes the first"},
		{"LACP: slow, 1 Gbit/s. The two switches are a stack, and our bond is up with the same actor key on both ports.\n", "taken for the first's"},
		{"The EC2 instance never drops to 1 Gbps after 10 minutes; it is slow at once, 300 Mbit/s.\n", "credits pay for"},
		{"The type lists a throughput of 10000 Mbps. We never reach that limit: 3 Gbit/s.\n", "type is documented"},
		{"scp is slow, 30 MB/s, on the LAN. Others say that ssh performs poorly on the WAN?\n", "window of its own"},
		{"WireGuard is slow, 30 Mbit/s. ICMP is not blocked anywhere.\n", "tcp_mtu_probing=1` at the senders"},
		{"iperf3 -c 192.0.2.2 -M 1400 # collapses to 0.4 Mbit/s\nIt is slow.\n", "smaller packets"},
		{"We have a 2.5Gb switch and 10G cards, and SMB gets 240 MB/s of disks.\n", "nothing is slow"},
		{"On our EC2 instance the gp2 volume starts at 250 MB/s and drops to 60 MB/s after about 30 minutes. Network with iperf3 is fine, 10 Gbit/s.\n", "credits pay for"},
		{"The upload to AWS S3 from my laptop starts at 500 Mbps and drops to 100 Mbps after about 10 minutes. My laptop's USB adapter gets very hot.\n", "credits pay for"},
		{"We copy to Azure over our office line. It drops to 20 Mbps after 15 minutes when the backup of the other site starts on the same line.\n", "credits pay for"},
		{"Our EC2 c5.xlarge used to fall to 1 Gbps after 15 minutes, so we moved to a c5n. Now it's stable, but the replication is only 30 MB/s.\n", "credits pay for"},
		{"I have a 2.5G NIC in the NAS, never used. Between the two 10G hosts iperf3 gets only 2.37 Gbit/s because the slot is PCIe x1.\n", "nothing is slow"},
		{"I replaced the 2.5G NIC by a 10G card in both PCs. The rate is still only 2.36 Gbit/s with iperf3.\n", "nothing is slow"},
		{"The other PC has a 2.5G adapter and is not involved. Both servers have 10G at the switch. I get 2.35 Gbit/s in iperf3.\n", "nothing is slow"},
		{"Setting SO_SNDBUF to 64k made it twice as slow, so we leave autotuning on. We get 400 Mbit/s on 10G.\n", "a larger send buffer makes"},
		{"We increased the TCP send buffer and tested 3 times. The rate stays at 40 Mbit/s over 100 ms.\n", "a larger send buffer makes"},
		{"With a 2x larger NIC ring and the same send buffer the test is 3 times faster. Before it dropped packets.\n", "a larger send buffer makes"},
		{"latency 20 ms, 40 Mbit/s of 1G. I removed the line\n// socket.setSendBufferSize(64*1024)\nand nothing changed.\n", "small send buffer"},
		{"iperf3 -c 10.0.0.2 -M 1200 # fine, but as slow as before, 3 Mbit/s\n", "smaller packets"},
		{"The card is rated at a throughput of 10 Gbps. CPU hits the limit at 3 Gbit/s with one core at 100%.\n", "type is documented"},
		{"AWS lists the bandwidth at 25 Gbps. We hit the limit of open files (ulimit) and uploads fail, at 2 Gbit/s.\n", "type is documented"},
		{"Our bond used layer2 hashing until last week and traffic always went over one link. We changed it to layer3+4 and now both links are used. Still SMB copies run at 60 MB/s.\n", "all goes by one"},
		{"From the manual: 'with layer2 hashing, traffic between two hosts always stays on one link'. We have layer3+4 and 20 clients. Copies from one old NAS are slow, 40 MB/s.\n", "all goes by one"},
		{"LACP bond, hash policy layer2. Management traffic always goes over one link, which is intended. Guest throughput is only 200 Mbit/s.\n", "all goes by one"},
		{"Two hosts in the same subnet. Outgoing traffic goes through the same NIC as before the upgrade. iperf3 dropped from 9.4 to 3 Gbit/s.\n", "looked up by the destination"},
		{"The clients are in the same VLAN. All outgoing traffic flows through the same firewall. Downloads are 50 Mbit/s only.\n", "looked up by the destination"},
		{"Our server has two NICs in the same subnet. All traffic comes in via one firewall, and downloads are limited to 90 Mbit/s there.\n", "arp_ignore"},
		{"Dual NICs in one subnet on my server. Everything comes in on one IP because the clients only use that address. Copies are 30 MB/s.\n", "arp_ignore"},
		{"All vmkernels are on a separate subnet each, 4 vmkernel ports, one datastore each. NFS reads give 400 MB/s in sum but writes only 30 MB/s.\n", "ESXi takes the first"},
		{"All of the vmkernel ports are in the same subnet as recommended for iSCSI, two vmkernel ports bound. We also have an NFS share for ISOs. It is slow.\n", "ESXi takes the first"},
		{"We run vPC: both Nexus switches have the same actor system ID on purpose. The bond is up with two ports. One flow does 10G only, and we need 15.\n", "taken for the first's"},
		{"An 802.3ad bond, slow at 300 Mbit/s. One cable or two: with two it is faster.\n", "gives each connection one link"},
		{"We tested one cable or two, and it was the same before we changed the hash. Now it is 1.8 Gbit/s, and NFS is slow.\n", "gives each connection one link"},
		{"Is it true that one link or two makes no difference? We have a bond and get 400 Mbit/s.\n", "gives each connection one link"},
		{"The route for 10.0.0.0/8 was added by the VPN until last week, now it is gone. Still 40 Mbit/s.\n", "adds a route to the local network"},
		{"The route to 192.168.7.0/24 is not added by Tailscale. The copy is slow, 3 MB/s.\n", "adds a route to the local network"},
		{"The CPU is not pegged. iperf3 gets 300 Mbit/s.\n", "processor"},
		{"The speed is not bad with SQM enabled, 900 Mbit/s. Wi-Fi is slow.\n", "shap"},
		{"Two cards: I210 works fine. The disks of the NAS only have 30 MB/s.\n", "another card in the same machine"},
		{"The node reaches the cluster IP fast, and with pod IP it's fast too. The image pull is slow.\n", "tx-checksum-ip-generic"},
		{"UDP packet loss is 2%, but TCP also retransmits. 300 Mbit/s.\n", "receiving socket"},
		{"Both interfaces are up.\n$ iperf3 --bind 10.0.9.5%eth1 -c 10.0.9.7\n[  5] local 10.0.9.5 port 35045 connected to 10.0.9.7 port 5201\n[  5]   0.00-10.00  sec  500 MBytes   420 Mbits/sec    0             sender\n", "an address chooses no interface"},
		{"Using one cable or two, the speed is the same since the bond is active-backup, as designed. rsync writes at 40 MB/s and iostat says 100% util.\n", "gives each connection one link"},
		{"Bonding two ADSL modems? One link or both, it's the same, I never get more than 12 Mbit/s as both are on the same 12 Mbit/s account.\n", "gives each connection one link"},
		{"Office VPN: the route to 10.20.0.0/16 gets added by OpenVPN when I connect from home, so far so good. Copying takes ages, 2 MB/s. RTT is 45 ms.\n", "adds a route to the local network"},
		{"We have two servers. The I210 works fine. The X540 only has 2 ports. Transfer from the SSD is slow, about 60 MB/s, because it is a QLC drive.\n", "another card in the same machine"},
		{"Requests from nodes to services take about a minute to start because the image pull is slow. Curling pods directly works.\n", "tx-checksum-ip-generic"},
		{"Wi-Fi bridge: UDP at 300M shows 60% packet loss as the radio can do 120, but TCP does 115 Mbit/s with zero retransmits in 10 s.\n", "receiving socket"},
		{"For gaming I see UDP packet loss on the ISP line in the evening, but TCP downloads run at full speed without retransmits.\n", "receiving socket"},
		{"The client's CPU is maxed out by the antivirus during the iperf3 run (300 Mbit/s). It goes through pfSense, which is at 5%.\n", "router's cores"},
		{"In games the CPU gets maxed out and the FPS drop. Windows firewall is on. Downloads on Steam run at 300 Mbit/s of my 1 Gbit/s line.\n", "router's cores"},
		{"I read that speeds are low with QoS enabled on old routers. Mine has no QoS at all. My upload is 5 Mbit/s and the plan is 40.\n", "shaper (SQM"},
		{"Both cables are plugged in (router and the PC), link is 1 Gbit/s.\n$ iperf3 -c 192.168.1.10 -B 192.168.1.20\n[  5] local 192.168.1.20 port 35045 connected to 192.168.1.10 port 5201\n[  5]   0.00-10.00  sec  1.10 GBytes   942 Mbits/sec    0             sender\n", "an address chooses no interface"},
		{"Speed: 100Mb/s\n\nSo my internet plan says. I measured 95 Mbit/s with speedtest. Fine?\n", "NIC runs"},
		{"Switch port 12 details:\nSpeed: 100Mb/s\nDuplex: Half\nPoE: on\nThe camera is slow.\n", "NIC runs"},
		{"Receive aggregation (LRO) flag is not set on the interface. Rate 3 Gbit/s on 10G.\n", "frames are made anew"},
		{"Link aggregation is not set up on the ports, I use single links. Copy 30 MB/s from HDD.\n", "frames are made anew"},
		{"The aggregation bit was not set in the port's PDUs until we rebooted the switch. Now LACP is fine. Copy is slow, 60 MB/s.\n", "frames are made anew"},
		{"My RX ring / receive buffers too low on the card: rx_missed grows. 3 Gbit/s on 10G.\n", "the receive buffer is small"},
		{"The TCP send buffer was too small, I raised it to 16 MB. But it is still 40 Mbit/s.\n", "the send buffer is small"},
		{"People say the TCP send buffer is too small by default; mine is 64 MB. Still 20 MB/s.\n", "the send buffer is small"},
		{"rsyslog says receive buffer too small for UDP syslog. Unrelated: NFS copies are slow, 30 MB/s.\n", "the receive buffer is small"},
		{"\u53d1\u9001\u7f13\u5b58\u8bbe\u7f6e\u5f97\u5f88\u5927\uff0c\u4f46\u662f\u901f\u5ea6\u8fd8\u662f\u5f88\u6162\uff0c\u53ea\u6709 20 Mbit/s\u3002\n", "the send buffer is small"},
		{"OpenVPN over UDP gives only 20 Mbit/s with ping 25 ms. top shows one core full.\n", "sndbuf 0"},
		{"OpenVPN (UDP), 5 Mbit/s, 100 ms ping. Without VPN also 5 Mbit/s.\n", "sndbuf 0"},
		{"In a 10-minute capture there is just 1 zero window packet at the end. It is slow: 5 MB/s with 3% retransmissions.\n", "closes its window"},
		{"There were 12 zero window packets in the capture of the printer. The copy to the NAS is slow at 20 MB/s.\n", "closes its window"},
		{"It went into a zero window state before we raised the buffer of the application. That is fixed. Now we get 300 Mbit/s over 10G.\n", "closes its window"},
		{"There was excessive packet reordering with balance-rr; since LACP there is none. The copy is still 90 MB/s.\n", "over several queues"},
		{"I read that packets get reordered by WireGuard in old kernels, which slows TCP. We run 6.8. 3 Gbit/s on 10G.\n", "over several queues"},
		{"scp is slow over the WAN because our upload is only 10 Mbit/s. It's full.\n", "window of its own"},
		{"rsync performs poorly over long file lists. 10 Mbit/s.\n", "window of its own"},
		{"SMB copy of the same file is only 30 MB/s; NFS also 30 MB/s. The link is gigabit.\n", "another program is faster"},
		{"A wget of the same file takes only 2 MB/s. iperf3 has 5% retransmits.\n", "another program is faster"},
		{"The MTU of the tunnel needs to be lowered, which I did: 1380. Still 20 Mbit/s over the VPN.\n", "50 for VXLAN"},
		{"Copies with the app were slow. The problem was gone after going back to version 3.2 of the backup software. But iperf3 is still 300 Mbit/s.\n", "last good one"},
		{"We run LACP with layer2 hashing on the storage node. The bond stays up on one link when we pull a cable, so failover works. NFS writes are slow at 40 MB/s.\n", "all goes by one"},
		{"ESXi with three vmkernel ports: management, vMotion and NFS. All vmkernels are on the management subnet except NFS. NFS latency is 80 ms.\n", "ESXi takes the first"},
		{"Both bonds come from two switches which have the same actor system id, that is MLAG. The other bond fails over fine but the second bond doesn't work since the SFP is dead.\n", "taken for the first's"},
		{"LACP_STATE_AGGREGATION was cleared in our unit test. The real bond has 2 active members and both carry traffic. Copy from the NAS is 50 MB/s.\n", "frames are made anew"},
		{"Azure lists the VM with a network bandwidth of 8000 Mbps, but the disk limit is 96 MB/s. We are at that limit with the copy, so it is the disk.\n", "type is documented"},
		{"t3.medium drops to 20 Mbps after about 10 minutes when the CPU credits are gone, top shows 80% steal.\n", "credits pay for"},
		{"On our db.r5.large falls to 200 Mbps after 5 minutes because the vacuum starts and disk IO is saturated. Copy of the table is slow.\n", "credits pay for"},
		{"With the default send buffer Linux is much faster than Windows on the same host. Windows upload is 3 MB/s.\n", "a larger send buffer makes"},
		{"The SO_SNDBUF too small warning in the log comes from rtpproxy. Calls are fine. My download from the NAS is 11 MB/s.\n", "the send buffer is small"},
		{"The vendor thinks the TCP send buffer is too small. The capture shows that it is not: window is 4 MB. Throughput is 20 Mbit/s.\n", "the send buffer is small"},
		{"The documentation of the driver says it sets SO_SNDBUF to 64k. We overrode it with 8M. Bytes in flight went from 64k to 3M, still 40 Mbit/s.\n", "small send buffer"},
		{"socket.setSendBufferSize(8192) is for the control channel only. On the data channel, bytes in flight are 900 KB. Throughput is 30 Mbit/s.\n", "small send buffer"},
		{"rsync is fine and fast on the LAN but slow over the WAN, where our line has 20 Mbit/s and 3% loss. iperf3 shows the same 18 Mbit/s.\n", "window of its own"},
		{"SSH is quick on the LAN, slow on the WAN when typing. Ping goes up to 800 ms during uploads.\n", "window of its own"},
		{"Wireshark marks packets as reordered, which reduces my trust in the capture. iperf3 gives 9.4 Gbit/s, SMB is 200 MB/s.\n", "over several queues"},
		{"We see a large number of out-of-order packets in Wireshark only because the capture is from two SPAN ports. The link is slow.\n", "over several queues"},
		{"The MTU of the VPN needs to be adjusted, said the helpdesk. We set 1300 and 1200 and the speed stays at 3 Mbit/s.\n", "50 for VXLAN"},
		{"iperf3 -c 10.0.0.2 -M 1300 : back to 2 Mbit/s after a second, as slow as with 1460. The line has 3% loss.\n", "smaller packets"},
		{"One NAS has a 2.5GbE port and it is for the cameras. Between the two workstations with 10G I get only 2.38 Gbit/s by iperf3.\n", "nothing is slow"},
		{"The server goes into a zero window state once at the start, for 2 ms, and then never. Download is 10 MB/s with 4% loss on the Wi-Fi link.\n", "closes its window"},
		{"The problems were solved after we rolled back to version 2.1.3 of the driver app on the phones. The warehouse Wi-Fi is still slow, 10 Mbit/s.\n", "last good one"},
		{"Hash policy is layer2 on the bond. All traffic goes over one interface named bond0 to the firewall. Without the firewall we get 9 Gbit/s.\n", "all goes by one"},
		{"The server has two NICs in the same subnet, one for IPMI. All of it arrives at the interface with the 10G address, which is right. The copy still gets only 150 MB/s.\n", "arp_ignore"},
		{"Changing the TCP send buffer did nothing, but with BBR the upload is much faster. On cubic I get 5 Mbit/s with 0.5% loss.\n", "a larger send buffer makes"},
		{"On the old server the socket receive buffer was too small. This is the new server with 64 MB, and it gets 300 Mbit/s.\n", "the receive buffer is small"},
		{"scp works well locally but is slow on the WAN, and so are HTTP and FTP.\n", "window of its own"},
		{"No zero window segments are seen, 0 zero window packets in all, but it gets 80 Mbit/s at most.\n", "closes its window"},
	} {
		for _, f := range judge(c[0]).Findings {
			if strings.Contains(f.Text, c[1]) {
				t.Errorf("%s: named %s: %s", c[0], f.Cause, f.Text)
			}
		}
	}
}

// TestSocketOfUDP: a full socket is a datagram's whatever is told of TCP beside it.
func TestSocketOfUDP(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"beside TCP", "We send UDP and lose 3 % although the line is idle.\nnetstat -su: RcvbufErrors grow, the socket receive buffer is full. TCP does 900 Mbit/s on the same line.\n", record.ReceiverCPU, 0.5, 0.6, "datagrams", ""},
	})
}

// TestSameRate: a rate a little above another is no remedy, however its unit is written.
func TestSameRate(t *testing.T) {
	for _, text := range []string{
		"Uploads are slow at 55 Mbit/s. Turning off Suricata gives 60 MBit/s.\n",
		"The gigabit link is slow, 300 Mbit/s. After disabling SMB signing I get 310 MBit/s.\n",
	} {
		if f := judge(text).Findings[0]; f.Cause != record.Unknown {
			t.Errorf("%s: %s %.2f", text, f.Cause, f.Confidence)
		}
	}
}
