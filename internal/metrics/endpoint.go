package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/linerate/linerate/internal/traffic/socket"
)

// Endpoint is an address on which metrics are read: by GET of /metrics, in
// Prometheus's format or OpenMetrics, as the reader asks. Nobody has to say who
// they are, so it should listen where only those who may read it come.
type Endpoint struct {
	srv  http.Server
	at   net.Listener
	done chan struct{}
}

// What a reader may ask for and how long it may take: it is on a host's port.
const (
	headerWithin = 5 * time.Second
	writeWithin  = 30 * time.Second
	mostHeader   = 8 << 10
	mostReaders  = 8
	mostConns    = 64
	connsOfOne   = 16
)

// Listen tells whoever asks at the address, until Close. An address that is
// taken, or none of this host, is an error.
func Listen(ctx context.Context, address string, log *slog.Logger, collectors ...prometheus.Collector) (*Endpoint, error) {
	registry, err := Registry(collectors...)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	at, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for readers of metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: mostReaders, Timeout: writeWithin / 2, ErrorHandling: promhttp.ContinueOnError,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "linerate: metrics are at /metrics") })
	e := &Endpoint{at: at, done: make(chan struct{})}
	e.srv = http.Server{Handler: mux, ReadHeaderTimeout: headerWithin, ReadTimeout: headerWithin, WriteTimeout: writeWithin, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: mostHeader}
	e.srv.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	go func() {
		defer close(e.done)
		if err := e.srv.Serve(socket.Bounded(at, mostConns, connsOfOne)); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are not told any more", "error", err)
		}
	}()
	return e, nil
}

// Addr is where it listens, of the port that was taken.
func (e *Endpoint) Addr() net.Addr { return e.at.Addr() }

// Close ends it, in the middle of what it tells.
func (e *Endpoint) Close() error {
	err := e.srv.Close()
	<-e.done
	return err
}

// Registry holds tellers for one reader.
func Registry(collectors ...prometheus.Collector) (*prometheus.Registry, error) {
	r := prometheus.NewPedanticRegistry()
	for _, t := range collectors {
		if err := r.Register(t); err != nil {
			return nil, fmt.Errorf("make metrics: %w", err)
		}
	}
	return r, nil
}

// Tell answers Prometheus at an address until it is told to end; "" is
// nowhere.
func Tell(ctx context.Context, address string, log *slog.Logger, collectors ...prometheus.Collector) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	e, err := Listen(ctx, address, log, collectors...)
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
