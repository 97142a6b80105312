package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestToldPaths: questions about tunnels, overlays, clouds and tools as sentences ask
// them, each beside one that differs in what decides. After public questions:
// flannel 784, 643 and 1234, calico 4743, ovs-cni 264, gluetun 1650, kube-router 108,
// esnet iperf 123, virtlet 882, open-vm-tools 166.
func TestToldPaths(t *testing.T) {
	losing := rows([][3]float64{{83, 9, 139}, {61, 23, 77}, {78, 12, 106}, {87, 15, 103}, {65, 14, 87}})
	tiny := rows([][3]float64{{10, 36, 1.41}, {4, 21, 2.83}, {5, 25, 2.83}, {3, 18, 1.41}, {4, 20, 2.83}})
	clean := rows([][3]float64{{148, 0, 3010}, {150, 0, 3010}, {150, 0, 3010}, {150, 0, 3010}, {150, 0, 3010}})
	single := rows([][3]float64{{4970, 0, 1270}, {4960, 0, 1270}, {4970, 0, 1270}, {4970, 0, 1270}, {4970, 0, 1270}})
	judgeHardware(t, []hardwareCase{
		{"flannel over UDP", "Slow between pods.\n" + losing + "* Backend used (e.g. vxlan or udp): udp\n", record.SenderCPU, 0.6, 0.8, "host-gw", "lost all the time"},
		{"flannel over VXLAN with losses", "Slow between pods.\n" + losing + "* Backend used (e.g. vxlan or udp): vxlan\n", record.Congestion, 0.4, 0.46, "", "flanneld"},
		{"the same losses without an overlay", losing, record.Congestion, 0.5, 0.6, "", "flanneld"},
		{"losses that were told", "Our LTE link to the site has 2% packet loss all day.\n" + losing, record.Congestion, 0.6, 0.7, "2 % of packets", ""},
		{"an overlay that costs", "Between the nodes we have 9.4 Gbit/s, but from pod to pod with flannel vxlan only 1.3 Gbit/s.\n", record.ReceiverCPU, 0.5, 0.6, "tx-udp_tnl-segmentation", "checksum-ip-generic"},
		{"an overlay that loses nearly all", "Between the nodes we have 9.4 Gbit/s, but from pod to pod with flannel vxlan only 4 Mbit/s.\n", record.CardSlot, 0.45, 0.5, "tx-checksum-ip-generic off", "that is its work"},
		{"an overlay that costs nothing", "Between the nodes we have 9.4 Gbit/s, but from pod to pod with flannel vxlan only 9.1 Gbit/s.\n", record.Unknown, 0, 0, "udp_tnl", "that is its work"},
		{"a tunnel that encrypts and loses nearly all", "Without VPN I get 480 Mbit/s from the server, through WireGuard only 6 Mbit/s.\n", record.MTU, 0.45, 0.5, "1280", "tx-checksum"},
		{"ping passes, a transfer does not, by VXLAN", "The bridges are connected by a VXLAN overlay between both nodes.\nPing is working fine, but iperf gives 0 Mbps.\n", record.MTU, 0.5, 0.6, "less 50 for VXLAN", ""},
		{"ping passes, a transfer does not, no tunnel", "Both hosts hang on the same switch.\nPing is working fine, but iperf gives 0 Mbps.\n", record.Unknown, 0, 0, "nc -vz PEER 5201", "VXLAN"},
		{"a smaller MTU helped", "I found that lowering the MTU from 1420 to 1400 fixes the slow upload over WireGuard.\n", record.MTU, 0.7, 0.8, "clamp", ""},
		{"a smaller MTU did not help", "I found that lowering the MTU from 1420 to 1400 did not help the slow upload over WireGuard.\n", record.Unknown, 0, 0, "ping -M do", "Smaller packets help"},
		{"an MTU that was set, and pings", "I have set the MTU of the WireGuard link to 1420 on both ends and ping works.\n", record.Unknown, 0, 0, "ping -M do", "Smaller packets help"},
		{"a larger MTU that helped", "After setting the MTU to 9000 on both hosts the slow copy by NFS improves.\n", record.ReceiverCPU, 0.6, 0.7, "", "Smaller packets help"},
		{"two runs beside a VPN that is named in passing", "I also use Tailscale on my phone.\n" + rows([][3]float64{{9400, 0, 3010}, {9400, 0, 3010}, {9400, 0, 3010}, {9400, 0, 3010}}) + single, record.SenderCPU, 0.4, 0.49, "", ""},
		{"a window of two segments in a tunnel", "kube-router, pods in two subnets, IPIP between the nodes.\n" + tiny, record.MTU, 0.6, 0.7, "IP in IP", "lost all the time"},
		{"a window of two segments on a cable", tiny, record.Congestion, 0.6, 0.7, "", "do not fit"},
		{"iperf2 fills it, iperf3 does not", "With iperf 2.0.5 I saturate the link at 9.5 Gbps.\nWith iperf3 and 8 streams the best figure is 6.5 Gbps.\n", record.SenderCPU, 0.6, 0.7, "3.16", ""},
		{"both fill it", "With iperf 2.0.5 I saturate the link at 9.5 Gbps.\nWith iperf3 and 8 streams the best figure is 9.4 Gbps.\n", record.Unknown, 0, 0, "", "Another tool"},
		{"an offload that was turned off", "After disabling LRO on the vmxnet3 adapter the upload is back to normal speed.\n", record.CardSlot, 0.6, 0.7, "Leave that one offload off", ""},
		{"an offload that changed nothing", "After disabling LRO on the vmxnet3 adapter the upload is not faster at all.\n", record.Unknown, 0, 0, "ethtool -k", "Without that offload"},
		{"a window over a long path", "The RTT between both sites is 160 ms.\n" + clean, record.ReceiveWindow, 0.5, 0.7, "3 MiB", ""},
		{"the same rate over a short path", "The RTT between both sites is 2 ms.\n" + clean, record.Unknown, 0, 0, "", "in flight"},
		{"flows over a long path", "Frankfurt to Singapore, RTT is 165 ms.\nOne iperf3 stream gets 150 Mbit/s, with -P 16 we reach 2.3 Gbit/s.\n", record.ReceiveWindow, 0.55, 0.65, "rwnd_limited", ""},
		{"flows of a fast card", "Two hosts with 100G cards, back to back.\nOne iperf3 stream gets 23 Gbit/s, with -P 8 we reach 92 Gbit/s.\n", record.ReceiverCPU, 0.5, 0.6, "NUMA", ""},
		{"a flow in AWS, by the hosts' names", "[root@ip-10-112-222-219 ~]# iperf3 -c 10.112.234.207\n" + single[len("$ iperf3 -c 192.0.2.60\n"):], record.Shaper, 0.7, 0.8, "placement group", ""},
		{"the same rate of any host", single, record.Unknown, 0, 0, "mpstat", "placement group"},
		{"OpenVPN with a full core", "The server has 1 Gbit/s and through OpenVPN I get 60 Mbit/s. openvpn takes 100% CPU there.\n", record.SenderCPU, 0.7, 0.8, "DCO", ""},
		{"OpenVPN with cores to spare", "The server has 1 Gbit/s and through OpenVPN I get 60 Mbit/s. openvpn takes 20% CPU there.\n", record.Unknown, 0, 0, "ping -M do", "By what is said"},
		{"a provider's gateway", "Two VMs in Azure: through our VPN gateway (VpnGw1) we get 500 Mbps, inside the vnet 12 Gbps without it.\n", record.Shaper, 0.55, 0.7, "650", ""},
		{"two listed interfaces of one subnet", "Interface 1 (ens5): 192.0.2.2/24, gateway 192.0.2.254\nInterface 2 (ens6): 192.0.2.3/24, gateway 192.0.2.254\n", record.AsymmetricRoute, 0.7, 0.8, "same subnet", ""},
		{"two listed interfaces of two subnets", "Interface 1 (ens5): 192.0.2.2/25, gateway 192.0.2.126\nInterface 2 (ens6): 192.0.2.130/25, gateway 192.0.2.254\n", record.Unknown, 0, 0, "", "same subnet"},
		{"a VPN in user space, in bytes, with the network's rate behind", "When tailscale is on I get 20MBps, without tailscale it is 160MBps+ (2.5Gbps network).\n", record.SenderCPU, 0.5, 0.6, "1.28 Gbit/s", "2.5"},
		{"several rates of pods: the slow one counts", "I get 6-7 gbit/s between two pods of Cilium. On the hosts I get 9.9gbit/s as expected.\nFrom a pod to a host it is 9.9gbit/s as well.\n", record.ReceiverCPU, 0.5, 0.6, "7.00 Gbit/s", ""},
		{"bold rates", "- iperf over the internet has a speed of **752 to 820**Mbps\n- iperf over tailscale has a speed of **84 to 364**Mbps\n", record.SenderCPU, 0.5, 0.6, "820 Mbit/s", ""},
		{"SMB is faster than iperf3", "Over 25G I can copy at 3.0 GB/s using SMB.\n" + single, record.SenderCPU, 0.6, 0.7, "3.16", ""},
		{"SMB is as fast as iperf3", "Over 25G I can copy at 0.6 GB/s using SMB.\n" + single, record.Unknown, 0, 0, "", "Another tool"},
		{"public addresses of a cloud", "GCP, n1-standard-4.\nBy the internal IP I get 6 Gbit/s, by the external IP only 600 Mbit/s.\n", record.Shaper, 0.6, 0.7, "private addresses", ""},
		{"public and private alike", "GCP, n1-standard-4.\nBy the internal IP I get 6 Gbit/s, by the external IP 5.9 Gbit/s.\n", record.Unknown, 0, 0, "", "lower limit"},
		{"a test that stands still and repeats nothing", rows([][3]float64{{58, 0, 410}, {0, 0, 410}, {0, 0, 410}, {0, 0, 410}, {0, 0, 410}}), record.Application, 0.4, 0.5, "ss -tinm", "vanish"},
		{"larger frames help an overlay", "Swarm overlay networks on 10 Gbps.\nWith the MTU raised to 8950, throughput of jumbo frames went from 1.1Gbps to 8.7Gbps.\n", record.ReceiverCPU, 0.6, 0.7, "com.docker.network.driver.mtu", "do not fit"},
		{"all of a tunnel by one queue", "The ESP packets of both gateways are all processed by the same queue of the network card.\n", record.ReceiverCPU, 0.55, 0.65, "rx-flow-hash", ""},
		{"one core of several", "Even though the gateways have 4 CPUs, only one of the CPUs seems to be used for IPsec, and it is maxed out.\n", record.SenderCPU, 0.6, 0.7, "AES-GCM", ""},
		{"a tunnel of two Mbit/s is no matter of work", "Without VPN I get 42 Mbit/s from the server, through WireGuard only 1.9 Mbit/s.\n", record.MTU, 0.45, 0.5, "1280", "that is its work"},
		{"networks of pods by their names", "The host network carries 10 Gbit/s.\nWeave got only 3737 Mbit/s, with calico pods it is 9542 Mbit/s.\n", record.ReceiverCPU, 0.5, 0.6, "3.74 Gbit/s", ""},
		{"a droplet that is full", "About 150 Mb/s by OpenVPN consumes 100% of a droplet with one CPU.\n", record.SenderCPU, 0.6, 0.8, "", ""},
		{"flows over a distance", "The servers are 3,000 miles apart.\nWith a single stream I get 350Mbps, with a second stream 600Mbps, with three streams 789Mbps.\n", record.ReceiveWindow, 0.5, 0.6, "tcp_rmem", ""},
		{"losses over a distance", "From New York transfers to locations that are farther away are slow.\nThe capture shows about 100 duplicate acks around each dip.\n", record.Congestion, 0.5, 0.6, "mtr", ""},
		{"no losses over a distance", "From New York transfers to locations that are farther away are slow.\nThe capture shows no packet loss and no dup acks at all.\n", record.Unknown, 0, 0, "tcp_rmem", "slowed by few losses"},
		{"BBR helped", "Between a VM in Nuremberg and another one I get 300 Mbps with cubic.\nAfter activating BBR on the sender it is much faster.\n", record.Congestion, 0.6, 0.7, "mtr", ""},
		{"answers by a named interface", "With rp_filter=2 I see the replies going out of eth0, not of eth1 on which the requests came in.\n", record.AsymmetricRoute, 0.55, 0.65, "ip rule", ""},
		{"a pod that is not reached", "From pod 1 I can ping pod 2.\nFrom pod 1 I cannot ping pod 3 at the second ENI.\n", record.Unknown, 0, 0, "tcpdump -eni any", "ping -M do"},
		{"MPTCP with one subflow", "Both hosts run MPTCP with two interfaces, and the bandwidth does not increase.\n", record.Unknown, 0, 0, "ip mptcp endpoint", "cat /proc/net/bonding"},
		{"OpenVPN by its configuration", "I get 20mbit/s on a dedicated server, with little CPU usage.\nproto udp4\ndev tun0\ncipher AES-256-CBC\n", record.Unknown, 0, 0, "beside OpenVPN", "cat /proc/net/bonding"},
		{"a VPN that brings a rate down", "Trying nebula between two servers brings the benchmark down from 2 Gbits/sec to 200 Mbits/sec.\n", record.SenderCPU, 0.5, 0.6, "200 Mbit/s", ""},
		{"UDP losses of an old iperf3", "With UDP we see extreme packet loss even at 10 Mbit/s.\nThis is iperf3 version 3.0.7 on both hosts, as Ubuntu has it.\n", record.Application, 0.6, 0.7, "-w 2M", ""},
		{"UDP losses of a new iperf3", "With UDP we see extreme packet loss even at 10 Mbit/s.\nThis is iperf3 version 3.17 on both hosts, as Debian has it.\n", record.Unknown, 0, 0, "", "bursts"},
		{"answers by the wrong interface", "Requests come in on eth1, but the replies always leave by the wrong interface, eth0.\n", record.AsymmetricRoute, 0.55, 0.65, "ip rule", ""},
	})
}

// TestGuestEnds: a hypervisor's end of a guest's card without offloads, and with them.
func TestGuestEnds(t *testing.T) {
	run := rows([][3]float64{{2990, 0, 269}, {3640, 0, 308}, {4850, 0, 308}, {4850, 0, 277}, {4780, 0, 283}})
	features := func(link, sum, cut string) string {
		return "# ethtool -k " + link + "\nFeatures for " + link + ":\nrx-checksumming: off [fixed]\ntx-checksumming: " + sum + "\ntcp-segmentation-offload: " + cut + "\ngeneric-receive-offload: on\n"
	}
	judgeHardware(t, []hardwareCase{
		{"a tap without", run + features("tap0", "off", "off"), record.ReceiverCPU, 0.6, 0.7, "vnet_hdr", ""},
		{"a tap with", run + features("tap0", "on", "on"), record.Unknown, 0, 0, "", "vnet_hdr"},
		{"a card without", run + features("eno1", "off", "off"), record.Unknown, 0, 0, "", "vnet_hdr"},
	})
}
