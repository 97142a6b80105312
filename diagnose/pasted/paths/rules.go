package paths

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Parts of the direct rate: below faint nearly everything is lost, below slow the tunnel
// costs what it carries.
const (
	faint = 1.0 / 25
	// ownStack is what a stack that is a program of its own may leave.
	ownStack = 1.0 / 4
	slow     = 0.85
)

// leastWork is what any processor encrypts: less is no matter of work.
const leastWork = 30 * unit.Mbps

// leastApart is how much slower a run is than another for it to have gone another way.
const leastApart = 0.7

// told reports a rate that a sentence tells with its way.
func told(v *scene.View) bool {
	_, _, through := v.SaidBy("rate_through")
	_, _, direct := v.SaidBy("rate_direct")
	_, _, before := v.SaidBy("rate_before")
	return through || direct || before
}

// userspaceOverlay: flannel's UDP backend passes each packet through its own program.
func userspaceOverlay(v *scene.View) {
	p := pathOf(v)
	if p.tunnel != "flannel-udp" || p.through > 3*unit.Gbps {
		return
	}
	sure := 0.56
	if p.through > 0 && p.direct > 2*p.through {
		sure = 0.72
	} else if p.through > 0 {
		sure = 0.64
	}
	v.Add(record.SenderCPU, sure, p.host, "flanneld (UDP backend)",
		"flannel's UDP backend hands every packet to the program flanneld and back (a TUN device): a core spent on copies is the limit, on both nodes, and what it does not keep up with is dropped, which looks like losses of the network. It is meant for tests.",
		`Use another backend: "Type": "vxlan" in net-conf.json (the kernel does it), or "host-gw" where all nodes are in one subnet; then start flannel again on every node. VXLAN needs UDP 8472 open between the nodes.`, p.said...).Ask = asks(v, p)
}

// smallerHelped: somebody found that smaller packets are what it needs.
func smallerHelped(v *scene.View) {
	h, x, ok := v.SaidBy("mtu_helps")
	if !ok {
		return
	}
	p, sure := pathOf(v), contested(v, "mtu_helps", 0.74)
	if v.Said("offload_helps") {
		sure = mostContested // either may be what helped
	}
	v.Add(record.MTU, sure, h, "the path's MTU",
		"Smaller packets help, by what is said: something on the way carries less than the ends send, and the message that would say so (ICMP: fragmentation needed) does not arrive, or the packets are cut in two and lose a half.",
		"Set the MTU of the tunnel or link to the largest that passes, on both ends (`ping -M do -s N PEER`: N that passes, plus 28, less the tunnel's header), or clamp the MSS of what goes through it (`iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu`).",
		append([]record.Evidence{scene.Saw("said", x.Text, x.Source)}, p.said...)...).Ask = asks(v, p)
}

// offloadHelped: somebody found that an offload is what spoils it.
func offloadHelped(v *scene.View) {
	h, x, ok := v.SaidBy("offload_helps")
	if !ok || v.Said("offload_gains") {
		return
	}
	sure := contested(v, "offload_helps", 0.68)
	if v.Said("mtu_helps") {
		sure = mostContested
	}
	v.Add(record.CardSlot, sure, h, "the card's or guest's offloads",
		"Without that offload it is fast, by what is said: the card, its driver or the hypervisor's switch makes large packets or checksums that the next one drops.",
		"Leave that one offload off for good, and only that one (ethtool -K in a unit or .link file; the adapter's advanced properties on Windows; the box of pfSense and OPNsense), and try a newer driver, firmware or hypervisor: the others save much work.",
		scene.Saw("said", x.Text, x.Source)).Ask = []scene.Missing{
		{Command: "ethtool -k LINK; ethtool -i LINK", Host: scene.NameOf(h), Why: "which offloads are on, and whose driver it is"},
		{Command: "nstat -az | grep -iE 'csum|InErr'", Host: "the receiver", Why: "before and after a run: whether packets arrive with wrong checksums"},
	}
}

// bulkLost: pings arrive, and what is larger does not.
func bulkLost(v *scene.View) {
	h, x, ok := v.SaidBy("bulk_fails")
	p := pathOf(v)
	if !ok || !p.used() {
		return
	}
	for _, r := range v.Case.Runs {
		if r.Rate > 0 && r.Stalled == 0 {
			return
		}
	}
	v.Add(record.MTU, 0.55, h, p.name()+" (MTU)",
		fmt.Sprintf("Small packets pass and a transfer does not, by what is said, and %s adds its header to each packet: full packets do not fit, and nobody tells the sender.", p.name()),
		"Find what passes: `ping -M do -s 1372 PEER` inside, then more or less. Set the MTU of the tunnel, the pods or guests and their bridges to that plus 28 (1500 less 50 for VXLAN, 58 for Geneve, 60 to 80 for WireGuard, 20 for IP in IP), on every node; or give the network below it larger frames. If pings of that size pass, look at checksums: `ethtool -K TUNNEL tx-checksum-ip-generic off`.",
		append([]record.Evidence{scene.Saw("said", x.Text, x.Source)}, p.said...)...).Ask = asks(v, p)
}

// starvedWindow is a congestion window, in segments, that hardly any full segment passes
// with.
const starvedWindow = 4

// starved: a run by a tunnel whose window never opens.
func starved(v *scene.View) {
	p := pathOf(v)
	if !p.used() {
		return
	}
	for _, r := range v.Case.Runs {
		if r.UDP || r.Retransmits <= 0 || r.CwndMost == 0 || float64(r.CwndMost) > starvedWindow*1460 || r.Intervals < 3 {
			continue
		}
		v.Add(record.MTU, 0.64, p.host, p.name()+" (MTU)",
			fmt.Sprintf("Nearly every full segment is lost (%s's window stays at %v), and the way goes by %s: the connection is made by small packets, and full ones do not fit.", r.Tool, r.CwndMost, p.name()),
			"`ping -M do -s 1472 PEER` and smaller, inside the tunnel and beside it; set the tunnel's MTU to what passes plus 28, on both ends, or clamp the MSS. If full pings pass, it is checksums or a damaged link: `nstat -az | grep -i csum`, `ip -s -s link`.",
			append([]record.Evidence{scene.Saw(r.Tool, fmt.Sprintf("window %v at most, %d segments sent again, %v", r.CwndMost, r.Retransmits, r.Rate), r.Source)}, p.said...)...).Ask = asks(v, p)
		return
	}
}

// slowOverlay: two rates, with a tunnel and without.
func slowOverlay(v *scene.View) {
	p := pathOf(v)
	if !p.used() || p.through == 0 || p.direct == 0 || p.tunnel == "flannel-udp" {
		return
	}
	part := float64(p.through) / float64(p.direct)
	doubt := 0.0
	if !told(v) {
		if doubt = 0.1; part > leastApart {
			return // runs of one kind differ that much
		}
	}
	evidence := append([]record.Evidence{scene.Saw("rates", fmt.Sprintf("%v by %s, %v without", p.through, p.name(), p.direct), sourceOf(v))}, p.said...)
	switch {
	case v.Said("other_way_fast") && (part < faint || p.through < leastWork):
		return // full packets pass, and the work is done
	case part < slow && p.encrypts() && (part < faint || p.through < leastWork):
		v.Add(record.MTU, 0.46-doubt, p.host, p.name()+" (MTU)",
			fmt.Sprintf("%s carries %.2g %% of what the path does: encryption does not cost that much. Either its packets are too large for a part of the path (PPPoE, another tunnel, LTE) and are cut or lost, or a provider slows UDP.", p.name(), 100*part),
			"`ping -M do -s 1372 PEER` inside the tunnel, then less; set its MTU to what passes plus 28 (1280 is a safe trial), on both ends. No better: `iperf3 -u -b` beside the tunnel says whether UDP is slowed.", evidence...).Ask = asks(v, p)
	case part < ownStack && v.Said("user_stack"):
		v.Add(record.Application, 0.5-doubt, p.host, "the network stack in user space",
			fmt.Sprintf("%s carries %.2g %% of what the nodes do, and its network is a program of its own (gVisor, slirp, vpnkit): that program's TCP and its copies are the limit, or what it does not know of the card's offloads.", p.name(), 100*part),
			"Give it the host's stack for a trial (gVisor: `--network=host`; rootless containers: pasta or a real bridge; Docker Desktop: the host's network), its newest version, and GSO or GRO off on the host's side.", evidence...).Ask = asks(v, p)
	case part < faint:
		v.Add(record.CardSlot, 0.48-doubt, p.host, p.name()+" (checksum offload or MTU)",
			fmt.Sprintf("%s carries %.2g %% of what the nodes do: no encapsulation costs that much, so nearly all of its packets are lost. Mostly the card or hypervisor (vmxnet3, Azure, some kernels) gets the checksums of encapsulated packets wrong; else its MTU is too large for the links below.", p.name(), 100*part),
			"Try `ethtool -K TUNNEL tx-checksum-ip-generic off` on both nodes (flannel.1, vxlan.calico, cilium_vxlan; Calico: FELIX_FEATUREDETECTOVERRIDE ChecksumOffloadBroken=true; or `ethtool -K LINK tx-udp_tnl-segmentation off tx-udp_tnl-csum-segmentation off` on the card). If that does not help: `ping -M do -s 1422 POD`, and an MTU at most 50 below the links'.", evidence...).Ask = asks(v, p)
	case part < slow && (p.encrypts() || p.through >= 10*leastWork):
		cause, work := record.ReceiverCPU, "Each packet gets a header and goes through the kernel twice, and one flow's packets stay on one core, above all where the card does not cut and merge encapsulated packets (tx-udp_tnl-segmentation, GRO) or in a guest"
		if p.encrypts() {
			cause, work = record.SenderCPU, "Each packet is encrypted by a core, of its own tunnel's queue"
		}
		v.Add(cause, 0.55-doubt, p.host, p.name()+" (work for each packet)",
			fmt.Sprintf("%s carries %v where the path carries %v: that is its work, not the network. %s.", p.name(), p.through, p.direct, work),
			"See `mpstat -P ALL 1` on both ends: one core full in %soft or %sys is the proof. Larger frames (MTU 9000 below, 8950 inside) help most; the card's tunnel offloads on; several flows instead of one (`iperf3 -P 8`) and queues with a core each; or no encapsulation: host-gw, BGP or native routing where the nodes share a subnet.", evidence...).Ask = asks(v, p)
	}
}

// slowTool: iperf3 stays below what another tool carries over the same path.
func slowTool(v *scene.View) {
	h, x, ok := v.SaidBy("tool_slower")
	if by, other, told := v.SaidBy("rate_other"); !ok && told {
		for _, r := range v.Case.Runs {
			if r.Tool == "iperf3" && !r.UDP && r.Target == 0 && r.Retransmits <= 0 && r.Rate > unit.Gbps && float64(r.Rate) < 0.7*piece.Float(other.Text) {
				h, x, ok = by, other, true
				x.Text = fmt.Sprintf("%v, another program %v", r.Rate, unit.BitRate(piece.Float(other.Text)))
			}
		}
	}
	if !ok {
		return
	}
	v.Add(record.SenderCPU, 0.62, h, "iperf3 (one thread)",
		"Another tool carries more over the same path, by what is said: iperf3 before 3.16 serves all its streams, however many -P asks for, by one thread, and that thread's core is full. The network is not what was measured.",
		"Use iperf3 3.16 or later on both ends with -P, several iperf3 processes on ports of their own (`-p`, and `-A` for a core each), iperf2, or `linerate measure`.", scene.Saw("said", "iperf3 "+x.Text, x.Source)).Ask = []scene.Missing{
		{Command: "iperf3 --version", Host: "both hosts", Why: "3.16 is the first with a thread for each stream"},
		{Command: "mpstat -P ALL 1 5", Host: "both hosts", Why: "while iperf3 runs: whether one core is full"},
	}
}

// window is what may be in flight, in bytes, and whose it is.
type window struct {
	bytes float64
	what  string
	cause record.Cause
}

// windows are the buffers that systems end at unless told otherwise, in bytes that can be
// in flight: 64 KiB without scaling, Linux's tcp_wmem (4 MiB, two thirds of it payload)
// and tcp_rmem (6 MiB, half of it the window).
var windows = []window{
	{64 << 10, "64 KiB, a window without scaling", record.ReceiveWindow},
	{3 << 20, "3 MiB, half of Linux's own tcp_rmem of 6 MiB", record.ReceiveWindow},
}

// longWindow: a rate that is a usual window over the round trip.
func longWindow(v *scene.View) {
	h, x, by, ok := tripOf(v)
	if !ok || v.HasFinding(record.ReceiveWindow) || v.HasFinding(record.SendBuffer) {
		return
	}
	trip := piece.Float(x.Text) / 1000
	if trip < 0.01 || trip > 1 {
		return
	}
	for _, r := range v.Case.Runs {
		if r.UDP || r.Rate == 0 || r.Retransmits > 0 || max(len(r.Streams), r.Parallel) > 1 || r.Target > 0 || r.Window > 0 {
			continue
		}
		if inFlight(v, h, 0.58, r.Rate, scene.Saw(r.Tool, r.Rate.String(), r.Source), x, by) {
			return
		}
	}
	if rate, _, at := saidRate(v, "rate_one"); len(v.Case.Runs) == 0 && !v.Said("rate_many", "lossy") {
		inFlight(v, h, 0.52, rate, scene.Saw("said", rate.String()+" by one flow", at), x, by)
	}
}

// inFlight names the window that a flow's rate over a round trip comes to; false none.
func inFlight(v *scene.View, h *piece.Host, sure float64, rate unit.BitRate, measured record.Evidence, ms piece.Value, by string) bool {
	trip := piece.Float(ms.Text) / 1000
	flight := float64(rate) / 8 * trip
	for _, w := range windows {
		if flight < 0.75*w.bytes || flight > 1.1*w.bytes {
			continue
		}
		v.Add(w.cause, sure, h, "the window over "+ms.Text+" ms",
			fmt.Sprintf("%v over %s ms is %v in flight: about %s. Without losses a flow is as fast as its window goes round, whatever the link is.", rate, ms.Text, unit.Bytes(flight), w.what),
			fmt.Sprintf("Raise the third values on both ends, to about %v for 10 Gbit/s: `sysctl -w net.ipv4.tcp_rmem='4096 131072 N' net.ipv4.tcp_wmem='4096 65536 N'`, and net.core.rmem_max and wmem_max for programs that set buffers themselves; or use several flows.", unit.Bytes(2*10e9/8*trip)),
			measured, scene.Saw(by, ms.Text+" ms", ms.Source)).Ask = longAsks
		return true
	}
	return false
}

var longAsks = []scene.Missing{
	{Command: "sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem net.core.rmem_max net.core.wmem_max net.ipv4.tcp_congestion_control", Host: "both hosts", Why: "how much may be in flight, and how losses are taken"},
	{Command: "ss -tin", Host: "the sender", Why: "while it runs: round trip, window, losses, and what TCP waits for"},
	{Command: "iperf3 -c PEER -P 8, then with -R; ping -c 50 PEER", Host: "", Why: "whether several flows add up (a window or losses of each flow), each way, and the path's loss"},
}

// sourceOf is where the rate by the tunnel was told, or measured.
func sourceOf(v *scene.View) piece.Source {
	if _, x, ok := v.SaidBy("rate_through"); ok {
		return x.Source
	}
	for _, r := range v.Case.Runs {
		return r.Source
	}
	return piece.Source{}
}
