package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// TestGate: a change waits until it may begin, who waits for it to be armed is told,
// whoever comes first; one that is not armed cannot begin; abandoned it does not.
func TestGate(t *testing.T) {
	ctx := t.Context()
	a := &Agent{}
	if _, err := a.begin(ctx, agentapi.BeginRequest{Gate: "early"}); !errors.Is(err, agentapi.ErrState) {
		t.Errorf("begun before it was armed: %v", err)
	}
	for _, abandon := range []bool{false, true} {
		name := fmt.Sprint("change, abandoned: ", abandon)
		armed := make(chan error, 1)
		go func() {
			_, err := a.armed(ctx, agentapi.ArmedRequest{Gate: name})
			armed <- err
		}()
		g, _, err := a.gates.use(name, true)
		if err != nil {
			t.Fatal(err)
		}
		began := make(chan error, 1)
		go func() { began <- g.wait(ctx) }()
		if err := <-armed; err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-began:
			t.Fatalf("it began unasked: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		for range 2 { // the answer to the first may be lost
			if _, err := a.begin(ctx, agentapi.BeginRequest{Gate: name, Abandon: abandon}); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-began; errors.Is(err, context.Canceled) != abandon {
			t.Errorf("abandoned %v: %v", abandon, err)
		}
		a.gates.end(name)
	}
}

// TestGateEnds: who waits for a change that ends before it is armed is told, and
// names that nobody arms cannot fill the memory.
func TestGateEnds(t *testing.T) {
	a := &Agent{}
	g, _, err := a.gates.use("one", true)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := a.armed(t.Context(), agentapi.ArmedRequest{Gate: "one"})
		waiting <- err
	}()
	time.Sleep(20 * time.Millisecond) // either order must do, this one is the hard one
	a.gates.end("one")
	select {
	case err := <-waiting:
		if !errors.Is(err, agentapi.ErrState) {
			t.Errorf("told %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("who waits was not told that the change is over")
	}
	if err := g.wait(canceled(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled change: %v", err)
	}
	refused := 0
	for i := range 2 * mostGates {
		if _, _, err := a.gates.use(fmt.Sprint(i), true); errors.Is(err, agentapi.ErrBusy) {
			refused++
		}
	}
	if refused == 0 {
		t.Error("any number of gates is made")
	}
}

// TestGatesLeak (code 4.7): what is said of a change that is over, or never comes,
// takes no place for those to come.
func TestGatesLeak(t *testing.T) {
	a := &Agent{}
	for i := range 4 * mostOver {
		name := fmt.Sprint("late ", i)
		_, leave, err := a.gates.use(name, true)
		if err != nil {
			t.Fatal(err)
		}
		a.gates.end(name)
		leave()
		if _, err := a.begin(t.Context(), agentapi.BeginRequest{Gate: name, Abandon: true}); err != nil {
			t.Fatalf("given up late: %v", err)
		}
		if _, err := a.armed(t.Context(), agentapi.ArmedRequest{Gate: name}); !errors.Is(err, agentapi.ErrState) {
			t.Fatalf("waited for late: %v", err)
		}
		if _, err := a.begin(t.Context(), agentapi.BeginRequest{Gate: name}); !errors.Is(err, agentapi.ErrState) {
			t.Fatalf("begun late: %v", err)
		}
		never := fmt.Sprint("never ", i)
		if _, err := a.armed(canceled(t), agentapi.ArmedRequest{Gate: never}); !errors.Is(err, context.Canceled) {
			t.Fatalf("a change that never comes: %v", err)
		}
		if _, err := a.begin(t.Context(), agentapi.BeginRequest{Gate: never, Abandon: true}); err != nil {
			t.Fatalf("given up before it came: %v", err)
		}
	}
	if len(a.gates.all) > mostGates || len(a.gates.idle) > mostGates || len(a.gates.over) > mostOver {
		t.Errorf("%d gates, %d idle, %d names", len(a.gates.all), len(a.gates.idle), len(a.gates.over))
	}
	// What was given up before it came is still given up when it comes.
	g, leave, err := a.gates.use(fmt.Sprint("never ", 4*mostOver-1), true)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if err := g.wait(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("it began: %v", err)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
