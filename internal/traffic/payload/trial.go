package payload

import "time"

// trial chooses how much a call hands over, by what the stream carries with either
// length in turns while it warms up. A long call keeps the socket to itself until
// the send buffer is full; between short ones the core that processes
// acknowledgements sends what waits (tcp_ack, where the socket is nobody's). Which
// does better is the machine's matter: between two cores of one kind a third more
// with the short, of another less.
type trial struct {
	step  int        // of trialSteps; trialSteps is decided
	since time.Time  // zero before the first call
	bytes int        // sent since
	rate  [2]float64 // sums, bytes a second: long, short
	short bool
}

const (
	// shortLength is the other length than SendLength.
	shortLength = 512 << 10
	// trialSteps is how many spans a try takes: one to get going, then short and
	// long by turns, three times.
	trialSteps = 7
	trialSpan  = 40 * time.Millisecond
	// trialFast is the rate from which it is worth it, in bytes a second: below it
	// a core carries either.
	trialFast = 200e6
)

func (t *trial) length() uint64 {
	if t.short {
		return shortLength
	}
	return SendLength
}

// sent counts what a call handed over until now.
func (t *trial) sent(n int, now time.Time) {
	if t.step == trialSteps {
		return
	}
	if t.since.IsZero() {
		t.since = now
		return
	}
	t.bytes += n
	span := now.Sub(t.since)
	if span < trialSpan {
		return
	}
	rate := float64(t.bytes) / span.Seconds()
	t.since, t.bytes = now, 0
	if t.step == 0 && rate < trialFast {
		t.step = trialSteps
		return
	}
	if t.step > 0 {
		t.rate[t.step%2] += rate // the odd ones were short
	}
	t.step++
	t.short = t.step%2 == 1
	if t.step == trialSteps {
		t.short = t.rate[1] >= t.rate[0]
	}
}
