package console

import (
	"strings"
	"unicode/utf8"

	"github.com/linerate/linerate/internal/textlayout"
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
// with lead, the others with as many blanks. Without text it is the lead.
func Wrapped(lead, text string, width int) string {
	lines := textlayout.Wrap(lead, strings.Repeat(" ", utf8.RuneCountInString(lead)), text, width)
	if len(lines) == 0 {
		return lead + "\n"
	}
	return strings.Join(lines, "\n") + "\n"
}
