//go:build !aix

package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// onNATS runs an agent on a bus until the returned function is called.
func onNATS(t *testing.T, r *testcluster.Server, cfg natsagent.Config) (stop func()) {
	t.Helper()
	conn := testcluster.Connect(t, r.As(t, cfg.Host, agentapi.RoleAgent))
	cfg.Agent.Version, cfg.Agent.JournalDir, cfg.Agent.LockDir = "test", t.TempDir(), t.TempDir()
	if cfg.Audit == "" {
		cfg.Audit = filepath.Join(t.TempDir(), "audit.log")
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- natsagent.Run(ctx, conn, cfg) }()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		ended <- nil
	}
	t.Cleanup(stop)
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // it subscribes
	return stop
}

func dialer(cfg link.Config) *link.Dialer {
	return link.NewDialer(func() (link.Config, error) { return cfg, nil })
}

// natsTransport is one host on a bus, reached by somebody who may change it.
func natsTransport(t *testing.T) Transport {
	r := testcluster.Start(t, nil)
	onNATS(t, r, natsagent.Config{Host: "here"})
	d := dialer(r.As(t, "eve", agentapi.RoleChange))
	t.Cleanup(d.Close)
	via, err := transport(t.Context(), "here", "nats:here", Config{Bus: d})
	if err != nil {
		t.Fatal(err)
	}
	return via
}

// What is longer than the server's largest message goes in parts, both ways.
func TestNATSLong(t *testing.T) {
	via := natsTransport(t)
	defer via.Close()
	_, err := via.Call(t.Context(), agentapi.Apply.Any(), []byte(`{"unknown":"`+strings.Repeat("x", 5<<20)+`"}`))
	if err == nil || !strings.Contains(err.Error(), `unknown field "unknown"`) {
		t.Errorf("a request of five messages' worth: %.200v", err)
	}
	for method, most := range map[agentapi.AnyMethod]int{agentapi.Apply.Any(): wire.MostRequest, agentapi.Observe.Any(): 256 << 10} {
		_, err = via.Call(t.Context(), method, bytes.Repeat([]byte(" "), most+1))
		if err == nil || !strings.Contains(err.Error(), "at most") {
			t.Errorf("a request too long for %s: %v", method.Name, err)
		}
	}
}

// TestNATSLongReply has an agent answer with more than a message holds.
func TestNATSLongReply(t *testing.T) {
	r := testcluster.Start(t, nil)
	agent := testcluster.Connect(t, r.As(t, "here", agentapi.RoleAgent))
	signer := signerOf(t, agent)
	long, err := json.Marshal(strings.Repeat("x", 5<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Subscribe(wire.Asked("here"), func(m *nats.Msg) {
		req, err := wire.ParseRequest(m.Subject)
		if err != nil {
			t.Error(err)
		}
		challenge, reply := "c", agentapi.Reply{Result: long}
		if req.Method == wire.Open.Name {
			challenge = ""
			reply.Result, err = json.Marshal(wire.Opened{Version: agentapi.Version, Instance: "one", Challenge: "c"})
		}
		body, failed := json.Marshal(reply)
		call, bad := strconv.ParseUint(m.Header.Get(wire.HeaderCall), 10, 64)
		said := wire.Signed{Kind: wire.KindReply, Subject: m.Reply, Session: m.Header.Get(wire.HeaderSession), Challenge: challenge, Call: call}.OfBody(body)
		headers := make(map[string]string)
		if err := errors.Join(err, failed, bad, link.Sign(headers, signer, said, challenge == ""), agent.Send(m.Reply, "", headers, body)); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := agent.Flush(); err != nil {
		t.Fatal(err)
	}
	session, err := openNATS(t.Context(), testcluster.Connect(t, r.As(t, "eve", agentapi.RoleChange)), "here")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	got, err := session.Call(t.Context(), agentapi.Observe.Any(), []byte("{}"))
	if err != nil || string(got) != string(long) {
		t.Errorf("%d bytes of %d, %v", len(got), len(long), err)
	}
}

func TestNATSNobody(t *testing.T) {
	r := testcluster.Start(t, nil)
	d := dialer(r.As(t, "eve", agentapi.RoleChange))
	defer d.Close()
	begin := time.Now()
	_, err := Dial(t.Context(), "h", "nats:nobody", Config{Bus: d})
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "no agent called nobody") || time.Since(begin) >= natsOpen {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	for _, reach := range []string{"nats:", "nats:a.b", "nats:*", "nats:>", "nats:../../etc/passwd", "nats:a b", "nats:-x", "nats:" + strings.Repeat("a", 64), "nats:h\x00"} {
		if _, err := Dial(t.Context(), "h", reach, Config{Bus: d}); !errors.Is(err, ErrReach) {
			t.Errorf("%q: %v, want ErrReach", reach, err)
		}
	}
	if _, err := Dial(t.Context(), "h", "nats:h", Config{}); !errors.Is(err, ErrUnreachable) {
		t.Errorf("without a bus: %v", err)
	}
}

// An opening that gets lost, as in a flood of requests, is sent again: there are
// no beats yet that would tell.
func TestNATSOpenLost(t *testing.T) {
	r := testcluster.Start(t, nil)
	agent := testcluster.Connect(t, r.As(t, "here", agentapi.RoleAgent))
	opened, err := json.Marshal(wire.Opened{Version: agentapi.Version, Instance: "one", Challenge: "c"})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := json.Marshal(agentapi.Reply{Result: opened})
	if err != nil {
		t.Fatal(err)
	}
	asked, signer := make(chan string, 2), signerOf(t, agent)
	if _, err := agent.Subscribe(wire.Asked("here"), func(m *nats.Msg) {
		select {
		case asked <- m.Header.Get(wire.HeaderSession):
		default: // the conversation is open
			return
		}
		if len(asked) == 2 {
			session := m.Header.Get(wire.HeaderSession)
			said := wire.Signed{Kind: wire.KindReply, Subject: m.Reply, Session: session, Call: 1}.OfBody(answer)
			headers := make(map[string]string)
			if err := errors.Join(link.Sign(headers, signer, said, true), agent.Send(m.Reply, "", headers, answer)); err != nil {
				t.Error(err)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := agent.Flush(); err != nil {
		t.Fatal(err)
	}
	session, err := openNATS(t.Context(), testcluster.Connect(t, r.As(t, "eve", agentapi.RoleChange)), "here")
	if err != nil {
		t.Fatal(err)
	}
	session.die(errors.New("over"))
	defer session.Close()
	if first, second := <-asked, <-asked; first != second || session.opened.Instance != "one" {
		t.Errorf("opened as %q and %q by %+v, want one conversation", first, second, session.opened)
	}
}

// An agent that goes in the middle of a call fails it, and all that follow.
func TestNATSAgentGoes(t *testing.T) {
	r := testcluster.Start(t, nil)
	stop := onNATS(t, r, natsagent.Config{Host: "here", Silence: 1500 * time.Millisecond})
	d := dialer(r.As(t, "eve", agentapi.RoleChange))
	defer d.Close()
	h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: d})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, stop)
	begin := time.Now()
	for err == nil && time.Since(begin) < 20*time.Second {
		_, err = h.Observe(t.Context())
		time.Sleep(50 * time.Millisecond)
	}
	if !errors.Is(err, ErrUnreachable) || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	begin = time.Now()
	if err := h.Close(); err != nil || time.Since(begin) > natsClose/2 {
		t.Errorf("close: %v after %v", err, time.Since(begin))
	}
}

// A controller that falls silent loses its traffic and its hold.
func TestNATSControllerGoes(t *testing.T) {
	var log testcluster.Text
	r := testcluster.Start(t, nil)
	onNATS(t, r, natsagent.Config{Host: "here", Silence: time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	first, second := dialer(r.As(t, "eve", agentapi.RoleChange)), dialer(r.As(t, "bob", agentapi.RoleChange))
	defer second.Close()
	h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: first})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask.Call(t.Context(), h, agentapi.Lock, agentapi.LockRequest{Holder: agentapi.Holder{Run: "1", User: "eve"}}); err != nil {
		t.Fatal(err)
	}
	lo := netip.MustParseAddr("127.0.0.1")
	sink, err := ask.Call(t.Context(), h, agentapi.OpenSink, agentapi.SinkRequest{Session: "in", Bind: []netip.Addr{lo}, Peers: []netip.Addr{lo}, Streams: 1, Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Dial(t.Context(), "here", "nats:here", Config{Bus: second})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	hold := agentapi.LockRequest{Holder: agentapi.Holder{Run: "2", User: "bob"}}
	if _, err := ask.Call(t.Context(), other, agentapi.Lock, hold); !errors.Is(err, agentapi.ErrBusy) || !strings.Contains(err.Error(), "locked by eve") {
		t.Errorf("two runs hold one host: %v", err)
	}
	if listening, err := dialTCP(lo, sink.Port); err != nil {
		t.Errorf("the sink does not listen: %v", err)
	} else {
		listening.Close()
	}
	first.Close() // without a word to the agent
	time.Sleep(2500 * time.Millisecond)
	if _, err := ask.Call(t.Context(), other, agentapi.Lock, hold); err != nil {
		t.Errorf("the hold outlives its controller: %v", err)
	}
	if c, err := dialTCP(lo, sink.Port); err == nil {
		c.Close()
		t.Error("the data port outlives its controller")
	}
	if !strings.Contains(log.String(), "a controller is gone") {
		t.Error("nothing is logged")
	}
}

// A user's role ends at the server, whose word arrives as an error of the call.
func TestNATSRoles(t *testing.T) {
	r := testcluster.Start(t, nil)
	onNATS(t, r, natsagent.Config{Host: "here"})
	for _, c := range []struct {
		role           agentapi.Role
		pings, changes bool
	}{{agentapi.RoleWatch, false, false}, {agentapi.RoleMeasure, true, false}, {agentapi.RoleChange, true, true}} {
		d := dialer(r.As(t, "user-"+string(c.role), c.role))
		h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: d})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Observe(t.Context()); err != nil {
			t.Errorf("%s may not observe: %v", c.role, err)
		}
		_, err = ask.Call(t.Context(), h, agentapi.Lock, agentapi.LockRequest{Holder: agentapi.Holder{Run: "1"}})
		if allowed := !errors.Is(err, fs.ErrPermission); allowed != c.pings {
			t.Errorf("%s may measure: %v (%v)", c.role, allowed, err)
		}
		begin := time.Now()
		_, err = ask.Call(t.Context(), h, agentapi.Confirm, agentapi.ConfirmRequest{Journal: "none"})
		if allowed := !errors.Is(err, fs.ErrPermission); allowed != c.changes || err == nil {
			t.Errorf("%s may change: %v (%v)", c.role, allowed, err)
		}
		if time.Since(begin) >= natsOpen {
			t.Errorf("%s was told after %v", c.role, time.Since(begin))
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		d.Close()
	}
}

func dialTCP(addr netip.Addr, port int) (net.Conn, error) {
	return net.DialTimeout("tcp", netip.AddrPortFrom(addr, uint16(port)).String(), time.Second)
}

// An agent on NATS that is alive and late is given up as one by ssh is: what is asked
// of it later fails at once.
func TestLateOnNATS(t *testing.T) {
	r := testcluster.Start(t, nil)
	onNATS(t, r, natsagent.Config{Host: "db1"})
	h, err := Dial(t.Context(), "db1", "nats:db1", Config{Bus: dialer(r.As(t, "alice", agentapi.RoleChange))})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	late, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errLate)
	defer cancel()
	if _, err := ask.Call(late, h, agentapi.Traffic, agentapi.TrafficRequest{Span: time.Minute, Flows: 1}); !errors.Is(err, errLate) {
		t.Errorf("an answer that is late: %v", err)
	}
	if _, err := h.Observe(t.Context()); !errors.Is(err, errLate) {
		t.Errorf("what is asked later: %v", err)
	}
}
