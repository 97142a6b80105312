package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

func testSysctl(v string) netstate.Sysctl {
	return netstate.Sysctl{Value: v, Scope: netstate.ScopeNamespace}
}

// crashed applies the plan and dies at the n-th moment; false when the plan
// was through before.
func crashed(t *testing.T, dir string, k *fakeKernel, name string, n int) bool {
	t.Helper()
	a := applier(t, dir, k)
	a.self = dead()
	moment := crashAt(n)
	a.journal.moment = moment
	k.before = func(int) error { moment(); return nil }
	k.after = func(int) error { moment(); return nil }
	died := crashes(t, func() {
		if _, err := a.Apply(context.Background(), testPlans(t)[name], Options{}); err != nil {
			t.Errorf("apply: %v", err)
		}
	})
	k.before, k.after = nil, nil
	return died
}

// TestCrashAnywhere dies between any two things that Apply does to disk or
// kernel; Recover gives the host as it was, as a clean undo does.
func TestCrashAnywhere(t *testing.T) {
	for name := range testPlans(t) {
		through := false
		for n := 0; !through; n++ {
			k := &fakeKernel{host: testHost()}
			dir := tempDir(t)
			through = !crashed(t, dir, k, name, n)
			got, err := applier(t, dir, k).Recover(context.Background())
			if err != nil || len(got.Problems) > 0 {
				t.Fatalf("%s: recover: %+v, %v", caseName(name, n), got, err)
			}
			sameHost(t, caseName(name, n), testHost(), k.host)
			if again, err := applier(t, dir, k).Recover(context.Background()); err != nil || len(again.Results) > 0 {
				t.Errorf("%s: a second Recover found work: %+v, %v", caseName(name, n), again, err)
			}
			if n == 0 && through {
				t.Fatal("no moment to crash at")
			}
		}
	}
}

// TestCrashInRecover dies a second time, while taking back.
func TestCrashInRecover(t *testing.T) {
	const name = "bounce"
	for n := 5; ; n += 11 {
		through := false
		for m := 0; !through; m += 3 {
			k := &fakeKernel{host: testHost()}
			dir := tempDir(t)
			if !crashed(t, dir, k, name, n) {
				if n == 5 {
					t.Fatal("no crash in apply")
				}
				return
			}
			moment := crashAt(m)
			a := applier(t, dir, k)
			a.journal.moment = moment
			k.before = func(int) error { moment(); return nil }
			k.after = k.before
			through = !crashes(t, func() { _, _ = a.Recover(context.Background()) })
			k.before, k.after = nil, nil
			if _, err := applier(t, dir, k).Recover(context.Background()); err != nil {
				t.Fatalf("%s then %d: %v", caseName(name, n), m, err)
			}
			sameHost(t, caseName(name, n), testHost(), k.host)
		}
	}
}

func TestRecoverLeavesTheLiving(t *testing.T) {
	ctx := context.Background()
	k := &fakeKernel{host: testHost()}
	dir := tempDir(t)
	a := applier(t, dir, k)
	r, err := a.Apply(ctx, testPlans(t)["online"], Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.Recover(ctx); err != nil || len(got.Results) > 0 {
		t.Errorf("this process is alive and the deadline far: %+v, %v", got, err)
	}
	e, err := a.journal.Read(r.ID)
	if err != nil {
		t.Fatal(err)
	}
	e.Owner = dead()
	if err := errors.Join(a.journal.write(&e), a.journal.arm(e.ID, a.self)); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Recover(ctx); err != nil || len(got.Results) > 0 {
		t.Errorf("its guard is alive: %+v, %v", got, err)
	}
	if err := a.journal.arm(e.ID, dead()); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Recover(ctx); err != nil || len(got.Results) != 1 || got.Results[0].State != agentapi.ChangeRolledBack {
		t.Errorf("process and guard are dead: %+v, %v", got, err)
	}
	sameHost(t, "recovered", testHost(), k.host)
}

func TestRebootTookItBack(t *testing.T) {
	ctx := context.Background()
	k := &fakeKernel{host: testHost()}
	a := applier(t, tempDir(t), k)
	a.self.Boot = "an earlier boot"
	if _, err := a.Apply(ctx, testPlans(t)["online"], Options{}); err != nil {
		t.Fatal(err)
	}
	after, done := k.host, k.dos
	b := applier(t, a.cfg.Dir, k)
	got, err := b.Recover(ctx)
	if err != nil || len(got.Results) != 1 || got.Results[0].State != agentapi.ChangeRolledBack || k.dos != done {
		t.Errorf("%+v, %v after %d changes", got, err, k.dos-done)
	}
	sameHost(t, "nothing touched", after, k.host)
}

func TestDamagedJournal(t *testing.T) {
	ctx := context.Background()
	k := &fakeKernel{host: testHost()}
	dir := tempDir(t)
	if !crashed(t, dir, k, "online", 12) {
		t.Fatal("no crash")
	}
	good, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(good) != 1 {
		t.Fatalf("%v, %v", good, err)
	}
	b, err := os.ReadFile(good[0])
	if err != nil {
		t.Fatal(err)
	}
	bad := map[string][]byte{
		"20200101T000000.000000Z-aaaaaa.json": b[:len(b)/2],
		"20200101T000000.000000Z-bbbbbb.json": {},
		"20200101T000000.000000Z-cccccc.json": b, // calls itself something else
		"-.json":                              []byte("null"),
		"x y.json":                            []byte("{}"),
	}
	for name, content := range bad {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := applier(t, dir, k).Recover(ctx)
	if err != nil || len(got.Problems) != len(bad) || len(got.Results) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	sameHost(t, "recovered beside damaged files", testHost(), k.host)
	for _, id := range []string{"../../etc/passwd", "", ".", "nope"} {
		if _, err := OpenJournal(dir).Read(id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read %q: %v, want fs.ErrNotExist", id, err)
		}
	}
}

func FuzzParseEntry(f *testing.F) {
	e := Entry{Version: entryVersion, ID: "x", State: agentapi.ChangeOpen}
	b, _ := json.Marshal(e)
	f.Add(b)
	f.Add([]byte(`{"version":1,"id":"x","state":"open","plan":{"steps":[{"kind":"route"}]},"steps":[{"progress":"done"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := parseEntry("x", b)
		if err != nil {
			return
		}
		a := applier(t, tempDir(t), &fakeKernel{host: testHost()})
		e.Boot, e.Root = a.self.Boot, a.cfg.Dir
		_, _ = a.takeBackEntry(context.Background(), e, "fuzz")
	})
}

func TestOwner(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are known by /proc, on Linux")
	}
	if o := CurrentOwner(); o.Boot == "" || o.Start == 0 || !o.Alive() {
		t.Fatalf("this process is not known: %+v", o)
	}
	if dead().Alive() {
		t.Error("a process that is not counts as alive")
	}
	o := CurrentOwner()
	o.Start++
	if o.Alive() {
		t.Error("a process id that came round again counts as the old process")
	}
}

func TestGuardRollsBack(t *testing.T) {
	for name, tt := range map[string]struct {
		deadline time.Duration
		do       func(a *Applier, r Result, stop context.CancelFunc)
		want     agentapi.ChangeState
		reason   string
	}{
		"deadline":  {300 * time.Millisecond, func(*Applier, Result, context.CancelFunc) {}, agentapi.ChangeRolledBack, "nobody confirmed"},
		"confirmed": {time.Minute, func(a *Applier, r Result, _ context.CancelFunc) { _ = a.Confirm(context.Background(), r.ID) }, agentapi.ChangeConfirmed, ""},
		"told to end": {time.Minute, func(_ *Applier, _ Result, stop context.CancelFunc) {
			time.AfterFunc(50*time.Millisecond, stop)
		}, agentapi.ChangeRolledBack, "told to end"},
		"maker died": {time.Minute, func(a *Applier, r Result, _ context.CancelFunc) {
			e, _ := a.journal.Read(r.ID)
			e.State, e.Owner = agentapi.ChangeOpen, dead()
			_ = a.journal.write(&e)
		}, agentapi.ChangeRolledBack, "process died"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			k := &fakeKernel{host: testHost()}
			a := applier(t, tempDir(t), k)
			r, err := a.Apply(ctx, testPlans(t)["online"], Options{Deadline: tt.deadline})
			if err != nil {
				t.Fatal(err)
			}
			tt.do(a, r, cancel)
			if err := Guard(ctx, a.cfg, r.ID); err != nil {
				t.Fatal(err)
			}
			e, err := a.journal.Read(r.ID)
			if err != nil || e.State != tt.want || !strings.Contains(e.Reason, tt.reason) {
				t.Errorf("entry is %s (%s), %v; want %s (%s)", e.State, e.Reason, err, tt.want, tt.reason)
			}
			if tt.want == agentapi.ChangeRolledBack {
				sameHost(t, name, testHost(), k.host)
			}
			if left, _ := filepath.Glob(filepath.Join(a.cfg.Dir, "*"+armedSuffix)); len(left) > 0 {
				t.Errorf("guard has ended and left %s", strings.Join(left, " "))
			}
		})
	}
}

// TestRouteWithoutItsLink: a route that was removed cannot be there again when its link is
// gone. That is left, not failed: there is nothing that anybody could do about it.
func TestRouteWithoutItsLink(t *testing.T) {
	k := &lostLink{fakeKernel: &fakeKernel{host: testHost()}}
	a := applier(t, tempDir(t), k)
	route := testHost().Routes[0]
	away := plan.Step{Kind: plan.Route, Link: route.Link, Route: &route, Old: plan.Present, New: plan.Absent}
	r, err := a.Apply(t.Context(), plan.Plan{Steps: []plan.Step{away}}, Options{})
	if err != nil || r.Applied == 0 {
		t.Fatalf("%+v: %v", r, err)
	}
	k.lost = route.Link
	r, err = a.Rollback(t.Context(), r.ID)
	if err != nil || r.State != agentapi.ChangeRolledBack || len(r.Left) != 1 {
		t.Errorf("%+v: %v", r, err)
	}
}

// lostLink has lost a link with the routes on it.
type lostLink struct {
	*fakeKernel
	lost string
}

func (k *lostLink) Do(ctx context.Context, s plan.Step) error {
	if k.lost != "" && about(s, k.lost) {
		return fmt.Errorf("link %s: %w", k.lost, fs.ErrNotExist)
	}
	return k.fakeKernel.Do(ctx, s)
}

func (k *lostLink) Read(ctx context.Context, s plan.Step) (string, error) {
	if s.Kind != plan.Route && s.Link == k.lost {
		return "", fmt.Errorf("link %s: %w", k.lost, fs.ErrNotExist)
	}
	return k.fakeKernel.Read(ctx, s)
}
