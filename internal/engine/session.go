package engine

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// session is the streams of one trial at one end.
type session struct {
	cfg     Config
	links   []string
	opened  time.Time
	streams []*stream
	started chan struct{} // closed by start
	ended   chan struct{} // closed by stop

	startOnce, stopOnce sync.Once

	mu      sync.Mutex
	stops   []func()
	samples []agentapi.Sample
}

// stream is one connection's place in a session. Its counter is written by
// the stream's thread alone; the padding keeps the next one's off its cache
// line.
type stream struct {
	session *session
	bytes   atomic.Uint64
	thread  atomic.Int64 // kernel's thread id, zero unknown
	_       [48]byte

	mu    sync.Mutex
	conn  conn
	last  agentapi.TCPCount // kept when the connection is gone
	fault error
}

func (e *Engine) newSession(streams int, links []string) *session {
	s := &session{cfg: e.cfg, links: links, opened: time.Now(), started: make(chan struct{}), ended: make(chan struct{})}
	for range streams {
		s.streams = append(s.streams, &stream{session: s})
	}
	return s
}

// onStop has f called when the session ends, at once if it has ended.
func (s *session) onStop(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped() {
		f()
		return
	}
	s.stops = append(s.stops, f)
}

func (s *session) start() { s.startOnce.Do(func() { close(s.started) }) }

// stop closes every socket, which ends the threads that block on them.
func (s *session) stop() {
	s.stopOnce.Do(func() {
		s.mu.Lock()
		close(s.ended)
		stops := s.stops
		s.mu.Unlock()
		for _, f := range stops {
			f()
		}
		for _, st := range s.streams {
			st.shut()
		}
	})
}

func (s *session) stopped() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// attach gives an accepted connection its place.
func (s *session) attach(index int, c conn) error {
	if index < 0 || index >= len(s.streams) {
		return fmt.Errorf("%w: no stream %d", errOpening, index)
	}
	return s.streams[index].hold(c)
}

// A count is worth as much as its time is sure. On a full processor a thread
// may lose it between the two; such a reading is taken again.
const (
	sureWithin  = 2 * time.Millisecond
	perStream   = 20 * time.Microsecond // what asking the kernel takes
	readingsMax = 4
)

// timed runs read until it took no longer than sureWithin, a few times at the
// most, and returns the moment in the middle of the surest reading's span,
// which is the last one kept by keep.
func (s *session) timed(read func() error, keep func()) (time.Duration, error) {
	var at time.Duration
	best := time.Duration(-1)
	for range readingsMax {
		begin := time.Since(s.opened)
		if err := read(); err != nil {
			return 0, err
		}
		span := time.Since(s.opened) - begin
		if best < 0 || span < best {
			best, at = span, begin+span/2
			keep()
		}
		if span <= sureWithin+time.Duration(len(s.streams))*perStream {
			break
		}
	}
	return at, nil
}

// sample counts everything once. Streams first: they move fastest.
func (s *session) sample() error {
	var now agentapi.Sample
	counted, infos := make([]uint64, len(s.streams)), make([]agentapi.TCPCount, len(s.streams))
	now.At, _ = s.timed(func() error {
		for i, st := range s.streams {
			infos[i] = st.info()
			counted[i] = max(st.bytes.Load(), taken(infos[i]))
		}
		return nil
	}, func() { now.Bytes, now.TCP = slices.Clone(counted), slices.Clone(infos) })
	var err error
	if s.cfg.Links != nil && len(s.links) > 0 {
		var links []agentapi.LinkCount
		at, err := s.timed(func() (err error) {
			links, err = s.cfg.Links(s.links)
			return err
		}, func() { now.Links = links })
		if err != nil {
			return fmt.Errorf("sample links: %w", err)
		}
		for i := range now.Links {
			now.Links[i].At = at
		}
	}
	if s.cfg.CPU != nil {
		if now.CPU, err = s.cfg.CPU(); err != nil {
			return fmt.Errorf("sample processors: %w", err)
		}
	}
	for _, st := range s.streams {
		now.CPU.Threads = append(now.CPU.Threads, threadSeconds(int(st.thread.Load())))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, now)
	return nil
}

// taken is what the application has been given of a connection, to the byte:
// what TCP received in order, less what still waits. The stream's own counter
// stands still while a call fills its buffer. Zero where TCP does not say, and
// at a sending end.
func taken(c agentapi.TCPCount) uint64 {
	const opened = uint64(openingLength)
	if got := c.Received; c.Present && got > opened+uint64(c.Unread) {
		return got - opened - uint64(c.Unread)
	}
	return 0
}

// since returns the samples from index on; a negative index is the last one.
func (s *session) since(index int) []agentapi.Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) == 0 {
		return nil
	}
	if index < 0 {
		index = len(s.samples) - 1
	}
	return append([]agentapi.Sample(nil), s.samples[min(index, len(s.samples)):]...)
}

func (s *session) errors() []string {
	var faults []string
	for i, st := range s.streams {
		st.mu.Lock()
		if st.fault != nil && !s.stopped() {
			faults = append(faults, fmt.Sprintf("stream %d: %v", i, st.fault))
		}
		st.mu.Unlock()
	}
	return faults
}

func (st *stream) hold(c conn) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.conn != nil {
		return fmt.Errorf("%w: stream is connected already", errOpening)
	}
	if st.session.stopped() { // stop shuts what is held, under the same lock
		return fmt.Errorf("%w: session ended", errOpening)
	}
	st.conn = c
	return nil
}

func (st *stream) shut() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.conn != nil {
		st.last = st.conn.info()
		st.conn.shut()
	}
}

func (st *stream) info() agentapi.TCPCount {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.conn == nil || st.session.stopped() {
		return st.last
	}
	return st.conn.info()
}

// end closes the connection after its thread is done with it, and keeps the
// reason if it was not asked to stop.
func (st *stream) end(c conn, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.session.stopped() {
		st.last = c.info()
		st.fault = err
	}
	st.conn = nil
	c.close()
}

// receiveLength is how much one call takes in: the grain of the counters, so
// no more than a few milliseconds' worth of a slow link.
const receiveLength = 256 << 10

// sendLength is how much one call hands over. Larger calls cost less per byte;
// with very many streams memory counts more.
func sendLength(streams int) int {
	if streams > 64 {
		return 256 << 10
	}
	return 4 << 20
}

// receive takes in bytes on a thread of its own until the connection ends.
func (st *stream) receive(c conn) {
	defer lockThread(&st.thread)()
	buf := make([]byte, receiveLength)
	var total uint64
	for {
		n, err := c.receive(buf)
		if n > 0 {
			total += uint64(n)
			st.bytes.Store(total)
		}
		if err != nil || n == 0 {
			st.end(c, err)
			return
		}
	}
}

// send connects on a thread of its own, reports how that went, waits for the
// start and then sends until the connection ends. It returns once connected;
// the thread goes on.
func (st *stream) send(ns netns.Namespace, req agentapi.SourceRequest, index int, want agentapi.Stream, got *agentapi.Stream) error {
	connected := make(chan error, 1)
	go func() {
		// Never unlocked when the thread has entered a namespace.
		defer lockThread(&st.thread)()
		c, err := st.connect(ns, req, index, want, got)
		connected <- err
		if err != nil {
			return
		}
		select {
		case <-st.session.started:
		case <-st.session.ended:
			st.end(c, nil)
			return
		}
		buf := make([]byte, sendLength(len(req.Streams)))
		fillPattern(buf)
		var total uint64
		for {
			n, err := c.send(buf)
			if n > 0 {
				total += uint64(n)
				st.bytes.Store(total)
			}
			if err != nil {
				st.end(c, err)
				return
			}
		}
	}()
	return <-connected
}

func (st *stream) connect(ns netns.Namespace, req agentapi.SourceRequest, index int, want agentapi.Stream, got *agentapi.Stream) (conn, error) {
	if err := ns.Enter(); err != nil {
		return nil, err
	}
	c, err := dial(want, socketOptions{Buffer: req.SocketBuffer, Congestion: req.Congestion})
	if err != nil {
		return nil, err
	}
	if err := open(c, req.Key, index); err != nil {
		c.close()
		return nil, fmt.Errorf("stream %s: %w", want.Lane, err)
	}
	if err := st.hold(c); err != nil {
		c.close()
		return nil, err
	}
	local, remote := c.local(), c.remote()
	*got = agentapi.Stream{Lane: want.Lane, Sport: local.Port(), Dport: remote.Port()}
	got.Src = local.Addr()
	return c, nil
}

// fillPattern writes bytes that no link compresses away (xorshift).
func fillPattern(buf []byte) {
	x := uint64(0x9e3779b97f4a7c15)
	for i := range buf {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		buf[i] = byte(x)
	}
}
