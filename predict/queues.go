package predict

import (
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/vhost"
	"github.com/linerate/linerate/record"
)

// guestQueues are what the queues of guests' virtio cards leave each stream, whose flows
// share one with others by chance; what all of a card's move, of all pairs and both ways;
// and cards of whose threads nobody knows it.
func (w *way) guestQueues() (each []streamLimit, all []sharedLimit, unknown []Limit) {
	for _, end := range w.ends() {
		var ports []netstate.Link
		for _, a := range end.side.at {
			ports = append(ports, a.ports...)
		}
		cards := vhost.Of(ports)
		for _, c := range cards {
			if !sensible(float64(c.Rate)) {
				if end.host.Cloud == nil { // whose host below nobody can ask
					unknown = append(unknown, Limit{Cause: record.Unknown, Where: end.host.Name, Why: c.Unknown()})
				}
				continue
			}
			all = append(all, sharedLimit{cause: end.cause, where: end.host.Name + ": " + c.Link, payload: true, roles: true,
				total: estimate{rate: c.Total()}, what: c.Why(1)})
			if len(cards) == 1 { // of several the shared limits tell
				var e estimate
				e.rate, e.low, e.high, e.open = c.Each(w.flows())
				each = append(each, streamLimit{cause: end.cause, where: end.host.Name, each: e.times(float64(w.flows()) / float64(w.traffic.Streams)), why: c.Why(w.flows())})
			}
		}
	}
	return each, all, unknown
}
