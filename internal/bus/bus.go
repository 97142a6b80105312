// Package bus is what travels on NATS between controllers, agents and the run
// store: subjects, roles and what each may, what a signature is over, and how a
// long message is cut. Nothing here connects.
package bus

import (
	"errors"
	"fmt"
)

// Version is that of the subjects and headers below; it is part of every
// subject, so that two of them can stand side by side in one cluster.
const Version = "v2"

// Bounds of what is taken from the bus.
const (
	MostRequest = 16 << 20  // bytes of a request, as on a pipe
	MostReply   = 64 << 20  // bytes of a reply, as on a pipe
	MostState   = 512 << 10 // bytes of what a host says of itself
	mostParts   = 4096      // messages of one request or reply
)

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
