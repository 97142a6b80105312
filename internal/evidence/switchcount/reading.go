// Package switchcount turns what a switch counted at several moments into what each of
// its ports carried, dropped and damaged over a trial. It asks no switch: package
// switchwatch does.
//
// Switches refresh what they tell of their counters every few seconds. A reading may be
// older than its moment, so that bytes are counted from one refresh to another, and
// drops from before the trial to the first refresh after it.
package switchcount

import (
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Width is how many bits a switch keeps its counters in.
type Width uint8

// The widths.
const (
	Wide         Width = iota // 64 bits, all
	NarrowErrors              // 32 for errors and drops (IF-MIB with ifXTable)
	NarrowAll                 // 32 for bytes as well (IF-MIB without)
)

// Reading is a switch's counters at one moment.
type Reading struct {
	// At is the moment on the asker's clock.
	At time.Time
	// Up is how long the switch has counted; zero unknown. Less than before: it began anew.
	Up time.Duration
	// Ports are by the names that the fabric gives them.
	Ports map[string]Port
}

// Port is one port of a reading.
type Port struct {
	Counters netstate.Counters
	Width    Width
	// Bytes, Drops and Errors say which of the counters were read.
	Bytes, Drops, Errors bool
	// Since tells that counters were set back: it is another number then
	// (ifCounterDiscontinuityTime).
	Since uint64
	Speed unit.BitRate // zero unknown
	// Attached is whether it is in a channel; nil not read.
	Attached *bool
}

// upWraps is where a switch's clock begins anew by itself: sysUpTime is hundredths of a
// second in 32 bits.
const upWraps = time.Duration(1<<32) * 10 * time.Millisecond

// restarted reports that the switch began to count anew between two readings.
func restarted(a, b Reading) bool {
	return a.Up > 0 && b.Up > 0 && b.Up < a.Up && a.Up+b.At.Sub(a.At) < upWraps-time.Minute
}

// most32 is the most that a counter of 32 bits may grow between two readings to be
// told from one that was set back.
const most32 = 1 << 30

// since is what a port counted between two readings; false where that is not known.
func since(a, b Reading, name string) (netstate.Counters, bool) {
	p, ok := a.Ports[name]
	q, also := b.Ports[name]
	if !ok || !also || p.Since != q.Since || restarted(a, b) {
		return netstate.Counters{}, false
	}
	switch q.Width {
	case Wide:
		return q.Counters.Sub(p.Counters), true
	case NarrowAll:
		if q.Speed > 0 && float64(q.Speed)/8*b.At.Sub(a.At).Seconds() > most32 {
			return netstate.Counters{}, false // it may have begun again more than once
		}
	}
	return q.Counters.Sub32(p.Counters, q.Width == NarrowAll), true
}

// refreshed reports that a reading tells of counters anew: some differ from the reading
// before.
func refreshed(a, b Reading) bool {
	for name, p := range b.Ports {
		if q, ok := a.Ports[name]; ok && q.Counters != p.Counters {
			return true
		}
	}
	return false
}

// Lag is the longest that readings went without a refresh while traffic ran, from the
// first reading at or after the start to the last before the end.
func Lag(readings []Reading, start, end time.Time) time.Duration {
	var longest time.Duration
	last := start
	for i, r := range readings {
		if r.At.Before(start) || r.At.After(end) || i == 0 || !refreshed(readings[i-1], r) {
			continue
		}
		longest, last = max(longest, r.At.Sub(last)), r.At
	}
	return max(longest, end.Sub(last))
}

// Settled reports that the last reading has all that was counted until the end: it was
// taken a lag later, or a refresh was seen since then.
func Settled(readings []Reading, end time.Time, lag time.Duration) bool {
	for i, r := range readings {
		if !r.At.After(end) || i == 0 {
			continue
		}
		if r.At.Sub(end) >= lag || readings[i-1].At.After(end) && refreshed(readings[i-1], r) {
			return true
		}
	}
	return false
}
