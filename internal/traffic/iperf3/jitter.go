package iperf3

import "time"

// Reception counts the datagrams of one stream as iperf3 does: the highest
// counter is the number sent, gaps are losses, and a datagram that comes late
// takes one loss back. The zero value is a stream of which nothing came.
type Reception struct {
	Highest   uint64 // datagrams the sender has sent, as far as known
	Lost      uint64
	OutOfLine uint64        // came after one with a higher counter
	Jitter    time.Duration // RFC 3550 section 6.4.1
	transit   time.Duration
	any       bool
}

// Add counts a datagram that arrived at a moment of the receiver's clock, whose
// beginning does not matter.
func (r *Reception) Add(d Datagram, arrived time.Duration) {
	switch {
	case d.Counter > r.Highest:
		r.Lost += d.Counter - r.Highest - 1
		r.Highest = d.Counter
	default:
		r.OutOfLine++
		if r.Lost > 0 {
			r.Lost--
		}
	}
	transit := arrived - d.Sent
	if r.any {
		r.Jitter += ((transit - r.transit).Abs() - r.Jitter) / 16
	}
	r.transit, r.any = transit, true
}
