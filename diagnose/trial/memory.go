package trial

import (
	"fmt"

	"github.com/linerate/linerate/record"
)

// What a receiver must drop for lack of memory to be what holds TCP back: congestion
// control takes each for a loss on the way.
const (
	memoryDropsLeast = 10
	memoryDropsShare = 0.001
	memoryDropsMany  = 0.01
	// memoryDropsOfLost is the part of what was sent again that they must explain.
	memoryDropsOfLost = 0.3
)

// noMemory: segments arrived, and the receiver had no memory to keep them: its socket's
// buffer was overrun, or all sockets of the host together may hold no more (tcp_mem).
// TCPRcvQDrop and TCPOFODrop count them (tcp_data_queue and tcp_data_queue_ofo, Linux 6.1).
func (v *wayView) noMemory() (hypothesis, bool) {
	use, read := v.processorOf(v.to)
	if !read || v.trial.UDP != nil || !v.room() {
		return hypothesis{}, false
	}
	dropped := use.TCPExt["TCPRcvQDrop"] + use.TCPExt["TCPOFODrop"]
	var sent, again float64
	for _, l := range v.lanes {
		sent += float64(l.TCP.SegmentsOut)
		again += float64(l.Retransmits)
	}
	if dropped < memoryDropsLeast || float64(dropped) < memoryDropsShare*sent || float64(dropped) < memoryDropsOfLost*again {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.ReceiveWindow, sure: 0.7, mended: "With memory for it",
		summary: fmt.Sprintf("%s has no memory for what arrives: it dropped %d segments that had come (pruned %d times), and TCP on %s slows down as for losses.", v.to, dropped, use.TCPExt["PruneCalled"], v.from),
		evidence: append([]record.Evidence{{What: "segments that " + v.to + " dropped for lack of memory", Value: fmt.Sprintf("+%d (TCPRcvQDrop, TCPOFODrop)", dropped), Source: fromExt}},
			append(v.tcpEvidence(), v.loads()...)...),
		remedy: record.ByHand(fmt.Sprintf("on %s compare `cat /proc/net/sockstat` (TCP: mem) with `sysctl net.ipv4.tcp_mem`, both in pages: at its maximum take tcp_mem out of the configuration; else raise the maximum of net.ipv4.tcp_rmem", v.to)),
	}
	if pages := v.fabric.Hosts[v.to].SysctlInts("net.ipv4.tcp_mem"); len(pages) == 3 {
		h.evidence = append(h.evidence, record.Evidence{What: "net.ipv4.tcp_mem of " + v.to, Value: fmt.Sprintf("%d %d %d pages", pages[0], pages[1], pages[2]), Source: "sysctl"})
	}
	if use.TCPExt["TCPMemoryPressures"] > 0 || float64(dropped) >= memoryDropsMany*sent {
		h.seen, h.sure = true, 0.85
	}
	return h, true
}
