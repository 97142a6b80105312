package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Bridges reads `brctl show`, `bridge link` and `bridge vlan`.
var Bridges = piece.Reader{
	Kind:     "bridge",
	Commands: []string{"brctl", "bridge"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "bridge name\tbridge id") || strings.HasPrefix(line, "bridge name") && strings.Contains(line, "STP") ||
			brRow.MatchString(line) || bridgeLink.MatchString(line) || vlanTitle(line)
	},
	Read: reading(readBridges),
}

var brRow = piece.Compile(`^([\w.-]+)\s+([0-9a-f]{4}\.[0-9a-f]{12})\s+(yes|no)(?:\s+([\w.@-]+))?$`)

var brPort = piece.Compile(`^\s+([\w.@-]+)$`)

var bridgeLink = piece.Compile(`^\d+: ([\w.-]+)(?:@\S+)?(?:: state| state|:).*\bmaster (\S+) state (\w+)`)

var vlanRow = piece.Compile(`^([\w.-]+)?\s+(\d+(?:-\d+)?)((?: PVID| Egress Untagged| untagged)*)$`)

func readBridges(s *sink, lines []piece.Line) (read int) {
	bridge, vlans, port := "", false, ""
	for i, l := range lines {
		text := strings.TrimRight(l.Text, " \t")
		if strings.TrimSpace(text) == "" {
			continue
		}
		if m := brRow.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
			bridge = m[1]
			s.Set("link "+bridge, "kind", "bridge", l)
			if m[4] != "" {
				s.Set("link "+m[4], "master", bridge, l)
			}
		} else if m := bridgeLink.FindStringSubmatch(text); m != nil {
			s.Set("link "+m[1], "master", m[2], l)
			s.Set("link "+m[1], "stp_state", m[3], l)
		} else if strings.HasPrefix(text, "bridge name") {
			vlans = false
		} else if vlanTitle(text) {
			vlans = true
		} else if m := vlanRow.FindStringSubmatch(text); m != nil && vlans {
			if m[1] != "" {
				port = m[1]
			}
			if port != "" {
				s.Set("link "+port, "vlan "+m[2], strings.TrimSpace("yes"+m[3]), l)
			}
		} else if m := brPort.FindStringSubmatch(text); m != nil && bridge != "" {
			s.Set("link "+m[1], "master", bridge, l)
		} else {
			return read
		}
		read = i + 1
	}
	return read
}

// vlanTitle is the first line of `bridge vlan`: "port vlan ids", "port vlan-id".
func vlanTitle(line string) bool {
	f := strings.Fields(line)
	return len(f) >= 2 && len(f) <= 3 && f[0] == "port" && strings.HasPrefix(f[1], "vlan")
}
