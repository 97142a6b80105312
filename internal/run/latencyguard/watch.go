// Package latencyguard judges, echo by echo, whether the latency to a host that takes
// no part in a run has risen beyond what its idle latency allows: then the run
// is in the way of others. Plain data and arithmetic; it must never send an
// echo, nor end a run. Don't let one echo decide.
package latencyguard

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Rule says when a rise is too much. The zero value of a field is its default.
type Rule struct {
	// Factor is how many times the idle median an echo may take; zero is 3.
	Factor float64
	// Floor is how much more than the idle median an echo may always take: on
	// a short path three times nothing is nothing. Zero is 2 ms.
	Floor time.Duration
	// Run is how many echoes in a row must be late or lost: one alone is
	// chance. Zero is 3.
	Run int
}

// The defaults of a rule.
const (
	DefaultFactor = 3.0
	DefaultFloor  = 2 * time.Millisecond
	DefaultRun    = 3
)

// ErrSilent: the host answered less than half of the idle echoes, so that
// nothing can be told from those that follow.
var ErrSilent = errors.New("does not answer")

// ErrRule is a rule that would end every run, or none.
var ErrRule = errors.New("bad rule")

// Watch is the judge of one host's echoes. It is not safe for many goroutines.
type Watch struct {
	idle, most time.Duration
	run        int
	late, lost int // in a row, the lost among the late
	worst      time.Duration
}

// New judges by the idle echoes: how many were sent and how long those that
// came back took. ErrSilent, or ErrRule.
func (r Rule) New(sent int, idle []time.Duration) (*Watch, error) {
	if r.Factor == 0 {
		r.Factor = DefaultFactor
	}
	if r.Floor == 0 {
		r.Floor = DefaultFloor
	}
	if r.Run == 0 {
		r.Run = DefaultRun
	}
	if !(r.Factor > 1) || r.Floor < 0 || r.Run < 1 {
		return nil, fmt.Errorf("%w: a factor of %v with at least %v, %d in a row", ErrRule, r.Factor, r.Floor, r.Run)
	}
	if len(idle) == 0 || 2*len(idle) < sent {
		return nil, fmt.Errorf("%w: %d of %d idle echoes came back", ErrSilent, len(idle), sent)
	}
	median := slices.Sorted(slices.Values(idle))[len(idle)/2]
	most := max(time.Duration(r.Factor*float64(median)), median+r.Floor)
	return &Watch{idle: median, most: most, run: r.Run}, nil
}

// Idle is the median of the idle echoes, Most what an echo may take.
func (w *Watch) Idle() time.Duration { return w.idle }

// Most is the longest that an echo may take.
func (w *Watch) Most() time.Duration { return w.most }

// Answered judges an echo that came back and reports whether the run must end.
func (w *Watch) Answered(rtt time.Duration) bool {
	if rtt <= w.most {
		w.late, w.lost, w.worst = 0, 0, 0
		return false
	}
	w.late++
	w.worst = max(w.worst, rtt)
	return w.Risen()
}

// Lost judges an echo that did not come back and reports whether the run must
// end.
func (w *Watch) Lost() bool {
	w.late++
	w.lost++
	return w.Risen()
}

// Risen reports whether the last echoes were late or lost, as many as the rule
// wants.
func (w *Watch) Risen() bool { return w.late >= w.run }

// Why says what the last echoes were: "3 echoes in a row took up to 41 ms;
// idle 9.00 ms, allowed 27 ms"; "" where they were in time.
func (w *Watch) Why() string {
	if w.late == 0 {
		return ""
	}
	what := echoes(w.late) + " got no answer"
	switch {
	case w.lost == 0:
		what = fmt.Sprintf("%s took up to %s", echoes(w.late), text(w.worst))
	case w.lost < w.late:
		what = fmt.Sprintf("%s took up to %s or no answer came (%d)", echoes(w.late), text(w.worst), w.lost)
	}
	return fmt.Sprintf("%s; idle %s, allowed %s", what, text(w.idle), text(w.most))
}

func echoes(n int) string {
	if n == 1 {
		return "1 echo"
	}
	return fmt.Sprintf("%d echoes in a row", n)
}

// text is a time to three figures or so.
func text(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.2f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
}
