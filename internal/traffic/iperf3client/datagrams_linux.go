package iperf3client

import (
	"errors"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// udpSocket is a UDP stream's socket with room for the messages of one call.
type udpSocket struct {
	*socket
	out *sys.DatagramSender
	in  *sys.DatagramReceiver
}

func (s *udpSocket) sendMany(bufs [][]byte) (sent, calls int, err error) {
	if s.out == nil {
		s.out = sys.NewDatagramSender(volleySize)
	}
	n := min(len(bufs), volleySize)
	for i := range n {
		s.out.Set(i, bufs[i])
	}
	sent, err = s.out.Send(s.fd, 0, n)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOBUFS) {
		return sent, 1, nil
	}
	return sent, 1, err
}

func (s *udpSocket) receiveMany(each func([]byte)) (calls int, err error) {
	const largest = 64 << 10
	if s.in == nil {
		s.in = sys.NewDatagramReceiver(volleySize, largest)
	}
	n, err := s.in.Receive(s.fd)
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
