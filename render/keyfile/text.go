package keyfile

import (
	"slices"
	"strings"
)

// file is a GLib key file (the key file format of GLib's manual) as lines, so
// that what is not changed stays as it was written.
type file struct{ lines []keyLine }

// keyLine is one line; group is the section it stands in, key "" for comments,
// blank lines and section heads.
type keyLine struct {
	text, group, key, value string
	number                  int // from 1; zero for a line that was added
	head                    bool
}

// groupAliases are NetworkManager's long names of sections
// (nm-settings-keyfile(5), name aliases).
var groupAliases = map[string]string{"802-3-ethernet": "ethernet"}

// parse reads a key file. It takes any text: a line that is none of
// section, key or comment is kept, and bad tells its number.
func parse(text string) (f file, bad []int) {
	group := ""
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		l := keyLine{text: line, number: i + 1}
		trimmed := strings.TrimSpace(line)
		key, value, pair := strings.Cut(trimmed, "=")
		switch {
		case trimmed == "" || trimmed[0] == '#':
			l.group = group
		case trimmed[0] == '[' && strings.HasSuffix(trimmed, "]"):
			group = trimmed[1 : len(trimmed)-1]
			if alias, ok := groupAliases[group]; ok {
				group = alias
			}
			l.group, l.head = group, true
		case pair && group != "":
			l.group, l.key, l.value = group, strings.TrimSpace(key), unescape(strings.TrimSpace(value))
		default:
			l.group = group
			bad = append(bad, i+1)
		}
		f.lines = append(f.lines, l)
	}
	return f, bad
}

// String is the file's text.
func (f file) String() string {
	var b strings.Builder
	for _, l := range f.lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// find returns the last value of a key, as GLib takes it.
func (f file) find(group, key string) (keyLine, bool) {
	for i := len(f.lines) - 1; i >= 0; i-- {
		if l := f.lines[i]; l.group == group && l.key == key && key != "" {
			return l, true
		}
	}
	return keyLine{}, false
}

// value is find's value, "" without one.
func (f file) value(group, key string) string {
	l, _ := f.find(group, key)
	return l.value
}

// set gives a key a value, in its place where it stands already, else at the
// end of its section, which is made where there is none.
func (f *file) set(group, key, value string) {
	text := key + "=" + escape(value)
	found := false
	for i := len(f.lines) - 1; i >= 0; i-- {
		l := &f.lines[i]
		if l.group != group || l.key != key {
			continue
		}
		if found {
			f.lines = slices.Delete(f.lines, i, i+1)
			continue
		}
		found = true
		if l.value != value {
			l.text, l.value = text, value
		}
	}
	if found {
		return
	}
	line := keyLine{text: text, group: group, key: key, value: value}
	at := -1
	for i, l := range f.lines {
		if l.group == group && (l.head || l.key != "") {
			at = i + 1
		}
	}
	if at >= 0 {
		f.lines = slices.Insert(f.lines, at, line)
		return
	}
	if n := len(f.lines); n > 0 && strings.TrimSpace(f.lines[n-1].text) != "" {
		f.lines = append(f.lines, keyLine{group: f.lines[n-1].group})
	}
	f.lines = append(f.lines, keyLine{text: "[" + group + "]", group: group, head: true}, line)
}

// remove takes the keys out for which the function answers true.
func (f *file) remove(match func(group, key string) bool) (gone []keyLine) {
	f.lines = slices.DeleteFunc(f.lines, func(l keyLine) bool {
		if l.key != "" && match(l.group, l.key) {
			gone = append(gone, l)
			return true
		}
		return false
	})
	return gone
}

// escape writes a value as GLib reads it back (g_key_file_set_string):
// leading blanks, tabs, line ends and backslashes.
func escape(s string) string {
	var b strings.Builder
	leading := true
	for _, r := range s {
		switch {
		case r == ' ' && leading:
			b.WriteString(`\s`)
			continue
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteRune(r)
		}
		leading = false
	}
	return b.String()
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\s`, " ", `\t`, "\t", `\n`, "\n", `\r`, "\r").Replace(s)
}
