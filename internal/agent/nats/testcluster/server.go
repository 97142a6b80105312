//go:build !aix

// Package testcluster is a bus for tests: a real server, in this process or as
// processes of nats-server, with identities on it.
package testcluster

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/server"
)

// Server is a server with its authority.
type Server struct {
	Authority *authority.Authority
	Server    *server.Server // nil where processes serve
	URL       string
	Dir       string
}

// PerUser is how many bytes of results each user of Start's server keeps.
const PerUser = 16 << 20

// Start runs a server in this process until the test ends.
func Start(t testing.TB, log *slog.Logger) *Server {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "serve")
	a, err := authority.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(server.Config{
		Authority: a, Logger: log, PerUser: PerUser, Server: authority.ServerConfig{Name: "one", Listen: "127.0.0.1:-1", Names: []string{"127.0.0.1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &Server{a, s, s.URL(), dir}
}

// CA is the file with the servers' authority.
func (r *Server) CA() string { return filepath.Join(r.Dir, "ca.pem") }

// As makes an identity and returns how it connects.
func (r *Server) As(t testing.TB, name string, role agentapi.Role) link.Config {
	t.Helper()
	return r.Valid(t, name, role, 0)
}

// Valid is As for an identity that expires.
func (r *Server) Valid(t testing.TB, name string, role agentapi.Role, valid time.Duration) link.Config {
	t.Helper()
	pair, key := Key(t)
	token, err := r.Authority.Sign(name, role, key, valid, true)
	if err != nil {
		t.Fatal(err)
	}
	return link.Config{URL: r.URL, Creds: Creds(t, token, pair), CA: r.CA()}
}

// Key makes a user's key.
func Key(t testing.TB) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return pair, key
}

// Creds writes a credentials file.
func Creds(t testing.TB, token string, pair nkeys.KeyPair) string {
	t.Helper()
	text, err := authority.Credentials(token, pair)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "nats.creds")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Connect connects and disconnects when the test ends.
func Connect(t testing.TB, cfg link.Config) *link.Conn {
	t.Helper()
	c, err := link.Connect(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
