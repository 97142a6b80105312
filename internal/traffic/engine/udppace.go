package engine

import (
	"time"

	"github.com/linerate/linerate/unit"
)

// pacer says how many datagrams may go, so that they keep to a rate. It reads
// no clock: moments are given, as time since some start.
type pacer struct {
	interval float64       // nanoseconds from one datagram to the next; zero is no limit
	base     time.Duration // when the first one was due
	sent     float64
}

const (
	// paceQuantum is the least time slept: sleeping costs more than sending.
	paceQuantum = 100 * time.Microsecond
	// paceCatchUp is how much lost time is made up for: more than a busy
	// machine, or a kernel whose timers tick every 10 ms, takes from a thread
	// now and then. One that had no processor for longer must not flood the
	// path afterwards.
	paceCatchUp = 100 * time.Millisecond
)

func newPacer(rate unit.BitRate, payload int) pacer {
	if rate <= 0 {
		return pacer{}
	}
	return pacer{interval: float64(payload) * 8 / float64(rate) * 1e9}
}

// due is how many datagrams may go at a moment, at most most; when none may,
// wait is how long to sleep.
func (p *pacer) due(now time.Duration, most int) (n int, wait time.Duration) {
	if p.interval == 0 {
		return most, 0
	}
	ahead := float64(now-p.base) - p.sent*p.interval // since the next one was due
	if lost := ahead - max(float64(paceCatchUp), p.interval); lost > 0 {
		p.base += time.Duration(lost)
		ahead -= lost
	}
	if ahead < 0 {
		return 0, max(time.Duration(-ahead), paceQuantum)
	}
	n = min(int(ahead/p.interval)+1, most)
	p.sent += float64(n)
	return n, 0
}
