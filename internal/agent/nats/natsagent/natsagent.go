// Package natsagent is an agent on NATS: it hears what its host is asked, holds
// every request to its role once more, and writes down who changed what, before
// it is done. Each controller has a session of its own, which heartbeats keep and
// which ends with it. A call is done once however often NATS delivers it. Don't do
// here what internal/agent does.
package natsagent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// Config is one host on the bus.
type Config struct {
	// Host is the name under which it is asked, that of its credentials; the
	// server lets it hear no other.
	Host  string
	Agent agent.Config // its Name is Host
	// Most is the highest role that is served; "" is agentapi.RoleChange.
	Most agentapi.Role
	// Audit is the file with every change and who asked for it; "" is
	// DefaultAudit. Where it cannot be written nothing is changed.
	Audit string
	// Revoked is the file with the newest list of claims that were taken away, for
	// the next start; "" keeps none.
	Revoked string
	// Silence is how long a conversation lasts without a word; zero is ten
	// seconds.
	Silence time.Duration
	// Every is how often the host's state is published; zero is a minute,
	// negative never.
	Every  time.Duration
	Logger *slog.Logger // nil is silence
	Meter  *Meter       // nil counts nothing
}

// Bounds of what controllers may do at once.
const (
	mostSessions = 48       // conversations of a host
	mostOfOne    = 16       // of one user
	mostRunning  = 64       // requests under way in a conversation
	mostAtOnce   = 192      // of all conversations
	mostCalls    = 256      // that, and replies that were not fetched
	mostUnsorted = 32 << 10 // messages nobody has looked at: a host that is busy looks late
	mostBuffered = 64 << 20 // bytes of requests that are not whole yet
	mostKept     = 256 << 20
	mostOfUser   = 2 // a user may take this part of what all may: half

	// freeForChange is the part that is left free for those who may change the host.
	freeForChange = 4
)

// freshFor is how late a request may come by the clock of who signed it. One that
// a server held back is not done when nobody expects it any more.
const freshFor = 30 * time.Second

const (
	defaultSilence = 10 * time.Second
	defaultEvery   = time.Minute
)

// natsAgent is one host that is asked.
type natsAgent struct {
	cfg      Config
	conn     *link.Conn
	log      *slog.Logger
	refused  *link.LimitedLog
	audit    *audit
	instance string
	since    time.Time
	trust    *claim.Trust
	signer   *claim.Signer
	own      *agent.Agent // nobody's: it says how the host is, and what it can be asked

	held, kept room // bytes of requests in parts, and of replies
	running    room // requests under way
	lanes      *link.Lanes

	// mu comes before a session's own, where both are locked.
	mu       sync.Mutex
	sessions map[string]*session
	over     bool
	ends     sync.WaitGroup // of sessions
}

// Run answers for a host until ctx ends, and then ends every conversation: its
// traffic, its holds and its temporary changes. The connection may come and go
// meanwhile. Errors: wire.ErrName, those of link.ReadSigner.
func Run(ctx context.Context, conn *link.Conn, cfg Config) error {
	if err := wire.CheckName("host", cfg.Host); err != nil {
		return err
	}
	signer, err := conn.Signer()
	if err != nil {
		return err
	}
	s := newNATSAgent(conn, signer, cfg)
	s.recall()
	cfg.Meter.of(s)
	sub, err := conn.Subscribe(wire.Asked(cfg.Host), s.sort)
	if err != nil {
		return fmt.Errorf("hear what %s is asked: %w", cfg.Host, err)
	}
	// What does not fit is dropped, and asked for again by who sent it.
	if err := sub.SetPendingLimits(mostUnsorted, mostBuffered); err != nil {
		return fmt.Errorf("hear what %s is asked: %w", cfg.Host, err)
	}
	lists, err := conn.Subscribe(wire.Revoked(), func(m *nats.Msg) { s.learn(string(m.Data)) })
	if err != nil {
		return fmt.Errorf("hear whose claims are revoked: %w", err)
	}
	go s.publish(ctx)
	s.watch(ctx)
	for _, sub := range []*nats.Subscription{sub, lists} {
		_ = sub.Unsubscribe() // a connection that is gone hears nothing
	}
	s.end()
	return nil
}

func newNATSAgent(conn *link.Conn, signer *claim.Signer, cfg Config) *natsAgent {
	if cfg.Most == "" {
		cfg.Most = agentapi.RoleChange
	}
	if cfg.Silence == 0 {
		cfg.Silence = defaultSilence
	}
	if cfg.Every == 0 {
		cfg.Every = defaultEvery
	}
	if cfg.Audit == "" {
		cfg.Audit = DefaultAudit
	}
	cfg.Agent.Name = cfg.Host
	s := &natsAgent{
		cfg: cfg, conn: conn, log: cfg.Logger, since: time.Now(), sessions: make(map[string]*session),
		trust: claim.NewTrust(signer.Who.Authority, time.Now), signer: signer, held: room{most: mostBuffered}, kept: room{most: mostKept}, running: room{most: mostAtOnce},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.own = agent.New(cfg.Agent)
	s.refused = link.NewLimitedLog(s.log)
	s.lanes = link.NewLanes(s.hear)
	s.audit = &audit{file: cfg.Audit, host: cfg.Host}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails, by its documentation
	s.instance = hex.EncodeToString(id[:])
	return s
}

// sort keeps users apart: whoever sends more than can be verified is not heard,
// and everybody else is.
func (s *natsAgent) sort(m *nats.Msg) {
	req, err := wire.ParseRequest(m.Subject)
	if err == nil {
		err = s.lanes.Put(req.User, m)
	}
	if err != nil {
		s.refuse(m, err)
	}
}

// hear takes one message. It does not block: what takes long is begun.
func (s *natsAgent) hear(m *nats.Msg) {
	a, err := s.read(m)
	if err == nil && a.req.Host != s.cfg.Host {
		err = fmt.Errorf("asked as %q: %w", a.req.Host, wire.ErrName)
	}
	if err != nil {
		s.refuse(m, err) // nobody can be answered
		return
	}
	if a.method != wire.Open && m.Header.Get(wire.HeaderInstance) != s.instance {
		// It was with an agent of this name that is gone, or is another's:
		// that one answers, or nobody.
		return
	}
	t, err := s.take(a)
	if err == nil {
		return
	}
	s.refuse(m, err)
	if errors.Is(err, claim.ErrSignature) || errors.Is(err, claim.ErrClaim) {
		return // a refusal is signed too: nobody gets one for a call of another's
	}
	challenge := ""
	if t != nil {
		challenge = t.challenge
	}
	s.reply(a.req.User, a.session, challenge, a.call, encode(nil, err))
}

func (s *natsAgent) refuse(m *nats.Msg, err error) {
	s.cfg.Meter.refused(err)
	s.refused.Warn("a request was refused", "subject", m.Subject, "bytes", len(m.Data), "error", err)
}

// take does what a message asks, once it is believed: its conversation is nil
// where there is none, or it is another's.
func (s *natsAgent) take(a asked) (*session, error) {
	if a.method == wire.Open {
		id, err := claim.Read(a.m.Header.Get(wire.HeaderClaim))
		if err == nil {
			err = s.believe(a, id, "")
		}
		if err != nil {
			return nil, err
		}
		return nil, s.open(a, id)
	}
	t := s.session(a.session)
	if t == nil {
		return nil, agentapi.ErrGone
	}
	if t.who.Name != a.req.User {
		return nil, fmt.Errorf("the conversation is not %s's: %w", a.req.User, claim.ErrSignature)
	}
	if err := s.believe(a, t.who, t.challenge); err != nil {
		return t, err
	}
	if err := t.fresh(a); err != nil {
		return t, err
	}
	return t, t.take(a)
}

// believe is nil where an identity of our authority signed a message for this host
// and this conversation, is still good, and may ask for it. Whether it signed
// comes first. Errors: claim.ErrClaim, claim.ErrSignature, and then those of
// claim.Trust.Good and wire.Request.Check.
func (s *natsAgent) believe(a asked, id claim.Identity, challenge string) error {
	if err := s.trust.Ours(id); err != nil {
		return err
	}
	if err := id.Verify(a.said(challenge).Text(), a.m.Header.Get(wire.HeaderSignature)); err != nil {
		return err
	}
	if id.Name != a.req.User {
		return fmt.Errorf("asked as %s: %w: it is %s's", a.req.User, claim.ErrSignature, id.Name)
	}
	if err := s.trust.Good(id); err != nil {
		return err
	}
	return a.req.Check(a.method.Role, id.Name, id.Role, s.cfg.Most)
}

func (s *natsAgent) session(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// open begins a conversation; one that is there already is answered again.
func (s *natsAgent) open(a asked, id claim.Identity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.sessions[a.session]
	if t != nil && t.who.Key != id.Key {
		return fmt.Errorf("the conversation is not %s's: %w", id.Name, errUntrusted)
	}
	if t == nil {
		own := 0
		for _, other := range s.sessions {
			if other.who.Name == id.Name {
				own++
			}
		}
		places := mostSessions
		if id.Role != agentapi.RoleChange {
			places -= mostOfOne // who has to confirm a change finds one, or to roll it back
		}
		if s.over || len(s.sessions) >= places || own >= mostOfOne {
			return fmt.Errorf("%w: it speaks with %d controllers, %d of them %s's", agentapi.ErrBusy, len(s.sessions), own, id.Name)
		}
		t = newSession(s, a, id)
		s.sessions[a.session] = t
		s.log.Info("a controller came", "user", id.Name, "role", id.Role, "key", id.Key, "conversation", a.session)
	}
	s.reply(id.Name, a.session, "", a.call, encode(wire.Opened{Version: agentapi.Version, Instance: s.instance, Challenge: t.challenge, Silence: s.cfg.Silence}, nil))
	return nil
}

// watch ends the conversations of controllers that fell silent, until ctx ends.
func (s *natsAgent) watch(ctx context.Context) {
	tick := time.NewTicker(max(s.cfg.Silence/10, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.mu.Lock()
			for id, t := range s.sessions {
				if silent := t.silent(); silent > s.cfg.Silence {
					s.log.Warn("a controller is gone", "user", t.who.Name, "conversation", id, "silent", silent.Round(time.Millisecond))
					s.drop(t)
				}
			}
			s.mu.Unlock()
			s.endRevoked()
		}
	}
}

// drop takes a conversation off the list and ends it; s.mu is held. Ended is
// closed when its traffic, holds and temporary changes are gone.
func (s *natsAgent) drop(t *session) (ended <-chan struct{}) {
	done := make(chan struct{})
	if s.sessions[t.id] != t {
		close(done)
		return done
	}
	delete(s.sessions, t.id)
	s.ends.Go(func() {
		defer close(done)
		t.end()
	})
	return done
}

// end ends every conversation and waits.
func (s *natsAgent) end() {
	s.mu.Lock()
	s.over = true
	for _, t := range s.sessions {
		s.drop(t)
	}
	s.mu.Unlock()
	s.ends.Wait()
	s.own.Close()
}

// reply sends a signed answer to the inbox of who asked, and nowhere else. One
// that cannot be sent is asked for again. The challenge is "" where the
// conversation has none yet: then the agent introduces itself.
func (s *natsAgent) reply(user, session, challenge string, call uint64, body []byte) {
	to := wire.Answer(user, s.cfg.Host, session, call)
	said := wire.Signed{Kind: wire.KindReply, Subject: to, Session: session, Challenge: challenge, Call: call}.OfBody(body)
	headers := make(map[string]string)
	err := link.Sign(headers, s.signer, said, challenge == "")
	if err == nil {
		err = s.conn.Send(to, "", headers, body)
	}
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		s.log.Warn("an answer was not sent", "bytes", len(body), "error", err)
	}
}
