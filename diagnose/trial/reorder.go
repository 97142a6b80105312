package trial

import (
	"fmt"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

const (
	// firstReordering is TCP's own assumption (net.ipv4.tcp_reordering): a
	// larger one was learnt from packets that came late.
	firstReordering = 3
	// reorderedShare of the segments, seen late, counts as all out of order.
	reorderedShare = 2e-3
	// missingMany is the part of what was sent again that was certainly lost, from which
	// losses are why.
	missingMany = 0.3
)

// disorder is how much speaks for packets that arrive out of order rather than
// not at all, 0 to 1: repetitions that the receiver had already, segments seen
// late, a sender that learnt to wait for them.
func (v *wayView) disorder() float64 {
	w := v.waits
	if w.segments <= 0 {
		return 0
	}
	if w.missing >= max(repeatedFew, missingMany*w.repeated) && w.inVain() < inVainShare {
		return 0 // they did not come late, but never; without SACK a sender takes that for lateness too
	}
	seen := min(w.reordered/(w.segments*reorderedShare), 1)
	score := 0.0
	// What nobody saw late was repeated for want of acknowledgements.
	if seenLate := w.reordered > 0 || w.early > 0; seenLate && (w.repeated >= repeatedFew || w.vain >= repeatedFew) {
		score = max(score, w.inVain())
	}
	if w.reordering > firstReordering {
		score = max(score, seen)
	}
	return max(score, 0.6*seen)
}

// countedByHost adds what kernels before 4.19 count only of all streams
// together; those from then on count the bytes sent, too.
func (v *wayView) countedByHost(w *waits) {
	for _, l := range w.lanes {
		if l.TCP.BytesSent > 0 {
			return
		}
	}
	if use, ok := v.processorOf(v.from); ok && w.present {
		// One acknowledgement may tell of several segments (Linux 5.10).
		w.vain += float64(max(use.TCPExt["TCPDSACKRecvSegs"], use.TCPExt["TCPDSACKRecv"]))
		w.reordered += float64(use.TCPExt["TCPSACKReorder"] + use.TCPExt["TCPTSReorder"] + use.TCPExt["TCPRenoReorder"])
	}
}

// outOfOrder: segments overtake each other, and the sender takes them for lost.
func (v *wayView) outOfOrder() (hypothesis, bool) {
	w := v.waits
	d := v.disorder()
	if d < 0.25 || !v.room() || w.starved >= limitedShare {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.Reordering, sure: 0.45 + 0.45*d, mended: "With packets in order",
		summary: fmt.Sprintf("Packets from %s arrive out of order, and TCP takes the late ones for lost: it slows down although little is missing.", v.from),
		evidence: append([]record.Evidence{
			{What: "late segments that the sender noticed", Value: fmt.Sprintf("%.0f of %.0f", w.reordered, w.segments), Source: fromTCP},
			{What: "segments that it now waits for before it calls one lost", Value: fmt.Sprint(w.reordering), Source: fromTCP},
			{What: "repetitions that the receiver had already", Value: fmt.Sprintf("%.0f of %.0f (%s)", w.vain, w.repeated, diagnose.Percent(w.inVain())), Source: fromTCP},
			{What: "segments that arrived early", Value: fmt.Sprintf("%.0f", w.early), Source: fromTCP},
		}, append(v.tcpEvidence(), v.loads()...)...),
		remedy: record.ByHand("keep every flow on one way: find what spreads single packets (balance-rr, a switch that hashes by packet, two unequal paths)"),
	}
	if bond := v.striping(); bond != nil {
		h.sure = min(h.sure+0.1, 0.95)
		h.summary = fmt.Sprintf("%s of %s stripes packets over its links (balance-rr). They overtake each other, and TCP counts the late ones as lost.", bond.Name, v.from)
		h.remedy = remedy.Aggregated(bond.Name + " on " + v.from)
		if bond.Offloads["tso"] {
			h.evidence = append(h.evidence, diagnose.Fact("tso of "+bond.Name, "on: each port gets up to 64 KiB at once", "ETHTOOL_GFEATURES"))
			h.remedy = h.remedy.Or(record.Ask("where one stream must use all links, set frames of 9000 bytes"), record.Run(v.from, "ethtool", "-K", bond.Name, "tso", "off"))
		}
	}
	if w.loss()*(1-w.inVain()) >= 10*lossShare && w.inVain() < inVainShare {
		h.sure *= 0.6
		h.against = append(h.against, w.lossEvidence())
	}
	if swing, _ := v.swing(); v.takesLateCalmly() {
		h.sure *= 0.5
		h.against = append(h.against, record.Evidence{What: "swing of the rate from block to block", Value: fmt.Sprintf("%s, and %s repeated: the sender waits for what is late", diagnose.Percent(swing), diagnose.FewPercent(w.loss())), Source: fromTCP})
	}
	if w.windowsAlone() {
		h.sure *= 0.5
		h.against = append(h.against, record.Evidence{What: "what congestion control would let go out", Value: fmt.Sprintf("%.0f segments a stream, and %.0f are: the receive window holds them", w.cwnd, w.flight), Source: fromTCP})
	} else if w.rwnd >= limitedShare || w.sndbuf >= limitedShare {
		h.sure *= 0.7
		h.against = append(h.against, record.Evidence{What: "time limited by window or buffer", Value: diagnose.Percent(max(w.rwnd, w.sndbuf)), Source: fromTCP})
	}
	return h, true
}

// takesLateCalmly: little is repeated, or never with a window that shrinks, and the rate is as flat as
// through one queue: TCP has learnt to wait for what is late, and something else holds it.
func (v *wayView) takesLateCalmly() bool {
	swing, steady := v.swing()
	calm := v.waits.loss() < 5*lossShare || v.waits.recovering == 0 && v.waits.samples >= 2*fewSamples
	return steady && swing < flatSwing && calm && v.waits.queued() > 1
}

// striping is the sender's bond that deals single packets out; nil none.
func (v *wayView) striping() *netstate.Link {
	if len(v.lanes) == 0 {
		return nil
	}
	bond := bondAt(v.fabric.Hosts[v.from], v.lanes[0].Src)
	if bond == nil || bond.Bond == nil || bond.Bond.Mode != netstate.BalanceRR {
		return nil
	}
	return bond
}
