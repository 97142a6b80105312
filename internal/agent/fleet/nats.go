package fleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// How often a conversation is kept, how long an agent may be asked to begin or
// to end one, and how long a lasting one goes without an answer: then the agent
// has given it up too.
const (
	natsHeartbeat = 2 * time.Second
	natsOpen      = 5 * time.Second
	natsClose     = 15 * time.Second
	// natsRepeat is when an opening without an answer is sent again. Of other calls
	// the beats tell that they got lost.
	natsRepeat = time.Second
	// natsJoin is how long nobody need answer by the name: a server of a cluster
	// that was just started takes clients before it knows who is at the others.
	natsJoin = 2 * time.Second
)

// natsSession is a conversation with an agent on NATS. It stands a lost message
// and a server that dies: what was lost is sent again, and done once.
type natsSession struct {
	conn   *link.Conn
	done   func() // lets go of the connection
	host   string
	id     string
	signer *claim.Signer
	trust  *claim.Trust
	sub    *nats.Subscription
	opened wire.Opened
	undeny func()
	stop   context.CancelFunc // of the beats
	ended  chan struct{}      // the beats have

	mu      sync.Mutex
	agent   claim.Identity // who answers, once the conversation is open
	last    uint64
	waiting map[uint64]*natsCall
	heard   time.Time
	doubt   error // of a reply that was not the agent's
	dead    error
}

// natsCall is a call that has no reply yet.
type natsCall struct {
	subject string
	params  []byte
	method  agentapi.AnyMethod
	whole   wire.Assembly
	signed  string         // the checksum of the reply whose signature is good
	reply   chan natsReply // room for one
}

type natsReply struct {
	body []byte
	err  error
}

// newNATS opens a conversation with the agent called by a reach of the form
// nats:NAME. An agent that nobody has is ErrUnreachable at once.
func newNATS(ctx context.Context, reach string, cfg Config) (Transport, error) {
	host := strings.TrimPrefix(reach, "nats:")
	if err := wire.CheckName("host", host); err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrReach, reach, err)
	}
	if cfg.Bus == nil {
		return nil, fmt.Errorf("%w: nobody said where NATS is (--nats, or LINERATE_NATS)", ErrUnreachable)
	}
	conn, done, err := cfg.Bus.Conn(ctx, cfg.Fresh)
	if err != nil {
		if errors.Is(err, link.ErrUnreachable) {
			err = fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
		return nil, err
	}
	t, err := openNATS(ctx, conn, host)
	if err != nil {
		done()
		return nil, err
	}
	t.done = done
	return t, nil
}

func openNATS(ctx context.Context, conn *link.Conn, host string) (*natsSession, error) {
	signer, err := conn.Signer()
	if err != nil {
		return nil, err
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails, by its documentation
	t := &natsSession{
		conn: conn, host: host, id: hex.EncodeToString(id[:]), signer: signer, trust: claim.NewTrust(signer.Who.Authority, time.Now),
		waiting: make(map[uint64]*natsCall), heard: time.Now(), ended: make(chan struct{}),
	}
	if t.sub, err = conn.Subscribe(wire.Inbox(signer.Who.Name, host, t.id)+".*", t.hear); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	// Replies are as long as they are: dropped ones are only sent again.
	if err := t.sub.SetPendingLimits(-1, 2*wire.MostReply); err != nil {
		return nil, err
	}
	t.undeny = conn.Denied(t.denied)
	opening, cancel := context.WithTimeout(ctx, natsOpen)
	defer cancel()
	var opened wire.Opened
	body, err := t.call(opening, wire.Open, nil, natsJoin)
	if err == nil {
		err = json.Unmarshal(body, &opened)
	}
	if err == nil && opened.Challenge == "" {
		err = fmt.Errorf("%w: the agent %s gave no challenge", ErrUnreachable, host)
	}
	if err != nil {
		t.free()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = t.unanswered()
		}
		return nil, err
	}
	if err := agentapi.CheckVersion(opened.Version); err != nil {
		t.free()
		return nil, err
	}
	opened.Silence = max(opened.Silence, natsHeartbeat)
	t.mu.Lock()
	t.opened = opened // a second answer to the opening may be heard now
	t.mu.Unlock()
	beating, stop := context.WithCancel(context.Background())
	t.stop = stop
	go t.beat(beating)
	return t, nil
}

// unanswered is an opening that no agent answered.
func (t *natsSession) unanswered() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.doubt != nil {
		return fmt.Errorf("%w: what answered for %s is not believed: %w", ErrUnreachable, t.host, t.doubt)
	}
	return fmt.Errorf("%w: the agent %s did not answer within %v", ErrUnreachable, t.host, natsOpen)
}

// Call sends a request and waits for its reply, or for ctx.
func (t *natsSession) Call(ctx context.Context, m agentapi.AnyMethod, params json.RawMessage) (json.RawMessage, error) {
	return t.call(ctx, m, params, math.MaxInt64)
}

// call waits as long for an agent that is away as patience says.
func (t *natsSession) call(ctx context.Context, m agentapi.AnyMethod, params []byte, patience time.Duration) (json.RawMessage, error) {
	req, err := wire.Ask(t.signer.Who.Name, t.host, m)
	if err != nil {
		return nil, err
	}
	if most := wire.MostOf(m); len(params) > most {
		return nil, fmt.Errorf("ask %s for %s: a request of %d bytes: want at most %d", t.host, m.Name, len(params), most)
	}
	c := &natsCall{subject: req.Subject(), params: params, method: m, reply: make(chan natsReply, 1)}
	n, err := t.begin(c)
	if err != nil {
		return nil, err
	}
	defer t.forget(n)
	if err := t.send(n, c); err != nil {
		return nil, err
	}
	repeat := time.Hour
	if m == wire.Open {
		repeat = natsRepeat
	}
	begun, again := time.Now(), time.NewTimer(repeat)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			if m != wire.Open {
				t.cancel(n)
			}
			return nil, giveUp(ctx, t.die)
		case <-again.C:
			again.Reset(repeat)
			if err := t.send(n, c); err != nil {
				return nil, err
			}
		case r := <-c.reply:
			if errors.Is(r.err, nats.ErrNoResponders) && time.Since(begun) < patience {
				again.Reset(min(natsHeartbeat, patience) / 8) // it was not delivered; the beats say when to give up
				continue
			}
			if r.err != nil {
				return nil, t.words(r.err)
			}
			var reply agentapi.Reply
			if err := json.Unmarshal(r.body, &reply); err != nil {
				return nil, fmt.Errorf("%w: %s answered no JSON", ErrUnreachable, t.host)
			}
			if reply.Error != nil && errors.Is(reply.Error, agentapi.ErrGone) {
				t.die(t.gone())
				return nil, t.gone()
			}
			if reply.Error != nil {
				return nil, reply.Error
			}
			return reply.Result, nil
		}
	}
}

func (t *natsSession) gone() error {
	return fmt.Errorf("%w: the agent %s ended the conversation, or was started anew", ErrUnreachable, t.host)
}

// words is a failure of the bus for people.
func (t *natsSession) words(err error) error {
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: no agent called %s is on NATS", ErrUnreachable, t.host)
	}
	return err
}

func (t *natsSession) begin(c *natsCall) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead != nil {
		return 0, t.dead
	}
	t.last++
	t.waiting[t.last] = c
	return t.last, nil
}

func (t *natsSession) forget(n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.waiting, n)
}

func (t *natsSession) send(n uint64, c *natsCall) error {
	headers := map[string]string{wire.HeaderSession: t.id, wire.HeaderCall: strconv.FormatUint(n, 10), wire.HeaderInstance: t.opened.Instance}
	said := wire.Signed{Kind: wire.KindRequest, Subject: c.subject, Session: t.id, Challenge: t.opened.Challenge, Call: n}.At(t.conn.Now()).OfBody(c.params)
	if err := link.Sign(headers, t.signer, said, c.method == wire.Open); err != nil {
		return err
	}
	if err := t.conn.Send(c.subject, wire.Answer(t.signer.Who.Name, t.host, t.id, n), headers, c.params); err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return nil
}

// cancel tells the agent that nobody waits for a call any more. Should it get
// lost, the next beat says so too.
func (t *natsSession) cancel(n uint64) {
	params, err := json.Marshal(wire.CancelRequest{Call: n})
	if err != nil {
		return // never: it is a number
	}
	req, err := wire.Ask(t.signer.Who.Name, t.host, wire.Cancel)
	if err != nil {
		return
	}
	c := &natsCall{subject: req.Subject(), params: params, method: wire.Cancel, reply: make(chan natsReply, 1)}
	if own, err := t.begin(c); err == nil {
		_ = t.send(own, c)
		t.forget(own)
	}
}

// hear takes one message of a reply.
func (t *natsSession) hear(m *nats.Msg) {
	n, err := strconv.ParseUint(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], 10, 64)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.waiting[n]
	if c == nil {
		return // nobody waits for it
	}
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		c.answer(natsReply{err: nats.ErrNoResponders})
		return
	}
	p, err := wire.ParsePart(m.Header.Get, m.Data, wire.MostReply)
	if err == nil && c.signed != p.Sum {
		if err := t.verify(m, n, p); err != nil {
			t.doubt = err // whoever waits for a reply that never comes is told so
			return        // somebody else's: the agent's may come yet
		}
		c.signed = p.Sum
	}
	t.heard = time.Now()
	var body []byte
	done := false
	if err == nil {
		body, done, err = c.whole.Add(p)
	}
	if err != nil {
		err = fmt.Errorf("read reply to %s: %w", c.method.Name, err)
	}
	if err != nil || done {
		c.answer(natsReply{body, err})
	}
}

// verify is nil for a part of a reply that the agent of this conversation has
// signed. Who that is, the first good reply says: a claim of the host's name.
// t.mu is held.
func (t *natsSession) verify(m *nats.Msg, call uint64, p wire.Part) error {
	who, challenge := t.agent, t.opened.Challenge
	if token := m.Header.Get(wire.HeaderClaim); token != "" {
		// It opens the conversation, or is a refusal of an agent that knows of none.
		id, err := t.trust.Believe(token)
		if err != nil {
			return err
		}
		if id.Name != t.host || id.Role != agentapi.RoleAgent || t.opened.Challenge != "" && id.Key != t.agent.Key {
			return fmt.Errorf("%w: %s, %s, answers for %s", claim.ErrClaim, id.Name, id.Role, t.host)
		}
		who, challenge = id, ""
	}
	said := wire.Signed{Kind: wire.KindReply, Subject: m.Subject, Session: t.id, Challenge: challenge, Call: call}.OfPart(p)
	if err := who.Verify(said.Text(), m.Header.Get(wire.HeaderSignature)); err != nil {
		return err
	}
	t.agent = who
	return nil
}

// answer gives whoever waits the reply; a second one is dropped.
func (c *natsCall) answer(r natsReply) {
	select {
	case c.reply <- r:
	default:
	}
}

// denied fails the calls that the server lets this user not make.
func (t *natsSession) denied(subject string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.waiting {
		if strings.EqualFold(c.subject, subject) {
			c.answer(natsReply{err: fmt.Errorf("ask %s for %s: %w: %s needs the role %s%s", t.host, c.method.Name, fs.ErrPermission, t.signer.Who.Name, c.method.Role, roleHad(t.signer.Who.Role))})
		}
	}
}

// roleHad is the role that somebody has, in brackets; "" where the claim does not say.
func roleHad(role agentapi.Role) string {
	if role == "" {
		return ""
	}
	return fmt.Sprintf(" (has: %s)", role)
}

// Close ends the conversation: the agent ends its traffic and lets go.
func (t *natsSession) Close() error {
	t.stop()
	<-t.ended
	t.mu.Lock()
	dead := t.dead
	t.mu.Unlock()
	if dead == nil {
		ctx, cancel := context.WithTimeout(context.Background(), natsClose)
		defer cancel()
		_, _ = t.call(ctx, wire.Close, nil, 0) // silence ends it too
	}
	t.free()
	return nil
}

func (t *natsSession) free() {
	t.undeny()
	_ = t.sub.Unsubscribe() // of a connection that may be gone
	if t.done != nil {
		t.done()
	}
}
