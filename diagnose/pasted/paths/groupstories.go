package paths

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

var (
	hashAsks = []scene.Missing{
		{Command: "cat /proc/net/bonding/* (a switch: show etherchannel load-balance; show port-channel traffic)", Host: "the end that sends", Why: "as root: mode, hash and ports, and how much each carries"},
		{Command: "ip -s link, before and after", Host: "the end that sends", Why: "which link carried it"}}
	cardAsks = []scene.Missing{
		{Command: "lspci -vv (LnkCap and LnkSta); lspci -t", Host: "the host", Why: "as root: the slot of both ports, and of the bridge above them"},
		{Command: "ethtool -S LINK | grep -iE 'miss|drop|discard|no_buf'", Host: "the host", Why: "of both ports, before and after: what the card itself lost"}}
)

const hashRemedy = "Let more of a packet count at the end that sends: addresses and ports (bond: xmit_hash_policy=layer3+4; a switch: `port-channel load-balance src-dst-ip-port`, inner headers for tunnels, another seed at each tier); more connections, with ports that differ by more than two (`iperf3 --cport`, `linerate steer pick`). What comes back is the far end's hash."

// groupStories are of links that are one: of a bundle, a team or a group of a filer.
var groupStories = []story{
	{[]string{"by_chance"}, []string{"rotates", "striped"}, false, record.HashImbalance, 0.58, "the bundle's hash",
		"By what is said, it is now the rate of one link and now of several: each run has other ports, and a hash gives each connection a link by them. With few connections several of them often fall on one.",
		hashRemedy, hashAsks},
	{[]string{"mac_hash", "several_ends", "no_gain"}, []string{"routed_way"}, false, record.HashImbalance, 0.54, "the hash of MAC addresses",
		"By what is said, the link is chosen by MAC addresses, and several hosts together get no more than one link: with few of them all may fall on one, and all that comes through one router does.",
		hashRemedy, hashAsks},
	{[]string{"mac_hash", "stays_on_one"}, []string{"routed_way", "cpu_full", "cpu_bound", "cpu_heavy"}, false, record.SingleLink, 0.54, "the hash of MAC addresses",
		"By what is said, the link is chosen by MAC addresses, and all goes by one: between two hosts, or through one router, there is one pair of them, however many connections there are.",
		hashRemedy, hashAsks},
	{[]string{"cables_alike"}, []string{"several_ends", "cpu_bound", "cpu_full", "lossy", "standby_bond", "multi_wan", "disk_busy", "not_net", "dsl_word"}, false, record.SingleLink, 0.56, "the bundle (one pair of hosts)",
		"By what is said, one cable of a bundle carries as much as both: a bundle gives each connection one link, and with a hash of MACs or addresses all between two hosts; what it adds is for several.",
		hashRemedy, hashAsks},
	{[]string{"arrives_by_one", "per_packet"}, []string{"unplugged"}, false, record.SingleLink, 0.54, "the hash at the switch",
		"By what is said, packets are sent by all links in turn and arrive by one: round robin is of the end that sends, and the switch chooses the port to the receiver by its own hash, for one pair of MAC addresses or one connection always the same.",
		"Round robin at both ends needs the links to be separate all the way: a switch or VLAN for each pair of ports, or cables without a switch. Else several connections, and a hash with ports at the switch too (`port-channel load-balance src-dst-ip-port`).", hashAsks},
	{[]string{"same_actor", "second_down"}, []string{"crc_grows"}, false, record.LACPDown, 0.54, "the second bundle (the same LACP system and key)",
		"By what is said, two bundles of a host meet partners with the same LACP system and key: these are what tells bundles apart, so that the second is refused or its ports are taken for the first's.",
		"A key or system of its own for each bundle at the switches (another port-channel number, `lacp system-mac` or `lacp system-priority`), or one bundle of all ports where the switches are one system.", lacpAsks},
	{[]string{"half_lost", "per_packet"}, nil, false, record.LACPDown, 0.56, "the ports at the switch (no group)",
		"By what is said, a part of the packets is lost where they are sent in turn: the switch has the ports as single ones, learns the one address now here, now there, and sends what comes back to a port where nobody takes it, or a link in the turn is dead.",
		"Make the switch's ports one static group (balance-rr and balance-xor need that), or LACP at both ends; without a switch that can, active-backup or balance-alb. See that each link by itself passes pings.", lacpAsks},
	{[]string{"child_inactive"}, []string{"standby_bond"}, false, record.LACPDown, 0.5, "a port that stays outside",
		"By what is said, of two ports one stays out of the bundle: the other end has them in two groups, in none, or as single ports, and LACP takes only those that lead to one partner and have one speed.",
		"Make the two switch ports one LACP group, of one speed, on one switch (or one stack); then look at each port's aggregator.", lacpAsks},
	{[]string{"group_down"}, nil, false, record.LACPDown, 0.56, "a port of the group",
		"A port of the group went inactive, by its log: LACP's packets came too late or not at all, or its link went. Meanwhile the group has less, and each change moves flows.",
		"Compare the LACP rate of both ends (slow at both is the steadier), see that no filter or load keeps LACP's packets, and look for losses of the port itself (cable, module, CRC errors at the switch).", lacpAsks},
}

// severalStories are of several interfaces that are none.
var severalStories = []story{
	{[]string{"lacp_replug"}, nil, false, record.LACPDown, 0.54, "the bundle after a restart",
		"By what is said, the bundle is not usable until its links are plugged again: the two ends do not agree on it when they start (one comes up before the other, a driver that tells the link late, LACP slow), and a new link makes them begin anew.",
		"LACP fast at both ends, active at one at least; the bundle made after the links are up (a delay, `updelay`), newer driver or firmware; flow control and EEE off for a trial.", lacpAsks},
	{[]string{"bind_ignored"}, nil, false, record.AsymmetricRoute, 0.58, "the route, whatever address is bound",
		"By what is said, a test is bound to one interface's address and its packets leave by another: an address chooses no interface. The route to the peer does, and in one subnet all interfaces answer for all addresses.",
		"A route of its own for that address: `ip rule add from ADDRESS table 102`, `ip route add SUBNET dev LINK table 102`; or bind to the device (`iperf3 --bind-dev LINK`, iperf2 -B ADDRESS%LINK), each interface in a subnet of its own.", routeAsks},
	{[]string{"leaves_by_first", "same_subnet", "several_addresses"}, []string{"lossy"}, false, record.AsymmetricRoute, 0.56, "the route (two interfaces in one subnet)",
		"By what is said, two interfaces are in one subnet, and all that is sent leaves by the first: the route is looked up by the destination, and two routes to the same subnet are one too many, whatever address a socket is bound to.",
		"Each interface in a subnet of its own, or a table for each (`ip rule add from ADDRESS2 table 102`, `ip route add SUBNET dev LINK2 table 102`), or a bond of both.", routeAsks},
	{[]string{"arrives_by_one", "two_homed", "same_subnet"}, []string{"per_packet"}, false, record.AsymmetricRoute, 0.54, "ARP (several interfaces in one subnet)",
		"By what is said, several interfaces are in one subnet, and what is sent to any address comes in by one: a host answers ARP for all its addresses by each interface, and whoever asks keeps the first answer.",
		"`sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2` and a table with a rule for each address, so that it leaves by its own interface too; each interface in a subnet of its own; or a bond of all.", routeAsks},
	{[]string{"route_taken", "at_lan"}, nil, false, record.AsymmetricRoute, 0.6, "the route that the tunnel's program adds",
		"By what is said, the program of a tunnel adds a route to the local network itself: what is next door goes through the tunnel, encrypted and by its MTU.",
		"Take that network out of what the other end advertises, or do not accept its routes (`tailscale set --accept-routes=false`); else a lower metric for the local link. `ip route get PEER` (Windows: `Find-NetRoute -RemoteIPAddress PEER`) has to name the local link.", routeAsks},
	{[]string{"vmk_several", "vmk_idle", "nfs_word"}, []string{"trunking", "iscsi"}, false, record.SingleLink, 0.56, "one session of NFS by one vmkernel port",
		"By what is said, several vmkernel ports are in the subnet of the NFS server, and ESXi takes the first that matches for all of NFS: a datastore is one session by one vmnic, and the other ports wait for a failure.",
		"A subnet for each vmkernel port and an address of the server in each, with the datastores spread over them; or an EtherChannel with the IP hash, and several addresses of the server; NFS 4.1 or nconnect (vSphere 8) for one datastore.", []scene.Missing{
			{Command: "esxcli network ip interface ipv4 get; esxcli storage nfs list; esxtop (n)", Host: "the ESXi host", Why: "which vmkernel port and which vmnic carry each datastore"}}},
	{[]string{"credit_falls"}, nil, false, record.Shaper, 0.64, "the instance's baseline",
		"By what is said, an instance starts at its burst rate and falls to a lower one after some minutes: \"up to\" is what credits pay for, and with none left the baseline of its type is all.",
		"Take a type whose rate is not \"up to\", or a larger one; the baseline of each is in the provider's table. It has to be measured over longer than credits last.", cloudAsks("aws")},
	{[]string{"documented_rate"}, nil, false, record.Shaper, 0.58, "what the instance is rated at",
		"By what is said, the rate is the one that its type is documented with.",
		"For more take a larger type; compression or a nearer copy of the data sends less.", cloudAsks("")},
	{[]string{"multi_wan", "one_of_links"}, []string{"proxied", "spare_line", "adds_not"}, false, record.SingleLink, 0.5, "one of the lines",
		"By what is said, one of several lines carries all: either each connection has one line and there is one connection, or the other line is no part of what bundles them (its tunnel or subflow does not come to be, its rule or weight leaves it out).",
		"See that each line alone works with the bundle, then test with many connections; the log of what bundles them says whether both are joined.", wanAsks},
	{[]string{"trunking", "one_of_links"}, nil, false, record.SingleLink, 0.58, "one connection of NFS",
		"By what is said, NFS goes over one connection, and so over one link: several links serve one mount only where client and server open several (session trunking of NFS 4.1, nconnect), which both have to support.",
		"Linux clients: `-o nconnect=4` (and `trunkdiscovery` with NFS 4.1); ESXi: a datastore by NFS 4.1 with several server addresses, of a server that offers trunking (Ganesha does not; Linux's knfsd and ONTAP do); or several mounts by several addresses.", []scene.Missing{
			{Command: "ss -tin 'dport = 2049'; nfsstat -m", Host: "the client", Why: "how many connections there are, and by which addresses"}}},
	{[]string{"ports_share"}, []string{"one_here"}, false, record.CardSlot, 0.52, "what both ports share",
		"By what is said, each port is fast by itself and both are not: they share the slot (PCIe lanes), the card's own processor, or a bridge chip, whose limit is below the sum of the ports.",
		"See `lspci -vv` for the lanes and generation of the card (two ports of 100G need x16 of PCIe 4.0; two of 10G x8 of 2.0), move it to a full slot, or spread over two cards.", cardAsks},
	{[]string{"nic_or_all", "instance_rate"}, nil, false, record.Shaper, 0.62, "the instance (all its interfaces together)",
		"The rate that a provider names for a type of machine is of the machine: all its interfaces share it, however many there are, and more of them add nothing.",
		"For more take a larger type. A second interface is for another network, not for more rate.", []scene.Missing{
			{Command: "iperf3 -c PEER -P 8, by one interface, then by both at once", Host: "the instance", Why: "whether the sum stays the same"}}},
	{[]string{"multi_wan", "slow_pulls"}, nil, false, record.Reordering, 0.52, "one tunnel over unlike lines",
		"By what is said, a connection or tunnel goes over a fast and a slow line at once and gets the pace of the slow one: its packets overtake each other, which TCP takes for losses, or what is late keeps the rest waiting.",
		"Weights in the proportion of the lines, or whole connections for each line; what bundles by packet needs to put them in order again (MPTCP with large buffers and a scheduler that knows the round trips). The slow line only as a spare helps more than it adds.", spreadAsks},
	{[]string{"udp_adds", "tcp_lags", "multi_wan"}, []string{"udp_fine", "bulk_fails"}, false, record.Reordering, 0.5, "packets of one connection over several ways",
		"By what is said, UDP gets what the ways carry together and TCP does not: packets of a connection go by several ways and overtake each other, which TCP takes for losses.",
		"Let each connection keep its way (a policy by flow), and test with several; `nstat -az | grep -iE 'reorder|DSACK|OFO'` on both ends counts it.", spreadAsks},
	{[]string{"mptcp", "rtt_differs", "adds_less"}, nil, false, record.ReceiveWindow, 0.5, "MPTCP's window over unequal paths",
		"By what is said, paths of unlike round trips add up to less the more they differ: what came by the fast one waits in the receiver's buffer for what is late by the slow one, and with the buffer full nothing is sent.",
		"Buffers for the sum of the rates times the longest round trip, and more (the third values of tcp_rmem and tcp_wmem at both ends), and a scheduler that minds round trips.", []scene.Missing{
			{Command: "ss -tniM; sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem", Host: "both ends", Why: "while it runs: each subflow's round trip and rate, and the buffers"}}},
	{[]string{"mptcp", "join_refused"}, nil, false, record.AsymmetricRoute, 0.57, "the way of the second subflow",
		"By what is said, the second subflow asks and gets no answer: from the second address there is no way to the peer and back. Each address needs a table and a rule of its own, and addresses that the other end reaches; a private one behind another network is none.",
		"`ip rule add from ADDRESS2 table 102`, a default route by LINK2 in that table, and the like at the other end; `ping -I ADDRESS2 PEER` has to answer before MPTCP can.", routeAsks},
	{[]string{"second_unreached", "several_addresses"}, nil, false, record.AsymmetricRoute, 0.58, "the return path of the second interface",
		"By what is said, a second interface or address is not answered by: what comes in there is answered by the default route of the first, where a filter (rp_filter, a firewall, the provider) drops it, or the asker does not take it.",
		"A table for each interface: `ip route add default via GATEWAY2 dev LINK2 table 102`, `ip rule add from ADDRESS2 table 102` (for what is forwarded to a guest: mark the connection where it comes in, `ip rule add fwmark 2 table 102`), and rp_filter=2.", routeAsks},
	{[]string{"isp_per_flow"}, nil, false, record.Shaper, 0.6, "the provider's limit for each connection",
		"By what is said, a provider limits each connection: several at once carry more, and one, or a tunnel that looks like one, stays slow.",
		"Several connections (parallel transfers, several tunnels with a hash over them), or another port or protocol for the tunnel.", []scene.Missing{
			{Command: "iperf3 -c PEER, then with -P 8", Host: "", Why: "what one and several connections carry"}}},
	{[]string{"bursty", "lossy"}, nil, false, record.Application, 0.56, "the sender's bursts",
		"By what is said, a program sends its datagrams in heaps: short of the mean rate nothing would be lost, but each heap comes at the link's rate and overflows a small queue on the way.",
		"A program that paces (iperf3 3.2 or later, iperf2), fq at the sender (`tc qdisc replace dev LINK root fq`, SO_MAX_PACING_RATE), smaller batches.", []scene.Missing{
			{Command: "iperf3 --version; iperf3 -u -b RATE --pacing-timer 200", Host: "the sender", Why: "whether finer steps lose less"}}},
	{[]string{"fast_port_slow"}, nil, true, record.CardSlot, 0.64, "the card at its faster speed",
		"By what is said, the port is slow at the faster of its speeds and well at the slower one: cable and path carry it, and the card, its driver or flow control does not take what comes at that speed.",
		"Newer driver and firmware; flow control on for a trial where a faster port sends to it (`ethtool -A LINK rx on tx on`), energy saving off (`ethtool --set-eee LINK eee off`); else let it come up slower.", cardAsks},
	{[]string{"version_slows"}, []string{"version_helps"}, true, record.CardSlot, 0.46, "the newer version (driver, firmware or kernel)",
		"By what is said, it is slow since a newer version: the links and the other end could do it before.",
		"Take the last good one for a trial, compare what both set (`ethtool -k LINK`, `ethtool -c LINK`), and tell its makers which it was.", []scene.Missing{
			{Command: "ethtool -k LINK; ethtool -i LINK", Host: "the host, with each version", Why: "which offloads and driver differ"}}},
	{[]string{"vendor_radio", "radio_word"}, nil, true, record.CardSlot, 0.52, "the radio's driver",
		"By what is said, the vendor's software gets more out of the same radio at the same bitrate: the free driver lacks what it does (aggregation of frames, beam forming, more in flight), so that it is neither the air nor the cables.",
		"A newer driver and firmware for the radio, the vendor's software where it has to be fast, or another access point.", []scene.Missing{
			{Command: "iwinfo LINK assoclist", Host: "the access point", Why: "while it runs: bitrate, retries and failures, with each software"}}},
	{[]string{"virtio_gets", "fast_card"}, nil, false, record.ReceiverCPU, 0.52, "the guest's card (virtio)",
		"By what is said, a guest with one virtio card gets a part of a fast link: each packet goes through a thread of the hypervisor (vhost) and one queue of the guest, and its core is the limit long before the link.",
		guestRemedy, guestAsks("its card")},
}

// mostTogether is the part of one port's rate up to which each of two is slow.
const mostTogether = 0.65

// portsTogether: two ports that together get about what one gets alone.
func portsTogether(v *scene.View) {
	h, evidence, ok := saidAll(v, "single_full", "each_less")
	if !ok || v.HasFinding(record.CardSlot) {
		return
	}
	one, each := lastRate(evidence[0].Value), lastRate(evidence[1].Value)
	if one <= 0 || each <= 0 || float64(each) > mostTogether*float64(one) {
		return
	}
	v.Add(record.CardSlot, 0.54, h, "what both ports share",
		fmt.Sprintf("By what is said, one port alone gets %v, and both at once %v each: they have one lane, one bridge chip or one slot between them.", one, each),
		"See `lspci -vv` and `lspci -t` for the lanes above both ports; a board with more lanes, or one port by another bus.", evidence...).Ask = cardAsks
}

// lastRate is the last rate that stands in some words; zero none.
func lastRate(text string) unit.BitRate {
	if all := piece.RateWords(text); len(all) > 0 {
		return unit.BitRate(all[len(all)-1].Bits)
	}
	return 0
}

// lostShare: round robin over ports of which some have no link, where nothing shows them.
func lostShare(v *scene.View) {
	h, evidence, ok := saidAll(v, "unplugged", "share_lost", "per_packet")
	if !ok || len(v.Bonds) > 0 || v.HasFinding(record.LACPDown) {
		return
	}
	v.Add(record.LACPDown, 0.6, h, "the ports without a link",
		"By what is said, ports without a link are in a group that sends in turn: a driver that does not watch their links gives them a share of the packets, which is lost.",
		"Let the links be watched (team: `link_watch` ethtool; bond: `miimon 100`), or take such ports out. Sending in turn reorders the packets of a connection, too: LACP with a hash of ports spreads several.", evidence...).Ask = lacpAsks
}
