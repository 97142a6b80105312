// Package unitfile reads and writes files in systemd's syntax
// (systemd.syntax(7)), and changes those that are there in place.
package unitfile

import (
	"net/netip"
	"slices"
	"strings"
)

// Section is a section of a file in systemd's syntax (systemd.syntax(7)):
// a name and assignments, of which a key may have several.
type Section struct {
	Name string
	Keys []Assignment
}

// Assignment is one line KEY=VALUE.
type Assignment struct {
	Key, Value string
	Line       int // where it was read, from 1; zero made up
}

// Put adds an assignment unless the value is empty.
func (s *Section) Put(key, value string) {
	if value != "" {
		s.Keys = append(s.Keys, Assignment{Key: key, Value: value})
	}
}

// Values are all of a key's.
func (s Section) Values(key string) []string {
	var all []string
	for _, a := range s.Keys {
		if a.Key == key {
			all = append(all, a.Value)
		}
	}
	return all
}

// Get is a key's last value; "" none.
func (s Section) Get(key string) string {
	all := s.Values(key)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// Read are the sections of a text in file order; a section that is
// written twice is there twice. Lines that are neither section, assignment nor
// comment are given to odd.
func Read(text string, odd func(line int, text string)) []Section {
	var all []Section
	// A byte order mark is no part of the first line (config_parse, systemd 252).
	text = strings.TrimPrefix(text, "\ufeff")
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		at := i + 1
		line := strings.TrimSpace(lines[i])
		for strings.HasSuffix(line, "\\") && !isComment(line) && i+1 < len(lines) {
			i++
			if next := strings.TrimSpace(lines[i]); !isComment(next) || next == "" {
				line = strings.TrimSuffix(line, "\\") + " " + next
			}
		}
		switch key, value, ok := strings.Cut(line, "="); {
		case line == "" || isComment(line):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			all = append(all, Section{Name: line[1 : len(line)-1]})
		case ok && len(all) > 0:
			s := &all[len(all)-1]
			s.Keys = append(s.Keys, Assignment{strings.TrimSpace(key), strings.TrimSpace(value), at})
		case odd != nil:
			odd(at, line)
		}
	}
	return all
}

func isComment(line string) bool {
	return strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";")
}

// Write is the sections as text.
func Write(sections []Section) string {
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("[" + s.Name + "]\n")
		for _, a := range s.Keys {
			b.WriteString(a.Key + "=" + a.Value + "\n")
		}
	}
	return b.String()
}

// Merging says how wanted sections go into a file that is there.
type Merging struct {
	// Owned reports a key that goes where it is not wanted.
	Owned func(section, key string) bool
	// Added reports a key whose values that are there stay beside the wanted.
	Added func(section, key string) bool
	// Sole reports that the wanted sections are all that the file is to hold.
	Sole bool
	// Whole names the repeated sections of which those that are not wanted go, and
	// others of which the first alone stays.
	Whole map[string]bool
}

// Update is the text with the wanted sections in it. What it has beyond
// them stays: comments, other keys, order.
func Update(text string, wanted []Section, m Merging) string {
	u := lines{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	if text == "" {
		return Write(wanted)
	}
	kept, names := map[string]bool{}, map[string]bool{}
	for _, s := range wanted {
		names[s.Name] = true
		id, repeated := Identity(s)
		if !repeated {
			u.merge(u.find(s.Name, nil), s, m)
			continue
		}
		kept[s.Name+"\x00"+id] = true
		u.merge(u.find(s.Name, func(have Section) bool { other, _ := Identity(have); return other == id }), s, m)
	}
	for i := u.sections() - 1; i >= 0; i-- {
		s := u.section(i)
		id, repeated := Identity(s)
		again := !repeated && m.Whole[s.Name] && i != u.find(s.Name, nil)
		if again || repeated && (m.Sole || m.Whole[s.Name]) && !kept[s.Name+"\x00"+id] || !repeated && m.Sole && !names[s.Name] {
			u.drop(i)
		}
	}
	return strings.Join(u.lines, "\n") + "\n"
}

// lines is a file's lines under change.
type lines struct{ lines []string }

// heads are the indices of the lines that begin sections.
func (u *lines) heads() []int {
	var all []int
	for i, line := range u.lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") && !u.continued(i) {
			all = append(all, i)
		}
	}
	return all
}

func (u *lines) sections() int { return len(u.heads()) }

// continued reports that the line above goes on in this one.
func (u *lines) continued(i int) bool {
	return i > 0 && strings.HasSuffix(strings.TrimSpace(u.lines[i-1]), "\\") && !isComment(strings.TrimSpace(u.lines[i-1]))
}

// bounds are a section's first line and the one behind its last.
func (u *lines) bounds(n int) (from, to int) {
	heads := u.heads()
	to = len(u.lines)
	if n+1 < len(heads) {
		to = heads[n+1]
	}
	return heads[n], to
}

func (u *lines) section(n int) Section {
	from, to := u.bounds(n)
	all := Read(strings.Join(u.lines[from:to], "\n"), nil)
	for i := range all[0].Keys {
		all[0].Keys[i].Line += from
	}
	return all[0]
}

// find is the index of the first section with the name that is the one; -1.
func (u *lines) find(name string, is func(Section) bool) int {
	for i := range u.sections() {
		if s := u.section(i); s.Name == name && (is == nil || is(s)) {
			return i
		}
	}
	return -1
}

// drop takes a section out, with the blank lines above it.
func (u *lines) drop(n int) {
	from, to := u.bounds(n)
	for to > from+1 && (strings.TrimSpace(u.lines[to-1]) == "" || isComment(strings.TrimSpace(u.lines[to-1]))) {
		to-- // what stands above the next section is the next one's
	}
	for from > 0 && strings.TrimSpace(u.lines[from-1]) == "" {
		from--
	}
	u.lines = append(u.lines[:from:from], u.lines[to:]...)
}

// merge puts the wanted keys into section n, or adds the section.
func (u *lines) merge(n int, want Section, m Merging) {
	if n < 0 {
		if len(u.lines) > 0 && strings.TrimSpace(u.lines[len(u.lines)-1]) != "" {
			u.lines = append(u.lines, "")
		}
		u.lines = append(u.lines, strings.Split(strings.TrimSuffix(Write([]Section{want}), "\n"), "\n")...)
		return
	}
	done := map[string]bool{}
	for _, a := range want.Keys {
		if !done[a.Key] {
			done[a.Key] = true
			values := want.Values(a.Key)
			if !m.Sole && m.Added(want.Name, a.Key) {
				values = union(u.section(n).Values(a.Key), values)
			}
			u.set(n, a.Key, values)
		}
	}
	for _, a := range u.section(n).Keys {
		if !done[a.Key] && (m.Sole || m.Owned(want.Name, a.Key)) {
			u.set(n, a.Key, nil)
		}
	}
}

// set gives a key of section n these values and no others.
func (u *lines) set(n int, key string, values []string) {
	s := u.section(n)
	if slices.Equal(s.Values(key), values) {
		return
	}
	at, last := 0, 0
	var drop []int
	for _, a := range s.Keys {
		last = a.Line
		if a.Key != key {
			continue
		}
		if at < len(values) && !u.continued(a.Line) {
			u.lines[a.Line-1] = key + "=" + values[at]
			at++
			continue
		}
		drop = append(drop, a.Line)
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

// Identity tells one section from another of its name.
func Identity(s Section) (string, bool) {
	switch s.Name {
	case "Route":
		to := BareHost(s.Get("Destination"))
		if to == "" || to == "0.0.0.0/0" || to == "::/0" {
			to = "default"
			if strings.Contains(s.Get("Gateway")+s.Get("Destination"), ":") {
				to = "default6"
			}
		}
		return strings.Join([]string{to, s.Get("Table"), s.Get("Metric")}, " "), true
	case "RoutingPolicyRule":
		return strings.Join([]string{BareHost(s.Get("From")), BareHost(s.Get("To")), s.Get("Priority"), s.Get("Table"), s.Get("FirewallMark")}, " "), true
	case "Address":
		return s.Get("Address"), true
	}
	return "", false
}

// BareHost is one address without the prefix length that says so.
func BareHost(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil && p.IsSingleIP() {
		return p.Addr().String()
	}
	return s
}
