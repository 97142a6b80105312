package scenario

import (
	"cmp"
	"slices"
	"time"
)

// What one row takes about, besides its window, and what no window says the length
// of: a tuning, a copy over NFS.
const (
	aboutRow    = 3 * time.Second
	aboutOwnRow = time.Second // of linerate's own streams
	aboutTune   = 60 * time.Second
	aboutCopy   = 35 * time.Second
	aboutPing   = 2 * time.Second
	// usualWindow is of a tool that was not told.
	usualWindow = 3 * time.Second
)

// Length is about how long the scenario takes: to put those that take long first,
// no promise.
func (s Scenario) Length() (all time.Duration) {
	for _, step := range s.Steps {
		for _, m := range step.Measure {
			all += m.length()
		}
	}
	return all
}

// InFull is the scenario with the windows of a run that takes its time.
func (s Scenario) InFull() Scenario {
	return s.windowed(func(m Measurement) time.Duration { return cmp.Or(m.Full, m.Duration) })
}

// Windowed is the scenario with that window for all but tune, which finds its own.
func (s Scenario) Windowed(window time.Duration) Scenario {
	return s.windowed(func(m Measurement) time.Duration {
		if m.Tool == Tune {
			return m.Duration
		}
		return window
	})
}

func (s Scenario) windowed(of func(Measurement) time.Duration) Scenario {
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		s.Steps[i].Measure = slices.Clone(s.Steps[i].Measure)
		for j := range s.Steps[i].Measure {
			m := &s.Steps[i].Measure[j]
			m.Duration = of(*m)
		}
	}
	return s
}

func (m Measurement) length() time.Duration {
	switch m.Tool {
	case Tune:
		return aboutTune
	case NFS:
		return aboutCopy
	case Ping:
		return aboutPing
	}
	window := m.Duration
	if window == 0 {
		window = usualWindow
	}
	beside := aboutRow
	if m.Tool == Linerate {
		beside = aboutOwnRow
	}
	return time.Duration(m.Rows()) * (window + beside)
}
