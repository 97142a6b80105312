package tune

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/record"
)

// storedRecord is a run with one result.
func storedRecord(at time.Time) record.Record {
	return record.Record{Schema: record.Schema, ID: at.Format("20060102T150405.000Z"), Started: at, Trials: []record.Trial{{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Started: at, Goodput: 1e8}}}
}

// TestTuneKeeps: a tune's record is kept, also when it was cut short.
func TestTuneKeeps(t *testing.T) {
	at := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for name, cause := range map[string]error{"to its end": nil, "cut short": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			place := filepath.Join(t.TempDir(), "history.db")
			var out, errs bytes.Buffer
			con := &console.Console{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
			ctx, cancel := context.WithCancel(context.Background())
			tune := &tuneRun{con: con, path: "fabric.yaml", stored: con.Keeper(ctx, place)}
			tune.flags.fabricOut = nowhere
			cancel()
			r := storedRecord(at)
			if err := tune.handOver(ctx, r, cause, time.Second); !errors.Is(err, cause) {
				t.Errorf("%v\n%s", err, errs.String())
			}
			if o := runArgs(t, "history", "show", r.ID, "--store", place); o.status != console.ExitDone || !strings.Contains(o.stdout, `"id": "`+r.ID+`"`) {
				t.Errorf("%d %s%s", o.status, o.stdout, errs.String())
			}
		})
	}
}
