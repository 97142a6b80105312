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

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/bus/link"
	"github.com/linerate/linerate/internal/bus/rig"
	"github.com/linerate/linerate/internal/bus/station"
	"github.com/linerate/linerate/plan"
)

// besieged is a bus with one agent, its logs, and a guard that nothing of the
// host was changed.
type besieged struct {
	rig         *rig.Rig
	server, log rig.Text
	audit       string
	journal     string
}

func besiege(t *testing.T, most bus.Role) *besieged {
	t.Helper()
	b := &besieged{audit: filepath.Join(t.TempDir(), "audit.log"), journal: t.TempDir()}
	b.rig = rig.Start(t, slog.New(slog.NewTextHandler(&b.server, nil)))
	cfg := station.Config{Host: "here", Most: most, Audit: b.audit, Logger: slog.New(slog.NewTextHandler(&b.log, nil))}
	cfg.Agent.JournalDir = b.journal
	onNATS(t, b.rig, cfg)
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

// forge signs permissions that no role has, with the account's own key: a
// cluster whose administrator gave somebody too much.
func forge(t *testing.T, r *rig.Rig, name string, role bus.Role) link.Config {
	t.Helper()
	seed, err := os.ReadFile(filepath.Join(r.Dir, "account.seed"))
	if err != nil {
		t.Fatal(err)
	}
	account, err := nkeys.FromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	pair, key := rig.Key(t)
	claims := jwt.NewUserClaims(key)
	claims.Name = name
	claims.Tags.Add(link.RoleTag + string(role))
	token, err := claims.Encode(account) // no permissions are all
	if err != nil {
		t.Fatal(err)
	}
	return link.Config{URL: r.URL, Creds: rig.Creds(t, token, pair), CA: r.CA()}
}

// asked sends one raw request and returns the agent's error.
func asked(t *testing.T, c *link.Conn, subject string, headers map[string]string, body []byte) *agentapi.Error {
	t.Helper()
	m := nats.NewMsg(subject)
	for k, v := range headers {
		m.Header.Set(k, v)
	}
	m.Data = body
	answer, err := c.RequestMsg(m, 2*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	var reply agentapi.Reply
	if err := json.Unmarshal(answer.Data, &reply); err != nil || reply.Error == nil {
		t.Fatalf("%s was answered %s, %v", subject, answer.Data, err)
	}
	return reply.Error
}

func whole(body []byte) map[string]string {
	h := bus.Split(body, len(body)+1)[0].Headers()
	h[bus.HeaderTalk], h[bus.HeaderCall] = "0123456789abcdef", "1"
	return h
}

// Who is not let in: no credentials, expired ones, another account's, and a
// client that trusts another authority.
func TestNATSSecurityStrangers(t *testing.T) {
	b := besiege(t, bus.Change)
	other := rig.Start(t, nil)
	expired := b.rig.Valid(t, "late", bus.Change, time.Second)
	expired.URL = b.rig.URL
	foreign := other.As(t, "eve", bus.Change)
	foreign.URL, foreign.CA = b.rig.URL, b.rig.CA()
	distrusts := b.rig.As(t, "eve", bus.Change)
	distrusts.CA = other.CA()
	time.Sleep(2100 * time.Millisecond)
	if _, err := nats.Connect(b.rig.URL, nats.RootCAs(b.rig.CA())); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without credentials: %v", err)
	}
	b.untouched(t, b.server.String, "authentication error")
	for name, c := range map[string]struct {
		cfg  link.Config
		want error
	}{"expired": {expired, link.ErrCreds}, "of another account": {foreign, link.ErrCreds}, "of another authority": {distrusts, link.ErrForeign}} {
		if _, err := link.Connect(t.Context(), c.cfg); !errors.Is(err, c.want) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An agent of such credentials hears nothing, however often it tries.
	agent := other.As(t, "here", bus.Agent)
	agent.URL, agent.CA, agent.Forever = b.rig.URL, b.rig.CA(), true
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
	plain, err := net.DialTimeout("tcp", strings.TrimPrefix(b.rig.URL, "tls://"), time.Second)
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
	if c := rig.Connect(t, b.rig.As(t, "eve", bus.Change)); !c.IsConnected() {
		t.Error("the bus is gone")
	}
	b.untouched(t, b.server.String, "authentication error")
}

// A file of credentials that others may read, or of a name that is a path, is
// not used.
func TestNATSSecurityCredentials(t *testing.T) {
	b := besiege(t, bus.Change)
	open := b.rig.As(t, "eve", bus.Change)
	if err := os.Chmod(open.Creds, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := link.Connect(t.Context(), open); !errors.Is(err, link.ErrCreds) {
		t.Errorf("others may read it: %v", err)
	}
	for _, name := range []string{"../../etc/passwd", "a.b", ">", "*", "eve\n"} {
		if _, err := link.Connect(t.Context(), forge(t, b.rig, name, bus.Change)); !errors.Is(err, bus.ErrName) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := b.rig.Authority.Sign(name, bus.Agent, "", 0, false); !errors.Is(err, bus.ErrName) {
			t.Errorf("%q was signed: %v", name, err)
		}
	}
	for _, dir := range []string{"identities", "tokens"} {
		found, err := filepath.Glob(filepath.Join(b.rig.Dir, dir, "*passwd*"))
		if err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
	}
}

// Roles end at the server by what it lets one publish, and at the agent by what
// it serves, should the server let too much through.
func TestNATSSecurityRoles(t *testing.T) {
	b := besiege(t, bus.Measure)
	body := wanted(t)
	watcher := rig.Connect(t, b.rig.As(t, "bob", bus.Watch))
	for _, subject := range []string{
		"linerate.v1.req.bob.change.here.apply", "linerate.v1.req.eve.change.here.apply", "linerate.v1.req.bob.measure.here.sink", "linerate.v1.req.eve.watch.here.observe",
		"linerate.v1.inbox.eve.1", "$KV.linerate-hosts.here", "$JS.API.STREAM.DELETE.linerate-trials", "linerate.v1.run.bob.1.trial", "$SYS.REQ.SERVER.PING",
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
	for _, subject := range []string{"linerate.v1.req.>", "linerate.v1.inbox.eve.>", ">", "linerate.v1.agent.here.inbox.>"} {
		sub, err := watcher.SubscribeSync(subject)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := sub.NextMsg(300 * time.Millisecond); err == nil || !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("the server lets a watcher hear %s: %v, %v", subject, m, err)
		}
	}
	b.untouched(t, b.server.String, "Publish Violation")

	broad := rig.Connect(t, forge(t, b.rig, "mal", bus.Watch))
	for subject, want := range map[string]agentapi.Code{
		"linerate.v1.req.mal.watch.here.apply":    agentapi.CodePermission, // under a role that is not the method's
		"linerate.v1.req.mal.measure.here.apply":  agentapi.CodePermission,
		"linerate.v1.req.mal.change.here.apply":   agentapi.CodePermission, // more than this agent serves
		"linerate.v1.req.mal.change.here.confirm": agentapi.CodePermission,
		"linerate.v1.req.mal.root.here.apply":     agentapi.CodePermission,
		"linerate.v1.req.mal.change.here.exec":    agentapi.CodeUnsupported, // no method
	} {
		if got := asked(t, broad, subject, whole(body), body); got.Code != want {
			t.Errorf("%s: %+v, want %s", subject, got, want)
		}
	}
	b.untouched(t, b.log.String, "this agent serves measure and no more")
}

// What is malformed or too long is refused and logged, a flood of it not a line
// each, and the agent goes on.
func TestNATSSecurityRubbish(t *testing.T) {
	b := besiege(t, bus.Change)
	broad := rig.Connect(t, forge(t, b.rig, "mal", bus.Change))
	const observe = "linerate.v1.req.mal.watch.here.observe"
	for name, c := range map[string]struct {
		subject string
		headers map[string]string
		body    []byte
	}{
		"no headers":              {observe, nil, nil},
		"a path for conversation": {observe, map[string]string{bus.HeaderTalk: "../../etc/passwd"}, nil},
		"more tokens":             {"linerate.v1.req.m%2e.watch.here.observe", whole(nil), nil},
		"a user that is a path":   {`linerate.v1.req.\..\..watch.here.observe`, whole(nil), nil},
		"a long conversation":     {observe, map[string]string{bus.HeaderTalk: strings.Repeat("a", 5000)}, nil},
		"a wildcard for a method": {"linerate.v1.req.mal.watch.here.ob*", whole(nil), nil},
		"a megabyte of nothing":   {"linerate.v1.req.mal.watch.here.talk-open", nil, bytes.Repeat([]byte{0xff}, 900<<10)},
	} {
		m := nats.NewMsg(c.subject)
		for k, v := range c.headers {
			m.Header.Set(k, v)
		}
		m.Data = c.body
		answer, err := broad.RequestMsg(m, 2*time.Second)
		if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrBadSubject) {
			continue // it did not even come through
		}
		var reply agentapi.Reply
		if err != nil || json.Unmarshal(answer.Data, &reply) != nil || reply.Error == nil {
			t.Errorf("%s: %v, %v", name, answer, err)
		}
	}
	// In a conversation of its own, where headers count.
	const talk = "feedfacefeedface"
	m := nats.NewMsg("linerate.v1.req.mal.watch.here.talk-open")
	m.Header.Set(bus.HeaderTalk, talk)
	answer, err := broad.RequestMsg(m, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var reply agentapi.Reply
	var opened bus.Opened
	if err := errors.Join(json.Unmarshal(answer.Data, &reply), json.Unmarshal(reply.Result, &opened)); err != nil {
		t.Fatal(err)
	}
	call := 0
	send := func(name string, change map[string]string, body []byte) {
		t.Helper()
		call++
		h := whole(body)
		h[bus.HeaderTalk], h[bus.HeaderInstance], h[bus.HeaderCall] = talk, opened.Instance, fmt.Sprint(call)
		for k, v := range change {
			h[k] = v
		}
		if e := asked(t, broad, observe, h, body); e.Code != agentapi.CodeFailed {
			t.Errorf("%s: %+v", name, e)
		}
	}
	send("no JSON", nil, []byte("{{{"))
	send("unknown fields", nil, []byte(`{"command":"rm -rf /"}`))
	send("deep JSON", nil, bytes.Repeat([]byte("["), 500000))
	send("17 MB said", map[string]string{bus.HeaderSize: fmt.Sprint(bus.MostRequest + 1)}, []byte("{}"))
	send("minus 1 byte", map[string]string{bus.HeaderSize: "-1"}, []byte("{}"))
	send("a wrong checksum", map[string]string{bus.HeaderSum: strings.Repeat("0", 64)}, []byte("{}"))
	send("a million parts", map[string]string{bus.HeaderPart: "1/1000000"}, []byte("{}"))
	send("part 0", map[string]string{bus.HeaderPart: "0/1"}, []byte("{}"))
	send("no number", map[string]string{bus.HeaderCall: "one"}, []byte("{}"))
	// Another's conversation.
	thief := rig.Connect(t, b.rig.As(t, "eve", bus.Change))
	h := whole([]byte("{}"))
	h[bus.HeaderTalk], h[bus.HeaderInstance] = talk, opened.Instance
	if e := asked(t, thief, "linerate.v1.req.eve.watch.here.observe", h, []byte("{}")); e.Code != agentapi.CodePermission {
		t.Errorf("another's conversation: %+v", e)
	}
	for range 5000 {
		if err := broad.Publish(observe, []byte("flood")); err != nil {
			t.Fatal(err)
		}
	}
	h1, err := Dial(t.Context(), "here", "nats:here", Config{Bus: dialer(b.rig.As(t, "bob", bus.Watch))})
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
	b := besiege(t, bus.Change)
	d := dialer(b.rig.As(t, "eve", bus.Watch))
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
	other := dialer(b.rig.As(t, "bob", bus.Watch))
	defer other.Close()
	h, err := Dial(t.Context(), "here", "nats:here", Config{Bus: other})
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	b.untouched(t, b.log.String, "it speaks with 16 controllers")
}
