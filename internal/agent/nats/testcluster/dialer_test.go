//go:build !aix

package testcluster

import (
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
)

// TestDialerAfterExpiry: a shared connection that nobody used while its identity
// expired is one again when the identity was made to last longer, as that of the
// pages is after a quiet night.
func TestDialerAfterExpiry(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	s := Start(t, nil)
	cfg := s.Valid(t, "eve", agentapi.RoleWatch, 2*time.Second)
	d := link.NewDialer(func() (link.Config, error) { return cfg, nil })
	defer d.Close()
	conn, _, err := d.Conn(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); !conn.IsClosed(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the connection of an identity that has expired goes on")
		}
	}
	cfg = s.As(t, "eve", agentapi.RoleWatch)
	conn, _, err = d.Conn(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.FlushTimeout(5 * time.Second); err != nil {
		t.Errorf("with an identity that is good: %v", err)
	}
}
