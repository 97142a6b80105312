package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/linerate/linerate/internal/agent/nats/server"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// ServeConfig is what a server of the bus tells of.
type ServeConfig struct {
	Numbers func() (server.Numbers, error)
	// States are the fleet's hosts as they last said; nil on a server that keeps
	// none. Paths likewise.
	States func(context.Context) (map[string]wire.State, error)
	Paths  *Paths
	Logger *slog.Logger // nil is silence
}

// statesWithin is how long the hosts may take to be read: an answer without them
// is better than none.
const statesWithin = 5 * time.Second

type serveCollector struct {
	collector
	cfg ServeConfig
}

// Serve tells of a server of the bus and of the fleet on it.
func Serve(cfg ServeConfig) prometheus.Collector {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return serveCollector{newCollector(OfServe), cfg}
}

// Collect implements prometheus.Collector.
func (t serveCollector) Collect(out chan<- prometheus.Metric) {
	if n, err := t.cfg.Numbers(); err != nil {
		t.cfg.Logger.Warn("metrics: the server's numbers were not read", "error", err)
	} else {
		t.tell(out, "linerate_serve_connections", float64(n.Connections))
		t.tell(out, "linerate_serve_bytes_total", float64(n.BytesIn), "receive")
		t.tell(out, "linerate_serve_bytes_total", float64(n.BytesOut), "transmit")
		t.tell(out, "linerate_serve_slow_consumers_total", float64(n.SlowConsumers))
		t.tell(out, "linerate_serve_stored_bytes", float64(n.Stored))
	}
	if t.cfg.Paths != nil {
		t.tell(out, "linerate_fleet_paths", float64(len(t.cfg.Paths.all())))
	}
	if t.cfg.States != nil {
		t.hosts(out)
	}
}

func (t serveCollector) hosts(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statesWithin)
	defer cancel()
	states, err := t.cfg.States(ctx)
	if err != nil {
		t.cfg.Logger.Warn("metrics: not every host's state was read", "error", err)
	}
	for name, s := range states {
		t.tell(out, "linerate_fleet_host_info", 1, name, s.Hello.Linerate, s.Hello.OS, s.Hello.Kernel, string(s.Most))
		t.tell(out, "linerate_fleet_host_written_time_seconds", seconds(s.Written), name)
	}
}
