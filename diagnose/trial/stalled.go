package trial

import (
	"fmt"

	"github.com/linerate/linerate/record"
)

// asGoodAsNothing is the share of a stream's equal part below which it stands
// still.
const asGoodAsNothing = 0.005

// stalledStreams: some streams carry nothing although they send again and again,
// while the others get on: their packets, or the answers to them, are dropped.
func (v *wayView) stalledStreams() (hypothesis, bool) {
	n, again, part := 0, uint64(0), float64(v.goodput)/float64(max(len(v.lanes), 1))
	for _, l := range v.lanes {
		if float64(l.Goodput) <= asGoodAsNothing*part && (l.Retransmits > 0 || l.TCP.Timeouts > 0) {
			n++
			again += max(l.Retransmits, l.TCP.Timeouts)
		}
	}
	if n == 0 || n == len(v.lanes) || !v.room() || v.goodput <= 0 {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.Congestion, sure: 0.55, mended: "With all streams",
		summary: fmt.Sprintf("%d of %d streams from %s carry nothing, though they send again and again: something drops all that they send, or all that comes back.", n, len(v.lanes), v.from),
		evidence: append(append(append([]record.Evidence{
			{What: "segments that streams at a standstill sent again", Value: fmt.Sprint(again), Source: fromTCP},
		}, v.dropEvidence()...), v.tcpEvidence()...), v.loads()...),
		remedy: "send echoes between the addresses of the streams that stand still (`ping -I ADDRESS`), and look where they end: a filter, a port, a route",
	}
	for _, host := range []string{v.to, v.from} {
		use, ok := v.processorOf(host)
		dropped := use.TCPExt["IPReversePathFilter"]
		if !ok || dropped == 0 {
			continue
		}
		h.cause, h.seen, h.sure = record.AsymmetricRoute, true, 0.9
		h.summary = fmt.Sprintf("%d of %d streams from %s carry nothing: %s drops what arrives by a link that it would not answer by (rp_filter).", n, len(v.lanes), v.from, host)
		h.remedy = fmt.Sprintf("give each address of %s a route by its own link (`ip rule add from ADDRESS table N`), or set rp_filter to 2 there", host)
		h.evidence = append([]record.Evidence{{What: "packets that " + host + " dropped for their way", Value: fmt.Sprintf("+%d (IPReversePathFilter)", dropped), Source: fromExt}}, h.evidence...)
		break
	}
	return h, true
}
