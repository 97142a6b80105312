package iperf3server

import (
	"errors"
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/unit"
)

// reportEvery is iperf3's interval.
const reportEvery = time.Second

// newOutput is the text that a client asked for, or nil.
func newOutput(s *session) *output {
	if !s.params.GetServerOutput {
		return nil
	}
	streams := make([]outputStream, len(s.streams))
	for i, st := range s.streams {
		streams[i] = outputStream{id: st.fd, sends: st.sends, here: st.here, far: st.far}
	}
	return startOutput(s.from, s.params, streams)
}

// test runs the streams until the client ends it, then exchanges results.
func (s *session) test() error {
	if err := s.say(iperf3.TestStart); err != nil {
		return err
	}
	job := newJob(s.params, s.listener.source)
	s.meter = newMeter(s)
	if !s.params.UDP {
		s.meter.congestion, _ = sys.Congestion(s.streams[0].fd)
	}
	// Streams first: a client may send as soon as it hears that it may.
	for _, st := range s.streams {
		st.start(job)
	}
	err := s.say(iperf3.TestRunning)
	if err == nil {
		err = s.watch()
	}
	s.meter.finish()
	if err != nil {
		return err
	}
	return s.exchange()
}

// watch looks after a running test until its client ends it.
func (s *session) watch() error {
	omitting := s.params.Omit > 0
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	omit := time.NewTimer(time.Duration(s.params.Omit) * time.Second)
	defer omit.Stop()
	overdue := time.NewTimer(s.longest())
	defer overdue.Stop()
	still, moved := time.Duration(0), uint64(0)
	for {
		select {
		case got := <-s.states:
			if got.err == nil && got.state == iperf3.TestEnd {
				s.meter.tick(omitting)
				return nil
			}
			return unexpected(got)
		case reason := <-s.asked:
			return reason
		case <-omit.C:
			if omitting {
				omitting = false
				s.meter.omitted()
				ticker.Reset(reportEvery)
			}
		case <-overdue.C:
			return faulty(iperf3.ReasonIdle, errOverdue)
		case <-ticker.C:
			still += reportEvery
			if moved += s.meter.tick(omitting); moved >= s.leastMoved() {
				still, moved = 0, 0
			}
			// Whatever rate its client asks for: a place is for what moves.
			if still >= s.listener.cfg.Idle {
				return faulty(iperf3.ReasonIdle, errStood)
			}
		}
	}
}

// leastRate is what a test has to move, in bytes a second: half of --bandwidth 1K.
const leastRate = 62

// leastMoved is how many bytes a test has to move in the idle time: one now and then
// would keep a slot.
func (s *session) leastMoved() uint64 {
	return uint64(s.listener.cfg.Idle.Seconds() * leastRate)
}

// longest is when a test is over whether its client says so or not.
func (s *session) longest() time.Duration {
	if s.params.Time == 0 {
		return iperf3.MaxSeconds * time.Second
	}
	return time.Duration(s.params.Omit+s.params.Time)*time.Second + s.listener.cfg.Idle
}

// exchange tells the client what was counted, and hears what it counted.
func (s *session) exchange() error {
	if err := s.say(iperf3.ExchangeResults); err != nil {
		return err
	}
	// A client of one thread reads on until it hears that, and whole blocks:
	// its streams may not dry up before it answers.
	_ = s.conn.SetDeadline(time.Now().Add(s.listener.cfg.answer))
	text, err := iperf3.ReadFrame(s.conn, iperf3.MaxResults)
	if err != nil {
		return faulty(iperf3.ReasonResults, err)
	}
	theirs, err := iperf3.ParseResults(text)
	if err != nil {
		return faulty(iperf3.ReasonResults, err)
	}
	s.pause()
	s.drain(theirs)
	s.meter.out.summary(s.meter.base, s.meter.final)
	frame, err := iperf3.AppendFrame(nil, s.meter.results(s.params, s.meter.out.String()))
	if err != nil {
		return err
	}
	_ = s.conn.SetDeadline(time.Now().Add(s.listener.cfg.answer))
	if _, err := s.conn.Write(frame); err != nil {
		return fmt.Errorf("%w: %w", errVanished, err)
	}
	if err := s.say(iperf3.DisplayResults); err != nil {
		return err
	}
	// The client closes its streams and says that it is done, or just goes.
	var b [1]byte
	_, _ = s.conn.Read(b[:])
	return nil
}

// pause has no stream send any more.
func (s *session) pause() {
	for _, st := range s.streams {
		if st.sends {
			st.pause()
		}
	}
}

// A test of so many bytes is over when they are here: the client's end runs
// ahead of them. They are waited for while they come.
const (
	drainMost  = 5 * time.Second
	drainStill = 200 * time.Millisecond
	drainCheck = 2 * time.Millisecond
)

func (s *session) drain(theirs iperf3.Results) {
	if s.params.Bytes == 0 && s.params.Blocks == 0 || s.params.Omit > 0 || bool(s.params.Reverse) || bool(s.params.Both) {
		return
	}
	said := make(map[int]iperf3.StreamResult, len(theirs.Streams))
	for _, r := range theirs.Streams {
		said[r.ID] = r
	}
	began, moved, changed := time.Now(), uint64(0), time.Now()
	for now := began; now.Sub(began) < drainMost && now.Sub(changed) < drainStill; now = time.Now() {
		all := s.meter.take()
		if s.complete(all, said) {
			break
		}
		if m := all.moved(); m != moved {
			moved, changed = m, now
		}
		time.Sleep(drainCheck)
	}
	s.meter.finish()
	s.meter.arrived()
}

// complete says whether all that the client says it sent, by stream, is here.
func (s *session) complete(now mark, said map[int]iperf3.StreamResult) bool {
	for i, st := range s.streams {
		r, known := said[iperf3.StreamID(i)]
		if st.sends || !known {
			continue
		}
		if c := now.counts[i]; st.udp && c.arrived.Highest < uint64(max(r.Packets, 0)) || !st.udp && c.bytes < uint64(max(r.Bytes, 0)) {
			return false
		}
	}
	return true
}

// report is the test as the listener's owner hears of it.
func (s *session) report() Test {
	t := Test{Client: s.from, Program: clipped(s.params.Version), Title: clipped(s.params.Title), UDP: bool(s.params.UDP), Direction: Forward,
		Streams: int(s.params.Parallel), Err: s.failed}
	switch {
	case bool(s.params.Both):
		t.Direction = Both
	case bool(s.params.Reverse):
		t.Direction = Reverse
	}
	if errors.Is(t.Err, errServerEnds) {
		t.Err = errServerEnds
	}
	m := s.meter
	if m == nil {
		t.Started = time.Now()
		return t
	}
	t.Started, t.Window, t.Congestion, t.CPU = m.began, m.window(), m.congestion, m.cpu/100
	var jitter time.Duration
	receivers := 0
	for i, st := range s.streams {
		c := m.stream(i)
		if st.sends {
			t.Sent += unit.Bytes(c.moved)
			t.Retransmits += c.retransmits
			continue
		}
		t.Received += unit.Bytes(c.bytes)
		t.Datagrams += c.arrived.Highest
		t.Lost += c.arrived.Lost
		jitter += c.arrived.Jitter
		receivers++
	}
	if receivers > 0 {
		t.Jitter = jitter / time.Duration(receivers)
	}
	return t
}
