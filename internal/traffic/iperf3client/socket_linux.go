package iperf3client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/mptcp"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/internal/traffic/socket"
	"github.com/linerate/linerate/record"
)

func lockThread(id *atomic.Int64) func() { return socket.LockThread(id) }

// dataSocket is a stream's socket, used by system calls directly.
type dataSocket struct {
	FD        int
	near, far netip.AddrPort
	to        syscall.Sockaddr                         // far, its zone being one of the namespace's links
	hello     func(context.Context, *dataSocket) error // said once connected
	kind      transport
	base      mptcp.Info // of MPTCP: its numbers before the first byte
	out       *sys.DatagramSender
	in        *sys.DatagramReceiver
}

// openSocket makes a socket in the namespace and binds it, so that its port is
// known before it connects.
func openSocket(ns netns.Namespace, near, far netip.AddrPort, kind transport, want record.Socket) (*dataSocket, error) {
	s := &dataSocket{far: far, kind: kind}
	open := func(a netip.Addr) (int, error) { return socket.Open(a, syscall.SOCK_STREAM) }
	switch kind {
	case overUDP:
		open = func(a netip.Addr) (int, error) { return socket.Open(a, syscall.SOCK_DGRAM) }
	case overMPTCP:
		open = socket.OpenMultipath
	}
	err := ns.Do(func() (err error) {
		if s.to, err = sys.Sockaddr(far); err != nil {
			return err
		}
		if s.FD, err = open(far.Addr()); err != nil {
			return err
		}
		// What the server sends, it paces itself.
		if err = socket.Configure(s.FD, far.Addr(), kind != overUDP, want); err == nil {
			err = socket.Bind(s.FD, near)
		}
		if err == nil {
			s.near, err = socket.Near(s.FD)
		}
		if err != nil {
			syscall.Close(s.FD)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// connect reaches the server and says the test's cookie, or UDP's hello; it ends
// soon after ctx does.
func (s *dataSocket) connect(ctx context.Context, timeout time.Duration) error {
	if err := socket.Timeout(s.FD, syscall.SO_RCVTIMEO, socket.Patience); err != nil {
		return err
	}
	err := socket.Connect(ctx, s.FD, s.to, timeout)
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EADDRINUSE):
		err = socket.ConnectError(err)
	case err != nil:
		err = dialError(err)
	}
	if err != nil {
		return fmt.Errorf("connect to %s: %w", s.far, err)
	}
	if s.near, err = socket.Near(s.FD); err != nil {
		return err
	}
	if s.kind == overMPTCP {
		multipath := false
		if s.base, multipath = socket.Multipath(s.FD); !multipath {
			return fmt.Errorf("open stream to %s: %w", s.far, ErrFellBack)
		}
	}
	if err := s.hello(ctx, s); err != nil {
		return fmt.Errorf("open stream to %s: %w", s.far, err)
	}
	if s.kind == overUDP {
		return nil
	}
	return socket.Timeout(s.FD, syscall.SO_RCVTIMEO, 0) // shut wakes who takes in
}

func (s *dataSocket) writer(from *payload.Source) (payload.Writer, error) {
	return payload.NewWriter(s.FD, agentapi.ModeCopy, from, 0)
}

func (s *dataSocket) reader(buffer int) (payload.Reader, error) {
	return payload.NewReader(s.FD, agentapi.ModeCopy, buffer, 0), nil // a server says no cookie
}

// shut ends the calls that wait for what is to come. It says nothing to the server: a
// connection that both ends have closed would keep its ports for a minute.
func (s *dataSocket) shut() {
	if s.kind != overUDP {
		_ = syscall.Shutdown(s.FD, syscall.SHUT_RD)
	}
}

// send and receive are for what opens a stream; they return after patience at the
// latest, then with zero and no error for nothing. The end of the stream is io.EOF.
func (s *dataSocket) send(buf []byte) (int, error) {
	for {
		n, err := syscall.Write(s.FD, buf)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			return max(n, 0), nil
		}
		return max(n, 0), err
	}
}

func (s *dataSocket) receive(buf []byte) (int, error) {
	for {
		n, _, err := syscall.Recvfrom(s.FD, buf, 0)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			return max(n, 0), nil
		case err == nil && n == 0:
			return 0, io.EOF
		}
		return max(n, 0), err
	}
}

func (s *dataSocket) close() { socket.Reset(s.FD) }

// count reads TCP_INFO, and what the receiver's kernel has; zero where nobody says. What a sender's receiver has is what it acknowledged;
// a receiver has what came in order less what still waits to be read.
func (s *dataSocket) count() (agentapi.TCPCount, uint64) {
	switch s.kind {
	case overUDP:
		return agentapi.TCPCount{}, 0
	case overMPTCP:
		i, ok := socket.Multipath(s.FD)
		if !ok {
			return agentapi.TCPCount{}, 0
		}
		count := socket.CountMultipath(s.FD)
		count.Received = i.RcvNxt - s.base.RcvNxt
		if sent := i.SndUna - s.base.SndUna; sent > count.Received {
			return count, sent
		}
		return count, count.Received - min(uint64(count.Unread), count.Received)
	}
	count, i := socket.Count(s.FD)
	if i.BytesAcked > i.BytesReceived { // it sends
		return count, i.BytesAcked
	}
	return count, count.Received - min(uint64(count.Unread), count.Received)
}

func (s *dataSocket) granted() agentapi.Stream {
	return agentapi.Stream{
		Lane: flow.Lane{Src: s.near.Addr(), Dst: s.far.Addr()}, Sport: s.near.Port(), Dport: s.far.Port(), Socket: socket.Granted(s.FD, s.near.Addr().Is6()),
	}
}
