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
	"github.com/linerate/linerate/internal/agent/ask"
)

// onlyHello is the far end of a stream that answers each hello and nothing else.
func onlyHello(r io.Reader, w io.Writer) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var req agentapi.Request
		_ = json.Unmarshal(lines.Bytes(), &req)
		if req.Method == agentapi.Hello.Name {
			_ = json.NewEncoder(w).Encode(agentapi.Reply{ID: req.ID, Result: json.RawMessage(`{"version":1}`)})
		}
	}
}

// A host that is alive and never answers is given up: a call that waits by nature
// has its time before. What is asked of it later fails at once.
func TestHostThatOnlySaysHello(t *testing.T) {
	traffic := func(h *Host) error {
		_, err := ask.Call(context.Background(), h, agentapi.Traffic, agentapi.TrafficRequest{Span: 10 * time.Minute, Flows: 1})
		return err
	}
	observe := func(h *Host) error {
		_, err := h.Observe(context.Background())
		return err
	}
	for name, c := range map[string]struct {
		call func(*Host) error
		want time.Duration
	}{"observe": {observe, 3 * time.Minute}, "traffic": {traffic, 13 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests, ours := io.Pipe()
				theirs, replies := io.Pipe()
				go onlyHello(requests, replies)
				s := newStream(theirs, ours, nil, nil)
				go s.beat(answerWithin)
				h, err := Attach(t.Context(), "db1", s)
				if err != nil {
					t.Fatal(err)
				}
				defer replies.Close()
				defer h.Close()
				begin, ended := time.Now(), make(chan error, 1)
				go func() { ended <- c.call(h) }()
				select {
				case err = <-ended:
				case <-time.After(time.Hour):
					t.Error("the call holds the run for an hour")
					return
				}
				if took := time.Since(begin); !errors.Is(err, ErrUnreachable) || took != c.want {
					t.Errorf("given up after %v, want %v: %v", took, c.want, err)
				}
				if err == nil || !strings.Contains(err.Error(), `db1: `) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "leave the host out") {
					t.Errorf("it says %v, want the host, the method and what to do", err)
				}
				if begin = time.Now(); observe(h) == nil || time.Since(begin) != 0 {
					t.Error("a host that was given up is waited for again")
				}
			})
		})
	}
}
