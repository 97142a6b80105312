package root

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// TestWrongFiles: a file of another kind than a command wants is named as what it is,
// in plain words, with what to do.
func TestWrongFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"empty.json": "", "blank.json": " \n", "noise.json": "\x84\xac\x01", "text.json": "hello\n", "fabric.yaml": "linerate: v1\nhosts: {}\n", "result.json": `{"a": 1}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("dir.invalid", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, says, hint string }{
		{"report nosuch.json", "no such file", "check the name"},
		{"report empty.json", "the file is empty", "a record is"},
		{"compare blank.json", "the file is empty", "a record is"},
		{"report noise.json", "it is not JSON, so it is no record", "a record is"},
		{"compare text.json", "it is not JSON, so it is no record", "a record is"},
		{"compare fabric.yaml", "it is not JSON, so it is no record", "this is a fabric"},
		{"report result.json", `it has no "schema", so it is no record`, "a record is"},
		{"measure result.json", "it is a file, and no fabric", "linerate explain result.json"},
		{"measure dir.invalid", "it is a directory", "name a file in it"},
		{"report dir.invalid", "it is a directory", "name a file in it"},
		{"predict dir.invalid", "it is a directory", "name a file in it"},
	} {
		o := run(t, "", strings.Fields(c.args)...)
		if o.status != console.ExitUsage || !strings.Contains(o.stderr, c.says) || !strings.Contains(o.stderr, "\nhint: ") || !strings.Contains(o.stderr, c.hint) {
			t.Errorf("%s: exit %d: %s", c.args, o.status, o.stderr)
		}
	}
}

// TestWhereNobodyWrites: a file in a directory that is not the user's is no matter for
// root, and no name is told that nobody gave.
func TestWhereNobodyWrites(t *testing.T) {
	record, err := filepath.Abs("../../../report/testdata/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	const place = "/sys/linerate-test.html" // even root makes no file there
	o := run(t, "", "report", record, "-o", place)
	if o.status == console.ExitDone || !strings.Contains(o.stderr, "linerate: write "+place+": ") || strings.Contains(o.stderr, "/.linerate-") {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
	if !strings.Contains(o.stderr, "hint: you may not write in /sys") || strings.Contains(o.stderr, "sudo") {
		t.Errorf("hint: %s", o.stderr)
	}
}

// TestNoHome: without a home nothing is looked for, or written, in the working directory.
func TestNoHome(t *testing.T) {
	if os.Geteuid() == 0 {
		con := &console.Console{Getenv: func(string) string { return "" }}
		if dir := con.IdentityDir(); dir != "/etc/linerate" {
			t.Errorf("root's identity is in %q", dir)
		}
		return
	}
	t.Chdir(t.TempDir())
	t.Setenv("HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	for args, want := range map[string]string{"serve": "--state DIR", "serve identities": "--state DIR", "enroll -": "", "history": "--store FILE"} {
		if o := run(t, "", strings.Fields(args)...); o.status == console.ExitDone || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d: %s", args, o.status, o.stderr)
		}
	}
	if made, err := os.ReadDir("."); err != nil || len(made) > 0 {
		t.Errorf("%v, %v", made, err)
	}
}
