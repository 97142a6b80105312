package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// GivenRules reads the rules that somebody added by hand or by a script: the commands
// stand there, and no output of `ip rule` behind them.
var GivenRules = piece.Reader{
	Kind:   "ip rule",
	Asked:  func(s *piece.Sink, at piece.Line) { (&sink{s}).givenRules(s.Segment.Command, at) },
	Starts: givesRule.MatchString,
	Read: reading(func(s *sink, lines []piece.Line) int {
		return s.givenRules(lines[0].Text, lines[0])
	}),
}

// givesRule is such a command at the beginning of a line, as scripts have it.
var givesRule = piece.Compile(`^\s*(?:sudo )?(?:/(?:usr/)?s?bin/)?ip (?:-[46] )?rule add .*\bfrom \S`)

// givenRules notes by which address each rule of a command line chooses: 1 where there is
// one.
func (s *sink) givenRules(command string, l piece.Line) (read int) {
	if !strings.Contains(command, "rule") {
		return 0
	}
	for _, words := range piece.Statements(command) {
		from, add := "", false
		for i, w := range words {
			switch {
			case w == "add" && i > 0 && (words[i-1] == "rule" || words[i-1] == "ru"):
				add = true
			case w == "from" && i+1 < len(words):
				from = words[i+1]
			}
		}
		if dst, ok := destination(from, false); add && ok && !strings.HasSuffix(words[0], "nmcli") {
			s.Set("given rules", dst.String(), strings.Join(words, " "), l)
			read = 1
		}
	}
	return read
}
