//go:build !aix

package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// attacked is a fleet of two hosts, db1 that serves everything and db2 whose
// credentials are stolen, and of one user adm who has kept a run.
type attacked struct {
	testServer *testcluster.Server
	audit      string
	journal    string
	adm        *link.Conn
}

func attack(t *testing.T, r *testcluster.Server) *attacked {
	t.Helper()
	a := &attacked{testServer: r, audit: filepath.Join(t.TempDir(), "audit.log"), journal: t.TempDir()}
	for _, host := range []string{"db1", "db2"} {
		cfg := natsagent.Config{Host: host, Every: 300 * time.Millisecond, Silence: 2 * time.Second, Audit: filepath.Join(t.TempDir(), "audit.log")}
		if host == "db1" {
			cfg.Audit = a.audit
		}
		onNATS(t, r, cfg)
	}
	a.adm = testcluster.Connect(t, r.As(t, "adm", agentapi.RoleChange))
	a.keep(t, "run1", 1)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		states, _, err := results.States(t.Context(), a.adm)
		if err == nil && len(states) == 2 {
			return a
		}
		if time.Now().After(end) {
			t.Fatalf("the hosts never said how they are: %v, %v", states, err)
		}
	}
}

// intact fails where an attack left a trace in what the fleet keeps or did.
func (a *attacked) intact(t *testing.T) {
	t.Helper()
	if text, err := os.ReadFile(a.audit); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("db1's audit log has %s, %v", text, err)
	}
	states, refused, err := results.States(t.Context(), a.adm)
	if err != nil || len(states) != 2 || len(refused) > 0 || states["db1"].Hello.Linerate != "test" || time.Since(states["db1"].Written) > time.Minute {
		t.Errorf("the hosts' states: %v, refused %v, %v", states, refused, err)
	}
	runs, err := results.List(t.Context(), a.adm)
	if err != nil || !slices.Contains(runs, results.Kept{User: "adm", Name: "run1"}) {
		t.Errorf("the runs: %v, %v", runs, err)
	}
	rec, err := results.Of(t.Context(), a.adm, results.Kept{User: "adm", Name: "run1"})
	if err != nil || len(rec.Trials) != 1 || rec.Trials[0].From != "a" {
		t.Errorf("adm's run: %d trials, %v", len(rec.Trials), err)
	}
}

// thief is what somebody has who stole credentials: a connection, and the key.
type thief struct {
	*attacked
	conn   *link.Conn
	signer *claim.Signer
	stored *nats.Conn // a server's: to what is kept
}

func (a *attacked) with(t *testing.T, c *link.Conn) thief {
	return thief{attacked: a, conn: c, signer: signerOf(t, c)}
}

// errHeld is an attack that got nowhere.
var errHeld = errors.New("held")

// held is errHeld for whatever refuses; nil is that it was done.
func held(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errHeld, err)
}

// publish sends what the server may refuse, and says whether it did. That an earlier
// message was refused may be heard late.
func (x thief) publish(t *testing.T, m *nats.Msg) error {
	t.Helper()
	denied := make(chan string, 1)
	defer x.conn.Denied(func(s string) {
		if s != m.Subject {
			return
		}
		select {
		case denied <- s:
		default:
		}
	})()
	if err := errors.Join(x.conn.PublishMsg(m), x.conn.Flush()); err != nil {
		t.Fatal(err)
	}
	select {
	case s := <-denied:
		return fmt.Errorf("%w: the server lets it not publish to %s", errHeld, s)
	case <-time.After(120 * time.Millisecond):
		return nil
	}
}

// hears says whether a subject can be heard: adm asks db1 meanwhile.
func (x thief) hears(t *testing.T, subjects ...string) error {
	t.Helper()
	var subs []*nats.Subscription
	for _, s := range subjects {
		sub, err := x.conn.SubscribeSync(s)
		if err != nil {
			t.Fatal(err)
		}
		subs = append(subs, sub)
	}
	if err := x.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := newRaw(t, x.adm, signerOf(t, x.adm), "db1").ask(t, agentapi.Observe.Any(), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	for _, sub := range subs {
		if m, err := sub.NextMsg(200 * time.Millisecond); err == nil {
			return fmt.Errorf("heard %s", m.Subject)
		}
	}
	return held(errors.New("nothing is heard"))
}

func (x thief) raw(t *testing.T, host string) *raw { return newRaw(t, x.conn, x.signer, host) }

// ask asks db1 in one's own name.
func (x thief) ask(t *testing.T, m agentapi.AnyMethod, body string) error {
	t.Helper()
	err := x.raw(t, "db1").ask(t, m, []byte(body))
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errUnheard) || errors.Is(err, nats.ErrNoResponders) {
		return held(err)
	}
	return nil // asked; what became of it is another matter
}

// inName asks db1 as adm, signed by oneself, in every way that there is.
func (x thief) inName(t *testing.T) error {
	t.Helper()
	r := x.raw(t, "db1")
	for _, spoil := range []func(*wire.Signed, *nats.Msg){
		func(s *wire.Signed, m *nats.Msg) {
			m.Subject = strings.Replace(m.Subject, "."+x.signer.Who.Name+".", ".adm.", 1)
			s.Subject = m.Subject
		},
		func(s *wire.Signed, m *nats.Msg) {
			m.Subject = strings.Replace(m.Subject, "."+x.signer.Who.Name+".", ".adm.", 1)
		},
		func(_ *wire.Signed, m *nats.Msg) { m.Header.Set(wire.HeaderClaim, signerOf(t, x.adm).Token) }, // a claim is no secret
	} {
		m := r.message(t, wire.Open, nil, spoil)
		sub, err := x.adm.SubscribeSync(wire.Inbox("adm", "db1", r.session) + ".>")
		if err != nil {
			t.Fatal(err)
		}
		if err := x.adm.Flush(); err != nil {
			t.Fatal(err)
		}
		_ = x.publish(t, m)
		answer, err := sub.NextMsg(250 * time.Millisecond)
		var reply agentapi.Reply
		if err == nil && json.Unmarshal(answer.Data, &reply) == nil && reply.Error == nil {
			return fmt.Errorf("adm's conversation was opened: %s", answer.Data)
		}
	}
	// The reply subject of another's request, which JetStream or a host might
	// answer to with what was put there before.
	for _, subject := range []string{"$JS.API.DIRECT.GET.KV_linerate-hosts", "$JS.API.DIRECT.GET.linerate-runs-adm", "$JS.API.STREAM.INFO.KV_linerate-hosts", wire.Store(x.signer.Who.Name, wire.StoreStates), wire.StateOf(x.signer.Who.Name),
		wire.Request{User: x.signer.Who.Name, Role: agentapi.RoleWatch, Host: "db1", Method: wire.Open.Name}.Subject()} {
		m := nats.NewMsg(subject)
		m.Data, m.Reply = []byte(`{"seq":1}`), wire.Request{User: "adm", Role: agentapi.RoleChange, Host: "db1", Method: agentapi.Apply.Name}.Subject()
		_ = x.publish(t, m)
	}
	return held(errors.New("refused"))
}

// answers answers adm for db1: in adm's inbox, and from a host of that name.
func (x thief) answers(t *testing.T) error {
	t.Helper()
	session, err := openNATS(t.Context(), x.adm, "db1")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	body := encodeForTest(t, agentapi.HelloReply{Linerate: "forged"})
	fake := make(chan struct{})
	go func() {
		defer close(fake)
		for call := uint64(1); call < 6; call++ {
			to := wire.Answer("adm", "db1", session.id, call)
			said := wire.Signed{Kind: wire.KindReply, Subject: to, Session: session.id, Challenge: session.opened.Challenge, Call: call}.OfBody(body)
			for _, introduce := range []bool{false, true} {
				headers := make(map[string]string)
				if introduce {
					said.Challenge = ""
				}
				if link.Sign(headers, x.signer, said, introduce) == nil {
					_ = x.conn.Send(to, "", headers, body)
				}
			}
		}
	}()
	<-fake
	result, err := session.Call(t.Context(), agentapi.Hello.Any(), []byte(fmt.Sprintf(`{"version":%d}`, agentapi.Version)))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(result), "forged") {
		return errors.New("the answer is believed")
	}
	return held(errors.New("not believed"))
}

func encodeForTest(t *testing.T, v any) []byte {
	t.Helper()
	result, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(agentapi.Reply{Result: result})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// state says how db1 is.
func (x thief) state(t *testing.T) error {
	t.Helper()
	body := []byte(`{"hello":{"linerate":"forged"},"most":"change","links":[]}`)
	signed := wire.SignedState{Time: time.Now().UnixNano(), State: body}
	headers := map[string]string{"Nats-Rollup": "all", "Nats-Msg-Id": "x", wire.HeaderParams: "{}"}
	if err := link.Sign(headers, x.signer, signed.Signed("db1"), true); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{wire.StateOf("db1"), "$KV.linerate-hosts.db1", wire.Store(x.signer.Who.Name, wire.StorePut)} {
		m := nats.NewMsg(subject)
		for k, v := range headers {
			m.Header.Set(k, v)
		}
		m.Data, m.Reply = body, wire.AgentInbox("db1")+".x"
		_ = x.publish(t, m)
	}
	// And through a host or the store, by where they answer.
	open := x.raw(t, "db1").message(t, wire.Open, nil, func(_ *wire.Signed, m *nats.Msg) { m.Reply = wire.StateOf("db1") })
	_ = x.publish(t, open)
	time.Sleep(300 * time.Millisecond)
	states, _, err := results.States(t.Context(), x.adm)
	if err != nil {
		t.Fatal(err)
	}
	if states["db1"].Hello.Linerate != "test" {
		return fmt.Errorf("db1 is said to be %+v", states["db1"])
	}
	return held(errors.New("db1 is what it was"))
}
