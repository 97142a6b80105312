package store

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
)

// writersAtOnce: every writer opens the store anew, and the first of them make
// it; half of what they add the others add too.
func writersAtOnce(t *testing.T, place string) {
	const writers, each = 6, 12
	var all sync.WaitGroup
	errs := make(chan error, writers*each)
	for w := range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			s, err := Open(context.Background(), Config{Place: place, Create: true})
			if err != nil {
				errs <- err
				return
			}
			defer s.Close()
			for i := range each {
				at := day0.AddDate(0, 0, i)
				if i%2 == 1 {
					at = at.Add(time.Duration(w+1) * time.Hour)
				}
				if _, err := s.Add(context.Background(), recordOf(at, trialOf(flow.Forward, i+1, at, 5e8)), nil); err != nil {
					errs <- err
				}
				if _, err := s.Lines(context.Background(), Query{From: "alpha", To: "beta"}); err != nil {
					errs <- err
				}
			}
		}()
	}
	all.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	s := open(t, place)
	if n, want := count(t, s, "runs"), each/2+writers*each/2; n != want || count(t, s, "trials") != want {
		t.Errorf("%d runs and %d trials, want %d", n, count(t, s, "trials"), want)
	}
	if n := count(t, s, "series"); n != each {
		t.Errorf("%d series, want %d", n, each)
	}
}

// manyHosts: more pairs than one statement asks for, and a second run that finds
// them all.
func manyHosts(t *testing.T, place string) {
	const hosts = 40
	s := open(t, place)
	for _, at := range []time.Time{day0, day0.AddDate(0, 0, 1)} {
		r := recordOf(at)
		for a := range hosts {
			for b := range hosts {
				if a != b {
					trial := trialOf(flow.Forward, 1, at, 5e8)
					trial.From, trial.To = hostName(a), hostName(b)
					r.Trials = append(r.Trials, trial)
				}
			}
		}
		mustAdd(t, s, r, New)
	}
	const pairs = hosts * (hosts - 1)
	if series, trials := count(t, s, "series"), count(t, s, "trials"); series != pairs || trials != 2*pairs {
		t.Errorf("%d series and %d trials, want %d and %d", series, trials, pairs, 2*pairs)
	}
}

func strangeTexts(t *testing.T, place string) {
	s := open(t, place)
	trial := trialOf(flow.Forward, 1<<40, day0, 5e8)
	trial.From, trial.To, trial.Variant = "a'; DROP TABLE runs; --", "b\x00\xff\"$1", strings.Repeat("ü", 3000)
	r := recordOf(day0, trial)
	r.ID = "id\x00 'of' \xff nothing"
	added := mustAdd(t, s, r, New)
	mustAdd(t, s, r, Known)
	if _, _, err := s.Record(context.Background(), added.Run); err != nil {
		t.Error(err)
	}
	if lines := linesOf(t, s, Query{From: trial.From, To: trial.To}); len(lines) != 1 || lines[0].Streams != 1<<40 {
		t.Errorf("%+v", lines)
	}
	empty := recordOf(day0.Add(time.Hour))
	mustAdd(t, s, empty, New)
}

func noTime(t *testing.T, place string) {
	s := open(t, place)
	for _, at := range []time.Time{{}, time.Date(1066, 10, 14, 9, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if _, err := s.Add(context.Background(), recordOf(at, trialOf(flow.Forward, 1, at, 5e8)), nil); !errors.Is(err, ErrNoTime) {
			t.Errorf("%v: %v", at, err)
		}
	}
	// A trial that says none has the record's.
	mustAdd(t, s, recordOf(day0, trialOf(flow.Forward, 1, time.Time{}, 5e8)), New)
	if lines := linesOf(t, s, Query{From: "alpha", To: "beta"}); !lines[0].Points[0].Started.Equal(day0) {
		t.Errorf("%+v", lines)
	}
}

func damagedRecord(t *testing.T, place string) {
	s := open(t, place)
	added := mustAdd(t, s, recordOf(day0, trialOf(flow.Forward, 1, day0, 5e8)), New)
	other, err := pack([]byte(`{"schema":"linerate.record/v1"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, packed := range map[string][]byte{"no gzip": []byte("nothing"), "cut": other[:12], "another": other} {
		if _, err := s.db.Exec(`UPDATE records SET json_gzip = $1`, packed); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Record(context.Background(), added.Run); !errors.Is(err, ErrNotStore) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func newerSchema(t *testing.T, place string) {
	if err := open(t, place).Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, place, `INSERT INTO linerate_schema (version, name, applied_ns) VALUES (99, 'of the future', 0)`)
	if _, err := Open(context.Background(), Config{Place: place, Create: true}); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "99") {
		t.Error(err)
	}
}

func failingMigration(t *testing.T, place string) {
	s := open(t, place)
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	next := len(steps) + 1
	broken := append(steps, migration{next, "added", `CREATE TABLE added (x BIGINT)`}, migration{next + 1, "broken", `CREATE TABLE halfway (x BIGINT); INSERT INTO nowhere VALUES (1)`})
	if err := s.migrate(context.Background(), broken, true); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Fatalf("%v", err)
	}
	if v, err := s.version(context.Background(), s.db); err != nil || v != len(steps) {
		t.Errorf("version %d, %v", v, err)
	}
	// Nothing of it is there: the good one can be made.
	if err := s.migrate(context.Background(), broken[:next], true); err != nil {
		t.Error(err)
	}
	if v, err := s.version(context.Background(), s.db); err != nil || v != next {
		t.Errorf("version %d, %v", v, err)
	}
}

func nothingThere(t *testing.T, place string) {
	if _, err := Open(context.Background(), Config{Place: place}); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if err := open(t, place).Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), Config{Place: place})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if runs, all, err := s.Runs(context.Background(), Span{}, 20); err != nil || all != 0 || len(runs) != 0 {
		t.Errorf("%v, %v", runs, err)
	}
}

func cancelled(t *testing.T, place string) {
	s := open(t, place)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, addErr := s.Add(ctx, recordOf(day0, trialOf(flow.Forward, 1, day0, 5e8)), nil)
	_, _, runsErr := s.Runs(ctx, Span{}, 0)
	_, linesErr := s.Lines(ctx, Query{From: "alpha", To: "beta"})
	_, openErr := Open(ctx, Config{Place: place})
	for _, err := range []error{addErr, runsErr, linesErr, openErr} {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
