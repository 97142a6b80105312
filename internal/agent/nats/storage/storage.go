// Package storage is the run store: it alone reaches JetStream, and answers
// what users and hosts ask of what is kept there: each user's runs, what hosts
// said of themselves, revocations. Every request is signed, and what each user
// keeps is bounded. Don't pass on a header, a subject or a reply subject as
// somebody sent it.
package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// Config is one run store. Several of a cluster share the work.
type Config struct {
	// Service is a connection to the account of hosts and people, with
	// wire.OfService; Store one to that which JetStream is in.
	Service, Store *nats.Conn
	// Trust is what claims are held against. The store keeps its list of
	// revocations new.
	Trust *claim.Trust
	// Revocations is the newest signed list that is known from elsewhere.
	Revocations func() (string, error)
	Replicas    int          // servers that keep each result; zero is one
	PerUser     int64        // bytes of each user's results; zero is DefaultPerUser
	Logger      *slog.Logger // nil is silence
}

// DefaultPerUser is how many bytes of results each user keeps. Beyond them the
// user's oldest go.
const DefaultPerUser = 1 << 30

// Bounds of what is done at once, and how long one request may take.
const (
	mostAtOnce  = 64
	mostOfOne   = 8
	longest     = 10 * time.Second
	hostsBucket = "linerate-hosts" // by host: wire.SignedState
	fleetBucket = "linerate-fleet" // revokedKey
	revokedKey  = "revoked"
	keepResults = 400 * 24 * time.Hour
)

// Storage answers until Close.
type Storage struct {
	cfg  Config
	log  *slog.Logger
	rare *link.LimitedLog // of what others do wrong
	js   jetstream.JetStream
	kv   jetstream.KeyValue // of hosts
	ctx  context.Context
	stop context.CancelFunc
	ends sync.WaitGroup
	subs []*nats.Subscription

	mu      sync.Mutex
	running int
	of      map[string]int // requests under way, by who asks
	streams map[string]bool
	states  map[string]told
	revoked string // the newest list
}

// Start makes the buckets, waiting for a cluster to agree, and answers. Errors:
// ctx's.
func Start(ctx context.Context, cfg Config) (*Storage, error) {
	s := &Storage{cfg: cfg, log: cfg.Logger, of: make(map[string]int), streams: make(map[string]bool), states: make(map[string]told)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.rare = link.NewLimitedLog(s.log)
	s.cfg.Replicas = max(cfg.Replicas, 1)
	if s.cfg.PerUser == 0 {
		s.cfg.PerUser = DefaultPerUser
	}
	var err error
	if s.js, err = jetstream.New(cfg.Store); err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.prepare(ctx); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.hear(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// told is a host's state.
type told struct {
	text  []byte // as it is kept
	heard time.Time
}

// quiet is how long ago a state was heard; never zero, which is unknown.
func (t told) quiet() time.Duration { return max(time.Since(t.heard), 1) }

// Close ends it and waits.
func (s *Storage) Close() {
	for _, sub := range s.subs {
		_ = sub.Unsubscribe() // of a connection that may be gone
	}
	s.stop()
	s.ends.Wait()
}

// hear begins to answer. Requests are shared among the stores of a cluster;
// what is broadcast each of them hears.
func (s *Storage) hear(ctx context.Context) error {
	const shared = "store"
	var err error
	add := func(sub *nats.Subscription, e error) {
		err = errors.Join(err, e)
		if e == nil {
			s.subs = append(s.subs, sub)
		}
	}
	add(s.cfg.Service.QueueSubscribe(wire.StoreAsked(), shared, s.sorted(link.NewLanes(s.asked), func(m *nats.Msg) (string, error) {
		user, _, err := wire.ParseStore(m.Subject)
		return user, err
	})))
	add(s.cfg.Service.QueueSubscribe(wire.StateOf("*"), shared, s.sorted(link.NewLanes(s.told), func(m *nats.Msg) (string, error) {
		return wire.HostOf(m.Subject)
	})))
	add(s.cfg.Service.Subscribe(wire.Revoked(), func(m *nats.Msg) { s.learn(string(m.Data)) }))
	if err != nil {
		return fmt.Errorf("answer for the run store: %w", err)
	}
	return agreed(ctx, s.cfg.Service.FlushWithContext) // it may connect only now
}

// sorted keeps senders apart: whoever sends more than can be verified is not heard,
// and everybody else is.
func (s *Storage) sorted(lanes *link.Lanes, sender func(*nats.Msg) (string, error)) nats.MsgHandler {
	return func(m *nats.Msg) {
		who, err := sender(m)
		if err == nil {
			err = lanes.Put(who, m)
		}
		if err != nil {
			s.rare.Warn("a request to the run store was not taken", "subject", m.Subject, "error", err)
		}
	}
}

// begin runs one request of somebody, unless too many run.
func (s *Storage) begin(who string, f func(context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || s.running >= mostAtOnce || s.of[who] >= mostOfOne {
		return false
	}
	s.running++
	s.of[who]++
	s.ends.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, longest)
		defer cancel()
		f(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
		if s.of[who]--; s.of[who] == 0 {
			delete(s.of, who)
		}
	})
	return true
}

// States are the hosts by what they last said, those alone whose signature is
// good.
func (s *Storage) States() map[string]wire.State {
	s.mu.Lock()
	kept := maps.Clone(s.states)
	s.mu.Unlock()
	out := make(map[string]wire.State, len(kept))
	for host, one := range kept {
		state, err := s.cfg.Trust.State(host, one.text)
		if err != nil {
			s.rare.Warn("a host's state is not believed", "host", host, "error", err)
			continue
		}
		state.Quiet = one.quiet()
		out[host] = state
	}
	return out
}

// publish answers a request where it was asked from, and nowhere else.
func (s *Storage) publish(m *nats.Msg) {
	if err := s.cfg.Service.PublishMsg(m); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		s.log.Warn("an answer of the run store was not sent", "error", err)
	}
}

func jsonOf(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte("{}") // never: plain data
	}
	return text
}
