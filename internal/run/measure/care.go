package measure

import (
	"errors"
	"fmt"
	"time"

	"github.com/linerate/linerate/unit"
)

// The words of record.Trial.Stop for a window that ended early for the sake of
// the network that it ran in.
const (
	StopBytes   = "bytes"   // Spec.MaxBytes, or the run's cap
	StopSeconds = "seconds" // the run's time is up
	StopWatch   = "watch"   // latency to another host rose
)

// ErrHalted is a trial that had to end before its window was open: there is
// nothing to keep.
var ErrHalted = errors.New("ended before anything was measured")

// HaltedError says by which word.
type HaltedError struct{ Stop string }

func (e *HaltedError) Error() string { return fmt.Sprintf("%v (%s)", ErrHalted, e.Stop) }

// Is makes a HaltedError an ErrHalted.
func (e *HaltedError) Is(target error) bool { return target == ErrHalted }

// halted reports whether a window ended before what was asked for.
func halted(stop string) bool {
	return stop == StopBytes || stop == StopSeconds || stop == StopWatch
}

// Care is asked, whenever samples have been taken, whether trials may go on. It
// is used by many goroutines.
type Care interface {
	// Moved is told of payload that has arrived since it was told last.
	Moved(unit.Bytes)
	// Halt is the word by which trials must end now, of record.Trial.Stop; next
	// is what will arrive until it is asked again. "" is none.
	Halt(next unit.Bytes) string
	// Left is the share that is left of the bytes and the time that the run may
	// take, from 1 down to 0.
	Left() float64
}

// halt is the word by which the round must end now; "" is none.
func (r *round) halt() string {
	moved := r.ends.moved(0)
	next := r.ends.moved(r.poll()) - moved
	if r.cfg.Care != nil {
		r.cfg.Care.Moved(max(moved-r.counted, 0))
		r.counted = max(moved, r.counted)
		if word := r.cfg.Care.Halt(next); word != "" {
			return word
		}
	}
	for _, t := range r.trials {
		if most := t.spec.MaxBytes; most > 0 && moved+next >= most {
			return StopBytes
		}
	}
	return ""
}

// haltWarm is halt while no window is open yet.
func (r *round) haltWarm() error {
	if word := r.halt(); word != "" {
		return &HaltedError{word}
	}
	return nil
}

// left is Care.Left, and of the trials' own bytes.
func (r *round) left() float64 {
	left := 1.0
	if r.cfg.Care != nil {
		left = r.cfg.Care.Left()
	}
	for _, t := range r.trials {
		if most := t.spec.MaxBytes; most > 0 {
			left = min(left, max(1-float64(r.ends.moved(0))/float64(most), 0))
		}
	}
	return left
}

// What a warm-up may take of what was left when it began, and how long a
// window that opens then has to be to tell anything.
const (
	warmShare     = 0.5
	leastByBounds = 500 * time.Millisecond
)

// cramped reports a warm-up that takes so much of what was left when it began
// that the rest is wanted for the window. Of bounds so narrow that the window
// would tell nothing they end the trial instead, see haltWarm.
func (r *round) cramped(began float64, warm time.Duration) bool {
	return warm >= leastByBounds && r.left() < began*(1-warmShare)
}

// moved is the payload that the receiving ends have taken in so far, and will
// have a time later at their present rate.
func (es ends) moved(later time.Duration) unit.Bytes {
	var sum float64
	for _, e := range es {
		if e.sending || len(e.samples) == 0 {
			continue
		}
		for _, b := range e.samples[len(e.samples)-1].Bytes {
			sum += float64(b)
		}
	}
	if later > 0 {
		sum += float64(es.received(last(1), last(0))) / 8 * later.Seconds()
	}
	return unit.Bytes(sum)
}

// ratePerStream is what each stream of a way may offer; zero is no limit.
func (s Spec) ratePerStream(streams int) unit.BitRate {
	if s.Rate <= 0 || streams < 1 {
		return 0
	}
	return s.Rate / unit.BitRate(streams)
}
