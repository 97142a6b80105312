// Package vhost knows what the queues of a guest's virtio card carry. Each pair of them
// is one thread of the host below (vhost), which copies both ways, and a flow stays on
// one: the guest's core that sends it chooses the queue (virtnet_set_affinity of
// drivers/net/virtio_net.c), and what comes back follows (tun_automq_select_queue of
// drivers/net/tun.c). Which one that is, is chance.
package vhost

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Card is a guest's card.
type Card struct {
	Link string
	netstate.GuestQueues
}

// Of are the virtio cards among links, by name once.
func Of(links []netstate.Link) (all []Card) {
	seen := make(map[string]bool)
	for _, l := range links {
		if q, ok := l.QueuesOfGuest(); ok && !seen[l.Name] {
			seen[l.Name] = true
			all = append(all, Card{l.Name, q})
		}
	}
	return all
}

// Known reports a card of which it is known how many queues it has and what each moves.
func Known(links []netstate.Link) bool {
	for _, c := range Of(links) {
		if c.Rate > 0 {
			return true
		}
	}
	return false
}

// Busy is how many of n queues so many flows keep busy, on average.
func Busy(n, flows int) float64 {
	return float64(n) * (1 - math.Pow(1-1/float64(n), float64(flows)))
}

// Total is what all queues move together.
func (c Card) Total() unit.BitRate { return c.Rate * unit.BitRate(c.Count) }

// Each is what one of so many flows gets of the queues on average, at least, where all
// share one, and at most; and why, where that is open.
func (c Card) Each(flows int) (mean, least, most unit.BitRate, open string) {
	n := unit.BitRate(max(flows, 1))
	if c.Count > 1 && flows > 1 {
		open = "which queue of " + c.Link + " each flow takes is chance"
	}
	return c.Rate * unit.BitRate(Busy(c.Count, max(flows, 1))) / n, c.Rate / n, min(c.Rate, c.Total()/n), open
}

// Why is the arithmetic of Each.
func (c Card) Why(flows int) string {
	if c.Count == 1 || flows < 2 {
		return fmt.Sprintf("%s, of %s", c, c.Rate)
	}
	return fmt.Sprintf("%s, of %s; %d flows keep %.2f of them busy on average", c, c.Rate, flows, Busy(c.Count, flows))
}

// String is "eth0 has 2 queues (virtio), each one thread (vhost) of the host below".
func (c Card) String() string {
	if c.Count == 1 {
		return c.Link + " has 1 queue (virtio): one thread (vhost) of the host below handles all its packets, both ways"
	}
	return fmt.Sprintf("%s has %d queues (virtio), each one thread (vhost) of the host below", c.Link, c.Count)
}

// Unknown says what to do where nobody knows what a thread moves.
func (c Card) Unknown() string {
	return fmt.Sprintf("%s; what one thread moves is not known: measure one stream from the host below to the guest, and write hardware.links.%s.queue_rate", c, c.Link)
}
