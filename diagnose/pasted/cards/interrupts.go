package cards

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// receiveQueue are the names of receive queues' interrupts, by drivers: the link or the
// device, and the queue.
var receiveQueue = regexp.MustCompile(`^(?:i40e-|ice-|iavf-)?([\w.@-]+?)-(?:TxRx|Tx-Rx|txrx|rxtx|[Rr]x|fp|q)-?(\d+)$|^mlx\d_comp(\d+)@(\S+)$|^(virtio\d+)-input\.(\d+)$`)

// Interrupts of a queue from which it has traffic, and the part of them on one core that
// makes it that core's.
const (
	busyQueue = 1e6
	oneCores  = 90.0
)

// oneCoreInterrupts: a card with several receive queues that all interrupt one core.
func oneCoreInterrupts(v *scene.View) {
	for _, h := range v.Hosts {
		type card struct {
			core   string
			queues map[string]bool
			spread bool
			at     piece.Source
		}
		found := make(map[string]*card)
		var order []string
		for _, irq := range h.Subjects("irq") {
			subject := "irq " + irq
			name, _ := h.Get(subject, "name")
			m := receiveQueue.FindStringSubmatch(name.Text)
			n, _, _ := scene.Number(h, subject, "count")
			cores, _, _ := scene.Number(h, subject, "cores")
			if m == nil || n < busyQueue || cores < 2 {
				continue
			}
			of, queue := m[1]+m[4]+m[5], m[2]+m[3]+m[6]
			core, _ := h.Get(subject, "core")
			share, _, _ := scene.Number(h, subject, "core_share")
			c := found[of]
			if c == nil {
				c = &card{core: core.Text, queues: make(map[string]bool), at: name.Source}
				found[of] = c
				order = append(order, of)
			}
			c.queues[queue] = true
			c.spread = c.spread || share < oneCores || core.Text != c.core
		}
		slices.Sort(order)
		for _, of := range order {
			c := found[of]
			if c.spread || len(c.queues) < 2 {
				continue
			}
			v.Add(record.ReceiverCPU, 0.76, h, "core "+c.core+" of "+scene.NameOf(h)+", interrupts of "+of,
				fmt.Sprintf("All %d receive queues of %s interrupt core %s of %s: that one core does all the receiving, whatever the others have to do.", len(c.queues), of, c.core, scene.NameOf(h)),
				"Spread them: let irqbalance run (and not be told to leave them), or give each queue a core of its own (`echo CORE > /proc/irq/NUMBER/smp_affinity_list`, the driver's set_irq_affinity), on the card's own NUMA node.",
				scene.Saw("interrupts of "+of, fmt.Sprintf("%d queues, all on core %s", len(c.queues), c.core), c.at))
		}
	}
}

// Packets that found a core's backlog full, from which they count.
const (
	fewestDropped = 100
	leastDropped  = 1e-5
)

// fullBacklog: packets that a core could not queue for itself or that RPS or a virtual
// link gave it.
func fullBacklog(v *scene.View) {
	for _, h := range v.Hosts {
		for _, core := range h.Subjects("softnet") {
			n, at, ok := scene.Number(h, "softnet "+core, "dropped")
			packets, _, _ := scene.Number(h, "softnet "+core, "packets")
			if !ok || n < fewestDropped || n < leastDropped*packets {
				continue
			}
			v.Add(record.ReceiverCPU, 0.66, h, "core "+core+" of "+scene.NameOf(h)+" (backlog)",
				fmt.Sprintf("Core %s of %s dropped %.0f packets because its backlog was full (softnet_stat): it does not come to them in time, and each is a loss for TCP.", core, scene.NameOf(h), n),
				"Spread the receiving over more cores (queues, RPS with more cores in rps_cpus), then `sysctl -w net.core.netdev_max_backlog=16384` for bursts.", scene.Saw("softnet_stat of core "+core, fmt.Sprintf("dropped %.0f", n), at))
			break
		}
	}
}
