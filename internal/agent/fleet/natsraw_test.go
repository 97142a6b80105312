//go:build !aix

package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// raw is a client of NATS that keeps to nothing: what it says goes over one
// connection and is signed by whom it likes.
type raw struct {
	conn    *link.Conn
	signer  *claim.Signer
	host    string
	session string
	opened  wire.Opened
	call    uint64
}

func signerOf(t *testing.T, c *link.Conn) *claim.Signer {
	t.Helper()
	s, err := c.Signer()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newRaw speaks over a connection as whoever signs.
func newRaw(t *testing.T, over *link.Conn, as *claim.Signer, host string) *raw {
	t.Helper()
	return &raw{conn: over, signer: as, host: host, session: fmt.Sprintf("raw%d", time.Now().UnixNano())}
}

// message is a request as the program would send it, to be spoilt.
func (r *raw) message(t *testing.T, m agentapi.AnyMethod, body []byte, spoil func(*wire.Signed, *nats.Msg)) *nats.Msg {
	t.Helper()
	r.call++
	req, err := wire.Ask(r.signer.Who.Name, r.host, m)
	if err != nil {
		t.Fatal(err)
	}
	said := wire.Signed{Kind: wire.KindRequest, Subject: req.Subject(), Session: r.session, Challenge: r.opened.Challenge, Call: r.call}.At(time.Now()).OfBody(body)
	msg := nats.NewMsg(said.Subject)
	msg.Data, msg.Reply = body, wire.Answer(r.signer.Who.Name, r.host, r.session, r.call)
	for k, v := range wire.Split(body, len(body)+1)[0].Headers() {
		msg.Header.Set(k, v)
	}
	msg.Header.Set(wire.HeaderSession, r.session)
	msg.Header.Set(wire.HeaderCall, strconv.FormatUint(r.call, 10))
	msg.Header.Set(wire.HeaderInstance, r.opened.Instance)
	if spoil != nil {
		spoil(&said, msg)
	}
	headers := make(map[string]string)
	if err := link.Sign(headers, r.signer, said, m == wire.Open); err != nil {
		t.Fatal(err)
	}
	for k, v := range headers {
		if msg.Header.Get(k) == "" {
			msg.Header.Set(k, v)
		}
	}
	return msg
}

// errUnheard is a request that nobody answered.
var errUnheard = errors.New("no answer")

// send sends a message and waits for the answer on the inbox of who signs.
func (r *raw) send(t *testing.T, msg *nats.Msg) (json.RawMessage, error) {
	t.Helper()
	sub, err := r.conn.SubscribeSync(wire.Inbox(r.signer.Who.Name, r.host, r.session) + ".>")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := errors.Join(r.conn.PublishMsg(msg), r.conn.Flush()); err != nil {
		t.Fatal(err)
	}
	answer, err := sub.NextMsg(700 * time.Millisecond)
	if err != nil {
		return nil, errUnheard
	}
	if answer.Header.Get("Status") == "503" {
		return nil, nats.ErrNoResponders
	}
	var reply agentapi.Reply
	if err := json.Unmarshal(answer.Data, &reply); err != nil {
		t.Fatalf("%s was answered %s", msg.Subject, answer.Data)
	}
	if reply.Error != nil {
		return nil, reply.Error
	}
	return reply.Result, nil
}

func (r *raw) open(t *testing.T) error {
	t.Helper()
	result, err := r.send(t, r.message(t, wire.Open, nil, nil))
	if err != nil {
		return err
	}
	return json.Unmarshal(result, &r.opened)
}

// ask opens a conversation where there is none, and asks.
func (r *raw) ask(t *testing.T, m agentapi.AnyMethod, body []byte) error {
	t.Helper()
	if r.opened.Challenge == "" {
		if err := r.open(t); err != nil {
			return err
		}
	}
	_, err := r.send(t, r.message(t, m, body, nil))
	return err
}

// put asks the run store for something, signed by whom it likes.
func (r *raw) put(t *testing.T, user string, m wire.StoreMethod, p wire.StoreParams, body []byte, more map[string]string) error {
	t.Helper()
	params, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	said := wire.Signed{Kind: wire.KindStore, Subject: wire.Store(user, m), Params: string(params)}.At(time.Now()).OfBody(body)
	headers := map[string]string{wire.HeaderParams: string(params)}
	if err := link.Sign(headers, r.signer, said, true); err != nil {
		t.Fatal(err)
	}
	msg := nats.NewMsg(said.Subject)
	for _, h := range []map[string]string{headers, more} {
		for k, v := range h {
			msg.Header.Set(k, v)
		}
	}
	inbox := wire.StoreInbox(user) + ".raw" + strconv.FormatInt(time.Now().UnixNano(), 10)
	sub, err := r.conn.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	msg.Data, msg.Reply = body, inbox
	if err := errors.Join(r.conn.PublishMsg(msg), r.conn.Flush()); err != nil {
		t.Fatal(err)
	}
	answer, err := sub.NextMsg(1500 * time.Millisecond)
	if err != nil {
		return errUnheard
	}
	if answer.Header.Get("Status") == "503" {
		return nats.ErrNoResponders
	}
	if text := answer.Header.Get(wire.HeaderError); text != "" {
		failure := &agentapi.Error{}
		if err := json.Unmarshal([]byte(text), failure); err != nil {
			t.Fatal(text)
		}
		return failure
	}
	return nil
}

// forge signs permissions that no role has, with the account's own key: what
// comes over it is what a hostile server, or one whose administrator gave
// somebody too much, would let through.
func forge(t *testing.T, r *testcluster.Server, name string, role agentapi.Role) link.Config {
	t.Helper()
	account := accountOf(t, r, "account.seed")
	pair, key := testcluster.Key(t)
	claims := jwt.NewUserClaims(key)
	claims.Name = name
	claims.Tags.Add(claim.RoleTag + string(role))
	token, err := claims.Encode(account) // no permissions are all
	if err != nil {
		t.Fatal(err)
	}
	return link.Config{URL: r.URL, Creds: testcluster.Creds(t, token, pair), CA: r.CA()}
}

func accountOf(t *testing.T, r *testcluster.Server, file string) nkeys.KeyPair {
	t.Helper()
	seed, err := os.ReadFile(filepath.Join(r.Dir, file))
	if err != nil {
		t.Fatal(err)
	}
	account, err := nkeys.FromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	return account
}
