package root

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
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

// TestKeepFile: of a run that writes its record itself, the new record is kept,
// also when the run failed; not one that lay there before.
func TestKeepFile(t *testing.T) {
	at := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name      string
		old, new  *record.Record
		fails     bool
		cancelled bool
		want      int
	}{
		{name: "nothing written"}, {name: "new", new: new(storedRecord(at)), want: 1}, {name: "only the old one", old: new(storedRecord(at))},
		{name: "the old one replaced", old: new(storedRecord(at)), new: new(storedRecord(at.Add(time.Hour))), want: 1},
		{name: "a run that failed", new: new(storedRecord(at)), fails: true, want: 1},
		{name: "an interrupted run", new: new(storedRecord(at)), fails: true, cancelled: true, want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, place := filepath.Join(t.TempDir(), "record.json"), filepath.Join(t.TempDir(), "history.db")
			write := func(r *record.Record) {
				if r != nil {
					if err := console.WriteJSON(context.Background(), file, *r); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(c.old)
			var errs bytes.Buffer
			con := &console.Console{Stderr: &errs, Getenv: func(string) string { return "" }}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			failed := errors.New("failed")
			err := con.Keeper(ctx, place).KeepFile(ctx, file, func() error {
				write(c.new)
				if c.cancelled {
					cancel()
				}
				if c.fails {
					return failed
				}
				return nil
			})
			if errors.Is(err, failed) != c.fails {
				t.Error(err)
			}
			doc := document(t, run(t, "", "history", "--store", place, "--json"))
			if got := doc["runs_count"]; got != float64(c.want) {
				t.Errorf("%v runs are kept, want %d\n%s", got, c.want, errs.String())
			}
		})
	}
}

func TestHistoryHelpFits(t *testing.T) {
	for _, words := range [][]string{{"history"}, {"history", "add"}, {"history", "show"}, {"history", "forget"}, {"compare"}, {"demo"}} {
		fits(t, run(t, "", append(words, "--help")...).stdout)
	}
}
