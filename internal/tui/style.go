package tui

import (
	"unicode/utf8"

	"github.com/linerate/linerate/internal/plaintext"
)

// Style paints words for a terminal. The colours are those sixteen that every
// terminal has and its user chose (ECMA-48 8.3.117, SGR); nothing is said by
// colour alone.
type Style struct{ colour bool }

// The styles.
var (
	Plain  = Style{}
	Colour = Style{colour: true}
)

func (s Style) paint(sgr, words string) string {
	if !s.colour || words == "" {
		return words
	}
	return "\x1b[" + sgr + "m" + words + "\x1b[0m"
}

// Strong is what is looked for first, Soft what surrounds it.
func (s Style) Strong(words string) string { return s.paint("1", words) }

// Soft is what surrounds: names, the time left.
func (s Style) Soft(words string) string { return s.paint("2", words) }

// Load is a load with room above it.
func (s Style) Load(words string) string { return s.paint("34", words) }

// Full is a load at its ceiling.
func (s Style) Full(words string) string { return s.paint("32", words) }

// Track is the free part of a bar.
func (s Style) Track(words string) string { return s.paint("2", words) }

// columns is the width of words; every character here is one column wide.
func columns(words string) int { return utf8.RuneCountInString(words) }

// cut shortens words to so many columns, with an ellipsis. What a terminal
// would obey in place of showing it is shown as a question mark.
func cut(words string, width int) string {
	words = plaintext.Line(words)
	if columns(words) <= width {
		return words
	}
	if width < 1 {
		return ""
	}
	return string([]rune(words)[:width-1]) + "…"
}

// fit makes words exactly so wide, to the left.
func fit(words string, width int) string {
	words = cut(words, width)
	for columns(words) < width {
		words += " "
	}
	return words
}

// right makes words so wide, to the right; longer ones stay whole.
func right(words string, width int) string {
	for columns(words) < width {
		words = " " + words
	}
	return words
}
