package loadtext

import (
	"regexp"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Handshakes reads the SYNs of tcpdump and tshark: what each end offers, as it was
// captured on this host.
var Handshakes = piece.Reader{
	Kind:     "tcpdump",
	Commands: []string{"tcpdump", "tshark"},
	Starts: func(line string) bool {
		return strings.Contains(line, "Flags [S") && synShape.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return s.Runs("tcpdump", "timeout") && dumpWords.MatchString(line)
	},
	Read: reading(readHandshakes),
}

var synShape = regexp.MustCompile(`IP6? (\S+?) > (\S+?): Flags \[(S\.?)[EW]*\].*?\boptions \[([^\]]*)\]`)

var dumpWords = regexp.MustCompile(`^(?:tcpdump: |listening on |\d+ packets? (?:captured|received|dropped)|(?:[\d-]+ )?\d\d:\d\d:\d\d\.\d+ )`)

func readHandshakes(s *sink, lines []piece.Line) int {
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		m := synShape.FindStringSubmatch(text)
		if m == nil {
			return dumpWords.MatchString(text)
		}
		subject := "handshake " + m[1] + " > " + m[2] + " " + m[3]
		scale := "none"
		for _, option := range strings.Split(m[4], ",") {
			switch name, value, _ := strings.Cut(strings.TrimSpace(option), " "); name {
			case "wscale":
				scale = value
			case "mss", "sackOK":
				s.Set(subject, name, value, l)
			}
		}
		s.Set(subject, "wscale", scale, l)
		return true
	})
}
