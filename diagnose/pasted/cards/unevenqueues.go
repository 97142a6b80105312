package cards

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// When one queue of a card is the busy one: how many queues there are at least, and how
// many times the interrupts of the others it had.
const (
	fewestQueues = 3
	mostUneven   = 3
)

// queue is a receive queue with its interrupts since the start.
type queue struct {
	card, name string
	count      float64
	at         piece.Source
}

// queuesOf are the receive queues of a host's cards.
func queuesOf(h *piece.Host) (out []queue) {
	for _, irq := range h.Subjects("irq") {
		name, _ := h.Get("irq "+irq, "name")
		m := receiveQueue.FindStringSubmatch(name.Text)
		if n, _, ok := scene.Number(h, "irq "+irq, "count"); ok && m != nil {
			out = append(out, queue{m[1] + m[4] + m[5], m[2] + m[3] + m[6], n, name.Source})
		}
	}
	return out
}

// unevenQueues: one of a card's receive queues has most of its interrupts.
func unevenQueues(v *scene.View) {
	for _, h := range v.Hosts {
		cards := make(map[string][]queue)
		var busiest queue
		for _, q := range queuesOf(h) {
			cards[q.card] = append(cards[q.card], q)
			if q.count > busiest.count {
				busiest = q
			}
		}
		others := slices.DeleteFunc(cards[busiest.card], func(q queue) bool { return q.name == busiest.name })
		rest := 0.0
		for _, q := range others {
			rest += q.count / float64(len(others))
		}
		if len(others)+1 < fewestQueues || busiest.count < busyQueue || busiest.count < mostUneven*rest {
			continue
		}
		v.Add(record.ReceiverCPU, 0.5, h, "queue "+busiest.name+" of "+busiest.card+", "+scene.NameOf(h),
			fmt.Sprintf("Queue %s of %s had %.1f times the interrupts of each other: most packets come by it, and its core receives them. A card spreads flows by what it can read of them: one large flow, a tunnel (one pair of ports) or PPPoE (whose inside it does not read) stay in one queue.", busiest.name, busiest.card, busiest.count/max(rest, 1)),
			"See whether its core is full (`mpstat -P ALL 1`, %soft). Let the card hash ports too (`ethtool -N LINK rx-flow-hash udp4 sdfn`), RPS for what it cannot read (`echo ff > /sys/class/net/LINK/queues/rx-N/rps_cpus`), more flows or tunnels, and for that queue a core on which nothing else runs.",
			scene.Saw("interrupts of "+busiest.card+", queue "+busiest.name, fmt.Sprintf("%.0f, the others %.0f in the mean", busiest.count, rest), busiest.at)).Ask = []scene.Missing{
			{Command: "mpstat -P ALL 1 5; grep LINK /proc/interrupts, twice", Host: scene.NameOf(h), Why: "while it runs: whether one core is full in %soft, and which queues count now"},
			{Command: "ethtool -n LINK rx-flow-hash tcp4; ethtool -x LINK", Host: scene.NameOf(h), Why: "what the card hashes, and to which queues"},
		}
	}
}
