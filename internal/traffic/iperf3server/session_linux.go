package iperf3server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/payload"
)

// Why tests end early.
var (
	errServerEnds = errors.New("the server is going away")
	errVanished   = errors.New("the client went away")
	errGaveUp     = errors.New("the client ended it")
	errStood      = errors.New("nothing moved for too long")
	errOverdue    = errors.New("the client did not end it in time")
	errNoStreams  = errors.New("not all of its streams connected")
)

// session is one test: its control connection and its streams.
type session struct {
	listener *Listener
	conn     *net.TCPConn
	from     netip.AddrPort
	cookie   iperf3.Cookie
	params   iperf3.Parameters

	states chan stateRead // what the client says, until it ends the test
	asked  chan error     // why the session is to end
	fresh  chan struct{}  // a stream has come
	over   chan struct{}  // closed when nobody listens to states any more

	reserved int       // streams set aside for it
	streams  []*stream // in the client's order

	mu      sync.Mutex
	awaited int // streams that the client may connect now
	offered []offered

	meter  *meter
	failed error
}

// offered is a stream that has come, and when among all.
type offered struct {
	number uint64
	stream *stream
}

type stateRead struct {
	state iperf3.State
	err   error
}

func newSession(l *Listener, c *net.TCPConn, from netip.AddrPort, cookie iperf3.Cookie) *session {
	return &session{listener: l, conn: c, from: from, cookie: cookie,
		states: make(chan stateRead, 1), asked: make(chan error, 1), fresh: make(chan struct{}, 1), over: make(chan struct{})}
}

// end asks the session to end; only the first reason counts.
func (s *session) end(reason error) {
	select {
	case s.asked <- reason:
	default:
	}
}

// run is the conversation. It says whether the test began; what went wrong is
// in failed.
func (s *session) run() (began bool) {
	defer s.close()
	// A client that vanishes without a word is noticed by these within half a
	// minute.
	_ = s.conn.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4})
	_ = s.conn.SetNoDelay(true)
	if s.failed = s.agree(); s.failed == nil {
		began = true
		s.failed = s.test()
	}
	s.excuse()
	return began
}

// agree is everything before the first byte: parameters, and the streams.
func (s *session) agree() error {
	if err := s.say(iperf3.ParamExchange); err != nil {
		return err
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(s.listener.cfg.answer))
	text, err := iperf3.ReadFrame(s.conn, iperf3.MaxParameters)
	if err == nil {
		s.params, err = iperf3.ParseParameters(text)
	}
	if err != nil {
		return faulty(iperf3.ReasonParameters, err)
	}
	if err := s.params.Check(MaxStreams); err != nil {
		return err
	}
	if err := s.prove(time.Now()); err != nil {
		return faulty(iperf3.ReasonAuth, err)
	}
	s.params.Extra, s.params.Unknown = "", nil
	_ = s.conn.SetReadDeadline(time.Time{})
	s.listener.working.Go(s.hear)
	return s.gather()
}

// prove judges the client's proof that it knows the token, where one is asked
// for.
func (s *session) prove(now time.Time) error {
	token := s.listener.cfg.Token
	if len(token) == 0 {
		return nil
	}
	until, err := iperf3.Proven(token, s.cookie, s.params.Proof, now)
	switch {
	case errors.Is(err, iperf3.ErrProofTime):
		return ErrClock
	case err != nil:
		return ErrNoToken
	}
	return s.listener.slots.spend(s.cookie, until, now)
}

// hear reads the client's states until the one after which it waits for us.
func (s *session) hear() {
	var b [1]byte
	for {
		var got stateRead
		if _, got.err = s.conn.Read(b[:]); got.err == nil {
			got.state, got.err = iperf3.ParseState(b[0])
		}
		select {
		case s.states <- got:
		case <-s.over:
			return
		}
		if got.err != nil || got.state == iperf3.TestEnd || got.state == iperf3.ClientTerminate {
			return
		}
	}
}

func (s *session) say(state iperf3.State) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(s.listener.cfg.answer))
	if _, err := s.conn.Write([]byte{state.Byte()}); err != nil {
		return fmt.Errorf("%w: %w", errVanished, err)
	}
	return nil
}

// fault is an error with the number that the client is told.
type fault struct {
	iperf3.Fault
	err error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

func faulty(reason iperf3.Reason, err error) error {
	var errno syscall.Errno
	errors.As(err, &errno)
	return &fault{iperf3.Fault{Reason: reason, Errno: int32(errno)}, err}
}

// excuse tells the client why its test ended, where the protocol has words.
func (s *session) excuse() {
	_ = s.conn.SetWriteDeadline(time.Now().Add(time.Second))
	var told *fault
	var plain iperf3.Fault
	switch {
	case errors.Is(s.failed, errServerEnds):
		_, _ = s.conn.Write([]byte{iperf3.ServerTerminate.Byte()})
	case errors.As(s.failed, &told):
		_, _ = s.conn.Write(told.Fault.Append(nil))
	case errors.As(s.failed, &plain):
		_, _ = s.conn.Write(plain.Append(nil))
	default:
		return
	}
	// What the client said and nobody read would turn the close into a reset,
	// which takes the word back.
	_ = s.conn.CloseWrite()
	_ = s.conn.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.CopyN(io.Discard, s.conn, iperf3.MaxParameters)
}

// gather waits until all streams have connected and puts them in the client's
// order.
func (s *session) gather() error {
	n := s.params.Streams()
	before, ok := s.listener.slots.reserve(s.from.Addr(), n)
	if !ok {
		return faulty(iperf3.ReasonStreams, ErrFull)
	}
	s.reserved = n
	payload.Room(n)
	s.mu.Lock()
	s.awaited = n
	s.mu.Unlock()
	var err error
	if s.params.UDP {
		// One client of an address at a time: its datagrams do not say whose
		// they are.
		if err = s.listener.acceptor.expect(s); err == nil {
			err = s.invite(n)
		}
		s.listener.acceptor.done(s)
	} else {
		err = s.invite(n)
	}
	s.arrange()
	if err == nil && len(s.streams) < n {
		err = faulty(iperf3.ReasonAcceptStream, errNoStreams)
	}
	for i, st := range s.streams {
		if err != nil {
			break
		}
		// With both directions the client's sending streams connect first.
		st.sends = bool(s.params.Reverse) || bool(s.params.Both) && i >= n/2
		st.buffer = payload.ReceiveLength(before + i)
		err = st.prepare(s.params)
	}
	return err
}

// invite lets the client connect and waits while streams keep coming, each in time
// and all of them within half a second for each: they hold slots meanwhile.
func (s *session) invite(n int) error {
	if err := s.say(iperf3.CreateStreams); err != nil {
		return err
	}
	answer := s.listener.cfg.answer
	timer, whole := time.NewTimer(answer), time.NewTimer(answer+time.Duration(n)*answer/20)
	defer timer.Stop()
	defer whole.Stop()
	for s.count() < n {
		select {
		case <-s.fresh:
			timer.Reset(answer)
		case got := <-s.states:
			return unexpected(got)
		case reason := <-s.asked:
			return reason
		case <-timer.C:
			return nil // too few: said by the caller
		case <-whole.C:
			return nil
		}
	}
	return nil
}

func (s *session) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.offered)
}

// unexpected is what a client says, or does, where it has nothing to say.
func unexpected(got stateRead) error {
	switch {
	case got.err == nil && got.state == iperf3.ClientTerminate:
		return errGaveUp
	case errors.Is(got.err, iperf3.ErrMalformed), got.err == nil:
		return faulty(iperf3.ReasonMessage, fmt.Errorf("%w: %s out of turn", ErrMalformed, got.state))
	case errors.Is(got.err, io.EOF):
		return errVanished
	}
	return fmt.Errorf("%w: %w", errVanished, got.err)
}

// offer takes a TCP connection that said the test's cookie, if one is awaited.
func (s *session) offer(c *net.TCPConn, number uint64) {
	st, err := takeOver(c)
	if err != nil {
		return
	}
	if !s.take(st, number) {
		st.close()
	}
}

// awaits says whether a stream may still come.
func (s *session) awaits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.offered) < s.awaited
}

func (s *session) take(st *stream, number uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.offered) >= s.awaited || bool(s.params.UDP) != st.udp {
		return false
	}
	s.offered = append(s.offered, offered{number, st})
	select {
	case s.fresh <- struct{}{}:
	default:
	}
	return true
}

// arrange lets no more streams come and orders those that have.
func (s *session) arrange() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awaited = 0
	slices.SortFunc(s.offered, func(a, b offered) int { return cmp.Compare(a.number, b.number) })
	for _, o := range s.offered {
		s.streams = append(s.streams, o.stream)
	}
}

// close ends everything that the session has.
func (s *session) close() {
	close(s.over)
	_ = s.conn.Close()
	for _, st := range s.streams {
		st.stop()
	}
	for _, st := range s.streams {
		st.close()
	}
	s.listener.slots.release(s.from.Addr(), s.reserved)
}

func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	return err
}
