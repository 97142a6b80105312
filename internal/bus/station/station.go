// Package station is an agent on NATS: it hears what its host is asked, holds
// every request to its role, keeps each controller's conversation apart, and
// writes down who changed what. What is asked for is done by internal/agent.
package station

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/bus/link"
)

// Config is one host on the bus.
type Config struct {
	// Host is the name under which it is asked, that of its credentials; the
	// server lets it hear no other.
	Host  string
	Agent agent.Config // its Name is Host
	// Most is the highest role that is served; "" is bus.Change.
	Most bus.Role
	// Audit is the file with every change and who asked for it; "" is
	// DefaultAudit. Where it cannot be written nothing is changed.
	Audit string
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
	mostTalks   = 48       // conversations of a host
	mostOfOne   = 16       // of one user
	mostRunning = 64       // requests under way in a conversation
	mostHeld    = 64 << 20 // bytes of requests that are not whole yet
)

const (
	defaultSilence = 10 * time.Second
	defaultEvery   = time.Minute
)

// station is one host that is asked.
type station struct {
	cfg      Config
	conn     *link.Conn
	log      *slog.Logger
	refused  *seldom
	audit    *audit
	instance string
	since    time.Time

	held atomic.Int64 // bytes of requests in parts

	// mu comes before a talk's own, where both are held.
	mu    sync.Mutex
	talks map[string]*talk
	over  bool
	ends  sync.WaitGroup // of talks
}

// Run answers for a host until ctx ends, and then ends every conversation: its
// traffic, its holds and its temporary changes. The connection may come and go
// meanwhile. Errors: bus.ErrName.
func Run(ctx context.Context, conn *link.Conn, cfg Config) error {
	if err := bus.CheckName("host", cfg.Host); err != nil {
		return err
	}
	s := newStation(conn, cfg)
	cfg.Meter.of(s)
	sub, err := conn.Subscribe(bus.Asked(cfg.Host), s.hear)
	if err != nil {
		return fmt.Errorf("hear what %s is asked: %w", cfg.Host, err)
	}
	// What does not fit is dropped, and asked for again by who sent it.
	if err := sub.SetPendingLimits(4096, mostHeld); err != nil {
		return fmt.Errorf("hear what %s is asked: %w", cfg.Host, err)
	}
	go s.publish(ctx)
	s.watch(ctx)
	_ = sub.Unsubscribe() // a connection that is gone hears nothing
	s.end()
	return nil
}

func newStation(conn *link.Conn, cfg Config) *station {
	if cfg.Most == "" {
		cfg.Most = bus.Change
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
	s := &station{cfg: cfg, conn: conn, log: cfg.Logger, since: time.Now(), talks: make(map[string]*talk)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.refused = &seldom{log: s.log}
	s.audit = &audit{file: cfg.Audit, host: cfg.Host}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails, by its documentation
	s.instance = hex.EncodeToString(id[:])
	return s
}

// hear takes one message. It does not block: what takes long is begun.
func (s *station) hear(m *nats.Msg) {
	err := s.take(m)
	if err == nil {
		return
	}
	s.cfg.Meter.refused(err)
	s.refused.warn("a request was refused", "subject", m.Subject, "bytes", len(m.Data), "error", err)
	if m.Reply != "" {
		s.reply(m.Reply, encode(nil, err))
	}
}

func (s *station) take(m *nats.Msg) error {
	req, err := bus.ParseRequest(m.Subject)
	if err != nil {
		return err
	}
	if req.Host != s.cfg.Host {
		return fmt.Errorf("asked as %q: %w", req.Host, bus.ErrName)
	}
	if err := req.Check(s.cfg.Most); err != nil {
		return err
	}
	id := m.Header.Get(bus.HeaderTalk)
	if err := bus.CheckName("conversation", id); err != nil {
		return err
	}
	if req.Method == bus.Open {
		return s.open(id, req.User, m.Reply)
	}
	if m.Header.Get(bus.HeaderInstance) != s.instance {
		// It was with an agent of this name that is gone, or is another's:
		// that one answers, or nobody.
		return nil
	}
	t := s.talk(id)
	if t == nil {
		return agentapi.ErrGone
	}
	if t.user != req.User {
		return fmt.Errorf("the conversation is not %s's: %w", req.User, errForeign)
	}
	return t.take(req.Method, m)
}

func (s *station) talk(id string) *talk {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.talks[id]
}

// open begins a conversation; one that is there already is answered again.
func (s *station) open(id, user, reply string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.talks[id]
	if t != nil && t.user != user {
		return fmt.Errorf("the conversation is not %s's: %w", user, errForeign)
	}
	if t == nil {
		own := 0
		for _, other := range s.talks {
			if other.user == user {
				own++
			}
		}
		if s.over || len(s.talks) >= mostTalks || own >= mostOfOne {
			return fmt.Errorf("%w: it speaks with %d controllers, %d of them %s's", agentapi.ErrBusy, len(s.talks), own, user)
		}
		s.talks[id] = newTalk(s, id, user)
		s.log.Info("a controller came", "user", user, "conversation", id)
	}
	s.reply(reply, encode(bus.Opened{Version: agentapi.Version, Instance: s.instance, Silence: s.cfg.Silence}, nil))
	return nil
}

// hold accounts for bytes of requests that are not whole; false is too many.
func (s *station) hold(n int) bool {
	if s.held.Add(int64(n)) > mostHeld && n > 0 {
		s.held.Add(-int64(n))
		return false
	}
	return true
}

// watch ends the conversations of controllers that fell silent, until ctx ends.
func (s *station) watch(ctx context.Context) {
	tick := time.NewTicker(max(s.cfg.Silence/10, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.mu.Lock()
			for id, t := range s.talks {
				if silent := t.silent(); silent > s.cfg.Silence {
					s.log.Warn("a controller is gone", "user", t.user, "conversation", id, "silent", silent.Round(time.Millisecond))
					s.drop(t)
				}
			}
			s.mu.Unlock()
		}
	}
}

// drop takes a conversation off the list and ends it; s.mu is held. Ended is
// closed when its traffic, holds and temporary changes are gone.
func (s *station) drop(t *talk) (ended <-chan struct{}) {
	done := make(chan struct{})
	if s.talks[t.id] != t {
		close(done)
		return done
	}
	delete(s.talks, t.id)
	s.ends.Go(func() {
		defer close(done)
		t.end()
	})
	return done
}

// end ends every conversation and waits.
func (s *station) end() {
	s.mu.Lock()
	s.over = true
	for _, t := range s.talks {
		s.drop(t)
	}
	s.mu.Unlock()
	s.ends.Wait()
}

// reply sends an answer. One that cannot be sent is asked for again.
func (s *station) reply(to string, body []byte) {
	if to == "" {
		return
	}
	if err := s.conn.Send(to, "", nil, body); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		s.log.Warn("an answer was not sent", "bytes", len(body), "error", err)
	}
}
