package paths

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// story is a cause that sentences tell by facts together.
type story struct {
	told, without []string // all of these, none of those
	complains     bool     // only where something is slow or fails
	cause         record.Cause
	sure          float64
	where         string
	what, remedy  string
	ask           []scene.Missing
}

var (
	lacpAsks = []scene.Missing{
		{Command: "cat /proc/net/bonding/* (or teamdctl TEAM state, ifconfig -v lagg0)", Host: "the host", Why: "as root: its mode, each port's aggregator, and whether a partner's MAC is not zero"},
		{Command: "show etherchannel summary; show lacp neighbor; show running-config interface PORT", Host: "the switch", Why: "whether the ports are one LACP group, and whom they hear"}}
	coreAsks = []scene.Missing{
		{Command: "top -H -b -n 1 | head -20; mpstat -P ALL 1 5", Host: "both ends", Why: "while it runs: which thread or core is full, in %usr, %sys or %soft"},
		{Command: "iperf3 -c PEER, then with -R", Host: "", Why: "what the network carries without that program, each way"}}
	frameAsks = []scene.Missing{
		{Command: "ping -M do -s 8972 PEER; ping -M do -s 1472 PEER", Host: "both hosts", Why: "the largest packet that passes, each way"},
		{Command: "ip -d link", Host: "both hosts", Why: "the MTU of each link, bridge, bond and VLAN on the way"},
		{Command: "show interfaces | include MTU; show system mtu", Host: "the switch", Why: "the MTU of its ports and VLANs"}}
	routeAsks = []scene.Missing{
		{Command: "ip route get PEER; ip -br addr; ip rule (Windows: Find-NetRoute, Get-SmbMultichannelConnection)", Host: "both hosts", Why: "by which link each of them sends to the other, and from which address"},
		{Command: "ip -s link, before and after", Host: "both hosts", Why: "which link carried it, each way"}}
	depthAsks = []scene.Missing{
		{Command: "fio --name=t --rw=write --bs=1M --iodepth=1 --direct=1 --size=4G --filename=FILE, then --iodepth=32 --ioengine=libaio", Host: "the client", Why: "whether more requests under way carry more: then it is the wait for each"},
		{Command: "ping -c 50 TARGET; iostat -x 2", Host: "both", Why: "the round trip, and how long the target's disk takes for a request"}}
	uplinkAsks = []scene.Missing{
		{Command: "show interfaces UPLINK | include rate|drops", Host: "the switch", Why: "while it runs: whether the uplink is full, and what its queue drops"},
		{Command: "iperf3 -c PEER -P 8, to a host at the same switch", Host: "the host", Why: "whether the ports carry more where the uplink is not on the way"}}
)

// stories are in the order in which they are told where two are as sure.
var stories = []story{
	{[]string{"mtu_limit"}, nil, false, record.MTU, 0.62, "the path's MTU",
		"By what is said, packets up to a size pass and larger ones do not: something on the way (a card, a switch port, a tunnel's header) carries no more, and drops the rest without a word.",
		"Set the MTU on both ends to the largest that passes (`ping -M do -s N PEER`: N plus 28), or to 1500 where jumbo frames are not needed; for a tunnel that less its header, or clamp the MSS. If a card ends below what it should carry, try another driver.", frameAsks},
	{[]string{"mptcp", "one_subflow"}, nil, false, record.SingleLink, 0.55, "MPTCP (one subflow)",
		"By what is said, MPTCP has one subflow: the other link's never comes to be, so that one link carries all. It needs an endpoint for each further address, a limit that allows it, and a way from just that address to the peer.",
		"On both ends `ip mptcp limits set subflows 8 add_addr_accepted 8`; on the client `ip mptcp endpoint add ADDRESS2 dev LINK2 subflow`, on the server the same with `signal`. A table and a rule for each address (`ip rule add from ADDRESS2 table 102`), and the peer's address reachable by LINK2 (`ping -I LINK2 PEER`). `ip mptcp monitor` and `nstat -az | grep MPTcp` show joins that fail; `iperf3` needs --mptcp or mptcpize.", []scene.Missing{
			{Command: "ip mptcp endpoint; ip mptcp limits; ip rule; ip route show table all", Host: "both hosts", Why: "which addresses MPTCP may use, and by which way each goes"},
			{Command: "ss -tiM; nstat -az | grep MPTcp", Host: "both hosts", Why: "while it runs: how many subflows there are, and whether joins fail"}}},
	{[]string{"both_passive"}, nil, true, record.LACPDown, 0.6, "LACP (passive at both ends)",
		"By what is said, both ends are passive: neither speaks first, so that LACP never agrees and the ports are no bundle.",
		"Make one end active (`channel-group N mode active`; Linux: lacp_active on, which is its default; RouterOS, AOS and Junos: lacp active), then look at the partner on each port.", lacpAsks},
	{[]string{"no_lacpdus"}, nil, true, record.LACPDown, 0.6, "LACP (frames that do not arrive)",
		"By what is said, a port hears no LACP frames: the other end sends none (no LACP group on just that port, or passive), or something between eats them (a virtual switch or bridge, a media converter, a provider's line).",
		"Put just these ports into one LACP group, active, at both ends; `tcpdump -e -i PORT ether proto 0x8809` shows whether frames leave and arrive. Through a Linux bridge they pass only with `group_fwd_mask` bit 2 (0x4) on ports that are no bond's; otherwise use a static group at both ends.", lacpAsks},
	{[]string{"suspended"}, nil, true, record.LACPDown, 0.56, "LACP (a port that the switch suspends)",
		"By what is said, the switch suspends a port of the bundle: it hears no LACP there yet, or the ends' settings differ. The port has link, so that the host may use it before the switch forwards what it gets there.",
		"LACP at both ends, active, with the fast rate; see why the switch does it (`show lacp neighbor`, its log). The host should use no port without a partner: bond mode 802.3ad with min_links, teamd's runner lacp instead of a runner by the link alone. `no lacp suspend-individual` lets a port work by itself meanwhile.", lacpAsks},
	{[]string{"modes_differ"}, nil, true, record.LACPDown, 0.56, "the bundle (one end is LACP, the other is not)",
		"By what is said, the two ends do not run the same: one is LACP and the other is static or none. An LACP end leaves ports out that hear no LACP, or sends by one alone; a switch's static group before a host that is none sends half of the packets where nobody takes them.",
		"Make both the same: LACP at both (`mode 802.3ad` on the host, `channel-group N mode active` on the switch), or static at both (balance-xor with layer3+4; `mode on`). active-backup, balance-alb and balance-tlb want no group on the switch.", lacpAsks},
	{[]string{"other_link"}, nil, false, record.AsymmetricRoute, 0.56, "the link that is chosen",
		"By what is said, the traffic takes another link than it should: an address decides it. The client connects to the address (or name) that it was given, each end answers by its own best route to the other's address, and of two links in one subnet a host uses the one with the better metric or the first.",
		"Give the fast links a subnet of their own (no gateway there) and connect by that address, or put the fast address for the name into DNS or the hosts file. With both links in one subnet: metrics at both ends (`ip route`, `Set-NetIPInterface -InterfaceMetric`), arp_ignore=1 and arp_announce=2 on Linux, and SMB bound to the fast address (`interfaces =`, New-SmbMultichannelConstraint).", routeAsks},
	{[]string{"jumbo_breaks", "small_works"}, nil, false, record.MTU, 0.62, "the path (large frames)",
		"By what is said, it works with frames of 1500 bytes and not with large ones: something on the way (a switch port or VLAN, a bridge, a bond's port, the other end, a card that cannot) still ends at 1500, and drops what is larger without a word.",
		"`ping -M do -s 8972 PEER` each way, then hop by hop: the first that fails has the small MTU. Set 9000 on both hosts, their bonds, bridges and VLANs, and 9216 on every switch port of the way; where one of them cannot, use 1500 everywhere, which costs little.", frameAsks},
	{[]string{"jumbo_breaks"}, nil, false, record.MTU, 0.5, "the path (large frames)",
		"By what is said, large frames stop what works without them: something on the way (a switch port or VLAN, a bridge, a bond's port, the other end, a card that cannot) still ends at a smaller MTU, and drops what is larger without a word.",
		"`ping -M do -s 8972 PEER` each way, then hop by hop: the first that fails has the small MTU. Set 9000 on both hosts, their bonds, bridges and VLANs, and 9216 on every switch port of the way; where one of them cannot, use 1500 everywhere, which costs little.", frameAsks},
	{[]string{"pmtu_blocked"}, nil, true, record.MTU, 0.56, "path MTU discovery",
		"By what is said, the message that a packet is too large (ICMP: fragmentation needed) does not reach the sender: it keeps sending what is dropped, or falls back to packets that are far too small.",
		"Let ICMP type 3 code 4 (IPv6: type 2, packet too big) through every firewall. Until then clamp the MSS where the path gets narrow (`iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu`), or set the MTU of the tunnel or link to what `ping -M do -s N PEER` passes plus 28; net.ipv4.tcp_mtu_probing=1 on the sender helps too.", frameAsks},
	{[]string{"gre_ipsec", "bulk_fails"}, nil, false, record.MTU, 0.58, "GRE in IPsec (MTU)",
		"By what is said, pings pass and larger things do not, and the way goes by GRE within IPsec: both add a header (24 bytes of GRE, 50 to 80 of ESP), so that full packets of 1500 do not fit and are cut or lost.",
		"On the tunnel: `ip mtu 1400` and `ip tcp adjust-mss 1360` (Linux: MTU 1400 on the gre device and TCPMSS --clamp-mss-to-pmtu), at both ends; let ICMP fragmentation needed through (`tunnel path-mtu-discovery`).", frameAsks},
	{[]string{"gre_ipsec"}, []string{"esp_offload"}, true, record.MTU, 0.44, "GRE in IPsec (MTU)",
		"The way goes by GRE within IPsec, by what is said: both add a header (24 bytes of GRE, 50 to 80 of ESP), so that full packets of 1500 do not fit and are cut into two, which costs a core and loses more, or are lost. The other limit of such a way is the core that encrypts.",
		"On the tunnel: `ip mtu 1400` and `ip tcp adjust-mss 1360` (Linux: MTU 1400 on the gre device and TCPMSS --clamp-mss-to-pmtu), at both ends. If pings of 1372 bytes pass unfragmented already, look at the core that encrypts.", append(slices.Clone(frameAsks[:1]), coreAsks...)},
	{[]string{"out_of_order", "per_packet"}, nil, true, record.Reordering, 0.58, "the links that packets of one connection share",
		"By what is said, packets arrive out of order and are spread over links one by one: TCP takes segments that overtake each other for losses, sends again what was not lost and slows down.",
		"Choose the link by flow and not by packet: 802.3ad or balance-xor with layer3+4 instead of balance-rr, per-flow (per-destination) load balancing on routers (`ip load-sharing per-destination`; Junos' \"per-packet\" is by flow), one path for each tunnel. Where it must stay: the same speed and delay on all links, net.ipv4.tcp_reordering=127.", []scene.Missing{
			{Command: "nstat -az | grep -E 'Reorder|OFO|DSACK|Retrans'", Host: "both hosts", Why: "before and after a run: whether packets overtake each other or are lost"},
			{Command: "ip route get PEER; cat /proc/net/bonding/*; show ip cef; show running-config | include load", Host: "the hosts and routers of the way", Why: "which of them spreads packets one by one"}}},
	{[]string{"one_portal", "iscsi", "two_homed"}, []string{"same_subnet"}, true, record.SingleLink, 0.54, "one portal or session",
		"By what is said, several ports are there and one portal or session: a session is one TCP connection to one address, and takes one link, whatever multipath would do with a second one.",
		"Give the target a portal address on each port, in subnets of their own, log in to each (`iscsiadm -m discovery -t st -p ADDRESS` for both, then --login; Windows: a session from each initiator address to each portal; ESXi: port binding or a vmk for each subnet), and round robin over the paths (`path_selector \"round-robin 0\"`, VMW_PSP_RR with iops=1).", []scene.Missing{
			{Command: "iscsiadm -m session -P 1; multipath -ll (ESXi: esxcli iscsi session list; Windows: Get-IscsiConnection, mpclaim -s -d)", Host: "the initiator", Why: "how many sessions there are, from and to which address, and the policy of the paths"},
			{Command: "the target's list of portals and its addresses", Host: "the target", Why: "whether it answers at an address on each port"}}},
	{[]string{"no_partner"}, nil, false, record.LACPDown, 0.64, "LACP (no partner)",
		"By what is said, the partner is zeros: no LACP frame of the other end was heard on that port. The ports there are in no LACP group, or in a static one, or something between eats the frames; one port alone carries then.",
		"Put just these ports into one LACP group, active, on the switch (`channel-group N mode active`), or take a mode that wants none (active-backup). `tcpdump -e -i PORT ether proto 0x8809` shows whether frames leave and arrive.", lacpAsks},
	{[]string{"aggregators_differ"}, nil, false, record.LACPDown, 0.6, "LACP (ports in aggregators of their own)",
		"By what is said, the ports are in different aggregators: a bundle sends over one aggregator alone, so that the others wait. The ports lead to two switches that are no pair, or to two groups, or their speeds differ, or one hears no partner.",
		"All ports to one LACP group of one switch (or of a pair that speaks as one: stack, vPC, MLAG), with the same speed; then compare each port's partner MAC and key: those that differ are in another group.", lacpAsks},
	{[]string{"port_drops"}, nil, false, record.Congestion, 0.54, "the queue of a switch's port",
		"By what is said, a switch drops what one of its ports has to send: more arrives for that port than it carries, for longer than its queue holds. Several senders at once toward one link do that, and a fast port toward a slow one, with an average far below the link's rate.",
		"A faster link at that port, or more of them with a hash over ports; fewer senders at once; pace the senders (`tc qdisc replace dev LINK root fq`, BBR); more of the shared buffer for the port (`qos queue-softmax-multiplier 1200` on a Catalyst); pause frames only in a network of storage.", []scene.Missing{
			{Command: "show interfaces PORT; show queueing interface PORT (show platform hardware fed ... qos queue stats)", Host: "the switch", Why: "while it runs: which port and queue drop, and how full the port is"},
			{Command: "nstat -az | grep -E 'Retrans|Timeouts'; ss -tin", Host: "the senders", Why: "before and after: how much was lost"}}},
	{[]string{"oversubscribed"}, []string{"port_drops"}, true, record.Congestion, 0.5, "a link that gets more than it carries",
		"By what is said, more is sent into a link than it carries: its queue fills, and what does not fit is dropped, whatever the links before it and their hash do.",
		"A faster link there or more of them, fewer senders at once, or a limit at the senders (pacing, a rate for backups); the counters of that port's queue show how much is dropped.", []scene.Missing{
			{Command: "show interfaces PORT; show queue counters PORT", Host: "the switch", Why: "while it runs: how full the link is, and what its queues drop"}}},
	{[]string{"softnet_grows"}, nil, false, record.ReceiverCPU, 0.58, "the kernel's work for each packet (softnet)",
		"By what is said, the counts of softnet grow: the core that takes packets from the card stops before its queue is empty (time_squeeze), or drops what does not fit its backlog. That core is the limit of what arrives.",
		"Spread the receiving: more queues (`ethtool -L LINK combined N`) with their interrupts on cores of their own, RPS where there is one queue; GRO on, larger frames; then net.core.netdev_budget=600 and netdev_budget_usecs=8000.", []scene.Missing{
			{Command: "cat /proc/net/softnet_stat, before and after; mpstat -P ALL 1 5", Host: "the host that receives", Why: "which core's counts grow, and whether it is full"}}},
	{[]string{"churned"}, nil, false, record.LACPDown, 0.6, "LACP (a port that is churned)",
		"By what is said, a port is churned: it and its partner have not agreed within the time of the standard, so that it is outside the bundle's aggregator and carries nothing.",
		"Look at that port's partner: its MAC and key must be those of the other ports. The switch's port is in another group or none, its configuration differs (speed, VLANs, MTU) so that it is suspended, or it still waits after a restart: shut and no shut it there.", lacpAsks},
	{[]string{"frag_asked"}, []string{"mtu_limit"}, false, record.MTU, 0.52, "the path's MTU",
		"By what is said, something on the way asks for smaller packets (fragmentation needed): its MTU is below the sender's, and what is larger is lost until the sender heeds it.",
		"Let ICMP type 3 code 4 through every firewall to the sender, or set the MTU (or clamp the MSS) to what `ping -M do -s N PEER` passes plus 28; net.ipv4.ip_no_pmtu_disc must be 0, and net.ipv4.tcp_mtu_probing=1 helps.", frameAsks},
	{[]string{"rss_false"}, nil, true, record.SingleLink, 0.5, "SMB's connections (a card without RSS)",
		"By what is said, a card has no RSS: SMB opens several connections only over cards that have it, and with one connection one core and one link do all the work.",
		"Turn it on at both ends (`Enable-NetAdapterRss`, with several queues; Samba: interfaces = \"ADDRESS;capability=RSS,speed=N\"), see RSS Capable in `Get-SmbClientNetworkInterface`, and connect anew.", []scene.Missing{
			{Command: "Get-SmbClientNetworkInterface; Get-SmbMultichannelConnection; Get-NetAdapterRss", Host: "both ends", Why: "which cards SMB may use with how many connections"}}},
	{[]string{"slot_limit"}, nil, false, record.CardSlot, 0.54, "the slot (PCIe)",
		"By what is said, the slot is where it ends: all ports of a card share its lanes, each way (x1 of generation 2 leaves about 3.2 Gbit/s of payload, of generation 3 about 6.5), however fast each port is alone.",
		"See `lspci -vv` as root (LnkSta of the card and of the bridge above it); a slot with more lanes or of a newer generation, or fewer ports at once. Ports that do as much together as alone are not limited by it.", []scene.Missing{
			{Command: "lspci -vv", Host: "the host", Why: "as root: LnkCap and LnkSta of the card and of the bridge above it"}}},
	{[]string{"other_slot"}, nil, false, record.CardSlot, 0.5, "the slot",
		"By what is said, the card that is slow is in another slot: slots of the same length may have fewer lanes or an older generation (behind the chipset, shared with M.2), and the card gets what its slot has.",
		"`lspci -vv` as root: LnkSta of the card against LnkCap; put it into a slot of the processor with all its lanes.", []scene.Missing{
			{Command: "lspci -vv", Host: "the host that is slow", Why: "as root: LnkCap and LnkSta of the card and of the bridge above it"}}},
	{[]string{"ring_drops"}, nil, false, record.CardSlot, 0.54, "the receive ring",
		"By what is said, the card drops what it receives: its ring is full before the host takes the packets, and each one is a loss for TCP. The core that its interrupts go to is late, or the ring is small.",
		"Enlarge the ring (`ethtool -g LINK`, `ethtool -G LINK rx 4096`), spread the queues over cores (`ethtool -L`, irqbalance), lower interrupt delays (`ethtool -C LINK adaptive-rx on`); pause frames only as a last resort.", []scene.Missing{
			{Command: "ethtool -S LINK | grep -E 'drop|miss|fifo|buf'; ethtool -g LINK", Host: "the host that receives", Why: "before and after: which counter goes up, and how large the ring is"},
			{Command: "mpstat -P ALL 1 5; cat /proc/softirqs", Host: "the host that receives", Why: "while it runs: whether one core takes all packets"}}},
	{[]string{"crc_grows"}, nil, false, record.Congestion, 0.64, "the cable, module or port whose errors grow",
		"By what is said, frames arrive damaged (CRC errors): each is a lost packet, and TCP over that link stays slow however empty it is.",
		"Clean or replace the cable, then the modules, then another port; see that both ends agree on speed, duplex and FEC (`ethtool LINK`, `ethtool --show-fec LINK`). Until then take the port out of the bundle.", []scene.Missing{
			{Command: "ethtool -S LINK | grep -iE 'crc|err|fec'; ethtool -m LINK", Host: "both ends of that link", Why: "which direction is damaged, and the light that arrives"}}},
	{[]string{"zero_window"}, nil, false, record.Application, 0.56, "the program that receives",
		"By what is said, the receiver closes its window (zero window): its program does not read as fast as data arrives, so that the buffer fills up. The network waits for it.",
		"Look what that program waits for: a disk (`iostat -x 2`), a full core (`top -H`), a lock, another connection. A larger buffer would fill up too.", []scene.Missing{
			{Command: "ss -tinm; top -H", Host: "the host that receives", Why: "while it runs: what waits unread (Recv-Q), and what the program does"},
			{Command: "iostat -x 2", Host: "the host that receives", Why: "whether the disk that it writes to is busy all the time"}}},
	{[]string{"too_long"}, nil, false, record.MTU, 0.54, "this host's own MTU",
		"By what is said, the host itself refuses the packet (message too long): the link, bond, bridge or VLAN by which it leaves has a smaller MTU than the packet, whatever the ports below have; or the host has learnt a smaller one of the path.",
		"`ip route get PEER` says by which device it leaves, `ip -d link` the MTU of each: set the same on ports, bond, bridge and VLAN (a bond gives its MTU to its ports). `ip route flush cache` forgets what was learnt.", frameAsks},
	{[]string{"by_port_id", "two_homed"}, nil, false, record.SingleLink, 0.58, "ESXi's teaming (originating virtual port)",
		"By what is said, uplinks are chosen by the originating virtual port: each virtual card (of a guest, or a vmkernel port) has one uplink, however many there are and however many flows it has.",
		"One guest gets more only by a faster uplink, or by several virtual cards on uplinks of their own. With a static port channel on the switch IP hash spreads pairs of addresses (on a distributed switch LACP with ports in the hash); vMotion and iSCSI take several vmkernel ports.", []scene.Missing{
			{Command: "esxtop (n)", Host: "the ESXi host", Why: "while it runs: which vmnic each virtual card uses, and how full it is"}}},
	{[]string{"mac_hash", "routed_way"}, nil, false, record.SingleLink, 0.6, "the hash of MAC addresses",
		"By what is said, the link is chosen by MAC addresses, and all that comes through a router has the router's: one address, one link, however many hosts and flows are behind it.",
		"Hash addresses and ports at the end that sends: `port-channel load-balance src-dst-ip` or src-dst-mixed-ip-port on the switch (it is global on most), xmit_hash_policy=layer3+4 on a host.", []scene.Missing{
			{Command: "show etherchannel load-balance; show interfaces counters", Host: "the switch", Why: "by what it chooses the link, and how its members are used"}}},
	{[]string{"tunnel_word", "large_fails"}, []string{"gre_ipsec"}, false, record.MTU, 0.56, "the tunnel (large packets)",
		"By what is said, small things pass the tunnel and large ones hang: with the tunnel's header full packets do not fit the way, and nobody tells the sender (ICMP is filtered, or the tunnel's MTU is too large).",
		"Set the tunnel's MTU to what passes (`ping -M do -s N PEER` through it: N plus 28; 1420 for WireGuard, 1400 for IPsec, 1450 for VXLAN over 1500), clamp the MSS where it begins (`--clamp-mss-to-pmtu`), and let ICMP fragmentation needed through.", frameAsks},
	{[]string{"cpu_bound", "router_box"}, []string{"cpu_full", "cpu_heavy", "tunnel_word", "program"}, true, record.ReceiverCPU, 0.56, "the router's cores",
		"By what is said, a core of the box that forwards is full while it runs: the packets of a flow are received, filtered and sent on by one core, and a queue's by one, whatever the others do.",
		forwardRemedy, forwardAsks},
	{[]string{"cpu_bound"}, []string{"cpu_full", "cpu_heavy"}, true, record.SenderCPU, 0.56, "the core that the program runs on",
		"By what is said, the processor is the limit while it runs: a connection is served by one core at each end, which is full long before all of them are.",
		"Find the thread (`top -H`). An encrypting one (ssh, a VPN, TLS): a cipher that the processor has instructions for (aes128-gcm; chacha20 without AES instructions), or a way without it in a network that you trust. A kernel's one (%soft, %sys): offloads on, larger frames, more queues. Several connections use several cores.", coreAsks},
	{[]string{"depth_one", "storage"}, nil, true, record.Application, 0.52, "one request at a time",
		"By what is said, one request is under way at a time, or each write waits until it is on the disk: its size over the time of a round trip and the disk is the rate, however fast the links are.",
		"More requests at once: iodepth=32 with libaio or io_uring, several jobs or files, larger blocks (1M), a larger read-ahead; for sync writes a log device or a cache with a battery at the target. If the program cannot, only a lower latency helps (a faster disk, fewer hops, no interrupt delays).", depthAsks},
}

// tellStories are the causes that facts of sentences come to together.
func tellStories(v *scene.View) {
	told := make(map[record.Cause]bool)
	stories := allStories
	if ofBundle(v) {
		stories = bundleStories
	}
	for _, s := range stories {
		if told[s.cause] || s.complains && !v.Complains() || surer(v, s.cause, s.sure) && s.cause != record.LACPDown {
			continue
		}
		var by *piece.Host
		var evidence []record.Evidence
		for _, key := range s.told {
			h, x, ok := v.SaidBy(key)
			if !ok {
				evidence = nil
				break
			}
			by, evidence = h, append(evidence, scene.Saw("said", strings.TrimSpace(x.Text), x.Source))
		}
		if evidence == nil || v.Said(s.without...) || s.cause == record.MTU && carriesFull(v) || s.cause == record.Application && v.Best() >= leastGigabit && scene.NearLineRate(v.Best()) {
			continue
		}
		cause := s.cause
		if cause == record.SenderCPU {
			if v.HasFinding(record.ReceiverCPU) {
				continue
			}
			if v.Said("forwards") {
				cause = record.ReceiverCPU
			}
		}
		told[s.cause] = true
		v.Add(cause, s.sure, by, s.where, s.what, s.remedy, evidence...).Ask = s.ask
	}
}

// surer reports a finding of that cause which is as sure, or rests on an output.
func surer(v *scene.View, cause record.Cause, sure float64) bool {
	return slices.ContainsFunc(v.Findings, func(f scene.Finding) bool {
		return f.Cause == cause && (f.Confidence >= sure || slices.ContainsFunc(f.Evidence, func(e record.Evidence) bool { return !strings.HasPrefix(e.What, "said") }))
	})
}

// toZero is how a sentence says that large frames carry nothing at all.
var toZero = piece.Compile(`(?i)\bdrops? to (?:0|zero|nothing)\b`)

// carriesFull reports a run that full packets passed; where large ones carry nothing at all
// it was one with small ones.
func carriesFull(v *scene.View) bool {
	if _, x, ok := v.SaidBy("jumbo_breaks"); ok && toZero.MatchString(x.Text) {
		return false
	}
	return slices.ContainsFunc(v.Case.Runs, func(r piece.Run) bool { return r.Rate > 10*unit.Mbps && r.Stalled == 0 })
}

// saidRate is a rate that sentences tell by the first of these facts; zero none.
func saidRate(v *scene.View, keys ...string) (unit.BitRate, *piece.Host, piece.Source) {
	for _, key := range keys {
		if h, x, ok := v.SaidBy(key); ok && piece.Float(x.Text) > 0 {
			return unit.BitRate(piece.Float(x.Text)), h, x.Source
		}
	}
	return 0, nil, piece.Source{}
}

// Parts of its host's rate between which a guest's is what its virtual card costs: less is
// packets that are lost or cut.
const (
	leastOfHost = 0.12
	mostOfHost  = 0.72
)

const guestRemedy = "Use virtio (vmxnet3 on ESXi) and no e1000 or rtl8139, with vhost-net; several queues with a vCPU each (Proxmox: queues=N at the card; `ethtool -L LINK combined N` inside) and several flows; offloads on in the guest (TSO, GRO, checksums; a routing BSD guest: off); MTU 9000 on bridge and guest; the host's CPU governor at performance. For one flow at full rate: SR-IOV or pass-through."

// guestBelowHost: a virtual machine that carries a part of what its host does.
func guestBelowHost(v *scene.View) {
	guest, h, at := saidRate(v, "rate_guest")
	most, _, _ := saidRate(v, "rate_guest_most")
	host, _, from := saidRate(v, "rate_host")
	part := float64(guest) / float64(max(host, 1))
	if guest == 0 || host < 900*unit.Mbps || part < leastOfHost || part > mostOfHost || most > host*7/10 || guest > 40*unit.Gbps || pathOf(v).used() || !v.Complains() || v.HasFinding(record.ReceiverCPU) || v.HasFinding(record.SenderCPU) {
		return
	}
	v.Add(record.ReceiverCPU, 0.5, h, "the guest's card (work for each packet)",
		fmt.Sprintf("By what is said, the host carries %v and the guest %v: each packet of a guest is copied and announced by a thread of its host (vhost, QEMU, the hypervisor's switch) and received by one of its own cores, and one of the two is full. The network is not.", host, guest),
		guestRemedy,
		scene.Saw("said of the host", host.String(), from), scene.Saw("said of the guest", guest.String(), at)).Ask = guestAsks("its card")
}

// Parts of a fast link's rate between which a guest's is what its virtual card costs, where
// its host's own is not told.
const mostOfLink = 0.6

// guestBelowLink: a virtual machine of a host with a fast link, and a rate far below that.
func guestBelowLink(v *scene.View) {
	_, fast, ok := v.SaidBy("faster_part")
	_, card, virtual := v.SaidBy("guest_card")
	rate, h, at := saidRate(v, "rate_guest", "rate_most", "net_bps")
	link := unit.BitRate(piece.Float(strings.TrimFunc(fast.Text, func(r rune) bool { return r < '0' || r > '9' }))) * unit.Gbps
	if part, from, told := linePart(v); told && rate == 0 {
		rate, at = unit.BitRate(part*float64(link)), from
	}
	if !ok || !virtual || rate == 0 || link < 10*unit.Gbps || float64(rate) < leastOfHost/2*float64(link) || float64(rate) > mostOfLink*float64(link) || pathOf(v).used() || v.Said("rate_host", "cloud") || v.HasFinding(record.ReceiverCPU) || v.HasFinding(record.SenderCPU) {
		return
	}
	v.Add(record.ReceiverCPU, 0.45, h, "the guest's card (work for each packet)",
		fmt.Sprintf("By what is said, a guest with %s gets %v on a link of %v: each of its packets is copied and announced by a thread of its host (vhost, QEMU) and received by one of its own cores, and one of the two is full long before such a link is.", card.Text, rate, link),
		guestRemedy, scene.Saw("said of the guest", rate.String(), at), scene.Saw("said of the link", strings.TrimSpace(fast.Text), fast.Source)).Ask = guestAsks("its card")
}

// tunnelTakes: a part of the rate that a tunnel costs, as people tell it.
func tunnelTakes(v *scene.View) {
	h, x, ok := v.SaidBy("costs_percent")
	p, percent := pathOf(v), piece.Float(x.Text)
	if !ok || !p.used() || percent < 10 || percent > 80 || p.through > 0 || !v.Complains() || v.HasFinding(record.ReceiverCPU) || v.HasFinding(record.SenderCPU) || v.HasFinding(record.MTU) {
		return
	}
	cause := record.ReceiverCPU
	if p.encrypts() {
		cause = record.SenderCPU
	}
	v.Add(cause, 0.45, h, p.name()+" (work for each packet)",
		fmt.Sprintf("By what is said, %s costs %s %%: each packet gets a header and goes through the kernel twice, and the packets of a flow stay on one core. That is its work, not the network.", p.name(), x.Text),
		"See `mpstat -P ALL 1` on both ends: one core full in %soft or %sys is the proof. Larger frames (MTU 9000 below, 8950 inside) help most; the card's tunnel offloads on; several flows; or no encapsulation: host-gw, BGP or native routing where the nodes share a subnet.",
		append([]record.Evidence{scene.Saw("said", x.Text+" %", x.Source)}, p.said...)...).Ask = asks(v, p)
}

// sharedUplink: several ports that come to what one link carries, and one uplink behind.
func sharedUplink(v *scene.View) {
	h, x, ok := v.SaidBy("shared_uplink")
	rate, _, at := saidRate(v, "rate_many", "rate_most", "net_bps")
	rate = max(rate, v.Best())
	if !ok || rate == 0 || !scene.NearLineRate(rate) || !v.Complains() || v.HasFinding(record.LineRate) {
		return
	}
	v.Add(record.LineRate, 0.56, h, "the uplink that they share",
		fmt.Sprintf("By what is said, one uplink is behind all the ports, and %v is what such a link carries when it is full: more ports or links before it add nothing.", rate),
		"Give the uplink more (a faster port, or several in an LACP group with a hash of addresses and ports), put hosts that send much to each other at one switch, or limit what may wait (backups). Its counters show it: `show interfaces UPLINK` while it runs.",
		scene.Saw("said", strings.TrimSpace(x.Text), x.Source), scene.Saw("said", rate.String(), at)).Ask = uplinkAsks
}

// Rates that a full gigabit leaves to a copy and to a test.
const (
	leastGigabit = 820 * unit.Mbps
	// surelyGigabit is the least that is no accident where nobody tells of a gigabit.
	surelyGigabit = 920 * unit.Mbps
	mostGigabit   = 1000 * unit.Mbps
)

// fullGigabit: what one gigabit carries, where people tell of a gigabit on the way.
func fullGigabit(v *scene.View) {
	h, x, known := v.SaidBy("gigabit_part")
	fast, quick, told := v.SaidBy("faster_part")
	least, _, at := saidRate(v, "copy_bps", "net_bps", "rate_most")
	most, _, _ := saidRate(v, "rate_most", "copy_most_bps", "net_bps")
	_, bundle := v.Case.Topics["bundle"]
	_, bonded := v.Case.Topics["bonded"]
	if slowest, _, _ := saidRate(v, "rate_least"); slowest > 0 && slowest < leastGigabit/2 || v.Said("rate_tiny") {
		return // what is slow is another way
	}
	if !known && !told || bundle || bonded || least < leastGigabit || max(least, most, v.Best()) > mostGigabit || v.Best() > 0 && v.Best() < leastGigabit || len(v.Findings) > 0 || v.Said("two_homed", "cloud", "tunnel", "instance", "rate_guest") {
		return
	}
	sure, slow := 0.56, "nothing is slow, by what is said."
	switch {
	case known && told:
		sure, slow = 0.5, slow+" A link is as fast as the slowest part of the way: the ports and cards of "+strings.TrimSpace(quick.Text)+" beside it change nothing."
	case told && least < surelyGigabit:
		return
	case told:
		h, x = fast, quick
		sure, slow = 0.46, "with "+strings.TrimSpace(x.Text)+" told of, some part of the way is a gigabit: a router between VLANs, a switch's port, a link that came up slower."
	}
	v.Add(record.LineRate, sure, h, "a gigabit on the way",
		fmt.Sprintf("%v is what a gigabit carries when it is full (941 Mbit/s or 112 to 118 MB/s of payload): %s", least, slow),
		"For more, each part of the way must be faster: both cards, the cable, every switch port between (`ethtool LINK` on both hosts shows at which speed each came up). Two gigabit links give one copy no more, but for SMB multichannel.",
		scene.Saw("said", strings.TrimSpace(x.Text), x.Source), scene.Saw("said", least.String(), at)).Ask = []scene.Missing{
		{Command: "ethtool LINK", Host: "both hosts", Why: "the speed at which each came up"},
		{Command: "show interfaces status", Host: "the switch", Why: "the speed of each port on the way"}}
}

// Parts of 2.5 Gbit/s between which a rate is all that such a link carries of payload.
const (
	leastOfMultiGig = 0.93
	mostOfMultiGig  = 0.96
)

// fullMultiGig: what a link of 2.5 Gbit/s carries, where one end has such a card.
func fullMultiGig(v *scene.View) {
	h, x, ok := v.SaidBy("multi_part")
	const link = 2500 * unit.Mbps
	rate, _, at := saidRate(v, "net_bps")
	if len(v.Case.Runs) > 0 {
		rate, at = v.Best(), v.Case.Runs[0].Source
	}
	if !ok || !scene.Close(rate, link, leastOfMultiGig, mostOfMultiGig) || len(v.Findings) > 0 || v.Said("narrow_slot", "other_slot") {
		return
	}
	v.Add(record.LineRate, 0.58, h, "the card of "+link.String(),
		fmt.Sprintf("%v is what a link of %v carries of payload when it is full, and one is told of: nothing is slow. A faster card at the other end changes nothing.", rate, link),
		"For more, each part of the way must be faster: both cards, the cable and every switch port between (`ethtool LINK` shows at which speed each came up).",
		scene.Saw("said", strings.TrimSpace(x.Text), x.Source), scene.Saw("the test", rate.String(), at)).Ask = []scene.Missing{
		{Command: "ethtool LINK", Host: "both hosts", Why: "the speed at which each came up"}}
}

// laneRates are those of one lane of PCIe 1, 2 and 3, before its headers.
var laneRates = []unit.BitRate{2 * unit.Gbps, 4 * unit.Gbps, 7877 * unit.Mbps}

// oneLane: a card with one lane, and a rate that one lane carries.
func oneLane(v *scene.View) {
	h, x, ok := v.SaidBy("narrow_slot")
	rate, _, at := saidRate(v, "net_bps", "rate_many", "rate_most")
	rate = max(rate, v.Best())
	if !ok || rate < 1200*unit.Mbps || v.HasFinding(record.CardSlot) {
		return
	}
	for i, lane := range laneRates {
		if !scene.Close(rate, lane, 0.62, 1) || i > 0 && rate < laneRates[i-1] {
			continue
		}
		v.Add(record.CardSlot, 0.58, h, "the slot (one lane of PCIe)",
			fmt.Sprintf("By what is said, the card has one lane of PCIe: of generation %d that is %v before headers take a fifth or so, and %v is what is left.", i+1, lane, rate),
			"Put the card into a slot with more lanes (x4 or x8, wired so: a long slot may have one lane; some M.2 slots share with it), or a newer generation. `lspci -vv` as root: LnkCap is what the card can, LnkSta what it has.",
			scene.Saw("said", strings.TrimSpace(x.Text), x.Source), scene.Saw("said", rate.String(), at)).Ask = []scene.Missing{
			{Command: "lspci -vv", Host: scene.NameOf(h), Why: "as root, while it is up: LnkCap and LnkSta of the card and of the bridge above it"}}
		return
	}
}

// sshOverFast: a copy by ssh over a link of ten gigabits or more.
func sshOverFast(v *scene.View) {
	rate, h, at := saidRate(v, "copy_bps")
	_, by, ok := v.SaidBy("copy_by")
	_, fast, told := v.SaidBy("faster_part")
	most, _, _ := saidRate(v, "copy_most_bps")
	gbps := piece.Float(strings.TrimFunc(fast.Text, func(r rune) bool { return r < '0' || r > '9' }))
	if !ok || !told || gbps < 10 || !scene.Contains(by.Text, "scp", "sftp", "rsync") || rate < 500*unit.Mbps || rate > 7*unit.Gbps || most > 7*unit.Gbps || farAway(v) || len(v.Findings) > 0 || v.Said("not_cpu", "cpu_full_not") {
		return
	}
	v.Add(record.SenderCPU, 0.5, h, "the core that "+by.Text+" encrypts with",
		fmt.Sprintf("%s gets %v over a link of %s, by what is said: ssh encrypts a connection with one core at each end, and that is about what one gives. The links have more.", by.Text, rate, strings.TrimSpace(fast.Text)),
		ofProgram(by)+" Then look at the disks: reading the source to nowhere (`dd if=FILE of=/dev/null bs=1M`) should be faster than that.",
		scene.Saw("said of the copy", rate.String(), at), scene.Saw("said of the link", strings.TrimSpace(fast.Text), fast.Source)).Ask = coreAsks
}

// Links from which on one core, and not the link, is what a test ends at, and the parts of
// the link's rate between which it then is.
const (
	leastFast   = 25
	leastOfCore = 0.08
	mostOfCore  = 0.62
)

// oneTest: a test over a fast link that carries what a core or two move.
func oneTest(v *scene.View) {
	rate, h, at := saidRate(v, "net_bps")
	_, fast, ok := v.SaidBy("faster_part")
	gbps := piece.Float(strings.TrimFunc(fast.Text, func(r rune) bool { return r < '0' || r > '9' }))
	link := unit.BitRate(gbps) * unit.Gbps
	if !ok || gbps < leastFast || rate < 8*unit.Gbps || !scene.Close(rate, link, leastOfCore, mostOfCore) || len(v.Findings)+len(v.Case.Runs) > 0 || pathOf(v).used() || ofBundle(v) || farAway(v) || v.Said("rate_many", "cloud", "guest_card", "rate_guest", "slot", "cpu_full_not", "not_cpu") {
		return
	}
	v.Add(record.ReceiverCPU, 0.45, h, "one core a flow",
		fmt.Sprintf("By what is said, a test carries %v over a link of %s: one flow is received, and mostly sent, by one core, and about that is what a core moves with frames of 1500 bytes; iperf3 before 3.16 serves all flows by one thread. A slot with too few lanes looks the same.", rate, strings.TrimSpace(fast.Text)),
		"Test with several flows and threads (iperf3 3.16 or later with -P 8, or several processes on ports of their own), MTU 9000, the program and the interrupts on cores of the card's NUMA node. If several flows carry no more, see the slot (`lspci -vv`: LnkSta).",
		scene.Saw("said", rate.String(), at), scene.Saw("said of the link", strings.TrimSpace(fast.Text), fast.Source)).Ask = append([]scene.Missing{
		{Command: "lspci -vv", Host: "both hosts", Why: "as root: LnkSta of the card, its lanes and speed"}}, eachAsks[2])
}
