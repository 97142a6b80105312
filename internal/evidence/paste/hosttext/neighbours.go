package hosttext

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Neighbours reads `ip neigh` and `arp`, of Linux and BSD.
var Neighbours = piece.Reader{
	Kind:     "ip neigh",
	Commands: []string{"ip", "arp"},
	Starts: func(line string) bool {
		return neighbourRow(strings.Fields(line)) || arpAll.MatchString(line) || arpRow.MatchString(line) || strings.HasPrefix(line, "Address ") && strings.Contains(line, "HWaddress")
	},
	Read: reading(readNeighbours),
}

var neighbourStates = []string{"REACHABLE", "STALE", "DELAY", "PROBE", "FAILED", "INCOMPLETE", "PERMANENT", "NOARP"}

var arpAll = piece.Compile(`^\S+ \((\S+)\) at (\S+)(?: \[\w+\])?.* on (\S+)`)

var arpRow = piece.Compile(`^(\d+\.\d+\.\d+\.\d+)\s+(?:ether\s+([0-9A-Fa-f:]{17})|\(incomplete\))\s+.*?(\S+)$`)

// neighbourRow reports the fields of a row of `ip neigh`.
func neighbourRow(f []string) bool {
	if len(f) < 4 || f[1] != "dev" {
		return false
	}
	_, err := netip.ParseAddr(f[0])
	return err == nil && (slices.Contains(f, "lladdr") || slices.Contains(neighbourStates, f[len(f)-1]))
}

func readNeighbours(s *sink, lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		f := strings.Fields(text)
		switch {
		case text == "":
			continue
		case neighbourRow(f):
			subject := "neighbour " + f[0]
			s.Set(subject, "link", f[2], l)
			s.named(subject, f, map[string]string{"lladdr": "mac"}, l)
			if last := f[len(f)-1]; slices.Contains(neighbourStates, last) {
				s.Set(subject, "state", last, l)
			}
		case strings.HasPrefix(text, "Address ") && strings.Contains(text, "HWaddress"):
		default:
			m := arpAll.FindStringSubmatch(text)
			if m == nil {
				m = arpRow.FindStringSubmatch(text)
			}
			if m == nil {
				return read
			}
			s.Set("neighbour "+m[1], "link", m[3], l)
			if macShape.MatchString(m[2]) {
				s.Set("neighbour "+m[1], "mac", strings.ToLower(m[2]), l)
			}
		}
		read = i + 1
	}
	return read
}
