package switchtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// SonicCommands reads the commands that make SONiC's channels: `config portchannel`,
// `config vlan member`, `config switch-hash` (doc/Command-Reference.md of
// sonic-utilities).
var SonicCommands = piece.Reader{
	Kind:     "SONiC configuration",
	Commands: []string{"config", "sudo"},
	Starts: func(line string) bool {
		return strings.Contains(line, "config ") && sonicCommand.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		var in membership
		read := piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := sonicCommand.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			s.sonicCommand(m[1], &in, l)
			return true
		})
		if read > 0 {
			in.tell(s, lines[0])
		}
		return read
	}),
	Asked: func(ps *piece.Sink, at piece.Line) {
		if m := sonicCommand.FindStringSubmatch(ps.Segment.Command); m != nil {
			var in membership
			s := &sink{ps}
			s.sonicCommand(m[1], &in, at)
			in.tell(s, at)
		}
	},
}

var sonicCommand = piece.Compile(`^(?:sudo )?config ((?:portchannel (?:member )?add|vlan member add|switch-hash global lag-hash(?:-algorithm)?) .+)$`)

// sonicCommand reads one command, typed or listed.
func (s *sink) sonicCommand(text string, in *membership, l piece.Line) {
	s.ofSwitch("sonic", l)
	f := strings.Fields(text)
	switch words := strings.Join(f[:min(3, len(f))], " "); {
	case strings.HasPrefix(text, "portchannel add ") && len(f) >= 3:
		subject := "channel " + f[2]
		s.Set(subject, "there", "yes", l)
		options := " " + strings.ReplaceAll(strings.Join(f[3:], " "), "=", " ") + " "
		s.Set(subject, "protocol", map[bool]string{true: "static", false: "lacp"}[strings.Contains(options, " --static true ")], l)
		if strings.Contains(options, " --fast-rate true ") {
			s.Set(subject, "lacp_rate", "fast", l)
		}
		if _, after, ok := strings.Cut(options, " --min-links "); ok {
			s.SetIf(subject, "min_links", piece.NumberText(strings.Fields(after + " -")[0]), l)
		}
	case words == "portchannel member add" && len(f) == 5:
		s.join(f[3], f[4], l)
	case words == "vlan member add" && len(f) >= 5:
		rest, tagged := f[3:], true
		var plain []string
		for _, w := range rest {
			if w == "-u" || w == "--untagged" {
				tagged = false
			} else {
				plain = append(plain, w)
			}
		}
		if n := piece.Atoi(plain[0]); len(plain) == 2 && n > 0 && n <= piece.MostVLANs {
			in.add(plain[1], n, tagged, true)
		}
	case words == "switch-hash global lag-hash":
		s.SetIf("host", "load_balance", strings.NewReplacer("'", "", `"`, "", ",", " ").Replace(strings.Join(f[3:], " ")), l)
	case words == "switch-hash global lag-hash-algorithm" && len(f) == 4:
		s.SetIf("host", "hash_algorithm", strings.Trim(f[3], `'"`), l)
	}
}

// SonicStatus reads SONiC's `show interfaces status`: where other switches have a VLAN it
// names the channel of a port.
var SonicStatus = piece.Reader{
	Kind:     "show interfaces status",
	Commands: []string{"show", "sh"},
	Starts:   sonicStatusHead.MatchString,
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := sonicStatusRow.FindStringSubmatch(text)
			if m == nil {
				return sonicStatusHead.MatchString(text) || strings.Trim(text, "- ") == ""
			}
			s.ofSwitch("sonic", l)
			subject := s.portSubject(m[1])
			s.SetIf(subject, "speed", piece.Mbits(m[2]), l)
			s.SetIf(subject, "mtu", strings.TrimPrefix(m[3], "N/A"), l)
			s.Set(subject, "state", m[5], l)
			s.Set(subject, "admin", m[6], l)
			if channelName.MatchString(m[4]) {
				s.join(s.portName(m[4]), s.portName(m[1]), l)
			}
			return true
		})
	}),
}

var (
	sonicStatusHead = piece.Compile(`^\s*Interface\s+Lanes\s+Speed\s+MTU\s`)
	sonicStatusRow  = piece.Compile(`^\s*(Ethernet\d+|PortChannel\d+)\s+\S+\s+(\d+[GM]|N/A)\s+(\d+|N/A)\s.*?\s(trunk|routed|access|PortChannel\d+|N/A)\s+(up|down)\s+(up|down)\b`)
)
