package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// maxReply bounds one line of a reply.
const maxReply = 64 << 20

// stream is a transport over a pair of pipes: one JSON document a line each
// way, matched by number. Its goroutines end when the reading pipe does.
type stream struct {
	w       io.WriteCloser
	closing func() error  // waits for the far end; nil for none
	explain func() error  // why the far end went, waited for; nil is that it does not say
	over    chan struct{} // closed when the far end has gone, or was given up
	out     chan outgoing // to the one goroutine that writes
	heard   atomic.Int64  // when something came last, in nanoseconds since began
	began   time.Time

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan agentapi.Reply
	dead    error
}

// outgoing is a line to be written; written has one place.
type outgoing struct {
	line    []byte
	written chan error
}

// Stream is a transport to an agent at the other end of two pipes.
func Stream(r io.Reader, w io.WriteCloser) Transport { return newStream(r, w, nil, nil) }

func newStream(r io.Reader, w io.WriteCloser, closing func() error, explain func() error) *stream {
	s := &stream{w: w, closing: closing, explain: explain, over: make(chan struct{}), out: make(chan outgoing), began: time.Now(), waiting: make(map[uint64]chan agentapi.Reply)}
	go s.write()
	go s.read(r)
	return s
}

// write writes what calls give it. A pipe that is full keeps this goroutine
// alone: whoever called may give up.
func (s *stream) write() {
	for {
		select {
		case o := <-s.out:
			_, err := s.w.Write(o.line)
			o.written <- err
		case <-s.over:
			return
		}
	}
}

// listened tells the stream when something comes.
type listened struct {
	from io.Reader
	by   *stream
}

func (l listened) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if n > 0 {
		l.by.heard.Store(int64(time.Since(l.by.began)))
	}
	return n, err
}

func (s *stream) read(r io.Reader) {
	lines := bufio.NewScanner(listened{r, s})
	lines.Buffer(make([]byte, 64<<10), maxReply)
	for lines.Scan() {
		var reply agentapi.Reply
		if err := json.Unmarshal(lines.Bytes(), &reply); err != nil {
			s.die(fmt.Errorf("%w: it printed %.60q where the agent should answer", ErrUnreachable, lines.Bytes()))
			return
		}
		s.mu.Lock()
		ch := s.waiting[reply.ID]
		delete(s.waiting, reply.ID)
		s.mu.Unlock()
		if ch != nil {
			ch <- reply
		}
	}
	s.die(s.ending(lines.Err()))
}

// ending is why nothing more is read.
func (s *stream) ending(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%w: an answer of its agent is longer than %d MB", ErrUnreachable, maxReply>>20)
	}
	if s.explain != nil {
		if why := s.explain(); why != nil {
			return why
		}
	}
	if err != nil {
		return fmt.Errorf("%w: read from its agent: %w", ErrUnreachable, err)
	}
	return ErrUnreachable
}

// die fails every call that waits and all to come; the first reason holds.
func (s *stream) die(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead != nil {
		return
	}
	s.dead = err
	close(s.over)
	for id, ch := range s.waiting {
		close(ch)
		delete(s.waiting, id)
	}
}

// Call sends a request and waits for its reply, or for ctx.
func (s *stream) Call(ctx context.Context, m agentapi.AnyMethod, params json.RawMessage) (json.RawMessage, error) {
	id, ch, err := s.send(ctx, m, params)
	if err != nil {
		return nil, s.reason(ctx, err)
	}
	select {
	case <-ctx.Done():
		s.forget(id)
		return nil, giveUp(ctx, s.die)
	case reply, ok := <-ch:
		if !ok {
			return nil, s.died()
		}
		if reply.Error != nil {
			return nil, reply.Error
		}
		return reply.Result, nil
	}
}

func (s *stream) forget(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, id)
}

func (s *stream) died() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// reason is why a request could not be sent: that a pipe broke says less than
// the last words of what was at its other end.
func (s *stream) reason(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, ErrUnreachable) {
		return giveUp(ctx, s.die)
	}
	if s.explain == nil || !errors.Is(err, ErrUnreachable) {
		return err
	}
	select {
	case <-s.over:
	case <-ctx.Done():
		return err
	case <-time.After(3 * time.Second):
		return err
	}
	return s.died()
}

// send writes a request; its reply comes by the channel, which is closed where
// none can come. The wait for a pipe that is full ends with ctx, too.
func (s *stream) send(ctx context.Context, m agentapi.AnyMethod, params json.RawMessage) (uint64, chan agentapi.Reply, error) {
	id, ch, err := s.await()
	if err != nil {
		return 0, nil, err
	}
	if err := s.deliver(ctx, agentapi.Request{ID: id, Method: m.Name, Params: params}); err != nil {
		s.forget(id)
		return 0, nil, err
	}
	return id, ch, nil
}

// await makes room for the reply to the next request.
func (s *stream) await() (uint64, chan agentapi.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead != nil {
		return 0, nil, s.dead
	}
	s.next++
	ch := make(chan agentapi.Reply, 1)
	s.waiting[s.next] = ch
	return s.next, ch, nil
}

func (s *stream) deliver(ctx context.Context, request agentapi.Request) error {
	line, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	o := outgoing{append(line, '\n'), make(chan error, 1)}
	select {
	case s.out <- o:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.over:
		return s.died()
	}
	select {
	case err := <-o.written:
		if err != nil {
			return fmt.Errorf("send request: %w: %w", ErrUnreachable, err)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.over:
		return s.died()
	}
}

// Close closes our half: the agent ends its traffic and goes.
func (s *stream) Close() error {
	err := s.w.Close()
	if s.closing != nil {
		err = errors.Join(err, s.closing())
	}
	return err
}
