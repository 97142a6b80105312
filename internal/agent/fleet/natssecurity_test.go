//go:build !aix

package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/plan"
)

// besieged is a bus with one agent, its logs, and a guard that nothing of the
// host was changed.
type besieged struct {
	testServer  *testcluster.Server
	server, log testcluster.Text
	audit       string
	journal     string
}

func besiege(t *testing.T, most agentapi.Role) *besieged {
	t.Helper()
	b := &besieged{audit: filepath.Join(t.TempDir(), "audit.log"), journal: t.TempDir()}
	b.testServer = testcluster.Start(t, slog.New(slog.NewTextHandler(&b.server, nil)))
	cfg := natsagent.Config{Host: "here", Most: most, Audit: b.audit, Logger: slog.New(slog.NewTextHandler(&b.log, nil))}
	cfg.Agent.JournalDir = b.journal
	onNATS(t, b.testServer, cfg)
	return b
}

// untouched fails when anything was changed, or nothing logged.
func (b *besieged) untouched(t *testing.T, logged func() string, want string) {
	t.Helper()
	if files, err := os.ReadDir(b.journal); err != nil || len(files) > 0 {
		t.Errorf("the journal has %v, %v", files, err)
	}
	if text, err := os.ReadFile(b.audit); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the audit log has %q, %v", text, err)
	}
	for end := time.Now().Add(3 * time.Second); !strings.Contains(logged(), want); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("the log lacks %q:\n%s", want, logged())
			return
		}
	}
}

// wanted is a change as somebody would ask for it.
func wanted(t *testing.T) []byte {
	t.Helper()
	text, err := json.Marshal(agentapi.ApplyRequest{Plan: plan.Plan{Host: "here", Steps: []plan.Step{{Kind: plan.LinkMTU, Link: "linerate-no0", Old: "1500", New: "9000"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Who is not let in: no credentials, expired ones, another account's, and a
// client that trusts another authority.
func TestNATSSecurityStrangers(t *testing.T) {
	b := besiege(t, agentapi.RoleChange)
	other := testcluster.Start(t, nil)
	expired := b.testServer.Valid(t, "late", agentapi.RoleChange, time.Second)
	expired.URL = b.testServer.URL
	foreign := other.As(t, "eve", agentapi.RoleChange)
	foreign.URL, foreign.CA = b.testServer.URL, b.testServer.CA()
	distrusts := b.testServer.As(t, "eve", agentapi.RoleChange)
	distrusts.CA = other.CA()
	time.Sleep(2100 * time.Millisecond)
	if _, err := nats.Connect(b.testServer.URL, nats.RootCAs(b.testServer.CA())); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without credentials: %v", err)
	}
	b.untouched(t, b.server.String, "authentication error")
	for name, c := range map[string]struct {
		cfg  link.Config
		want error
	}{"expired": {expired, link.ErrCreds}, "of another account": {foreign, link.ErrCreds}, "of another authority": {distrusts, link.ErrUntrusted}} {
		if _, err := link.Connect(t.Context(), c.cfg); !errors.Is(err, c.want) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An agent of such credentials hears nothing, however often it tries.
	agent := other.As(t, "here", agentapi.RoleAgent)
	agent.URL, agent.CA, agent.Forever = b.testServer.URL, b.testServer.CA(), true
	conn, err := link.Connect(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	time.Sleep(time.Second)
	if conn.IsConnected() {
		t.Error("a foreign agent is connected")
	}
	// Without TLS nothing is said at all.
	plain, err := net.DialTimeout("tcp", strings.TrimPrefix(b.testServer.URL, "tls://"), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	_, _ = plain.Write([]byte("CONNECT {\"verbose\":true}\r\nPUB linerate.v1.req.eve.change.here.apply 2\r\n{}\r\n"))
	_ = plain.SetReadDeadline(time.Now().Add(5 * time.Second))
	said, _ := io.ReadAll(plain)
	if bytes.Contains(said, []byte("+OK")) {
		t.Errorf("a connection without TLS was served: %q", said)
	}
	if c := testcluster.Connect(t, b.testServer.As(t, "eve", agentapi.RoleChange)); !c.IsConnected() {
		t.Error("the bus is gone")
	}
	b.untouched(t, b.server.String, "authentication error")
}

// A file of credentials that others may read, or of a name that is a path, is
// not used.
func TestNATSSecurityCredentials(t *testing.T) {
	b := besiege(t, agentapi.RoleChange)
	open := b.testServer.As(t, "eve", agentapi.RoleChange)
	if err := os.Chmod(open.Creds, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := link.Connect(t.Context(), open); !errors.Is(err, link.ErrCreds) {
		t.Errorf("others may read it: %v", err)
	}
	for _, name := range []string{"../../etc/passwd", "a.b", ">", "*", "eve\n"} {
		if _, err := link.Connect(t.Context(), forge(t, b.testServer, name, agentapi.RoleChange)); !errors.Is(err, wire.ErrName) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := b.testServer.Authority.Sign(name, agentapi.RoleAgent, "", 0, false); !errors.Is(err, wire.ErrName) {
			t.Errorf("%q was signed: %v", name, err)
		}
	}
	for _, dir := range []string{"identities", "tokens"} {
		found, err := filepath.Glob(filepath.Join(b.testServer.Dir, dir, "*passwd*"))
		if err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
	}
}

// Roles end at the server by what it lets one publish, and at the agent by what
// it serves, should the server let too much through.
func TestNATSSecurityRoles(t *testing.T) {
	b := besiege(t, agentapi.RoleMeasure)
	body := wanted(t)
	watcher := testcluster.Connect(t, b.testServer.As(t, "bob", agentapi.RoleWatch))
	for _, subject := range []string{
		"linerate.v2.req.bob.change.here.apply", "linerate.v2.req.eve.change.here.apply", "linerate.v2.req.bob.measure.here.sink", "linerate.v2.req.eve.watch.here.observe",
		"linerate.v2.inbox.eve.here.1.1", "linerate.v2.state.here", "linerate.v2.store.bob.put", "linerate.v2.store.eve.get", "linerate.v2.revoked", "$KV.linerate-hosts.here", "$JS.API.STREAM.DELETE.KV_linerate-hosts", "$SYS.REQ.SERVER.PING",
	} {
		denied := make(chan string, 1)
		stop := watcher.Denied(func(s string) { denied <- s })
		if err := watcher.Publish(subject, body); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-denied:
			if got != subject {
				t.Errorf("denied is %s, want %s", got, subject)
			}
		case <-time.After(3 * time.Second):
			t.Errorf("the server lets a watcher publish to %s", subject)
		}
		stop()
	}
	for _, subject := range []string{"linerate.v2.req.>", "linerate.v2.inbox.eve.>", ">", "linerate.v2.agent.here.inbox.>", "linerate.v2.state.*", "linerate.v2.store.*.*"} {
		sub, err := watcher.SubscribeSync(subject)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := sub.NextMsg(300 * time.Millisecond); err == nil || !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("the server lets a watcher hear %s: %v, %v", subject, m, err)
		}
	}
	b.untouched(t, b.server.String, "Publish Violation")

	// The server lets everything through: the agent holds to the claim.
	broad := testcluster.Connect(t, forge(t, b.testServer, "mal", ""))
	signers := make(map[agentapi.Role]*raw)
	for _, role := range agentapi.People() {
		signers[role] = newRaw(t, broad, signerOf(t, testcluster.Connect(t, b.testServer.As(t, "u-"+string(role), role))), "here")
		if err := signers[role].open(t); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		role    agentapi.Role
		as      string // in the subject
		under   agentapi.Role
		method  agentapi.MethodName
		refused error
	}{
		{agentapi.RoleWatch, "u-watch", agentapi.RoleWatch, agentapi.Apply.Name, fs.ErrPermission}, // under a role that is not the method's
		{agentapi.RoleMeasure, "u-measure", agentapi.RoleMeasure, agentapi.Apply.Name, fs.ErrPermission},
		{agentapi.RoleMeasure, "u-measure", agentapi.RoleChange, agentapi.Apply.Name, fs.ErrPermission}, // in a role that the claim has not
		{agentapi.RoleWatch, "u-watch", agentapi.RoleMeasure, agentapi.OpenSink.Name, fs.ErrPermission},
		{agentapi.RoleWatch, "u-change", agentapi.RoleChange, agentapi.Confirm.Name, fs.ErrPermission}, // in another's name
		{agentapi.RoleChange, "u-change", agentapi.RoleChange, agentapi.Apply.Name, fs.ErrPermission},  // more than this agent serves
		{agentapi.RoleChange, "u-change", agentapi.RoleChange, agentapi.Confirm.Name, fs.ErrPermission},
		{agentapi.RoleChange, "u-change", "root", agentapi.Apply.Name, fs.ErrPermission},
		{agentapi.RoleChange, "u-change", agentapi.RoleChange, "exec", errors.ErrUnsupported}, // no method
	} {
		r := signers[c.role]
		msg := r.message(t, wire.Beat, body, func(said *wire.Signed, m *nats.Msg) {
			m.Subject = wire.Request{User: c.as, Role: c.under, Host: "here", Method: c.method}.Subject()
			said.Subject = m.Subject
		})
		_, err := r.send(t, msg)
		if c.as != r.signer.Who.Name && errors.Is(err, errUnheard) {
			continue // answered to the other's inbox
		}
		if !errors.Is(err, c.refused) {
			t.Errorf("%s as %s under %s for %s: %v, want %v", c.role, c.as, c.under, c.method, err, c.refused)
		}
	}
	b.untouched(t, b.log.String, "this agent serves measure and no more")
}

// What is malformed or too long is refused and logged, a flood of it not a line
// each, and the agent goes on.
func TestNATSSecurityRubbish(t *testing.T) {
	b := besiege(t, agentapi.RoleChange)
	mal := testcluster.Connect(t, b.testServer.As(t, "mal", agentapi.RoleChange))
	broad := testcluster.Connect(t, forge(t, b.testServer, "broad", ""))
	r := newRaw(t, broad, signerOf(t, mal), "here")
	const observe = "linerate.v2.req.mal.watch.here.observe"
	for name, m := range map[string]*nats.Msg{
		"no headers":              {Subject: observe},
		"a path for conversation": {Subject: observe, Header: nats.Header{wire.HeaderSession: {"../../etc/passwd"}, wire.HeaderCall: {"1"}}},
		"more tokens":             {Subject: "linerate.v2.req.m%2e.watch.here.observe"},
		"a user that is a path":   {Subject: `linerate.v2.req.\..\..watch.here.observe`},
		"a long conversation":     {Subject: observe, Header: nats.Header{wire.HeaderSession: {strings.Repeat("a", 5000)}}},
		"a wildcard for a method": {Subject: "linerate.v2.req.mal.watch.here.ob*"},
		"a megabyte of nothing":   {Subject: "linerate.v2.req.mal.watch.here.talk-open", Data: bytes.Repeat([]byte{0xff}, 900<<10)},
	} {
		if _, err := r.send(t, m); err == nil {
			t.Errorf("%s was done", name)
		}
	}
	if err := r.open(t); err != nil {
		t.Fatal(err)
	}
	send := func(name string, want error, body []byte, spoil func(*wire.Signed, *nats.Msg)) {
		t.Helper()
		_, err := r.send(t, r.message(t, agentapi.Observe.Any(), body, spoil))
		var e *agentapi.Error
		if want == nil && (!errors.As(err, &e) || e.Code != agentapi.CodeFailed) || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	header := func(name, value string) func(*wire.Signed, *nats.Msg) {
		return func(_ *wire.Signed, m *nats.Msg) { m.Header.Set(name, value) }
	}
	send("no JSON", nil, []byte("{{{"), nil)
	send("unknown fields", nil, []byte(`{"command":"rm -rf /"}`), nil)
	send("deep JSON", nil, bytes.Repeat([]byte("["), 200000), nil)
	send("17 MB said", errUnheard, []byte("{}"), header(wire.HeaderSize, fmt.Sprint(wire.MostRequest+1)))
	send("minus 1 byte", errUnheard, []byte("{}"), header(wire.HeaderSize, "-1"))
	send("a million parts", errUnheard, []byte("{}"), header(wire.HeaderPart, "1/1000000"))
	send("part 0", errUnheard, []byte("{}"), header(wire.HeaderPart, "0/1"))
	send("no number", errUnheard, []byte("{}"), header(wire.HeaderCall, "one"))
	send("a checksum that was not signed", errUnheard, []byte("{}"), header(wire.HeaderSum, strings.Repeat("0", 64)))
	send("another body than was signed", nil, []byte("{}"), func(_ *wire.Signed, m *nats.Msg) { m.Data = []byte("[]") })
	send("no signature", errUnheard, []byte("{}"), header(wire.HeaderSignature, "x"))
	send("a signature for another moment", errUnheard, []byte("{}"), header(wire.HeaderTime, "1"))
	// Another's conversation.
	thief := newRaw(t, broad, signerOf(t, testcluster.Connect(t, b.testServer.As(t, "eve", agentapi.RoleChange))), "here")
	thief.session, thief.opened = r.session, r.opened
	if err := thief.ask(t, agentapi.Observe.Any(), []byte("{}")); !errors.Is(err, errUnheard) {
		t.Errorf("another's conversation: %v", err)
	}
	for range 5000 {
		if err := broad.Publish(observe, []byte("flood")); err != nil {
			t.Fatal(err)
		}
	}
	h1, err := Dial(t.Context(), "here", "nats:here", Config{Bus: dialer(b.testServer.As(t, "bob", agentapi.RoleWatch))})
	if err != nil {
		t.Fatalf("after all that: %v", err)
	}
	defer h1.Close()
	if _, err := h1.Observe(t.Context()); err != nil {
		t.Errorf("after all that: %v", err)
	}
	b.untouched(t, b.log.String, "a request was refused")
	if n := strings.Count(b.log.String(), "a request was refused"); n > 200 {
		t.Errorf("%d lines were logged for 5000 messages", n)
	}
}

// More conversations than a user may have are refused, and another's go on.
func TestNATSSecurityCrowd(t *testing.T) {
	b := besiege(t, agentapi.RoleChange)
	d := dialer(b.testServer.As(t, "eve", agentapi.RoleWatch))
	defer d.Close()
	var busy error
	for i := 0; i < 20 && busy == nil; i++ {
		h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: d})
		if busy = err; err == nil {
			defer h.Close()
		}
	}
	if !errors.Is(busy, agentapi.ErrBusy) {
		t.Errorf("twenty conversations of one user: %v", busy)
	}
	other := dialer(b.testServer.As(t, "bob", agentapi.RoleWatch))
	defer other.Close()
	h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: other})
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	b.untouched(t, b.log.String, "it speaks with 16 controllers")
}
