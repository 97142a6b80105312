package iperf3client

import (
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// volleySize is how many datagrams one call sends.
const volleySize = 32

// datagrams is a UDP stream's side of the protocol.
type datagrams struct {
	length int

	mu    sync.Mutex
	sent  uint64
	calls uint64
	heard uint64
	got   iperf3.Reception
}

// counters64 is said in the parameters: no version asked for is without it.
const counters64 = true

// pour sends datagrams in volleys, no faster than the stream's rate.
func (d *datagrams) sendFull(s *stream, stop <-chan struct{}) error {
	p := newPacer(s.rate)
	volley := volleySize
	if s.rate > 0 {
		volley = min(max(int(float64(s.rate)/8*grain.Seconds())/d.length, 1), volleySize)
	}
	bufs := make([][]byte, volley)
	for i := range bufs {
		bufs[i] = make([]byte, d.length)
		socket.Pattern(bufs[i])
	}
	next, total := uint64(1), uint64(0)
	for !stopped(stop) {
		now := time.Duration(time.Now().UnixNano())
		for i := range bufs {
			iperf3.Datagram{Sent: now, Counter: next + uint64(i)}.Put(bufs[i], counters64)
		}
		n, calls, err := s.conn.sendMany(bufs)
		next += uint64(n)
		total += uint64(n) * uint64(d.length)
		s.bytes.Store(total)
		d.went(n, calls)
		if err != nil {
			return err
		}
		p.wait(total, stop)
	}
	return nil
}

func (d *datagrams) went(n, calls int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent += uint64(n)
	d.calls += uint64(calls)
}

// take receives datagrams and keeps account of them.
func (d *datagrams) take(s *stream, stop <-chan struct{}) error {
	begun := time.Now()
	for !stopped(stop) {
		arrived := time.Duration(0)
		calls, err := s.conn.receiveMany(func(buf []byte) {
			if arrived == 0 {
				arrived = time.Since(begun)
			}
			d.came(buf, arrived)
			s.bytes.Store(s.bytes.Load() + uint64(len(buf)))
		})
		d.went(0, calls)
		if err != nil {
			return err
		}
	}
	return nil
}

// came counts a datagram; one too short to be of the test is none.
func (d *datagrams) came(buf []byte, arrived time.Duration) {
	head, err := iperf3.ParseDatagram(buf, counters64)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.heard++
	d.got.Add(head, arrived)
}

func (d *datagrams) counted() agentapi.UDPCount {
	d.mu.Lock()
	defer d.mu.Unlock()
	return agentapi.UDPCount{
		Datagrams: d.sent + d.heard, Highest: d.got.Highest, Reordered: d.got.OutOfLine, Jitter: d.got.Jitter, Calls: d.calls,
	}
}
