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

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/record"
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

func threadSeconds(id int) float64 {
	if id == 0 {
		return 0
	}
	used, err := sys.ThreadCPU(id)
	if err != nil {
		return 0
	}
	return used.Seconds()
}

// rawConn is a blocking socket used by system calls directly.
type rawConn struct {
	fd   int
	here netip.AddrPort
	far  netip.AddrPort
}

func family(a netip.Addr) int {
	if a.Is4() {
		return syscall.AF_INET
	}
	return syscall.AF_INET6
}

func sockaddr(a netip.AddrPort) syscall.Sockaddr {
	if a.Addr().Is4() {
		return &syscall.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &syscall.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

func addrPort(sa syscall.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *syscall.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *syscall.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}

func newSocket(a netip.Addr, opts socketOptions) (int, error) {
	fd, err := syscall.Socket(family(a), syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make socket: %w", err)
	}
	if err := configure(fd, opts); err != nil {
		syscall.Close(fd)
		return -1, err
	}
	return fd, nil
}

func configure(fd int, opts socketOptions) error {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return fmt.Errorf("set SO_REUSEADDR: %w", err)
	}
	if opts.Buffer > 0 {
		for _, option := range [...]int{syscall.SO_RCVBUF, syscall.SO_SNDBUF} {
			if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, option, int(opts.Buffer)); err != nil {
				return fmt.Errorf("set socket buffer: %w", err)
			}
		}
	}
	if opts.Congestion != "" {
		return sys.SetCongestion(fd, opts.Congestion)
	}
	return nil
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
		if err := syscall.Bind(fd, sockaddr(netip.AddrPortFrom(want.Src, want.Sport))); err != nil {
			return fail(fmt.Sprintf("bind %s for", netip.AddrPortFrom(want.Src, want.Sport)), err)
		}
	}
	if err := timeout(fd, syscall.SO_SNDTIMEO, connectTime); err != nil {
		return fail("prepare", err)
	}
	if err := connect(fd, far); err != nil {
		return fail("connect to", err)
	}
	if err := timeout(fd, syscall.SO_SNDTIMEO, 0); err != nil {
		return fail("prepare", err)
	}
	return wrapSocket(fd)
}

// connect waits until the connection stands. A signal to the thread (the
// runtime sends them) ends a timed connect early; asking again goes on
// waiting for the same connection.
func connect(fd int, far netip.AddrPort) error {
	for {
		switch err := syscall.Connect(fd, sockaddr(far)); {
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

func wrapSocket(fd int) (conn, error) {
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
	return &rawConn{fd: fd, here: addrPort(here), far: addrPort(far)}, nil
}

func timeout(fd, option int, d time.Duration) error {
	tv := syscall.NsecToTimeval(d.Nanoseconds())
	return syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &tv)
}

func (c *rawConn) local() netip.AddrPort  { return c.here }
func (c *rawConn) remote() netip.AddrPort { return c.far }

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
	rcv, _ := syscall.GetsockoptInt(c.fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	snd, _ := syscall.GetsockoptInt(c.fd, syscall.SOL_SOCKET, syscall.SO_SNDBUF)
	return agentapi.TCPCount{
		Present:  true,
		Received: i.BytesReceived,
		Busy:     i.Busy, RwndLimited: i.RwndLimited, SndbufLimited: i.SndbufLimited,
		Retransmits: uint64(i.TotalRetrans), BytesRetrans: i.BytesRetrans,
		SegmentsOut: uint64(i.DataSegsOut), SegmentsIn: uint64(i.DataSegsIn),
		RcvBuf: unit.Bytes(rcv), SndBuf: unit.Bytes(snd), Unread: unit.Bytes(sys.Unread(c.fd)),
		Last: record.TCP{
			RTTMS: unit.Milliseconds(i.RTT), MinRTTMS: unit.Milliseconds(i.MinRTT), SndMSS: int(i.SndMSS), SndCwnd: int(i.SndCwnd),
			SndWnd: unit.Bytes(i.SndWnd), Delivery: i.DeliveryRate, Reordering: int(i.Reordering), NotSent: unit.Bytes(i.NotSent),
			AppLimited: i.AppLimited, PathMTU: int(i.PathMTU), RcvSpace: unit.Bytes(i.RcvSpace), RcvOutOfOrder: uint64(i.RcvOutOfOrder),
			CongestionState: i.CAStateName(),
		},
	}
}

// rawListener is one listening socket per address, all on one port.
type rawListener struct {
	fds    []int
	at     int
	conns  chan conn
	closed chan struct{}
}

// listen opens the port on every address, in the namespace. Port zero lets
// the kernel choose; a port in use is replaced by one it chooses.
func listen(ns netns.Namespace, bind []netip.Addr, port, backlog int, opts socketOptions) (listener, error) {
	if len(bind) == 0 {
		return nil, errors.New("listen: no address to bind")
	}
	l := &rawListener{at: port, conns: make(chan conn), closed: make(chan struct{})}
	err := ns.Do(func() error {
		err := l.bindAll(bind, backlog, opts)
		if err != nil && port != 0 && errors.Is(err, syscall.EADDRINUSE) {
			l.at = 0
			err = l.bindAll(bind, backlog, opts)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, fd := range l.fds {
		go l.acceptOn(fd)
	}
	return l, nil
}

func (l *rawListener) bindAll(bind []netip.Addr, backlog int, opts socketOptions) error {
	l.fds = l.fds[:0]
	for _, a := range bind {
		fd, err := l.bindOne(a, backlog, opts)
		if err != nil {
			for _, open := range l.fds {
				syscall.Close(open)
			}
			return err
		}
		l.fds = append(l.fds, fd)
	}
	return nil
}

func (l *rawListener) bindOne(a netip.Addr, backlog int, opts socketOptions) (int, error) {
	fd, err := newSocket(a, opts)
	if err != nil {
		return -1, err
	}
	at := netip.AddrPortFrom(a, uint16(l.at))
	if err := syscall.Bind(fd, sockaddr(at)); err != nil {
		syscall.Close(fd)
		return -1, fmt.Errorf("bind %s: %w", at, err)
	}
	if err := syscall.Listen(fd, backlog); err != nil {
		syscall.Close(fd)
		return -1, fmt.Errorf("listen on %s: %w", at, err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		syscall.Close(fd)
		return -1, fmt.Errorf("read own address: %w", err)
	}
	l.at = int(addrPort(name).Port())
	return fd, nil
}

func (l *rawListener) acceptOn(fd int) {
	defer syscall.Close(fd)
	for {
		accepted, _, err := syscall.Accept4(fd, syscall.SOCK_CLOEXEC)
		if err == syscall.EINTR || err == syscall.ECONNABORTED {
			continue
		}
		if err != nil {
			<-l.closed // shut down by close, or this host is out of sockets
			return
		}
		c, err := wrapSocket(accepted)
		if err != nil {
			continue // gone already
		}
		select {
		case l.conns <- c:
		case <-l.closed:
			c.close()
			return
		}
	}
}

func (l *rawListener) accept() (conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, io.ErrClosedPipe
	}
}

func (l *rawListener) port() int { return l.at }

// close wakes the accepting threads first and tells them why after: each
// closes its own socket, whose number must not be used any more then.
func (l *rawListener) close() {
	for _, fd := range l.fds {
		_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
	}
	close(l.closed)
}
