package engine

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/record"
)

// stream is one connection's place in a session. Its counter is written by
// the stream's thread alone; the padding keeps the next one's off its cache
// line.
type stream struct {
	session *session
	bytes   atomic.Uint64
	thread  atomic.Int64 // kernel's thread id, zero unknown
	core    int          // to keep the thread on; negative for none
	pinned  atomic.Bool  // it is kept there
	copied  atomic.Bool  // by the kernel, though asked not to
	kept    atomic.Int32 // the core that beside keeps the thread on, plus one
	_       [28]byte
	method  string // of sending; set before the stream is connected

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

// sender is what a connected stream does on its thread: send until it is told to
// stop, or its limit is reached, and end.
type sender struct {
	send func() error
	end  func(error)
}

// begin connects on a thread of its own, reports how that went, waits for the
// start and then sends. It returns once connected; the thread goes on.
func (st *stream) begin(connect func(*stream) (sender, error)) error {
	connected := make(chan error, 1)
	st.session.sending.Add(1)
	go func() {
		// Never unlocked when the thread has entered a namespace.
		defer lockThread(&st.thread)()
		st.settle()
		defer st.session.sending.Done()
		s, err := connect(st)
		connected <- err
		if err != nil {
			return
		}
		select {
		case <-st.session.started:
			err = s.send()
		case <-st.session.ended:
		}
		if err == nil {
			// The limit is reached: the connection stays up, so that nothing
			// of it is lost and its counters can be read.
			<-st.session.ended
		}
		s.end(err)
	}()
	return <-connected
}

// connect makes the stream's connection in the namespace and readies it to
// send.
func (st *stream) connect(ns netns.Namespace, req agentapi.SourceRequest, index int, want agentapi.Stream, got *agentapi.Stream) (sender, error) {
	if err := ns.Enter(); err != nil {
		return sender{}, err
	}
	c, err := dial(want, socketOptions{want.Socket, req.MPTCP})
	if err != nil {
		return sender{}, err
	}
	out, err := st.openOn(c, req, index, want)
	if err != nil {
		c.close()
		return sender{}, err
	}
	*got = opened(want, c)
	send := func() error { return st.sendFull(out, st.session.limit) }
	if req.Rate > 0 {
		send = func() error { return st.sendPaced(out, st.session.limit, req.Rate) }
	}
	return sender{send, func(err error) { st.end(c, err) }}, nil
}

func (st *stream) openOn(c conn, req agentapi.SourceRequest, index int, want agentapi.Stream) (payload.Writer, error) {
	if err := open(c, req.Key, index); err != nil {
		return nil, fmt.Errorf("stream %s: %w", want.Lane, err)
	}
	// Only now both ends have spoken: a middlebox may have let the first
	// packets through and taken the option off the next.
	if req.MPTCP && !c.multipath() {
		return nil, fmt.Errorf("stream %s: %w", want.Lane, ErrFellBack)
	}
	st.mptcp = req.MPTCP
	out, err := c.writer(req.Mode, st.session.source)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", want.Lane, err)
	}
	st.method = out.Method()
	if err := st.hold(c); err != nil {
		return nil, err
	}
	return out, nil
}

// end is one end of a connection, of TCP or UDP.
type end interface {
	Local() netip.AddrPort
	Remote() netip.AddrPort
	// Granted is the socket as the kernel made it.
	Granted() record.Socket
}

// opened is a stream as it is now.
func opened(want agentapi.Stream, c end) agentapi.Stream {
	want.Src, want.Sport, want.Dport, want.Socket = c.Local().Addr(), c.Local().Port(), c.Remote().Port(), c.Granted()
	return want
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
