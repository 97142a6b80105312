package host

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

const (
	fromSoftnet = "/proc/net/softnet_stat"
	// oneCoreShare of all packets on one core is all of them, and below
	// softnetLeast packets nobody can say.
	oneCoreShare = 0.9
	softnetLeast = 10_000_000
)

// oneCore finds hosts on which one core takes all packets in although a card
// has several queues.
func oneCore(h netstate.Host) []Finding {
	var total, most uint64
	busiest := 0
	for _, s := range h.Softnet {
		total += s.Processed
		if s.Processed > most {
			most, busiest = s.Processed, s.Core
		}
	}
	link, queues := manyQueues(h)
	if len(h.Softnet) < 2 || total < softnetLeast || queues < 2 || float64(most) < oneCoreShare*float64(total) {
		return nil
	}
	f := Finding{
		Kind:     SoftirqOneCore,
		What:     fmt.Sprintf("core %d takes in %.0f %% of all packets although %s has %d queues", busiest, 100*float64(most)/float64(total), link.Name, queues),
		Severity: Info,
		Evidence: []record.Evidence{
			diagnose.Fact(fmt.Sprintf("packets on core %d", busiest), strconv.FormatUint(most, 10), fromSoftnet+" column 1"),
			diagnose.Fact("packets on all cores", strconv.FormatUint(total, 10), fromSoftnet+" column 1"),
			diagnose.Fact("queues of "+link.Name, fmt.Sprint(queues), "ETHTOOL_GCHANNELS"),
		},
		Remedy: fmt.Sprintf("start irqbalance, or give each queue of %s a core (/proc/irq/N/smp_affinity_list); traffic of one flow stays on one core whatever is done", link.Name),
	}
	if link.Speed >= fast {
		f.Severity = Warning
	}
	if cores := interruptCores(link); len(cores) == 1 {
		f.Evidence = append(f.Evidence, diagnose.Fact("cores of the interrupts of "+link.Name, fmt.Sprint(cores[0]), "/proc/irq/N/effective_affinity_list"))
	}
	return []Finding{f}
}

// manyQueues is the physical link that is up with the most queues.
func manyQueues(h netstate.Host) (link netstate.Link, most int) {
	for _, l := range h.Links {
		if !Physical(l) || !l.Up || !l.Carrier || l.Device == nil || l.Device.Channels == nil {
			continue
		}
		c := l.Device.Channels
		if n := c.Combined + c.Rx; n > most {
			link, most = l, n
		}
	}
	return link, most
}

// interruptCores are the cores that a link's interrupts may go to.
func interruptCores(l netstate.Link) []int {
	var cores []int
	if l.Device == nil {
		return nil
	}
	for _, irq := range l.Device.IRQs {
		cores = append(cores, irq.Cores...)
	}
	slices.Sort(cores)
	return slices.Compact(cores)
}

// farInterrupts finds cards of which no interrupt goes to a core beside the
// card's memory.
func farInterrupts(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if !Physical(l) || !l.Up || l.Device == nil || l.Device.Node == nil || *l.Device.Node < 0 || l.Speed < fast {
			continue
		}
		node := *l.Device.Node
		var near []int
		for core, n := range h.CoreNodes {
			if n == node {
				near = append(near, core)
			}
		}
		cores := interruptCores(l)
		if len(cores) == 0 || len(near) == 0 || slices.ContainsFunc(cores, func(c int) bool { return slices.Contains(near, c) }) {
			continue
		}
		found = append(found, Finding{
			Kind:     IRQFarNode,
			What:     fmt.Sprintf("every interrupt of %s goes to cores of another memory node than its card's", l.Name),
			Severity: Warning,
			Evidence: []record.Evidence{
				diagnose.Fact("memory node of "+l.Name, fmt.Sprint(node), "/sys/class/net/"+l.Name+"/device/numa_node"),
				diagnose.Fact("cores of its interrupts", fmt.Sprint(cores), "/proc/irq/N/effective_affinity_list"),
			},
			Remedy: fmt.Sprintf("give them cores of node %d, such as %d: /proc/irq/N/smp_affinity_list, or irqbalance with its numa_node policy", node, near[0]),
		})
	}
	return found
}

// backlogs finds packets that a full backlog dropped, and polls that ended
// too early.
func backlogs(h netstate.Host) []Finding {
	var processed, dropped, squeezed uint64
	for _, s := range h.Softnet {
		processed, dropped, squeezed = processed+s.Processed, dropped+s.Dropped, squeezed+s.Squeezed
	}
	var found []Finding
	setting := func(key string) []record.Evidence {
		if s, ok := h.Sysctls[key]; ok {
			return []record.Evidence{diagnose.Fact(key, s.Value, sysctlFile(key))}
		}
		return nil
	}
	if processed > 0 && dropped >= droppedLeast && float64(dropped)/float64(processed) >= droppedShare {
		key := "net.core.netdev_max_backlog"
		found = append(found, Finding{
			Kind:     BacklogDrops,
			What:     fmt.Sprintf("%d packets found the queue between driver and protocols full, 1 in %.3g", dropped, float64(processed)/float64(dropped)),
			Severity: Warning,
			Evidence: append([]record.Evidence{diagnose.Fact("dropped", strconv.FormatUint(dropped, 10), fromSoftnet+" column 2")}, setting(key)...),
			Remedy:   fmt.Sprintf("sysctl -w %s=%d; only virtual links, tunnels and packet steering (RPS) use it", key, max(4*max(oneValue(h, key), 1000), 4000)),
		})
	}
	if processed > softnetLeast && float64(squeezed)/float64(processed) >= squeezedShare {
		key := "net.core.netdev_budget"
		found = append(found, Finding{
			Kind:     TimeSqueeze,
			What:     fmt.Sprintf("%d polls of the network ended with packets left over", squeezed),
			Severity: Info,
			Evidence: append([]record.Evidence{diagnose.Fact("time_squeeze", strconv.FormatUint(squeezed, 10), fromSoftnet+" column 3")}, setting(key)...),
			Remedy:   fmt.Sprintf("sysctl -w %s=%d and net.core.netdev_budget_usecs=8000, where drops grow with it", key, 2*max(oneValue(h, key), 300)),
		})
	}
	return found
}

// squeezedShare of packets: a poll takes up to 300 of them, so every third
// poll.
const squeezedShare = 1e-3
