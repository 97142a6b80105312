package loadtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// MPTCP reads ip mptcp endpoint and limits, and mptcpize's like.
var MPTCP = piece.Reader{
	Kind:     "ip mptcp",
	Commands: []string{"ip"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		return strings.Contains(text, " id ") && mptcpEndpoint.MatchString(text) || strings.HasPrefix(text, "add_addr_accepted ") || strings.HasPrefix(text, "id ") && mptcpOld.MatchString(text)
	},
	Read: reading(readMPTCP),
}

var mptcpEndpoint = piece.Compile(`^([0-9a-fA-F.:]+)(?: port \d+)? id (\d+)((?: (?:subflow|signal|backup|fullmesh|implicit|laminar))*)(?: dev (\S+))?\s*$`)

var mptcpOld = piece.Compile(`^id (\d+)((?: (?:subflow|signal|backup|fullmesh))*)(?: dev (\S+))? ([0-9a-fA-F.:]+)\s*$`)

var mptcpLimits = piece.Compile(`^(?:add_addr_accepted (\d+) )?subflows? (\d+)(?: add_addr_accepted (\d+))?\s*$`)

func readMPTCP(s *sink, lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if m := mptcpEndpoint.FindStringSubmatch(text); m != nil {
			s.endpoint(m[1], m[2], m[3], m[4], l)
		} else if m := mptcpOld.FindStringSubmatch(text); m != nil {
			s.endpoint(m[4], m[1], m[2], m[3], l)
		} else if m := mptcpLimits.FindStringSubmatch(text); m != nil {
			s.Set("mptcp", "subflows", m[2], l)
			if accepted := m[1] + m[3]; accepted != "" {
				s.Set("mptcp", "add_addr_accepted", accepted, l)
			}
		} else {
			break
		}
		read = i + 1
	}
	return read
}

func (s *sink) endpoint(address, id, flags, dev string, l piece.Line) {
	subject := "mptcp endpoint " + address
	s.Set(subject, "id", id, l)
	if flags = strings.TrimSpace(flags); flags != "" {
		s.Set(subject, "flags", flags, l)
	}
	if dev != "" {
		s.Set(subject, "dev", dev, l)
	}
}
