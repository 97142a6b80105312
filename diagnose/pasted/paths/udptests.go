package paths

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// leastLost is the part of its datagrams from which a test lost many.
const leastLost = 0.01

// losing is a test that lost many of its datagrams; false none did.
func losing(v *scene.View) (piece.Run, bool) {
	for _, r := range v.Case.Runs {
		if r.UDP && r.Datagrams > 100 && float64(r.Lost) > leastLost*float64(r.Datagrams) {
			return r, true
		}
	}
	return piece.Run{}, false
}

// burstingTool: iperf3 before 3.2 sends a tenth of a second's datagrams at once, so that
// they are lost at rates that the path carries easily (its release notes of 3.2).
func burstingTool(v *scene.View) {
	r, lost := losing(v)
	h, version, old := v.SaidBy("old_iperf3")
	_, said, complained := v.SaidBy("udp_loss")
	at := said.Source
	if lost {
		at = r.Source
		if old = old || strings.HasPrefix(r.Version, "3.0") || strings.HasPrefix(r.Version, "3.1.") || r.Version == "3.1"; r.Version != "" {
			version.Text = r.Version
		}
	}
	if !old || !lost && !complained || lost && r.Rate > unit.Gbps || version.Text == "" {
		return
	}
	v.Add(record.Application, 0.62, h, "iperf3 "+version.Text+" (bursts)",
		fmt.Sprintf("iperf3 %s sends UDP in bursts: all datagrams of a tenth of a second at once, at the link's rate, then nothing. Buffers on the way and the receiver's socket overflow with each burst, at mean rates that they carry easily. iperf2 paces them and loses nothing.", version.Text),
		"Use iperf3 3.2 or later on both ends (it paces by milliseconds), or iperf2; with the old one `-w 2M` (and net.core.rmem_max for that) and datagrams that fit a packet (`-l 1400`).",
		scene.Saw("iperf3", version.Text+" loses datagrams", at)).Ask = []scene.Missing{
		{Command: "iperf3 --version", Host: "both hosts", Why: "3.2 is the first that paces UDP finely"},
		{Command: "nstat -az | grep Udp", Host: "the receiver", Why: "before and after: UdpRcvbufErrors, which the socket lost, not the network"},
	}
}

// unheldUDP: a UDP test without a rate that could be kept: it sends what the sender can.
func unheldUDP(v *scene.View) {
	r, lost := losing(v)
	if !lost || r.Rate < 3*unit.Gbps || v.HasFinding(record.ReceiverCPU) {
		return
	}
	v.Add(record.ReceiverCPU, 0.52, nil, "the receiver's core and socket",
		fmt.Sprintf("%d of %d datagrams are lost at %v: UDP is not slowed by losses, and a receiver takes each datagram by a call of its own. Its core or its socket's buffer is full long before such a link.", r.Lost, r.Datagrams, r.Rate),
		"Test at a rate (`-b`) that is kept, or with TCP: a UDP test without one measures the slower program. For more UDP: `-w 8M` with net.core.rmem_max, `-l 8900` at MTU 9000, `--gsro` (iperf3 3.19), several processes on cores of their own.",
		scene.Saw(r.Tool, fmt.Sprintf("%d of %d datagrams lost", r.Lost, r.Datagrams), r.Source)).Ask = []scene.Missing{
		{Command: "nstat -az | grep Udp; ethtool -S LINK | grep -E 'drop|miss|discard'", Host: "the receiver", Why: "whether its socket (UdpRcvbufErrors) or its card lost them"},
		{Command: "mpstat -P ALL 1 5", Host: "the receiver", Why: "while it runs: which core is full"},
	}
}

// iperfUDP is the rate at which iperf sends UDP unless -b says another.
const iperfUDP = 1050 * unit.Kbps

// usualUDP: a UDP test that gets the tool's own rate.
func usualUDP(v *scene.View) {
	rate, h, at := saidRate(v, "rate_udp")
	for _, r := range v.Case.Runs {
		if r.UDP && r.Lost == 0 && scene.Close(r.Rate, iperfUDP, 0.93, 1.07) && v.Complains() {
			rate, at = r.Rate, r.Source
		}
	}
	if !scene.Close(rate, iperfUDP, 0.93, 1.07) {
		return
	}
	v.Add(record.Pacing, 0.62, h, "iperf's own rate of UDP",
		fmt.Sprintf("%v is what iperf sends by UDP unless it is told another rate: it says nothing of the network.", rate),
		"Give a rate (`iperf3 -u -b 500M`, then more) and look at what is lost; what else is slow has another reason.", scene.Saw("UDP", rate.String(), at)).Ask = []scene.Missing{
		{Command: "iperf3 -c PEER -u -b 100M, then -b 500M; iperf3 -c PEER -P 4, then with -R", Host: "", Why: "what the way carries by UDP without losses, and by TCP"}}
}
