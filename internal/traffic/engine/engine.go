// Package engine moves bytes as fast as this host can and counts them
// honestly: one thread per stream, one counter per stream that nobody else
// writes, no clock in the loop. What a stream sent is not counted as carried:
// goodput is what the receiving end took in over a window that all streams
// share. That is the bytes that TCP received in order less those unread, exact
// at the window's edges.
package engine

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/internal/traffic/socket"
	"github.com/linerate/linerate/record"
)

// Config says where an engine works and how it reads what only the host
// knows.
type Config struct {
	Namespace netns.Namespace
	Host      sampling.Host // how it counts; the zero Host counts links and processors not
	// Place chooses a core for each stream's thread near the links, other than
	// those taken; nil, or no cores, leaves them to the scheduler.
	Place func(links []string, streams int, taken []int) []int
	// MaxStreams bounds one session; zero is 1024.
	MaxStreams int
	Logger     *slog.Logger // nil is silence
}

// Errors a caller can act on, besides those of socket.Table.
var (
	ErrTooMany = errors.New("too many streams")
	// ErrFellBack: the peer, or something on the way, does not speak MPTCP.
	ErrFellBack = socket.ErrFellBack
)

// Engine is the traffic ends of one host. It is safe for use by many
// goroutines. Close ends every session.
type Engine struct {
	cfg      Config
	sessions *socket.Table[*session]
}

// New returns an engine with no sessions.
func New(cfg Config) *Engine {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxStreams == 0 {
		cfg.MaxStreams = 1024
	}
	e := &Engine{cfg: cfg}
	e.sessions = socket.NewTable(math.MaxInt, func(id string, s *session, late bool) {
		if _, err := s.finish(); err == nil && late {
			cfg.Logger.Warn("session outlived its time and was ended", "session", id)
		}
	})
	return e
}

// Close ends every session. Afterwards none can be opened.
func (e *Engine) Close() { e.sessions.Close() }

func (e *Engine) add(id string, s *session, lifetime time.Duration) error {
	if lifetime <= 0 || lifetime > maxLifetime {
		lifetime = maxLifetime
	}
	return e.sessions.Add(id, s, lifetime)
}

// maxLifetime bounds a session whose controller has gone: nothing sends or
// listens for longer, whatever was asked.
const maxLifetime = 2 * time.Hour

// OpenSink starts to listen for a session's streams. Only the peers named are
// served, and only streams that open with the session's key; everybody else
// is cut off. The session must be ended with Finish.
func (e *Engine) OpenSink(ctx context.Context, req agentapi.SinkRequest) (agentapi.SinkReply, error) {
	if req.Streams <= 0 || req.Streams > e.cfg.MaxStreams {
		return agentapi.SinkReply{}, fmt.Errorf("open sink for %d streams: %w (1 to %d)", req.Streams, ErrTooMany, e.cfg.MaxStreams)
	}
	req.Socket = req.Under(req.Socket)
	if err := checkSink(req); err != nil {
		return agentapi.SinkReply{}, fmt.Errorf("open sink: %w", err)
	}
	s := e.newSession(req.Streams, req.Links)
	s.mode = req.Mode
	e.place(s, req.Unpinned)
	if req.UDP != nil {
		s.countDatagrams()
	}
	if err := e.add(req.Session, s, req.Lifetime); err != nil {
		return agentapi.SinkReply{}, err
	}
	reply, err := e.listen(s, req)
	if err != nil {
		_, _ = e.sessions.Remove(req.Session)
	}
	return reply, err
}

// listen opens a sink's port and serves it until the session ends.
func (e *Engine) listen(s *session, req agentapi.SinkRequest) (agentapi.SinkReply, error) {
	if req.UDP != nil {
		p, err := listenDatagrams(e.cfg.Namespace, s, req, e.cfg.Logger)
		if err != nil {
			return agentapi.SinkReply{}, err
		}
		s.onStop(p.close)
		return agentapi.SinkReply{Port: p.port(), Method: record.Method{Receive: p.method()}}, nil
	}
	l, err := listen(e.cfg.Namespace, req, socketOptions{req.Socket, req.MPTCP})
	if err != nil {
		return agentapi.SinkReply{}, err
	}
	s.onStop(l.close)
	go e.serve(s, l, req)
	return agentapi.SinkReply{Port: l.port(), Socket: l.granted(), Method: record.Method{Receive: receiveMethod(req.Mode)}}, nil
}

// strangersMost is how many connections of one peer, beside a session's streams,
// may keep to themselves what they are; for one more the oldest goes. Each holds a
// socket and a thread until openingTime is over.
const strangersMost = 64

// serve accepts until the listener closes.
func (e *Engine) serve(s *session, l listener, req agentapi.SinkRequest) {
	refused := refusals{log: e.cfg.Logger}
	ofOne := req.Streams + strangersMost
	gate := socket.NewGate(ofOne*max(len(req.Peers), 1), ofOne)
	defer gate.Shut()
	for {
		c, err := l.accept()
		if err != nil {
			return // closed by stop
		}
		from := c.Remote().Addr()
		if !namedPeer(from, req.Peers) {
			refused.warn(c.Remote(), "not a peer of this session")
			c.close()
			continue
		}
		wait := gate.Enter(from.Unmap(), c.shut)
		go func() {
			index, err := readOpening(c, req.Key)
			gate.Leave(wait)
			if err == nil {
				err = s.admit(c, index)
			}
			if err != nil {
				refused.warn(c.Remote(), err.Error())
				c.close()
				return
			}
			s.receive(c, index, req.Mode)
		}()
	}
}

// admit gives a connection that has said its opening its place.
func (s *session) admit(c conn, index int) error {
	c.opened()
	return s.attach(index, c)
}

// receive answers a stream's opening and receives from it until it ends.
func (s *session) receive(c conn, index int, mode agentapi.Mode) {
	if _, err := c.Write([]byte{accepted}); err != nil {
		s.streams[index].end(c, err)
		return
	}
	s.streams[index].receive(c, mode)
}

// refusals logs what strangers do at a data port, and not more of it than a log
// bears.
type refusals struct {
	log *slog.Logger
	mu  sync.Mutex
	n   int
}

// refusalsLogged bounds what strangers can write into a log.
const refusalsLogged = 10

func (r *refusals) warn(peer netip.AddrPort, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n++; r.n <= refusalsLogged {
		r.log.Warn("refused at the data port", "peer", peer, "reason", reason)
	}
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
	if err := readWithin(c, got[:], openingTime); err != nil {
		return 0, fmt.Errorf("read opening: %w", err)
	}
	if subtle.ConstantTimeCompare(got[:len(key)], key[:]) != 1 {
		return 0, fmt.Errorf("%w: wrong key", errOpening)
	}
	rest := got[len(key):]
	return int(rest[0])<<24 | int(rest[1])<<16 | int(rest[2])<<8 | int(rest[3]), nil
}

// readWithin fills buf in a time, also where the other end says a byte now and then.
func readWithin(c conn, buf []byte, limit time.Duration) error {
	for end := time.Now().Add(limit); len(buf) > 0; {
		left := time.Until(end)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		if err := c.patience(left); err != nil {
			return err
		}
		n, err := c.Read(buf)
		if buf = buf[n:]; err != nil && len(buf) > 0 {
			return err
		}
	}
	return c.patience(0)
}

// open says a stream's opening and waits for the answer.
func open(c conn, key agentapi.Key, index int) error {
	hello := append(append([]byte(nil), key[:]...), byte(index>>24), byte(index>>16), byte(index>>8), byte(index))
	if _, err := c.Write(hello); err != nil {
		return fmt.Errorf("write opening: %w", err)
	}
	var answer [1]byte
	if err := readWithin(c, answer[:], openingTime); err != nil {
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
	req = asNow(req)
	if err := checkSource(req); err != nil {
		return agentapi.SourceReply{}, fmt.Errorf("open source: %w", err)
	}
	s := e.newSession(len(req.Streams), req.Links)
	s.mode = req.Mode
	e.place(s, req.Unpinned)
	atOnce := len(req.Streams)
	if req.UDP != nil {
		s.countDatagrams()
		atOnce = min(atOnce, openAtOnce)
	} else {
		s.source = payload.NewSource()
	}
	if err := e.add(req.Session, s, req.Lifetime); err != nil {
		return agentapi.SourceReply{}, err
	}
	if s.source != nil {
		s.onStop(func() { go s.releaseSource() })
	}
	connected, err := s.connectAll(e.cfg.Namespace, req, atOnce)
	if err != nil {
		_, _ = e.Finish(ctx, agentapi.SessionRequest{Session: req.Session})
		return agentapi.SourceReply{}, err
	}
	return agentapi.SourceReply{Streams: connected, Method: record.Method{Send: s.streams[0].method}}, nil
}

// openAtOnce is how many streams of UDP say their openings at a time: a datagram
// that finds the port's queue full is lost.
const openAtOnce = 64

// connectAll connects a source's streams, so many at a time. Of UDP
// none begins after an error.
func (s *session) connectAll(ns netns.Namespace, req agentapi.SourceRequest, atOnce int) ([]agentapi.Stream, error) {
	connected := make([]agentapi.Stream, len(req.Streams))
	errs, turn := make(chan error, len(req.Streams)), make(chan struct{}, atOnce)
	var broken atomic.Bool
	for i, want := range req.Streams {
		go func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			if req.UDP != nil && broken.Load() {
				errs <- nil
				return
			}
			err := s.streams[i].begin(func(st *stream) (sender, error) {
				if req.UDP != nil {
					return st.connectDatagrams(ns, req, i, want, &connected[i])
				}
				return st.connect(ns, req, i, want, &connected[i])
			})
			if err != nil {
				broken.Store(true)
			}
			errs <- err
		}()
	}
	var failed []error
	for range req.Streams {
		if err := <-errs; err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) == 0 && s.stopped() {
		failed = append(failed, socket.ErrSession) // its lifetime ended meanwhile
	}
	if len(failed) > 0 {
		return nil, fmt.Errorf("connect %d of %d streams: %w", len(failed), len(req.Streams), failed[0])
	}
	return connected, nil
}

// Start lets a source's streams send until Finish, or until each has sent the
// limit; then they wait, connected, for Finish. A second Start changes
// nothing.
func (e *Engine) Start(_ context.Context, req agentapi.StartRequest) (agentapi.Empty, error) {
	if req.Limit < 0 {
		return agentapi.Empty{}, fmt.Errorf("start session %q: limit of %d bytes is negative", req.Session, req.Limit)
	}
	s, err := e.sessions.Get(req.Session)
	if err != nil {
		return agentapi.Empty{}, err
	}
	s.start(req.Limit)
	return agentapi.Empty{}, nil
}

// Sample counts everything of a session now, and returns this and all samples
// from index Since on.
func (e *Engine) Sample(_ context.Context, req agentapi.SampleRequest) (agentapi.SampleReply, error) {
	s, err := e.sessions.Get(req.Session)
	if err != nil {
		return agentapi.SampleReply{}, err
	}
	if err := s.sample(); err != nil {
		return agentapi.SampleReply{}, err
	}
	return agentapi.SampleReply{Samples: s.samples.Since(req.Since), Errors: s.errors()}, nil
}

// Finish ends a session: its streams stop, its sockets close without
// lingering, and the last sample is returned.
func (e *Engine) Finish(_ context.Context, req agentapi.SessionRequest) (agentapi.FinishReply, error) {
	s, err := e.sessions.Get(req.Session)
	if err != nil {
		return agentapi.FinishReply{}, err
	}
	samples, err := s.finish()
	_, _ = e.sessions.Remove(req.Session)
	return agentapi.FinishReply{Samples: samples}, err
}
