package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agentapi"
)

// maxReply bounds one line of a reply.
const maxReply = 64 << 20

// stream is a transport over a pair of pipes: one JSON document a line each
// way, matched by number. The reading goroutine ends when the pipe does.
type stream struct {
	w       io.WriteCloser
	closing func() error  // waits for the far end; nil for none
	explain func() error  // why the far end went, waited for; nil is that it does not say
	over    chan struct{} // closed when nothing more is read

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan agentapi.Reply
	dead    error
}

// Stream is a transport to an agent at the other end of two pipes.
func Stream(r io.Reader, w io.WriteCloser) Transport { return newStream(r, w, nil, nil) }

func newStream(r io.Reader, w io.WriteCloser, closing func() error, explain func() error) *stream {
	s := &stream{w: w, closing: closing, explain: explain, over: make(chan struct{}), waiting: make(map[uint64]chan agentapi.Reply)}
	go s.read(r)
	return s
}

func (s *stream) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxReply)
	for lines.Scan() {
		var reply agentapi.Reply
		if err := json.Unmarshal(lines.Bytes(), &reply); err != nil {
			s.die(fmt.Errorf("%w: it printed %.60q where the agent should answer", ErrUnreachable, lines.Text()))
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
	err := ErrUnreachable
	if s.explain != nil {
		if why := s.explain(); why != nil {
			err = why
		}
	}
	s.die(errors.Join(err, lines.Err()))
}

// die fails every call that waits and all to come.
func (s *stream) die(err error) {
	defer close(s.over)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = err
	for id, ch := range s.waiting {
		close(ch)
		delete(s.waiting, id)
	}
}

// Call sends a request and waits for its reply, or for ctx.
func (s *stream) Call(ctx context.Context, method agentapi.Method, params json.RawMessage) (json.RawMessage, error) {
	id, ch, err := s.send(method, params)
	if err != nil {
		return nil, s.reason(ctx, err)
	}
	select {
	case <-ctx.Done():
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
		return nil, ctx.Err()
	case reply, ok := <-ch:
		if !ok {
			s.mu.Lock()
			defer s.mu.Unlock()
			return nil, s.dead
		}
		if reply.Error != nil {
			return nil, reply.Error
		}
		return reply.Result, nil
	}
}

// reason is why a request could not be sent: that a pipe broke says less than
// the last words of what was at its other end.
func (s *stream) reason(ctx context.Context, err error) error {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

func (s *stream) send(method agentapi.Method, params json.RawMessage) (uint64, chan agentapi.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead != nil {
		return 0, nil, s.dead
	}
	s.next++
	line, err := json.Marshal(agentapi.Request{ID: s.next, Method: method, Params: params})
	if err != nil {
		return 0, nil, fmt.Errorf("encode request: %w", err)
	}
	if _, err := s.w.Write(append(line, '\n')); err != nil {
		return 0, nil, fmt.Errorf("send request: %w", errors.Join(ErrUnreachable, err))
	}
	ch := make(chan agentapi.Reply, 1)
	s.waiting[s.next] = ch
	return s.next, ch, nil
}

// beatPause is between two signs of life: an agent that hears nothing for
// several of them ends (agent.Config, Silence).
const beatPause = 15 * time.Second

// beat gives the agent signs of life, and hears whether it lives, until the
// stream ends.
func (s *stream) beat() {
	every := time.NewTicker(beatPause)
	defer every.Stop()
	hello, _ := json.Marshal(agentapi.HelloRequest{Version: agentapi.Version})
	for {
		select {
		case <-s.over:
			return
		case <-every.C:
			if _, _, err := s.send(agentapi.MethodHello, hello); err != nil {
				return
			}
		}
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
