package paths

import (
	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// settingStories are settings of two ends that do not fit, buffers that a program fixes, and
// limits that somebody set, as sentences tell of them.
var settingStories = []story{
	{[]string{"fragmented", "tunnel_word"}, []string{"not_mtu", "mtu_helps_not", "mtu_helps", "mtu_limit", "mtu_blamed"}, true, record.MTU, 0.56, "the tunnel (packets cut in two)",
		"By what is said, packets of a tunnel are cut in two: a full packet and the tunnel's header are more than the way takes, so that each becomes a long piece and a short one, twice the packets, and one lost piece loses both.",
		"Set the tunnel's MTU to what the way takes less its header (1420 for WireGuard, 1400 for IPsec, 1450 for VXLAN over 1500), or clamp the MSS of what is forwarded into it (SRX: `set security flow tcp-mss ipsec-vpn mss 1350`; IOS: `ip tcp adjust-mss 1360`; Linux: `--clamp-mss-to-pmtu`), and copy DF to the outer header.", frameAsks},
	{[]string{"half_duplex", "full_forced"}, []string{"full_now"}, true, record.Congestion, 0.62, "the port (duplex mismatch)",
		"By what is said, one end of a cable was set to full duplex by hand and the other negotiates: negotiation without a partner falls back to half duplex, which takes what both ends send at a time for collisions and drops it. One direction suffers far more.",
		"Set both ends of that cable alike: best both to auto (a gigabit needs it), else speed and duplex by hand at both; then look that late collisions and CRC errors no longer count.", duplexAsks},
	{[]string{"half_duplex"}, []string{"full_forced", "full_now"}, true, record.Congestion, 0.5, "the port (half duplex)",
		"By what is said, a port runs at half duplex: it sends or receives, never both, and each collision costs a wait. Mostly the other end was set by hand, or a cable or a port is bad.",
		"Let both ends negotiate (auto), or set both alike by hand; change the cable where they then settle for half.", duplexAsks},
	{[]string{"fixed_buffer", "send_buffer_named"}, []string{"not_window", "window_helps_not"}, false, record.SendBuffer, 0.6, "the program's own send buffer",
		"By what is said, the program sets its send buffer itself, which ends the kernel's tuning: a connection has no more under way than that in each round trip, which nobody notices nearby, and far away is all.",
		windowRemedy, longAsks},
	{[]string{"fixed_buffer", "receive_buffer_named"}, []string{"not_window", "window_helps_not", "send_buffer_named"}, false, record.ReceiveWindow, 0.6, "the program's own receive buffer",
		"By what is said, the program sets its receive buffer itself, which ends the kernel's tuning: the window is no larger than that, and neither is what a connection carries in each round trip.",
		windowRemedy, longAsks},
	{[]string{"send_buffer_gains"}, []string{"not_window", "window_helps_not", "loss_percent", "lossy", "half_duplex", "crc_grows"}, false, record.SendBuffer, 0.64, "the program's send buffer",
		"By what is said, a larger send buffer makes it faster: a connection has no more under way than that in each round trip.",
		windowRemedy, longAsks},
	{[]string{"send_buffer_small"}, []string{"not_window", "window_helps_not", "send_buffer_gains", "loss_percent", "lossy", "half_duplex", "crc_grows"}, false, record.SendBuffer, 0.52, "the program's send buffer",
		"By what is said, the send buffer is small: a connection has no more under way than that in each round trip, which nobody notices nearby, and far away or over a radio is all.",
		windowRemedy, longAsks},
	{[]string{"receive_buffer_small"}, []string{"not_window", "window_helps_not", "send_buffer_small", "loss_percent", "lossy", "half_duplex", "crc_grows"}, false, record.ReceiveWindow, 0.52, "the program's receive buffer",
		"By what is said, the receive buffer is small: the window is no larger than that, and neither is what a connection carries in each round trip.",
		windowRemedy, longAsks},
	{[]string{"send_buffer_set", "in_flight"}, []string{"not_window", "window_helps_not", "send_buffer_gains", "loss_percent", "lossy", "half_duplex", "crc_grows"}, false, record.SendBuffer, 0.64, "the program's own send buffer",
		"By what is said, the program sets a small send buffer, and no more than that is in flight: a connection carries it once in each round trip.",
		windowRemedy, longAsks},
	{[]string{"ssh_far"}, []string{"not_window", "window_helps_not", "loss_percent", "lossy", "half_duplex", "crc_grows"}, false, record.Application, 0.5, "ssh's own window",
		"By what is said, ssh and what runs over it are fast nearby and slow far away: its channel has a window of its own (2 MB in OpenSSH), and no more than that goes in each round trip, whatever TCP could.",
		"Other programs for long ways (http, rsync's daemon, bbcp, HPN-SSH), or several ssh connections at once.", longAsks},
	{[]string{"order_lost"}, []string{"loss_percent", "lossy", "half_duplex", "crc_grows"}, false, record.Reordering, 0.5, "where packets overtake each other",
		"By what is said, packets arrive in another order than they were sent, and more than a few: TCP takes what comes late for lost, sends it again and slows down. Something on the way spreads the packets of one connection over several queues, cores or links.",
		"Find the place: packets numbered in a capture before and behind each part (sender, tunnel, virtual switch, receiver). There one queue or core for each connection (a hash of flows, no round robin), offloads off for a trial; net.ipv4.tcp_reordering and RACK bear some of it.", spreadAsks},
	{[]string{"not_aggregatable"}, []string{"loss_percent", "lossy", "half_duplex", "crc_grows"}, false, record.LACPDown, 0.56, "a port that says it is no part of a bundle",
		"By what is said, the LACP frames of a port have the bit for aggregation clear: the partner takes such a port for a single one, leaves it out of the bundle and forwards nothing that comes by it.",
		"Put all ports into the bundle before it goes up, or take that port out and in again, so that its frames are made anew; a newer version of what makes the bundle. `cat /proc/net/bonding/BOND`, `teamdctl TEAM state dump` or the switch's `show lacp neighbor` shows the state of each end.", lacpAsks},
	{[]string{"tunnel_mtu"}, []string{"not_mtu", "mtu_helps_not", "mtu_helps", "mtu_limit", "mtu_blamed", "loss_percent", "lossy", "half_duplex", "crc_grows"}, true, record.MTU, 0.45, "the tunnel's MTU",
		"By what is said, the tunnel's MTU is not what the way takes less its header: full packets are cut in two, or lost.",
		"Set the tunnel's MTU to what the way takes less its header (20 bytes for IPIP, 50 for VXLAN, 60 to 80 for WireGuard), at both ends and in what sends into it, or clamp the MSS of what is forwarded.", frameAsks},
	{[]string{"card_fine"}, []string{"lossy", "half_duplex", "crc_grows"}, true, record.CardSlot, 0.54, "the card that is slow",
		"By what is said, another card in the same machine is fast over the same way and this one is not: the cable, the other end and the program are the same, so that it is the card, its driver or its offloads.",
		"Try its offloads off one by one (TSO, LRO, checksums), energy saving off (EEE), another driver or firmware, another system from a USB stick; else use the card that is fast.", []scene.Missing{
			{Command: "ethtool -k LINK; ethtool -S LINK; ethtool -i LINK (FreeBSD: ifconfig LINK; sysctl dev.em.0)", Host: "the host", Why: "which offloads are on, what its counters say, and which driver it is"}}},
	{[]string{"service_slow", "pod_fast"}, nil, true, record.CardSlot, 0.54, "the overlay's checksums (tx-checksum-ip-generic)",
		"By what is said, a pod's own address is fast and a service's is slow from the host: the packet is rewritten before the overlay (VXLAN) wraps it, and with the checksum left to an offload kernels before 5.7 send a wrong one, so that the first packets are dropped.",
		"`ethtool -K flannel.1 tx-checksum-ip-generic off` (Calico: vxlan.calico, or its FelixConfiguration's ChecksumOffloadBroken) on every node for a trial; then a newer kernel.", []scene.Missing{
			{Command: "ethtool -k flannel.1 | grep tx-checksum; nstat -az | grep -i csum; uname -r", Host: "both nodes", Why: "whether that offload is on, and whether packets with wrong sums arrive"}}},
	{[]string{"udp_alone_loses"}, []string{"old_iperf3", "radio_word", "radio_phy", "line_up_bps", "line_down_bps"}, true, record.ReceiveWindow, 0.5, "the receiving socket (UDP)",
		"By what is said, UDP loses and TCP over the same way does not: the way takes the packets, and the program's socket does not hold what comes at once before it is read. A receiver's buffer for UDP is small unless it is asked for more.",
		"A larger socket buffer at the receiver (`iperf3 -w 2M`, net.core.rmem_max for that; Windows: AFD's DefaultReceiveWindow), datagrams that fit a packet (`-l 1400`), an iperf3 of 3.2 or later at both ends, which paces.", []scene.Missing{
			{Command: "nstat -az | grep Udp (Windows: netstat -s -p udp)", Host: "the receiver", Why: "before and after: receive buffer errors are the socket's, and no loss of the network"}}},
	{[]string{"shaping_named", "unlike_rates"}, []string{"shaper_slows", "limited_by", "limit_set"}, false, record.Shaper, 0.54, "the limit that is set",
		"By what is said, a limit of somebody's (a hypervisor's or a cloud's traffic shaping) is what the rates come from: it holds for each card of a guest apart, whatever the links carry.",
		"See which limit holds for which card (the hypervisor's port or network: average and peak bandwidth; the cloud's network offering), and set the same for all.", limitAsks},
}

var duplexAsks = []scene.Missing{
	{Command: "ethtool LINK; ethtool -S LINK | grep -iE 'coll|crc'", Host: "the host", Why: "Speed, Duplex, Auto-negotiation, and late collisions"},
	{Command: "show interfaces PORT status; show interfaces PORT | include duplex|collision|CRC", Host: "the switch", Why: "the same of the other end: a-half beside a host at full is a mismatch"}}
