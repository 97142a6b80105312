package runs

import (
	"cmp"
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// What makes a run one that losses hold: the part of what it carried that it sent again,
// how many segments, and the part of its intervals that lost some.
const (
	leastResent  = 1e-3
	fewestResent = 50
	mostlyLossy  = 0.6
)

// smallWindow is a congestion window, in segments, that only losses keep so small.
const smallWindow = 64

// resent: a TCP run that sends again all the time, below any link's rate. Where the rate
// hardly varies, it may be a limit's: what is above it is dropped.
func resent(v *scene.View) {
	var worst piece.Run
	share := 0.0
	for _, r := range v.Case.Runs {
		mss := float64(cmp.Or(r.MSS, 1448))
		sent := float64(r.Rate) / 8 * r.Seconds
		if r.UDP || r.MPTCP || r.Retransmits < fewestResent || sent <= 0 || stands(r) {
			continue
		}
		part := float64(r.Retransmits) * mss / sent
		if part < leastResent || r.Intervals >= 3 && float64(r.Lossy) < mostlyLossy*float64(r.Intervals) || scene.NearLineRate(r.Rate) {
			continue
		}
		if part > share {
			worst, share = r, part
		}
	}
	if share == 0 || v.HasFinding(record.Reordering) || v.HasFinding(record.Shaper) || spraying(v) {
		return
	}
	mss := float64(cmp.Or(worst.MSS, 1448))
	evidence := []record.Evidence{scene.Saw(worst.Tool, fmt.Sprintf("%d segments sent again in %.0f s, about %.2g %% of what it carried (%v)", worst.Retransmits, worst.Seconds, 100*share, worst.Rate), worst.Source)}
	sure, window := 0.5, ""
	if most := float64(worst.CwndMost); most > 0 {
		evidence = append(evidence, scene.Saw("congestion window", fmt.Sprintf("%v at most, about %.0f segments", worst.CwndMost, most/mss), worst.Source))
		if most/mss < smallWindow {
			sure, window = 0.62, fmt.Sprintf(" Its window never gets beyond %.0f segments.", most/mss)
		}
	}
	limit := ""
	if even(worst.Series) && worst.CwndMost > unit.Bytes(smallWindow*mss) {
		sure, limit = 0.42, " The rate hardly varies, so it may as well be a limit on the way (a policer, a slower link, a provider's cap) that drops what is above it."
	}
	if lost, at := lossTold(v); lost != "" {
		evidence = append(evidence, scene.Saw("said", lost+" % of packets lost", at))
		sure = max(sure, 0.62)
	} else if overlaid(v) {
		sure = min(sure, 0.44) // what a tunnel does to packets comes first
	}
	found := v.Add(record.Congestion, sure, nil, "the path or the receiving card",
		fmt.Sprintf("Packets are lost all the time while %s runs: TCP sends again in nearly every second and slows down for it.%s The links' rate is not reached, and nothing here says where they are lost.%s", worst.Tool, window, limit),
		"Find where: on both hosts `ip -s -s link` and `ethtool -S LINK | grep -E 'err|drop|miss|crc|fifo|discard'` before and after a run, and the same counters of each switch port. CRC errors: the cable or module. Missed or no buffer: the receiving card's ring or its core. Drops at the switch: a fast port into a slow one (allow pause frames there, or send less at once). With jumbo frames check with `ping -M do -s 8972 PEER` that they pass.", evidence...)
	found.Ask = []scene.Missing{
		{Command: "ip -s -s link; ethtool -S LINK", Host: "both hosts", Why: "before and after a run: which counter of drops or errors grows, on which port"},
		{Command: "show interfaces counters errors", Host: "the switch", Why: "whether one of its ports drops or damages frames meanwhile"},
		{Command: "iperf3 -c PEER -u -b RATE", Host: cmp.Or(worst.Client, "the sender"), Why: "at half the rate wanted: whether packets are lost even when nothing is full"},
	}
}

// Of all the segments that a host has sent since it runs: the part sent again from which its
// path loses packets, from which nearly nothing else explains it, and how many make a count.
const (
	leastAgain   = 0.02
	mostlyAgain  = 0.1
	fewestCounts = 1000
)

// resentInAll: a host whose counters show that it sent many segments again.
func resentInAll(v *scene.View) {
	if !v.Complains() || v.HasFinding(record.Congestion) || v.HasFinding(record.Reordering) || v.HasFinding(record.MTU) || spraying(v) {
		return
	}
	for _, h := range v.Hosts {
		again, sent := h.Counters["TcpRetransSegs"], h.Counters["TcpOutSegs"]
		part := piece.Float(again.Text) / max(piece.Float(sent.Text), 1)
		if piece.Float(again.Text) < fewestCounts || piece.Float(sent.Text) < fewestCounts || part < leastAgain {
			continue
		}
		sure := 0.5
		if part > mostlyAgain {
			sure = 0.62
		}
		v.Add(record.Congestion, sure, h, "the path of what "+scene.NameOf(h)+" sends",
			fmt.Sprintf("%s sent %.2g %% of its segments again since it started: what it sends gets lost on the way, or its card damages it, and TCP slows down for each loss.", scene.NameOf(h), 100*part),
			"See whether it grows while it is slow (the same command before and after). Then the counters of its link and of the switch's port (CRC errors, drops, half duplex); another cable and port; offloads off for a trial (checksums and segmentation by the card).",
			scene.Saw("netstat", again.Text+" segments sent again of "+sent.Text, again.Source)).Ask = []scene.Missing{
			{Command: "netstat -s -p tcp (Linux: nstat -az | grep Retrans), before and after a copy", Host: scene.NameOf(h), Why: "how many segments are sent again meanwhile"},
			{Command: "netstat -i (Linux: ip -s -s link; ethtool -S LINK)", Host: "both hosts", Why: "which port counts errors or drops"},
		}
		return
	}
}

// stands reports a run that stood still for most of its time: stalledRuns'.
func stands(r piece.Run) bool { return r.Intervals >= 4 && r.Stalled >= r.Intervals/2 }

// lossTold is the path's loss in percent as a sentence says it; "" nobody does.
func lossTold(v *scene.View) (percent string, at piece.Source) {
	for _, h := range v.Case.Hosts {
		if x, ok := h.Get("said", "loss_percent"); ok {
			return x.Text, x.Source
		}
	}
	return "", piece.Source{}
}

// overlaid reports a tunnel or an overlay between hosts: by a link, or as it was said.
func overlaid(v *scene.View) bool {
	for _, h := range v.Case.Hosts {
		for _, key := range []string{"tunnel", "cluster"} {
			if _, ok := h.Get("said", key); ok {
				return true
			}
		}
	}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if kind := scene.Word(h, name, "kind"); kind == "vxlan" || kind == "geneve" || scene.Contains(name, "vxlan", "flannel", "cilium_", "geneve") {
				return true
			}
		}
	}
	return false
}

// spraying reports a bond that stripes packets: they arrive out of order, and TCP
// sends again what was never lost.
func spraying(v *scene.View) bool {
	for _, b := range v.Bonds {
		if b.Mode == "balance-rr" {
			return true
		}
	}
	return false
}

// even reports intervals whose rates differ little.
func even(series []unit.BitRate) bool {
	if len(series) < 4 {
		return false
	}
	low, high := series[1], series[1]
	for _, r := range series[1:] {
		low, high = min(low, r), max(high, r)
	}
	return scene.Close(low, high, 0.93, 1)
}

// refusedBuffer: iperf3 was told a socket buffer that the kernel's limit does not allow.
func refusedBuffer(v *scene.View) {
	for _, h := range v.Hosts {
		x, ok := h.Get("host", "buffer_refused")
		if !ok {
			continue
		}
		evidence := []record.Evidence{scene.Saw("iperf3", "socket buffer size not set correctly", x.Source)}
		cause, key, sure := record.SendBuffer, "net.core.wmem_max", 0.6
		snd, at, told := scene.Number(h, "sysctl", "net.core.wmem_max")
		rcv, from, told2 := scene.Number(h, "sysctl", "net.core.rmem_max")
		if told && (!told2 || snd <= rcv) {
			sure, evidence = 0.86, append(evidence, scene.Saw("net.core.wmem_max", unit.Bytes(snd).String(), at))
		} else if told2 {
			cause, key, sure = record.ReceiveWindow, "net.core.rmem_max", 0.86
			evidence = append(evidence, scene.Saw("net.core.rmem_max", unit.Bytes(rcv).String(), from))
		}
		limit := min(cmp.Or(snd, rcv), cmp.Or(rcv, snd))
		if (told || told2) && limit >= 16<<20 {
			sure = 0.45 // enough here: the other end's
		}
		v.Add(cause, sure, h, key+" of "+scene.NameOf(h),
			fmt.Sprintf("iperf3 asked for a socket buffer (-w) that the kernel did not give: the buffers that a program sets itself end at net.core.wmem_max for sending and net.core.rmem_max for receiving (the kernel counts twice that), and here %s is the one in the way. The third values of tcp_rmem and tcp_wmem do not matter for it.", key),
			"Run without -w, so that the kernel tunes the buffers as far as tcp_rmem and tcp_wmem go; or raise both, on both hosts: `sysctl -w net.core.wmem_max=16777216 net.core.rmem_max=16777216`.", evidence...)
	}
}
