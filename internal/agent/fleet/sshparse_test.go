package fleet

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseSSH(t *testing.T) {
	for _, c := range []struct {
		reach string
		want  []string // nil is ErrReach
		root  Become
	}{
		{"ssh://root@192.0.2.11", []string{"-l", "root", "--", "192.0.2.11"}, ""},
		{"ssh://h", []string{"--", "h"}, ""},
		{"ssh://h:2222/", []string{"-p", "2222", "--", "h"}, ""},
		{"ssh://u@[2001:db8::1]:22?become=sudo", []string{"-p", "22", "-l", "u", "--", "2001:db8::1"}, BecomeSudo},
		{"ssh://-oProxyCommand=x", nil, ""}, {"ssh://-oProxyCommand=x@h", nil, ""}, {"ssh://", nil, ""}, {"ssh://h/rm", nil, ""}, {"http://h", nil, ""},
		{"ssh://ann.b-c_d@corp.example@h_1.example-2", []string{"-l", "ann.b-c_d@corp.example", "--", "h_1.example-2"}, ""},
		{"ssh://u@[fe80::1%25eth0]", []string{"-l", "u", "--", "fe80::1%eth0"}, ""},
		// A ProxyCommand of the user's with %h or %r is a shell's (CVE-2023-51385).
		{"ssh://u@h$(id)", nil, ""}, {"ssh://u@h`id`", nil, ""}, {"ssh://u@h;id", nil, ""}, {"ssh://u@h%7Cid", nil, ""}, {"ssh://u@h%26id", nil, ""}, {"ssh://u@h%20id", nil, ""},
		{"ssh://u@h'x", nil, ""}, {"ssh://$(id)@h", nil, ""}, {"ssh://%60id%60@h", nil, ""}, {"ssh://a%0Ab@h", nil, ""}, {"ssh://a%5Cb@h", nil, ""}, {"ssh://a;id@h", nil, ""},
		{"ssh://%2DoProxyCommand=x@h", nil, ""}, {"ssh://u%25h@h", nil, ""}, {"ssh://u:secret@h", nil, ""}, {"ssh://u:@h", nil, ""},
		{"ssh://h?become=doas", nil, ""}, {"ssh://h?become=sudo&become=sudo", nil, ""}, {"ssh://h?sudo", nil, ""}, {"ssh://h#x", nil, ""}, {"ssh://h?become=%zz", nil, ""},
	} {
		got, err := parseSSH(c.reach)
		if c.want == nil {
			if !errors.Is(err, ErrReach) {
				t.Errorf("%s: %+v, %v, want ErrReach", c.reach, got, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got.arguments(), c.want) || got.become != c.root {
			t.Errorf("%s: %v become %q, %v; want %v %q", c.reach, got.arguments(), got.become, err, c.want, c.root)
		}
	}
}

// Whoever writes a password is told of keys, and it is not printed.
func TestPasswordInReach(t *testing.T) {
	for _, reach := range []string{"ssh://ann:secret@h", "ssh://ann:secret@h?become=doas", "ssh://ann:secret@h;id"} {
		_, err := parseSSH(reach)
		if !errors.Is(err, ErrReach) || !strings.Contains(err.Error(), "ssh-copy-id") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", reach, err)
		}
	}
	if _, err := parseSSH("ssh://u@h$(id)"); err == nil || !strings.Contains(err.Error(), "~/.ssh/config") {
		t.Errorf("a host that a shell reads: %v, want what to do", err)
	}
}

func FuzzParseSSH(f *testing.F) {
	f.Add("ssh://u@h:22?become=sudo")
	f.Fuzz(func(t *testing.T, reach string) {
		r, err := parseSSH(reach)
		if err != nil {
			return
		}
		args := r.arguments()
		if n := len(args); args[n-2] != "--" || args[n-1] == "" || strings.HasPrefix(r.user, "-") || strings.ContainsAny(r.user+r.host+r.port, " \t\n\r\x00$`'\"\\;&|<>(){}*?!~#") {
			t.Errorf("%q: %q", reach, args)
		}
	})
}

// What the login shell takes apart must mean the same to all of them.
func TestFarScriptIsPlain(t *testing.T) {
	if i := strings.IndexAny(farScript, "'\\!\n\r"); i >= 0 {
		t.Errorf("%q at %d: not every login shell leaves it alone in single quotes", farScript[i], i)
	}
	asked := 0
	for _, shell := range []string{"dash", "bash", "busybox"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		asked++
		args := []string{"-n", "-c", farScript}
		if shell == "busybox" {
			args = append([]string{"sh"}, args...)
		}
		if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
	if asked == 0 {
		t.Skip("no dash, bash or busybox here: install one")
	}
}

func TestGoSystem(t *testing.T) {
	for from, want := range map[[2]string]string{
		{"Linux", "x86_64"}: "linux/amd64", {"Linux", "aarch64"}: "linux/arm64", {"Linux", "i686"}: "linux/386", {"FreeBSD", "amd64"}: "freebsd/amd64",
		{"AIX", "00F9C1964C00"}: "aix/ppc64", {"Darwin", "arm64"}: "darwin/arm64", {"Linux", "riscv64"}: "linux/riscv64",
	} {
		if got := goSystem(from[0], from[1]); got != want {
			t.Errorf("%v: %s, want %s", from, got, want)
		}
	}
}

func TestSameRelease(t *testing.T) {
	for _, c := range []struct {
		theirs, ours string
		want         bool
	}{
		{"linerate version v1.2.0", "v1.2.0", true}, {"linerate version v1.2.0", "v1.2.1", false}, {"linerate version dev", "dev", false},
		{"linerate version v1.2.0-3-gabc", "v1.2.0-3-gabc", false}, {"", "", false}, {"v1.2.0", "v1.2.0", false},
	} {
		if got := sameRelease(c.theirs, c.ours); got != c.want {
			t.Errorf("%q and %q: %v", c.theirs, c.ours, got)
		}
	}
}

func TestProgramForAnotherSystem(t *testing.T) {
	dir := t.TempDir()
	there := far{system: "Linux", machine: "s390x"}
	if _, err := (&SSH{}).program(there); !errors.Is(err, ErrNoProgram) || !strings.Contains(err.Error(), "s390x") {
		t.Errorf("without a directory: %v", err)
	}
	s := &SSH{Binaries: dir}
	if _, err := s.program(there); !errors.Is(err, ErrNoProgram) || !strings.Contains(err.Error(), dir+" has no linerate-linux-s390x") {
		t.Errorf("an empty directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "linerate-linux-s390x"), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := s.program(there)
	if err != nil || got.size != 3 || got.sum != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSSHWords(t *testing.T) {
	sudo := sshReach{host: "h", become: BecomeSudo}
	for _, c := range []struct {
		to    sshReach
		words string
		kind  error
		ends  string
	}{
		{sudo, "sudo: a password is required", ErrBecome, "sudo asks for a password"},
		{sudo, "Sorry, user ann is not allowed to execute '/tmp/x' as root on h.", ErrBecome, "user ann is not allowed to execute '/tmp/x' as root on h."},
		{sudo, "sh: 1: sudo: not found", ErrBecome, "there is no sudo"},
		{sshReach{}, "x\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!   @\r\nHost key verification failed.\r\n", ErrHostKey, "another one than before"},
		{sshReach{}, "No ED25519 host key is known for h and you have requested strict checking.\nHost key verification failed.", ErrHostKey, "not in known_hosts"},
		{sshReach{}, "ann@h: Permission denied (publickey).", ErrLogin, "ann@h: Permission denied (publickey)."},
		{sshReach{}, "ssh: connect to host h port 22: Connection timed out", ErrUnreachable, "Connection timed out"},
		{sshReach{}, "banner\n\x1b[31mbye", ErrUnreachable, ": ?[31mbye"},
	} {
		err := c.to.refused(c.words)
		if !errors.Is(err, c.kind) || !errors.Is(err, ErrUnreachable) || !strings.HasSuffix(err.Error(), c.ends) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q: %v", c.words, err)
		}
	}
	if err := sudo.refused(""); err != nil {
		t.Errorf("silence: %v", err)
	}
}
