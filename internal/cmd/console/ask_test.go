package console

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"
)

// TestAskNow: what was typed before the question is no answer to it, as it is to the
// next question of Ask; what is typed then is one, and so is the end.
func TestAskNow(t *testing.T) {
	typed, keys := io.Pipe()
	con := &Console{Stdin: typed, Stderr: io.Discard}
	q := con.Asker()
	say := func(text string) { go func() { _, _ = io.WriteString(keys, text) }() }
	say("y\ny\ny\n")
	for range 2 {
		if yes, err := q.Ask(t.Context(), "change it?"); !yes || err != nil {
			t.Fatalf("%v, %v", yes, err)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), 3*typedAhead)
	defer cancel()
	if yes, err := q.AskNow(short, "is it still there?"); yes || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("answered by what was typed before: %v, %v", yes, err)
	}
	leant, raised := context.WithTimeout(t.Context(), 20*typedAhead)
	defer raised()
	go func() {
		for leant.Err() == nil {
			_, _ = io.WriteString(keys, "y\n")
		}
	}()
	endless, stop := context.WithTimeout(t.Context(), 3*typedAhead)
	defer stop()
	if yes, err := q.AskNow(endless, "is it still there?"); yes || !errors.Is(err, context.DeadlineExceeded) || leant.Err() != nil {
		t.Errorf("what comes without end: %v, %v, to its end: %v", yes, err, leant.Err())
	}
	<-leant.Done()
	time.AfterFunc(3*typedAhead, func() { say("y\n") })
	if yes, err := q.AskNow(t.Context(), "is it still there?"); !yes || err != nil {
		t.Errorf("%v, %v", yes, err)
	}
	keys.Close()
	if yes, err := q.AskNow(t.Context(), "is it still there?"); yes || err != nil {
		t.Errorf("at the end: %v, %v", yes, err)
	}
}
