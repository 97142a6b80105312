package paths

import (
	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// besideStories are what stands beside the links: containers' networks in a program, filters,
// several lines to the Internet, Wi-Fi, and other systems on the same machine.
var besideStories = []story{
	{[]string{"rpf_drops"}, nil, false, record.AsymmetricRoute, 0.6, "the reverse path filter",
		"By what is said, packets are dropped by the reverse path filter: they come in by one interface, and the route to where they come from leads out by another.",
		"Let answers leave where the question came in: a table and a rule for each address (`ip rule add from ADDRESS table 102`, a default route there). Where the ways have to differ, `net.ipv4.conf.LINK.rp_filter=2` (loose) on the interface that receives; the larger of `all` and the interface holds. `nstat -az TcpExtIPReversePathFilter` counts what it drops.", []scene.Missing{
			{Command: "nstat -az TcpExtIPReversePathFilter; sysctl -ar 'rp_filter'", Host: "the host that receives", Why: "before and after: whether the filter drops them"},
			{Command: "ip route get PEER from ADDRESS iif LINK; ip rule", Host: "the host that receives", Why: "by which way the answer would go"}}},
	{[]string{"user_stack", "inside_container"}, []string{"tunnel", "tunnel_word"}, true, record.Application, 0.5, "the containers' network in user space",
		"By what is said, the containers' network is a program of its own (without privileges, rootless: slirp4netns, pasta; Docker Desktop: vpnkit before a virtual machine; gVisor): it takes each packet from the kernel and sends it again by sockets of its own. Its copies, its one thread and its MTU (65520 with slirp4netns) are the limit long before the link is.",
		"Measure once with the host's network (`--network=host`; on a Mac or Windows inside the virtual machine). Then pasta instead of slirp4netns (podman's default since 5.0), `--network slirp4netns:mtu=1500` where large packets hurt, the newest version, or containers with privileges on Linux and a real bridge.", []scene.Missing{
			{Command: "docker info; podman info; ps -e | grep -E 'slirp|pasta|rootlesskit|vpnkit'", Host: "the host", Why: "which program is the containers' network"},
			{Command: "iperf3 -c PEER, in a container, then with --network=host, each with -R", Host: "the host", Why: "what it costs, each way"}}},
	{[]string{"multi_wan", "proxied", "adds_not"}, []string{"spare_line"}, false, record.SingleLink, 0.54, "the proxy (one line for its own connections)",
		"By what is said, a proxy runs on the router: what it fetches are connections of the router's own, which policies for forwarded traffic do not see, so that all of them leave by the one default line.",
		"Bind the proxy's outgoing connections to lines by mark or by interface (a policy for the router's own traffic: OUTPUT and `ip rule fwmark`), or run an instance for each line; or leave the proxy out of the way for what shall use all lines.", wanAsks},
	{[]string{"multi_wan", "adds_not"}, []string{"proxied", "spare_line"}, false, record.SingleLink, 0.52, "each connection has one line",
		"By what is said, several lines to the Internet are balanced: by connection (mwan3, pfSense's gateway groups, ECMP) or by address, never by packet, since the lines have addresses of their own. One download gets what one line carries; only many connections use all.",
		"Test with many connections (a download manager, a torrent, several clients). Weights in the proportion of the lines' rates; no sticky option where it should spread. One connection over all lines takes a tunnel to a server outside that bundles them (MPTCP: OpenMPTCProuter; or a VPN for each line with a bond on top).", wanAsks},
	{[]string{"radio_rate"}, []string{"cable_rate", "lossy", "copy_bps", "tunnel", "tunnel_word", "faster_part"}, true, record.LineRate, 0.5, "Wi-Fi, of the one that measures",
		"By what is said, it was measured over Wi-Fi: its radio shares the air with all that hear it, both ways, and gives half to two thirds of its bitrate; an old laptop or 2.4 GHz far less than a gigabit line. That says nothing of the line or of links behind the access point.",
		"Measure by cable (Ethernet) at the router first. For Wi-Fi: 5 or 6 GHz, near to the access point, a wider channel, a card with more antennas.", []scene.Missing{
			{Command: "iperf3 -c PEER, by cable", Host: "the host", Why: "what there is without Wi-Fi"},
			{Command: "iw dev LINK link (Windows: netsh wlan show interfaces)", Host: "the host", Why: "bitrate and signal"}}},
	{[]string{"radio_phy"}, []string{"lossy"}, true, record.LineRate, 0.5, "the radio (Wi-Fi)",
		"By what is said, the way has a radio: half to two thirds of its bitrate is payload, of all that use the channel together and both ways; what is measured is of that order, or less where the signal is weak. The cables behind it are not the limit.",
		"Compare with the bitrate while it runs (`iwinfo LINK assoclist`, `iw dev LINK link`): below a third of it the channel is busy or the signal weak. More takes a wider or free channel, 5 or 6 GHz, more antennas at the client, or a cable.", []scene.Missing{
			{Command: "iwinfo LINK assoclist", Host: "the access point", Why: "while it runs: bitrates each way, signal, retries"},
			{Command: "iperf3 -c PEER, by cable", Host: "the host", Why: "what there is without Wi-Fi"}}},
	{[]string{"standby_bond", "slow_part", "alone_fast"}, nil, false, record.SingleLink, 0.56, "the bond's active link",
		"By what is said, a bond of which one link waits (active-backup) runs at the rate of a slow link, while the fast one works by itself: the slow link is the active one. Such a bond carries by one link at a time, whatever the others can.",
		"Make the fast link the active one: `primary` with primary_reselect=better (`ip link set BOND type bond primary LINK primary_reselect better`; a NAS: the order of the ports), and see which it is (`cat /proc/net/bonding/*`: Currently Active Slave). Links of unlike speed add up in no mode of LACP.", []scene.Missing{
			{Command: "cat /proc/net/bonding/*", Host: "the host", Why: "as root: which link is active, and the speed of each"}}},
	{[]string{"udp_fine", "rate_tiny"}, nil, true, record.CardSlot, 0.5, "the card's offloads",
		"By what is said, UDP fills the way and TCP comes to next to nothing: full packets pass and little is lost, so that it is TCP's own packets that suffer. Segments that the card or the kernel cut and merge (TSO, GRO, LRO) or whose checksums it leaves to others do not fit what stands between (a bridge of a program's own, netmap, DPDK, a tunnel), which drops them.",
		"Turn the offloads off on the card and for the program's bridge, and measure again: `ethtool -K LINK tso off gso off gro off lro off tx off rx off`. Then turn on one by one what does no harm.", []scene.Missing{
			{Command: "ethtool -k LINK; tcpdump -vni LINK tcp", Host: "both hosts", Why: "segments longer than the MTU, and checksums that are wrong where they arrive"},
			{Command: "nstat -az | grep -iE 'csum|Retrans'", Host: "both hosts", Why: "before and after"}}},
	{[]string{"other_part"}, nil, true, record.CardSlot, 0.5, "the adapter that was changed",
		"By what is said, another adapter in its place is fast: the rest of the way carries it, and what differs is the adapter, its driver and its settings.",
		"Newer firmware and driver for the slow one; its offloads, flow control and energy saving off for a trial (`ethtool -K`, `ethtool -A`, `ethtool --set-eee LINK eee off`); the port it came up with (`ethtool LINK`); else use the other.", []scene.Missing{
			{Command: "ethtool LINK; ethtool -i LINK; ethtool -S LINK", Host: "the host", Why: "of both adapters: speed, driver, and which errors the slow one counts"}}},
	{[]string{"other_system"}, []string{"other_part"}, true, record.Application, 0.46, "the system or driver of the slow end",
		"By what is said, another system on the same way is fast: links, switch and the other end carry it, and what differs is the slow system: its driver, its settings or its program.",
		"Compare the two: the driver and its version, offloads, queues and interrupt moderation, TCP's windows and congestion control, the protocol's options (SMB multichannel, NFS rsize and nconnect, sync). Measure with the same program on both.", []scene.Missing{
			{Command: "iperf3 -c PEER, then with -R, then with -P 8", Host: "the host, with each system", Why: "whether the network or the program differs"}}},
	{[]string{"bad_sums"}, []string{"offload_helps"}, false, record.CardSlot, 0.54, "the offloads of what forwards",
		"By what is said, a capture where packets are forwarded shows some that are larger than the MTU and whose checksums are wrong: the sender's card or guest left cutting and summing to somebody who does not do it here (a bridge, a user-space switch, a tunnel), so that they are dropped on the way.",
		"Turn off what the sender leaves to others, on the guest's or container's link and on the one that forwards: `ethtool -K LINK tx off tso off gso off gro off`; then one by one. At the sender's own card such a capture is harmless: the card sums after it.", []scene.Missing{
			{Command: "ethtool -k LINK; tcpdump -vni LINK", Host: "where it is forwarded, and the receiver", Why: "whether sums are still wrong where packets arrive"},
			{Command: "nstat -az | grep -i csum", Host: "the receiver", Why: "before and after: packets dropped for wrong sums"}}},
	{[]string{"table_full"}, nil, false, record.Congestion, 0.62, "the table of connections",
		"By what is said, a table of connections (conntrack, NAT, states) is full: packets of new connections are dropped while old ones go on; links and cores are not the limit.",
		"Raise it (net.netfilter.nf_conntrack_max with hashsize a quarter of it; pfSense: Firewall Maximum States), shorten nf_conntrack_tcp_timeout_established, and let what needs no state pass untracked (NOTRACK).", []scene.Missing{
			{Command: "sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max; conntrack -S (FreeBSD: pfctl -si)", Host: "the router", Why: "how full it is, and what was dropped"}}},
	{[]string{"device_window"}, []string{"not_window", "window_helps_not"}, false, record.ReceiveWindow, 0.6, "the device's own TCP window",
		"By what is said, a router or switch has a small TCP window for what it receives itself (IOS: 4128 bytes by default): a copy to it carries that much in each round trip, whatever the links are.",
		"`ip tcp window-size 65535` (IOS; `show running-config all | include ip tcp`) and `ip tcp selective-ack`; files by HTTP or from a local disk where it cannot be more.", longAsks},
}

var wanAsks = []scene.Missing{
	{Command: "iperf3 -c PEER -P 8, or several downloads at once; ip -s link, before and after", Host: "the router", Why: "whether many connections use all lines"},
	{Command: "ip rule; ip route show table all (OpenWrt: mwan3 status)", Host: "the router", Why: "which policy holds for which traffic, and the weights"}}
