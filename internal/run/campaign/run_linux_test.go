package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// twoPairs are four hosts in namespaces, a and b on one shaped link, c and d
// on another.
func twoPairs(t *testing.T) fabric.Fabric {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text := "linerate: v1\nhosts:\n"
	var builders []*rtnl.Builder
	for i, name := range []string{"a", "b", "c", "d"} {
		space := "linerate-campaign-" + name
		_ = netns.Delete(space) // of a test that was killed
		ns, err := netns.Create(space)
		must(err)
		t.Cleanup(func() { _ = netns.Delete(space) })
		b, err := rtnl.OpenBuilder(ns)
		must(err)
		t.Cleanup(b.Close)
		builders = append(builders, b)
		text += fmt.Sprintf("  %s: {reach: \"netns:%s\", network: {version: 2, ethernets: {eth0: {addresses: [10.77.%d.%d/24]}}}, hardware: {links: {eth0: {speed: 100M, framing: l2}}}}\n",
			name, space, i/2, i%2+1)
		if i%2 == 1 {
			must(builders[i-1].Veth("eth0", b, "eth0"))
		}
	}
	for i, b := range builders {
		must(b.Up("lo"))
		must(b.Up("eth0"))
		must(b.Address("eth0", netip.MustParsePrefix(fmt.Sprintf("10.77.%d.%d/24", i/2, i%2+1))))
		must(b.Shape("eth0", 100*unit.Mbps, 256*unit.KiB, 20*time.Millisecond))
	}
	f, err := fabric.Parse("pairs.yaml", []byte(text))
	must(err)
	return f
}

func quick() Matrix {
	return Matrix{Streams: []int{1, 2}, Directions: []flow.Direction{flow.Forward}, Duration: 200 * time.Millisecond}
}

// names are trials as "a b 1".
func names(trials []record.Trial) []string {
	var out []string
	for _, t := range trials {
		out = append(out, fmt.Sprintf("%s %s %d", t.From, t.To, t.Streams))
	}
	return out
}

// overlap reports two trials that were measured at the same time.
func overlap(a, b record.Trial) bool {
	end := func(t record.Trial) time.Time {
		return t.Started.Add(time.Duration((t.WarmUp + t.Window) * float64(time.Second)))
	}
	return a.Started.Before(end(b)) && b.Started.Before(end(a))
}

// Pairs that share nothing are measured at the same time, those of one
// machine one after the other; the record is in the order of the pairs.
func TestKernelRounds(t *testing.T) {
	f := twoPairs(t)
	var planned Event
	var counts []string
	most := 0
	c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}, Tell: func(e Event) {
		switch e.Kind {
		case Planned:
			planned = e
		case Measured:
			counts = append(counts, fmt.Sprintf("%d/%d", e.Done, e.Total))
		case Running:
			most = max(most, e.Together)
			if e.Left <= 0 && e.Done < e.Total-2 {
				t.Errorf("no time is left at %d of %d", e.Done, e.Total)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// The hosts are namespaces of one machine.
	if batches, rounds := c.batches(quick(), f.Paths); rounds != 2 || len(batches) != 4 || widest(batches) != 1 {
		t.Errorf("on one machine: %d batches in %d rounds, of %d", len(batches), rounds, widest(batches))
	}
	for name, h := range c.hosts {
		h.Hello.Machine = name
	}
	if err := c.Run(t.Context(), quick()); err != nil {
		t.Fatal(err)
	}
	trials := c.Record().Trials
	if diff := cmp.Diff([]string{"a b 1", "c d 1", "a b 2", "c d 2"}, names(trials)); diff != "" {
		t.Fatalf("trials (-want +got):\n%s", diff)
	}
	if planned.Rounds != 1 || planned.Total != 4 || planned.Left < 500*time.Millisecond || planned.Left > 20*time.Second {
		t.Errorf("planned %d trials in %d rounds, %v", planned.Total, planned.Rounds, planned.Left)
	}
	if diff := cmp.Diff([]string{"1/4", "2/4", "3/4", "4/4"}, counts); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	for i := range trials {
		for j := range i {
			if got, want := overlap(trials[i], trials[j]), i/2 == j/2; got != want {
				t.Errorf("trials %d and %d at the same time: %v, want %v", j, i, got, want)
			}
		}
		if trials[i].Group != "" {
			t.Errorf("trial %d is of group %q, and had a window of its own", i, trials[i].Group)
		}
	}
	if most != 2 {
		t.Errorf("%d trials at once, want 2", most)
	}
}

// An interrupted run keeps each trial, and goes on where it was.
func TestKernelResume(t *testing.T) {
	f := twoPairs(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var kept record.Record
	open := func(ctx context.Context, old *record.Record, stopAt int) *Campaign {
		t.Helper()
		c, err := Open(ctx, Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}, Resume: old, Keep: func(r record.Record) error {
			kept = r
			kept.Trials = slices.Clone(r.Trials)
			if len(r.Trials) == stopAt {
				interrupt()
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	one := quick()
	one.Streams = []int{1}
	first := open(ctx, nil, 1)
	if err := first.Run(ctx, one); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if diff := cmp.Diff([]string{"a b 1"}, names(kept.Trials)); diff != "" || !kept.Interrupted() || kept.Unfinished() != 1 {
		t.Fatalf("kept of the interrupted run, %d missing (-want +got):\n%s", kept.Unfinished(), diff)
	}
	if err := one.Resumable(kept, f); err != nil {
		t.Fatal(err)
	}
	old := kept
	second := open(t.Context(), &old, -1)
	if err := second.Run(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	got := second.Record()
	if diff := cmp.Diff([]string{"a b 1", "c d 1"}, names(got.Trials)); diff != "" {
		t.Errorf("in the end (-want +got):\n%s", diff)
	}
	if got.ID != old.ID || len(got.Resumed) != 1 || got.Interrupted() || got.Unfinished() != 0 || !got.Trials[0].Started.Equal(old.Trials[0].Started) {
		t.Errorf("id %s, then %s; resumed %v, %d missing", old.ID, got.ID, got.Resumed, got.Unfinished())
	}
	// With a record that is whole nothing is measured.
	whole := got
	third := open(t.Context(), &whole, -1)
	if err := third.Run(t.Context(), one); err != nil || len(third.Record().Trials) != 2 || len(third.Record().Resumed) != 2 {
		t.Errorf("%v, %d trials", err, len(third.Record().Trials))
	}
}

// A record that cannot be kept ends the run at once: nobody wants to learn of
// it after hours.
func TestKernelKeepFails(t *testing.T) {
	f := twoPairs(t)
	f.Hosts[1].Reach = "" // its pair fails before any traffic
	full := errors.New("no space left on device")
	c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}, Keep: func(record.Record) error { return full }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Run(t.Context(), quick()); !errors.Is(err, full) || len(c.Record().Failures) != 1 || len(c.Record().Trials) != 0 {
		t.Errorf("%v with %d failures and %d trials, want the first failure alone", err, len(c.Record().Failures), len(c.Record().Trials))
	}
}

func TestResumable(t *testing.T) {
	f := fabric.Fabric{File: "f.yaml", Text: "hosts", Paths: []fabric.Path{{From: "a", To: "b"}}}
	m := quick()
	old := record.Record{
		Fabric: record.Fabric{File: f.File, Text: f.Text, Paths: f.Paths},
		Asked:  &record.Asked{Trials: 4, Streams: m.Streams, Directions: m.Directions, Digest: m.digest()},
	}
	if err := m.Resumable(old, f); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*record.Record, *fabric.Fabric, *Matrix){
		"it does not say which": func(r *record.Record, _ *fabric.Fabric, _ *Matrix) { r.Asked = nil },
		"belong together": func(r *record.Record, _ *fabric.Fabric, _ *Matrix) {
			asked := *r.Asked
			asked.Digest = ""
			r.Asked = &asked
		},
		"hosts were changed":              func(r *record.Record, _ *fabric.Fabric, _ *Matrix) { r.Steps = []record.Step{{}} },
		"it has [1 2] streams":            func(_ *record.Record, _ *fabric.Fabric, m *Matrix) { m.Streams = []int{1} },
		"it has directions [forward]":     func(_ *record.Record, _ *fabric.Fabric, m *Matrix) { m.Directions = []flow.Direction{flow.Both} },
		"measured with other flags":       func(_ *record.Record, _ *fabric.Fabric, m *Matrix) { m.Duration *= 2 },
		"f.yaml reads otherwise now":      func(_ *record.Record, f *fabric.Fabric, _ *Matrix) { f.Text = "other" },
		"of other hosts, or of another":   func(_ *record.Record, f *fabric.Fabric, _ *Matrix) { f.File = "g.yaml" },
		"other hosts, or of another file": func(_ *record.Record, f *fabric.Fabric, _ *Matrix) { f.Paths = nil },
	} {
		r, other, matrix := old, f, m
		change(&r, &other, &matrix)
		if err := matrix.Resumable(r, other); !errors.Is(err, ErrOtherMatrix) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// When the run ends is not what it measures; nor is what was seen of hosts
	// that were named directly.
	m.Care = Care{MaxTime: time.Hour}
	named := f
	named.File, named.Text = Discovered, "now"
	old.Fabric.File, old.Fabric.Text = Discovered, "then"
	if err := m.Resumable(old, named); err != nil {
		t.Error(err)
	}
}
