package fleet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/plaintext"
)

// Why a host cannot be reached by ssh; each is an ErrUnreachable too.
var (
	// ErrHostKey: its host key is not known, or is another one than was.
	ErrHostKey = &unreachable{"its host key is not accepted"}
	// ErrLogin: ssh is not let in with the keys that it has.
	ErrLogin = &unreachable{"the login is refused"}
	// ErrBecome: sudo does not run linerate there without a question.
	ErrBecome = &unreachable{"cannot become root"}
	// ErrCopy: linerate cannot be put on the host.
	ErrCopy = &unreachable{"cannot copy linerate there"}
	// ErrNoName: nobody knows an address for its name.
	ErrNoName = &unreachable{"its name has no address"}
	// ErrDead: nothing answers where its sshd should.
	ErrDead = &unreachable{"it does not answer"}
	// ErrNoProgram: there is no linerate here for the host's system.
	ErrNoProgram = &unreachable{"no linerate for it here"}
)

// unreachable is a kind of ErrUnreachable.
type unreachable struct{ what string }

func (u *unreachable) Error() string        { return u.what }
func (u *unreachable) Is(target error) bool { return target == ErrUnreachable }

// sshSigns is the one table of what OpenSSH, sudo and shells say, and what it
// means. The first that matches counts.
var sshSigns = [...]struct {
	said string
	kind error
	why  string // "" is the line in which it was said
}{
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", ErrHostKey, "it is another one than before"},
	{"Host key verification failed", ErrHostKey, "it is not in known_hosts"},
	{"Permission denied (", ErrLogin, ""},
	{"Too many authentication failures", ErrLogin, ""},
	{"Bad owner or permissions on", ErrLogin, ""},
	{"Could not resolve hostname", ErrNoName, ""},
	{"No route to host", ErrDead, ""},
	{"Network is unreachable", ErrDead, ""},
	{"Connection timed out", ErrDead, ""},
	{"Operation timed out", ErrDead, ""},
	{"Connection refused", ErrDead, ""},
	{"a password is required", ErrBecome, "sudo asks for a password"},
	{"a terminal is required", ErrBecome, "sudo asks for a password"},
	{"you must have a tty", ErrBecome, "sudo wants a terminal (requiretty)"},
	{"is not in the sudoers file", ErrBecome, ""},
	{"is not allowed to", ErrBecome, ""},
	{"may not run sudo", ErrBecome, ""},
	{"sudo: not found", ErrBecome, "there is no sudo"},
	{"sudo: command not found", ErrBecome, "there is no sudo"},
	{"sudo: ", ErrBecome, ""},
}

// refused is what ssh, sudo or a far shell said as one error; nil for silence, or
// for what is no text.
func (r sshReach) refused(words string) error {
	if words == "" {
		return nil
	}
	lines := strings.Split(words, "\n")
	for _, s := range sshSigns {
		for _, line := range lines {
			if !strings.Contains(line, s.said) || errors.Is(s.kind, ErrBecome) && r.become == "" {
				continue
			}
			why := s.why
			if why == "" {
				why = plain(line)
			}
			return fmt.Errorf("%w: %s", s.kind, why)
		}
	}
	last := plain(lines[len(lines)-1])
	if last == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrUnreachable, last)
}

// plain is a line from elsewhere, without what a terminal would obey.
func plain(line string) string {
	return strings.TrimSpace(plaintext.Line(strings.ToValidUTF8(line[:min(len(line), 300)], "")))
}
