package root

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/cmd/console"
)

// outcome is one finished command.
type outcome struct {
	status         int
	stdout, stderr string
}

// run runs a command line as main does, with buffers for the terminal.
func run(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	con := &console.Console{Version: "test", Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Getenv: os.Getenv, Checked: fitsSchema(t)}
	status := Run(con, args)
	return outcome{status, out.String(), errs.String()}
}

// document reads the one JSON document that a command printed.
func document(t *testing.T, o outcome) map[string]any {
	t.Helper()
	if o.status != console.ExitDone {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
	d := json.NewDecoder(strings.NewReader(o.stdout))
	var doc map[string]any
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("read JSON: %v\n%s", err, o.stdout)
	}
	if d.More() {
		t.Fatalf("more than one document:\n%s", o.stdout)
	}
	return doc
}

func keys(doc any) []string {
	m, _ := doc.(map[string]any)
	var names []string
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

// wantKeys demands every key of want and allows those of may.
func wantKeys(t *testing.T, what string, doc any, want string, may ...string) {
	t.Helper()
	var got []string
	for _, k := range keys(doc) {
		if !slices.Contains(may, k) {
			got = append(got, k)
		}
	}
	wanted := strings.Fields(want)
	slices.Sort(wanted)
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("keys of %s (-want +got):\n%s", what, diff)
	}
}

// refused demands the status, one error line that begins with line, and a
// hint that contains hint ("" for none); and nothing on standard output, with
// --json and without.
func refused(t *testing.T, stdin string, status int, line, hint string, args ...string) {
	t.Helper()
	for _, extra := range [][]string{nil, {"--json"}} {
		o := run(t, stdin, append(slices.Clone(args), extra...)...)
		lines := strings.Split(strings.TrimSuffix(o.stderr, "\n"), "\n")
		var told []string // without progress
		for _, l := range lines {
			if strings.HasPrefix(l, "linerate: ") || strings.HasPrefix(l, "hint: ") {
				told = append(told, l)
			}
		}
		if o.status != status || o.stdout != "" || len(told) == 0 || !strings.HasPrefix(told[0], "linerate: "+line) {
			t.Errorf("%q: exit %d, want %d and %q; stdout %q, stderr %q", args, o.status, status, line, o.stdout, o.stderr)
			continue
		}
		switch {
		case hint == "" && len(told) > 1:
			t.Errorf("%q: unexpected %q", args, told[1:])
		case hint != "" && (len(told) != 2 || !strings.HasPrefix(told[1], "hint: ") || !strings.Contains(told[1], hint)):
			t.Errorf("%q: hint %q, want %q", args, told[1:], hint)
		}
	}
}

// file writes a file of the test's own and returns its name.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// fits demands lines of at most 80 columns.
func fits(t *testing.T, text string) {
	t.Helper()
	for l := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(l, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, l)
		}
	}
}
