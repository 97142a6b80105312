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
}

// waitStories are causes that sentences tell of switches and programs that hold too little.
var waitStories = []story{
	{[]string{"shallow_buffers"}, nil, true, record.Congestion, 0.54, "the buffer of a switch's port",
		"By what is said, a switch has little to hold packets in: where a fast port (or a module that claims to be one) sends to a slower one, each burst of the sender overflows it, TCP takes the losses for a full path, and that direction is slow while the other one is not.",
		"The same speed on both ports, or pause frames between the switch and the fast sender; pacing at the sender (`tc qdisc replace dev LINK root fq maxrate RATE`, BBR); a module or port that comes up at the real speed; a switch with more buffer.", []scene.Missing{
			{Command: "show interfaces PORT (RouterOS: /interface ethernet print stats)", Host: "the switch", Why: "before and after: which port drops what it should send, and at which speed each is"},
			{Command: "iperf3 -c PEER, then with -R", Host: "the host", Why: "each way, with its retransmits (Retr)"}}},
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
var allStories = slices.Concat(stories, narrowStories, waitStories, wayStories)

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

// drowned: a run between pods or by an overlay that loses most of what it sends, and hardly
// carries anything.
func drowned(v *scene.View) {
	p := pathOf(v)
	if !p.cluster && !slices.Contains([]string{"vxlan", "geneve", "ipip"}, p.tunnel) || v.HasFinding(record.MTU) {
		return
	}
	for _, r := range v.Case.Runs {
		if r.UDP || r.Target > 0 || r.Rate == 0 || r.Rate > drownedRate || r.Retransmits <= 0 || r.Seconds <= 0 {
			continue
		}
		segments := float64(r.Rate) / 8 * r.Seconds / 1400
		if float64(r.Retransmits) < drownedPart*segments {
			continue
		}
		v.Add(record.CardSlot, 0.56, p.host, p.name()+" (checksum offload or MTU)",
			fmt.Sprintf("%s carries %v and sends %d segments again, about %.0f %% of all: nearly every full packet is lost, and no such network would carry anything else either. Mostly the card or hypervisor (vmxnet3, bnxt, some kernels) gets the checksums of encapsulated packets wrong; else its MTU is too large for the links below.", r.Tool, r.Rate, r.Retransmits, 100*float64(r.Retransmits)/segments),
			"Try `ethtool -K TUNNEL tx-checksum-ip-generic off` on both nodes (flannel.1, vxlan.calico, cilium_vxlan; Calico: FELIX_FEATUREDETECTOVERRIDE ChecksumOffloadBroken=true). If that does not help: `ping -M do -s 1422 POD`, and an MTU at most 50 below the links'. The same test from node to node says whether it is the overlay at all.",
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
