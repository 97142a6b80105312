//go:build !aix

package results

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/record"
)

// filled is a record with trials, one of them longer than a message.
func filled(n int) record.Record {
	r := record.Record{
		Schema: record.Schema, ID: "20260301T101500.000Z", Started: time.Date(2026, 3, 1, 10, 15, 0, 0, time.UTC),
		Fabric: record.Fabric{File: "f.yaml", Text: strings.Repeat("# a line\n", 300000)}, Latency: []record.Latency{{From: "a", To: "b", AvgMS: 1}},
		Asked: &record.Asked{Trials: n},
	}
	for i := range n {
		t := record.Trial{From: "a", To: fmt.Sprintf("h%d", i/2), Direction: flow.Forward, Streams: 4, Protocol: "tcp", Ports: "chosen"} // each twice
		if i == 1 {
			t.Notes = []string{strings.Repeat("0123456789", 300000)}
		}
		r.Trials = append(r.Trials, t)
	}
	return r
}

// What is kept comes back whole and in order, each trial once, also where two
// keep the same, as a controller does that was not sure.
func TestKeepAndRead(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	r := testcluster.Start(t, nil)
	conn := testcluster.Connect(t, r.As(t, "eve", agentapi.RoleMeasure))
	want := filled(21)
	name := RunName(want.ID)
	for range 2 {
		keeper, err := Keeper(conn, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 2, 20, 21, 21} {
			part := want
			part.Trials = want.Trials[:n]
			if err := keeper.Keep(t.Context(), part); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A watcher may read it.
	reader := testcluster.Connect(t, r.As(t, "bob", agentapi.RoleWatch))
	keeper, err := Keeper(reader, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keeper.Read(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another's run: %v", err)
	}
	runs, err := List(t.Context(), reader)
	if err != nil || len(runs) != 1 || runs[0] != (Kept{"eve", name}) {
		t.Fatalf("runs %v, %v", runs, err)
	}
	got, err := Of(t.Context(), reader, runs[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the record (-want +got):\n%.2000s", diff)
	}
	// And not write it.
	more := want
	more.Trials = append(more.Trials, record.Trial{From: "x", To: "y"})
	if err := keeper.Keep(t.Context(), more); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a watcher keeps a result: %v", err)
	}
}

// Follow brings each trial, also those of several messages, of before and of after
// it began.
func TestFollow(t *testing.T) {
	r := testcluster.Start(t, nil)
	conn := testcluster.Connect(t, r.As(t, "eve", agentapi.RoleMeasure))
	all := filled(6)
	for i := range all.Trials {
		all.Trials[i].To = fmt.Sprint("h", i)
	}
	keeper, err := Keeper(conn, RunName(all.ID), nil)
	if err != nil {
		t.Fatal(err)
	}
	keep := func(n int) {
		t.Helper()
		part := all
		part.Trials = all.Trials[:n]
		if err := keeper.Keep(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
	keep(3)
	ctx, stop := context.WithCancel(t.Context())
	came, ended := make(chan record.Trial, 10), make(chan error, 1)
	go func() {
		ended <- r.Server.Store().Follow(ctx, time.Now().Add(-time.Hour), func(run string, trial record.Trial) {
			if run != "eve."+RunName(all.ID) {
				t.Errorf("run %q", run)
			}
			came <- trial
		})
	}()
	for i, want := range all.Trials {
		if i == 3 {
			keep(6)
		}
		select {
		case got := <-came:
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("trial %d (-want +got):\n%.500s", i, diff)
			}
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(20 * time.Second):
			t.Fatalf("trial %d never came", i)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestParseKept(t *testing.T) {
	for text, want := range map[string]string{"20260301T101500-000Z": "me/20260301T101500-000Z", "eve/run": "eve/run"} {
		if got, err := ParseKept(text, "me"); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "/", "a/b/c", "eve/", "*/run", "eve/>"} {
		if _, err := ParseKept(text, "me"); !errors.Is(err, wire.ErrName) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestKeeperRefuses(t *testing.T) {
	r := testcluster.Start(t, nil)
	conn := testcluster.Connect(t, r.As(t, "eve", agentapi.RoleMeasure))
	for _, name := range []string{"", "a.b", ">", "../x"} {
		if _, err := Keeper(conn, name, nil); !errors.Is(err, wire.ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	keeper, err := Keeper(conn, "none", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keeper.Read(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that is not there: %v", err)
	}
}

// TestQuiet: how long ago a host spoke is the run store's word, not that of the host's
// clock, which may be wrong by days.
func TestQuiet(t *testing.T) {
	r := testcluster.Start(t, nil)
	off := map[string]time.Duration{"db1": -48 * time.Hour, "db2": 48 * time.Hour}
	for host, by := range off {
		state := fmt.Sprintf(`{"written":%q}`, time.Now().Add(by).Format(time.RFC3339))
		if reply := testcluster.State(t, testcluster.Connect(t, r.As(t, host, agentapi.RoleAgent)), host, []byte(state)); reply.Error != "" {
			t.Fatal(reply.Error)
		}
	}
	conn := testcluster.Connect(t, r.As(t, "eve", agentapi.RoleWatch))
	for end := time.Now().Add(10 * time.Second); len(r.Server.Store().States()) < len(off) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
	}
	asked, refused, err := States(t.Context(), conn)
	if err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	for who, states := range map[string]map[string]wire.State{"asked": asked, "in the server": r.Server.Store().States()} {
		for host := range off {
			if s, there := states[host]; !there || s.Quiet <= 0 || s.Quiet > time.Minute {
				t.Errorf("%s: %s is quiet for %v", who, host, s.Quiet)
			}
		}
	}
}

// What no link carries is neither kept nor read, as a trial and beside the trials.
func TestRatesOfNoLink(t *testing.T) {
	r := testcluster.Start(t, nil)
	conn := testcluster.Connect(t, r.As(t, "eve", agentapi.RoleMeasure))
	fast := filled(1)
	fast.Trials[0].Goodput = 1e308
	steps := filled(0)
	steps.Steps = []record.Step{{After: 1e308}}
	for what, rec := range map[string]record.Record{"a trial": fast, "a step": steps} {
		keeper, err := Keeper(conn, "one", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := keeper.Keep(t.Context(), rec); err == nil {
			t.Errorf("%s of 1e308 bit/s was kept", what)
		}
	}
	// Somebody's own program keeps it all the same.
	keeper, err := Keeper(conn, "two", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Keep(t.Context(), filled(0)); err != nil {
		t.Fatal(err)
	}
	p := wire.Split([]byte(`{"goodput_bps":1e308}`), 1000)[0]
	if err := keeper.put(t.Context(), wire.StoreParams{Key: wire.TrialKey(strings.Repeat("0", 24), 1), Part: p.Without()}, p.Body); err != nil {
		t.Fatal(err)
	}
	if _, err := keeper.Read(t.Context()); !errors.Is(err, wire.ErrParts) {
		t.Errorf("a run with a trial of 1e308 bit/s: %v", err)
	}
}

// A trial that was broken off is replaced when it is kept again, one that is whole is
// not, and neither is mixed with parts that come late.
func TestBrokenOffTrial(t *testing.T) {
	r := testcluster.Start(t, nil)
	keeper, err := Keeper(testcluster.Connect(t, r.As(t, "eve", agentapi.RoleMeasure)), "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Keep(t.Context(), filled(0)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	told, ended := make(chan string, 10), make(chan error, 1)
	go func() {
		ended <- r.Server.Store().Follow(ctx, time.Now().Add(-time.Hour), func(_ string, trial record.Trial) { told <- trial.To })
	}()
	put := func(to string, size, first, last int) {
		t.Helper()
		text := fmt.Sprintf(`{"to":%q,"step":%q}`, to, strings.Repeat("x", size))
		for _, p := range wire.Split([]byte(text), 1000)[first-1 : last] {
			if err := keeper.put(t.Context(), wire.StoreParams{Key: wire.TrialKey(strings.Repeat("0", 24), p.Number), Part: p.Without()}, p.Body); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("broken", 4500, 1, 4) // of 5
	put("whole", 1500, 1, 1)  // of 2
	put("broken", 4500, 5, 5)
	put("whole", 1500, 2, 2)
	put("late", 1500, 1, 2)
	put("whole", 1500, 1, 2)
	rec, err := keeper.Read(t.Context())
	if err != nil || len(rec.Trials) != 1 || rec.Trials[0].To != "whole" {
		t.Errorf("%d trials are kept: %.200v, %v", len(rec.Trials), rec.Trials, err)
	}
	parts := 0
	for after := uint64(0); err == nil; parts++ {
		var p wire.StoreParams
		p, _, err = keeper.store.ask(t.Context(), wire.StoreTrials, wire.StoreParams{User: "eve", Run: "one", Sequence: after}, nil)
		after = p.Sequence
	}
	if parts--; !errors.Is(err, fs.ErrNotExist) || parts != 2 {
		t.Errorf("%d parts are left, %v", parts, err)
	}
	select {
	case to := <-told:
		if to != "whole" {
			t.Errorf("who follows was told %s", to)
		}
	case <-time.After(20 * time.Second):
		t.Error("who follows was told nothing")
	}
	stop()
	if err := <-ended; err != nil || len(told) > 0 {
		t.Errorf("%d trials more were told, %v", len(told), err)
	}
}
