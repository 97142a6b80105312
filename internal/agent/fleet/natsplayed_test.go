//go:build !aix

package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// played is a fleet that is attacked as a hostile tester did. Broad hears and
// says everything in the account of hosts and people, store in JetStream's:
// they show what an attack brought about, and do what a server would that lets
// too much through.
type played struct {
	*attacked
	broad  *link.Conn
	store  *nats.Conn
	js     jetstream.JetStream
	thiefs map[agentapi.Role]thief
}

func play(t *testing.T, r *testcluster.Server) *played {
	t.Helper()
	p := &played{attacked: attack(t, r), broad: testcluster.Connect(t, forge(t, r, "broad", "")), thiefs: make(map[agentapi.Role]thief)}
	creds, err := r.Authority.Store()
	if err != nil {
		t.Fatal(err)
	}
	if p.store, err = nats.Connect(r.URL, nats.RootCAs(r.CA()), nats.UserCredentialBytes(creds)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.store.Close)
	if p.js, err = jetstream.New(p.store); err != nil {
		t.Fatal(err)
	}
	for _, role := range append(agentapi.People(), agentapi.RoleAgent) {
		p.thiefs[role] = p.with(t, testcluster.Connect(t, r.As(t, "mal-"+string(role), role)))
	}
	return p
}

// streams are what the fleet keeps, and where somebody of a role might have
// stored something.
func (p *played) streams(t *testing.T) []string {
	t.Helper()
	var all []string
	names := p.js.StreamNames(t.Context())
	for name := range names.Name() {
		all = append(all, name)
	}
	if err := names.Err(); err != nil || len(all) < 3 {
		t.Fatalf("streams %v, %v", all, err)
	}
	return all
}

// kept are the messages of each stream but those of the attackers' own runs, by
// subject and the bytes of each, and how many consumers it has.
func (p *played) kept(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, name := range p.streams(t) {
		if strings.HasPrefix(name, "linerate-runs-mal-") {
			continue
		}
		s, err := p.js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.Info(t.Context(), jetstream.WithSubjectFilter(">"))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = fmt.Sprintf("%d consumers, %v", info.State.Consumers, slices.Sorted(maps.Keys(info.State.Subjects)))
	}
	return out
}

// storesOwn are the headers that the run store sets, and those that JetStream
// adds when a message is read.
var storesOwn = []string{wire.HeaderParams, nats.ExpectedLastSubjSeqHdr, "Nats-Stream", "Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp"}

// smuggled are headers of messages that are kept, which somebody who stored them
// may have meant for whoever they are delivered to.
func (p *played) smuggled(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, name := range p.streams(t) {
		s, err := p.js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
			m, err := s.GetMsg(t.Context(), seq)
			if err != nil {
				continue // it went
			}
			for h := range m.Header {
				if !slices.Contains(storesOwn, h) {
					found = append(found, m.Subject+" has "+h)
				}
			}
		}
	}
	return found
}

// arrives fails where what f does reaches one of the subjects.
func (p *played) arrives(t *testing.T, subjects []string, f func()) {
	t.Helper()
	var subs []*nats.Subscription
	for _, subject := range subjects {
		for _, over := range []*nats.Conn{p.broad.Conn, p.store} {
			if over == p.store && !strings.HasPrefix(subject, "$KV.") && !strings.HasPrefix(subject, "linerate.v2.kept.") {
				continue // that account's own business, which goes on meanwhile
			}
			sub, err := over.SubscribeSync(subject)
			if err != nil {
				t.Fatal(err)
			}
			subs = append(subs, sub)
		}
	}
	if err := errors.Join(p.broad.Flush(), p.store.Flush()); err != nil {
		t.Fatal(err)
	}
	f()
	time.Sleep(200 * time.Millisecond)
	if err := errors.Join(p.broad.Flush(), p.store.Flush()); err != nil {
		t.Fatal(err)
	}
	for _, sub := range subs {
		if m, err := sub.NextMsg(time.Millisecond); err == nil {
			t.Errorf("%s arrived: %v %.200s", m.Subject, m.Header, m.Data)
		}
		_ = sub.Unsubscribe()
	}
}

// victims are in whose name hosts are asked: of somebody who may, and of a user
// who was never enrolled.
var victims = []string{"adm", "nobody"}

// ofVictims is where requests in a victim's name arrive.
var ofVictims = []string{"linerate.v2.req.adm.>", "linerate.v2.req.nobody.>", "linerate.v1.req.>"}

func victimsSubject(victim string, m agentapi.AnyMethod) string {
	return wire.Request{User: victim, Role: m.Role, Host: "db1", Method: m.Name}.Subject()
}

// carried are the messages that a stored request would be delivered as: one that
// opens a conversation in the victim's name, one that applies a plan there, and
// one that applies it in the thief's own conversation, where it may have one: of
// that it knows the challenge.
func (x thief) carried(t *testing.T, victim string) []*nats.Msg {
	t.Helper()
	own := x.raw(t, "db1")
	_ = own.open(t)
	r := x.raw(t, "db1")
	r.opened = own.opened
	as := func(m agentapi.AnyMethod) func(*wire.Signed, *nats.Msg) {
		return func(s *wire.Signed, msg *nats.Msg) {
			msg.Subject = victimsSubject(victim, m)
			s.Subject = msg.Subject
		}
	}
	return []*nats.Msg{
		r.message(t, wire.Open, nil, as(wire.Open)), r.message(t, agentapi.Apply.Any(), wanted(t), as(agentapi.Apply.Any())),
		own.message(t, agentapi.Apply.Any(), wanted(t), as(agentapi.Apply.Any())),
	}
}

// stores has a message kept as far as the role can: in a run of its own, as a
// host's own state, and straight into the streams.
func (x thief) stores(t *testing.T, m *nats.Msg) {
	t.Helper()
	headers := make(map[string]string)
	for h := range m.Header {
		headers[h] = m.Header.Get(h)
	}
	for _, own := range []string{wire.HeaderClaim, wire.HeaderSignature, wire.HeaderTime} { // of what asks for it to be kept
		delete(headers, own)
	}
	me := x.signer.Who.Name
	switch x.signer.Who.Role {
	case agentapi.RoleMeasure, agentapi.RoleChange:
		if err := x.raw(t, "db1").put(t, me, wire.StorePut, wire.StoreParams{Run: "evil", Key: wire.BaseKey("0123456789ab", 1)}, m.Data, headers); err != nil {
			t.Errorf("%s cannot keep a run: %v", me, err)
		}
	case agentapi.RoleAgent:
		x.saysState(t, headers)
	}
	for _, subject := range []string{"$KV.linerate-hosts." + me, "$KV.linerate-runs." + me + ".x", "linerate.v1.run." + me + ".x.trial", "linerate.v2.kept." + me + ".evil.head"} {
		_ = x.publish(t, &nats.Msg{Subject: subject, Header: m.Header, Data: m.Data})
	}
}

// saysState is how a host says how it is, with more headers than it should.
func (x thief) saysState(t *testing.T, more map[string]string) {
	t.Helper()
	me := x.signer.Who.Name
	body := []byte(`{"hello":{"linerate":"mine"},"most":"change","links":[]}`)
	headers := make(map[string]string)
	if err := link.Sign(headers, x.signer, wire.SignedState{Time: time.Now().UnixNano(), State: body}.Signed(me), true); err != nil {
		t.Fatal(err)
	}
	m := &nats.Msg{Subject: wire.StateOf(me), Data: body, Header: nats.Header{}, Reply: wire.AgentInbox(me) + ".x"}
	for _, h := range []map[string]string{more, headers} {
		for k, v := range h {
			m.Header.Set(k, v)
		}
	}
	sub, err := x.conn.SubscribeSync(m.Reply)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := x.publish(t, m); err != nil {
		t.Fatal(err)
	}
	answer, err := sub.NextMsg(3 * time.Second)
	var reply wire.StateReply
	if err != nil || json.Unmarshal(answer.Data, &reply) != nil || reply.Error != "" {
		t.Fatalf("its own state: %v, %+v", err, reply)
	}
}

// delivers asks JetStream, the run store and a host to answer to a subject.
func (p *played) delivers(t *testing.T, x thief, to string) {
	t.Helper()
	me := x.signer.Who.Name
	for _, stream := range []string{"KV_linerate-hosts", "KV_linerate-runs", "linerate-trials", "linerate-runs-" + me} {
		for subject, body := range map[string]string{
			"$JS.API.DIRECT.GET." + stream:                  `{"seq":1}`,
			"$JS.API.DIRECT.GET." + stream + ".x":           "",
			"$JS.API.STREAM.MSG.GET." + stream:              `{"seq":1}`,
			"$JS.API.CONSUMER.CREATE." + stream + ".evil.>": consumerTo(stream, to),
			"$JS.API.CONSUMER.CREATE." + stream:             consumerTo(stream, to),
			"$JS.API.CONSUMER.MSG.NEXT." + stream + ".evil": "1",
		} {
			if err := x.publish(t, &nats.Msg{Subject: subject, Data: []byte(body), Reply: to}); err == nil {
				t.Errorf("%s may publish to %s", me, subject)
			}
		}
	}
	for _, subject := range []string{wire.Store(me, wire.StoreGet), wire.Store(me, wire.StoreStates), wire.Store(me, wire.StoreTrials),
		wire.Request{User: me, Role: agentapi.RoleWatch, Host: "db1", Method: wire.Open.Name}.Subject()} {
		params := wire.StoreParams{User: me, Run: "evil", Key: wire.BaseKey("0123456789ab", 1)}
		text, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		kind := wire.Signed{Kind: wire.KindStore, Subject: subject, Params: string(text)}
		if strings.HasPrefix(subject, "linerate.v2.req.") {
			m := x.raw(t, "db1").message(t, wire.Open, nil, nil)
			m.Reply = to
			_ = x.publish(t, m)
			continue
		}
		headers := map[string]string{wire.HeaderParams: string(text)}
		if err := link.Sign(headers, x.signer, kind.At(time.Now()).OfBody(nil), true); err != nil {
			t.Fatal(err)
		}
		m := &nats.Msg{Subject: subject, Header: nats.Header{}, Reply: to}
		for k, v := range headers {
			m.Header.Set(k, v)
		}
		_ = x.publish(t, m)
	}
}

func consumerTo(stream, to string) string {
	return fmt.Sprintf(`{"stream_name":%q,"config":{"name":"evil","deliver_subject":%q,"deliver_policy":"all","ack_policy":"none","replay_policy":"instant"}}`, stream, to)
}

// escalates has one thief store requests in a victim's name and another have
// them delivered; then the account of JetStream itself does, and at last they
// come to the host as they would be delivered.
func (p *played) escalates(t *testing.T, keeps, fires thief) {
	t.Helper()
	for _, victim := range victims {
		requests := keeps.carried(t, victim)
		p.arrives(t, ofVictims, func() {
			for _, m := range requests {
				keeps.stores(t, m)
				p.delivers(t, fires, m.Subject)
			}
		})
		p.arrives(t, ofVictims, func() {
			for _, m := range requests {
				p.storeDelivers(t, m)
			}
		})
		for _, m := range keeps.carried(t, victim) { // anew: a conversation ends when its user falls silent
			delivered := &nats.Msg{Subject: m.Subject, Header: maps.Clone(m.Header), Data: m.Data}
			for h, v := range map[string]string{"Nats-Stream": "KV_linerate-hosts", "Nats-Subject": "$KV.linerate-hosts.x", "Nats-Sequence": "1"} {
				delivered.Header.Set(h, v)
			}
			if err := errors.Join(p.broad.PublishMsg(delivered), p.broad.Flush()); err != nil {
				t.Fatal(err)
			}
		}
	}
	time.Sleep(300 * time.Millisecond)
	if found := p.smuggled(t); len(found) > 0 {
		t.Errorf("headers are kept as they were sent: %v", found)
	}
}

// storeDelivers keeps a message, headers and all, and has it delivered, with the
// rights of whoever answers for the run store.
func (p *played) storeDelivers(t *testing.T, m *nats.Msg) {
	t.Helper()
	ack, err := p.js.PublishMsg(t.Context(), &nats.Msg{Subject: "$KV.linerate-hosts.evil", Header: m.Header, Data: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	get := &nats.Msg{Subject: "$JS.API.DIRECT.GET.KV_linerate-hosts", Data: []byte(fmt.Sprintf(`{"seq":%d}`, ack.Sequence)), Reply: m.Subject}
	if err := errors.Join(p.store.PublishMsg(get), p.store.Flush()); err != nil {
		t.Fatal(err)
	}
	_, _ = p.store.Request("$JS.API.CONSUMER.CREATE.KV_linerate-hosts.evil", []byte(consumerTo("KV_linerate-hosts", m.Subject)), 2*time.Second)
	time.Sleep(100 * time.Millisecond)
	hosts, err := p.js.Stream(t.Context(), "KV_linerate-hosts")
	if err != nil {
		t.Fatal(err)
	}
	_ = hosts.DeleteConsumer(t.Context(), "evil") // it may not have been made
	p.forgets(t, "evil")
}

// forgets takes away what a host is said to be, and what is left of it in the
// stream when the run store has seen that it went.
func (p *played) forgets(t *testing.T, host string) {
	t.Helper()
	kv, err := p.js.KeyValue(t.Context(), "linerate-hosts")
	if err == nil {
		err = kv.Purge(t.Context(), host)
	}
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		states, refused, err := results.States(t.Context(), p.adm)
		_, said := states[host]
		if err == nil && !said && len(refused) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s is there still: %v, refused %v", host, err, refused)
		}
	}
	hosts, err := p.js.Stream(t.Context(), "KV_linerate-hosts")
	if err == nil {
		err = hosts.Purge(t.Context(), jetstream.WithPurgeSubject("$KV.linerate-hosts."+host))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// attacks are those of the tester's client, by the words that it was called
// with.
var attacks = map[string]func(*testing.T, *played){
	// A request's reply subject is anything: the host answers to another's state,
	// to a request of another's, to JetStream.
	"confused": func(t *testing.T, p *played) {
		for _, role := range agentapi.People() {
			x := p.thiefs[role]
			targets := []string{"$KV.linerate-hosts.db2", "$KV.linerate-runs.adm.x", "linerate.v2.state.db2", "linerate.v2.kept.adm.run1.head", "$JS.API.STREAM.PURGE.linerate-runs-adm", "linerate.v2.inbox.adm.db1.x.1", victimsSubject("adm", agentapi.Apply.Any()), victimsSubject("nobody", agentapi.Confirm.Any())}
			p.arrives(t, slices.DeleteFunc(slices.Clone(targets), func(s string) bool { return strings.HasPrefix(s, "$KV.linerate-hosts") || s == "linerate.v2.state.db2" }), func() {
				for _, to := range targets {
					m := x.raw(t, "db1").message(t, wire.Open, nil, nil)
					m.Reply = to
					if err := x.publish(t, m); err != nil {
						t.Errorf("%s cannot open a conversation: %v", role, err)
					}
				}
			})
		}
	},
	// A measure user has a consumer deliver what she stored in a run of her own.
	"escalate": func(t *testing.T, p *played) {
		x := p.thiefs[agentapi.RoleMeasure]
		p.escalates(t, x, x)
	},
	// The same with every role, as was done with DIRECT.GET.
	"escalate2": func(t *testing.T, p *played) {
		for _, role := range []agentapi.Role{agentapi.RoleWatch, agentapi.RoleChange, agentapi.RoleAgent} {
			p.escalates(t, p.thiefs[role], p.thiefs[role])
		}
		p.forgets(t, "mal-agent")
	},
	// A stolen host keeps the request, a watch user has it delivered.
	"agentwatch": func(t *testing.T, p *played) {
		p.escalates(t, p.thiefs[agentapi.RoleAgent], p.thiefs[agentapi.RoleWatch])
		p.forgets(t, "mal-agent")
	},
	// What was stored is delivered to JetStream's own API.
	"purge": func(t *testing.T, p *played) {
		before := p.kept(t)
		for _, role := range agentapi.People() {
			x := p.thiefs[role]
			for _, api := range []string{"PURGE", "DELETE"} {
				m := &nats.Msg{Data: []byte(`{}`), Header: nats.Header{"Nats-Rollup": {"all"}}}
				x.stores(t, m)
				p.delivers(t, x, "$JS.API.STREAM."+api+".linerate-runs-adm")
			}
		}
		p.same(t, before)
	},
	// An unknown sequence is answered with an empty message, and an empty message is
	// a request to purge or delete.
	"direct": func(t *testing.T, p *played) {
		before := p.kept(t)
		for _, role := range append(agentapi.People(), agentapi.RoleAgent) {
			x := p.thiefs[role]
			for _, stream := range []string{"KV_linerate-hosts", "KV_linerate-fleet", "linerate-runs-adm"} {
				for _, api := range []string{"PURGE", "DELETE"} {
					m := &nats.Msg{Subject: "$JS.API.DIRECT.GET." + stream, Data: []byte(`{"seq":99999}`), Reply: "$JS.API.STREAM." + api + "." + stream}
					if err := x.publish(t, m); err == nil {
						t.Errorf("%s may publish to %s", role, m.Subject)
					}
				}
			}
		}
		p.same(t, before)
	},
	// A header that replaces a stream by one message, on what somebody may write: a
	// host's own state, a user's own run.
	"rollup": func(t *testing.T, p *played) {
		before := p.kept(t)
		host := p.thiefs[agentapi.RoleAgent]
		for _, header := range []map[string]string{
			{"Nats-Rollup": "all"}, {"Nats-Rollup": "sub"}, {"KV-Operation": "PURGE", "Nats-Rollup": "sub"}, {"KV-Operation": "DEL"},
			{"Nats-TTL": "1s"}, {"Nats-Msg-Id": "x", "Nats-Expected-Stream": "KV_linerate-hosts"},
		} {
			host.saysState(t, header)
			x := p.thiefs[agentapi.RoleMeasure]
			if err := x.raw(t, "db1").put(t, x.signer.Who.Name, wire.StorePut, wire.StoreParams{Run: "own", Key: wire.BaseKey("0123456789ab", 1)}, []byte("x"), header); err != nil {
				t.Errorf("a run of its own, with %v: %v", header, err)
			}
			states, refused, err := results.States(t.Context(), p.adm)
			if err != nil || len(refused) > 0 || len(states) != 3 || states["db1"].Hello.Linerate != "test" || states["db2"].Hello.Linerate != "test" || states["mal-agent"].Hello.Linerate != "mine" {
				t.Errorf("after %v: %v, refused %v, %v", header, states, refused, err)
			}
		}
		if found := p.smuggled(t); len(found) > 0 {
			t.Errorf("headers are kept as they were sent: %v", found)
		}
		for _, role := range append(agentapi.People(), agentapi.RoleAgent) {
			for _, subject := range []string{"$KV.linerate-hosts.mal-" + string(role), "$KV.linerate-runs.mal-" + string(role) + ".z", "linerate.v2.kept.mal-" + string(role) + ".own.head"} {
				if err := p.thiefs[role].publish(t, &nats.Msg{Subject: subject, Data: []byte("{}"), Header: nats.Header{"Nats-Rollup": {"all"}}}); err == nil {
					t.Errorf("%s may publish to %s", role, subject)
				}
			}
		}
		p.forgets(t, "mal-agent")
		p.same(t, before)
	},
	// What others say of themselves is written straight.
	"put": func(t *testing.T, p *played) {
		for role, x := range p.thiefs {
			for _, subject := range []string{"$KV.linerate-hosts.db2", wire.StateOf("db2"), "linerate.v2.kept.adm.run1.head", wire.Store("adm", wire.StorePut)} {
				if err := x.publish(t, &nats.Msg{Subject: subject, Data: []byte(`{"hello":{"linerate":"forged"}}`)}); err == nil {
					t.Errorf("%s may publish to %s", role, subject)
				}
			}
		}
	},
	// A message ID that is known beforehand makes another's trial a duplicate.
	"pub": func(t *testing.T, p *played) {
		for _, role := range []agentapi.Role{agentapi.RoleMeasure, agentapi.RoleChange} {
			if err := p.thiefs[role].poison(t); !errors.Is(err, errHeld) {
				t.Errorf("%s: %v", role, err)
			}
		}
	},
	// What others ask and are answered is heard.
	"sub": func(t *testing.T, p *played) {
		for role, x := range p.thiefs {
			if err := x.hears(t, ">", "linerate.v2.req.>", "linerate.v2.inbox.adm.>", "_INBOX.>", "$JS.EVENT.>", "$SYS.>", "$KV.>", "linerate.v2.kept.>"); !errors.Is(err, errHeld) {
				t.Errorf("%s: %v", role, err)
			}
		}
	},
	// A thousand consumers leave none for whoever reads the states.
	"consumers": func(t *testing.T, p *played) {
		before := p.kept(t)
		x := p.thiefs[agentapi.RoleWatch]
		for _, stream := range []string{"KV_linerate-hosts", "linerate-runs-adm"} {
			for i := range 1100 {
				body := fmt.Sprintf(`{"stream_name":%q,"config":{"durable_name":"z%d","name":"z%[2]d","ack_policy":"explicit","deliver_policy":"all"}}`, stream, i)
				if err := x.conn.PublishRequest(fmt.Sprintf("$JS.API.CONSUMER.CREATE.%s.z%d", stream, i), "linerate.v2.inbox.mal-watch.x", []byte(body)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := x.conn.Flush(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
		p.same(t, before)
	},
}

// same fails where what is kept is not what it was.
func (p *played) same(t *testing.T, before map[string]string) {
	t.Helper()
	for name, now := range p.kept(t) {
		if was := before[name]; was != now {
			t.Errorf("stream %s: %s; it was %q", name, now, was)
		}
		delete(before, name)
	}
	for name := range before {
		t.Errorf("stream %s is gone", name)
	}
}

// The attacks that a hostile tester found, played as they were.
func TestNATSSecurityAttacks(t *testing.T) {
	t.Parallel()
	servers := map[string]func(t *testing.T) *testcluster.Server{"one": func(t *testing.T) *testcluster.Server { return testcluster.Start(t, nil) }}
	if !testing.Short() {
		servers["three"] = func(t *testing.T) *testcluster.Server { return testcluster.StartCluster(t).Server }
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, start(t))
			for _, attack := range slices.Sorted(maps.Keys(attacks)) {
				t.Run(attack, func(t *testing.T) {
					attacks[attack](t, p)
					p.intact(t)
				})
			}
		})
	}
}
