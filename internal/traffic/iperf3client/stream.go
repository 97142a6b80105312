package iperf3client

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/unit"
)

// transport is what a data socket speaks.
type transport int

const (
	overTCP transport = iota
	overUDP
	overMPTCP
)

func kindOf(r agentapi.IPerf3OpenRequest) transport {
	switch {
	case r.UDP:
		return overUDP
	case r.MPTCP:
		return overMPTCP
	}
	return overTCP
}

// stream is a data socket with its thread. The counters are written by that
// thread alone; the padding keeps the next stream's off their cache line.
type stream struct {
	bytes atomic.Uint64
	_     [56]byte

	conn    *dataSocket
	sending bool
	thread  atomic.Int64
	udp     *datagrams // nil for TCP
	rate    unit.BitRate
	block   uint64 // of TCP: bytes sent at once

	mu    sync.Mutex
	fault error
	last  agentapi.TCPCount
	final uint64 // delivered at the end; the connection is gone
	over  bool
	done  chan struct{}
}

// run moves bytes on a thread of its own until stop closes or the connection
// ends.
func (s *stream) run(from *payload.Source, buffer int, stop <-chan struct{}, ended func() bool) {
	defer close(s.done)
	defer lockThread(&s.thread)()
	var err error
	switch {
	case s.udp != nil && s.sending:
		err = s.udp.sendFull(s, stop)
	case s.udp != nil:
		err = s.udp.take(s, stop)
	case s.sending:
		err = s.sendFull(from, stop)
	default:
		err = s.take(buffer, stop)
	}
	if err != nil && !ended() {
		s.mu.Lock()
		s.fault = err
		s.mu.Unlock()
	}
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// sendFull sends without end, no faster than the rate.
func (s *stream) sendFull(from *payload.Source, stop <-chan struct{}) error {
	out, err := s.conn.writer(from)
	if err != nil {
		return err
	}
	p := newPacer(s.rate)
	total := uint64(0)
	for !stopped(stop) {
		n, err := out.Send(p.part(s.block))
		total += uint64(n)
		s.bytes.Store(total)
		if err != nil {
			return err
		}
		p.wait(total, stop)
	}
	return nil
}

func (s *stream) take(buffer int, stop <-chan struct{}) error {
	in, err := s.conn.reader(buffer)
	if err != nil {
		return err
	}
	total := uint64(0)
	for !stopped(stop) {
		n, err := in.Receive()
		total += uint64(n)
		s.bytes.Store(total)
		if errors.Is(err, io.EOF) {
			return ErrEnded
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// count is the stream's payload so far, as near to the receiver as can be
// told, with the kernel's evidence.
func (s *stream) count() (agentapi.TCPCount, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return s.last, s.final
	}
	tcp, delivered := s.conn.count()
	if delivered == 0 {
		delivered = s.bytes.Load()
	}
	return tcp, delivered
}

// end keeps the last count and closes the socket, once its thread is done.
func (s *stream) end() {
	tcp, delivered := s.count()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.last, s.final, s.over = tcp, delivered, true
		s.conn.close()
	}
}

func (s *stream) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// pacer keeps a stream at a rate; the zero rate is no limit.
type pacer struct {
	rate  unit.BitRate
	begun time.Time
}

// grain is how long a rate may be exceeded for: what is sent at once.
const grain = 5 * time.Millisecond

func newPacer(rate unit.BitRate) pacer { return pacer{rate, time.Now()} }

// part is as much of a block as the rate allows in one grain, at least 1 KiB.
func (p pacer) part(block uint64) uint64 {
	if p.rate <= 0 {
		return block
	}
	return min(max(uint64(float64(p.rate)/8*grain.Seconds()), 1<<10), block)
}

// wait sleeps until total bytes are due, or stop closes. What was missed for
// longer than a few grains is not made up for.
func (p *pacer) wait(total uint64, stop <-chan struct{}) {
	if p.rate <= 0 {
		return
	}
	due := time.Duration(float64(total) * 8 / float64(p.rate) * float64(time.Second))
	early := due - time.Since(p.begun)
	if early < -20*grain {
		p.begun = p.begun.Add(-early - 20*grain)
	}
	if early <= 0 {
		return
	}
	timer := time.NewTimer(early)
	defer timer.Stop()
	select {
	case <-stop:
	case <-timer.C:
	}
}
