package cli

import "strings"

// outdented breaks text like wrapped, with the lines that do not fit two columns
// in.
func outdented(lead, text string, width int) string {
	first, rest, found := strings.Cut(wrapped("", lead+text, width), "\n")
	if !found || rest == "" {
		return first + "\n"
	}
	return first + "\n" + wrapped("  ", rest, width)
}

// wrapped breaks text into lines of at most width columns; the first starts
// with lead, the others with as many blanks.
func wrapped(lead, text string, width int) string {
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
