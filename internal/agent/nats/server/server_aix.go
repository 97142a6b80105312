// Package server is nats-server inside this program; on AIX it does not build.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/storage"
)

// Config is one server to run.
type Config struct {
	Authority *authority.Authority
	Server    authority.ServerConfig
	Replicas  int
	PerUser   int64
	Logger    *slog.Logger
}

// Server is a running server: none here.
type Server struct{}

// Start is errors.ErrUnsupported.
func Start(Config) (*Server, error) {
	return nil, fmt.Errorf("run a NATS server on this system: %w", errors.ErrUnsupported)
}

// URL is "".
func (*Server) URL() string { return "" }

// Ended is closed.
func (*Server) Ended() <-chan struct{} {
	out := make(chan struct{})
	close(out)
	return out
}

// Numbers are none.
type Numbers struct {
	Connections       int
	BytesIn, BytesOut int64
	SlowConsumers     int64
	Stored            uint64
}

// Numbers is errors.ErrUnsupported.
func (*Server) Numbers() (Numbers, error) { return Numbers{}, errors.ErrUnsupported }

// Store is nil.
func (*Server) Store() *storage.Storage { return nil }

// Stop does nothing.
func (*Server) Stop() {}

// Prepare is errors.ErrUnsupported.
func (*Server) Prepare(context.Context) error { return errors.ErrUnsupported }

// Push is errors.ErrUnsupported.
func Push(*authority.Authority, string, string) error {
	return fmt.Errorf("tell the servers from this system: %w", errors.ErrUnsupported)
}

// StoreConfig is a run store for the servers of some fleet.
type StoreConfig struct {
	Service, Store func() ([]byte, error)
	Revocations    func() (string, error)
	Replicas       int
	PerUser        int64
	Logger         *slog.Logger
}

// Keep is errors.ErrUnsupported.
func Keep(context.Context, StoreConfig, string, string) (*storage.Storage, func(), error) {
	return nil, nil, fmt.Errorf("run the run store on this system: %w", errors.ErrUnsupported)
}
