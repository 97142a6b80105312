package hosttext

import (
	"cmp"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// RefusedMTU reads how a system says that a link takes no such MTU.
var RefusedMTU = piece.Reader{
	Kind:     "an MTU that is refused",
	Commands: []string{"ip", "ifconfig"},
	Starts: func(line string) bool {
		return (strings.Contains(line, "MTU") || strings.Contains(line, "mtu")) && refusedMTU.MatchString(strings.TrimSpace(line))
	},
	Owns: func(s piece.Segment, line string) bool {
		return strings.HasPrefix(line, "RTNETLINK answers: Invalid argument") && (s.Runs("ip") || s.Runs("ifconfig")) && askedMTU.MatchString(s.Command)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		link, size := "", ""
		if m := askedMTU.FindStringSubmatch(s.Segment.Command); m != nil {
			link, size = m[1], m[2]
		}
		if m := refusedMTU.FindStringSubmatch(strings.TrimSpace(lines[0].Text)); m != nil {
			link = cmp.Or(m[1], link)
		}
		s.Set(strings.TrimSpace("link "+link), "mtu_refused", cmp.Or(size, "larger"), lines[0])
		return 1
	}),
}

var (
	refusedMTU = piece.Compile(`^(?:SIOCSIFMTU: (?:Invalid argument|Operation not supported|Device or resource busy)|Error: mtu greater than device maximum\.?|ifconfig: ioctl (?:SIOCSIFMTU )?\((?:set mtu|SIOCSIFMTU)\): .+|(?:\[ *[\d.]+\] )?(?:\S+ )?([A-Za-z][\w.-]*): mtu greater than device maximum)$`)
	askedMTU   = piece.Compile(`\b(?:dev |set |ifconfig )(?:dev )?([A-Za-z][\w.-]*)\b.*? mtu (\d+)`)
)
