package trial

import (
	"fmt"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
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
		best, full := v.queueFilled()
		switch {
		case full: // what is filled to its rate drops as it should: another thing took the rest of the time
			h.sure = 0.35
			h.against = append(h.against, record.Evidence{What: "payload in the best moment", Value: best.String() + ": all that its links and queues let through", Source: "bytes received, over the common window"})
		case float64(l.QdiscDrops) >= ownDropsMany*float64(l.TxPackets):
			h.seen, h.sure = true, 0.85
		case v.waits.queued() > deepQueue:
			h.sure = 0.45 // a deep queue elsewhere is a limit of its own
		}
		return h, true
	}
	return hypothesis{}, false
}

// queueFilled is the fastest part of a trial of one way, and whether it filled the links or
// the rates that the sender's own queues limit them to.
func (v *wayView) queueFilled() (best unit.BitRate, full bool) {
	best, full = v.fullAtTimes()
	var rate unit.BitRate
	for _, e := range v.egress {
		most := e.ceiling
		link, _ := v.fabric.Hosts[e.host].Link(e.link)
		for _, q := range link.Qdiscs {
			if q.Rate > 0 {
				most = min(most, q.Rate*unit.BitRate(v.efficiency()))
			}
		}
		rate += most
	}
	return best, full || best > 0 && rate > 0 && best >= rate*fullLink
}
