package shell

import (
	"slices"
	"strings"
)

// Line is one line of a file of shell assignments, as
// /etc/sysconfig/network-scripts has them.
type Line struct {
	Key, Value string // "" for a line that is no assignment
	// comment is what stands behind the value, with its "#".
	comment string
	Line    int
	// Odd is a line that is neither assignment nor comment nor empty.
	Odd bool
}

// Read reads KEY=value lines; values may stand in single or double quotes
// with backslashes. Nothing is expanded.
func Read(text string) []Line {
	var all []Line
	for i, line := range strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n") {
		l := Line{Line: i + 1}
		trimmed := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export "))
		key, value, ok := strings.Cut(trimmed, "=")
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case !ok || !IsName(key):
			l.Odd = true
		default:
			l.Key = key
			l.Value, l.comment, ok = unquoted(value)
			l.Odd = !ok
		}
		all = append(all, l)
	}
	return all
}

// IsName reports what can be a variable's name.
func IsName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// unquoted takes the quotes off; false where one does not end.
func unquoted(s string) (value, comment string, ok bool) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t'):
			return b.String(), strings.TrimSpace(s[i:]), true
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(s) && (quote == 0 || strings.IndexByte("\"\\$`", s[i+1]) >= 0):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", quote == 0
}

// quoted is a value as it is written: bare where that is safe, else in
// double quotes, in which ${DEVICE} is still expanded.
func quoted(s string) string {
	bare := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._:/-+,@", r))
	})
	if bare {
		return s
	}
	return `"` + strings.NewReplacer("${DEVICE}", "${DEVICE}", `\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`, "\n", " ").Replace(s) + `"`
}

// Pair is one assignment that is wanted.
type Pair struct{ Key, Value string }

// Update is the text with the wanted assignments in the place of those
// that are there, the others below; keys that gone names go. All else stays.
func Update(text string, wanted []Pair, gone func(key string) bool) string {
	var lines []string
	if text != "" {
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	have := Read(text)
	done := map[string]bool{}
	var out []string
	for i, line := range lines {
		l := have[i]
		at := slices.IndexFunc(wanted, func(p Pair) bool { return p.Key == l.Key })
		switch {
		case l.Key == "" || l.Odd:
		case at < 0 && gone(l.Key), at >= 0 && done[l.Key]:
			continue
		case at >= 0:
			done[l.Key] = true
			if l.Value != wanted[at].Value {
				line = l.Key + "=" + quoted(wanted[at].Value)
				if l.comment != "" {
					line += " " + l.comment
				}
			}
		}
		out = append(out, line)
	}
	for _, p := range wanted {
		if !done[p.Key] {
			out = append(out, p.Key+"="+quoted(p.Value))
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// UpdateLines is the text with exactly the wanted lines, those that are there
// in their place, and every comment.
func UpdateLines(text string, wanted []string) string {
	var out []string
	done := map[string]bool{}
	if text != "" {
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			trimmed := OneLine(line)
			switch {
			case trimmed == "" || strings.HasPrefix(trimmed, "#"):
			case slices.Contains(wanted, trimmed) && !done[trimmed]:
				done[trimmed] = true
			default:
				continue
			}
			out = append(out, line)
		}
	}
	for _, line := range wanted {
		if !done[line] {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n") + "\n"
}
