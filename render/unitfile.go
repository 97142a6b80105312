package render

import (
	"net/netip"
	"slices"
	"strings"
)

// unitSection is a section of a file in systemd's syntax (systemd.syntax(7)):
// a name and assignments, of which a key may have several.
type unitSection struct {
	name string
	keys []assignment
}

// assignment is one line KEY=VALUE.
type assignment struct {
	key, value string
	line       int // where it was read, from 1; zero made up
}

// put adds an assignment unless the value is empty.
func (s *unitSection) put(key, value string) {
	if value != "" {
		s.keys = append(s.keys, assignment{key: key, value: value})
	}
}

// values are all of a key's.
func (s unitSection) values(key string) []string {
	var all []string
	for _, a := range s.keys {
		if a.key == key {
			all = append(all, a.value)
		}
	}
	return all
}

// get is a key's last value; "" none.
func (s unitSection) get(key string) string {
	all := s.values(key)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// readUnit are the sections of a text in file order; a section that is
// written twice is there twice. Lines that are neither section, assignment nor
// comment are given to odd.
func readUnit(text string, odd func(line int, text string)) []unitSection {
	var all []unitSection
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		at := i + 1
		line := strings.TrimSpace(lines[i])
		for strings.HasSuffix(line, "\\") && !unitComment(line) && i+1 < len(lines) {
			i++
			if next := strings.TrimSpace(lines[i]); !unitComment(next) || next == "" {
				line = strings.TrimSuffix(line, "\\") + " " + next
			}
		}
		switch key, value, ok := strings.Cut(line, "="); {
		case line == "" || unitComment(line):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			all = append(all, unitSection{name: line[1 : len(line)-1]})
		case ok && len(all) > 0:
			s := &all[len(all)-1]
			s.keys = append(s.keys, assignment{strings.TrimSpace(key), strings.TrimSpace(value), at})
		case odd != nil:
			odd(at, line)
		}
	}
	return all
}

func unitComment(line string) bool {
	return strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";")
}

// writeUnit is the sections as text.
func writeUnit(sections []unitSection) string {
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("[" + s.name + "]\n")
		for _, a := range s.keys {
			b.WriteString(a.key + "=" + a.value + "\n")
		}
	}
	return b.String()
}

// merging says how wanted sections go into a file that is there.
type merging struct {
	// owned reports a key that goes where it is not wanted.
	owned func(section, key string) bool
	// added reports a key whose values that are there stay beside the wanted.
	added func(section, key string) bool
	// sole reports that the wanted sections are all that the file is to hold.
	sole bool
	// whole names the repeated sections of which those that are not wanted go.
	whole map[string]bool
}

// updateUnit is the text with the wanted sections in it. What it has beyond
// them stays: comments, other keys, order.
func updateUnit(text string, wanted []unitSection, m merging) string {
	u := unitText{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	if text == "" {
		return writeUnit(wanted)
	}
	kept, names := map[string]bool{}, map[string]bool{}
	for _, s := range wanted {
		names[s.name] = true
		id, repeated := unitIdentity(s)
		if !repeated {
			u.merge(u.find(s.name, nil), s, m)
			continue
		}
		kept[s.name+"\x00"+id] = true
		u.merge(u.find(s.name, func(have unitSection) bool { other, _ := unitIdentity(have); return other == id }), s, m)
	}
	for i := u.sections() - 1; i >= 0; i-- {
		s := u.section(i)
		id, repeated := unitIdentity(s)
		if repeated && (m.sole || m.whole[s.name]) && !kept[s.name+"\x00"+id] || !repeated && m.sole && !names[s.name] {
			u.drop(i)
		}
	}
	return strings.Join(u.lines, "\n") + "\n"
}

// unitText is a file's lines under change.
type unitText struct{ lines []string }

// heads are the indices of the lines that begin sections.
func (u *unitText) heads() []int {
	var all []int
	for i, line := range u.lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") && !u.continued(i) {
			all = append(all, i)
		}
	}
	return all
}

func (u *unitText) sections() int { return len(u.heads()) }

// continued reports that the line above goes on in this one.
func (u *unitText) continued(i int) bool {
	return i > 0 && strings.HasSuffix(strings.TrimSpace(u.lines[i-1]), "\\") && !unitComment(strings.TrimSpace(u.lines[i-1]))
}

// bounds are a section's first line and the one behind its last.
func (u *unitText) bounds(n int) (from, to int) {
	heads := u.heads()
	to = len(u.lines)
	if n+1 < len(heads) {
		to = heads[n+1]
	}
	return heads[n], to
}

func (u *unitText) section(n int) unitSection {
	from, to := u.bounds(n)
	all := readUnit(strings.Join(u.lines[from:to], "\n"), nil)
	for i := range all[0].keys {
		all[0].keys[i].line += from
	}
	return all[0]
}

// find is the index of the first section with the name that is the one; -1.
func (u *unitText) find(name string, is func(unitSection) bool) int {
	for i := range u.sections() {
		if s := u.section(i); s.name == name && (is == nil || is(s)) {
			return i
		}
	}
	return -1
}

// drop takes a section out, with the blank lines above it.
func (u *unitText) drop(n int) {
	from, to := u.bounds(n)
	for to > from+1 && (strings.TrimSpace(u.lines[to-1]) == "" || unitComment(strings.TrimSpace(u.lines[to-1]))) {
		to-- // what stands above the next section is the next one's
	}
	for from > 0 && strings.TrimSpace(u.lines[from-1]) == "" {
		from--
	}
	u.lines = append(u.lines[:from:from], u.lines[to:]...)
}

// merge puts the wanted keys into section n, or adds the section.
func (u *unitText) merge(n int, want unitSection, m merging) {
	if n < 0 {
		if len(u.lines) > 0 && strings.TrimSpace(u.lines[len(u.lines)-1]) != "" {
			u.lines = append(u.lines, "")
		}
		u.lines = append(u.lines, strings.Split(strings.TrimSuffix(writeUnit([]unitSection{want}), "\n"), "\n")...)
		return
	}
	done := map[string]bool{}
	for _, a := range want.keys {
		if !done[a.key] {
			done[a.key] = true
			values := want.values(a.key)
			if !m.sole && m.added(want.name, a.key) {
				values = union(u.section(n).values(a.key), values)
			}
			u.set(n, a.key, values)
		}
	}
	for _, a := range u.section(n).keys {
		if !done[a.key] && (m.sole || m.owned(want.name, a.key)) {
			u.set(n, a.key, nil)
		}
	}
}

// set gives a key of section n these values and no others.
func (u *unitText) set(n int, key string, values []string) {
	s := u.section(n)
	if slices.Equal(s.values(key), values) {
		return
	}
	at, last := 0, 0
	var drop []int
	for _, a := range s.keys {
		last = a.line
		if a.key != key {
			continue
		}
		if at < len(values) && !u.continued(a.line) {
			u.lines[a.line-1] = key + "=" + values[at]
			at++
			continue
		}
		drop = append(drop, a.line)
	}
	if last == 0 {
		from, _ := u.bounds(n)
		last = from + 1
	}
	for last < len(u.lines) && u.continued(last) {
		last++
	}
	var added []string
	for ; at < len(values); at++ {
		added = append(added, key+"="+values[at])
	}
	u.lines = append(u.lines[:last:last], append(added, u.lines[last:]...)...)
	for i := len(drop) - 1; i >= 0; i-- {
		u.lines = append(u.lines[:drop[i]-1:drop[i]-1], u.lines[drop[i]:]...)
	}
}

// union is a with what b has beyond it.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// unitIdentity tells one section from another of its name.
func unitIdentity(s unitSection) (string, bool) {
	switch s.name {
	case "Route":
		to := bareHost(s.get("Destination"))
		if to == "" || to == "0.0.0.0/0" || to == "::/0" {
			to = "default"
			if strings.Contains(s.get("Gateway")+s.get("Destination"), ":") {
				to = "default6"
			}
		}
		return strings.Join([]string{to, s.get("Table"), s.get("Metric")}, " "), true
	case "RoutingPolicyRule":
		return strings.Join([]string{bareHost(s.get("From")), bareHost(s.get("To")), s.get("Priority"), s.get("Table"), s.get("FirewallMark")}, " "), true
	case "Address":
		return s.get("Address"), true
	}
	return "", false
}

// bareHost is one address without the prefix length that says so.
func bareHost(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil && p.IsSingleIP() {
		return p.Addr().String()
	}
	return s
}
