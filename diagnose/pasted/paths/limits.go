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

// mostContested is how sure a cause is where another sentence speaks against it.
const mostContested = 0.46

// flowRates are the rates of one flow and of several, as sentences tell them.
func flowRates(v *scene.View) (one, many unit.BitRate, ok bool) {
	_, single, told := v.SaidBy("rate_one")
	_, sum, both := v.SaidBy("rate_many")
	one = unit.BitRate(piece.Float(single.Text))
	for _, r := range v.Case.Runs { // one of them measured, the other told
		if !told && !r.UDP && r.Target == 0 && max(len(r.Streams), r.Parallel) <= 1 {
			one = max(one, r.Rate)
		}
	}
	return one, unit.BitRate(piece.Float(sum.Text)), one > 0 && both
}

// flowLimit: one flow and several, as sentences tell their rates: each flow has a limit,
// and the path has more.
func flowLimit(v *scene.View) {
	single, sum, ok := flowRates(v)
	_, bundle := v.Case.Topics["bundle"]
	if !ok || float64(sum) < saidtext.FewFlows*float64(single) || len(v.Bonds) > 0 || bundle && scene.NearLineRate(single) {
		return
	}
	h, many, _ := v.SaidBy("rate_many")
	from := many.Source
	if by, one, told := v.SaidBy("rate_one"); told {
		h, from = by, one.Source
	} else if len(v.Case.Runs) > 0 {
		from = v.Case.Runs[0].Source
	}
	evidence := []record.Evidence{scene.Saw("said", fmt.Sprintf("%v by one flow", single), from), scene.Saw("said", fmt.Sprintf("%v by several", sum), many.Source)}
	_, trip, far := v.SaidBy("trip_ms")
	_, cloud, _ := v.SaidBy("cloud")
	switch ms := piece.Float(trip.Text); {
	case far && ms >= 10:
		flight := float64(single) / 8 * ms / 1000
		v.Add(record.ReceiveWindow, 0.6, h, "each flow's window over "+trip.Text+" ms",
			fmt.Sprintf("Several flows carry more than one: the path has room, and each flow is limited. %v over %s ms is %v in flight: a window or buffer that ends there on either end (tcp_rmem, tcp_wmem), or a few losses, after which CUBIC needs minutes to grow again.", single, trip.Text, unit.Bytes(flight)),
			fmt.Sprintf("Raise the third values of tcp_rmem and tcp_wmem to about %v on both ends, with net.core.rmem_max and wmem_max; if `ss -tin` shows retransmits instead of rwnd_limited or sndbuf_limited, take BBR (`sysctl -w net.ipv4.tcp_congestion_control=bbr`) or several flows.", unit.Bytes(2*float64(sum)/8*ms/1000)),
			append(evidence, scene.Saw("said", trip.Text+" ms", trip.Source))...).Ask = longAsks
	case farAway(v):
		v.Add(record.ReceiveWindow, 0.56, h, "each flow's window over the distance",
			fmt.Sprintf("Several flows carry more than one (%v against %v): the path has room, and each flow is limited. Over a distance that is its window: what is on the way at once, over the round trip; or a few losses, after which CUBIC needs long to grow again.", sum, single),
			"Raise the third values of tcp_rmem and tcp_wmem on both ends to twice the rate wanted times the round trip, with net.core.rmem_max and wmem_max; with losses take BBR; or use several flows.", evidence...).Ask = longAsks
	case cloud.Text == "aws" && (scene.Close(single, 5*unit.Gbps, 0.86, 1.02) || scene.Close(single, 10*unit.Gbps, 0.9, 1.02)):
		awsLimit(v, h, 0.74, single, evidence...)
	case single >= 3*unit.Gbps:
		v.Add(record.ReceiverCPU, 0.55, h, "one core a flow",
			fmt.Sprintf("Several flows carry more than one (%v against %v): the network has room. One flow is received, and mostly sent, by one core, and at such rates that core is full.", sum, single),
			"Nothing is broken where the programs use several flows. For one flow: MTU 9000 on the whole way, GRO, TSO and adaptive interrupt moderation on, the program and the queue's interrupt on cores of the card's own NUMA node (`numactl -N`, `taskset`), the CPU governor at performance.", evidence...).Ask = []scene.Missing{
			{Command: "mpstat -P ALL 1 5", Host: "both hosts", Why: "while one flow runs: whether a core is full, in %soft (interrupts) or %sys (the program)"},
			{Command: "ss -tin", Host: "the sender", Why: "while one flow runs: losses, window, and what TCP waits for"},
			{Command: "ethtool -k LINK; ethtool -c LINK; cat /sys/class/net/LINK/device/numa_node", Host: "both hosts", Why: "offloads, interrupt moderation, and whose node the card is at"}}
	case sum < single*5/2:
	case single < 300*unit.Mbps:
		v.Add(record.ReceiveWindow, 0.45, h, "each connection",
			fmt.Sprintf("One connection gets %v and several together %v: the way carries more, and each connection has a limit of its own. Over a long way that is its window for each round trip (TCP's buffers; ssh has a window of its own); losses act the same.", single, sum),
			"See the round trip (`ping`) and what TCP waits for (`ss -tin`): window over round trip is the rate. Raise the third values of tcp_rmem and tcp_wmem at both ends, use BBR where packets are lost, a program without its own window, or several connections at once.", evidence...).Ask = eachAsks
	default:
		what := ""
		if _, by, _ := v.SaidBy("copy_by"); strings.HasPrefix(by.Text, "nfs") {
			what = " For NFS: mount with `nconnect=8` (Linux 5.3 and later; the connections of one mount share its requests), or several addresses of the server."
		}
		v.Add(record.SenderCPU, 0.42, h, "each connection",
			fmt.Sprintf("One connection gets %v and several together %v: the links carry more, and each connection has a limit of its own: the core that serves it, or its window for each round trip.", single, sum),
			"Use several connections."+what+" For one: jumbo frames, GRO and TSO on, the interrupt and the program on cores of the card's node; and larger tcp_rmem and tcp_wmem where the way is long.", evidence...).Ask = eachAsks
	}
}

// eachAsks are the outputs that say what limits each connection.
var eachAsks = []scene.Missing{
	{Command: "ping -c 20 PEER", Host: "the host", Why: "the round trip and losses"},
	{Command: "ss -tin dst PEER", Host: "both hosts", Why: "while one transfer runs: rwnd_limited, sndbuf_limited, cwnd, retrans"},
	{Command: "mpstat -P ALL 1 5", Host: "both hosts", Why: "while one connection runs: whether one core is full"},
}

// fullProgram: a core that a sentence calls full, with whose it is.
func fullProgram(v *scene.View) {
	h, x, ok := v.SaidBy("cpu_full")
	if !ok || v.HasFinding(record.SenderCPU) || v.HasFinding(record.ReceiverCPU) {
		return
	}
	p := pathOf(v)
	what := x.Text
	if trimmed := strings.TrimSuffix(what, "s"); what == "" || strings.HasSuffix(trimmed, "cpu") || strings.HasSuffix(trimmed, "core") || strings.HasSuffix(trimmed, "thread") || slices.Contains([]string{"one", "a", "single", "a single", "1"}, what) {
		what = "one core"
	}
	cause := record.SenderCPU
	if strings.HasPrefix(what, "ksoftirq") || what == "one core" && v.Said("core_receives", "forwards") {
		cause = record.ReceiverCPU
	}
	sure, remedy := 0.58, "More flows over more queues and cores, larger packets (MTU, GRO and TSO on), or a faster core."
	switch {
	case what == "openvpn":
		sure, remedy = 0.74, "Use OpenVPN's kernel module (DCO, 2.6 or later) with AES-GCM, WireGuard, or several tunnels: the program encrypts in one thread and copies every packet."
	case p.encrypts():
		sure, remedy = 0.66, "A cheaper cipher that the processor has instructions for (AES-GCM with AES-NI), several tunnels, or more and faster cores."
	case what != "one core":
		sure = 0.64
	}
	if one, many, ok := flowRates(v); ok && many >= one*14/10 {
		sure = min(sure, mostContested) // what is full carries no more for several flows
	}
	sure = contested(v, "cpu_full", sure)
	v.Add(cause, sure, h, what+" (full)",
		fmt.Sprintf("By what is said, %s is full while it runs: that is the limit, whatever the links carry.", what), remedy,
		scene.Saw("said", x.Text+" at 100 %", x.Source)).Ask = []scene.Missing{
		{Command: "mpstat -P ALL 1 5; top -H -b -n 1 | head -20", Host: "both ends", Why: "while it runs: which core and which thread is full, in %usr, %sys or %soft"},
	}
}

// farAway reports hosts that are far apart, by what is said.
func farAway(v *scene.View) bool {
	if _, x, ok := v.SaidBy("trip_ms"); ok && piece.Float(x.Text) >= 10 {
		return true
	}
	_, _, ok := v.SaidBy("far")
	return ok
}

// lossyDistance: losses over a long way, which cost a flow most of its rate.
func lossyDistance(v *scene.View) {
	if len(v.Case.Runs) > 0 && v.HasFinding(record.Congestion) {
		return
	}
	sure, key := 0.0, ""
	for k, s := range map[string]float64{"bbr_helps": 0.66, "lossy": 0.54, "udp_fine": 0.46, "loss_percent": 0.56} {
		if _, _, ok := v.SaidBy(k); ok && s > sure && (farAway(v) || k == "bbr_helps") {
			sure, key = s, k
		}
	}
	if sure == 0 {
		return
	}
	h, x, _ := v.SaidBy(key)
	v.Add(record.Congestion, contested(v, key, sure), h, "losses on the long way",
		"A flow over a long way is slowed by few losses: after each one CUBIC or Reno halves its window and needs many round trips to grow again, so that the rate falls with the distance and the links stay empty. The losses are often a short buffer where a fast link meets a slower one, which a faster sender's bursts overflow, or a provider's policer.",
		"Find where they are (`mtr -rwzc 200 PEER` each way; `iperf3 -u -b` at half the rate, then more), and let the provider see it. Meanwhile BBR on the sender (`sysctl -w net.core.default_qdisc=fq net.ipv4.tcp_congestion_control=bbr`), pacing below the slowest link (`tc qdisc replace dev LINK root fq maxrate RATE`), or several flows.",
		scene.Saw("said", x.Text, x.Source)).Ask = longAsks
}

// heavyLoss is the part of the packets, in percent, from which on their loss makes a TCP slow
// over any way, and mostLoss from which on it is rather a table or a test that is told of.
const heavyLoss, mostLoss = 2, 60

// heavyLosses: a part of the packets is lost that TCP does not bear, near or far.
func heavyLosses(v *scene.View) {
	h, x, ok := v.SaidBy("loss_percent")
	udp := slices.ContainsFunc(v.Case.Runs, func(r piece.Run) bool { return r.UDP })
	if share := piece.Float(x.Text); !ok || share < heavyLoss || share > mostLoss || udp || !v.Complains() || v.Faulty() {
		return
	}
	v.Add(record.Congestion, contested(v, "loss_percent", 0.5), h, "packets lost on the way",
		fmt.Sprintf("%s %% of the packets are lost, by what is said: CUBIC and Reno halve their window at each loss and never get on, whatever the links and buffers are.", x.Text),
		"Find where they are lost: `mtr -rwzc 200 PEER` each way, the counters of each port on the way (`ethtool -S`, `show interfaces`), a cable or radio link, a policer, a queue that is full. BBR on the sender bears some percent meanwhile.",
		scene.Saw("said", x.Text+" % lost", x.Source)).Ask = longAsks
}

// perPacket: larger packets help, so that the work for each packet is the limit.
func perPacket(v *scene.View) {
	h, x, ok := v.SaidBy("mtu_raised")
	if !ok {
		return
	}
	v.Add(record.ReceiverCPU, 0.64, h, "the work for each packet",
		"Larger packets make it faster, by what is said: the limit is the work that each packet costs (a tunnel's header, a bridge, a guest's or a container's way through the kernel), and a core is full with it.",
		"Use the largest MTU that the whole way carries: 9000 on the links, and inside a tunnel 50 to 80 less, on every node (Docker: `--opt com.docker.network.driver.mtu=8950`; Calico, flannel, Cilium: their mtu). Where that cannot be: GRO and the card's tunnel offloads on, several flows over several queues.",
		scene.Saw("said", x.Text, x.Source)).Ask = asks(v, pathOf(v))
}

// oneQueue: packets that all come by one queue of a card, so that one core gets them.
func oneQueue(v *scene.View) {
	h, x, ok := v.SaidBy("one_queue")
	if !ok || v.HasFinding(record.ReceiverCPU) {
		return
	}
	v.Add(record.ReceiverCPU, 0.6, h, "one receive queue",
		"All packets come by one queue or to one core, by what is said, so that one core receives them: a card chooses the queue by addresses and ports, and a tunnel (ESP, GRE, one UDP port) or one flow has but one set of them.",
		"Several tunnels or flows, each with ports or addresses of its own; hashing by SPI or inner headers where the card can (`ethtool -N LINK rx-flow-hash esp4 sdfn`, `udp4 sdfn`); RPS, or pcrypt and threaded NAPI, to give the work behind the queue to more cores.",
		scene.Saw("said", x.Text, x.Source)).Ask = []scene.Missing{
		{Command: "mpstat -P ALL 1 5; grep LINK /proc/interrupts", Host: "the receiver", Why: "while it runs: whether one core is full in %soft, and which queues count"},
		{Command: "ethtool -S LINK | grep -E 'rx_?(queue_)?[0-9]+_packets'; ethtool -l LINK", Host: "the receiver", Why: "which queue gets how much, and how many there are"},
	}
}

// gatewayRates are what providers' gateways carry by their own pages: of a tunnel where it
// is one. Azure: VPN gateway SKUs; AWS: Site-to-Site VPN quotas; Google: Cloud VPN quotas.
var gatewayRates = []struct {
	word string
	rate unit.BitRate
}{
	{"vpngw1", 650 * unit.Mbps}, {"vpngw2", unit.Gbps}, {"vpngw3", 1250 * unit.Mbps}, {"vpngw4", 5 * unit.Gbps}, {"vpngw5", 10 * unit.Gbps},
	{"site-to-site vpn", 1250 * unit.Mbps}, {"virtual private gateway", 1250 * unit.Mbps}, {"vgw", 1250 * unit.Mbps}, {"cloud vpn", 3 * unit.Gbps},
}

// managedGateway: a provider's gateway on the way, which has a rate of its own.
func managedGateway(v *scene.View) {
	h, x, ok := v.SaidBy("gateway")
	if !ok || !v.Complains() {
		return
	}
	p := pathOf(v)
	if most, _, _ := saidRate(v, "rate_most", "rate_one", "rate_many", "copy_bps", "net_bps"); most == 0 && p.through == 0 {
		return // nobody tells how slow it is
	}
	if low := strings.ToLower(x.Text); (low == "site-to-site vpn" || low == "nat gateway") && !v.Said("cloud", "instance") {
		return // others call theirs so as well
	}
	sure, rate := 0.46, "each size (SKU) and each tunnel of it has a rate of its own"
	low := strings.ToLower(x.Text)
	for _, g := range gatewayRates {
		if !strings.Contains(low, g.word) {
			continue
		}
		rate = fmt.Sprintf("it carries %v at most, of several flows", g.rate)
		if p.through > 0 && scene.Close(p.through, g.rate, 0.3, 1.1) {
			sure = 0.66
		}
	}
	if p.through > 0 && p.direct > 2*p.through {
		sure = max(sure, 0.58)
	}
	v.Add(record.Shaper, sure, h, x.Text,
		fmt.Sprintf("The way goes by a provider's gateway (%s): %s, and one flow of it gets less, by one core of it. The hosts do not matter for that.", x.Text, rate),
		"Take a larger size, several tunnels with equal-cost routes (each flow stays in one), or a way without it (peering, a private line); measure with several flows at once.",
		scene.Saw("said", x.Text, x.Source)).Ask = []scene.Missing{
		{Command: "iperf3 -c PEER -P 1, then -P 8, each way", Host: "", Why: "through the gateway and, if there is one, beside it: whether several flows add up to its rate"},
		{Command: "the gateway's size (SKU), its tunnels, and its own metrics of throughput", Host: "the provider's console", Why: "the rate that it is sold for"},
	}
}

// publicAddress: a cloud's instances that are slower by their public addresses.
func publicAddress(v *scene.View) {
	h, public, ok := v.SaidBy("rate_public")
	_, private, ok2 := v.SaidBy("rate_private")
	_, cloud, ok3 := v.SaidBy("cloud")
	if !ok || !ok2 || !ok3 || piece.Float(public.Text) > 0.7*piece.Float(private.Text) {
		return
	}
	v.Add(record.Shaper, 0.66, h, "the public addresses ("+cloud.Text+")",
		fmt.Sprintf("By the private address it is %v, by the public one %v: what goes out to public addresses has a lower limit for each instance and each flow, even between two instances of one provider, and goes through its gateways.", unit.BitRate(piece.Float(private.Text)), unit.BitRate(piece.Float(public.Text))),
		"Let instances talk by their private addresses (one network, peering, a private zone of names). To the Internet a larger instance or tier, and several flows.",
		scene.Saw("said", "rate by the public address", public.Source), scene.Saw("said", "rate by the private address", private.Source)).Ask = cloudAsks(cloud.Text)
}

// wrongWay: answers that leave by another interface, as a sentence says.
func wrongWay(v *scene.View) {
	h, x, ok := v.SaidBy("wrong_way")
	if !ok || v.HasFinding(record.AsymmetricRoute) {
		return
	}
	v.Add(record.AsymmetricRoute, 0.6, h, "the return path",
		"Packets leave by another interface than they should, by what is said: a Linux host looks at the destination alone, so that all answers take the one best route, from whichever address; firewalls, clouds and rp_filter drop what comes by the wrong one.",
		"A table and a rule for each address: `ip route add default via GATEWAY2 dev LINK2 table 102; ip rule add from ADDRESS2 table 102`, kept in the network's configuration; rp_filter=2 on both links; with two links in one subnet also arp_ignore=1 and arp_announce=2.",
		scene.Saw("said", x.Text, x.Source)).Ask = []scene.Missing{
		{Command: "ip rule; ip route show table all; ip route get PEER from ADDRESS", Host: scene.NameOf(h), Why: "by which interface the answers of each address leave"},
		{Command: "tcpdump -ni any host PEER", Host: scene.NameOf(h), Why: "by which interface the packet comes, and the answer goes"},
	}
}
