package piece

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is one file as it was given.
type Text struct {
	Name  string
	Host  string // whose it is, as the user says; "" not said
	Bytes []byte
	// Command or Path is what the whole text is known to be the output of, or the file
	// that it is: a member of an archive. Such a text has no prompts and no markup.
	Command, Path string
	First         int // number of its first line where it is part of a file; 0 is 1
}

// Whole reports a text of which is known what it is.
func (t Text) Whole() bool { return t.Command != "" || t.Path != "" }

// Line is a line of a text, cleaned, with where it stands: lines count from 1.
type Line struct {
	File   string
	Number int
	Text   string
}

// mostBytes is how much of a text is read: a whole archive is not pasted.
const mostBytes = 64 << 20

// decoded is the text as UTF-8: PowerShell writes UTF-16, old logs are Latin-1.
func decoded(b []byte) string {
	if len(b) > mostBytes {
		b = b[:mostBytes]
	}
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return fromUTF16(b[2:], binary.LittleEndian)
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		return fromUTF16(b[2:], binary.BigEndian)
	case bytes.HasPrefix(b, []byte{0xef, 0xbb, 0xbf}):
		b = b[3:]
	case alternatingNULs(b):
		return fromUTF16(b, binary.LittleEndian)
	}
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 {
			r = rune(b[0]) // Latin-1
		}
		out.WriteRune(r)
		b = b[size:]
	}
	return out.String()
}

// alternatingNULs reports UTF-16 of plain ASCII without its mark.
func alternatingNULs(b []byte) bool {
	n := min(len(b), 256)
	if n < 16 {
		return false
	}
	nuls := 0
	for i := 1; i < n; i += 2 {
		if b[i] == 0 && b[i-1] != 0 {
			nuls++
		}
	}
	return nuls > n/2*9/10
}

func fromUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// LinesOf are a text's lines as they stand, without their ends. A carriage return
// within a line is a progress bar's: what follows the last one counts.
func LinesOf(t Text) []Line {
	all := strings.Split(decoded(t.Bytes), "\n")
	if n := len(all); n > 0 && all[n-1] == "" {
		all = all[:n-1]
	}
	out, first := make([]Line, len(all)), max(t.First, 1)
	for i, line := range all {
		line = strings.TrimRight(line, "\r")
		if at := strings.LastIndexByte(line, '\r'); at >= 0 {
			line = line[at+1:]
		}
		out[i] = Line{File: t.Name, Number: first + i, Text: line}
	}
	return out
}
