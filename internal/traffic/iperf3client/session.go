package iperf3client

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// session is one test.
type session struct {
	req     agentapi.IPerf3OpenRequest
	control *control
	streams []*stream
	source  *payload.Source
	samples *sampling.Session

	stopSending, stopReceiving chan struct{}
	sendingOnce, receivingOnce sync.Once
	closeOnce                  sync.Once
	life                       sync.Mutex // guards begun and over between start and close
	over                       bool
	said                       atomic.Bool // the end, to the server
	ended                      atomic.Bool
	begun                      time.Time // of the bytes; zero before
	omitted                    []uint64  // what was carried when the omitted time was over
	omitTimer                  *time.Timer

	mu    sync.Mutex
	fault error // of the control connection
}

// open makes the control connection and all streams, and connects all of them
// but the last.
func open(ctx context.Context, cfg Config, req agentapi.IPerf3OpenRequest) (*session, error) {
	s := &session{
		req: req, source: payload.NewSource(), samples: sampling.NewSession(cfg.Host, req.Links), stopSending: make(chan struct{}), stopReceiving: make(chan struct{}),
	}
	var err error
	if s.control, err = dialControl(ctx, cfg.Namespace, req.Src, req.Server, req.Socket.Device); err != nil {
		return nil, err
	}
	if err = s.prepare(ctx, cfg.Namespace); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// withoutStreams is why a server ended that had heard the parameters: a fault of
// streams that there are not, or none at all, is what iperf3 answers to who is not
// one of its users.
func withoutStreams(err error) error {
	var f iperf3.Fault
	if errors.As(err, &f) && (f.Reason == iperf3.ReasonStreamRead || f.Reason == iperf3.ReasonStreamWrite || f.Reason == iperf3.ReasonStreamClosed) || errors.Is(err, errUnnamed) {
		return fmt.Errorf("%w (%w)", ErrCredentials, err)
	}
	return err
}

func (s *session) prepare(ctx context.Context, ns netns.Namespace) error {
	if err := s.control.expect(ctx, iperf3.ParamExchange); err != nil {
		return err
	}
	if err := s.control.tell(ctx, parameters(s.req, s.control.cookie)); err != nil {
		return err
	}
	if err := s.control.expect(ctx, iperf3.CreateStreams); err != nil {
		return withoutStreams(err)
	}
	if err := s.openStreams(ns); err != nil {
		return err
	}
	for _, st := range s.streams[:len(s.streams)-1] {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := st.conn.connect(ctx, answerTime); err != nil {
			return err
		}
	}
	return nil
}

// openStreams makes the sockets: first those that send, as iperf3 does.
func (s *session) openStreams(ns netns.Namespace) error {
	// The control connection's source is the streams' too, where none was
	// asked for: then a port can be bound, and known, before it connects.
	payload.Room(streamsOf(s.req))
	near := s.req.Src
	if !near.IsValid() {
		near = socket.AddrPort(s.control.conn.LocalAddr()).Addr()
	}
	for i := range streamsOf(s.req) {
		sending := s.req.Direction == flow.Forward || s.req.Direction == flow.Both && i < s.req.Streams
		port := uint16(0)
		if i < len(s.req.Sports) {
			port = s.req.Sports[i]
		}
		sock, err := openSocket(ns, netip.AddrPortFrom(near, port), s.req.Server, kindOf(s.req), s.req.Socket)
		if err != nil {
			return err
		}
		st := &stream{conn: sock, sending: sending, rate: s.req.Rate, block: s.block(), done: make(chan struct{})}
		cookie := s.control.cookie
		sock.hello = func(_ context.Context, sock *dataSocket) error { return sayCookie(sock, cookie) }
		if s.req.UDP {
			st.udp = &datagrams{length: s.req.Block}
			sock.hello = knock
		}
		s.streams = append(s.streams, st)
	}
	return nil
}

func sayCookie(sock *dataSocket, cookie iperf3.Cookie) error {
	for b := cookie[:]; len(b) > 0; {
		n, err := sock.send(b)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrStalled
		}
		b = b[n:]
	}
	return nil
}

// knock says hello until the server answers: what is lost here would leave it
// waiting for the stream.
func knock(ctx context.Context, sock *dataSocket) error {
	const tries = 5
	hello := iperf3.NewHello()
	for range tries {
		if _, err := sock.send(hello[:]); err != nil {
			return dialError(err)
		}
		answered, err := sock.awaitHello(ctx, time.Now().Add(time.Second))
		if answered || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w to the hello of a UDP stream: a firewall may let TCP through only", ErrSilent)
}

// awaitHello waits for the answer to a hello, patience at a time.
func (s *dataSocket) awaitHello(ctx context.Context, until time.Time) (answered bool, err error) {
	answer := make([]byte, 64)
	for time.Now().Before(until) {
		n, err := s.receive(answer)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil:
			return false, dialError(err)
		case iperf3.Answers(answer[:n]):
			return true, nil
		case n > 0:
			return false, fmt.Errorf("%w: a strange answer to the hello of a UDP stream", ErrProtocol)
		}
	}
	return false, nil
}

// start connects the last stream. The server starts once it has all.
func (s *session) start(ctx context.Context) error {
	last := s.streams[len(s.streams)-1]
	if err := last.conn.connect(ctx, answerTime); err != nil {
		return err
	}
	for _, due := range [...]iperf3.State{iperf3.TestStart, iperf3.TestRunning} {
		if err := s.control.expect(ctx, due); err != nil {
			return err
		}
	}
	s.life.Lock()
	defer s.life.Unlock()
	if s.over {
		return socket.ErrSession
	}
	s.begun = time.Now()
	s.control.watch(context.Background())
	for _, st := range s.streams {
		stop := s.stopReceiving
		if st.sending {
			stop = s.stopSending
		}
		go st.run(s.source, payload.ReceiveLength(len(s.streams)), stop, s.ended.Load)
	}
	if s.req.Omit > 0 {
		s.omitTimer = time.AfterFunc(s.req.Omit, s.omit)
	}
	return nil
}

// block is what one call sends of TCP.
func (s *session) block() uint64 {
	if s.req.Block > 0 {
		return uint64(s.req.Block)
	}
	return payload.SendLength
}

func (s *session) omit() {
	counts := make([]uint64, len(s.streams))
	for i, st := range s.streams {
		_, counts[i] = st.count()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.omitted = counts
}

// faults are what broke: streams by their number, and the test as a whole.
func (s *session) faults() []string {
	if s.ended.Load() {
		return nil
	}
	var out []string
	select {
	case r := <-s.control.states:
		s.mu.Lock()
		s.fault = r.err
		if r.err == nil {
			s.fault = fmt.Errorf("%w: it says %s in the middle of the test", ErrProtocol, r.state)
		}
		s.mu.Unlock()
	default:
	}
	s.mu.Lock()
	if s.fault != nil {
		out = append(out, s.fault.Error())
	}
	s.mu.Unlock()
	for i, st := range s.streams {
		if err := st.failed(); err != nil {
			out = append(out, fmt.Sprintf("stream %d: %v", i, err))
		}
	}
	return out
}

// end tells the server that the test is over and fetches its results.
func (s *session) end(ctx context.Context) agentapi.IPerf3EndReply {
	var out agentapi.IPerf3EndReply
	s.ended.Store(true)
	if s.omitTimer != nil {
		s.omitTimer.Stop()
	}
	if !s.begun.IsZero() {
		out.Seconds = (time.Since(s.begun) - s.req.Omit).Seconds()
	}
	own := s.results(out.Seconds)
	s.sendingOnce.Do(func() { close(s.stopSending) })
	for i := range s.streams {
		out.Streams = append(out.Streams, agentapi.IPerf3Count{Own: uint64(max(own.Streams[i].Bytes, 0))})
	}
	theirs, err := s.exchange(ctx, own)
	if err != nil {
		out.Why = err.Error()
		return out
	}
	out.CPU, out.Congestion = min(max(theirs.CPUTotal, 0)/100, 1e6), shownName(theirs.Congestion)
	if err := fill(out.Streams, theirs); err != nil {
		out.Why = err.Error()
	}
	return out
}

// exchange goes through the end of the conversation.
func (s *session) exchange(ctx context.Context, own iperf3.Results) (iperf3.Results, error) {
	switch s.mu.Lock(); {
	case s.begun.IsZero():
		s.mu.Unlock()
		return iperf3.Results{}, errors.New("the test did not start")
	case s.fault != nil:
		defer s.mu.Unlock()
		return iperf3.Results{}, s.fault
	}
	s.mu.Unlock()
	s.said.Store(true)
	if err := s.control.sayState(ctx, iperf3.TestEnd); err != nil {
		return iperf3.Results{}, err
	}
	if err := s.answered(ctx); err != nil {
		return iperf3.Results{}, err
	}
	if err := s.control.tell(ctx, own); err != nil {
		return iperf3.Results{}, err
	}
	text, err := s.control.ask(ctx, iperf3.MaxResults)
	if err != nil {
		return iperf3.Results{}, err
	}
	theirs, err := iperf3.ParseResults(text)
	if err != nil {
		return iperf3.Results{}, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	if s.control.expect(ctx, iperf3.DisplayResults) == nil {
		_ = s.control.sayState(ctx, iperf3.IperfDone)
	}
	return theirs, nil
}

// answered waits for the state that the watch of the running test is to see
// next.
func (s *session) answered(ctx context.Context) error {
	defer s.control.within(ctx, answerTime)()
	var r stateRead
	select {
	case r = <-s.control.states:
	case <-time.After(answerTime + time.Second): // a sample has taken it just before
		return ErrStalled
	}
	switch {
	case r.err != nil:
		return explain(ctx, r.err)
	case r.state != iperf3.ExchangeResults:
		return fmt.Errorf("%w: it says %s where %s is due", ErrProtocol, r.state, iperf3.ExchangeResults)
	}
	return nil
}

// close frees everything, also in the middle of a test.
func (s *session) close() {
	s.closeOnce.Do(func() {
		s.life.Lock()
		running := !s.begun.IsZero()
		s.over = true
		s.life.Unlock()
		s.ended.Store(true)
		if s.omitTimer != nil {
			s.omitTimer.Stop()
		}
		s.sendingOnce.Do(func() { close(s.stopSending) })
		s.receivingOnce.Do(func() { close(s.stopReceiving) })
		if running && !s.said.Load() {
			_ = s.control.conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			_, _ = s.control.conn.Write([]byte{iperf3.ClientTerminate.Byte()})
		}
		if s.control != nil {
			_ = s.control.close()
		}
		for _, st := range s.streams {
			if running {
				st.conn.shut()
				<-st.done
			}
			st.end()
		}
		s.source.Release()
		s.samples.Close()
	})
}
