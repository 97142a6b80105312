package runs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// questions: what people say in sentences. It is no output, so none of it is sure; where
// an output shows more, that comes first.
func questions(v *scene.View) {
	for _, h := range v.Case.Hosts {
		if x, ok := h.Get("said", "full_softirq"); ok {
			core := strings.TrimSuffix("core "+x.Text, " ?")
			v.Add(record.ReceiverCPU, 0.66, h, core+" (ksoftirqd)",
				fmt.Sprintf("By what is said, ksoftirqd fills a core (%s): one core does the receiving of all packets that its queue gets, and that is the limit; a tunnel's or a container's packets pass it twice.", core),
				"Spread them: more receive queues with a core each (`ethtool -L LINK combined N`, irqbalance or smp_affinity), RPS for a card with one queue (`echo ff > /sys/class/net/LINK/queues/rx-0/rps_cpus`), and larger packets (GRO on, jumbo frames).", scene.Saw("said", "ksoftirqd full", x.Source))
		}
		if x, ok := h.Get("said", "allowance"); ok {
			v.Add(record.Shaper, 0.7, h, "the instance's allowance (AWS, "+x.Text+")",
				fmt.Sprintf("AWS queues or drops packets beyond an allowance of the instance (%s goes up, by what is said): of bits, packets or connections a second, whatever the card and the driver can do.", x.Text),
				"Take a larger instance type, or one with a higher sustained rate; fewer and larger packets help where the allowance is of packets (pps).", scene.Saw("said", x.Text+" goes up", x.Source))
		}
		if x, ok := h.Get("said", "one_thread"); ok {
			v.Add(record.SenderCPU, 0.56, h, "iperf3 "+x.Text+" (one thread)",
				fmt.Sprintf("iperf3 %s, as said, serves all its streams by a single thread (3.16 is the first with one for each): one core is full, and that is measured, not the network.", x.Text),
				"Use iperf3 3.16 or later on both ends with -P 4 or more, several iperf3 processes on ports of their own, iperf2, or `linerate measure`.", scene.Saw("said", "iperf3 "+x.Text, x.Source))
		}
		if x, ok := h.Get("said", "large_lost"); ok {
			largeSaid(v, h, x)
		}
		if x, rate, ok := fullPort(v, h); ok {
			oneLinkSaid(v, h, 0.55, "By the words and the figures one link is full, and no more comes: ", x, rate)
		} else if x, ok := h.Get("said", "one_link"); ok && !sharedLink(v, h, x) {
			oneLinkSaid(v, h, 0.42, "By the words alone: ", scene.Saw("said", x.Text, x.Source))
		}
	}
}

// fewestSharing is how many connections hardly share one of several links by chance.
const fewestSharing = 3

// sharedLink: several connections that together fill one link, where people say that a
// bundle carries like one.
func sharedLink(v *scene.View, h *piece.Host, x piece.Value) bool {
	if len(v.Bonds)+len(v.Switches) > 0 || v.Said("one_here") {
		return false
	}
	for _, r := range v.Case.Runs {
		if n := max(len(r.Streams), r.Parallel); n < fewestSharing || r.UDP || r.Target > 0 || r.Rate < v.Best()*95/100 || scene.LineOf(r.Rate, leastOfLink, 1) < unit.Gbps {
			continue
		}
		v.Add(record.SingleLink, 0.6, h, "the bundle "+scene.NothingHere,
			fmt.Sprintf("%d connections at once carry %v, what one link does: all of them take the same one, as with a hash that reads no ports (layer2, layer2+3, src-mac, IP hash), at the host or at the switch, for one pair of hosts.", max(len(r.Streams), r.Parallel), r.Rate),
			"Hash addresses and ports at both ends (xmit_hash_policy layer3+4; `port-channel load-balance src-dst-ip-port` on the switch), then measure again with eight connections; and see that all ports are in the bundle, and that the other end has more than one link.",
			scene.Saw("said", x.Text, x.Source), scene.Saw(r.Tool, r.Rate.String(), r.Source)).Ask = bundleAsks(h)
		return true
	}
	return false
}

// largeSaid: large frames, and something that does not arrive.
func largeSaid(v *scene.View, h *piece.Host, x piece.Value) {
	for _, r := range v.Case.Runs {
		if r.Rate > 0 && r.Stalled == 0 {
			return // full packets arrive
		}
	}
	found := v.Add(record.MTU, 0.42, h, "the path "+scene.NothingHere,
		"By the words alone: where small packets pass and large ones do not, something on the way carries less than the ends send. With jumbo frames each host, bridge, tunnel and switch port of the path needs the same MTU, and one of 1500 is enough; with a tunnel (VXLAN, WireGuard, IPsec) the inner MTU must be smaller by its overhead (50 to 95 bytes), on every node.",
		"Find what passes, both ways: `ping -M do -s 8972 PEER` (9000), `-s 1472` (1500), then less for a tunnel. Then one MTU on the whole path, or for a tunnel what passed plus 28.", scene.Saw("said", x.Text, x.Source))
	found.Ask = []scene.Missing{
		{Command: "ping -M do -s 8972 PEER; ping -M do -s 1472 PEER", Host: "both hosts", Why: "the largest packet that passes, each way"},
		{Command: "ip -d link", Host: "both hosts", Why: "the MTU of each link, bridge and tunnel on the way"},
		{Command: "show interfaces | include MTU", Host: "the switch", Why: "the MTU of its ports and VLANs"},
	}
}

// fullPort is that a bundle carries at its best what one of its ports does when it is full;
// the words that say of how many it is and the rate.
func fullPort(v *scene.View, h *piece.Host) (ports, carried record.Evidence, ok bool) {
	x, _ := h.Get("said", "ports")
	speed, _, _ := scene.Number(h, "said", "port_bps")
	rate, at, _ := scene.Number(h, "said", "carried_bps")
	_, bundle := v.Case.Topics["bundle"]
	best := max(unit.BitRate(rate), v.Best())
	if !bundle || speed == 0 || rate == 0 || !scene.Close(best, unit.BitRate(speed), 0.82, 1.02) || v.Said("one_here", "striped", "rate_guest") {
		return record.Evidence{}, record.Evidence{}, false
	}
	return scene.Saw("said of the ports", x.Text, x.Source), scene.Saw("said of the rate", unit.BitRate(rate).String()+" at best", at), true
}

// Parts of a link's rate between which a run has filled it.
const (
	leastOfLink = 0.88
	mostOfLink  = 0.99
)

// fullRun: a run of one connection that fills a link, where people ask about a bundle.
func fullRun(v *scene.View) {
	_, bundle := v.Case.Topics["bundle"]
	_, titled := v.Case.Topics[piece.Titled]
	if !bundle && !titled || !v.Complains() || len(v.Bonds)+len(v.Switches) > 0 || len(v.Findings) > 0 && !v.HasFinding(record.SingleLink) || v.Said("one_here", "striped", "rate_guest") {
		return
	}
	_, told, known := v.SaidBy("port_bps")
	port := unit.BitRate(piece.Float(told.Text))
	var full piece.Run
	for _, r := range v.Case.Runs {
		switch line := scene.LineOf(r.Rate, leastOfLink, mostOfLink); {
		case r.UDP, r.Target > 0, r.Rate == 0:
		case line < unit.Gbps, known && port > 0 && port != line, max(len(r.Streams), r.Parallel) > 1:
			return // several connections and other rates say more, or leave it open
		default:
			full = r
		}
	}
	if full.Rate == 0 {
		return
	}
	v.Add(record.SingleLink, 0.6, nil, "one connection over the bundle",
		fmt.Sprintf("One connection carries %v, which is what one link of the bundle carries when it is full: all packets of a connection take one link, with LACP, static groups, balance-alb and teams alike, so that this test shows one link however many there are.", full.Rate),
		"Test with several connections, and from several hosts at once (`iperf3 -c PEER -P 8`, then with -R). If that adds up, nothing is wrong; if not, hash addresses and ports at both ends and the switch (layer3+4, `port-channel load-balance src-dst-ip-port`). One connection gets more only by a faster link, SMB multichannel or MPTCP over links with addresses of their own.",
		scene.Saw(full.Tool, full.Rate.String()+" by one connection", full.Source)).Ask = bundleAsks(nil)
}

// What datagrams of one frame each come to where a link is full: the part of its speed
// with frames of 1500 bytes, and with large ones.
const (
	leastOfDatagrams = 0.945
	mostOfDatagrams  = 0.995
)

// fullByDatagrams: UDP that was asked for more than a link carries, and of which the sender
// sent what a link carries, and all of it arrived.
func fullByDatagrams(v *scene.View) {
	if len(v.Findings) > 0 {
		return
	}
	for _, r := range v.Case.Runs {
		line := scene.LineOf(r.Rate, leastOfDatagrams, mostOfDatagrams)
		if !r.UDP || r.Rate != v.Best() || line < unit.Gbps || r.Target < r.Rate*102/100 || r.Datagrams == 0 || r.Lost*1000 > r.Datagrams {
			continue
		}
		v.Add(record.LineRate, 0.6, nil, "a link of "+line.String(),
			fmt.Sprintf("The sender was told to send %v by UDP, sent %v, and all of it arrived: that is what a link of %v carries when it is full, so that the card itself is the limit.", r.Target, r.Rate, line),
			"For more, each part of the way must be faster (`ethtool LINK` on both hosts shows at which speed each came up); over several links, several flows with ports or addresses of their own.",
			scene.Saw(r.Tool, fmt.Sprintf("%v, asked %v, lost %d of %d", r.Rate, r.Target, r.Lost, r.Datagrams), r.Source)).Ask = []scene.Missing{{Command: "ethtool LINK", Host: "both hosts", Why: "the speed at which each came up"}}
		return
	}
}

// What TCP comes to where a link is full, as parts of its speed: with packets of 1500
// bytes, with timestamps or without, and with those of 9000.
const (
	leastOfPayload = 0.937
	mostOfPayload  = 0.957 // of the sender, which counts what its buffer holds
	leastOfLarge   = 0.985
	mostOfLarge    = 0.994
)

// FilledLine: runs that come to what a full link carries, where nobody says how fast any is.
// It comes last: it holds where no other rule knows anything.
func FilledLine(v *scene.View) {
	line := scene.LineOf(v.Best(), leastOfPayload, mostOfPayload)
	if large := scene.LineOf(v.Best(), leastOfLarge, mostOfLarge); large >= 10*unit.Gbps {
		line = large // links of 2.5 and 5 Gbit/s rarely have large frames, and clouds limit flows there
	}
	if line < 100*unit.Mbps || len(v.Findings)+len(v.Bonds) > 0 || v.Said("copy_bps", "carried_bps", "rate_through", "rate_direct") {
		return
	}
	var full piece.Run
	for _, r := range v.Case.Runs {
		if r.UDP || r.Both || r.Target > 0 || r.Stalled > 0 || r.Rate < v.Best()*9/10 || len(r.Series) > 0 && slices.Max(r.Series) > line || !r.OfNetwork() {
			return // what else was measured says more, or leaves it open
		}
		if r.Rate == v.Best() {
			full = r
		}
	}
	f := v.Add(record.LineRate, 0.5, nil, "a link of "+line.String(),
		fmt.Sprintf("%v is what TCP carries over a link of %v that is full: headers and gaps between frames take the rest. Some part of the way has that speed, and this test needs no more of it.", full.Rate, line),
		"Where all links are that fast, nothing is wrong: more takes a faster one, or several with several flows. Where they should be faster, look at which speed each came up (`ethtool LINK`, the switch's ports): a cable with a bad pair gives 100 Mbit/s, an older port, adapter or transceiver 1 Gbit/s.",
		scene.Saw(full.Tool, full.Rate.String(), full.Source))
	f.Ask = []scene.Missing{{Command: "ethtool LINK", Host: "both hosts", Why: "the speed at which each came up"}}
}

// fullPorts: a run of several connections that fills all the ports that are told of.
func fullPorts(v *scene.View) {
	h, x, ok := v.SaidBy("ports")
	_, told, known := v.SaidBy("port_bps")
	n, port := piece.Number(x.Text), unit.BitRate(piece.Float(told.Text))
	if !ok || !known || n < 2 || port < unit.Gbps || len(v.Findings) > 0 || v.Faulty() {
		return
	}
	for _, r := range v.Case.Runs {
		all := unit.BitRate(n * float64(port))
		if r.UDP || r.Target > 0 || r.Both || float64(max(len(r.Streams), r.Parallel)) < n || r.Rate != v.Best() || !scene.Close(r.Rate, all, leastOfPorts, mostOfLink) {
			continue
		}
		v.Add(record.LineRate, 0.7, h, "none",
			fmt.Sprintf("Nothing is wrong: %v is what all the ports told of (%s) carry together: each of them is full.", r.Rate, x.Text),
			"More takes more or faster links; one connection still gets what one link carries.",
			scene.Saw("said of the ports", x.Text, x.Source), scene.Saw(r.Tool, r.Rate.String(), r.Source))
		return
	}
}

// leastOfPorts is the part of all ports' rate together from which a run has filled them.
const leastOfPorts = 0.92

// oneLinkSaid: the question of all questions, with nothing but words to decide it by.
func oneLinkSaid(v *scene.View, h *piece.Host, sure float64, by string, evidence ...record.Evidence) {
	for _, r := range v.Case.Runs {
		if r.Retransmits >= 0 || len(r.Streams) > 0 || len(v.Bonds) > 0 {
			return // what was measured says more, or leaves it open
		}
	}
	if len(v.Bonds)+len(v.Switches) > 0 {
		return
	}
	found := v.Add(record.SingleLink, sure, h, "the bundle "+scene.NothingHere,
		by+"several links that carry like one are mostly one connection, or one pair of hosts. A bundle (LACP, static, balance-alb, a team) sends all packets of one connection over one link, and with a hash of MACs or addresses (layer2, layer2+3, src-mac) all between two hosts; the switch decides alone by what comes back. balance-rr alone stripes the packets of one connection over all links, which arrive out of order and make TCP slow.",
		"Measure with several connections (`iperf3 -c PEER -P 8`, both ways) and from several hosts at once. If that adds up, nothing is wrong. If not: xmit_hash_policy layer3+4 on the hosts, the same on the switch (`port-channel load-balance src-dst-ip-port` or its like), and see that all ports are in one LACP aggregator.", evidence...)
	found.Ask = bundleAsks(h)
}

// bundleAsks are the outputs that a question about a bundle wants.
func bundleAsks(h *piece.Host) []scene.Missing {
	return []scene.Missing{
		{Command: "cat /proc/net/bonding/*", Host: "both hosts", Why: "as root: mode, hash policy, and whether all ports are in one aggregator"},
		{Command: "iperf3 -c PEER -P 8, then with -R", Host: scene.NameOf(h), Why: "whether several connections add up, each way"},
		{Command: "ip -s link", Host: "both hosts", Why: "before and after: which link carried it, each way; what one link receives the switch has chosen"},
		{Command: "show etherchannel load-balance; show etherchannel summary", Host: "the switch", Why: "by what it chooses the link, and which ports are bundled"},
	}
}
