package switchtext

import (
	"maps"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// vlanList sets the VLANs that a port carries with a tag, from what stands behind
// "allowed vlan": a list, or a word that changes the list so far.
func (s *sink) vlanList(subject, list string, l piece.Line) {
	word, rest, _ := strings.Cut(list, " ")
	now := piece.VLANSet{}
	if x, ok := s.Host.Get(subject, "vlans"); ok && (word == "add" || word == "remove") {
		now, _ = piece.VLANsOf(x.Text)
		if now == nil {
			now = piece.VLANSet{}
		}
	}
	switch word {
	case "all", "none":
		s.Set(subject, "vlans", word, l)
		return
	case "add", "remove", "except":
		changed, ok := piece.VLANsOf(rest)
		if !ok {
			return
		}
		if word == "except" {
			for n := 1; n <= piece.MostVLANs; n++ {
				now[n] = !changed[n]
			}
		}
		for n := range changed {
			now[n] = word == "add"
		}
		maps.DeleteFunc(now, func(_ int, in bool) bool { return !in })
	default:
		var ok bool
		if now, ok = piece.VLANsOf(list); !ok {
			return
		}
	}
	if now := now.String(); now != "" {
		s.setOnly(subject, "vlans", now, l)
	}
}

// membership gathers the ports of VLANs where each VLAN lists its own, and tells
// it port by port.
type membership struct {
	tagged, untagged map[string]piece.VLANSet
	order            []string
}

// add notes a VLAN of a port.
func (m *membership) add(port string, vlan int, tagged, member bool) {
	if m.tagged == nil {
		m.tagged, m.untagged = make(map[string]piece.VLANSet), make(map[string]piece.VLANSet)
	}
	if m.tagged[port] == nil {
		m.tagged[port], m.untagged[port] = piece.VLANSet{}, piece.VLANSet{}
		m.order = append(m.order, port)
	}
	set := m.untagged[port]
	if tagged {
		set = m.tagged[port]
	}
	if delete(set, vlan); member {
		set[vlan] = true
	}
}

// tell sets the facts of each port: its VLANs with a tag, and the one without.
func (m *membership) tell(s *sink, l piece.Line) {
	for _, name := range m.order {
		subject := s.portSubject(name)
		s.SetIf(subject, "vlans", m.tagged[name].String(), l)
		if own := m.untagged[name].String(); piece.Digits.MatchString(own) {
			s.Set(subject, map[bool]string{true: "native_vlan", false: "access_vlan"}[len(m.tagged[name]) > 0], own, l)
		}
		s.Set(subject, "switchport", map[bool]string{true: "trunk", false: "access"}[len(m.tagged[name]) > 0], l)
	}
}

// Switchport reads `show interfaces switchport`: what each port does with VLANs.
var Switchport = piece.Reader{
	Kind:     "show interfaces switchport",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "Name: ") && switchportName.MatchString(line) || strings.HasPrefix(line, "Switchport: ")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		subject := ""
		if name := commandPort(s.Segment.Command); name != "" {
			subject = s.portSubject(name)
		}
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			key, value, ok := strings.Cut(text, ":")
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			first, _, _ := strings.Cut(value+" ", " ")
			switch {
			case key == "Name":
				s.ofSwitch("", l)
				subject = s.portSubject(value)
				return true
			case subject == "" || !ok:
				return subject != "" && strings.HasPrefix(l.Text, " ")
			case key == "Operational Mode" || key == "Administrative Mode":
				mode := strings.TrimPrefix(first+" ", "static ")
				if strings.HasPrefix(value, "static ") {
					mode = strings.Fields(value)[1]
				}
				if mode = strings.TrimSpace(mode); mode == "trunk" || mode == "access" {
					s.Set(subject, "switchport", mode, l)
				}
				if m := bundleOf.FindStringSubmatch(value); m != nil && strings.HasPrefix(subject, "port ") {
					s.join(s.portName(m[1]), strings.TrimPrefix(subject, "port "), l)
				}
			case key == "Access Mode VLAN":
				s.SetIf(subject, "access_vlan", piece.NumberText(first), l)
			case key == "Trunking Native Mode VLAN":
				s.SetIf(subject, "native_vlan", piece.NumberText(first), l)
			case key == "Trunking VLANs Enabled" || key == "Trunking VLANs Allowed":
				s.vlanList(subject, strings.ToLower(value), l)
			}
			return switchportKey.MatchString(key)
		})
	}),
}

var switchportName = piece.Compile(`^Name: [A-Za-z][A-Za-z-]*\d[\d/.]*\s*$`)

var switchportKey = piece.Compile(`^(?:Switchport|Administrative|Operational|Negotiation|Access|Trunking|Voice|Pruning|Capture|Protected|Unknown|Appliance|Monitor|Vepa|FabricPath|Default|Static|Dynamic|Private|Name|Dot1q|Ethertype|MAC|Source|ACL)`)

var bundleOf = piece.Compile(`member of bundle (Po\d+)`)

// TrunkTable reads `show interfaces trunk`: tables of the same ports one below another.
var TrunkTable = piece.Reader{
	Kind:     "show interfaces trunk",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return strings.HasPrefix(line, "Port ") && trunkHead.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		which := ""
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := trunkHead.FindStringSubmatch(text); m != nil {
				switch {
				case strings.Contains(m[1], "Native"):
					which = "native"
				case m[1] == "Vlans allowed on trunk", m[1] == "Vlans allowed", m[1] == "Vlans Allowed on Trunk":
					which = "allowed"
				default:
					which = "other"
				}
				return true
			}
			f := strings.Fields(text)
			if strings.Trim(text, "- ") == "" || text == "Vlan" || strings.HasPrefix(text, "Native") || text == "Port" {
				return true
			}
			if len(f) < 2 || !trunkPort.MatchString(f[0]) {
				return which == "other" && len(f) == 1 && trunkMore.MatchString(f[0])
			}
			s.ofSwitch("", l)
			subject := s.portSubject(f[0])
			switch which {
			case "native":
				for _, w := range f[1:] {
					if piece.Digits.MatchString(w) {
						s.Set(subject, "native_vlan", w, l)
						break
					}
				}
				if n := f[len(f)-1]; piece.Digits.MatchString(n) && f[1] != n { // the last where there are two
					s.Set(subject, "native_vlan", n, l)
				}
				s.Set(subject, "switchport", "trunk", l)
			case "allowed":
				s.vlanList(subject, strings.ToLower(strings.Join(f[1:], " ")), l)
			}
			return true
		})
	}),
}

var trunkHead = piece.Compile(`^\s*Port\s+((?:Mode\s+.*)?(?:Status\s+)?Native [Vv]lan.*|Native\s+Status\s+Port|Vlans? .*|STP Forwarding|Feature Configuration|Vlan)\s*$`)

var trunkPort = piece.Compile(`^(?:[A-Za-z][A-Za-z-]*\d[\d/.]*)$`)

var trunkMore = piece.Compile(`^[\d,-]+$`)
