//go:build !aix

package fleet

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/server"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// The audit log holds what the user signed, and anybody who has the user's key
// can verify it.
func TestNATSSecurityAudit(t *testing.T) {
	b := besiege(t, agentapi.RoleChange)
	eve := testcluster.Connect(t, b.testServer.As(t, "eve", agentapi.RoleChange))
	body := `{"journal":"none"}`
	if err := newRaw(t, eve, signerOf(t, eve), "here").ask(t, agentapi.Rollback.Any(), []byte(body)); err == nil {
		t.Fatal("a change that is not there was rolled back")
	}
	file, err := os.Open(b.audit)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan()
	var e struct{ User, Key, Signed, Signature, Request_sha256, Stage string }
	if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.User != "eve" || e.Key != eve.Who.Key || e.Stage != "begin" {
		t.Fatalf("%s, %v", lines.Bytes(), err)
	}
	var said wire.Signed
	if err := json.Unmarshal([]byte(e.Signed), &said); err != nil || said.Subject != "linerate.v2.req.eve.change.here.rollback" || said.Sum != e.Request_sha256 {
		t.Errorf("it is said that eve signed %s, %v", e.Signed, err)
	}
	if err := (claim.Identity{Name: "eve", Key: e.Key}).Verify(append([]byte{0xff}, e.Signed...), e.Signature); err != nil {
		t.Error(err)
	}
	other := append([]byte{0xff}, strings.Replace(e.Signed, "here", "elsewhere", 1)...)
	if err := (claim.Identity{Name: "eve", Key: e.Key}).Verify(other, e.Signature); !errors.Is(err, claim.ErrSignature) {
		t.Errorf("the signature is over something else too: %v", err)
	}
}

// A request that was held back on its way is not done when nobody expects it any
// more, whatever the clocks of both sides say.
func TestNATSSecurityLate(t *testing.T) {
	b := besiege(t, agentapi.RoleChange)
	eve := testcluster.Connect(t, b.testServer.As(t, "eve", agentapi.RoleChange))
	for name, skew := range map[string]time.Duration{"a right clock": 0, "a clock in 1970": -time.Duration(time.Now().UnixNano()) + time.Hour, "a clock an hour ahead": time.Hour} {
		r := newRaw(t, eve, signerOf(t, eve), "here")
		at := func(d time.Duration) func(*wire.Signed, *nats.Msg) {
			return func(s *wire.Signed, _ *nats.Msg) { *s = s.At(time.Now().Add(skew + d)) }
		}
		result, err := r.send(t, r.message(t, wire.Open, nil, at(0)))
		if err != nil || json.Unmarshal(result, &r.opened) != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range []struct {
			late time.Duration
			want error
		}{{0, nil}, {-20 * time.Second, nil}, {-40 * time.Second, agentapi.ErrRefused}, {time.Minute, agentapi.ErrRefused}, {-240 * time.Hour, agentapi.ErrRefused}} {
			if _, err := r.send(t, r.message(t, agentapi.Observe.Any(), []byte("{}"), at(c.late))); !errors.Is(err, c.want) {
				t.Errorf("%s, signed %v before: %v, want %v", name, -c.late, err, c.want)
			}
		}
	}
}

// A claim that expires in the middle of a conversation ends it, also over a
// server that does not mind.
func TestNATSSecurityExpires(t *testing.T) {
	b := besiege(t, agentapi.RoleChange)
	r := newRaw(t, testcluster.Connect(t, forge(t, b.testServer, "broad", "")), signerOf(t, testcluster.Connect(t, b.testServer.Valid(t, "eve", agentapi.RoleChange, 2*time.Second))), "here")
	if err := r.ask(t, agentapi.Observe.Any(), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3100 * time.Millisecond)
	if err := r.ask(t, agentapi.Observe.Any(), []byte("{}")); !errors.Is(err, fs.ErrPermission) && !errors.Is(err, agentapi.ErrGone) {
		t.Errorf("in the conversation: %v", err)
	}
	if err := newRaw(t, r.conn, r.signer, "here").open(t); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("another one: %v", err)
	}
	b.untouched(t, b.log.String, "has expired")
}

// A second server on the same directory would lose what the first has
// acknowledged.
func TestNATSSecurityTwoServers(t *testing.T) {
	r := testcluster.Start(t, slog.New(slog.DiscardHandler))
	again, err := authority.Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.Config{Authority: again, Server: authority.ServerConfig{Name: "two", Listen: "127.0.0.1:-1", Names: []string{"127.0.0.1"}}}
	if s, err := server.Start(cfg); !errors.Is(err, authority.ErrServed) {
		if err == nil {
			s.Stop()
		}
		t.Errorf("a second server: %v", err)
	}
	r.Server.Stop()
	s, err := server.Start(cfg)
	if err != nil {
		t.Fatalf("when the first has ended: %v", err)
	}
	s.Stop()
}

// A user who keeps more than there is room for loses their own oldest results.
func TestNATSSecurityRoom(t *testing.T) {
	r := testcluster.Start(t, nil)
	a := &attacked{testServer: r, adm: testcluster.Connect(t, r.As(t, "adm", agentapi.RoleChange))}
	a.keep(t, "first", 1)
	mallory := testcluster.Connect(t, r.As(t, "mallory", agentapi.RoleMeasure))
	x := newRaw(t, mallory, signerOf(t, mallory), "here")
	big := make([]byte, 700<<10)
	for i := range 30 {
		p := wire.StoreParams{Run: "big", Key: wire.BaseKey("0123456789ab", i+1)}
		if err := x.put(t, "mallory", wire.StorePut, p, big, nil); err != nil {
			t.Fatal(err)
		}
	}
	store := r.Server.Store()
	held, err := store.Kept(t.Context(), "mallory")
	if err != nil || held > testcluster.PerUser || held < testcluster.PerUser/2 {
		t.Errorf("of mallory's 21 MB %d bytes are kept, %v", held, err)
	}
	if kept, err := store.Kept(t.Context(), "adm"); err != nil || kept == 0 {
		t.Errorf("of adm's run %d bytes are kept, %v", kept, err)
	}
}
