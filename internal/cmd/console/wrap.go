package console

import (
	"strings"
)

// TrimEnd is text without the ends of lines after it.
func TrimEnd(s string) string {
	for len(s) > 0 && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	return s
}

// OrEmpty is a list that JSON prints as [] where there is none.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// OrNone is text for a table, and "-" where there is none.
func OrNone(given bool, s string) string {
	if !given {
		return "-"
	}
	return s
}

// Outdented breaks text like wrapped, with the lines that do not fit two columns
// in.
func Outdented(lead, text string, width int) string {
	first, rest, found := strings.Cut(Wrapped("", lead+text, width), "\n")
	if !found || rest == "" {
		return first + "\n"
	}
	return first + "\n" + Wrapped("  ", rest, width)
}

// Wrapped breaks text into lines of at most width columns; the first starts
// with lead, the others with as many blanks.
func Wrapped(lead, text string, width int) string {
	var b strings.Builder
	indent := strings.Repeat(" ", len([]rune(lead)))
	line := lead
	used := 0
	for _, word := range strings.Fields(text) {
		if used > 0 && len([]rune(line))+1+len([]rune(word)) > width {
			b.WriteString(line + "\n")
			line, used = indent, 0
		}
		if used > 0 {
			line += " "
		}
		line += word
		used++
	}
	b.WriteString(line + "\n")
	return b.String()
}
