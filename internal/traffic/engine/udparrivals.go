package engine

import (
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// arrivals is what a receiver knows of a stream by sequence numbers and times.
type arrivals struct {
	tag    uint64
	stream int
	count  agentapi.UDPCount
	bytes  uint64 // payload of what came, what came twice left out

	// missing marks the sequence numbers within lateWindow below the highest
	// that have not come; absent is how many there are.
	missing [lateWindow / 64]uint64
	absent  int

	jitter   float64 // nanoseconds
	sent, at uint64  // of the datagram before
	known    bool    // sent and at are set
}

// lateWindow is how many numbers back a late datagram is told from one that
// comes twice; older ones count as late.
const lateWindow = 1 << 16

// take counts a datagram that arrived at a moment, in nanoseconds; false for
// one that is not of the stream.
func (a *arrivals) take(b []byte, at uint64) bool {
	stream, sent, seq, ok := readData(b, a.tag)
	if !ok || stream != a.stream {
		return false
	}
	if sent != a.sent || !a.known {
		a.time(sent, at)
	}
	a.count.Datagrams++
	switch next := a.count.Highest; {
	case seq == next:
		if a.absent > 0 {
			a.came(seq)
		}
		a.count.Highest = seq + 1
	case seq > next:
		a.skip(next, seq)
	case seq+lateWindow < next:
		a.count.Reordered++
	case a.came(seq):
		a.count.Reordered++
	default:
		a.count.Twice++
		return true
	}
	a.bytes += uint64(len(b))
	return true
}

// came takes a number off the missing and reports whether it was there.
func (a *arrivals) came(seq uint64) bool {
	word, bit := &a.missing[seq%lateWindow/64], uint64(1)<<(seq%64)
	if *word&bit == 0 {
		return false
	}
	*word &^= bit
	a.absent--
	return true
}

// skip goes on to a number above the next, the ones between missing.
func (a *arrivals) skip(next, seq uint64) {
	if seq-next > lateWindow {
		next = seq - lateWindow
	}
	for s := next; s < seq; s++ {
		word, bit := &a.missing[s%lateWindow/64], uint64(1)<<(s%64)
		if *word&bit == 0 {
			*word |= bit
			a.absent++
		}
	}
	a.came(seq)
	a.count.Highest = seq + 1
}

// time is RFC 3550's interarrival jitter (section 6.4.1), datagrams that one
// call sent counted once: they have one time, and arrive together.
func (a *arrivals) time(sent, at uint64) {
	if a.known {
		// Differences modulo 2^48, as the times are.
		d := int64((at-a.at-(sent-a.sent))<<(64-timeBits)) >> (64 - timeBits)
		a.jitter += (float64(max(d, -d)) - a.jitter) / 16
		a.count.Jitter = time.Duration(a.jitter)
	}
	a.sent, a.at, a.known = sent, at, true
}

// datagrams is one stream's counts as a sampler reads them: all of one moment.
type datagrams struct {
	mu    sync.Mutex
	count agentapi.UDPCount
	bytes uint64
	open  bool // a stream has it
	// drops asks what the socket dropped for want of buffer; nil is unknown.
	drops func() uint64
}

func (d *datagrams) publish(count agentapi.UDPCount, bytes uint64) {
	d.mu.Lock()
	count.Dropped = d.count.Dropped
	d.count, d.bytes = count, bytes
	d.mu.Unlock()
}

func (d *datagrams) read() (agentapi.UDPCount, uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drops != nil {
		d.count.Dropped = max(d.count.Dropped, d.drops())
	}
	return d.count, d.bytes
}

// watch has what the socket drops counted as long as it is open; nil ends it.
func (d *datagrams) watch(drops func() uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if drops == nil && d.drops != nil {
		d.count.Dropped = max(d.count.Dropped, d.drops())
	}
	d.drops = drops
}

// claim gives the counts to a stream, the first that asks.
func (d *datagrams) claim() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	had := d.open
	d.open = true
	return !had
}

func (d *datagrams) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = false
}
