package switchtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// ChannelLists reads EOS's `show port-channel`: the ports that are active, and each
// that is configured and not, with the reason.
var ChannelLists = piece.Reader{
	Kind:     "show port-channel",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return listsHead.MatchString(line) },
	Read:     reading(readChannelLists),
}

var listsHead = piece.Compile(`^\s*\W?\s*(?:Port Channel Port-Channel\d+(?: \(.*\))?:$|Active Ports: ?(?:\w|$)|Configured, but inactive ports:|No Active Ports$)`)

var listsName = piece.Compile(`^\W?\s*Port Channel (Port-Channel\d+)`)

var listsTitle = piece.Compile(`^(?:Port\s+(?:Reason\b|Time [Bb]ecame )|Minimum (?:links|speed): |Current weight/Max weight: |[- ]+$)`)

var listsPort = piece.Compile(`^((?:Peer)?Ethernet\d[\d/]*)(?:\s{2,}(\S.*))?$`)

func readChannelLists(s *sink, lines []piece.Line) int {
	channel, inactive, read := "", false, 0
	n := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := listsName.FindStringSubmatch(text); m != nil {
			s.ofSwitch("eos", l)
			channel, inactive = s.portName(m[1]), false
			return true
		}
		bare := strings.TrimLeft(text, "* ")
		if rest, ok := strings.CutPrefix(bare, "Active Ports:"); ok {
			s.ofSwitch("eos", l)
			inactive = false
			for _, name := range strings.Fields(rest) {
				read += s.listed(channel, name, "", true, l)
			}
			return true
		}
		switch {
		case strings.HasPrefix(bare, "Configured, but inactive ports:"):
			s.ofSwitch("eos", l)
			inactive = true
		case strings.HasPrefix(bare, "No Active Ports"):
			inactive = false
		case listsTitle.MatchString(text):
		default:
			m := listsPort.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			why := strings.TrimSpace(m[2])
			if at := strings.LastIndex(why, "  "); at >= 0 { // the moment stands before it
				why = strings.TrimSpace(why[at:])
			}
			read += s.listed(channel, m[1], why, !inactive, l)
		}
		return true
	})
	if read == 0 {
		return 0
	}
	return n
}

// listed notes a port of a list; those of the other switch of a pair are its own.
func (s *sink) listed(channel, name, why string, active bool, l piece.Line) int {
	if strings.HasPrefix(name, "Peer") {
		return 1
	}
	name = s.portName(name)
	s.join(map[bool]string{true: "Po", false: channel}[channel == ""], name, l)
	s.Set("port "+name, "bundled", map[bool]string{true: "yes", false: "no"}[active], l)
	if !active {
		s.SetIf("port "+name, "unbundled_why", why, l)
	}
	return 1
}
