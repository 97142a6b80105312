package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/agent/fleet"
)

func TestTargetBecomes(t *testing.T) {
	for _, c := range []struct{ become, arg, want string }{
		{"", "ssh://ann@h", "ssh://ann@h"}, {"sudo", "ssh://ann@h", "ssh://ann@h?become=sudo"}, {"sudo", "ssh://ann@h?become=sudo", "ssh://ann@h?become=sudo"},
		{"sudo", "local:", "local:"}, {"sudo", "netns:x", "netns:x"}, {"doas", "ssh://ann@h", ""},
	} {
		got, err := (&App{become: c.become}).target(c.arg)
		if (err != nil) != (c.want == "") || got.reach != c.want || err != nil && !errors.Is(err, errUsage) {
			t.Errorf("--become %q %s: %q, %v; want %q", c.become, c.arg, got.reach, err, c.want)
		}
	}
	if got := asTyped("ssh://ann@h?become=sudo"); got != "ssh://ann@h --become sudo" {
		t.Errorf("as typed: %s", got)
	}
}

func TestSSHHints(t *testing.T) {
	for err, want := range map[error]string{
		fleet.ErrHostKey: "ssh-keygen -R", fleet.ErrLogin: "ssh ann@h true", fleet.ErrBecome: "ann ALL=(root) NOPASSWD", fleet.ErrCopy: "/usr/local/bin", fleet.ErrNoProgram: "--binaries",
		fleet.ErrNoName: "DNS", fleet.ErrDead: "is the host up",
	} {
		if got := sshHint("ssh://ann@h?become=sudo", err); !strings.Contains(got, want) || status(err) != exitUnreachable {
			t.Errorf("%v: %q, status %d; want %q and %d", err, got, status(err), want, exitUnreachable)
		}
	}
	if got := sshHint("ssh://h", fleet.ErrUnreachable); got != "" {
		t.Errorf("a host that is away: %q", got)
	}
}
