package console

import (
	"io"
	"strings"
)

// ascii writes the signs that linerate's own text has beyond ASCII as what a
// terminal without UTF-8 shows, each as wide as it was.
// Names and JSON documents stay as they are.
type ascii struct {
	con  *Console
	to   io.Writer
	sign *strings.Replacer
}

// ASCII writes for a terminal without UTF-8: what System gives one.
func ASCII(con *Console, to io.Writer) io.Writer { return newASCII(con, to) }

func newASCII(con *Console, to io.Writer) *ascii {
	return &ascii{con: con, to: to, sign: strings.NewReplacer(
		"→", ">", "←", "<", "⇄", "=", "…", "~", "·", "-", "×", "x", "–", "-", "≤", "<", "≥", ">", "µ", "u",
		"✓", "+", "↶", "<", "█", "#", "▏", ".", "▎", ".", "▍", ".", "▌", ":", "▋", ":", "▊", "#", "▉", "#")}
}

func (a *ascii) Write(p []byte) (int, error) {
	if a.con.JSON {
		return a.to.Write(p)
	}
	if _, err := io.WriteString(a.to, a.sign.Replace(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
