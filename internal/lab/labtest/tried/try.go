package tried

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/record"
)

// Lab is where a remedy is tried.
type Lab struct {
	// Run has a shell on a host read a line, and returns what it printed.
	Run func(host, line string) ([]byte, error)
	// Option changes what is measured again, as the program's option would; false is one
	// that this lab cannot.
	Option func(name, value string) bool
	// Switch has the lab's switch do the setting toward a host; false where it cannot.
	Switch func(record.Action) bool
}

// First carries out the first way of a remedy. Left is why it was not, "" where all its
// steps were done. An error is a command that failed as it was printed.
func (l Lab) First(r record.Remedy) (left string, err error) {
	if len(r) == 0 {
		return "no remedy", nil
	}
	for _, s := range r[0] { // before anything is changed
		if s.Ask != "" {
			return "for a person", nil
		}
	}
	for _, s := range r[0] {
		switch {
		case len(s.Run) > 0:
			out, err := l.Run(s.Host, s.Line())
			if err != nil {
				return "", fmt.Errorf("on %s: %s: %w: %s", s.Host, s.Line(), err, strings.TrimSpace(string(out)))
			}
		case s.Option != "":
			if !l.Option(s.Option, s.Value) {
				return "no option " + s.Option + " here", nil
			}
		case s.Switch != "":
			if !l.Switch(s) {
				return "no such switch here", nil
			}
		default:
			return "", fmt.Errorf("a step that says nothing: %+v", s)
		}
	}
	return "", nil
}
