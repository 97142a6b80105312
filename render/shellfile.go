package render

import (
	"slices"
	"strings"
)

// shellLine is one line of a file of shell assignments, as
// /etc/sysconfig/network-scripts has them.
type shellLine struct {
	key, value string // "" for a line that is no assignment
	// comment is what stands behind the value, with its "#".
	comment string
	line    int
	// odd is a line that is neither assignment nor comment nor empty.
	odd bool
}

// readShell reads KEY=value lines; values may stand in single or double quotes
// with backslashes. Nothing is expanded.
func readShell(text string) []shellLine {
	var all []shellLine
	for i, line := range strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n") {
		l := shellLine{line: i + 1}
		trimmed := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "export "))
		key, value, ok := strings.Cut(trimmed, "=")
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case !ok || !shellName(key):
			l.odd = true
		default:
			l.key = key
			l.value, l.comment, ok = shellValue(value)
			l.odd = !ok
		}
		all = append(all, l)
	}
	return all
}

func shellName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// shellValue takes the quotes off; false where one does not end.
func shellValue(s string) (value, comment string, ok bool) {
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

// shellQuoted is a value as it is written: bare where that is safe, else in
// double quotes, in which ${DEVICE} is still expanded.
func shellQuoted(s string) string {
	bare := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._:/-+,@", r))
	})
	if bare {
		return s
	}
	return `"` + strings.NewReplacer("${DEVICE}", "${DEVICE}", `\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`, "\n", " ").Replace(s) + `"`
}

// shellPair is one assignment that is wanted.
type shellPair struct{ key, value string }

// updateShell is the text with the wanted assignments in the place of those
// that are there, the others below; keys that gone names go. All else stays.
func updateShell(text string, wanted []shellPair, gone func(key string) bool) string {
	var lines []string
	if text != "" {
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	have := readShell(text)
	done := map[string]bool{}
	var out []string
	for i, line := range lines {
		l := have[i]
		at := slices.IndexFunc(wanted, func(p shellPair) bool { return p.key == l.key })
		switch {
		case l.key == "" || l.odd:
		case at < 0 && gone(l.key), at >= 0 && done[l.key]:
			continue
		case at >= 0:
			done[l.key] = true
			if l.value != wanted[at].value {
				line = l.key + "=" + shellQuoted(wanted[at].value)
				if l.comment != "" {
					line += " " + l.comment
				}
			}
		}
		out = append(out, line)
	}
	for _, p := range wanted {
		if !done[p.key] {
			out = append(out, p.key+"="+shellQuoted(p.value))
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// updateLines is the text with exactly the wanted lines, those that are there
// in their place, and every comment.
func updateLines(text string, wanted []string) string {
	var out []string
	done := map[string]bool{}
	if text != "" {
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			trimmed := oneLine(line)
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
