// Package shell writes words of a POSIX shell, and reads and changes files of
// assignments in its syntax.
package shell

import (
	"strings"
)

// Word makes s one word of a POSIX shell.
func Word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+:/@%,=", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// OneLine is text as part of a comment of one line.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
