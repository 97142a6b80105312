package conform

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/bus/link"
	"github.com/linerate/linerate/internal/bus/rig"
	"github.com/linerate/linerate/internal/bus/station"
	"github.com/linerate/linerate/internal/fleet"
)

// TestNATS is an agent on a real server, asked by somebody with every role.
func TestNATS(t *testing.T) {
	var at link.Config
	Run(t, Transport{
		Version: "test",
		Prepare: func(t testing.TB, ends [2]End) {
			r := rig.Start(t, nil)
			at = r.As(t, "eve", bus.Change)
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
func serve(t testing.TB, r *rig.Rig, end End) {
	conn := rig.Connect(t, r.As(t, end.Name, bus.Agent))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- station.Run(ctx, conn, station.Config{
			Host: end.Name, Audit: filepath.Join(end.Dir, "audit.log"),
			Agent: agent.Config{Name: end.Name, Namespace: end.NS, Version: "test", JournalDir: end.Dir, HoldDir: end.Dir},
		})
	}()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
	must(t, conn.Flush())
	time.Sleep(50 * time.Millisecond) // it subscribes
}
