//go:build !aix

package results

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/bus/rig"
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
	r := rig.Start(t, nil)
	conn := rig.Connect(t, r.As(t, "eve", bus.Measure))
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
	reader := rig.Connect(t, r.As(t, "bob", bus.Watch))
	keeper, err := Keeper(reader, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keeper.Read(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another's run: %v", err)
	}
	keeper.user = "eve"
	got, err := keeper.Read(t.Context())
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

func TestKeeperRefuses(t *testing.T) {
	r := rig.Start(t, nil)
	conn := rig.Connect(t, r.As(t, "eve", bus.Measure))
	for _, name := range []string{"", "a.b", ">", "../x"} {
		if _, err := Keeper(conn, name, nil); !errors.Is(err, bus.ErrName) {
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
