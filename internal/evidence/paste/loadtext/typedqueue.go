package loadtext

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// TypedQueues reads commands that set a queue with a rate, as tc(8) takes them: what they
// leave is what tc prints.
var TypedQueues = piece.Reader{
	Kind:     "tc",
	Commands: []string{"tc", "sudo"},
	Starts:   func(line string) bool { return typedQueue(line) != "" },
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool { return s.typed(text, l) })
	}),
	Asked: func(ps *piece.Sink, at piece.Line) {
		s := &sink{ps}
		s.typed(ps.Segment.Command, at)
	},
}

var tcTyped = piece.Compile(`(?i)^\W{0,8}(?:sudo )?tc (qdisc|class) (?:add|replace|change) dev (\S+) ((?:root|parent \S+|handle \S+|classid \S+|\s)+) (tbf|htb|hfsc|cake|fq) (.*\d.*)$`)

// typedQueue is the line of tc's output that a command leads to; "" another command, or one
// that sets no rate.
func typedQueue(command string) string {
	m := tcTyped.FindStringSubmatch(strings.TrimSpace(command))
	if m == nil || !tcRate.MatchString(m[5]) {
		return ""
	}
	where, handle := "root", "0:"
	words := strings.Fields(m[3])
	for i := 0; i+1 < len(words); i++ {
		switch words[i] {
		case "parent":
			where = "parent " + words[i+1]
		case "handle", "classid":
			handle = words[i+1]
		}
	}
	return fmt.Sprintf("%s %s %s dev %s %s %s", strings.ToLower(m[1]), m[4], handle, m[2], where, m[5])
}

// typed takes one command; false one that sets no rate.
func (s *sink) typed(command string, l piece.Line) bool {
	line := typedQueue(command)
	return line != "" && readQueues(s, []piece.Line{{File: l.File, Number: l.Number, Text: line}}) > 0
}
