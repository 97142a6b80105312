package othertext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// OffloadSettings reads PowerShell's Get-NetOffloadGlobalSetting.
var OffloadSettings = piece.Reader{
	Kind:     "Get-NetOffloadGlobalSetting",
	Commands: []string{"get-netoffloadglobalsetting"},
	Starts:   func(line string) bool { return offloadSetting.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := offloadSetting.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			s.OfSystem("windows", l)
			if m[1] == "ReceiveSideScaling" {
				s.Set("host", "rss_global", strings.ToLower(m[2]), l)
			}
			return true
		})
	}),
}

var offloadSetting = piece.Compile(`^\s*(ReceiveSideScaling|ReceiveSegmentCoalescing|Chimney|TaskOffload|NetworkDirect|NetworkDirectAcrossIPSubnets|PacketCoalescingFilter)\s*: (Enabled|Disabled|Automatic|Allowed|Blocked)\s*$`)
