package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// LACPFrames reads LACP's frames as `tcpdump -v` prints them, and as DPDK's bonding driver
// logs them: of each port that sends, the newest.
var LACPFrames = piece.Reader{
	Kind:     "LACP frames",
	Commands: []string{"tcpdump"},
	Starts: func(line string) bool {
		return strings.Contains(line, "LACPv1, length") || strings.Contains(line, "LACP: {") || strings.Contains(line, "actor={ tlv=")
	},
	Read: reading(readLACPFrames),
}

var (
	lacpSystem = piece.Compile(`\b[Ss]ystem[ =]([0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5})\b`)
	lacpPort   = piece.Compile(`\b(?:Port|p_num=)\s?([0-9A-Fa-f]+)\b`)
	lacpFlags  = piece.Compile(`(?:State Flags \[([^\]]*)\]|state=\{ ?([A-Z ]*?) ?\})`)
	lacpTLV    = piece.Compile(`^(?:(Actor|Partner) Information TLV|(actor|partner)=\{)`)
	lacpMore   = piece.Compile(`^(?:0x[0-9a-f]{4}:|Collector Information TLV|Terminator TLV|Max Delay|subtype=|ver_num=|collector=\{|, type_term=|[{}]+$)`)
	capturedOn = piece.Compile(`\s-i ?(\S+)`)
	// dpdkFlags are DPDK's names for what tcpdump writes out.
	dpdkFlags = strings.NewReplacer("ACT", "Activity", "TIMEOUT", "Timeout", "AGG", "Aggregation", "SYNC", "Synchronization", "COL", "Collecting", "DIST", "Distributing", "DEF", "Default", "EXP", "Expired", " ", ", ")
)

func readLACPFrames(s *sink, lines []piece.Line) int {
	part, frame := "", map[string]string{}
	link := ""
	if m := capturedOn.FindStringSubmatch(s.Segment.Command); m != nil {
		link = m[1]
	}
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if strings.Contains(text, "LACPv1, length") || strings.Contains(text, "LACP: {") {
			part, frame = "", map[string]string{}
			return true
		}
		if m := lacpTLV.FindStringSubmatch(text); m != nil {
			part = strings.ToLower(m[1] + m[2])
		} else if part == "" {
			return false
		}
		known := strings.HasPrefix(text, "Partner") || strings.HasPrefix(text, "Actor") || lacpMore.MatchString(text) || strings.Contains(text, "={ tlv=")
		if m := lacpSystem.FindStringSubmatch(text); m != nil {
			frame[part] = strings.ToLower(m[1])
			if p := lacpPort.FindStringSubmatch(text); p != nil {
				frame[part+" port"] = p[1]
			}
			known = true
		}
		if m := lacpFlags.FindStringSubmatch(text); m != nil {
			flags := m[1]
			if m[2] != "" {
				flags = dpdkFlags.Replace(m[2])
			}
			frame[part+" flags"] = flags
			known = true
			if part == "partner" && frame["actor"] != "" {
				subject := "lacpdu " + frame["actor"] + "/" + frame["actor port"]
				s.Set(subject, "partner", frame["partner"], l)
				s.Set(subject, "flags", frame["actor flags"], l)
				s.SetIf(subject, "link", link, l)
			}
		}
		return known || strings.HasPrefix(text, "PMD:")
	})
}
