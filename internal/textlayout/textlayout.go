// Package textlayout sets text on lines of a given width: paragraphs broken at
// blanks, rows in columns. It counts characters, cuts no word of a paragraph (a
// command must stay one that can be pasted), and knows no terminal.
package textlayout

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks text at blanks into lines of at most width characters. The first
// line starts with first, the others with indent. A longer word has a line of its
// own; no word is no line. What backticks enclose stays on one line, wider than width
// where it must be: half a command that is pasted runs, too.
func Wrap(first, indent, text string, width int) []string {
	return Words(first, indent, quoted(strings.Fields(text)), width)
}

// Command breaks a shell's command over lines as Wrap does; each but the last ends
// with a backslash, so that they are one command when pasted. What single or double
// quotes enclose stays on one line.
func Command(first, indent, command string, width int) []string {
	const more = " \\"
	lines := Words(first, indent, unbroken(command), width-len(more))
	for i := range len(lines) - 1 {
		lines[i] += more
	}
	return lines
}

// unbroken splits a command at its blanks, those in quotes apart.
func unbroken(command string) []string {
	var out []string
	start := 0
	var quote rune
	for i, c := range command {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ':
			out, start = append(out, command[start:i]), i+1
		}
	}
	return append(out, command[start:])
}

// quoted joins the words of each command in backticks. A backtick that none follows
// encloses nothing.
func quoted(words []string) (out []string) {
	opens := func(w string) bool { return strings.Count(w, "`")%2 == 1 }
	for i := 0; i < len(words); i++ {
		if opens(words[i]) {
			end := i + 1
			for end < len(words) && !opens(words[end]) {
				end++
			}
			if end < len(words) {
				out = append(out, strings.Join(words[i:end+1], " "))
				i = end
				continue
			}
		}
		out = append(out, words[i])
	}
	return out
}

// Words is Wrap of words that may have blanks in them, such as quoted arguments.
func Words(first, indent string, words []string, width int) (lines []string) {
	line, empty := first, true
	for _, w := range words {
		joined := line + " " + w
		if empty {
			joined = line + w
		}
		if !empty && utf8.RuneCountInString(joined) > width {
			lines = append(lines, line)
			joined = indent + w
		}
		line, empty = joined, false
	}
	if empty {
		return nil
	}
	return append(lines, line)
}

// Columns sets rows in columns, two blanks apart, one where they would be wider
// than width; a width of zero is no bound. align has a letter a column: l for left,
// r for right; columns beyond it are left. Rows may be shorter than others. No line
// ends with blanks.
func Columns(rows [][]string, align string, width int) []string {
	var size []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(size) {
				size = append(size, 0)
			}
			size[i] = max(size[i], utf8.RuneCountInString(cell))
		}
	}
	total := -2
	for _, n := range size {
		total += n + 2
	}
	gap := "  "
	if width > 0 && total > width {
		gap = " "
	}
	lines := make([]string, len(rows))
	for k, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Left(cell, size[i])
			if i < len(align) && align[i] == 'r' {
				cells[i] = Right(cell, size[i])
			}
		}
		lines[k] = strings.TrimRight(strings.Join(cells, gap), " ")
	}
	return lines
}

// Left is s with blanks behind it up to n characters.
func Left(s string, n int) string { return s + blanks(s, n) }

// Right is s with blanks before it up to n characters.
func Right(s string, n int) string { return blanks(s, n) + s }

func blanks(s string, n int) string {
	return strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}
