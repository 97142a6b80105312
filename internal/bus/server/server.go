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

	"github.com/linerate/linerate/internal/bus/authority"
)

// Config is one server to run.
type Config struct {
	Authority *authority.Authority
	Server    authority.ServerConfig
	// Replicas is how many servers of a cluster keep each result; zero is one.
	// Only the server whose directory signs makes the streams.
	Replicas int
	Logger   *slog.Logger // nil is silence
}

// Server is a running server.
type Server struct {
	cfg Config
	srv *server.Server
	log *slog.Logger
	// service is the connection of ours; nil in a member of a cluster.
	service atomic.Pointer[nats.Conn]
}

// How long a server may take to listen, and a cluster to agree.
const (
	readyWithin  = 15 * time.Second
	agreesWithin = 2 * time.Minute
)

// Start runs a server until Stop. A port that is taken, or a configuration that
// nats-server refuses, is an error. It returns when connections are accepted;
// Prepare is to follow.
func Start(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, log: cfg.Logger}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
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
	words := &words{log: s.log}
	s.srv.SetLoggerV2(words, false, false, false)
	go s.srv.Start()
	if !s.srv.ReadyForConnections(readyWithin) {
		err := fmt.Errorf("start NATS server on %s: %w", cfg.Server.Listen, errors.Join(errNotReady, words.worst()))
		s.Stop()
		return nil, err
	}
	return s, nil
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
	if conn := s.service.Load(); conn != nil {
		conn.Close()
	}
	s.srv.Shutdown()
	s.srv.WaitForShutdown()
}

// Prepare makes the streams and buckets, which in a cluster waits until most of
// its servers are there, and then answers the holders of tokens. A member has
// nothing to do.
func (s *Server) Prepare(ctx context.Context) error {
	if !s.cfg.Authority.Signs() {
		return nil
	}
	token, seed, err := s.cfg.Authority.Service()
	if err != nil {
		return err
	}
	conn, err := nats.Connect("", nats.InProcessServer(s.srv), nats.UserJWTAndSeed(token, seed), nats.Name("linerate serve"), nats.MaxReconnects(-1))
	if err != nil {
		return fmt.Errorf("connect to our own server: %w", err)
	}
	s.service.Store(conn)
	if err := Keep(ctx, conn, max(s.cfg.Replicas, 1)); err != nil {
		return err
	}
	return s.answerTokens(conn)
}

// push tells the servers of the account as it is now: with its revocations.
func (s *Server) push() error {
	token, seed, err := s.cfg.Authority.System()
	if err != nil {
		return err
	}
	return push(s.cfg.Authority, "", nats.InProcessServer(s.srv), nats.UserJWTAndSeed(token, seed))
}
