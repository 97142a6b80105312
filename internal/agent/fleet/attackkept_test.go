//go:build !aix

package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/server"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/record"
)

// keep keeps a run of adm's with as many trials.
func (a *attacked) keep(t *testing.T, run string, trials int) {
	t.Helper()
	keeper, err := results.Keeper(a.adm, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	rec := record.Record{ID: run}
	for i := range trials {
		rec.Trials = append(rec.Trials, trialTo(fmt.Sprint("h", i)))
	}
	if err := keeper.Keep(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
}

func trialTo(host string) record.Trial {
	return record.Trial{From: "a", To: host, Direction: flow.Forward, Streams: 1, Protocol: "tcp", Ports: "chosen"}
}

// poison writes into a run of adm's: before the trial that adm keeps next, under
// its very ID, and beside it.
func (x thief) poison(t *testing.T) error {
	t.Helper()
	run := fmt.Sprint("run", time.Now().UnixNano())
	x.keep(t, run, 1)
	poison := trialTo("h1")
	poison.From = "poison"
	body, err := json.Marshal(poison)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(body)
	id := results.TrialIDs([]record.Trial{trialTo("h1")})[0]
	p := wire.StoreParams{User: "adm", Run: run, Key: wire.TrialKey(id, 1), Part: &wire.PartOf{Number: 1, Of: 1, Size: len(body), Sum: hex.EncodeToString(sum[:])}}
	params, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	kept := &nats.Msg{Subject: "linerate.v2.kept.adm." + run + "." + p.Key, Data: body, Header: nats.Header{wire.HeaderParams: {string(params)}}}
	msgID := map[string]string{"Nats-Msg-Id": "adm." + run + "." + id + ".1", "Nats-Rollup": "all"}
	if x.stored != nil {
		if err := errors.Join(x.stored.PublishMsg(kept), x.stored.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	r := x.raw(t, "db1")
	_ = r.put(t, "adm", wire.StorePut, p, body, nil)
	_ = r.put(t, x.signer.Who.Name, wire.StorePut, p, body, msgID)
	_ = x.publish(t, kept)
	x.keep(t, run, 2)
	rec, err := results.Of(t.Context(), x.adm, results.Kept{User: "adm", Name: run})
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Trials) != 2 || rec.Trials[1].From != "a" {
		return fmt.Errorf("adm's run is %+v", rec.Trials)
	}
	return held(errors.New("adm's run is adm's"))
}

// wipe takes away what is kept.
func (x thief) wipe(t *testing.T) error {
	t.Helper()
	x.keep(t, "doomed", 1)
	for _, stream := range []string{"KV_linerate-hosts", "KV_linerate-fleet", "linerate-runs-adm"} {
		for _, subject := range []string{"$JS.API.STREAM.DELETE." + stream, "$JS.API.STREAM.PURGE." + stream, "$JS.API.STREAM.UPDATE." + stream, "$JS.API.STREAM.MSG.DELETE." + stream} {
			_ = x.publish(t, &nats.Msg{Subject: subject})
			m := nats.NewMsg(wire.Store(x.signer.Who.Name, wire.StoreGet))
			m.Reply = subject // answered with nothing, an empty request
			_ = x.publish(t, m)
		}
	}
	for _, subject := range []string{"$KV.linerate-hosts.db1", "$KV.linerate-hosts.db3", "linerate.v2.kept.adm.doomed.head"} {
		_ = x.publish(t, &nats.Msg{Subject: subject, Data: []byte("{}"), Header: nats.Header{"Nats-Rollup": {"all"}, "KV-Operation": {"PURGE"}}})
	}
	p := wire.StoreParams{Run: "own", Key: wire.BaseKey("0123456789ab", 1)}
	_ = x.raw(t, "db1").put(t, x.signer.Who.Name, wire.StorePut, p, []byte("x"), map[string]string{"Nats-Rollup": "all", "KV-Operation": "PURGE"})
	if x.stored != nil {
		m := &nats.Msg{Subject: "$JS.API.STREAM.PURGE.linerate-runs-adm", Data: []byte(`{"filter":"linerate.v2.kept.adm.doomed.>"}`)}
		if _, err := x.stored.RequestMsg(m, 2*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := results.Of(t.Context(), x.adm, results.Kept{User: "adm", Name: "doomed"}); err != nil {
		return fmt.Errorf("it is gone: %w", err)
	}
	return held(errors.New("all is there"))
}

// consume makes consumers and streams.
func (x thief) consume(t *testing.T) error {
	t.Helper()
	over := x.conn.Conn
	if x.stored != nil {
		over = x.stored
	}
	for subject, body := range map[string]string{
		"$JS.API.CONSUMER.DURABLE.CREATE.KV_linerate-hosts.z": `{"stream_name":"KV_linerate-hosts","config":{"durable_name":"z","ack_policy":"explicit","deliver_policy":"all"}}`,
		"$JS.API.CONSUMER.CREATE.linerate-runs-adm":           `{"stream_name":"linerate-runs-adm","config":{"ack_policy":"none","deliver_policy":"all"}}`,
		"$JS.API.STREAM.CREATE.mine":                          `{"name":"mine","subjects":["mine"],"retention":"limits","storage":"file","max_consumers":-1,"max_msgs":-1,"max_bytes":-1,"num_replicas":1}`,
	} {
		m := nats.NewMsg(subject)
		m.Data = []byte(body)
		answer, err := over.RequestMsg(m, 300*time.Millisecond)
		if err == nil && strings.Contains(string(answer.Data), `"created"`) {
			return fmt.Errorf("%s: %s", subject, answer.Data)
		}
	}
	return held(errors.New("nothing was made"))
}

// replay sends again what adm has sent: as it is, in a conversation of its own,
// and to another host.
func (x thief) replay(t *testing.T) error {
	t.Helper()
	r := newRaw(t, x.adm, signerOf(t, x.adm), "db1")
	if err := r.open(t); err != nil {
		t.Fatal(err)
	}
	confirm := r.message(t, agentapi.Confirm.Any(), []byte(`{"journal":"none"}`), nil)
	if _, err := r.send(t, r.message(t, wire.Close, nil, nil)); err != nil {
		t.Fatal(err)
	}
	again := newRaw(t, x.adm, r.signer, "db1")
	again.session = r.session // a conversation of the same name, and another challenge
	if err := again.open(t); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*nats.Msg{confirm, {Subject: strings.Replace(confirm.Subject, ".db1.", ".db2.", 1), Header: confirm.Header, Data: confirm.Data}} {
		_ = x.publish(t, m)
	}
	if text, err := os.ReadFile(x.audit); err == nil {
		return fmt.Errorf("it was done: %s", text)
	}
	return held(errors.New("nothing was done"))
}

// lasts asks after its claim was revoked, over a server that lets it in all the
// same; a hostile one has not told the hosts either.
func (x thief) lasts(t *testing.T) error {
	t.Helper()
	told := x.stored == nil
	if strings.HasPrefix(x.signer.Who.Name, "token-") { // it cannot be revoked: it expires
		return x.ask(t, agentapi.Observe.Any(), "{}")
	}
	if !told {
		x.signer = signerOf(t, testcluster.Connect(t, x.testServer.As(t, fmt.Sprint("y", time.Now().UnixNano()), agentapi.RoleWatch)))
	}
	broad := testcluster.Connect(t, forge(t, x.testServer, "accomplice", ""))
	r := newRaw(t, broad, x.signer, "db1")
	if x.signer.Who.Role.Person() {
		if err := r.open(t); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(1100 * time.Millisecond) // a claim of the same second would be good still
	if err := x.testServer.Authority.Revoke(x.signer.Who.Name, x.signer.Who.Role); err != nil {
		t.Fatal(err)
	}
	if told {
		if err := server.Push(x.testServer.Authority, x.testServer.URL, x.testServer.CA()); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(300 * time.Millisecond)
	if !x.signer.Who.Role.Person() {
		var reply wire.StateReply
		body := []byte(`{}`)
		signed := wire.SignedState{Time: time.Now().UnixNano(), State: body}
		headers := make(map[string]string)
		if err := link.Sign(headers, x.signer, signed.Signed(x.signer.Who.Name), true); err != nil {
			t.Fatal(err)
		}
		m := nats.NewMsg(wire.StateOf(x.signer.Who.Name))
		for k, v := range headers {
			m.Header.Set(k, v)
		}
		sub, err := broad.SubscribeSync(wire.AgentInbox(x.signer.Who.Name) + ".>")
		if err != nil {
			t.Fatal(err)
		}
		m.Data, m.Reply = body, wire.AgentInbox(x.signer.Who.Name)+".x"
		if err := broad.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
		answer, err := sub.NextMsg(3 * time.Second)
		if err != nil || json.Unmarshal(answer.Data, &reply) != nil {
			t.Fatal(answer, err)
		}
		if reply.Error != "" {
			return held(errors.New(reply.Error))
		}
		return nil
	}
	if err := r.ask(t, agentapi.Observe.Any(), []byte("{}")); err != nil {
		fresh := newRaw(t, broad, x.signer, "db1")
		return held(errors.Join(err, fresh.ask(t, agentapi.Observe.Any(), []byte("{}"))))
	}
	return nil
}

// fill has an agent keep parts that are never whole.
func (x thief) fill(t *testing.T) error {
	t.Helper()
	before := heap()
	for range 16 {
		r := x.raw(t, "db1")
		if x.signer.Who.Role.Person() {
			_ = r.open(t)
		} else {
			r.opened.Challenge, r.opened.Instance = "x", "x"
		}
		for range 300 {
			m := r.message(t, agentapi.Observe.Any(), nil, func(s *wire.Signed, m *nats.Msg) {
				m.Header.Set(wire.HeaderPart, "1/4096")
				m.Header.Set(wire.HeaderSize, "1000000")
				s.Size = 1000000
			})
			if err := x.conn.PublishMsg(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := x.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	if grown := heap() - before; grown > 150<<20 {
		return fmt.Errorf("the agent keeps %d MiB more", grown>>20)
	}
	return held(errors.New("bounded"))
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// identity has the authority make somebody.
func (x thief) identity(t *testing.T) error {
	t.Helper()
	_, key := testcluster.Key(t)
	body, err := json.Marshal(authority.EnrollRequest{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	token, err := x.testServer.Authority.Issue(x.testServer.URL, authority.Grant{Name: fmt.Sprint("new", time.Now().UnixNano()), Role: agentapi.RoleChange, Within: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	m := nats.NewMsg(wire.Enroll(token.ID)) // another's token, without its key
	m.Data = body
	answer, err := x.conn.RequestMsg(m, 500*time.Millisecond)
	if err == nil && strings.Contains(string(answer.Data), `"jwt"`) {
		return fmt.Errorf("made: %s", answer.Data)
	}
	return held(errors.New("nobody was made"))
}
