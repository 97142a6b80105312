package procfs

import (
	"bytes"
	"errors"
	"math"
	"time"
)

// Switches is how often a thread gave its core up, by itself and because it
// had to (fs/proc/array.c task_context_switch_counts).
type Switches struct {
	Voluntary, Involuntary uint64
}

var errNoSwitches = errors.New("parse status: no context switches")

// ParseSwitches reads /proc/PID/task/TID/status. A text without both counts is
// an error.
func ParseSwitches(text []byte) (Switches, error) {
	var s Switches
	found := 0
	err := lines(text, func(line []byte) (err error) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		switch string(key) {
		case "voluntary_ctxt_switches":
			s.Voluntary, err = number(bytes.TrimSpace(value), 10)
			found |= 1
		case "nonvoluntary_ctxt_switches":
			s.Involuntary, err = number(bytes.TrimSpace(value), 10)
			found |= 2
		}
		return err
	})
	if err == nil && found != 3 {
		err = errNoSwitches
	}
	if err != nil {
		return Switches{}, err
	}
	return s, nil
}

var errNoDelay = errors.New("parse schedstat: no run delay")

// ParseRunDelay reads /proc/PID/task/TID/schedstat: processor time, run delay,
// both in nanoseconds, time slices (proc_pid_schedstat). A text without the
// second is an error.
func ParseRunDelay(text []byte) (time.Duration, error) {
	f := bytes.Fields(text)
	if len(f) < 2 {
		return 0, errNoDelay
	}
	n, err := number(f[1], 10)
	if err != nil {
		return 0, err
	}
	return time.Duration(min(n, math.MaxInt64)), nil
}
