package report

import (
	"unicode/utf8"

	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/internal/textlayout"
)

// printable is a name or a note of a record as one line that moves no terminal.
func printable(s string) string { return plaintext.Line(s) }

// visible is a whole page without characters that control a terminal or turn
// text around; line ends and tabs stay.
func visible(page []byte) []byte { return plaintext.TextBytes(page) }

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

// squeeze shortens a name to n characters, the ellipsis in its middle: names of
// one site often have their beginning, or their end, in common.
func squeeze(s string, n int) string {
	c := []rune(s)
	if len(c) <= n || n < 3 {
		return fit(s, n)
	}
	head := n / 2
	return string(c[:head]) + "…" + string(c[len(c)-(n-1-head):])
}

// hostLink is a link and its host in n characters: where they are too many the
// host is cut, so that its links can be told apart.
func hostLink(host, link string, n int) string {
	const least = 2 // of the host
	host, link = printable(host), squeeze(printable(link), max(n-least-1, 1))
	room := max(n-utf8.RuneCountInString(link)-1, least)
	return fit(squeeze(host, room)+" "+link, n)
}

// fromTo is "a → b" in n characters: where they are too many both names are
// cut, and a short one leaves the other its room.
func fromTo(from, to string, n int) string {
	from, to = orUnknown(printable(from)), orUnknown(printable(to))
	room := max(n-utf8.RuneCountInString(" → "), 2)
	left, right := utf8.RuneCountInString(from), utf8.RuneCountInString(to)
	switch half := room / 2; {
	case left+right <= room:
	case left <= half:
		right = room - left
	case right <= half:
		left = room - right
	default:
		left, right = half, half
	}
	return squeeze(from, left) + " → " + squeeze(to, right)
}

// wrap breaks text at blanks into lines of at most width characters, each
// after the first behind the indent.
func wrap(first, indent, text string, width int) []string {
	return textlayout.Wrap(first, indent, printable(text), width)
}
