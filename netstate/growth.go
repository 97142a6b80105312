package netstate

import "github.com/linerate/linerate/unit"

// LinkCounters is what the kernel counts of a link and of its outgoing queues,
// at one moment, or between two (Sub).
type LinkCounters struct {
	Counters Counters `json:"counters"` // 64 bits each (IFLA_STATS64)
	// Queue counters are the root qdisc's, which counts for its children; the
	// kernel keeps them in 32 bits (struct gnet_stats_queue). Overlimits are the
	// children's where the root shapes nothing itself. The backlog is without
	// what netem at the root only delays: packets on a wire that is long are in
	// no queue. Below a shaper netem is the queue, and what it delays counts.
	QdiscDrops      uint64     `json:"qdisc_drops,omitempty"`
	QdiscOverlimits uint64     `json:"qdisc_overlimits,omitempty"`
	QdiscBacklog    unit.Bytes `json:"qdisc_backlog,omitempty"`
	QdiscRequeues   uint64     `json:"requeues,omitempty"`
	// QdiscThrottled sums fq's count of flows held back, of 64 bits (struct
	// tc_fq_qd_stats); zero of other queues.
	QdiscThrottled uint64 `json:"fq_throttled,omitempty"`
}

// Sub is what was counted since an earlier moment. The backlog is no counter and
// stays.
func (c LinkCounters) Sub(earlier LinkCounters) LinkCounters {
	return LinkCounters{
		Counters:        c.Counters.Sub(earlier.Counters),
		QdiscDrops:      Grown32(earlier.QdiscDrops, c.QdiscDrops),
		QdiscOverlimits: Grown32(earlier.QdiscOverlimits, c.QdiscOverlimits),
		QdiscBacklog:    c.QdiscBacklog,
		QdiscRequeues:   Grown32(earlier.QdiscRequeues, c.QdiscRequeues),
		QdiscThrottled:  Grown(earlier.QdiscThrottled, c.QdiscThrottled),
	}
}

// Sub is what was counted since an earlier moment.
func (c Counters) Sub(earlier Counters) Counters {
	return Counters{
		RxBytes: Grown(earlier.RxBytes, c.RxBytes), TxBytes: Grown(earlier.TxBytes, c.TxBytes),
		RxPackets: Grown(earlier.RxPackets, c.RxPackets), TxPackets: Grown(earlier.TxPackets, c.TxPackets),
		RxDropped: Grown(earlier.RxDropped, c.RxDropped), TxDropped: Grown(earlier.TxDropped, c.TxDropped),
		RxErrors: Grown(earlier.RxErrors, c.RxErrors), TxErrors: Grown(earlier.TxErrors, c.TxErrors),
		RxCRC: Grown(earlier.RxCRC, c.RxCRC), RxFrame: Grown(earlier.RxFrame, c.RxFrame),
		RxMissed: Grown(earlier.RxMissed, c.RxMissed), Collisions: Grown(earlier.Collisions, c.Collisions),
	}
}

// Sub32 is Sub for counters as SNMP keeps them (RFC 2863): errors and drops in 32 bits,
// and where all is true bytes and packets too (a switch without ifXTable).
func (c Counters) Sub32(earlier Counters, all bool) Counters {
	grown := c.Sub(earlier)
	grown.RxDropped, grown.TxDropped = Grown32(earlier.RxDropped, c.RxDropped), Grown32(earlier.TxDropped, c.TxDropped)
	grown.RxErrors, grown.TxErrors = Grown32(earlier.RxErrors, c.RxErrors), Grown32(earlier.TxErrors, c.TxErrors)
	if all {
		grown.RxBytes, grown.TxBytes = Grown32(earlier.RxBytes, c.RxBytes), Grown32(earlier.TxBytes, c.TxBytes)
		grown.RxPackets, grown.TxPackets = Grown32(earlier.RxPackets, c.RxPackets), Grown32(earlier.TxPackets, c.TxPackets)
	}
	return grown
}

// Add is the sum of what was counted in two spans.
func (c Counters) Add(o Counters) Counters {
	return Counters{
		RxBytes: c.RxBytes + o.RxBytes, TxBytes: c.TxBytes + o.TxBytes, RxPackets: c.RxPackets + o.RxPackets, TxPackets: c.TxPackets + o.TxPackets,
		RxDropped: c.RxDropped + o.RxDropped, TxDropped: c.TxDropped + o.TxDropped, RxErrors: c.RxErrors + o.RxErrors, TxErrors: c.TxErrors + o.TxErrors,
		RxCRC: c.RxCRC + o.RxCRC, RxFrame: c.RxFrame + o.RxFrame, RxMissed: c.RxMissed + o.RxMissed, Collisions: c.Collisions + o.Collisions,
	}
}

// Lost are the packets that the device, its driver and the stack above it
// dropped or could not use.
func (c Counters) Lost() uint64 { return c.RxDropped + c.TxDropped + c.RxErrors + c.TxErrors }

// Grown is how much a counter of 64 bits grew; zero when it was set back in
// between.
func Grown(from, to uint64) uint64 { return to - min(from, to) }

// Grown32 is how much a counter grew that the kernel keeps in 32 bits, or a sum
// of such: it may have begun again at zero once. A step back that would be more
// than a quarter of its range is taken for a counter that was set back, and is
// zero.
func Grown32(from, to uint64) uint64 {
	if to >= from {
		return to - from
	}
	if n := uint32(to) - uint32(from); n < 1<<30 {
		return uint64(n)
	}
	return 0
}
