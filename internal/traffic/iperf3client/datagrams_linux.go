package iperf3client

import (
	"errors"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// sendMany sends buffers as a datagram each and returns how many went, and in how
// many calls; fewer than all where patience ran out.
func (s *dataSocket) sendMany(bufs [][]byte) (sent, calls int, err error) {
	if s.out == nil {
		s.out = sys.NewDatagramSender(volleySize)
	}
	n := min(len(bufs), volleySize)
	for i := range n {
		s.out.Set(i, bufs[i])
	}
	sent, err = s.out.Send(s.FD, 0, n)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOBUFS) {
		return sent, 1, nil
	}
	return sent, 1, err
}

// receiveMany waits for datagrams and hands over each; none within patience is no
// error.
func (s *dataSocket) receiveMany(each func([]byte)) (calls int, err error) {
	const largest = 64 << 10
	if s.in == nil {
		s.in = sys.NewDatagramReceiver(volleySize, largest)
	}
	n, err := s.in.Receive(s.FD)
	for i := range n {
		buf, segment := s.in.Message(i)
		for len(buf) > 0 {
			part := buf[:min(max(segment, 1), len(buf))]
			each(part)
			buf = buf[len(part):]
		}
	}
	return 1, err
}
