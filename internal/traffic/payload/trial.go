package payload

import (
	"slices"
	"time"
)

// trial chooses one of several ways to move bytes, by what the stream carries with
// each in turns while it warms up. Which does better is the machine's matter: of two
// lengths of a call one carried a third more between two cores of one kind and less
// of another. A stream so slow that a core carries it any way keeps the first.
type trial struct {
	ways  []float64     // each one's weight: what its rate is multiplied by
	start time.Duration // from the first call, whose other end may be trying too
	step  int           // of the steps; as many as there are is decided
	begun time.Time     // zero before the first call
	since time.Time     // when the step began
	bytes int           // moved since
	rate  []float64     // sums, bytes a second
	way   int           // how to move the next bytes
}

const (
	// trialRounds is how often each way is tried, after a step to get going.
	trialRounds = 3
	trialSpan   = 40 * time.Millisecond
	// trialFast is the rate from which it is worth it, in bytes a second: below it
	// a core carries either.
	trialFast = 200e6
)

func (t *trial) steps() int { return 1 + trialRounds*len(t.ways) }

// moved counts what a call moved until now.
func (t *trial) moved(n int, now time.Time) {
	if t.step == t.steps() {
		return
	}
	if t.begun.IsZero() {
		t.begun, t.since = now, now
		return
	}
	t.bytes += n
	span := now.Sub(t.since)
	if span < trialSpan || t.step == 0 && now.Sub(t.begun) < t.start {
		return
	}
	rate := float64(t.bytes) / span.Seconds()
	t.since, t.bytes = now, 0
	switch {
	case t.step == 0 && rate < trialFast:
		t.step = t.steps()
		return
	case t.step == 0:
		t.rate = make([]float64, len(t.ways))
	default:
		t.rate[t.way] += rate * t.ways[t.way]
	}
	t.step++
	t.way = t.step % len(t.ways)
	if t.step == t.steps() {
		t.way = slices.Index(t.rate, slices.Max(t.rate))
	}
}

// length is how much a call should hand over. A long call keeps the socket to itself
// until the send buffer is full; between short ones the core that processes
// acknowledgements sends what waits (tcp_ack, where the socket is nobody's).
type length struct{ trial }

func newLength() length { return length{trial{ways: []float64{1, 1}}} }

// shortLength is the other length than SendLength.
const shortLength = 512 << 10

// most is so many bytes.
func (l *length) most() uint64 { return [...]uint64{SendLength, shortLength}[l.way] }
