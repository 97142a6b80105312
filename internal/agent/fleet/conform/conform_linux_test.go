package conform

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/fleet"
)

func TestLocal(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	Run(t, Transport{Version: "test", Also: added, Dial: func(t testing.TB, at End) *fleet.Host {
		h, err := fleet.Dial(t.Context(), at.Name, "netns:"+at.NS.Name, fleet.Config{Version: "test", JournalDir: at.Dir, LockDir: at.Dir, Unguarded: true, More: more()})
		must(t, err)
		return h
	}})
}

// TestStream is what ssh carries, without ssh.
func TestStream(t *testing.T) {
	Run(t, Transport{Version: "test", Also: added, Dial: func(t testing.TB, at End) *fleet.Host {
		requests, ours := io.Pipe()
		theirs, replies := io.Pipe()
		a := agent.New(agent.Config{Name: at.Name, Namespace: at.NS, Version: "test", JournalDir: at.Dir, LockDir: at.Dir, More: more()})
		go func() {
			_ = a.Serve(context.Background(), requests, replies) // it ends with its input
			replies.Close()
		}()
		h, err := fleet.Attach(t.Context(), at.Name, fleet.Stream(theirs, ours))
		must(t, err)
		return h
	}})
}

// A clock that is off by an hour is said, and nothing else comes of it.
func TestSkew(t *testing.T) {
	for off, want := range map[time.Duration]string{
		time.Hour: "its clock is 1h0m0s ahead of this one's", -time.Hour: "its clock is 1h0m0s behind this one's", 0: "",
	} {
		requests, ours := io.Pipe()
		theirs, replies := io.Pipe()
		a := agent.New(agent.Config{Name: "here", Now: func() time.Time { return time.Now().Add(off) }})
		go func() { _ = a.Serve(context.Background(), requests, replies) }()
		h, err := fleet.Attach(t.Context(), "here", fleet.Stream(theirs, ours))
		must(t, err)
		said := ""
		for _, note := range h.Notes() {
			if strings.Contains(note, "clock") {
				said = note
			}
		}
		if !strings.HasPrefix(said, want) || want == "" && said != "" {
			t.Errorf("%v: %q, want %q", off, said, want)
		}
		must(t, h.Close())
	}
}

// An agent whose controller is silent ends, and with it what it does.
func TestSilence(t *testing.T) {
	requests, ours := io.Pipe()
	defer ours.Close()
	a := agent.New(agent.Config{Name: "here", Silence: 100 * time.Millisecond})
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(context.Background(), requests, io.Discard) }()
	select {
	case err := <-ended:
		if !errors.Is(err, agent.ErrSilent) {
			t.Errorf("it ended: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for a controller that is gone")
	}
}
