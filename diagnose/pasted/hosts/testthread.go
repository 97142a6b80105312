package hosts

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Of iperf3's CPU utilization, per cent of one core: a thread that has no more to give,
// and the most that a single one shows.
const (
	fullThread = 95.0
	oneThread  = 103.0
	// Below it a thread that spins is no thread that works.
	leastWorked = 100 * unit.Mbps
)

// testThread: iperf3 whose one thread is full. Before 3.16 it serves all its streams by
// one; a stream is one thread's in any version.
func testThread(v *scene.View) {
	for _, r := range v.Case.Runs {
		if r.Tool != "iperf3" || r.UDP || r.Rate < leastWorked || r.Error != "" || r.Target > 0 || fillsLink(v, r) {
			continue
		}
		several := len(r.Streams) > 1 || r.Parallel > 1 || r.Detail["sum"] != ""
		single, known := oneThreaded(r)
		if several && known && !single {
			continue
		}
		cause, h := busyEnd(v, r)
		said := scene.Saw("iperf3 "+cmp.Or(r.Version, "(version not said)"), fmt.Sprintf("%s, %v", streamsOf(r), r.Rate), r.Source)
		if cause != "" {
			used := scene.Saw("CPU utilization that iperf3 prints", fmt.Sprintf("sender %s, receiver %s of one core", perCent(r.SenderCPU), perCent(r.ReceiverCPU)), r.Source)
			switch {
			case !several:
				v.Add(cause, 0.78, h, "iperf3 on "+scene.NameOf(h)+" (one thread)",
					fmt.Sprintf("iperf3's one stream is served by a single thread, and it fills a core of the %s: that core is what was measured, not the network.", endWords[cause]),
					"Measure with several streams and threads (`-P 8` of iperf3 3.16 or later, several iperf3 processes, iperf2, or `linerate measure`); for one stream: larger frames, offloads (TSO, GRO) on, a faster core, the card's own NUMA node.", said, used)
			case known:
				threadOf(v, h, cause, 0.93, said, used)
			default:
				threadOf(v, h, cause, 0.85, said, used)
			}
			continue
		}
		if !several {
			continue
		}
		if other, ok := fasterElsewhere(v, r); ok {
			threadOf(v, senderOf(v, r), record.SenderCPU, map[bool]float64{true: 0.92, false: 0.85}[known], said, scene.Saw(other.Tool, other.Rate.String(), other.Source))
		} else if known && r.Rate >= 8e9 {
			threadOf(v, senderOf(v, r), record.SenderCPU, 0.6, said)
		}
	}
}

var endWords = map[record.Cause]string{record.SenderCPU: "sender", record.ReceiverCPU: "receiver"}

// oneThreaded reports an iperf3 whose streams share a thread, and whether that is known:
// by its version (threads came with 3.16, its release notes say), or by the column that
// old releases called Bandwidth.
func oneThreaded(r piece.Run) (single, known bool) {
	if r.Version == "" {
		return r.Detail["columns"] == "old", r.Detail["columns"] == "old"
	}
	_, minor, ok := strings.Cut(r.Version, ".")
	if !ok {
		return false, false
	}
	end := strings.IndexFunc(minor, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		minor = minor[:end]
	}
	n, err := strconv.Atoi(minor)
	return err == nil && n < 16, err == nil
}

// busyEnd is the end of a run whose thread is full by iperf3's own figures; "" none.
// More than a core is several threads', which may have room.
func busyEnd(v *scene.View, r piece.Run) (record.Cause, *piece.Host) {
	full := func(cpu float64) bool { return cpu >= fullThread && cpu <= oneThread }
	from, to := scene.Sides(r)
	switch {
	case full(r.SenderCPU):
		return record.SenderCPU, v.HostOf(from)
	case full(r.ReceiverCPU):
		return record.ReceiverCPU, v.HostOf(to)
	}
	return "", nil
}

func perCent(n float64) string {
	if n < 0 {
		return "not said"
	}
	return fmt.Sprintf("%.0f %%", n)
}

func streamsOf(r piece.Run) string {
	if n := max(r.Parallel, len(r.Streams)); n > 1 {
		return fmt.Sprintf("%d streams", n)
	} else if r.Detail["sum"] != "" {
		return "several streams"
	}
	return "one stream"
}

// senderOf is the host that sent in a run; the only one that was read where nobody
// says.
func senderOf(v *scene.View, r piece.Run) *piece.Host {
	from, _ := scene.Sides(r)
	if h := v.HostOf(from); h != nil || len(v.Hosts) == 0 {
		return h
	}
	return v.Hosts[0]
}

// fasterElsewhere is a run of iperf2 (a thread each stream) over the same way that came
// to half as much again.
func fasterElsewhere(v *scene.View, r piece.Run) (piece.Run, bool) {
	for i := range v.Case.Runs {
		other := &v.Case.Runs[i]
		if other.Tool != "iperf2" || other.UDP || other.Both || other.Rate <= r.Rate*15/10 {
			continue
		}
		if to, at := other.Detail["target"], r.Detail["target"]; to == "" || at == "" || to == at {
			return *other, true
		}
	}
	return piece.Run{}, false
}

// fillsLink reports a run at line rate: of a link that was read, else of a standard
// speed with frames of 1500 or 9000 bytes.
func fillsLink(v *scene.View, r piece.Run) bool {
	speeds := v.LinkSpeeds()
	if len(speeds) == 0 {
		speeds = standardSpeeds
	}
	for _, speed := range speeds {
		for _, mtu := range []int{1500, 9000} {
			payload := framing.LinkPayload(netstate.Link{Speed: speed}, mtu, 0, false)
			if scene.Close(r.Rate, payload, 0.985, 1.01) {
				return true
			}
		}
	}
	return false
}

func threadOf(v *scene.View, h *piece.Host, cause record.Cause, sure float64, evidence ...record.Evidence) {
	v.Add(cause, sure, h, "iperf3 on "+scene.NameOf(h)+" (one thread)",
		"iperf3 before 3.16 serves all its streams by a single thread: one core is full, and that is what was measured, not the network.",
		"Use iperf3 3.16 or later (a thread each stream), several iperf3 processes on ports of their own, iperf2, or `linerate measure`.", evidence...)
}
