package conform

import (
	"context"
	"io"
	"testing"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/fleet"
)

func TestLocal(t *testing.T) {
	Run(t, Transport{Version: "test", Dial: func(t testing.TB, at End) *fleet.Host {
		h, err := fleet.Dial(t.Context(), at.Name, "netns:"+at.NS.Name, fleet.Config{Version: "test", JournalDir: at.Dir, HoldDir: at.Dir, Unguarded: true})
		must(t, err)
		return h
	}})
}

// TestStream is what ssh carries, without ssh.
func TestStream(t *testing.T) {
	Run(t, Transport{Version: "test", Dial: func(t testing.TB, at End) *fleet.Host {
		requests, ours := io.Pipe()
		theirs, replies := io.Pipe()
		a := agent.New(agent.Config{Name: at.Name, Namespace: at.NS, Version: "test", JournalDir: at.Dir, HoldDir: at.Dir})
		go func() {
			_ = a.Serve(context.Background(), requests, replies) // it ends with its input
			replies.Close()
		}()
		h, err := fleet.Attach(t.Context(), at.Name, fleet.Stream(theirs, ours))
		must(t, err)
		return h
	}})
}
