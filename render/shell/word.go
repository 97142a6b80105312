// Package shell writes words of a POSIX shell, and reads and changes files of
// assignments in its syntax.
package shell

import (
	"strings"
)

// OneLine is text as part of a comment of one line.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
