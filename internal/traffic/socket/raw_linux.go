package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Raw is a socket of blocking system calls and the ends of its connection.
type Raw struct {
	FD        int
	near, far netip.AddrPort
}

// Named is a socket that is connected, and closed on an error.
func Named(fd int) (Raw, error) {
	near, err := Near(fd)
	if err == nil {
		var far syscall.Sockaddr
		if far, err = syscall.Getpeername(fd); err == nil {
			return Raw{fd, near, sys.AddrPort(far)}, nil
		}
		err = fmt.Errorf("read peer's address: %w", err)
	}
	syscall.Close(fd)
	return Raw{}, err
}

// Local and Remote are the connection's ends, without a zone.
func (s Raw) Local() netip.AddrPort  { return s.near }
func (s Raw) Remote() netip.AddrPort { return s.far }

// Granted is the socket as the kernel made it.
func (s Raw) Granted() record.Socket { return Granted(s.FD, s.near.Addr().Is6()) }

// Near is a bound socket's own address, without a zone.
func Near(fd int) (netip.AddrPort, error) {
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("read own address: %w", err)
	}
	return sys.AddrPort(name), nil
}

// Open makes a socket for an address, of kind SOCK_STREAM or SOCK_DGRAM.
func Open(a netip.Addr, kind int) (int, error) {
	fd, err := syscall.Socket(sys.Family(a), kind|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make socket: %w", err)
	}
	return fd, nil
}

// Configure asks for a socket's options before it is connected or listens: the
// window scale and the segment size are fixed by a connection's first segment. Of
// TCP it also asks for the right to an address in time-wait (SO_REUSEADDR); of UDP
// what TCP alone has is left out. A congestion control that the kernel lacks is
// errors.ErrUnsupported.
func Configure(fd int, a netip.Addr, tcp bool, want record.Socket) error {
	level, class := trafficClass(a.Is6())
	number := map[bool]int{true: 1}
	for _, o := range [...]struct {
		name                 string
		level, option, value int
	}{
		{"SO_REUSEADDR", syscall.SOL_SOCKET, syscall.SO_REUSEADDR, number[tcp]},
		{"receive buffer", syscall.SOL_SOCKET, syscall.SO_RCVBUF, int(want.RcvBuf)},
		{"send buffer", syscall.SOL_SOCKET, syscall.SO_SNDBUF, int(want.SndBuf)},
		{"traffic class", level, class, want.DSCP << 2},
		{"maximum segment size", syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, want.MSS},
		{"TCP_NODELAY", syscall.IPPROTO_TCP, syscall.TCP_NODELAY, number[want.NoDelay]},
	} {
		if o.value <= 0 || o.level == syscall.IPPROTO_TCP && !tcp {
			continue
		}
		if err := syscall.SetsockoptInt(fd, o.level, o.option, o.value); err != nil {
			return fmt.Errorf("set %s to %d: %w", o.name, o.value, err)
		}
	}
	if want.Pacing > 0 {
		if err := sys.SetPacing(fd, uint64(want.Pacing/8)); err != nil {
			return err
		}
	}
	if want.Device != "" {
		if err := sys.SetDevice(fd, want.Device); err != nil {
			return err
		}
	}
	if want.Congestion == "" || !tcp {
		return nil
	}
	err := sys.SetCongestion(fd, want.Congestion)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set congestion control: this kernel has no %s (net.ipv4.tcp_available_congestion_control lists what it has): %w", want.Congestion, errors.ErrUnsupported)
	}
	return err
}

func trafficClass(v6 bool) (level, option int) {
	if v6 {
		return syscall.IPPROTO_IPV6, syscall.IPV6_TCLASS
	}
	return syscall.IPPROTO_IP, syscall.IP_TOS
}

// Granted is a socket as the kernel made it; what it does not say stays zero.
func Granted(fd int, v6 bool) record.Socket {
	number := func(level, option int) int {
		n, err := syscall.GetsockoptInt(fd, level, option)
		if err != nil {
			return 0
		}
		return n
	}
	level, class := trafficClass(v6)
	s := record.Socket{
		SndBuf: unit.Bytes(number(syscall.SOL_SOCKET, syscall.SO_SNDBUF)), RcvBuf: unit.Bytes(number(syscall.SOL_SOCKET, syscall.SO_RCVBUF)),
		MSS: number(syscall.IPPROTO_TCP, syscall.TCP_MAXSEG), NoDelay: number(syscall.IPPROTO_TCP, syscall.TCP_NODELAY) != 0,
		Pacing: unit.BitRate(sys.Pacing(fd)) * 8, DSCP: number(level, class) >> 2, Device: sys.Device(fd),
	}
	s.Congestion, _ = sys.Congestion(fd)
	return s
}

// Bind gives a socket its own address; an invalid one leaves it to the kernel. A
// port in use is agentapi.ErrPortTaken.
func Bind(fd int, at netip.AddrPort) error {
	if !at.Addr().IsValid() {
		return nil
	}
	if err := sys.Bind(fd, at); err != nil {
		return fmt.Errorf("bind %s: %w", at, BindError(err))
	}
	return nil
}

// Listener is a socket on each of several addresses, all on one port. Each is closed
// by the thread that uses it.
type Listener struct {
	FDs    []int
	Port   int
	Closed chan struct{}
	once   *sync.Once
}

// ListenAll opens a socket on each address, all on one port; zero lets the kernel
// choose it. With an error none is left open.
func ListenAll(at []netip.Addr, port int, open func(netip.AddrPort) (int, error)) (Listener, error) {
	if len(at) == 0 {
		return Listener{}, errors.New("listen: no address to bind")
	}
	var fds []int
	for _, a := range at {
		fd, err := open(netip.AddrPortFrom(a, uint16(port)))
		if err == nil {
			var near netip.AddrPort
			fds = append(fds, fd)
			near, err = Near(fd)
			port = int(near.Port())
		}
		if err != nil {
			for _, fd := range fds {
				syscall.Close(fd)
			}
			return Listener{}, err
		}
	}
	return Listener{fds, port, make(chan struct{}), new(sync.Once)}, nil
}

// Shut wakes the threads that use the sockets first and tells them why after: of a
// socket that is closed the number must not be used any more.
func (l Listener) Shut() {
	l.once.Do(func() {
		for _, fd := range l.FDs {
			_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
		}
		close(l.Closed)
	})
}

// DatagramsFrom is a socket of its own for one sender at a port that others
// share: the kernel prefers it for what that sender sends (compute_score,
// net/ipv4/udp.c). Prepare readies it before it is connected.
func DatagramsFrom(near, far netip.AddrPort, prepare func(fd int) error) (int, error) {
	fd, err := Open(near.Addr(), syscall.SOCK_DGRAM)
	if err != nil {
		return -1, err
	}
	if err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err == nil {
		err = Bind(fd, near)
	}
	if err == nil {
		err = prepare(fd)
	}
	if err == nil {
		err = sys.Connect(fd, far)
	}
	if err != nil {
		syscall.Close(fd)
		return -1, fmt.Errorf("make socket of stream from %s: %w", far, err)
	}
	return fd, nil
}

// Strays hands on what reached a new socket before it was connected, at most so
// many datagrams, each cut to a size: others' first ones. The buffer is used again.
func Strays(fd, most, size int, each func(packet []byte, from netip.AddrPort)) {
	buf := make([]byte, size)
	for range most {
		n, from, err := syscall.Recvfrom(fd, buf, syscall.MSG_DONTWAIT)
		if err != nil || from == nil {
			return
		}
		each(buf[:n], sys.AddrPort(from))
	}
}

// Connect waits until the connection stands, Patience at a time (SO_SNDTIMEO,
// which it leaves so): a connect that has ended early, also by a signal to the
// thread, goes on waiting for the same connection when it is asked again
// (__inet_stream_connect, net/ipv4/af_inet.c). Errors: the context's, and those
// of connect(2) as they came.
func Connect(ctx context.Context, fd int, to syscall.Sockaddr, limit time.Duration) error {
	if err := Timeout(fd, syscall.SO_SNDTIMEO, Patience); err != nil {
		return err
	}
	for until := time.Now().Add(limit); ; {
		err := syscall.Connect(fd, to)
		switch {
		case err == nil, errors.Is(err, syscall.EISCONN):
			return nil
		case !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.EINPROGRESS) && !errors.Is(err, syscall.EALREADY):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(until):
			return syscall.ETIMEDOUT
		}
	}
}

// Timeout bounds how long calls block: option is SO_SNDTIMEO or SO_RCVTIMEO, zero
// is no bound.
func Timeout(fd, option int, d time.Duration) error {
	tv := syscall.NsecToTimeval(d.Nanoseconds())
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &tv); err != nil {
		return fmt.Errorf("set timeout: %w", err)
	}
	return nil
}

// Reset closes a socket with a reset instead of TIME_WAIT: the next session may
// want the same ports, and what its buffers hold is of no use any more.
func Reset(fd int) {
	_ = syscall.SetsockoptLinger(fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	_ = syscall.Close(fd)
}

// Info is what the kernel says of a TCP connection.
func Info(fd int) (sockdiag.Info, error) {
	raw, err := sys.TCPInfo(fd, make([]byte, sockdiag.MaxInfo))
	if err != nil {
		return sockdiag.Info{}, err
	}
	return sockdiag.ParseInfo(raw)
}

// Count is Info as a sample carries it, with the socket's memory; zero where the
// kernel does not say.
func Count(fd int) (agentapi.TCPCount, sockdiag.Info) {
	i, err := Info(fd)
	if err != nil {
		return agentapi.TCPCount{}, sockdiag.Info{}
	}
	count := TCPCount(i)
	count.Unread = unit.Bytes(sys.Unread(fd))
	if m, err := sys.Memory(fd); err == nil {
		count.RcvBuf, count.SndBuf = unit.Bytes(m.RcvBuf), unit.Bytes(m.SndBuf)
		count.Below, count.SocketDrops = unit.Bytes(m.Below), uint64(m.Drops)
	} else {
		count.RcvBuf, count.SndBuf = Buffers(fd)
	}
	return count, i
}

// Buffers are a socket's buffers as the kernel counts them.
func Buffers(fd int) (rcv, snd unit.Bytes) {
	r, _ := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	s, _ := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_SNDBUF)
	return unit.Bytes(r), unit.Bytes(s)
}

// LockThread keeps the calling goroutine on its thread and notes which one it is,
// until what it returns is called. The thread ends with the goroutine: it may have
// entered a namespace.
func LockThread(id *atomic.Int64) func() {
	runtime.LockOSThread()
	id.Store(int64(sys.Gettid()))
	return func() { id.Store(0) }
}
