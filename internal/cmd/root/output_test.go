//go:build unix && !aix

package root

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/store"
)

// umask sets the process's umask for a test.
func umask(t *testing.T, mask int) {
	t.Helper()
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

// someRecord is a record on the disk.
func someRecord(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "report", "testdata", "sample.json"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOutputObeysUmaskAndMode is the finding: `umask 077; discover -o` made 0644,
// `chmod 600 r.html; report -o r.html` made it 0644.
func TestOutputObeysUmaskAndMode(t *testing.T) {
	umask(t, 0o077)
	rec := someRecord(t)
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"f.yaml": {"discover", "local:", "-o"}, "r.html": {"report", rec, "-o"}, "r.md": {"report", rec, "-o"}, "r.csv": {"report", rec, "-o"},
		"h.tar.gz": {"inspect", "local:", "--capture"},
	} {
		path := filepath.Join(dir, name)
		if o := run(t, "", append(args, path)...); o.status != console.ExitDone {
			t.Fatalf("%v: exit %d: %s", args, o.status, o.stderr)
		}
		if mode := modeOf(t, path); mode != 0o600 {
			t.Errorf("%v under umask 077: mode %v", args, mode)
		}
	}
	umask(t, 0o022)
	for _, name := range []string{"r.html", "r.csv"} {
		path := filepath.Join(dir, name)
		if o := run(t, "", "report", rec, "-o", path); o.status != console.ExitDone {
			t.Fatalf("exit %d: %s", o.status, o.stderr)
		}
		if mode := modeOf(t, path); mode != 0o600 {
			t.Errorf("%s was 0600 and is %v", name, mode)
		}
	}
}

// TestOutputThroughLinksAndPipes is the finding: links, pipes and devices were
// replaced by plain files.
func TestOutputThroughLinksAndPipes(t *testing.T) {
	rec, dir := someRecord(t), t.TempDir()
	real, linked, pipe := filepath.Join(dir, "real.csv"), filepath.Join(dir, "l.csv"), filepath.Join(dir, "p.csv")
	if err := errors.Join(os.WriteFile(real, []byte("old\n"), 0o640), os.Symlink("real.csv", linked), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		text, _ := os.ReadFile(pipe)
		read <- string(text)
	}()
	for _, path := range []string{linked, pipe} {
		if o := run(t, "", "report", rec, "-o", path); o.status != console.ExitDone {
			t.Fatalf("%s: exit %d: %s", path, o.status, o.stderr)
		}
	}
	text, err := os.ReadFile(real)
	if err != nil || !strings.HasPrefix(string(text), "id,") {
		t.Errorf("behind the link: %.40q, %v", text, err)
	}
	select {
	case got := <-read:
		if got != string(text) {
			t.Errorf("through the pipe: %.40q", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came through the pipe")
	}
	if modeOf(t, linked)&fs.ModeSymlink == 0 || modeOf(t, pipe)&fs.ModeNamedPipe == 0 || modeOf(t, real) != 0o640 {
		t.Errorf("link %v, pipe %v, file %v", modeOf(t, linked), modeOf(t, pipe), modeOf(t, real))
	}
}

// TestOutputMakesNoTree: a typo in a directory's name is refused by every command
// before its work, and nothing is made.
func TestOutputMakesNoTree(t *testing.T) {
	rec, dir := someRecord(t), t.TempDir()
	for _, args := range [][]string{
		{"report", rec, "-o", "none/r.html"}, {"report", rec, "--plots", "none/more"}, {"discover", "local:", "-o", "none/f.yaml"},
		{"measure", "netns:a", "netns:b", "-o", "none/r.json"}, {"inspect", "--capture", "none/h.tar.gz"}, {"history", "show", "x", "-o", "none/r.json"},
		{"lab", "run", "two-links", "-o", "none/r.json"}, {"lab", "up", "two-links", "-o", "none/f.yaml"}, {"demo", "--out", "none/more"},
		{"explain", rec, "--probe", "-o", "none/r.json"}, {"lab", "report", rec, "-o", "none/more"},
	} {
		args[len(args)-1] = filepath.Join(dir, args[len(args)-1])
		o := run(t, "", args...)
		if o.status != console.ExitUsage || !strings.Contains(o.stderr, ": no directory "+filepath.Join(dir, "none")) {
			// What replicas reads is checked first.
			if args[1] != "report" {
				t.Errorf("%v: exit %d: %s", args, o.status, o.stderr)
			}
		}
		if _, err := os.Lstat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%v made the directory", args)
		}
	}
}

// TestOutputFlags: every command that has -o has --force with it.
func TestOutputFlags(t *testing.T) {
	con := &console.Console{Version: "test", Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	found := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Flags().ShorthandLookup("o") == nil {
			return
		}
		found++
		directory := c.Name() == "member" || c.CommandPath() == "linerate lab report" // its files are made for it alone
		if c.Flags().Lookup("force") == nil && !directory {
			t.Errorf("%s has -o and no --force", c.CommandPath())
		}
	}
	walk(New(con))
	if found < 9 {
		t.Errorf("only %d commands with -o", found)
	}
}

// TestReadingIsInterruptible: a pipe that a user named and nobody writes does not
// keep a command from ending.
func TestReadingIsInterruptible(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"explain", pipe}, {"report", pipe}, {"compare", pipe, pipe}, {"history", "add", pipe, "--store", filepath.Join(t.TempDir(), "s.db")},
		{"predict", pipe}, {"plan", pipe}, {"measure", pipe}, {"render", pipe, "--to", "netplan"}, {"render", "--from", pipe, "--to", "fabric"},
		{"steer", "show", "--policy", "layer3+4", "--links", "2", "--flows", pipe}, {"listen", "--token-file", pipe}, {"inspect", "--root", pipe},
		{"predict", "--calibrate", pipe}, {"lab", "show", pipe},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		con := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: new(strings.Builder), Stderr: new(strings.Builder), Getenv: os.Getenv}
		root := New(con)
		root.SetArgs(args)
		ended := make(chan error, 1)
		go func() { ended <- root.ExecuteContext(ctx) }()
		select {
		case err := <-ended:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v: %v", args, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%v does not end", args)
		}
		cancel()
	}
}

// TestReadingPipes: where one file is named it may be a pipe, as `<(...)` makes
// it, also for commands that look at the file first.
func TestReadingPipes(t *testing.T) {
	text, err := os.ReadFile(someRecord(t))
	if err != nil {
		t.Fatal(err)
	}
	const fabricText = "linerate: v1\nhosts:\n  a: {network: {version: 2, ethernets: {eth0: {addresses: [10.0.0.1/24]}}}}\n  b: {network: {version: 2, ethernets: {eth0: {addresses: [10.0.0.2/24]}}}}\npaths: [{between: [a, b], rate: 1G}]\n"
	for _, c := range []struct {
		text string
		args []string
	}{
		{string(text), []string{"explain", "PIPE"}}, {string(text), []string{"report", "PIPE"}}, {fabricText, []string{"predict", "PIPE"}},
		{string(text), []string{"predict", "--calibrate", "PIPE"}},
		{"proto,src,dst,sport,dport\ntcp,10.0.0.1,10.0.0.2,1000,5201\n", []string{"steer", "show", "--policy", "layer3+4", "--links", "2", "--flows", "PIPE"}},
	} {
		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		go func() { _ = os.WriteFile(pipe, []byte(c.text), 0) }()
		args := append([]string(nil), c.args...)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "PIPE", pipe)
		}
		if o := run(t, "", args...); o.status != console.ExitDone || o.stdout == "" {
			t.Errorf("%v: exit %d: %s", c.args, o.status, o.stderr)
		}
	}
}

// TestStoreIsItsUsersAlone is the finding: `history add --store ./s.db` made a
// store of mode 0644 in a directory that was there already.
func TestStoreIsItsUsersAlone(t *testing.T) {
	umask(t, 0o022)
	dir := t.TempDir()
	db := filepath.Join(dir, "s.db")
	if o := run(t, "", "history", "add", filepath.Join("..", "..", "..", "record", "testdata", "v1", "measure.json"), "--store", db); o.status != console.ExitDone {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
	s, err := store.Open(t.Context(), store.Config{Place: db, Create: true}) // as long as it is open its other files are there
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, _, err := s.Runs(t.Context(), store.Span{}, 0); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 3 {
		t.Errorf("only %v, %v", files, err)
	}
	for _, f := range files {
		if mode := modeOf(t, f); mode != 0o600 {
			t.Errorf("%s: mode %v", f, mode)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// fullDisk is a place where nothing fits.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A trial's case 22: an answer that did not get where it was sent is no success.
func TestOutputThatIsLost(t *testing.T) {
	con := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: fullDisk{}, Stderr: new(bytes.Buffer), Getenv: os.Getenv}
	if status := Run(con, []string{"version"}); status != console.ExitFailed {
		t.Errorf("exit %d", status)
	}
}
