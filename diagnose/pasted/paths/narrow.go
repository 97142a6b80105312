package paths

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/saidtext"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// narrowStories are causes that sentences tell of packets that do not fit, and of windows.
var narrowStories = []story{
	{[]string{"tunnel_full_mtu"}, []string{"not_mtu", "mtu_helps_not", "mtu_helps"}, true, record.MTU, 0.54, "the tunnel's MTU (1500)",
		"By what is said, the tunnel has MTU 1500, as the links below it have: with its header (60 bytes of WireGuard by IPv4, 80 by IPv6; 50 of VXLAN) a full packet does not fit, and is cut in two or lost. Small packets pass, so that it connects and then stalls or crawls.",
		"Set the tunnel's MTU to 1420 (WireGuard; 1412 over PPPoE, 1280 as a trial), 1450 (VXLAN) or what `ping -M do -s N PEER` passes plus 28, at both ends, and clamp the MSS of what is forwarded into it (`iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu`).", frameAsks},
	{[]string{"mtu_blamed"}, []string{"not_mtu", "mtu_helps_not", "mtu_helps", "mtu_limit"}, true, record.MTU, 0.56, "the MTUs of the way",
		"By what is said, the MTUs of the way do not fit: what the ends or a tunnel send is larger than a part of the way carries, is cut in two or dropped, and nobody tells the sender.",
		"Find the largest that passes (`ping -M do -s N PEER`: N plus 28), on the links and inside the tunnel; set the links of one network to one MTU on every host, and the tunnel to that less its header (50 of VXLAN, 60 to 80 of WireGuard, 20 of IP in IP), on every node. A provider's private network often has less than 1500 (1450, 1400).", frameAsks},
	{[]string{"small_window"}, []string{"not_window", "window_helps_not", "window_helps"}, false, record.ReceiveWindow, 0.58, "the window or the send buffer",
		"By what is said, a small window or buffer is it: a connection carries no more than that in each round trip, so that it gets slower the farther the other end is, whatever the link carries.",
		"Find whose it is (`ss -tinm` while it runs: rwnd_limited is the receiver's, sndbuf_limited the sender's). Let the system tune it: no fixed SO_SNDBUF, SO_RCVBUF or window in the program (Windows: DynamicSendBufferDisable off, autotuninglevel=normal), and the third values of tcp_rmem and tcp_wmem at twice the rate wanted times the round trip; or use several connections.", longAsks},
	{[]string{"greeting_hangs", "size_word"}, []string{"not_mtu", "mtu_helps_not", "mtu_helps", "mtu_limit"}, false, record.MTU, 0.56, "the path's MTU (the first full packet)",
		"By what is said, connections hang where the first full packet is sent (a certificate in TLS, the lists of ciphers in ssh), and sizes are spoken of: something on the way carries less than the ends send (PPPoE 1492, a tunnel 1420 or less), and the message that would say so does not arrive.",
		"Clamp the MSS for both directions where the path gets narrow (`iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu`), or set the MTU of the tunnel, bridge and containers to what `ping -M do -s N PEER` passes plus 28.", frameAsks},
	{[]string{"greeting_hangs", "tunnel_word"}, []string{"not_mtu", "mtu_helps_not", "mtu_helps", "mtu_limit", "size_word"}, false, record.MTU, 0.5, "the tunnel (the first full packet)",
		"By what is said, connections by a tunnel hang where the first full packet is sent (a certificate in TLS, the lists of ciphers in ssh): with the tunnel's header it does not fit, and nobody tells the sender.",
		"Set the tunnel's MTU to what `ping -M do -s N PEER` passes through it plus 28 (1280 is a safe trial), at both ends, and clamp the MSS of what is forwarded into it.", frameAsks},
	{[]string{"fetch_hangs", "size_word"}, []string{"not_mtu", "mtu_helps_not", "mtu_helps", "mtu_limit", "greeting_hangs"}, false, record.MTU, 0.54, "the path's MTU", hangsWhat, hangsRemedy, frameAsks},
	{[]string{"fetch_hangs", "host_works"}, []string{"not_mtu", "mtu_helps_not", "mtu_helps", "mtu_limit", "size_word"}, false, record.MTU, 0.48, "the containers' or guests' MTU", hangsWhat, hangsRemedy, frameAsks},
	{[]string{"some_fail", "tunnel_word"}, []string{"not_mtu", "mtu_helps_not", "mtu_helps", "mtu_limit", "greeting_hangs"}, false, record.MTU, 0.52, "the tunnel's MTU", hangsWhat, hangsRemedy, frameAsks},
	{[]string{"mptcp", "slower_together"}, []string{"one_subflow", "cpu_bound"}, false, record.ReceiveWindow, 0.46, "MPTCP's window over unequal paths",
		"By what is said, the paths together carry less than one of them alone: data of the slow path keeps what the fast one brought waiting, the receiver's buffer fills with it, and the fast path stands still. Two radio links may as well share the air, and a slow processor the work for each packet.",
		"Larger buffers at both ends (the third values of tcp_rmem and tcp_wmem: all rates together times the longest round trip, twice), the default scheduler, and a very slow path as backup (`ip mptcp endpoint change id N backup`). Test each path alone at the same time, as two plain connections: if their sum is no more, they share something.", []scene.Missing{
			{Command: "ss -tiM; nstat -az | grep -E 'MPTcp|OFO'", Host: "both hosts", Why: "while it runs: what each subflow carries, and whether data waits out of order"},
			{Command: "iperf3 over each path alone, at the same time; ping by each path", Host: "both hosts", Why: "whether the paths share something, and how their round trips differ"}}},
	{[]string{"one_is_better", "spread_tunnel"}, nil, false, record.Reordering, 0.54, "the lines that one tunnel is spread over", spreadWhat, spreadRemedy, spreadAsks},
	{[]string{"one_is_better", "mptcp"}, []string{"spread_tunnel"}, false, record.Reordering, 0.5, "the paths that one connection is spread over", spreadWhat, spreadRemedy, spreadAsks},
	{[]string{"esp_offload", "tunnel_word"}, []string{"offload_helps", "offload_helps_not"}, true, record.CardSlot, 0.42, "IPsec's offload",
		"By what is said, an offload of IPsec is in the way: kernels and cards offload some ciphers and modes only, and packets that are encapsulated twice (GRE or L2TP within ESP) are cut or summed wrong with it, so that nearly all are lost.",
		"Try without it (`nic-offload=no`, `ethtool -K LINK esp-hw-offload off`, esp4_offload not loaded), and look at /proc/net/xfrm_stat; then the MTU inside (1400) and the MSS.", []scene.Missing{
			{Command: "ethtool -k LINK | grep -E 'esp|gso|gro'; cat /proc/net/xfrm_stat; nstat -az | grep -iE 'csum|Frag'", Host: "both ends", Why: "before and after a run: which offloads are on, and what is dropped"}}},
	{[]string{"shaper_slows"}, nil, false, record.Shaper, 0.55, "the router's own shaper",
		"By what is said, the router's traffic shaper (SQM, cake, QoS) makes it slow: its rate is set below what the line does, or counts twice what goes through it twice (a tunnel of a host behind it), or the router's core cannot shape more.",
		"Set its rates to 90 to 95 % of what the line measures without it; leave the tunnel's link out; if a core of the router is full meanwhile, take fq_codel with HTB (simple.qos) or a faster router.", []scene.Missing{
			{Command: "tc -s qdisc; cat /etc/config/sqm", Host: "the router", Why: "the rate that is set, on which links, and what is dropped or delayed"},
			{Command: "top (press 1), mpstat -P ALL 1", Host: "the router", Why: "while it runs: whether one core is full in %soft"}}},
	{[]string{"vendor_faster"}, nil, true, record.ReceiverCPU, 0.5, "the router's processor (no forwarding in hardware)",
		"By what is said, the vendor's software is fast and this one is not, on the same box: the vendor's forwards and translates flows in hardware, and without that the processor handles each packet, by one core where there is one queue.",
		forwardRemedy, forwardAsks},
	{[]string{"one_core_used"}, []string{"cpu_full", "cpu_full_not"}, true, record.ReceiverCPU, 0.5, "one core",
		"By what is said, one core handles the packets: all of one queue, one tunnel or one flow are received and forwarded by one core, whatever the others do, and that core is the limit.",
		forwardRemedy, forwardAsks},
	{[]string{"disk_busy"}, nil, true, record.Application, 0.54, "the disks",
		"By what is said, a disk is busy all the time: the transfer goes as fast as that, whatever the links carry.",
		"Look which disk it is and why (`iostat -x 2`: r_await, w_await, aqu-sz): small or synchronous writes, a failing one, SMR, a full pool; larger requests and a read-ahead for reads. No setting of the network helps.", depthAsks},
	{[]string{"each_same", "window_named"}, []string{"not_window", "window_helps_not", "window_helps"}, true, record.ReceiveWindow, 0.5, "each connection's window",
		"By what is said, several transfers at once have each the rate of one, so that the way carries more than one of them asks for, and a window is spoken of: each is limited by its own window, or by its sender's buffer, in every round trip.",
		"Raise what each may have under way: no fixed SO_SNDBUF, SO_RCVBUF or window in the program, autotuninglevel=normal on Windows, the third values of tcp_rmem and tcp_wmem on Linux, at both ends; or use several transfers.", longAsks},
	{[]string{"other_way_fills"}, nil, true, record.Application, 0.56, "the program",
		"By what is said, another program fills the link with the same copy: the links and the storage of both ends carry it, and the slow program waits for itself, with one small request at a time.",
		"Use the other program, or let this one ask for more at once (larger blocks, several requests or files under way).", depthAsks},
	{[]string{"slower_than_other"}, []string{"not_disk", "cpu_bound", "cpu_heavy", "cpu_full"}, true, record.Application, 0.5, "the program",
		"By what is said, another program is faster over the same way: the network carries it, and this program does not use it: it works in small pieces, waits for each answer, encrypts or compresses by one thread.",
		"Use the faster one, or look at this one's core (`top -H`) and options: compression and encryption off where that may be, larger blocks, several at once.", coreAsks},
	{[]string{"scales_with"}, nil, false, record.Application, 0.52, "the requests under way",
		"By what is said, more requests at once carry more: the way has room, and the program waits for each answer. Its rate is the size of what is under way over the time of an answer.",
		"More requests at once, larger ones, or several connections, until the rate no longer grows: only then is it the network's or the provider's limit.", depthAsks},
	{[]string{"not_net", "program"}, []string{"not_disk"}, true, record.Application, 0.5, "the program",
		"By what is said, a test shows that the network carries more, and a program is slow over it: it asks for small pieces and waits for each answer, or one thread or disk at an end sets the pace.",
		"Compare with a plain copy (rsync, scp) of one large file over the same way. More requests or transfers at once, larger blocks and read-ahead, no small synchronous writes; a mount over ssh or HTTP stays slower than a copy.", depthAsks},
}

const forwardRemedy = "Spread it: flow offloading (software or hardware, OpenWrt: `flow_offloading` in the firewall; fasttrack on RouterOS), packet steering or RPS over all cores, interrupts on cores of their own, no SQM above what the processor shapes; or a faster router."

var forwardAsks = []scene.Missing{
	{Command: "top (press 1) or mpstat -P ALL 1; cat /proc/interrupts", Host: "the router", Why: "while it runs: whether one core is full in %soft or sirq, and which queues count"},
	{Command: "iperf3 -c ROUTER, then through it", Host: "a host", Why: "whether the links or the forwarding is slow"}}

// What is known of transfers that begin and then stand still.
const (
	hangsWhat   = "By what is said, some connections begin and then stand still, while others (or the host itself) work: what is small passes, and full packets are lost, for something on the way carries less than the containers, guests or hosts send (a tunnel, an overlay of the provider, PPPoE), and nobody tells them."
	hangsRemedy = "Give the containers, guests and their bridge the MTU of the way (Docker: `\"mtu\": 1400` in daemon.json, and `com.docker.network.driver.mtu` for networks of one's own; the VM's or tunnel's own MTU shows it), or clamp the MSS (`iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu`)."
)

// What is known of one flow's packets that take several lines by turns.
const (
	spreadWhat   = "By what is said, it is slow over several lines and well over one: packets of one flow take several lines, the lines differ in delay, and TCP inside takes segments that overtake each other for losses; the slowest line sets the pace of all."
	spreadRemedy = "Keep a tunnel or flow on one line (UDP through a multipath router by one WAN, a rule for the tunnel's port), lines with like rates and delays alone, a scheduler for equal delays (or redundant mode), a receive buffer that waits for the slow line; inside the tunnel net.ipv4.tcp_reordering=127."
)

var spreadAsks = []scene.Missing{
	{Command: "ping -c 50 PEER by each line; iperf3 by each line alone, then by all", Host: "the host or router", Why: "how the delays and rates of the lines differ"},
	{Command: "nstat -az | grep -E 'Reorder|OFO|DSACK|Retrans'", Host: "both ends", Why: "before and after: whether packets overtake each other or are lost"}}

// spreadSlower: a tunnel over several lines that carries less than one of them.
func spreadSlower(v *scene.View) {
	h, x, ok := v.SaidBy("spread_tunnel")
	p := pathOf(v)
	if !ok || !v.Said("two_homed", "slower_together") || p.through == 0 || float64(p.through) > 0.9*float64(p.direct) || v.HasFinding(record.Reordering) {
		return
	}
	v.Add(record.Reordering, 0.5, h, "the lines that one tunnel is spread over", fmt.Sprintf("%v by all of them, %v by one. ", p.through, p.direct)+spreadWhat, spreadRemedy,
		append([]record.Evidence{scene.Saw("said", strings.TrimSpace(x.Text), x.Source)}, p.said...)...).Ask = spreadAsks
}

// waitStories are causes that sentences tell of switches and programs that hold too little.
var waitStories = []story{
	{[]string{"shallow_buffers"}, nil, true, record.Congestion, 0.54, "the buffer of a switch's port",
		"By what is said, a switch has little to hold packets in: where a fast port (or a module that claims to be one) sends to a slower one, each burst of the sender overflows it, TCP takes the losses for a full path, and that direction is slow while the other one is not.",
		"The same speed on both ports, or pause frames between the switch and the fast sender; pacing at the sender (`tc qdisc replace dev LINK root fq maxrate RATE`, BBR); a module or port that comes up at the real speed; a switch with more buffer.", []scene.Missing{
			{Command: "show interfaces PORT (RouterOS: /interface ethernet print stats)", Host: "the switch", Why: "before and after: which port drops what it should send, and at which speed each is"},
			{Command: "iperf3 -c PEER, then with -R", Host: "the host", Why: "each way, with its retransmits (Retr)"}}},
	{[]string{"pacing_helps"}, nil, false, record.Congestion, 0.58, "a fast sender before something slower",
		"By what is said, a sender that is paced gets more: its bursts at the full rate of its own link overflow a buffer where the way gets narrower (a port of less speed, a policer), each loss halves TCP's window, and the mean stays far below the narrow link.",
		"Keep the pacing, slightly below the slowest link (`tc qdisc replace dev LINK root fq maxrate RATE`, iperf3 --fq-rate), or BBR with fq; else the same speed on both ends, or a device with more buffer where they meet.", []scene.Missing{
			{Command: "ss -tin; nstat -az | grep Retrans", Host: "the sender", Why: "while it runs, paced and not: how much is sent again"},
			{Command: "show interfaces PORT", Host: "the switch where the speeds meet", Why: "before and after: which port drops what it should send"}}},
	{[]string{"large_stalls"}, []string{"not_mtu", "small_works"}, true, record.MTU, 0.5, "the path (what is larger than a packet)",
		"By what is said, small answers arrive and larger ones stall: what fits one small packet passes, and full packets are dropped without a word, mostly where a tunnel's or an overlay's header no longer fits the links below.",
		"`ping -M do -s 1472 PEER`, then less until it passes: that plus 28 is what the way carries. Set the inner MTU to that less the header, on every node (or clamp the MSS), or give the links below larger frames; let ICMP fragmentation needed through.", frameAsks},
	{[]string{"buffer_helps"}, nil, false, record.Application, 0.54, "the programs, which wait for each other",
		"By what is said, a buffer between the programs makes it faster: one that reads or writes in bursts (zfs send and receive, tar) stops the other each time, and the network is idle meanwhile.",
		"Keep the buffer, at both ends (`mbuffer -s 128k -m 1G`; zfs receive fills its own pipe slowly), and look at the disks on the side that waits. Then the core of ssh, where it is on the way.", depthAsks[1:]},
	{[]string{"offload_found_off"}, []string{"offload_helps", "offload_on_helps", "offload_helps_not"}, true, record.ReceiverCPU, 0.46, "the work for each packet (an offload that is off)",
		"By what is said, an offload is off that is on elsewhere: without it the kernel cuts, joins or sums each packet by itself, and the core that does it is soon the limit.",
		"Turn it on, at every virtual and real interface of the way (`ethtool -K LINK tso on gso on gro on tx on`; one that is off turns off those that need it), in a unit or .link file so that it stays, and measure again.", coreAsks},
}

// wayStories are causes that sentences tell of answers that are dropped, of tunnels in
// programs and of lines.
var wayStories = []story{
	{[]string{"multichannel", "all_ways"}, nil, false, record.AsymmetricRoute, 0.54, "SMB's choice of ways",
		"By what is said, SMB multichannel uses every way that it finds to the server, slow ones (a tunnel, Wi-Fi, a router's) beside the fast one, and a copy waits for the slow one.",
		"Let it use the fast one alone: `New-SmbMultichannelConstraint -ServerName SERVER -InterfaceIndex N`, `interfaces =` in smb.conf, no address of the server behind the tunnel (no route for the local subnet in the VPN), Wi-Fi off.", routeAsks},
	{[]string{"rp_drops"}, nil, true, record.AsymmetricRoute, 0.58, "the reverse path filter",
		"By what is said, the kernel's reverse path filter has to do with it: packets come by one interface, the route back to their sender leads by another, and strict filtering (rp_filter 1) drops them without a word.",
		"`sysctl -w net.ipv4.conf.all.rp_filter=2 net.ipv4.conf.LINK.rp_filter=2` (loose; the larger of the two counts), kept in /etc/sysctl.d; better so that answers leave by the link that the request came by: a table and a rule for each address (`ip rule add from ADDRESS2 table 102; ip route add default via GATEWAY2 dev LINK2 table 102`).", routeAsks},
	{[]string{"no_return", "second_link"}, nil, false, record.AsymmetricRoute, 0.56, "the second interface's return path",
		"By what is said, requests arrive by a second interface and no answer leaves: a host sends answers by its one best route, whatever the interface of the request, and where that is another one the reverse path filter drops the request, or the provider the answer.",
		"A table and a rule for the second address (`ip route add default via GATEWAY2 dev LINK2 table 102; ip rule add from ADDRESS2 table 102`), and rp_filter=2 on both links; in containers' networks the plugin's own setting for it (AWS VPC CNI: external SNAT and its connection marks).", routeAsks},
	{[]string{"userspace_tunnel"}, []string{"cpu_full_not", "not_cpu"}, true, record.SenderCPU, 0.56, "the tunnel's program",
		"By what is said, a program runs the tunnel and not the kernel: each packet is copied into the program and back, and encrypted by one thread of it, which on a small processor is full at some tens of Mbit/s.",
		"Use the kernel's module where there is one (wireguard in Linux 5.6 and later, OpenVPN's DCO, xfrm instead of libipsec), a newer version of the program (GSO and GRO in wireguard-go), or a faster box for the tunnel.", coreAsks},
	{[]string{"own_line"}, nil, false, record.LineRate, 0.56, "the line upstream",
		"By what is said, the rate is that of the line in that direction: a test that sends carries what the line sends, and most lines send less than they receive.",
		"Nothing is wrong with it. Measure the other way with -R, where the server sends.", coreAsks[1:]},
}

// allStories are those of every kind, in the order in which they are told.
var allStories = slices.Concat(stories, narrowStories, waitStories, wayStories, guestStories, heldStories, settingStories, besideStories, severalStories)

// bundleStories are those of a case of links that are one.
var bundleStories = slices.Concat(groupStories, allStories)

// linePart is which part of its line rate somebody says is carried.
func linePart(v *scene.View) (part float64, at piece.Source, ok bool) {
	_, x, ok := v.SaidBy("line_percent")
	return piece.Float(x.Text) / 100, x.Source, ok
}

// longTrip is a round trip, in milliseconds, over which windows matter.
const longTrip = 10

// namedWindow: a way of many milliseconds, and words about its window.
func namedWindow(v *scene.View) {
	h, evidence, ok := saidAll(v, "window_named", "trip_ms")
	if _, trip, _ := v.SaidBy("trip_ms"); !ok || piece.Float(trip.Text) < longTrip || !v.Complains() || v.Said("not_window", "window_helps_not", "loss_percent") || v.HasFinding(record.ReceiveWindow) || v.HasFinding(record.SendBuffer) || v.HasFinding(record.Congestion) {
		return
	}
	v.Add(record.ReceiveWindow, 0.5, h, "the window over the round trip",
		"By what is said, the way is long and a window is spoken of: a connection carries no more than its window (or the sender's buffer) in each round trip, whatever the link does.",
		"The rate wanted times the round trip is the window it takes: raise it in the program that sets one (or let the system tune it), and the third values of tcp_rmem and tcp_wmem at both ends; or use several connections.", evidence...).Ask = longAsks
}

// oneWay is how much more a guest's run carries one way than the other for its card to be it.
const oneWay = 3

// guestOneWay: a guest that is fast one way and slow the other, and nothing is lost.
func guestOneWay(v *scene.View) {
	h, said, ok := v.SaidBy("guest_card")
	if !ok {
		h, said, ok = v.SaidBy("rate_guest")
	}
	var fast, slow [2]piece.Run // forward, reverse
	for _, r := range v.Case.Runs {
		way := 0
		if r.Reverse {
			way = 1
		}
		if r.UDP || r.Both || r.Rate == 0 || r.Target > 0 {
			continue
		}
		if r.Rate > fast[way].Rate {
			fast[way] = r
		}
		if slow[way].Rate == 0 || r.Rate < slow[way].Rate {
			slow[way] = r
		}
	}
	for way := range 2 {
		a, b := slow[way], fast[1-way]
		if !ok || a.Rate == 0 || a.Rate*oneWay > b.Rate || a.Retransmits != 0 || v.HasFinding(record.ReceiverCPU) || v.HasFinding(record.SenderCPU) || v.HasFinding(record.CardSlot) {
			continue
		}
		v.Add(record.ReceiverCPU, 0.5, h, "who receives in that direction (a guest's card)",
			fmt.Sprintf("%v one way and %v the other, and nothing is sent again: no packet is lost. A guest's card gets packets one by one where nobody gathers them (GRO, RSC or LRO off, or unknown to its driver), and a core of the end that receives is full with them.", b.Rate, a.Rate),
			guestRemedy, scene.Saw(a.Tool, a.Rate.String()+", 0 segments sent again", a.Source), scene.Saw(b.Tool, b.Rate.String()+" the other way", b.Source), scene.Saw("said", strings.TrimSpace(said.Text), said.Source)).Ask = guestAsks("its card")
	}
}

// Parts of what a run carried that were sent again, from which nearly all is lost, and the
// rate below which an overlay with so many losses carries nothing.
const (
	drownedPart = 0.15
	drownedRate = 100 * unit.Mbps
)

const drownedRemedy = "Try `ethtool -K TUNNEL tx-checksum-ip-generic off` on both nodes (flannel.1, vxlan.calico, cilium_vxlan; Calico: FELIX_FEATUREDETECTOVERRIDE ChecksumOffloadBroken=true). If that does not help: `ping -M do -s 1422 POD`, and an MTU at most 50 below the links'. The same test from node to node says whether it is the overlay at all."

// drowned: a run between pods or by an overlay that loses most of what it sends, and hardly
// carries anything.
func drowned(v *scene.View) {
	p := pathOf(v)
	if !p.cluster && !slices.Contains([]string{"vxlan", "geneve", "ipip"}, p.tunnel) || v.HasFinding(record.MTU) {
		return
	}
	for _, r := range v.Case.Runs {
		if r.UDP || r.Target > 0 || r.Rate == 0 || r.Rate > drownedRate || r.Seconds <= 0 {
			continue
		}
		if _, x, told := v.SaidBy("lossy"); r.Retransmits < 0 && told {
			v.Add(record.CardSlot, 0.5, p.host, p.name()+" (checksum offload or MTU)",
				fmt.Sprintf("%s carries %v, and by what is said much is sent again: nearly every full packet is lost. Mostly the card or hypervisor gets the checksums of encapsulated packets wrong; else the MTU of %s is too large for the links below.", r.Tool, r.Rate, p.name()),
				drownedRemedy, append([]record.Evidence{scene.Saw(r.Tool, r.Rate.String(), r.Source), scene.Saw("said", x.Text, x.Source)}, p.said...)...).Ask = asks(v, p)
			return
		}
		if r.Retransmits <= 0 {
			continue
		}
		segments := float64(r.Rate) / 8 * r.Seconds / 1400
		if float64(r.Retransmits) < drownedPart*segments {
			continue
		}
		v.Add(record.CardSlot, 0.56, p.host, p.name()+" (checksum offload or MTU)",
			fmt.Sprintf("%s carries %v and sends %d segments again, about %.0f %% of all: nearly every full packet is lost, and no such network would carry anything else either. Mostly the card or hypervisor (vmxnet3, bnxt, some kernels) gets the checksums of encapsulated packets wrong; else its MTU is too large for the links below.", r.Tool, r.Rate, r.Retransmits, 100*float64(r.Retransmits)/segments),
			drownedRemedy,
			append([]record.Evidence{scene.Saw(r.Tool, fmt.Sprintf("%v, %d segments sent again", r.Rate, r.Retransmits), r.Source)}, p.said...)...).Ask = asks(v, p)
		return
	}
}

// halfThrough: a tunnel or an overlay that carries a part of what the path does, by words
// without rates that could be read.
func halfThrough(v *scene.View) {
	h, x, ok := v.SaidBy("half_through")
	p := pathOf(v)
	if !ok || !p.used() || p.through > 0 && p.direct > p.through || !v.Complains() || v.HasFinding(record.ReceiverCPU) || v.HasFinding(record.SenderCPU) || v.HasFinding(record.MTU) || v.HasFinding(record.CardSlot) {
		return
	}
	cause, work := record.ReceiverCPU, "each packet gets a header and goes through the kernel twice, and one flow's packets stay on one core"
	if p.encrypts() {
		cause, work = record.SenderCPU, "each packet is encrypted by a core, of its own tunnel's queue, and by OpenVPN in one thread that copies it"
	}
	v.Add(cause, contested(v, "cpu_full", 0.48), h, p.name()+" (work for each packet)",
		fmt.Sprintf("By what is said, %s carries a part of what the path does without it, and nothing says that packets are lost: that is mostly its work: %s.", p.name(), work),
		"See `mpstat -P ALL 1` on both ends: one core full in %soft, %sys or the program is the proof. Larger frames below and inside, the card's tunnel offloads on, several flows; a cipher that the processor has instructions for, a kernel's module (WireGuard, OpenVPN's DCO); or no encapsulation where the nodes share a subnet.",
		append([]record.Evidence{scene.Saw("said", x.Text, x.Source)}, p.said...)...).Ask = asks(v, p)
}

// cutPackets: a capture of a tunnel's packets that arrive or leave in pieces.
func cutPackets(v *scene.View) {
	for _, h := range v.Hosts {
		for _, subject := range h.Subjects("capture") {
			x, ok := h.Get("capture "+subject, "cut")
			if !ok {
				continue
			}
			v.Add(record.MTU, 0.62, h, "the tunnel's MTU",
				"The capture shows a tunnel's outer packets in pieces (the inner one is cut, and fragments without ports follow): with its header a full packet does not fit into the link, is cut in two, and whoever drops fragments loses all full packets while small ones pass.",
				"Lower the MTU inside the tunnel by its header (1450 for VXLAN over 1500, on every node, container network and ingress network), or give the links below it larger frames; `ping -M do -s 1422 PEER` inside then passes.",
				scene.Saw("tcpdump", x.Text, x.Source)).Ask = frameAsks
			return
		}
	}
}

// fasterCopy: a copy that carries more than iperf3 does over the same link: it is the test.
func fasterCopy(v *scene.View) {
	test, h, at := saidRate(v, "net_bps")
	copied, _, from := saidRate(v, "copy_most_bps", "copy_bps")
	least, _, _ := saidRate(v, "copy_bps")
	if test < unit.Gbps || float64(test) > saidtext.Gap*float64(least) || copied == 0 || !v.Said("by_iperf3") || v.Said("disk_bps") || len(v.Case.Runs) > 0 || v.HasFinding(record.SenderCPU) {
		return
	}
	v.Add(record.SenderCPU, 0.5, h, "iperf3 (one connection, one thread)",
		fmt.Sprintf("By what is said, a copy carries %v and iperf3 %v over the same links: the network does more than the test shows. iperf3 sends one connection by one thread (before 3.16 all of them), and on Windows with small buffers; SMB opens several connections.", copied, test),
		"Nothing is wrong with the links. Test with `-P 4` or more and iperf3 3.16 or later on both ends, with `-w 4M` on Windows, iperf2, ntttcp, or `linerate measure`.",
		scene.Saw("said of the copy", copied.String(), from), scene.Saw("said of iperf3", test.String(), at)).Ask = []scene.Missing{
		{Command: "iperf3 -c PEER -P 8; iperf3 --version", Host: "both hosts", Why: "whether several connections carry what the copy does"}}
}
