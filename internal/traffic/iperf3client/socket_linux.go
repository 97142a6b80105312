package iperf3client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// hostPort is an end of a connection.
type hostPort = netip.AddrPort

// lockThread keeps the calling goroutine on its thread and notes which one.
func lockThread(id *atomic.Int64) func() {
	runtime.LockOSThread()
	id.Store(int64(sys.Gettid()))
	return func() {
		id.Store(0)
		runtime.UnlockOSThread()
	}
}

// socket is a blocking socket used by system calls directly.
type socket struct {
	fd        int
	near, far netip.AddrPort
	to        syscall.Sockaddr                     // far, its zone being one of the namespace's links
	hello     func(context.Context, *socket) error // said once connected
	udp       bool
	asked     record.Socket
}

// openSocket makes a socket in the namespace and binds it, so that its port is
// known before it connects.
func openSocket(ns netns.Namespace, near, far netip.AddrPort, udp bool, want record.Socket) (*socket, error) {
	s := &socket{far: far, udp: udp, asked: want}
	err := ns.Do(func() (err error) {
		kind := syscall.SOCK_STREAM
		if udp {
			kind = syscall.SOCK_DGRAM
		}
		if s.to, err = sys.Sockaddr(far); err != nil {
			return err
		}
		if s.fd, err = syscall.Socket(sys.Family(far.Addr()), kind|syscall.SOCK_CLOEXEC, 0); err != nil {
			return fmt.Errorf("make socket: %w", err)
		}
		if err = s.configure(want); err == nil {
			err = s.bind(near)
		}
		if err != nil {
			syscall.Close(s.fd)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// configure asks for the options before the connection is made: the window
// scale and the MSS are fixed by its first segment.
func (s *socket) configure(want record.Socket) error {
	ints := []struct {
		level, option, value int
		name                 string
		wanted               bool
	}{
		{syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1, "SO_REUSEADDR", !s.udp},
		{syscall.SOL_SOCKET, syscall.SO_SNDBUF, int(want.SndBuf), "SO_SNDBUF", want.SndBuf > 0},
		{syscall.SOL_SOCKET, syscall.SO_RCVBUF, int(want.RcvBuf), "SO_RCVBUF", want.RcvBuf > 0},
		{syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, want.MSS, "TCP_MAXSEG", !s.udp && want.MSS > 0},
		{syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1, "TCP_NODELAY", !s.udp && want.NoDelay},
		{syscall.IPPROTO_IP, syscall.IP_TOS, want.DSCP << 2, "IP_TOS", want.DSCP > 0 && s.far.Addr().Is4()},
		{syscall.IPPROTO_IPV6, syscall.IPV6_TCLASS, want.DSCP << 2, "IPV6_TCLASS", want.DSCP > 0 && !s.far.Addr().Is4()},
	}
	for _, o := range ints {
		if !o.wanted {
			continue
		}
		if err := syscall.SetsockoptInt(s.fd, o.level, o.option, o.value); err != nil {
			return fmt.Errorf("set %s: %w", o.name, err)
		}
	}
	if want.Pacing > 0 { // what the server sends, it paces itself
		if err := sys.SetPacing(s.fd, uint64(want.Pacing/8)); err != nil {
			return err
		}
	}
	if want.Device != "" {
		if err := syscall.BindToDevice(s.fd, want.Device); err != nil {
			return fmt.Errorf("bind to %s: %w", want.Device, err)
		}
	}
	if want.Congestion != "" && !s.udp {
		return sys.SetCongestion(s.fd, want.Congestion)
	}
	return nil
}

func (s *socket) bind(near netip.AddrPort) error {
	if near.Addr().IsValid() {
		err := sys.Bind(s.fd, near)
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("bind %s: %w (%w)", near, agentapi.ErrPortTaken, err)
		}
		if err != nil {
			return fmt.Errorf("bind %s: %w", near, err)
		}
	}
	return s.readName()
}

func (s *socket) readName() error {
	name, err := syscall.Getsockname(s.fd)
	if err != nil {
		return fmt.Errorf("read own address: %w", err)
	}
	s.near = sys.AddrPort(name)
	return nil
}

func (s *socket) connect(ctx context.Context, timeout time.Duration) error {
	if err := s.timeouts(patience); err != nil {
		return err
	}
	if err := s.join(ctx, time.Now().Add(timeout)); err != nil {
		return fmt.Errorf("connect to %s: %w", s.far, dialError(err))
	}
	if err := s.readName(); err != nil {
		return err
	}
	if err := s.hello(ctx, s); err != nil {
		return fmt.Errorf("open stream to %s: %w", s.far, err)
	}
	return nil
}

// join waits until the connection stands, patience at a time (SO_SNDTIMEO): a
// connect that has ended early, also by a signal to the thread, goes on waiting
// for the same connection when it is asked again (__inet_stream_connect,
// net/ipv4/af_inet.c).
func (s *socket) join(ctx context.Context, until time.Time) error {
	for {
		err := syscall.Connect(s.fd, s.to)
		switch {
		case err == nil, errors.Is(err, syscall.EISCONN):
			return nil
		case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EADDRINUSE):
			return fmt.Errorf("%w (%w)", agentapi.ErrPortTaken, err)
		case !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.EINPROGRESS) && !errors.Is(err, syscall.EALREADY):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(until):
			return syscall.ETIMEDOUT
		}
	}
}

func (s *socket) timeouts(d time.Duration) error {
	tv := syscall.NsecToTimeval(d.Nanoseconds())
	for _, option := range [...]int{syscall.SO_SNDTIMEO, syscall.SO_RCVTIMEO} {
		if err := syscall.SetsockoptTimeval(s.fd, syscall.SOL_SOCKET, option, &tv); err != nil {
			return fmt.Errorf("set timeout: %w", err)
		}
	}
	return nil
}

func (s *socket) send(buf []byte) (int, error) {
	for {
		n, err := syscall.Write(s.fd, buf)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			return max(n, 0), nil
		}
		return max(n, 0), err
	}
}

// receive waits for a full buffer: fewer, larger calls cost less.
func (s *socket) receive(buf []byte) (int, error) {
	for {
		n, _, err := syscall.Recvfrom(s.fd, buf, syscall.MSG_WAITALL)
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

func (s *socket) close() {
	// A reset instead of TIME_WAIT: the next test may want the same ports.
	if !s.udp {
		_ = syscall.SetsockoptLinger(s.fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	}
	_ = syscall.Close(s.fd)
}

// count reads TCP_INFO. What a sender's receiver has is what it acknowledged;
// a receiver has what came in order less what still waits to be read.
func (s *socket) count() (agentapi.TCPCount, uint64) {
	if s.udp {
		return agentapi.TCPCount{}, 0
	}
	raw, err := sys.TCPInfo(s.fd, make([]byte, sockdiag.MaxInfo))
	if err != nil {
		return agentapi.TCPCount{}, 0
	}
	i, err := sockdiag.ParseInfo(raw)
	if err != nil {
		return agentapi.TCPCount{}, 0
	}
	unread := uint64(max(sys.Unread(s.fd), 0))
	out := agentapi.TCPCount{
		Present: true, Received: i.BytesReceived, Unread: unit.Bytes(unread),
		Busy: i.Busy, RwndLimited: i.RwndLimited, SndbufLimited: i.SndbufLimited,
		Retransmits: uint64(i.TotalRetrans), BytesRetrans: i.BytesRetrans, BytesSent: i.BytesSent,
		SegmentsOut: uint64(i.DataSegsOut), SegmentsIn: uint64(i.DataSegsIn), AllSegmentsOut: uint64(i.SegsOut),
		InFlight: i.InFlight(), Last: i.Values(),
	}
	if m, err := sys.Memory(s.fd); err == nil {
		out.RcvBuf, out.SndBuf = unit.Bytes(m.RcvBuf), unit.Bytes(m.SndBuf)
		out.Below, out.SocketDrops = unit.Bytes(m.Below), uint64(m.Drops)
	} else {
		got := s.granted().Socket
		out.RcvBuf, out.SndBuf = got.RcvBuf, got.SndBuf
	}
	if i.BytesAcked > i.BytesReceived { // it sends
		return out, i.BytesAcked
	}
	return out, i.BytesReceived - min(unread, i.BytesReceived)
}

func (s *socket) granted() agentapi.Stream {
	out := agentapi.Stream{Sport: s.near.Port(), Dport: s.far.Port()}
	out.Src, out.Dst = s.near.Addr(), s.far.Addr()
	get := func(level, option int) int {
		v, err := syscall.GetsockoptInt(s.fd, level, option)
		if err != nil {
			return 0
		}
		return v
	}
	out.Socket = record.Socket{
		SndBuf: unit.Bytes(get(syscall.SOL_SOCKET, syscall.SO_SNDBUF)), RcvBuf: unit.Bytes(get(syscall.SOL_SOCKET, syscall.SO_RCVBUF)),
		Device: s.asked.Device, DSCP: s.asked.DSCP,
	}
	if !s.udp {
		out.Socket.MSS = get(syscall.IPPROTO_TCP, syscall.TCP_MAXSEG)
		out.Socket.NoDelay = get(syscall.IPPROTO_TCP, syscall.TCP_NODELAY) != 0
		out.Socket.Congestion, _ = sys.Congestion(s.fd)
	}
	return out
}
