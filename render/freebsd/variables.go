package freebsd

import (
	"slices"
	"strings"
)

// variables are assignments of rc.conf(5), loader.conf(5) and sysctl.conf(5).
type variables struct{ list []assigned }

type assigned struct{ name, value string }

func (v *variables) add(name, value string) {
	for i := range v.list {
		if v.list[i].name == name {
			v.list[i].value = value
			return
		}
	}
	v.list = append(v.list, assigned{name, value})
}

// value is what a variable was given; false for none.
func (v *variables) value(name string) (string, bool) {
	for _, a := range v.list {
		if a.name == name {
			return a.value, true
		}
	}
	return "", false
}

// addWord adds a word to a list that a variable holds.
func (v *variables) addWord(name, word string) {
	for i := range v.list {
		if v.list[i].name == name {
			if !slices.Contains(strings.Fields(v.list[i].value), word) {
				v.list[i].value += " " + word
			}
			return
		}
	}
	v.add(name, word)
}

// text is the file with the assignments in it: in the place of those that are
// there, the others at the end. Words of the lists named stay beside the new
// ones. Values stand in double quotes where quotes is true.
func (v variables) text(old string, quotes bool, lists ...string) string {
	var lines []string
	if old != "" {
		lines = strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	}
	for _, a := range v.list {
		value, at := a.value, -1
		for i, line := range lines {
			name, was, ok := strings.Cut(line, "=")
			if !ok || strings.TrimSpace(name) != a.name {
				continue
			}
			at = i
			if slices.Contains(lists, a.name) {
				value = joined(strings.Trim(strings.TrimSpace(was), `"'`), a.value)
			}
		}
		line := a.name + "=" + value
		if quotes {
			line = a.name + `="` + value + `"`
		}
		if at >= 0 {
			lines[at] = line
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// joined are the words of both, each once.
func joined(old, more string) string {
	words := strings.Fields(old)
	for _, w := range strings.Fields(more) {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}
