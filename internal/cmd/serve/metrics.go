package serve

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/server"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/metrics"
)

// fleetTold are the metrics of a server of the bus.
type fleetTold struct {
	s     *server.Server
	log   *slog.Logger
	paths *metrics.Paths // nil where nobody reads them
	end   func()
	ends  sync.WaitGroup
	stop  context.CancelFunc
}

func tellOfFleet(ctx context.Context, s *server.Server, address string, log *slog.Logger) (*fleetTold, error) {
	f := &fleetTold{s: s, log: log, stop: func() {}}
	if address == "" {
		f.end = func() {}
		return f, nil
	}
	f.paths = &metrics.Paths{}
	end, err := metrics.Tell(ctx, address, log, metrics.Serve(metrics.ServeConfig{Numbers: s.Numbers, States: f.states, Paths: f.paths, Logger: log}), metrics.OfThePaths(f.paths))
	f.end = end
	return f, err
}

// states are the fleet's hosts, on the server that may read them.
func (f *fleetTold) states(context.Context) (map[string]wire.State, error) {
	store := f.s.Store()
	if store == nil {
		return nil, nil
	}
	return store.States(), nil
}

// follow reads what paths carried, from when the streams are there.
func (f *fleetTold) follow(ctx context.Context) {
	kept := f.s.Store()
	if f.paths == nil || kept == nil {
		return
	}
	ctx, f.stop = context.WithCancel(ctx)
	f.ends.Go(func() {
		if err := kept.Follow(ctx, time.Now().Add(-metrics.PathsSince), f.paths.Add); err != nil {
			f.log.Error("metrics: paths are not told", "error", err)
		}
	})
}

func (f *fleetTold) close() {
	f.stop()
	f.ends.Wait()
	f.end()
}
