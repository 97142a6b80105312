package console

import (
	"fmt"
	"strings"
)

// LastLine keeps the complaint of a program that is run in a lab's kernel, of which
// this one sees nothing but its status.
type LastLine struct{ Text string }

func (l *LastLine) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if why, is := strings.CutPrefix(line, complaint); is {
			l.Text = strings.TrimSpace(why)
		}
	}
	return len(p), nil
}

// complaint is how an error's line begins.
const complaint = "linerate: "

func (l *LastLine) Of(err error) error {
	if l.Text == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, l.Text)
}
