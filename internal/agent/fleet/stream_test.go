package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// A call that is given up does not wait for a pipe that nobody reads (code 4.7),
// nor do those after it.
func TestCancelledCallLeavesAFullPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ours := io.Pipe() // nobody reads
		theirs, replies := io.Pipe()
		s := newStream(theirs, ours, nil, nil)
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			begin := time.Now()
			if _, err := s.Call(ctx, agentapi.Hello.Any(), nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a call that nobody takes: %v", err)
			}
			if took := time.Since(begin); took != time.Second {
				t.Errorf("it took %v, want the second of its context", took)
			}
			cancel()
		}
		if len(s.waiting) > 0 {
			t.Errorf("%d replies are still waited for", len(s.waiting))
		}
		s.Close()
		replies.Close()
	})
}

// An agent that is alive and slow is not given up: what comes, comes; one that
// is silent is.
func TestHeartbeat(t *testing.T) {
	const answer = 30 * time.Second
	for name, c := range map[string]struct {
		sendPaced time.Duration // between two bytes of an answer; 0 is none
		over      time.Duration // when it is given up
	}{
		"silent":                  {0, 60 * time.Second},
		"an answer without end":   {time.Second, 600 * time.Second},
		"an answer that stumbles": {45 * time.Second, 600 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests, ours := io.Pipe()
				theirs, replies := io.Pipe()
				s := newStream(theirs, ours, nil, nil)
				go func() { _, _ = io.Copy(io.Discard, requests) }()
				go func() {
					for c.sendPaced > 0 {
						time.Sleep(c.sendPaced)
						if _, err := replies.Write([]byte(" ")); err != nil {
							return
						}
					}
				}()
				begin := time.Now()
				s.beat(answer)
				if took := time.Since(begin); took != c.over {
					t.Errorf("given up after %v, want %v", took, c.over)
				}
				if err := s.died(); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "did not answer") {
					t.Errorf("given up with: %v", err)
				}
				s.Close()
				theirs.Close()
				time.Sleep(time.Minute) // the one that drips sees it
			})
		})
	}
	t.Run("alive", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			requests, ours := io.Pipe()
			theirs, replies := io.Pipe()
			s := newStream(theirs, ours, nil, nil)
			go func() {
				for lines := bufio.NewScanner(requests); lines.Scan(); {
					var r agentapi.Request
					_ = json.Unmarshal(lines.Bytes(), &r)
					go func() {
						time.Sleep(50 * time.Second) // always late, never gone
						_ = json.NewEncoder(replies).Encode(agentapi.Reply{ID: r.ID})
					}()
				}
			}()
			go s.beat(answer)
			time.Sleep(time.Hour)
			if err := s.died(); err != nil {
				t.Errorf("an agent that is slow is given up: %v", err)
			}
			s.Close()
			time.Sleep(time.Minute)
			replies.Close()
		})
	})
}

// A host's error is a line, however long it is there.
func TestBoundsOfReplies(t *testing.T) {
	long := &agentapi.Error{Code: agentapi.CodeBusy, Text: strings.Repeat("é", 1<<20)}
	if got := shortened(long); len(got.Error()) > mostSaid+10 || !errors.Is(got, agentapi.ErrBusy) {
		t.Errorf("an error of %d bytes", len(got.Error()))
	}
}
