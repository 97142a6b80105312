package hosttext

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Neighbours reads `ip neigh`, `arp` of Linux and BSD, and both programs called arping.
var Neighbours = piece.Reader{
	Kind:     "ip neigh",
	Commands: []string{"ip", "arp", "arping"},
	Starts: func(line string) bool {
		return neighbourRow(strings.Fields(line)) || arpAll.MatchString(line) || arpRow.MatchString(line) || arpingReply(line) != nil || strings.HasPrefix(line, "ARPING ") || strings.HasPrefix(line, "Address ") && strings.Contains(line, "HWaddress")
	},
	Read: reading(readNeighbours),
}

var neighbourStates = []string{"REACHABLE", "STALE", "DELAY", "PROBE", "FAILED", "INCOMPLETE", "PERMANENT", "NOARP"}

var arpAll = piece.Compile(`^\S+ \((\S+)\) at (\S+)(?: \[\w+\])?.* on (\S+)`)

var arpRow = piece.Compile(`^(\d+\.\d+\.\d+\.\d+)\s+(?:ether\s+([0-9A-Fa-f:]{17})|\(incomplete\))\s+.*?(\S+)$`)

// arpingRows are an answer of arping by Habets and of iputils: the MAC and the address.
var arpingRows = []piece.Pattern{piece.Compile(`^\s*\d+ bytes from ([0-9A-Fa-f:]{17}) \((\S+)\): index=`), piece.Compile(`^\s*(?:Uni|Broad)cast reply from (\S+) \[([0-9A-Fa-f:]{17})\]`)}

// arpingReply is the MAC and the address of an answer; nil for another line.
func arpingReply(line string) []string {
	if m := arpingRows[0].FindStringSubmatch(line); m != nil {
		return []string{strings.ToLower(m[1]), m[2]}
	}
	if m := arpingRows[1].FindStringSubmatch(line); m != nil {
		return []string{strings.ToLower(m[2]), m[1]}
	}
	return nil
}

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
		case strings.HasPrefix(text, "Address ") && strings.Contains(text, "HWaddress"), strings.HasPrefix(text, "ARPING "):
		case arpingReply(l.Text) != nil:
			m := arpingReply(l.Text)
			s.Set("arping "+m[1], m[0], "answers", l)
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
