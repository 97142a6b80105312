//go:build !aix

package testcluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// more is a connection of an identity that does not come back when it is closed.
func more(t *testing.T, cfg link.Config) *nats.Conn {
	t.Helper()
	c, err := nats.Connect(cfg.URL, nats.UserCredentials(cfg.Creds), nats.RootCAs(cfg.CA), nats.NoReconnect(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestSubscriptions: a host hears by a few subscriptions, a controller by one for each host.
func TestSubscriptions(t *testing.T) {
	s := Start(t, nil)
	for _, who := range []struct {
		name, inbox string
		role        agentapi.Role
		few, many   int
	}{
		{"db1", wire.AgentInbox("db1"), agentapi.RoleAgent, 12, 32},
		{"eve", wire.StoreInbox("eve"), agentapi.RoleWatch, 1001, 4096},
	} {
		c := more(t, s.As(t, who.name, who.role))
		for made := 0; made < who.many; {
			if _, err := c.SubscribeSync(fmt.Sprintf("%s.%d", who.inbox, made)); err != nil {
				t.Fatal(err)
			}
			if made++; made == who.few || made == who.many {
				_ = c.FlushTimeout(10 * time.Second) // the error that is asked for
				if refused := errors.Is(c.LastError(), nats.ErrMaxSubscriptionsExceeded); refused != (made == who.many) {
					t.Errorf("%s makes %d subscriptions: %v", who.name, made, c.LastError())
				}
			}
		}
	}
}

// TestCrowdOfOne: who may only watch does not have so many connections that none are left
// for others; they and the server's own go on.
func TestCrowdOfOne(t *testing.T) {
	s := Start(t, nil)
	adm := Connect(t, s.As(t, "adm", agentapi.RoleChange))
	host := more(t, s.As(t, "db1", agentapi.RoleAgent))
	changing, watching := s.As(t, "bob", agentapi.RoleChange), s.As(t, "eve", agentapi.RoleWatch)
	var crowd, fresh []*nats.Conn
	for range 80 {
		crowd, fresh = append(crowd, more(t, watching)), append(fresh, more(t, changing))
	}
	open := func(all []*nats.Conn) (n int) {
		for _, c := range all {
			if !c.IsClosed() {
				n++
			}
		}
		return n
	}
	for end := time.Now().Add(15 * time.Second); open(crowd) > 64 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
	}
	time.Sleep(1500 * time.Millisecond) // counted once more
	if n := open(crowd); n != 64 || crowd[0].IsClosed() {
		t.Errorf("%d connections of one who watches are left, want the oldest 64", n)
	}
	// A change of many hosts is confirmed over a connection to each.
	if n := open(fresh); n != len(fresh) {
		t.Errorf("%d of %d connections of one who changes are left", n, len(fresh))
	}
	if host.IsClosed() || adm.Stats().Reconnects > 0 {
		t.Error("another's connection was closed")
	}
	Connect(t, s.As(t, "carol", agentapi.RoleWatch))
	if reply := State(t, Connect(t, s.As(t, "db2", agentapi.RoleAgent)), "db2", []byte("{}")); reply.Error != "" {
		t.Error(reply.Error)
	}
}

// TestUnread: what somebody does not read waits in the server up to a bound, not up to the
// moment at which the server has waited long enough to write it.
func TestUnread(t *testing.T) {
	s := Start(t, nil)
	cfg := s.As(t, "eve", agentapi.RoleWatch)
	way := NewProxy(t, strings.TrimPrefix(s.URL, "tls://"))
	cfg.URL = "tls://" + way.Addr()
	eve, host := more(t, cfg), more(t, s.As(t, "db1", agentapi.RoleAgent))
	to := wire.Answer("eve", "db1", "x", 1)
	if _, err := eve.SubscribeSync(to); err != nil || eve.Flush() != nil {
		t.Fatal(err)
	}
	way.Cut()
	defer way.Heal()
	begin := time.Now()
	for range 60 {
		if err := errors.Join(host.Publish(to, make([]byte, 1<<20)), host.FlushTimeout(10*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	for {
		if n, err := s.Server.Numbers(); err != nil || n.SlowConsumers > 0 {
			return
		}
		if time.Since(begin) > 8*time.Second {
			t.Fatal("60 MB wait for one connection that reads nothing")
		}
		time.Sleep(50 * time.Millisecond)
	}
}
