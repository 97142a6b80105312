// Package plaintext makes text of strangers fit for a terminal: records, hosts'
// states, names of links, errors from far hosts, banners of ssh. It is the one
// place that knows what a terminal would obey in place of showing it.
package plaintext

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Harmless reports a character that a terminal only shows: no control character
// of ASCII or Latin-1 (ECMA-48: C0, DEL, C1), nothing that turns text around or
// is invisible (Unicode category Cf), no line or paragraph separator, and not
// what stands for bytes that are no UTF-8.
func Harmless(r rune) bool {
	return r != utf8.RuneError && !unicode.IsControl(r) && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Line is s as one line: white space that ends or moves a line becomes a blank,
// any other character that is not Harmless a question mark.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case !Harmless(r):
			return '?'
		}
		return r
	}, s)
}

// Text is s as lines: ends of lines and tabs stay, any other character that is
// not Harmless becomes a question mark.
func Text(s string) string { return strings.Map(ofText, s) }

// TextBytes is Text of bytes.
func TextBytes(b []byte) []byte { return bytes.Map(ofText, b) }

func ofText(r rune) rune {
	if r == '\n' || r == '\t' || Harmless(r) {
		return r
	}
	return '?'
}

// JSON is a JSON document that says the same and holds only what Text lets
// through: the characters that an encoder leaves as they are (DEL, C1, those
// that turn text around) are escaped (RFC 8259, section 7). A document without
// such characters comes back as it is.
func JSON(document []byte) []byte {
	if bytes.IndexFunc(document, outsideJSON) < 0 {
		return document
	}
	var out bytes.Buffer
	for len(document) > 0 {
		r, size := utf8.DecodeRune(document)
		switch {
		case !outsideJSON(r):
			out.Write(document[:size])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		document = document[size:]
	}
	return out.Bytes()
}

// outsideJSON is what must be escaped. A carriage return is white space there.
func outsideJSON(r rune) bool { return r != '\n' && r != '\t' && r != '\r' && !Harmless(r) }

// ShellWord makes s one word of a POSIX shell. A link's name may hold almost any
// byte, and what holds it is pasted into root shells.
func ShellWord(s string) string {
	unsafe := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-+:/@%,=", r)
	}
	if s != "" && !strings.ContainsFunc(s, unsafe) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
