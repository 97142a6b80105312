package diagnose

import (
	"fmt"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// wholeOffer is the share of what was offered from which all of it counts as
// carried.
const wholeOffer = 0.97

const fromDatagrams = "sequence numbers of the datagrams that arrived"

// offered: the run itself let the streams send no more, and that came through.
func (v *wayView) offered() (record.Finding, bool) {
	limit := v.trial.RateLimit
	if limit <= 0 || v.goodput < limit*wholeOffer || v.ceiling() > 0 && limit >= v.ceiling()*atCeiling {
		return record.Finding{}, false
	}
	return record.Finding{
		Cause: record.Pacing, Confidence: 0.95,
		Summary:  fmt.Sprintf("The streams from %s were let send %v and %v arrived: the run's own limit, not the path's.", v.from, limit, v.goodput),
		Evidence: append([]record.Evidence{{What: "rate offered by " + v.from, Value: limit.String(), Source: "--rate-limit, or the prediction"}}, v.loads()...),
		Remedy:   "raise `--rate-limit` to see what the path carries",
	}, true
}

// How near a result comes to what its sockets are paced at, and how far past.
const (
	wholePace = 0.95
	pastPace  = 1.05
)

// paced: the sockets themselves were asked to keep to a rate, and did. A
// queueing discipline that paces (fq) counts headers, TCP itself does not
// (tcp_update_skb_after_send): what arrives lies between.
func (v *wayView) paced() (record.Finding, bool) {
	var limit unit.BitRate
	for _, l := range v.lanes {
		own, payload := unit.BitRate(0), 1.0
		if l.Asked != nil {
			own = l.Asked.Pacing
		}
		if l.Granted != nil && l.Granted.Pacing > 0 && own > 0 {
			own = l.Granted.Pacing
		}
		if own <= 0 {
			return record.Finding{}, false
		}
		if mss := float64(l.TCP.SndMSS); mss > 0 {
			payload = mss / (mss + float64(frameHeaders(v.trial.Protocol, l.Dst.Is6())))
		}
		if l.Goodput < own*unit.BitRate(wholePace*payload) || l.Goodput > own*pastPace {
			return record.Finding{}, false
		}
		limit += own
	}
	if limit <= 0 || v.ceiling() > 0 && limit >= v.ceiling()*atCeiling {
		return record.Finding{}, false
	}
	each := v.lanes[0].Asked.Pacing
	return record.Finding{
		Cause: record.Pacing, Confidence: 0.95,
		Summary: fmt.Sprintf("The sockets of %s were paced at %v each, %v in all, and %v arrived: the run's own limit, not the path's.", v.from, each, limit, v.goodput),
		Evidence: append([]record.Evidence{{What: "pace of the streams from " + v.from + " in all", Value: limit.String(), Source: "SO_MAX_PACING_RATE"}},
			append(v.tcpEvidence(), v.loads()...)...),
		Remedy: "raise `--pacing`, or leave it out, to see what the path carries",
	}, true
}

// lostDatagrams: what was sent did not arrive. The receiver's own sockets, the
// sender's own queues and the path are told apart where they count.
func (v *wayView) lostDatagrams() (record.Finding, bool) {
	var u record.UDP
	for _, l := range v.lanes {
		if l.UDP != nil {
			u.Sent += l.UDP.Sent
			u.Lost += l.UDP.Lost
			u.SocketDrops += l.UDP.SocketDrops
		}
	}
	if u.Sent == 0 || float64(u.Lost) < lossShare*float64(u.Sent) {
		return record.Finding{}, false
	}
	queued := uint64(0)
	for _, l := range v.trial.Links {
		if l.Host == v.from {
			queued += l.QdiscDrops
		}
	}
	share := float64(u.Lost) / float64(u.Sent)
	f := record.Finding{
		Cause: record.Congestion, Confidence: 0.6,
		Summary: fmt.Sprintf("%s of the datagrams from %s were lost while no link was full: something on the way drops.", percent(share), v.from),
		Remedy:  "find where it drops: link errors, a shaper's queue, a switch buffer",
		Evidence: append([]record.Evidence{
			{What: "datagrams lost", Value: fmt.Sprintf("%d of %d (%s)", u.Lost, u.Sent, percent(share)), Source: fromDatagrams},
			{What: "packets dropped by the receiver's own sockets", Value: fmt.Sprint(u.SocketDrops), Source: "SO_MEMINFO"},
			{What: "packets dropped by the sender's own queues", Value: fmt.Sprint(queued), Source: "qdisc statistics"},
		}, v.loads()...),
	}
	switch half := (u.Lost + 1) / 2; {
	case u.SocketDrops >= half:
		f.Cause, f.Confidence = record.ReceiverCPU, 0.8
		f.Summary = fmt.Sprintf("%s of the datagrams from %s were lost, most of them in %s's own sockets: it does not take them in as fast as they arrive.", percent(share), v.from, v.to)
		f.Remedy = "offer less, use more streams so that more cores receive, or larger datagrams"
	case queued >= half:
		f.Confidence = 0.8
		f.Summary = fmt.Sprintf("%s of the datagrams from %s were lost, most of them in its own queues: more was offered than its links take.", percent(share), v.from)
		f.Remedy = fmt.Sprintf("offer less: %v arrived", unit.BitRate(v.goodput))
	}
	return f, true
}
