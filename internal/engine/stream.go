package engine

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
)

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
	ended bool              // by itself, not by stop
	mptcp bool              // asked for: plain TCP is a fault
	fault error
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

// count is what TCP says of the connection and the payload so far. Of a
// connection that ended by itself the thread has counted all: what TCP says
// afterwards may hold the peer's FIN, which counts as a byte there.
func (st *stream) count() (agentapi.TCPCount, uint64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	info := st.last
	if st.conn != nil && !st.session.stopped() {
		info = st.conn.info()
		if st.mptcp && info.MPTCP == nil && st.fault == nil {
			st.fault = ErrFellBack
		}
	}
	if st.ended {
		return info, st.bytes.Load()
	}
	return info, max(st.bytes.Load(), handedOver(info))
}

// end closes the connection after its thread is done with it, and keeps the
// reason if it was not asked to stop.
func (st *stream) end(c conn, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.session.stopped() {
		st.last = c.info()
		st.fault = err
		st.ended = true
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
		err = st.pour(c, buf, st.session.limit)
		if err == nil {
			// The limit is reached: the connection stays up, so that nothing
			// of it is lost and its counters can be read.
			<-st.session.ended
		}
		st.end(c, err)
	}()
	return <-connected
}

// pour sends buf again and again until the connection ends, or until limit
// bytes are through; zero is no limit.
func (st *stream) pour(c conn, buf []byte, limit uint64) error {
	var total uint64
	for limit == 0 || total < limit {
		next := buf
		if limit > 0 {
			next = buf[:min(uint64(len(buf)), limit-total)]
		}
		n, err := c.send(next)
		if n > 0 {
			total += uint64(n)
			st.bytes.Store(total)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (st *stream) connect(ns netns.Namespace, req agentapi.SourceRequest, index int, want agentapi.Stream, got *agentapi.Stream) (conn, error) {
	if err := ns.Enter(); err != nil {
		return nil, err
	}
	c, err := dial(want, socketOptions{Buffer: req.SocketBuffer, Congestion: req.Congestion, MPTCP: req.MPTCP})
	if err != nil {
		return nil, err
	}
	if err := open(c, req.Key, index); err != nil {
		c.close()
		return nil, fmt.Errorf("stream %s: %w", want.Lane, err)
	}
	// Only now both ends have spoken: a middlebox may have let the first
	// packets through and taken the option off the next.
	if req.MPTCP && !c.multipath() {
		c.close()
		return nil, fmt.Errorf("stream %s: %w", want.Lane, ErrFellBack)
	}
	st.mptcp = req.MPTCP
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

// handedOver is what the application has been given of a connection, to the byte:
// what TCP received in order, less what still waits. The stream's own counter
// stands still while a call fills its buffer. Zero where TCP does not say, and
// at a sending end.
func handedOver(c agentapi.TCPCount) uint64 {
	const opened = uint64(openingLength)
	if got := c.Received; got > opened+uint64(c.Unread) {
		return got - opened - uint64(c.Unread)
	}
	return 0
}
