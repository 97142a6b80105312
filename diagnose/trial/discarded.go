package trial

import (
	"fmt"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/record"
)

// What a receiver must discard of what arrived to be what holds TCP back: congestion
// control takes each for a loss on the way.
const (
	discardedLeast = 10
	discardedShare = 0.001
	discardedMany  = 0.01
	// discardedOfLost is the part of what was sent again that it must explain.
	discardedOfLost = 0.3

	fromDamage = "/proc/net/snmp and netstat"
)

// discarded is how many segments the receiver counted by these names, and their part of
// those sent; false where they are too few to explain what was sent again.
func (v *wayView) discarded(names ...string) (n uint64, part float64, use record.CPUUse, enough bool) {
	use, read := v.processorOf(v.to)
	if !read || v.trial.UDP != nil {
		return 0, 0, use, false
	}
	for _, name := range names {
		n += use.TCPExt[name]
	}
	var sent, again float64
	for _, l := range v.lanes {
		sent += float64(l.TCP.SegmentsOut)
		again += float64(l.Retransmits)
	}
	part = float64(n) / max(sent, 1)
	return n, part, use, n >= discardedLeast && part >= discardedShare && float64(n) >= discardedOfLost*again
}

// noMemory: segments arrived, and the receiver had no memory to keep them: its socket's
// buffer was overrun, or all sockets of the host together may hold no more (tcp_mem).
// TCPRcvQDrop and TCPOFODrop count them (tcp_data_queue and tcp_data_queue_ofo, Linux 6.1).
func (v *wayView) noMemory() (hypothesis, bool) {
	n, part, use, enough := v.discarded("TCPRcvQDrop", "TCPOFODrop")
	if !enough || !v.room() {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.ReceiveWindow, sure: 0.7, mended: "With memory for it",
		summary: fmt.Sprintf("%s has no memory for what arrives: it dropped %d segments that had come (pruned %d times), and TCP on %s slows down as for losses.", v.to, n, use.TCPExt["PruneCalled"], v.from),
		evidence: append([]record.Evidence{{What: "segments that " + v.to + " dropped for lack of memory", Value: fmt.Sprintf("+%d (TCPRcvQDrop, TCPOFODrop)", n), Source: fromExt}},
			append(v.tcpEvidence(), v.loads()...)...),
		remedy: record.ByHand(fmt.Sprintf("on %s compare `cat /proc/net/sockstat` (TCP: mem) with `sysctl net.ipv4.tcp_mem`, both in pages: at its maximum take tcp_mem out of the configuration; else raise the maximum of net.ipv4.tcp_rmem", v.to)),
	}
	if pages := v.fabric.Hosts[v.to].SysctlInts("net.ipv4.tcp_mem"); len(pages) == 3 {
		h.evidence = append(h.evidence, record.Evidence{What: "net.ipv4.tcp_mem of " + v.to, Value: fmt.Sprintf("%d %d %d pages", pages[0], pages[1], pages[2]), Source: "sysctl"})
	}
	if use.TCPExt["TCPMemoryPressures"] > 0 || part >= discardedMany {
		h.seen, h.sure = true, 0.85
	}
	return h, true
}

// damaged: segments arrived with a wrong checksum. A card drops what the wire damaged
// before TCP sees it: these were damaged beside the wire. TcpInCsumErrors counts them at
// the receiver (tcp_v4_rcv, Linux 6.1), IpExt's InCsumErrors where the IP header is wrong.
func (v *wayView) damaged() (hypothesis, bool) {
	n, part, _, enough := v.discarded("TcpInCsumErrors", "InCsumErrors")
	return hypothesis{
		cause: record.Congestion, seen: true, sure: 0.9, mended: "Without the damage",
		summary: fmt.Sprintf("%d segments (%s) reached %s damaged, with a wrong checksum: it discards them, and TCP on %s slows down as for losses.", n, diagnose.FewPercent(part), v.to, v.from),
		evidence: append([]record.Evidence{{What: "segments with a wrong checksum at " + v.to, Value: fmt.Sprintf("+%d (TcpInCsumErrors, IpExtInCsumErrors)", n), Source: fromDamage}},
			append(v.tcpEvidence(), v.loads()...)...),
		remedy: record.ByHand(diagnose.Undamaged(v.from, v.to)),
	}, enough
}

// damagedDatagrams is how many datagrams had a wrong checksum; false where they are not
// half of those lost.
func (v *wayView) damagedDatagrams(lost uint64) (record.Evidence, bool) {
	use, _ := v.processorOf(v.to)
	n := use.TCPExt["UdpInCsumErrors"] + use.TCPExt["InCsumErrors"]
	return record.Evidence{What: "datagrams with a wrong checksum at " + v.to, Value: fmt.Sprintf("+%d (%s of those lost)", n, diagnose.Percent(float64(n)/float64(max(lost, 1)))), Source: fromDamage},
		n >= discardedLeast && n >= (lost+1)/2
}
