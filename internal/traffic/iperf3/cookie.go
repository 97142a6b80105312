package iperf3

import (
	"bytes"
	"fmt"
)

// CookieLength is the bytes of a cookie on the wire: 36 characters and a zero.
const CookieLength = 37

// Cookie names one test. Its control connection and each of its TCP data
// connections begin with it. The zero Cookie is none.
type Cookie [CookieLength]byte

// cookieLetters are what iperf3 draws from: base 32, in small letters.
const cookieLetters = "abcdefghijklmnopqrstuvwxyz234567"

// NewCookie makes a cookie of random bytes, of which it wants 36.
func NewCookie(random [CookieLength - 1]byte) Cookie {
	var c Cookie
	for i, b := range random {
		c[i] = cookieLetters[int(b)%len(cookieLetters)]
	}
	return c
}

// ParseCookie reads what a connection begins with. Only the form is checked:
// printable characters, then zeros to the end. Errors are ErrMalformed.
func ParseCookie(b []byte) (Cookie, error) {
	var c Cookie
	if len(b) != CookieLength {
		return c, fmt.Errorf("%w: cookie of %d bytes, want %d", ErrMalformed, len(b), CookieLength)
	}
	text, rest, ended := bytes.Cut(b, []byte{0})
	if !ended || len(text) == 0 || len(bytes.Trim(rest, "\x00")) > 0 {
		return c, fmt.Errorf("%w: cookie does not end where it must", ErrMalformed)
	}
	for _, ch := range text {
		if ch <= ' ' || ch > '~' {
			return c, fmt.Errorf("%w: cookie has byte %#02x", ErrMalformed, ch)
		}
	}
	copy(c[:], b)
	return c, nil
}

// String is the cookie's text, without its zero.
func (c Cookie) String() string {
	text, _, _ := bytes.Cut(c[:], []byte{0})
	return string(text)
}
