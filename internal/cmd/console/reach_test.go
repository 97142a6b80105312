package console

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/agent/fleet"
)

func TestParseTargets(t *testing.T) {
	got, err := new(Console).Targets([]string{"ssh://root@192.0.2.11", "ssh://192.0.2.11:2222", "netns:a", "ssh://[2001:db8::1]"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, target := range got {
		names = append(names, target.Name)
	}
	if want := "192.0.2.11 192.0.2.11-2 a 2001:db8::1"; strings.Join(names, " ") != want {
		t.Errorf("names %q, want %q", names, want)
	}
}

// User A10: root is no answer to a role that is lacked.
func TestRoleHints(t *testing.T) {
	for text, want := range map[string]string{
		"ask db1 for apply: %w: eve needs the role change (has: measure)":    "serve token --role change --user eve --replace",
		"apply: %w: eve needs the role change (has: watch)":                  "serve token --role change --user eve --replace",
		"db1: apply asked as watch: %w: eve needs the role change":           "serve token --role change --user eve --replace",
		"db1: apply asked by adm: %w: this agent serves measure and no more": "linerate agent --most measure",
		"open ICMP socket: %w": "--become sudo",
	} {
		hint := HintFor(fmt.Errorf(text, fs.ErrPermission))
		if !strings.Contains(hint, want) || strings.Contains(text, "role") && strings.Contains(hint, "root") {
			t.Errorf("%s: %q, want %q", text, hint, want)
		}
	}
}

// The name of a file is no host: what reads files is said.
func TestTargetOfAFile(t *testing.T) {
	for _, arg := range []string{"fabric.yaml", "record.json", "dir/paste"} {
		_, err := (&Console{}).Target(arg)
		if hint := HintFor(err); !errors.Is(err, ErrUsage) || !strings.Contains(hint, "`linerate discover --from "+arg+"`") || strings.Contains(hint, "root@"+arg) {
			t.Errorf("%s: %v, hint %q", arg, err, hint)
		}
	}
}

func TestTargetBecomes(t *testing.T) {
	for _, c := range []struct{ become, arg, want string }{
		{"", "ssh://ann@h", "ssh://ann@h"}, {"sudo", "ssh://ann@h", "ssh://ann@h?become=sudo"}, {"sudo", "ssh://ann@h?become=sudo", "ssh://ann@h?become=sudo"},
		{"sudo", "local:", "local:"}, {"sudo", "netns:x", "netns:x"}, {"doas", "ssh://ann@h", ""},
	} {
		got, err := (&Console{Become: c.become}).Target(c.arg)
		if (err != nil) != (c.want == "") || got.Reach != c.want || err != nil && !errors.Is(err, ErrUsage) {
			t.Errorf("--become %q %s: %q, %v; want %q", c.become, c.arg, got.Reach, err, c.want)
		}
	}
	if got := AsTyped("ssh://ann@h?become=sudo"); got != "ssh://ann@h --become sudo" {
		t.Errorf("as typed: %s", got)
	}
}

func TestSSHHints(t *testing.T) {
	for err, want := range map[error]string{
		fleet.ErrHostKey: "ssh-keygen -R", fleet.ErrLogin: "ssh ann@h true", fleet.ErrBecome: "ann ALL=(root) NOPASSWD", fleet.ErrCopy: "/usr/local/bin", fleet.ErrNoProgram: "--binaries",
		fleet.ErrNoName: "DNS", fleet.ErrDead: "is the host up",
	} {
		if got := SSHHint("ssh://ann@h?become=sudo", err); !strings.Contains(got, want) || Status(err) != ExitUnreachable {
			t.Errorf("%v: %q, status %d; want %q and %d", err, got, Status(err), want, ExitUnreachable)
		}
	}
	if got := SSHHint("ssh://h", fleet.ErrUnreachable); got != "" {
		t.Errorf("a host that is away: %q", got)
	}
}
