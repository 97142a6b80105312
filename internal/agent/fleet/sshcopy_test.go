//go:build linux

package fleet

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// whatFarNeeds are the programs that the far script uses, beside gzip.
var whatFarNeeds = []string{"sh", "uname", "id", "sha256sum", "cut", "df", "tail", "tr", "mktemp", "chmod", "head", "cat", "touch", "ls", "rm", "tee"}

// TestCopiesAgent: the agent that is carried goes over packed where the host has gzip,
// and plain where it has not; it is there once for the run's connections, and goes.
func TestCopiesAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it builds the agent")
	}
	plain := filepath.Join(t.TempDir(), "agent")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", plain, "github.com/linerate/linerate/cmd/linerate-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, has := range map[string]bool{"with gzip": true, "without gzip": false} {
		t.Run(name, func(t *testing.T) {
			sent := fakeSSH(t, has)
			shared := &SSH{Dir: t.TempDir(), Agents: func(system string) []byte {
				if system != "linux/"+runtime.GOARCH {
					return nil
				}
				return packed.Bytes()
			}}
			before := copiesHere(t)
			h, err := Dial(t.Context(), "h", "ssh://h.invalid", Config{SSH: shared, Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(h.Hello.Methods, string(agentapi.Observe.Name)) {
				t.Errorf("it says %+v", h.Hello)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
			most, least := int64(len(text)), int64(0)
			if has {
				most = int64(packed.Len()) + 64<<10
			} else {
				most, least = most+64<<10, most
			}
			if n := sent(); n > most || n < least {
				t.Errorf("%d bytes were sent, want %d to %d", n, least, most)
			}
			again, err := Dial(t.Context(), "h", "ssh://h.invalid", Config{SSH: shared, Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			if n := sent(); n > most {
				t.Errorf("for a second connection it was sent again: %d bytes", n)
			}
			if now := copiesHere(t); len(now) != len(before)+1 {
				t.Errorf("copies %q, before them %q", now, before)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
			if err := shared.Close(); err != nil {
				t.Error(err)
			}
			if now := copiesHere(t); len(now) != len(before) {
				t.Errorf("left are %q, before %q", now, before)
			}
		})
	}
}

// fakeSSH is a far side on this machine, with gzip or without; sent is how many bytes
// it was sent.
func fakeSSH(t *testing.T, gzip bool) (sent func() int64) {
	t.Helper()
	dir, path := t.TempDir(), t.TempDir()
	programs := slices.Clone(whatFarNeeds)
	if gzip {
		programs = append(programs, "gzip")
	}
	for _, name := range programs {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("no %s here", name)
		}
		if err := os.Symlink(at, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(dir, "sent")
	script := "#!/bin/sh\ncase \" $* \" in *' -G '*|*' -O '*) exit;; esac\nfor last; do :; done\nexport PATH=" + path + "\ntee -a " + log + " | sh -c \"$last\"\n"
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() int64 {
		info, err := os.Stat(log)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
}

// copiesHere are the directories that programs were copied to on this machine.
func copiesHere(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("/tmp/linerate.*/linerate")
	if err != nil {
		t.Fatal(err)
	}
	return found
}
