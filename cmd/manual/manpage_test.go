package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
)

func TestClean(t *testing.T) {
	got := clean(".nh\n.TH \"X\" \"1\" \"Nov 2023\" \"x 1\" \"x\"\n\n.SH OPTIONS\n\\fB--a\\fP=\"\"\n\tone,\ntwo\n\n.PP\n\\fB--b\\fP\n\tthree\n\n.EX\n  a\n\n  b\n.EE\n", time.Unix(1.7e9, 0).UTC())
	want := ".nh\n.TH \"X\" \"1\" \"2023-11-14\" \"x 1\" \"x\"\n.SH OPTIONS\n.TP\n\\fB--a\\fP=\"\"\none,\ntwo\n.TP\n\\fB--b\\fP\nthree\n.EX\n  a\n\n  b\n.EE\n"
	if got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

// Every page is one that mandoc takes without a warning, and the completions are ones
// that their shells read.
func TestPagesAndCompletions(t *testing.T) {
	dir := t.TempDir()
	tree := root.New(console.System("1.0"))
	tree.InitDefaultCompletionCmd()
	if err := pages(tree, "1.0", time.Unix(1.7e9, 0).UTC(), filepath.Join(dir, "man")); err != nil {
		t.Fatal(err)
	}
	if err := completions(tree, dir); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(dir, "man", "*.1"))
	if err != nil || len(all) < 30 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"mandoc", append([]string{"-T", "lint", "-W", "warning"}, all...)}, {"bash", []string{"-n", filepath.Join(dir, "linerate.bash")}},
		{"zsh", []string{"-n", filepath.Join(dir, "_linerate")}}, {"fish", []string{"-n", filepath.Join(dir, "linerate.fish")}},
	} {
		path, err := exec.LookPath(c.name)
		if err != nil {
			t.Logf("no %s here: left out", c.name)
			continue
		}
		cmd := exec.Command(path, c.args...)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "" {
			t.Errorf("%s: %v\n%.2000s", c.name, err, out)
		}
	}
}
