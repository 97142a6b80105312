package loadtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// MPTCP reads ip mptcp endpoint and limits, as they are shown and as they are typed, in a
// script too.
var MPTCP = piece.Reader{
	Kind:     "ip mptcp",
	Commands: []string{"ip"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		return strings.Contains(text, "ip mptcp ") && (mptcpAdded.MatchString(text) || mptcpSet.MatchString(text)) || strings.Contains(text, " id ") && mptcpEndpoint.MatchString(text) || strings.HasPrefix(text, "add_addr_accepted ") || strings.HasPrefix(text, "id ") && mptcpOld.MatchString(text)
	},
	Read: reading(readMPTCP),
}

var mptcpEndpoint = piece.Compile(`^([0-9a-fA-F.:]+)(?: port \d+)? id (\d+)((?: (?:subflow|signal|backup|fullmesh|implicit|laminar))*)(?: dev (\S+))?\s*$`)

var mptcpOld = piece.Compile(`^id (\d+)((?: (?:subflow|signal|backup|fullmesh))*)(?: dev (\S+))? ([0-9a-fA-F.:]+)\s*$`)

var mptcpLimits = piece.Compile(`^(?:add_addr_accepted (\d+) )?subflows? (\d+)(?: add_addr_accepted (\d+))?\s*$`)

// typed is what stands before a command on its line: a prompt, sudo, a call of a script or
// the key of a configuration. A sentence that names a command sets nothing.
const typed = `^\s*(?:(?:[\w.]+\(|\w+ ?= ?(?:/\S+ )?|(?:post-)?up |sudo |[#$] )\s*["']?)*ip mptcp `

// mptcpAdded and mptcpSet are what was typed.
var (
	mptcpAdded = piece.Compile(typed + `endpoint add ([0-9a-fA-F.:]+)((?: (?:dev [\w.@-]+|port \d+|id \d+|subflow|signal|backup|fullmesh|laminar))*)\s*["')]*\s*(?:[;&|#].*)?$`)
	mptcpSet   = piece.Compile(typed + `limits set((?: (?:subflows|add_addr_accepted) \d+)+)\s*["')]*\s*(?:[;&|#].*)?$`)
	mptcpDev   = piece.Compile(`dev (\S+)`)
	mptcpFlag  = piece.Compile(`\b(?:subflow|signal|backup|fullmesh|laminar)\b`)
	mptcpLimit = piece.Compile(`(subflows|add_addr_accepted) (\d+)`)
)

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
		} else if m := mptcpAdded.FindStringSubmatch(text); m != nil {
			if _, shown := s.Host.Get("mptcp endpoint "+m[1], "id"); !shown {
				dev := ""
				if d := mptcpDev.FindStringSubmatch(m[2]); d != nil {
					dev = d[1]
				}
				s.endpoint(m[1], "", strings.Join(mptcpFlag.FindAllString(m[2], -1), " "), dev, l)
			}
		} else if m := mptcpSet.FindStringSubmatch(text); m != nil {
			for _, limit := range mptcpLimit.FindAllStringSubmatch(m[1], -1) {
				if _, told := s.Host.Get("mptcp", limit[1]); !told {
					s.Set("mptcp", limit[1], limit[2], l)
				}
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
	s.SetIf(subject, "id", id, l)
	if flags = strings.TrimSpace(flags); flags != "" {
		s.Set(subject, "flags", flags, l)
	}
	if dev != "" {
		s.Set(subject, "dev", dev, l)
	}
}
