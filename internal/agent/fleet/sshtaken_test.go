//go:build unix

package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A copy of an earlier agent is run only out of a directory that is ours alone: when
// ours has gone somebody else may have made one of its name, and may change what is in
// it after it was checked.
func TestCopyOfAnotherIsNotRun(t *testing.T) {
	const agent = "#!/bin/sh\nexit 0\n"
	sum := sha256.Sum256([]byte(agent))
	for name, c := range map[string]struct {
		make func(dir string) error
		runs bool
	}{
		"ours":                    {func(string) error { return nil }, true},
		"another user's":          {func(dir string) error { return os.Chown(dir, 65534, 65534) }, false},
		"one that others write":   {func(dir string) error { return os.Chmod(dir, 0o777) }, false},
		"one that others look at": {func(dir string) error { return os.Chmod(dir, 0o755) }, false},
		"a link to one of ours": {func(dir string) error {
			if err := os.Rename(dir, dir+".real"); err != nil {
				return err
			}
			return os.Symlink(dir+".real", dir)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "another") && os.Geteuid() != 0 {
				t.Skip("giving a file away takes root")
			}
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(top, "linerate.x")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "linerate"), []byte(agent), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := c.make(dir); err != nil {
				t.Fatal(err)
			}
			far := exec.Command("sh", "-c", farScript, "linerate", "-")
			far.Stdin = strings.NewReader(fmt.Sprintf("keep - - %s - %s\n", hex.EncodeToString(sum[:]), dir))
			said, err := far.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			if runs := strings.Contains(string(said), mark+"ready"); runs != c.runs {
				t.Errorf("it is run: %v, want %v:\n%s", runs, c.runs, said)
			}
		})
	}
}

// What ssh and far shells say moves no cursor and turns no text around: control
// characters of Latin-1 too.
func TestFarWordsAreHarmless(t *testing.T) {
	err := sshReach{}.refused("a\u009b31mred \x1b]0;title\a \u202eback \xff.")
	if text := fmt.Sprint(err); strings.ContainsAny(text, "\x1b\a\u009b\u202e") || !strings.Contains(text, "red") {
		t.Errorf("%q", text)
	}
}
