package loadtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Captures reads tcpdump and tshark: what each end offers in its SYN, and the longest
// segment with its ends, as it was captured on this host.
var Captures = piece.Reader{
	Kind:     "tcpdump",
	Commands: []string{"tcpdump", "tshark"},
	Starts: func(line string) bool {
		return strings.Contains(line, "Flags [S") && synShape.MatchString(line) || strings.Contains(line, ", length ") && capturePacket.MatchString(line) ||
			strings.HasPrefix(line, "tcpdump: ") || strings.HasPrefix(line, "listening on ")
	},
	Owns: func(s piece.Segment, line string) bool {
		return s.Runs("tcpdump", "timeout") && dumpWords.MatchString(line)
	},
	Read: reading(readCaptures),
}

var captureOn = piece.Compile(`^listening on (\S+?),`)

var capturePacket = piece.Compile(`\bIP6? (\S+?)\.\w+ > (\S+?)\.[\w-]+: .*\blength (\d+)`)

// cutPacket is how tcpdump prints a packet of which a fragment has the rest, tunnelPacket
// the outer one of an overlay.
var (
	cutPacket    = piece.Compile(`\btruncated-ip - \d+ bytes missing!`)
	tunnelPacket = piece.Compile(`\b(?:VXLAN|Geneve|GREv0|OTV), `)
)

var synShape = piece.Compile(`IP6? (\S+?) > (\S+?): Flags \[(S\.?)[EW]*\].*?\boptions \[([^\]]*)\]`)

var dumpWords = piece.Compile(`^(?:tcpdump: |listening on |\d+ packets? (?:captured|received|dropped)|(?:[\d-]+ )?\d\d:\d\d:\d\d\.\d+ )`)

func readCaptures(s *sink, lines []piece.Line) int {
	on, tunnelled := "", false
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := captureOn.FindStringSubmatch(text); m != nil {
			on = m[1]
			return true
		}
		syn, packet := synShape.FindStringSubmatch(text), capturePacket.FindStringSubmatch(text)
		if syn != nil {
			s.offered(syn, l)
		}
		if packet != nil {
			s.longest("capture "+on, packet, l)
		}
		if m := cutPacket.FindString(text); m != "" && tunnelled {
			s.Set("capture "+on, "cut", m, l)
		}
		tunnelled = tunnelPacket.MatchString(text) || tunnelled && strings.HasPrefix(text, "IP")
		return syn != nil || packet != nil || cutPacket.MatchString(text) || dumpWords.MatchString(text)
	})
}

// offered sets what a SYN's options offer.
func (s *sink) offered(m []string, l piece.Line) {
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
}

// longest keeps the longest segment of a capture.
func (s *sink) longest(subject string, m []string, l piece.Line) {
	if old, _ := s.Host.Get(subject, "longest"); piece.Atoi(m[3]) <= piece.Atoi(old.Text) {
		return
	}
	s.Set(subject, "longest", m[3], l)
	s.Set(subject, "from", m[1], l)
	s.Set(subject, "to", m[2], l)
}
