package trial

import (
	"fmt"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// wholeOffer is the share of what was offered from which all of it counts as
// carried.
const wholeOffer = 0.97

// engine is the tool of trials of linerate's own, which count what a socket drops.
const engine = "linerate"

const fromDatagrams = "sequence numbers of the datagrams that arrived"

// lostDatagrams: what was sent did not arrive. The receiver's own sockets, the
// sender's own queues and the path are told apart where they count.
func (v *wayView) lostDatagrams() (hypothesis, bool) {
	var u record.UDP
	for _, l := range v.lanes {
		if l.UDP != nil {
			u.Sent += l.UDP.Sent
			u.Lost += l.UDP.Lost
			u.SocketDrops += l.UDP.SocketDrops
		}
	}
	if u.Sent == 0 || !v.room() || float64(u.Lost) < lossShare*float64(u.Sent) {
		return hypothesis{}, false
	}
	queued, seen := uint64(0), false
	for _, l := range v.trial.Links {
		if l.Host == v.from {
			queued, seen = queued+l.QdiscDrops, true
		}
	}
	share := float64(u.Lost) / float64(u.Sent)
	f := hypothesis{
		cause: record.Congestion, sure: 0.6,
		summary: fmt.Sprintf("%s of the datagrams from %s were lost while no link was full: something on the way drops.", diagnose.Percent(share), v.from),
		remedy:  record.ByHand("find where it drops: link errors, a shaper's queue, a switch buffer"),
		evidence: append([]record.Evidence{
			{What: "datagrams lost", Value: fmt.Sprintf("%d of %d (%s)", u.Lost, u.Sent, diagnose.Percent(share)), Source: fromDatagrams},
		}, v.loads()...),
	}
	if v.trial.Tool == engine { // others do not say
		f.evidence = append(f.evidence, record.Evidence{What: "packets dropped by the receiver's own sockets", Value: fmt.Sprint(u.SocketDrops), Source: "SO_MEMINFO"})
	} else {
		f.summary = fmt.Sprintf("%s of the datagrams from %s were lost while no link was full: on the way, or in the receiver's own socket, whose drops nobody counted.", diagnose.Percent(share), v.from)
		f.remedy = record.ByHand(fmt.Sprintf("on %s run `nstat -az UdpRcvbufErrors` before and after: if it grows by as many, the receiver does not keep up; else %s", v.to, f.remedy))
		f.sure = 0.45
	}
	if seen {
		f.evidence = append(f.evidence, record.Evidence{What: "packets dropped by the sender's own queues", Value: fmt.Sprint(queued), Source: "qdisc statistics"})
	}
	wrong, damaged := v.damagedDatagrams(u.Lost)
	switch half := (u.Lost + 1) / 2; {
	case damaged: // a socket counts them as its own drops too
		f.sure, f.evidence = 0.85, append(f.evidence, wrong)
		f.summary = fmt.Sprintf("%s of the datagrams from %s were lost, most of them damaged: they reached %s with a wrong checksum.", diagnose.Percent(share), v.from, v.to)
		f.remedy = record.ByHand(diagnose.Undamaged(v.from, v.to))
	case u.SocketDrops >= half:
		f.cause, f.sure = record.ReceiverCPU, 0.8
		f.summary = fmt.Sprintf("%s of the datagrams from %s were lost, most of them in %s's own sockets: it does not take them in as fast as they arrive.", diagnose.Percent(share), v.from, v.to)
		f.remedy = record.ByHand("offer less, use more streams so that more cores receive, or larger datagrams")
	case queued >= half:
		f.sure = 0.8
		f.summary = fmt.Sprintf("%s of the datagrams from %s were lost, most of them in its own queues: more was offered than its links take.", diagnose.Percent(share), v.from)
		f.remedy = record.ByHand(fmt.Sprintf("offer less: %v arrived", unit.BitRate(v.goodput)))
	}
	return f, true
}
