// Package wire is what travels on NATS between controllers, agents and the run
// store: subjects, the roles that methods take and what each role may, what a
// signature is over, and how a long message is cut. Nothing here connects. Don't
// believe a subject: it is a server's word.
package wire

import (
	"bytes"
	"errors"
	"fmt"
)

// Version is that of the subjects and headers below; it is part of every
// subject, so that two of them can stand side by side in one cluster.
const Version = "v2"

// Bounds of what is taken from the bus.
const (
	MostRequest = 16 << 20  // bytes of a request, as on a pipe
	mostAsked   = 256 << 10 // of one that changes nothing: what it makes of them is many times that
	MostReply   = 64 << 20  // bytes of a reply, as on a pipe
	MostState   = 512 << 10 // bytes of what a host says of itself
	mostParts   = 4096      // messages of one request or reply
)

// How many values a text of JSON may have that somebody else wrote, and how many of
// them lists and objects.
const (
	mostValues = 4 << 20
	mostOpened = 500_000 // a host with 65,536 routes has a third of it
)

// CheckValues is nil for a text of JSON with no more values than can be read: an
// empty object is two bytes of it, and hundreds of memory. Errors: ErrParts.
func CheckValues(text []byte) error {
	if n := bytes.Count(text, []byte(",")); n > mostValues {
		return fmt.Errorf("%w: %d values, want at most %d", ErrParts, n, mostValues)
	}
	if n := opened(text); n > mostOpened {
		return fmt.Errorf("%w: %d lists and objects, want at most %d", ErrParts, n, mostOpened)
	}
	return nil
}

// opened counts the lists and objects of a JSON text.
func opened(text []byte) int {
	n, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '{' || c == '['):
			n++
		}
	}
	return n
}

// ErrName is a name that cannot be part of a subject.
var ErrName = errors.New("bad name")

// longestName is that of a host in DNS's words: one label.
const longestName = 63

// CheckName is nil for a name that may stand in a subject, a key or a file's
// name: letters, digits, "-" and "_", the first a letter or a digit. Anything
// else (dots, wildcards, blanks, path separators) is ErrName. What says whose
// name it is, such as "host".
func CheckName(what, name string) error {
	if len(name) == 0 || len(name) > longestName {
		return fmt.Errorf("%s %.70q: %w: want 1 to %d characters", what, name, ErrName, longestName)
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_') {
			return fmt.Errorf("%s %.70q: %w: want letters, digits, - and _", what, name, ErrName)
		}
	}
	return nil
}
