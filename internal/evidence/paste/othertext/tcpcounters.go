package othertext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// TCPCounters reads what netstat -s of BSD, macOS, AIX, Solaris and Windows counts of TCP: the
// segments that it sent and those that it sent again, by the names of Linux's nstat.
var TCPCounters = piece.Reader{
	Kind:     "counters of TCP",
	Commands: []string{"netstat"},
	Starts: func(line string) bool {
		return strings.Contains(line, "data packet") && packetsSent.MatchString(line) || strings.Contains(line, "Segments ") && windowsSegments.MatchString(line) ||
			strings.Contains(line, "tcpOutDataSegs") && solarisSegments.MatchString(line)
	},
	Read: reading(readTCPCounters),
}

var (
	packetsSent     = piece.Compile(`^\s*(\d+) data packets? \(\d+ bytes?\)( retransmitted)?\s*$`)
	windowsSegments = piece.Compile(`^\s*Segments (Received|Sent|Retransmitted)\s+= (\d+)\s*$`)
	solarisSegments = piece.Compile(`\b(tcpOutDataSegs|tcpRetransSegs)\s*= *(\d+)`)
	// ofTCPCounters is another line of such a block.
	ofTCPCounters = piece.Compile(`^(?:\d+ [a-zA-Z][\w ,'()/-]*|\w+\s*= *\d+(?:\s+\w+\s*= *\d+)*|(?:Active|Passive) Opens\s+= \d+|(?:Failed|Current|Reset) Connection\w*(?: \w+)?\s+= \d+)$`)
)

func readTCPCounters(s *sink, lines []piece.Line) int {
	count := func(name, value string, l piece.Line) {
		if s.Host.Counters == nil {
			s.Host.Counters = make(map[string]piece.Value)
		}
		if old, ok := s.Host.Counters[name]; !ok || piece.Float(old.Text) < piece.Float(value) { // of two families the busier
			s.Host.Counters[name] = piece.Value{Text: value, Source: l.Source()}
		}
	}
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := packetsSent.FindStringSubmatch(text); m != nil {
			count(map[bool]string{true: "TcpRetransSegs", false: "TcpOutSegs"}[m[2] != ""], m[1], l)
			return true
		}
		if m := windowsSegments.FindStringSubmatch(text); m != nil {
			if name := map[string]string{"Sent": "TcpOutSegs", "Retransmitted": "TcpRetransSegs"}[m[1]]; name != "" {
				count(name, m[2], l)
			}
			return true
		}
		if all := solarisSegments.FindAllStringSubmatch(text, 2); len(all) > 0 {
			for _, m := range all {
				count(map[string]string{"tcpOutDataSegs": "TcpOutSegs", "tcpRetransSegs": "TcpRetransSegs"}[m[1]], m[2], l)
			}
			return true
		}
		return ofTCPCounters.MatchString(text)
	})
}
