package othertext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// AggregationKeys reads `dladm show-aggr` as Solaris 10 prints it: each aggregation by its
// key, with its devices below.
var AggregationKeys = piece.Reader{
	Kind:     "dladm show-aggr",
	Commands: []string{"dladm"},
	Starts:   func(line string) bool { return strings.HasPrefix(line, "key: ") && aggregationKey.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		s.OfSystem("solaris", lines[0])
		aggr := ""
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := aggregationKey.FindStringSubmatch(text); m != nil {
				aggr = "aggr" + m[1]
				s.Set("link "+aggr, "kind", "aggr", l)
				s.Set("link "+aggr, "aggr_policy", m[2], l)
				return true
			}
			f := strings.Fields(text)
			if m := aggregationPort.FindStringSubmatch(text); m != nil && aggr != "" {
				s.Port(aggr, m[1], l)
				if m[2] != "0" {
					s.Set("link "+m[1], "speed", m[2], l)
				}
				s.Set("link "+m[1], "state", m[3], l)
				s.Set("link "+m[1], "aggr_port", m[4], l)
				return true
			}
			return len(f) > 2 && f[0] == "device" || strings.HasPrefix(text, "LACP mode:")
		})
	}),
}

var (
	aggregationKey  = piece.Compile(`^key: (\d+) \(0x[0-9a-f]+\)\s+policy: (\S+)`)
	aggregationPort = piece.Compile(`^([a-z]\w*\d)\s+(?:[0-9a-f]{1,2}:){5}[0-9a-f]{1,2}\s+(\d+)\s+Mbps\s+\w+\s+(up|down|unknown)\s+(\w+)`)
)
