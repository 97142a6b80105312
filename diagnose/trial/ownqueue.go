package trial

import (
	"fmt"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/record"
)

// What a queue of the sender's own must drop to be what holds TCP back: congestion
// control takes each for a sign to slow down.
const (
	ownDropsLeast = 10
	ownDropsShare = 0.002
	ownDropsMany  = 0.01 // CUBIC keeps a window of some nine segments (RFC 9438, section 5.1)
)

// ownQueue: the sender's own queueing discipline drops what TCP hands it, while the
// link has room. Such drops are not sent again by the wire's count: TCP hears of
// them at once (NET_XMIT_DROP, __tcp_transmit_skb).
func (v *wayView) ownQueue() (hypothesis, bool) {
	if !v.room() || v.trial.UDP != nil || v.goodput <= 0 {
		return hypothesis{}, false
	}
	for _, l := range v.trial.Links {
		if l.Host != v.from || l.QdiscDrops < ownDropsLeast || float64(l.QdiscDrops) < ownDropsShare*float64(l.TxPackets) {
			continue
		}
		h := hypothesis{
			cause: record.Congestion, sure: 0.7, mended: "Without that",
			summary: fmt.Sprintf("%s drops in its own queue: the queueing discipline of %s refused %d packets of %d while the link had room, and TCP slows down for each.", v.from, l.Link, l.QdiscDrops, l.TxPackets+l.QdiscDrops),
			evidence: append([]record.Evidence{{What: "packets dropped by the queue of " + l.Link + " of " + v.from, Value: fmt.Sprint(l.QdiscDrops), Source: diagnose.FromQdisc}},
				append(v.tcpEvidence(), v.loads()...)...),
			remedy: record.ByHand(fmt.Sprintf("look at `tc -s -d qdisc show dev %s` and `tc -s class show dev %s` on %s: lengthen the queue that drops (its limit), raise the rate it holds to, or take it away (`tc qdisc replace dev %s root fq`)", l.Link, l.Link, v.from, l.Link)),
		}
		best, full := v.fullAtTimes()
		switch {
		case full: // a queue before a full link drops as it should
			h.sure = 0.45
			h.against = append(h.against, record.Evidence{What: "payload in the best moment", Value: best.String() + ": the link was full then", Source: "bytes received, over the common window"})
		case float64(l.QdiscDrops) >= ownDropsMany*float64(l.TxPackets):
			h.seen, h.sure = true, 0.85
		case v.waits.queued() > deepQueue:
			h.sure = 0.45 // a deep queue elsewhere is a limit of its own
		}
		return h, true
	}
	return hypothesis{}, false
}
