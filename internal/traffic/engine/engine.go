// Package engine moves bytes as fast as this host can and counts them
// honestly: one thread per stream, one counter per stream that nobody else
// writes, no clock in the loop. What a stream sent is not counted as carried:
// goodput is what the receiving end took in over a window that all streams
// share.
package engine

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/record"
)

// Config says where an engine works and how it reads what only the host
// knows.
type Config struct {
	Namespace netns.Namespace
	// Links reads the counters of the named links; nil samples none.
	Links func(names []string) ([]agentapi.LinkCount, error)
	// CPU reads processor time; nil samples none.
	CPU func() (agentapi.CPUCount, error)
	// Place chooses a core for each stream's thread near the links, other than
	// those taken; nil, or no cores, leaves them to the scheduler.
	Place func(links []string, streams int, taken []int) []int
	// MaxStreams bounds one session; zero is 1024.
	MaxStreams int
	Logger     *slog.Logger // nil is silence
}

// Errors a caller can act on.
var (
	ErrSession = errors.New("no such session")
	ErrTooMany = errors.New("too many streams")
	// ErrClosed: whoever asked has gone meanwhile.
	ErrClosed = errors.New("the engine is closed")
	// ErrFellBack: the peer, or something on the way, does not speak MPTCP.
	ErrFellBack = errors.New("asked for MPTCP, and the connection fell back to TCP")
)

// Engine is the traffic ends of one host. It is safe for use by many
// goroutines. Close ends every session.
type Engine struct {
	cfg      Config
	log      *slog.Logger
	mu       sync.Mutex
	sessions map[string]*session
	closed   bool // nothing is opened any more
}

// New returns an engine with no sessions.
func New(cfg Config) *Engine {
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxStreams == 0 {
		cfg.MaxStreams = 1024
	}
	return &Engine{cfg: cfg, log: log, sessions: make(map[string]*session)}
}

// Close ends every session. Afterwards none can be opened.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	ids := make([]string, 0, len(e.sessions))
	for id := range e.sessions {
		ids = append(ids, id)
	}
	e.mu.Unlock()
	for _, id := range ids {
		_, _ = e.Finish(context.Background(), agentapi.SessionRequest{Session: id})
	}
}

func (e *Engine) add(id string, s *session) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("open session %q: %w", id, ErrClosed)
	}
	if _, taken := e.sessions[id]; taken || id == "" {
		return fmt.Errorf("open session %q: name empty or in use", id)
	}
	e.sessions[id] = s
	return nil
}

func (e *Engine) session(id string) (*session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, ok := e.sessions[id]
	if !ok {
		return nil, fmt.Errorf("session %q: %w", id, ErrSession)
	}
	return s, nil
}

// maxLifetime bounds a session whose controller has gone: nothing sends or
// listens for longer, whatever was asked.
const maxLifetime = 2 * time.Hour

// expire ends the session when its lifetime is over.
func (e *Engine) expire(s *session, id string, lifetime time.Duration) {
	if lifetime <= 0 || lifetime > maxLifetime {
		lifetime = maxLifetime
	}
	timer := time.AfterFunc(lifetime, func() {
		if _, err := e.Finish(context.Background(), agentapi.SessionRequest{Session: id}); err == nil {
			e.log.Warn("session outlived its time and was ended", "session", id, "lifetime", lifetime)
		}
	})
	s.onStop(func() { timer.Stop() })
}

// OpenSink starts to listen for a session's streams. Only the peers named are
// served, and only streams that open with the session's key; everybody else
// is cut off. The session must be ended with Finish.
func (e *Engine) OpenSink(ctx context.Context, req agentapi.SinkRequest) (agentapi.SinkReply, error) {
	if req.Streams <= 0 || req.Streams > e.cfg.MaxStreams {
		return agentapi.SinkReply{}, fmt.Errorf("open sink for %d streams: %w (1 to %d)", req.Streams, ErrTooMany, e.cfg.MaxStreams)
	}
	if req.UDP != nil {
		return e.openDatagramSink(req)
	}
	if err := errors.Join(checkMode(req.Mode), checkSocket(req.Socket)); err != nil {
		return agentapi.SinkReply{}, fmt.Errorf("open sink: %w", err)
	}
	s := e.newSession(req.Streams, req.Links)
	s.mode = req.Mode
	e.place(s, req.Unpinned)
	if err := e.add(req.Session, s); err != nil {
		return agentapi.SinkReply{}, err
	}
	opts := sinkOptions(req)
	var l listener
	var err error
	if req.Within != nil {
		l, err = listenWithin(e.cfg.Namespace, req.Bind, req.Port, *req.Within, req.Streams, opts)
	} else {
		l, err = listen(e.cfg.Namespace, req.Bind, req.Port, req.Streams, opts)
	}
	if err != nil {
		e.forget(req.Session)
		return agentapi.SinkReply{}, err
	}
	s.onStop(l.close)
	e.expire(s, req.Session, req.Lifetime)
	go e.serve(s, l, req)
	return agentapi.SinkReply{Port: l.port(), Socket: l.granted(), Method: record.Method{Receive: receiveMethod(req.Mode)}}, nil
}

func (e *Engine) forget(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sessions, id)
}

// serve accepts until the listener closes.
func (e *Engine) serve(s *session, l listener, req agentapi.SinkRequest) {
	for {
		c, err := l.accept()
		if err != nil {
			return // closed by stop
		}
		if !served(c, req.Peers) {
			e.log.Warn("refused a stranger at the data port", "peer", c.remote())
			c.close()
			continue
		}
		go e.admit(s, c, req)
	}
}

// admit checks a stream's opening and, if it knows the key, receives from it
// until it ends.
func (e *Engine) admit(s *session, c conn, req agentapi.SinkRequest) {
	index, err := readOpening(c, req.Key)
	if err == nil {
		c.opened()
		err = s.attach(index, c)
	}
	if err != nil {
		e.log.Warn("refused a stream at the data port", "peer", c.remote(), "reason", err)
		c.close()
		return
	}
	if err := answerOpening(c); err != nil {
		s.streams[index].end(c, err)
		return
	}
	s.streams[index].receive(c, req.Mode)
}

// opening is what a stream says first: the session's key and its index.
const openingLength = len(agentapi.Key{}) + 4

// accepted is the receiver's one-byte answer to a good opening (ASCII ACK).
const accepted = 0x06

// openingTime is how long either end waits for the other's half of it.
const openingTime = 10 * time.Second

var errOpening = errors.New("opening refused")

func readOpening(c conn, key agentapi.Key) (int, error) {
	var got [openingLength]byte
	if err := c.readFull(got[:], openingTime); err != nil {
		return 0, fmt.Errorf("read opening: %w", err)
	}
	if subtle.ConstantTimeCompare(got[:len(key)], key[:]) != 1 {
		return 0, fmt.Errorf("%w: wrong key", errOpening)
	}
	rest := got[len(key):]
	return int(rest[0])<<24 | int(rest[1])<<16 | int(rest[2])<<8 | int(rest[3]), nil
}

func answerOpening(c conn) error { return c.writeFull([]byte{accepted}) }

// open says a stream's opening and waits for the answer.
func open(c conn, key agentapi.Key, index int) error {
	hello := append(append([]byte(nil), key[:]...), byte(index>>24), byte(index>>16), byte(index>>8), byte(index))
	if err := c.writeFull(hello); err != nil {
		return fmt.Errorf("write opening: %w", err)
	}
	var answer [1]byte
	if err := c.readFull(answer[:], openingTime); err != nil {
		return fmt.Errorf("read answer to opening: %w", err)
	}
	if answer[0] != accepted {
		return errOpening
	}
	return nil
}

// OpenSource connects a session's streams, all of them or none, and returns
// them with the ports they got. Nothing more is sent until Start.
func (e *Engine) OpenSource(ctx context.Context, req agentapi.SourceRequest) (agentapi.SourceReply, error) {
	if n := len(req.Streams); n == 0 || n > e.cfg.MaxStreams {
		return agentapi.SourceReply{}, fmt.Errorf("open source of %d streams: %w (1 to %d)", n, ErrTooMany, e.cfg.MaxStreams)
	}
	if req.UDP != nil {
		return e.openDatagramSource(ctx, req)
	}
	if err := checkSource(req); err != nil {
		return agentapi.SourceReply{}, fmt.Errorf("open source: %w", err)
	}
	s := e.newSession(len(req.Streams), req.Links)
	s.source, s.mode = newSource(), req.Mode
	e.place(s, req.Unpinned)
	if err := e.add(req.Session, s); err != nil {
		return agentapi.SourceReply{}, err
	}
	s.onStop(func() { go s.releaseSource() })
	e.expire(s, req.Session, req.Lifetime)
	connected := make([]agentapi.Stream, len(req.Streams))
	errs := make(chan error, len(req.Streams))
	for i, want := range req.Streams {
		go func() { errs <- s.streams[i].send(e.cfg.Namespace, req, i, want, &connected[i]) }()
	}
	var failed []error
	for range req.Streams {
		if err := <-errs; err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) > 0 {
		_, _ = e.Finish(ctx, agentapi.SessionRequest{Session: req.Session})
		return agentapi.SourceReply{}, fmt.Errorf("connect %d of %d streams: %w", len(failed), len(req.Streams), failed[0])
	}
	return agentapi.SourceReply{Streams: connected, Method: record.Method{Send: s.streams[0].method}}, nil
}

// Start lets a source's streams send until Finish, or until each has sent the
// limit; then they wait, connected, for Finish. A second Start changes
// nothing.
func (e *Engine) Start(_ context.Context, req agentapi.StartRequest) (agentapi.Empty, error) {
	if req.Limit < 0 {
		return agentapi.Empty{}, fmt.Errorf("start session %q: limit of %d bytes is negative", req.Session, req.Limit)
	}
	s, err := e.session(req.Session)
	if err != nil {
		return agentapi.Empty{}, err
	}
	s.start(req.Limit)
	return agentapi.Empty{}, nil
}

// Sample counts everything of a session now, and returns this and all samples
// from index Since on.
func (e *Engine) Sample(_ context.Context, req agentapi.SampleRequest) (agentapi.SampleReply, error) {
	s, err := e.session(req.Session)
	if err != nil {
		return agentapi.SampleReply{}, err
	}
	if err := s.sample(); err != nil {
		return agentapi.SampleReply{}, err
	}
	return agentapi.SampleReply{Samples: s.since(req.Since), Errors: s.errors()}, nil
}

// Finish ends a session: its streams stop, its sockets close without
// lingering, and the last sample is returned.
func (e *Engine) Finish(_ context.Context, req agentapi.SessionRequest) (agentapi.FinishReply, error) {
	s, err := e.session(req.Session)
	if err != nil {
		return agentapi.FinishReply{}, err
	}
	err = s.sample()
	s.stop()
	e.forget(req.Session)
	return agentapi.FinishReply{Samples: s.since(-1)}, err
}
