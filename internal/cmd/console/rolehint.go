package console

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
)

// What the bus and its agents say where a role does not allow something
// (package bus, and fleet over NATS). Over the wire an error is its text.
var (
	lacksRole  = regexp.MustCompile(`it takes the role (watch|measure|change)(?:, (?:which )?(\S+) has)?`)
	askedBy    = regexp.MustCompile(`asked (?:as \S+ )?by (\S+?):`)
	servesMost = regexp.MustCompile(`this agent serves (watch|measure|change) and no more`)
)

// roleHint is what to do about a role that somebody lacks on the bus, where being
// root is of no use; "" for any other error.
func roleHint(err error) string {
	if !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	text := err.Error()
	if m := servesMost.FindStringSubmatch(text); m != nil {
		return "the host itself limits what it is asked: `linerate agent --most " + m[1] + "` runs there"
	}
	m := lacksRole.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	role, user := m[1], m[2]
	if by := askedBy.FindStringSubmatch(text); user == "" && by != nil {
		user = by[1]
	}
	user = strings.Trim(user, ",;:")
	if user == "" {
		user = "NAME"
	}
	return "where `linerate serve` runs, `linerate serve token --role " + role + " --user " + user + " --replace` gives the role; `linerate enroll --replace -` reads the token here"
}
