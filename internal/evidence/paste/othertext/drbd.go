package othertext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// DRBD reads what DRBD 8 says of a resync (/proc/drbd), and its options that limit one,
// in configuration, `drbdsetup show` or a command. Facts are of "drbd": state, speed_bps
// what it does, want_bps what its controller asks for (where it has one), and the
// options by their names as they are written.
var DRBD = piece.Reader{
	Kind:     "DRBD",
	Commands: []string{"drbdadm", "drbdsetup", "drbd-overview"},
	Starts: func(line string) bool {
		return strings.Contains(line, "cs:") && drbdState.MatchString(line) || strings.Contains(line, "speed: ") && drbdSpeed.MatchString(line) ||
			strings.Contains(line, "-rate") && drbdOption.MatchString(line) || strings.Contains(line, "c-") && drbdOption.MatchString(line) ||
			strings.Contains(line, "/proto:") && drbdVersion.MatchString(line)
	},
	Read: reading(readDRBD),
}

var (
	drbdVersion = piece.Compile(`^\s*version: ([89]\.[\d.]+)\S* \(api:`)
	drbdState   = piece.Compile(`^\s*\d+: cs:(\w+)\b`)
	drbdSpeed   = piece.Compile(`\bspeed: ([\d,]+) \([\d,]+(?: -- [\d,]+)?\)(?: want: ([\d,]+))? K/sec`)
	drbdOption  = piece.Compile(`(?:^|[\s,:])(resync-rate|c-(?:plan-ahead|max-rate|min-rate|fill-target|delay-target))[ =]+(\d+[kKMG]?)\b`)
	drbdOther   = piece.Compile(`^\s*(?:srcversion:|GIT-hash:|build by|ns:\d|\[[=>.]+\]|finish:|\d+: cs:)`)
)

func readDRBD(s *sink, lines []piece.Line) int {
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		ours := drbdOther.MatchString(text)
		if m := drbdVersion.FindStringSubmatch(text); m != nil {
			s.Set("drbd", "version", m[1], l)
			ours = true
		}
		if m := drbdState.FindStringSubmatch(text); m != nil {
			s.Set("drbd", "state", m[1], l)
		}
		if m := drbdSpeed.FindStringSubmatch(text); m != nil {
			ours = true
			for i, key := range []string{"speed_bps", "want_bps"} {
				if n := piece.Float(strings.ReplaceAll(m[i+1], ",", "")); n > 0 {
					s.Set("drbd", key, piece.FormatFloat(n*1024*8), l)
				}
			}
		}
		for _, m := range drbdOption.FindAllStringSubmatch(text, 8) {
			s.Set("drbd", m[1], m[2], l)
			ours = true
		}
		return ours
	})
}
