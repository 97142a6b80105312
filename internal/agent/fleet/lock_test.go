package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// dialled is the running host under a name, with locks in dir: over a stream
// as ssh makes it, or in this process.
func dialled(t *testing.T, name, dir string, overStream bool) *Host {
	t.Helper()
	if !overStream {
		return &Host{Name: name, via: newLocal(name, netns.Namespace{}, Config{LockDir: dir, Unguarded: true})}
	}
	a := agent.New(agent.Config{Name: name, LockDir: dir})
	toAgent, in := io.Pipe()
	out, fromAgent := io.Pipe()
	go func() {
		_ = a.Serve(context.Background(), toAgent, fromAgent)
		fromAgent.Close()
	}()
	return &Host{Name: name, via: newStream(out, in, nil, nil)}
}

func run(name string, wait time.Duration) *Locking {
	return &Locking{Holder: agentapi.Holder{Run: name, User: "root", Host: "ctl", PID: 7, What: "measure " + name}, Wait: wait}
}

func TestLockAll(t *testing.T) {
	for name, overStream := range map[string]bool{"in this process": false, "over a stream": true} {
		t.Run(name, func(t *testing.T) {
			one, two := t.TempDir(), t.TempDir() // two hosts, each with its locks
			alpha, beta := dialled(t, "alpha", one, overStream), dialled(t, "beta", two, overStream)
			if err := LockAll(t.Context(), []*Host{beta}, run("first", 0)); err != nil {
				t.Fatal(err)
			}
			// Somebody else wants both: alpha is let go again.
			a2, b2 := dialled(t, "alpha", one, overStream), dialled(t, "beta", two, overStream)
			err := LockAll(t.Context(), []*Host{b2, a2}, run("second", 0))
			if !errors.Is(err, agentapi.ErrBusy) || !strings.HasPrefix(err.Error(), "beta: host is busy: locked by root@ctl, process 7 (measure first), for ") {
				t.Errorf("a host that is held: %v", err)
			}
			if err := LockAll(t.Context(), []*Host{alpha, beta}, run("first", 0)); err != nil {
				t.Errorf("alpha is still held by who could not have both: %v", err)
			}
			// Patience that ends, and patience that is rewarded.
			err = LockAll(t.Context(), []*Host{a2, b2}, run("second", 10*time.Millisecond))
			if !errors.Is(err, agentapi.ErrBusy) || !strings.HasPrefix(err.Error(), "waited 10ms: ") {
				t.Errorf("at the end of its patience: %v", err)
			}
			patient := run("second", -1)
			told := 0
			patient.Tell = func(busy error) {
				told++
				if !errors.Is(busy, agentapi.ErrBusy) {
					t.Errorf("waits for %v", busy)
				}
				go func() { // as a controller that ends: its connections close
					_ = alpha.Close()
					_ = beta.Close()
				}()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := LockAll(ctx, []*Host{a2, b2}, patient); err != nil {
				t.Errorf("after the others were gone: %v", err)
			}
			if told == 0 || told > 2 { // alpha may be gone before beta
				t.Errorf("told %d times for whom it waits", told)
			}
			// Let go by word, not by closing.
			for _, h := range []*Host{a2, b2, b2} {
				if _, err := ask.Call(t.Context(), h, agentapi.Release, agentapi.Empty{}); err != nil {
					t.Error(err)
				}
			}
			a3 := dialled(t, "alpha", one, overStream)
			if err := LockAll(t.Context(), []*Host{a3}, run("third", 0)); err != nil {
				t.Error(err)
			}
			for _, h := range []*Host{a2, b2, a3} {
				_ = h.Close()
			}
		})
	}
}

// Two runs that want the same hosts, each having one of them, do not wait for
// each other for ever.
func TestLockAllNoDeadlock(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	errs := make(chan error, 6)
	for i := range 6 {
		go func() {
			// Each calls the hosts otherwise, so that their orders differ.
			names := []string{"a", "b"}
			if i%2 == 1 {
				names = []string{"b", "a"}
			}
			x, y := dialled(t, names[0], one, false), dialled(t, names[1], two, false)
			err := LockAll(ctx, []*Host{x, y}, run(string(rune('0'+i)), -1))
			errs <- errors.Join(err, x.Close(), y.Close())
		}()
	}
	for range 6 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// An agent that knows no holds, and a wait that is interrupted.
func TestLockAllOdd(t *testing.T) {
	old := &Host{Name: "old", via: deaf{}}
	cfg := run("first", 0)
	notes := ""
	cfg.Note = func(host, note string) { notes += host + ": " + note }
	if err := LockAll(t.Context(), []*Host{old}, cfg); err != nil || !strings.Contains(notes, "old: its linerate is too old") {
		t.Errorf("%v, %q", err, notes)
	}
	dir := t.TempDir()
	h, other := dialled(t, "alpha", dir, false), dialled(t, "alpha", dir, false)
	defer h.Close()
	defer other.Close()
	if err := LockAll(t.Context(), []*Host{h}, run("first", 0)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	patient := run("second", -1)
	patient.Tell = func(error) { cancel() }
	if err := LockAll(ctx, []*Host{other}, patient); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted while it waits: %v", err)
	}
}

// deaf is an agent of before there were holds.
type deaf struct{}

func (deaf) Call(context.Context, agentapi.AnyMethod, json.RawMessage) (json.RawMessage, error) {
	return nil, agentapi.WireError(errors.ErrUnsupported)
}

func (deaf) Close() error { return nil }
