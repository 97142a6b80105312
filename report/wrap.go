package report

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable drops what could move a terminal's cursor or turn text around:
// control and formatting characters become "?", white space one blank.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			return ' '
		case unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == utf8.RuneError:
			return '?'
		}
		return c
	}, s)
}

// visible is a whole page without characters that control a terminal or turn
// text around; line ends and tabs stay.
func visible(page []byte) []byte {
	return bytes.Map(func(c rune) rune {
		if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == utf8.RuneError) {
			return '?'
		}
		return c
	}, page)
}

// fit shortens s to n characters, the last an ellipsis.
func fit(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	return string([]rune(s)[:n-1]) + "…"
}

func padRight(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

func padLeft(s string, n int) string {
	return strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) + s
}

// wrap breaks text at blanks into lines of at most width characters, each
// after the first behind the indent. Longer words are cut.
func wrap(first, indent, text string, width int) []string {
	var lines []string
	line, empty := first, true
	for _, w := range strings.Fields(printable(text)) {
		w = fit(w, width-utf8.RuneCountInString(indent))
		joined := line + " " + w
		if empty {
			joined = line + w
		}
		if utf8.RuneCountInString(joined) > width && !empty {
			lines = append(lines, line)
			joined = indent + w
		}
		line, empty = joined, false
	}
	if !empty {
		lines = append(lines, line)
	}
	return lines
}
