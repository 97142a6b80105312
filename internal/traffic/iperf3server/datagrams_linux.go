package iperf3server

import (
	"errors"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/iperf3"
)

// datagramBuffer is the receive buffer of a UDP stream whose client asks for
// none: a receiver must not lose what the path delivered.
const datagramBuffer = 4 << 20

func (st *stream) prepareUDP(p iperf3.Parameters) error {
	if p.DontFragment {
		return sys.SetDontFragment(st.fd, st.far.Addr().Is6(), true)
	}
	return nil
}

// receiveDatagrams counts datagrams until the test is over. Time is read once
// a call: what came together is taken to have come together.
func (st *stream) receiveDatagrams(j *job) {
	const joined = 64 << 10
	wide := bool(j.params.Counters64)
	size := min(int(j.params.Block), joined)
	slots := min(max(st.buffer/size, 1), 64)
	if st.buffer > joined && sys.SetGRO(st.fd, true) == nil {
		size, slots = joined, st.buffer/joined
	}
	in := sys.NewDatagramReceiver(slots, size)
	var total uint64
	for !st.paused() {
		n, err := in.Receive(st.fd)
		now := time.Since(j.began)
		if err != nil {
			if errors.Is(err, syscall.ECONNREFUSED) {
				continue // the client is gone; its control connection will say so
			}
			return
		}
		st.mu.Lock()
		for i := range n {
			buf, segment := in.Message(i)
			for len(buf) > 0 {
				part := buf[:min(max(segment, 1), len(buf))]
				buf = buf[len(part):]
				if d, err := iperf3.ParseDatagram(part, wide); err == nil {
					total += uint64(len(part))
					st.arrived.Add(d, now)
				}
			}
		}
		st.mu.Unlock()
		st.bytes.Store(total)
	}
}

// sendDatagrams sends at the client's rate until the test is over. Without a
// rate several go in one call.
func (st *stream) sendDatagrams(j *job) {
	const together = 64 << 10
	size, wide := int(j.params.Block), bool(j.params.Counters64)
	slots := j.burst
	if j.pace.rate == 0 {
		slots = together / size
	}
	slots = min(max(slots, 1), max(together/size, 1))
	out := sys.NewDatagramSender(slots)
	room := make([]byte, slots*size)
	for i := range slots {
		part := room[i*size : (i+1)*size]
		copy(part, j.source.Bytes)
		out.Set(i, part)
	}
	began := time.Now()
	var packets, total uint64
	for !st.paused() {
		sent := time.Since(j.began)
		for i := range slots {
			iperf3.Datagram{Sent: sent, Counter: packets + uint64(i) + 1}.Put(room[i*size:], wide)
		}
		n, err := out.Send(st.fd, 0, slots)
		packets += uint64(n)
		total += uint64(n * size)
		st.mu.Lock()
		st.arrived.Highest = packets
		st.mu.Unlock()
		st.bytes.Store(total)
		switch {
		case err == nil:
		case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOBUFS):
			if !st.rest(time.Millisecond) {
				return
			}
		default:
			return
		}
		if !st.rest(j.pace.wait(total, time.Since(began))) {
			return
		}
	}
}
