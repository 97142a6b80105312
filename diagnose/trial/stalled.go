package trial

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose/trial/probed"
	"github.com/linerate/linerate/record"
)

// asGoodAsNothing is the share of a stream's equal part below which it stands
// still.
const asGoodAsNothing = 0.005

// standsStill reports a stream that sends again and again and carries nothing.
func (v *wayView) standsStill(l record.Lane) bool {
	part := float64(v.goodput) / float64(max(len(v.lanes), 1))
	return float64(l.Goodput) <= asGoodAsNothing*part && (l.Retransmits > 0 || l.TCP.Timeouts > 0)
}

// echoesLost reports echoes of full packets of which most came back and some did not.
func (v *wayView) echoesLost() bool {
	return slices.ContainsFunc(v.trial.Sizes, func(p record.SizeProbe) bool {
		return p.From == v.from && p.To == v.to && p.Answers && probed.SomeLost(p)
	})
}

// fullCame reports that every stream's receiver has had segments as large as those that
// are sent: their size is not why they get lost (tcp_measure_rcv_mss begins at 536).
func (v *wayView) fullCame() bool {
	return len(v.lanes) > 0 && !slices.ContainsFunc(v.lanes, func(l record.Lane) bool {
		return l.TCP.SndMSS <= leastMSSKnown || l.TCP.RcvMSS < l.TCP.SndMSS
	})
}

// leastMSSKnown is what a receiver takes for the size of segments before it had any
// (TCP_MSS_DEFAULT).
const leastMSSKnown = 536

// othersFull reports links of the sender's that are full beside others that carry
// nothing, none between.
func (v *wayView) othersFull() bool {
	full, idle := split(v.egress)
	return len(full) > 0 && len(idle) > 0 && !slices.ContainsFunc(idle, func(l linkLoad) bool { return l.share() > idleLink })
}

// stalledStreams: some streams carry nothing although they send again and again,
// while the others get on: their packets, or the answers to them, are dropped.
func (v *wayView) stalledStreams() (hypothesis, bool) {
	n, again := 0, uint64(0)
	for _, l := range v.lanes {
		if v.standsStill(l) {
			n++
			again += max(l.Retransmits, l.TCP.Timeouts)
		}
	}
	if n == 0 || !v.room() || n == len(v.lanes) && !v.echoesLost() && !v.fullCame() {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.Congestion, sure: 0.55, mended: "With all streams",
		summary: fmt.Sprintf("%d of %d streams from %s carry nothing, though they send again and again: something drops all that they send, or all that comes back.", n, len(v.lanes), v.from),
		evidence: append(append(append([]record.Evidence{
			{What: "segments that streams at a standstill sent again", Value: fmt.Sprint(again), Source: fromTCP},
		}, v.dropEvidence()...), v.tcpEvidence()...), v.loads()...),
		remedy: record.ByHand("send echoes between the addresses of the streams that stand still (`ping -I ADDRESS`), and look where they end: a filter, a port, a route"),
	}
	if n < len(v.lanes) && v.othersFull() {
		h.seen, h.sure = true, 0.8 // nothing else is missing
	}
	if n == len(v.lanes) {
		h.stands = true
		h.summary = fmt.Sprintf("%s from %s stand still: what they send again gets lost again, as some of the echoes do.", flows(n), v.from)
		if !v.echoesLost() {
			h.sure = 0.5
			h.summary = fmt.Sprintf("%s from %s stand still: what they send again gets lost again, though packets as large came through before.", flows(n), v.from)
		}
		h.remedy = record.ByHand("find where it drops: link errors, a bad cable or optic, a switch buffer (`ip -s link` on both hosts, the switch's counters, `ping -s 1400 -c 100`)")
	}
	for _, host := range []string{v.to, v.from} {
		use, ok := v.processorOf(host)
		dropped := use.TCPExt["IPReversePathFilter"]
		if !ok || dropped == 0 {
			continue
		}
		h.cause, h.seen, h.sure = record.AsymmetricRoute, true, 0.9
		h.summary = fmt.Sprintf("%d of %d streams from %s carry nothing: %s drops what arrives by a link that it would not answer by (rp_filter).", n, len(v.lanes), v.from, host)
		h.remedy = record.ByHand(fmt.Sprintf("give each address of %s a route by its own link (`ip rule add from ADDRESS table N`), or set rp_filter to 2 there", host))
		h.evidence = append([]record.Evidence{{What: "packets that " + host + " dropped for their way", Value: fmt.Sprintf("+%d (IPReversePathFilter)", dropped), Source: fromExt}}, h.evidence...)
		break
	}
	return h, true
}
