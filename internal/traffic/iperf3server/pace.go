package iperf3server

import (
	"time"

	"github.com/linerate/linerate/unit"
)

// pace says when the next block may go, for a rate from a beginning: what was
// missed is caught up with, as iperf3 does. Zero rate is no pace.
type pace struct {
	rate  unit.BitRate
	grain time.Duration // waits are at least this long
}

// defaultGrain is iperf3's pacing timer.
const defaultGrain = time.Millisecond

// wait is how long to wait before the next block when sent bytes went in the
// time since the beginning.
func (p pace) wait(sent uint64, since time.Duration) time.Duration {
	if p.rate <= 0 {
		return 0
	}
	due := time.Duration(float64(sent) * 8 / float64(p.rate) * float64(time.Second))
	if due <= since {
		return 0
	}
	return max(due-since, p.grain)
}
