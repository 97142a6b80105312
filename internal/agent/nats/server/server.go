//go:build !aix

// Package server is nats-server inside this program, with what linerate needs
// beside it: the streams and buckets, and the answer to whoever has a token.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/storage"
)

// Config is one server to run.
type Config struct {
	Authority *authority.Authority
	Server    authority.ServerConfig
	// Replicas is how many servers of a cluster keep each result; zero is one.
	Replicas int
	// PerUser is how many bytes of results each user keeps; zero is
	// storage.DefaultPerUser.
	PerUser int64
	Logger  *slog.Logger // nil is silence
}

// Server is a running server.
type Server struct {
	cfg Config
	srv *server.Server
	log *slog.Logger
	// release lets go of the state directory.
	release func()
	store   atomic.Pointer[storage.Storage]
	// end ends the store and what answers tokens.
	end atomic.Pointer[func()]
}

// readyWithin is how long a server may take to listen.
const readyWithin = 15 * time.Second

// Start runs a server until Stop. A port that is taken, or a configuration that
// nats-server refuses, is an error. It returns when connections are accepted;
// Prepare is to follow. Errors: authority.ErrServed.
func Start(cfg Config) (s *Server, err error) {
	s = &Server{cfg: cfg, log: cfg.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	release, err := cfg.Authority.Serve()
	if err != nil {
		return nil, err
	}
	s.release = release
	defer func() {
		if err != nil {
			release()
		}
	}()
	file, err := cfg.Authority.WriteConfig(cfg.Server)
	if err != nil {
		return nil, err
	}
	opts, err := server.ProcessConfigFile(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	opts.NoSigs = true // the process is ours to end
	if s.srv, err = server.NewServer(opts); err != nil {
		return nil, fmt.Errorf("make NATS server: %w", err)
	}
	words := &words{log: s.log, rare: link.NewLimitedLog(s.log)}
	s.srv.SetLoggerV2(words, false, false, false)
	go s.srv.Start()
	if !s.ready(words) {
		err = fmt.Errorf("start NATS server on %s: %w", cfg.Server.Listen, errors.Join(errNotReady, words.worst()))
		s.srv.Shutdown()
		s.srv.WaitForShutdown()
		return nil, err
	}
	go s.limitEach(opts.MaxConn)
	return s, nil
}

// ready waits until the server listens, or has given up.
func (s *Server) ready(words *words) bool {
	const look = 100 * time.Millisecond
	for waited := time.Duration(0); waited < readyWithin; waited += look {
		if s.srv.ReadyForConnections(look) {
			return true
		}
		if words.worst() != nil {
			return false
		}
	}
	return false
}

var errNotReady = errors.New("it does not listen")

// URL is where clients connect, of the port that was taken.
func (s *Server) URL() string { return "tls://" + s.srv.Addr().String() }

// Ended is closed when the server has ended, by Stop or by itself.
func (s *Server) Ended() <-chan struct{} {
	out := make(chan struct{})
	go func() {
		s.srv.WaitForShutdown()
		close(out)
	}()
	return out
}

// Stop ends the server and waits until it has.
func (s *Server) Stop() {
	if end := s.end.Load(); end != nil {
		(*end)()
	}
	s.srv.Shutdown()
	s.srv.WaitForShutdown()
	s.release()
}

// Store is the run store of this server; nil before Prepare has made it.
func (s *Server) Store() *storage.Storage { return s.store.Load() }

// Prepare starts the run store, which in a cluster waits until most of its
// servers are there, and then, where the directory signs, answers the holders of
// tokens.
func (s *Server) Prepare(ctx context.Context) error {
	here := nats.InProcessServer(s.srv)
	cfg := StoreOf(s.cfg.Authority)
	cfg.Replicas, cfg.PerUser, cfg.Logger = s.cfg.Replicas, s.cfg.PerUser, s.log
	store, end, err := keep(ctx, cfg, "", here)
	if err != nil {
		return err
	}
	s.store.Store(store)
	s.end.Store(&end)
	if !s.cfg.Authority.Signs() {
		return nil
	}
	conn, err := own(s.cfg.Authority.Service, "", here, nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	both := func() {
		conn.Close()
		end()
	}
	s.end.Store(&both)
	return s.answerTokens(conn)
}

// push tells the servers of the account as it is now: with its revocations.
func (s *Server) push() error { return push(s.cfg.Authority, "", nats.InProcessServer(s.srv)) }
