//go:build linux && !portable

package engine

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/unit"
)

// Kind names this build's way of moving bytes.
const Kind = "raw"

// lockThread keeps the calling goroutine on its thread and notes which one it
// is. The thread ends with the goroutine: it may have entered a namespace.
func lockThread(id *atomic.Int64) func() {
	runtime.LockOSThread()
	id.Store(int64(sys.Gettid()))
	return func() { id.Store(0) }
}

func pin(core int) error { return sys.Pin(core) }

// affinity and setAffinity are a thread's cores.
func affinity(thread int) ([]int, error)         { return sys.ThreadAffinity(thread) }
func setAffinity(thread int, cores ...int) error { return sys.SetThreadAffinity(thread, cores) }
func (c *rawConn) incoming() (core int, beside bool) {
	core, card, ok := sys.Incoming(c.fd)
	return core, ok && !card
}

// rawConn is a blocking socket used by system calls directly.
type rawConn struct {
	fd   int
	here netip.AddrPort
	far  netip.AddrPort
	// copies is set where the kernel copies whatever it is given to send.
	copies bool
}

func newSocket(a netip.Addr, opts socketOptions) (int, error) {
	fd, err := openSocket(sys.Family(a), opts.MPTCP)
	if err != nil {
		return -1, err
	}
	if err := configure(fd, a, opts); err != nil {
		syscall.Close(fd)
		return -1, err
	}
	return fd, nil
}

func openSocket(domain int, multipath bool) (int, error) {
	if multipath {
		return mptcpSocket(domain)
	}
	fd, err := syscall.Socket(domain, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make socket: %w", err)
	}
	return fd, nil
}

// dial connects in the network namespace of the calling thread.
func dial(want agentapi.Stream, opts socketOptions) (conn, error) {
	far := netip.AddrPortFrom(want.Dst, want.Dport)
	fd, err := newSocket(want.Dst, opts)
	if err != nil {
		return nil, err
	}
	fail := func(verb string, err error) (conn, error) {
		syscall.Close(fd)
		return nil, fmt.Errorf("%s %s: %w", verb, far, err)
	}
	if want.Src.IsValid() {
		if err := sys.Bind(fd, netip.AddrPortFrom(want.Src, want.Sport)); err != nil {
			return fail(fmt.Sprintf("bind %s for", netip.AddrPortFrom(want.Src, want.Sport)), bindTaken(err))
		}
	}
	if err := timeout(fd, syscall.SO_SNDTIMEO, connectTime); err != nil {
		return fail("prepare", err)
	}
	if err := connect(fd, far); err != nil {
		return fail("connect to", connectTaken(err))
	}
	if err := timeout(fd, syscall.SO_SNDTIMEO, 0); err != nil {
		return fail("prepare", err)
	}
	return wrapSocket(fd, opts)
}

// connect waits until the connection stands. A signal to the thread (the
// runtime sends them) ends a timed connect early; asking again goes on
// waiting for the same connection.
func connect(fd int, far netip.AddrPort) error {
	for {
		switch err := sys.Connect(fd, far); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EISCONN):
			return nil
		case errors.Is(err, syscall.EINPROGRESS), errors.Is(err, syscall.EALREADY):
			return syscall.ETIMEDOUT // SO_SNDTIMEO ran out
		default:
			return err
		}
	}
}

func wrapSocket(fd int, opts socketOptions) (conn, error) {
	here, err := syscall.Getsockname(fd)
	if err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("read own address: %w", err)
	}
	far, err := syscall.Getpeername(fd)
	if err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("read peer's address: %w", err)
	}
	c := &rawConn{fd: fd, here: sys.AddrPort(here), far: sys.AddrPort(far)}
	if opts.MPTCP {
		return asMultipath(c), nil
	}
	return c, nil
}

func timeout(fd, option int, d time.Duration) error {
	tv := syscall.NsecToTimeval(d.Nanoseconds())
	return syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &tv)
}

func (c *rawConn) local() netip.AddrPort  { return c.here }
func (c *rawConn) remote() netip.AddrPort { return c.far }
func (c *rawConn) multipath() bool        { return false }
func (c *rawConn) opened()                {}

func (c *rawConn) send(buf []byte) (int, error) {
	for {
		n, err := syscall.Write(c.fd, buf)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

// receive waits for a full buffer: fewer, larger calls cost the processor
// less, in the kernel and in the runtime, which looks after every blocked
// call.
func (c *rawConn) receive(buf []byte) (int, error) {
	for {
		n, _, err := syscall.Recvfrom(c.fd, buf, syscall.MSG_WAITALL)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

func (c *rawConn) writeFull(buf []byte) error {
	for len(buf) > 0 {
		n, err := c.send(buf)
		if err != nil {
			return err
		}
		buf = buf[n:]
	}
	return nil
}

func (c *rawConn) readFull(buf []byte, limit time.Duration) error {
	if err := timeout(c.fd, syscall.SO_RCVTIMEO, limit); err != nil {
		return err
	}
	for len(buf) > 0 {
		n, err := c.receive(buf)
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		buf = buf[n:]
	}
	return timeout(c.fd, syscall.SO_RCVTIMEO, 0)
}

func (c *rawConn) shut() { _ = syscall.Shutdown(c.fd, syscall.SHUT_RDWR) }

func (c *rawConn) close() {
	// A reset instead of TIME_WAIT: the next trial may want the same ports.
	_ = syscall.SetsockoptLinger(c.fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	_ = syscall.Close(c.fd)
}

func (c *rawConn) info() agentapi.TCPCount {
	raw, err := sys.TCPInfo(c.fd, make([]byte, sockdiag.MaxInfo))
	if err != nil {
		return agentapi.TCPCount{}
	}
	i, err := sockdiag.ParseInfo(raw)
	if err != nil {
		return agentapi.TCPCount{}
	}
	count := TCPCount(i)
	count.Unread = unit.Bytes(sys.Unread(c.fd))
	if m, err := sys.Memory(c.fd); err == nil {
		count.RcvBuf, count.SndBuf = unit.Bytes(m.RcvBuf), unit.Bytes(m.SndBuf)
		count.Below, count.SocketDrops = unit.Bytes(m.Below), uint64(m.Drops)
	} else {
		count.RcvBuf, count.SndBuf = c.buffers()
	}
	return count
}

func (c *rawConn) buffers() (rcv, snd unit.Bytes) {
	r, _ := syscall.GetsockoptInt(c.fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	s, _ := syscall.GetsockoptInt(c.fd, syscall.SOL_SOCKET, syscall.SO_SNDBUF)
	return unit.Bytes(r), unit.Bytes(s)
}
