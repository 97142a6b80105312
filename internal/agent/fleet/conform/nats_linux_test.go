package conform

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
)

// TestNATS is an agent on a real server, asked by somebody with every role.
func TestNATS(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	var at link.Config
	Run(t, Transport{
		Version: "test", Also: added,
		Prepare: func(t testing.TB, ends [2]End) {
			r := testcluster.Start(t, nil)
			at = r.As(t, "eve", agentapi.RoleChange)
			for _, end := range ends {
				serve(t, r, end)
			}
		},
		Dial: func(t testing.TB, end End) *fleet.Host {
			dialer := link.NewDialer(func() (link.Config, error) { return at, nil })
			t.Cleanup(dialer.Close)
			h, err := fleet.Dial(t.Context(), end.Name, "nats:"+end.Name, fleet.Config{Bus: dialer})
			must(t, err)
			return h
		},
	})
}

// serve runs the agent of an end until the test is over.
func serve(t testing.TB, r *testcluster.Server, end End) {
	conn := testcluster.Connect(t, r.As(t, end.Name, agentapi.RoleAgent))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- natsagent.Run(ctx, conn, natsagent.Config{
			Host: end.Name, Audit: filepath.Join(end.Dir, "audit.log"),
			Agent: agent.Config{Name: end.Name, Namespace: end.NS, Version: "test", JournalDir: end.Dir, LockDir: end.Dir, More: more()},
		})
	}()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
	must(t, conn.Flush())
	time.Sleep(50 * time.Millisecond) // it subscribes
}
