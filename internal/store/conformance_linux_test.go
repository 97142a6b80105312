package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestSQLite and TestPostgreSQL are one suite: whatever it asks holds in both.
func TestSQLite(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	conformance(t, func(t *testing.T) string { return filepath.Join(t.TempDir(), "deep", "history.db") })
}

func TestPostgreSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	c := startCluster(t, "fsync=off") // what is tried is not whether the disk keeps it
	conformance(t, func(t *testing.T) string { return c.database(t) })
	t.Run("refused", func(t *testing.T) { refusals(t, c) })
}

// conformance is what a store does; place names one that is not there yet.
func conformance(t *testing.T, place func(t *testing.T) string) {
	for _, c := range []struct {
		name string
		of   func(t *testing.T, place string)
	}{
		{"gives back what it was given", givesBack}, {"keeps a run once", keepsOnce}, {"two runs of one id", oneID}, {"a path over time", pathOverTime},
		{"lists runs", listsRuns}, {"forgets", forgets}, {"writers at once", writersAtOnce}, {"a matrix of many hosts", manyHosts}, {"texts of all kinds", strangeTexts}, {"a record without a time", noTime},
		{"a damaged record", damagedRecord}, {"a newer schema", newerSchema}, {"a migration that fails", failingMigration}, {"nothing there", nothingThere}, {"cancelled", cancelled},
		{"a sample of the proof", sampleOfProof},
	} {
		t.Run(c.name, func(t *testing.T) { c.of(t, place(t)) })
	}
}

func open(tb testing.TB, place string) *Store {
	tb.Helper()
	s, err := Open(context.Background(), Config{Place: place, Create: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

func mustAdd(tb testing.TB, s *Store, r record.Record, want State) Added {
	tb.Helper()
	added, err := s.Add(context.Background(), r, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if added.State != want {
		tb.Errorf("record %s is %s, want %s", r.ID, added.State, want)
	}
	return added
}

var day0 = time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)

// trialOf is a result from alpha to beta.
func trialOf(d flow.Direction, streams int, at time.Time, rate unit.BitRate) record.Trial {
	return record.Trial{
		From: "alpha", To: "beta", Direction: d, Streams: streams, Protocol: "tcp", Tool: "linerate", Ports: "chosen", Started: at,
		Goodput: rate, GoodputLow: rate * 0.99, GoodputHigh: rate * 1.01, Ceiling: 1e9, Predicted: 0.9e9, Window: 3, Finding: &record.Finding{Direction: d, Cause: record.SingleLink},
	}
}

func recordOf(at time.Time, trials ...record.Trial) record.Record {
	return record.Record{
		Schema: record.Schema, ID: at.UTC().Format("20060102T150405.000Z"), Started: at, Linerate: "test", Environment: record.Environment{Kernel: "6.1", Hosts: []netstate.Host{{Name: "alpha"}, {Name: "beta"}}},
		Trials: trials,
	}
}

func givesBack(t *testing.T, place string) {
	s := open(t, place)
	r := recordOf(day0, trialOf(flow.Forward, 1, day0, 5e8))
	text := []byte("{ \"schema\": \"linerate.record/v1\", \"unknown\": [1, 2.50],\n \"trials\": [] }\n")
	added, err := s.Add(context.Background(), r, text)
	if err != nil || added.Run != r.ID {
		t.Fatalf("%+v, %v", added, err)
	}
	if _, got, err := s.Record(context.Background(), added.Run); err != nil || string(got) != string(text) {
		t.Errorf("%q, %v", got, err)
	}
	own := mustAdd(t, s, recordOf(day0.Add(time.Hour), r.Trials...), New)
	back, got, err := s.Record(context.Background(), own.Run)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recordOf(day0.Add(time.Hour), r.Trials...), back, cmpopts.EquateComparable(unit.BitRate(0)), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if !json.Valid(got) {
		t.Errorf("%q", got)
	}
	if _, _, err := s.Record(context.Background(), "none"); !errors.Is(err, ErrNoRun) {
		t.Errorf("a run that is not there: %v", err)
	}
}

func keepsOnce(t *testing.T, place string) {
	s := open(t, place)
	one, two := trialOf(flow.Forward, 1, day0, 5e8), trialOf(flow.Forward, 2, day0.Add(time.Minute), 6e8)
	mustAdd(t, s, recordOf(day0, one), New)
	mustAdd(t, s, recordOf(day0, one), Known)
	mustAdd(t, s, recordOf(day0, one, two), Grown)
	mustAdd(t, s, recordOf(day0, one), Known) // what it was before it went on
	// A trial that was handed in twice is one, and an explanation that came later is the last word.
	if added := mustAdd(t, s, recordOf(day0, one, two, two), Grown); added.Trials != 2 {
		t.Errorf("%d trials, want 2", added.Trials)
	}
	two.Finding = &record.Finding{Direction: flow.Forward, Cause: record.LineRate}
	mustAdd(t, s, recordOf(day0, one, two), Grown)
	runs, all, err := s.Runs(context.Background(), Span{}, 0)
	if err != nil || all != 1 || runs[0].Trials != 2 {
		t.Fatalf("%+v, %v", runs, err)
	}
	lines := linesOf(t, s, Query{From: "alpha", To: "beta"})
	if len(lines) != 2 || len(lines[0].Points) != 1 || len(lines[1].Points) != 1 || lines[1].Points[0].Cause != record.LineRate {
		t.Errorf("%+v", lines)
	}
}

func oneID(t *testing.T, place string) {
	s := open(t, place)
	here, there := recordOf(day0, trialOf(flow.Forward, 1, day0, 5e8)), recordOf(day0, trialOf(flow.Forward, 1, day0, 5e8))
	there.Fabric.Text = "another fabric, measured by another controller in the same millisecond"
	first, second := mustAdd(t, s, here, New), mustAdd(t, s, there, New)
	if first.Run != here.ID || !strings.HasPrefix(second.Run, here.ID+"-") {
		t.Errorf("%q and %q", first.Run, second.Run)
	}
	mustAdd(t, s, there, Known)
	if r, _, err := s.Record(context.Background(), second.Run); err != nil || r.Fabric.Text == "" {
		t.Errorf("%v, %v", r.Fabric, err)
	}
	// Another tool's files have no ids of ours: each is itself.
	bare := here
	bare.ID = ""
	if added := mustAdd(t, s, bare, New); added.Run == "" {
		t.Error("no name")
	}
	mustAdd(t, s, bare, Known)
}

func linesOf(tb testing.TB, s *Store, q Query) []history.Line {
	tb.Helper()
	lines, err := s.Lines(context.Background(), q)
	if err != nil {
		tb.Fatal(err)
	}
	return lines
}

func pathOverTime(t *testing.T, place string) {
	s := open(t, place)
	for i := range 10 {
		at := day0.AddDate(0, 0, 9-i) // the newest first: the order of adding is not that of time
		r := recordOf(at, trialOf(flow.Forward, 1, at, unit.BitRate(1e8*(10-i))), trialOf(flow.Both, 1, at.Add(time.Minute), 3e8), trialOf(flow.Forward, 8, at.Add(2*time.Minute), 2e8))
		other := trialOf(flow.Forward, 1, at, 7e8)
		other.To = "gamma"
		r.Trials = append(r.Trials, other)
		mustAdd(t, s, r, New)
	}
	turned := trialOf(flow.Reverse, 1, day0.AddDate(0, 0, 20), 4e8)
	turned.From, turned.To = "beta", "alpha"
	mustAdd(t, s, recordOf(turned.Started, turned), New)

	all := linesOf(t, s, Query{From: "alpha", To: "beta"})
	var keys []string
	for _, l := range all {
		keys = append(keys, fmt.Sprint(l.From, " ", l.To, " ", l.Direction, " ", l.Streams, ": ", len(l.Points)))
	}
	if diff := cmp.Diff([]string{"alpha beta forward 1: 11", "alpha beta forward 8: 10", "alpha beta both 1: 10"}, keys); diff != "" {
		t.Fatal(diff)
	}
	first, last := all[0].Points[0], all[0].Points[10]
	want := history.Point{Run: "20260301T030000.000Z", Started: day0, Goodput: 1e8, Low: 0.99e8, High: 1.01e8, Ceiling: 1e9, Cause: record.SingleLink}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	if last.Goodput != 4e8 || !slices.IsSortedFunc(all[0].Points, func(a, b history.Point) int { return a.Started.Compare(b.Started) }) {
		t.Errorf("%+v", all[0].Points)
	}
	for name, c := range map[string]struct {
		q    Query
		want int // points
	}{
		"direction": {Query{From: "alpha", To: "beta", Direction: flow.Both}, 10}, "as the other host sees it": {Query{From: "beta", To: "alpha", Direction: flow.Reverse, Streams: 1}, 11},
		"streams": {Query{From: "alpha", To: "beta", Streams: 8}, 10}, "another path": {Query{From: "alpha", To: "gamma"}, 10}, "no such path": {Query{From: "alpha", To: "delta"}, 0},
		"tool": {Query{From: "alpha", To: "beta", Tool: "iperf3"}, 0}, "protocol": {Query{From: "alpha", To: "beta", Protocol: "tcp", Streams: 8}, 10},
		"since": {Query{From: "alpha", To: "beta", Streams: 8, Span: Span{Since: day0.AddDate(0, 0, 5)}}, 5}, "until": {Query{From: "alpha", To: "beta", Direction: flow.Forward, Streams: 1, Span: Span{Until: day0.AddDate(0, 0, 5)}}, 5},
	} {
		n := 0
		for _, l := range linesOf(t, s, c.q) {
			n += len(l.Points)
		}
		if n != c.want {
			t.Errorf("%s: %d points, want %d", name, n, c.want)
		}
	}
}

func listsRuns(t *testing.T, place string) {
	s := open(t, place)
	for i := range 5 {
		at := day0.AddDate(0, 0, i)
		r := recordOf(at, trialOf(flow.Forward, 1, at, 5e8))
		r.Asked, r.Failures = &record.Asked{Trials: 3}, []record.Failure{{From: "alpha", To: "beta", Streams: 1, Error: "refused"}}
		r.Environment.BackEnd = "uml"
		mustAdd(t, s, r, New)
	}
	runs, all, err := s.Runs(context.Background(), Span{Since: day0.AddDate(0, 0, 1)}, 2)
	if err != nil || all != 4 || len(runs) != 2 {
		t.Fatalf("%d of %d, %v", len(runs), all, err)
	}
	want := Run{Name: "20260305T030000.000Z", ID: "20260305T030000.000Z", Started: day0.AddDate(0, 0, 4), Linerate: "test", Kernel: "6.1", BackEnd: "uml", Hosts: "alpha, beta", Trials: 1, Missing: 2, Failures: 1}
	if diff := cmp.Diff(want, runs[0], cmpopts.IgnoreFields(Run{}, "Added")); diff != "" || time.Since(runs[0].Added) > time.Hour {
		t.Error(diff, runs[0].Added)
	}
}

func forgets(t *testing.T, place string) {
	s := open(t, place)
	for i := range 4 {
		at := day0.AddDate(0, 0, i)
		trial := trialOf(flow.Forward, 1, at, 5e8)
		if i == 0 {
			trial.To = "gamma"
		}
		mustAdd(t, s, recordOf(at, trial), New)
	}
	before := day0.AddDate(0, 0, 2)
	for _, dry := range []bool{true, false} {
		got, err := s.Forget(context.Background(), before, dry)
		if err != nil || got != (Forgotten{Runs: 2, Trials: 2}) {
			t.Fatalf("dry %v: %+v, %v", dry, got, err)
		}
		want := 4
		if !dry {
			want = 2
		}
		if _, all, err := s.Runs(context.Background(), Span{}, 0); err != nil || all != want {
			t.Errorf("dry %v: %d runs, %v", dry, all, err)
		}
	}
	if lines := linesOf(t, s, Query{From: "alpha", To: "gamma"}); len(lines) > 0 {
		t.Errorf("%+v", lines)
	}
	for table, want := range map[string]int{"runs": 2, "records": 2, "trials": 2, "series": 1} {
		if n := count(t, s, table); n != want {
			t.Errorf("%s: %d rows, want %d", table, n, want)
		}
	}
	mustAdd(t, s, recordOf(day0, trialOf(flow.Forward, 1, day0, 5e8)), New)
}

func count(t *testing.T, s *Store, table string) (n int) {
	t.Helper()
	if err := s.db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
