package tune

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
)

// TestTuneJournal: hosts whose journal cannot be written are said in one line
// before a byte is sent; a dry run needs no journal.
func TestTuneJournal(t *testing.T) {
	run, _ := settledPair(t)
	known := strings.ReplaceAll(readText(t, run.path), "    network:", "    hardware: {links: {eth0: {speed: 100M}}}\n    network:")
	if err := os.WriteFile(run.path, []byte(known), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "record.json")
	o := runArgs(t, "tune", run.path, "--yes", "--journal", filepath.Join(file, "journal"), "-o", out)
	want := "linerate: tune: no change can be journalled: a: make journal directory: mkdir " + file + ": not a directory\n"
	if o.status != console.ExitFailed || o.stdout != "" || o.stderr != want {
		t.Errorf("%d %s%s", o.status, o.stdout, o.stderr)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("something was measured: %v", err)
	}
	o = runArgs(t, "tune", run.path, "--dry-run", "--journal", filepath.Join(file, "journal"))
	if o.status != console.ExitDone || !strings.HasPrefix(o.stdout, "expected now: ") {
		t.Errorf("dry run: %d %s%s", o.status, o.stdout, o.stderr)
	}
}

// TestWayBack: a tune that could not put a step back names the command that
// does, whatever it has kept by then.
func TestWayBack(t *testing.T) {
	var errs bytes.Buffer
	file := fabric.Fabric{Paths: []fabric.Path{{From: "a", To: "b"}}}
	run := &tuneRun{con: &console.Console{Stdout: &errs, Stderr: &errs}, file: file, path: "pair.yaml"}
	run.options.Path = file.Paths[0]
	cause := fmt.Errorf("%w: b: MTU of eth0 (`linerate rollback` tries it again)", campaign.ErrNotPutBack)
	err := run.handOver(t.Context(), record.Record{ID: "other", Tuning: &record.Tuning{Group: tunedRun}}, cause, 0)
	if console.Status(err) != console.ExitFailed || !strings.Contains(console.HintFor(err), "`linerate rollback "+run.path) || !strings.Contains(console.HintFor(err), tunedRun) {
		t.Errorf("%d %v; hint %q", console.Status(err), err, console.HintFor(err))
	}
}
