package scenario

import "time"

// What one row takes about, besides its window, and what no window says the length
// of: a tuning, a copy over NFS.
const (
	aboutRow  = 3 * time.Second
	aboutTune = 90 * time.Second
	aboutCopy = 35 * time.Second
	aboutPing = 2 * time.Second
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
	return time.Duration(m.Rows()) * (window + aboutRow)
}
