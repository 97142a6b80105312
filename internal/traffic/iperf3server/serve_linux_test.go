package iperf3server

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// running is a listener on loopback that a test talks to.
type running struct {
	*Listener
	port uint16

	mu      sync.Mutex
	tests   []Test
	refused []Refusal
	stop    context.CancelFunc
	ended   chan struct{}
}

// serve listens on loopback until the test ends, which it then waits for.
func serve(t *testing.T, cfg Config) *running {
	t.Helper()
	r := &running{ended: make(chan struct{})}
	if cfg.Bind == nil {
		cfg.Bind = []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}
	}
	cfg.Log = slog.New(slog.DiscardHandler)
	cfg.Done = func(done Test) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.tests = append(r.tests, done)
	}
	cfg.Refused = func(no Refusal) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refused = append(r.refused, no)
	}
	var err error
	if r.Listener, err = Listen(cfg); err != nil {
		t.Fatal(err)
	}
	r.port = r.Addrs()[0].Port()
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	go func() {
		defer close(r.ended)
		if err := r.Serve(ctx); err != nil {
			t.Errorf("serve: %v", err)
		}
	}()
	t.Cleanup(func() {
		r.stop()
		select {
		case <-r.ended:
		case <-time.After(30 * time.Second):
			t.Error("the listener does not end")
		}
	})
	return r
}

// done waits for the test of a client's title.
func (r *running) done(t *testing.T, title string) Test {
	t.Helper()
	var found Test
	eventually(t, "a test called "+title, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, test := range r.tests {
			if test.Title == title {
				found = test
				return true
			}
		}
		return false
	})
	return found
}

// eventually waits for a condition, long enough for a busy machine.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
