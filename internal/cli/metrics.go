package cli

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/linerate/linerate/internal/agent/nats/server"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/metrics"
	"github.com/linerate/linerate/internal/store"
)

// envMetrics is --metrics where that is not given: for a unit's environment file.
const envMetrics = "LINERATE_METRICS"

// metricsAddress is where metrics are told, by a flag or the environment; "" is
// nowhere.
func (a *App) metricsAddress(flag string) (string, error) {
	address := cmp.Or(flag, a.Getenv(envMetrics))
	if address == "" {
		return "", nil
	}
	if _, err := netip.ParseAddrPort(address); err != nil {
		return "", usage("--metrics: want ADDRESS:PORT, not "+address, "127.0.0.1:9117 is loopback; whoever reaches it may read it")
	}
	return address, nil
}

// tellMetrics answers Prometheus at an address until it is told to end; "" is
// nowhere.
func (a *App) tellMetrics(ctx context.Context, address string, log *slog.Logger, tellers ...prometheus.Collector) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	e, err := metrics.Listen(ctx, address, log, tellers...)
	if err != nil {
		return nil, err
	}
	log.Info("metrics are told", "url", "http://"+e.Addr().String()+"/metrics")
	if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsLoopback() {
		log.Warn("metrics are told to whoever reaches this address: it should be the monitoring network's", "address", address)
	}
	return func() {
		if err := e.Close(); err != nil {
			log.Debug("end of metrics", "error", err)
		}
	}, nil
}

// followSince is how far back the paths go that a server tells of at its start.
const followSince = 30 * 24 * time.Hour

// fleetTold are the metrics of a server of the bus.
type fleetTold struct {
	s     *server.Server
	log   *slog.Logger
	paths *metrics.Paths // nil where nobody reads them
	end   func()
	ends  sync.WaitGroup
	stop  context.CancelFunc
}

func (a *App) tellOfFleet(ctx context.Context, s *server.Server, address string, log *slog.Logger) (*fleetTold, error) {
	f := &fleetTold{s: s, log: log, stop: func() {}}
	if address == "" {
		f.end = func() {}
		return f, nil
	}
	f.paths = &metrics.Paths{}
	end, err := a.tellMetrics(ctx, address, log, metrics.Serve(metrics.ServeConfig{Numbers: s.Numbers, States: f.states, Paths: f.paths, Logger: log}), metrics.OfThePaths(f.paths))
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
		if err := kept.Follow(ctx, time.Now().Add(-followSince), f.paths.Add); err != nil {
			f.log.Error("metrics: paths are not told", "error", err)
		}
	})
}

func (f *fleetTold) close() {
	f.stop()
	f.ends.Wait()
	f.end()
}

// historyAsMetrics writes the newest results of paths beside what is usual for
// them, in one piece: a reader never sees half a file.
func (a *App) historyAsMetrics(ctx context.Context, s *store.Store, q store.Query, file string) error {
	lines, err := s.Lines(ctx, q)
	if err != nil {
		return storeHint(err)
	}
	var paths metrics.Paths
	for _, l := range lines {
		paths.AddLine(l)
	}
	if file == "-" {
		return metrics.Write(a.Stdout, metrics.OfThePaths(&paths))
	}
	var text bytes.Buffer
	if err := metrics.Write(&text, metrics.OfThePaths(&paths)); err != nil {
		return err
	}
	return writeFile(ctx, file, text.Bytes())
}
