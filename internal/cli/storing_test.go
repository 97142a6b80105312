package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
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
					if err := writeJSON(context.Background(), file, *r); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(c.old)
			var errs bytes.Buffer
			app := &App{Stderr: &errs, Getenv: func(string) string { return "" }}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			failed := errors.New("failed")
			err := app.keeper(ctx, place).keepFile(ctx, file, func() error {
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

// TestStorePlace: where a command's store is.
func TestStorePlace(t *testing.T) {
	env := map[string]string{"XDG_STATE_HOME": "/state", "HOME": "/home/x"}
	app := &App{Getenv: func(key string) string { return env[key] }}
	own := "/state/linerate/history.db"
	if os.Geteuid() == 0 {
		own = "/var/lib/linerate/history.db"
	}
	for word, want := range map[string]string{"": "", "none": "", "default": own, "a.db": "a.db", "postgres://h/d": "postgres://h/d"} {
		if got, err := app.storePlace(word); err != nil || got != want {
			t.Errorf("%q: %q, %v", word, got, err)
		}
	}
	env[envStore] = filepath.Join(t.TempDir(), "history.db")
	if k := app.keeper(context.Background(), ""); k.place != env[envStore] {
		t.Errorf("%+v", k)
	}
	if k := app.keeper(context.Background(), "none"); k.place != "" {
		t.Errorf("%+v", k)
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"": {}, "30d": now.AddDate(0, 0, -30), "12h": now.Add(-12 * time.Hour), "2w": now.AddDate(0, 0, -14), "90m": now.Add(-90 * time.Minute), "1.5d": now.Add(-36 * time.Hour), "45s": now.Add(-45 * time.Second),
		"2026-01-31": time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), "2026-01-31T10:00:00+02:00": time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC), "1y": now.Add(-365 * 24 * time.Hour),
	} {
		if got, err := parseSince("since", s, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"30", "yesterday", "-3d", "NaNd", "1e300y", "2026-13-01", "d"} {
		if got, err := parseSince("since", s, now); err == nil || !strings.Contains(err.Error(), "--since: want a time in m, h, d, w or y, or a date") {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
}

func TestHistoryHelpFits(t *testing.T) {
	for _, words := range [][]string{{"history"}, {"history", "add"}, {"history", "show"}, {"history", "forget"}, {"compare"}, {"demo"}} {
		fits(t, run(t, "", append(words, "--help")...).stdout)
	}
}

// TestTuneKeeps: a tune's record is kept, also when it was cut short.
func TestTuneKeeps(t *testing.T) {
	at := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for name, cause := range map[string]error{"to its end": nil, "cut short": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			place := filepath.Join(t.TempDir(), "history.db")
			var out, errs bytes.Buffer
			app := &App{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
			ctx, cancel := context.WithCancel(context.Background())
			tune := &tuneRun{app: app, path: "fabric.yaml", stored: app.keeper(ctx, place)}
			tune.flags.fabricOut = nowhere
			cancel()
			r := storedRecord(at)
			if err := tune.handOver(ctx, r, cause, time.Second); !errors.Is(err, cause) {
				t.Errorf("%v\n%s", err, errs.String())
			}
			if o := run(t, "", "history", "show", r.ID, "--store", place); o.status != exitDone || !strings.Contains(o.stdout, `"id": "`+r.ID+`"`) {
				t.Errorf("%d %s%s", o.status, o.stdout, errs.String())
			}
		})
	}
}
