//go:build !linux || portable

package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/record"
)

// Kind names this build's way of moving bytes.
const Kind = "portable"

// lockThread does nothing here: package net schedules its own threads.
func lockThread(*atomic.Int64) func() { return func() {} }

func pin(int) error                     { return errors.ErrUnsupported }
func affinity(int) ([]int, error)       { return nil, errors.ErrUnsupported }
func setAffinity(int, ...int) error     { return errors.ErrUnsupported }
func (c netConn) incoming() (int, bool) { return 0, false }

// netConn is a connection of package net.
type netConn struct{ *net.TCPConn }

func wrapNet(c *net.TCPConn, opts socketOptions) (conn, error) {
	var errs []error
	if opts.RcvBuf > 0 {
		errs = append(errs, c.SetReadBuffer(int(opts.RcvBuf)))
	}
	if opts.SndBuf > 0 {
		errs = append(errs, c.SetWriteBuffer(int(opts.SndBuf)))
	}
	// Package net has Nagle's algorithm off unless told otherwise.
	errs = append(errs, c.SetNoDelay(opts.NoDelay))
	if err := errors.Join(errs...); err != nil {
		c.Close()
		return nil, fmt.Errorf("set socket options: %w", err)
	}
	return netConn{c}, nil
}

func refuseOptions(ns netns.Namespace, opts socketOptions) error {
	if ns.Name != "" || opts.Congestion != "" {
		return fmt.Errorf("choose namespace or congestion control: %w", errors.ErrUnsupported)
	}
	if opts.MSS != 0 || opts.Pacing != 0 || opts.DSCP != 0 || opts.Device != "" {
		return fmt.Errorf("choose MSS, pacing, DSCP or device: the portable engine cannot: %w", errors.ErrUnsupported)
	}
	if opts.MPTCP {
		return fmt.Errorf("make MPTCP connection: the portable engine has none: %w", errors.ErrUnsupported)
	}
	return nil
}

func dial(want agentapi.Stream, opts socketOptions) (conn, error) {
	if err := refuseOptions(netns.Namespace{}, opts); err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: connectTime}
	if want.Src.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(want.Src, want.Sport))
	}
	// Plain TCP: a measurement must not turn into MPTCP by a default.
	d.SetMultipathTCP(false)
	c, err := d.DialContext(context.Background(), "tcp", netip.AddrPortFrom(want.Dst, want.Dport).String())
	if err != nil {
		return nil, dialTaken(err)
	}
	return wrapNet(c.(*net.TCPConn), opts)
}

// dialTaken marks an error that another port would cure; package net names the
// call that failed.
func dialTaken(err error) error {
	var call *os.SyscallError
	if errors.As(err, &call) && call.Syscall == "connect" {
		return connectTaken(err)
	}
	return silent(bindTaken(err))
}

func addrPortOf(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

func (c netConn) local() netip.AddrPort        { return addrPortOf(c.LocalAddr()) }
func (c netConn) remote() netip.AddrPort       { return addrPortOf(c.RemoteAddr()) }
func (c netConn) send(buf []byte) (int, error) { return c.Write(buf) }
func (c netConn) info() agentapi.TCPCount      { return agentapi.TCPCount{} }
func (c netConn) opened()                      {}
func (c netConn) multipath() bool              { return false }

func (c netConn) receive(buf []byte) (int, error) {
	n, err := c.Read(buf)
	if errors.Is(err, io.EOF) {
		return n, nil
	}
	return n, err
}

func (c netConn) writeFull(buf []byte) error {
	_, err := c.Write(buf)
	return err
}

func (c netConn) readFull(buf []byte, limit time.Duration) error {
	if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, buf); err != nil {
		return err
	}
	return c.SetReadDeadline(time.Time{})
}

// netMover is calls of package net with one buffer.
type netMover struct {
	c   netConn
	buf []byte
	at  int
}

func receiveMethod(agentapi.Mode) string { return "read" }

func (c netConn) inlet(mode agentapi.Mode, length int) (inlet, error) {
	return &netMover{c: c, buf: make([]byte, length)}, refuseMode(mode)
}

func (c netConn) outlet(mode agentapi.Mode, from *source) (outlet, error) {
	return &netMover{c: c, buf: from.bytes}, refuseMode(mode)
}

func refuseMode(mode agentapi.Mode) error {
	if mode != agentapi.ModeCopy {
		return fmt.Errorf("move bytes uncopied: the portable engine cannot: %w", errors.ErrUnsupported)
	}
	return nil
}

func (m *netMover) receive() (int, error) { return m.c.receive(m.buf) }

func (m *netMover) send(most uint64) (int, error) {
	n, err := m.c.send(m.buf[m.at:][:min(most, uint64(len(m.buf)-m.at))])
	m.at = (m.at + max(n, 0)) % len(m.buf)
	return n, err
}

func (m *netMover) copied() bool   { return false }
func (m *netMover) method() string { return "write" }

func (s *source) release() {}

// granted: package net does not tell.
func (c netConn) granted() record.Socket { return record.Socket{} }
func (c netConn) eager(int)              {}

func (c netConn) shut() {
	_ = c.SetLinger(0)
	_ = c.SetDeadline(time.Unix(1, 0)) // ends what blocks
}

func (c netConn) close() {
	_ = c.SetLinger(0)
	_ = c.Close()
}

type netListener struct {
	listeners []*net.TCPListener
	opts      socketOptions
	conns     chan conn
	closed    chan struct{}
	once      sync.Once
}

func listen(ns netns.Namespace, bind []netip.Addr, port, _ int, opts socketOptions) (listener, error) {
	if len(bind) == 0 {
		return nil, errors.New("listen: no address to bind")
	}
	if err := refuseOptions(ns, opts); err != nil {
		return nil, err
	}
	l := &netListener{opts: opts, conns: make(chan conn), closed: make(chan struct{})}
	for _, a := range bind {
		one, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, uint16(port))))
		if err != nil && port != 0 && len(l.listeners) == 0 {
			one, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
		}
		if err != nil {
			l.close()
			return nil, err
		}
		l.listeners = append(l.listeners, one)
		port = l.port()
	}
	for _, one := range l.listeners {
		go l.acceptOn(one)
	}
	return l, nil
}

func (l *netListener) acceptOn(one *net.TCPListener) {
	for {
		c, err := one.AcceptTCP()
		if err != nil {
			return
		}
		wrapped, err := wrapNet(c, l.opts)
		if err != nil {
			continue
		}
		select {
		case l.conns <- wrapped:
		case <-l.closed:
			wrapped.close()
			return
		}
	}
}

func (l *netListener) accept() (conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, io.ErrClosedPipe
	}
}

func (l *netListener) granted() record.Socket { return record.Socket{} }

func (l *netListener) port() int { return int(addrPortOf(l.listeners[0].Addr()).Port()) }

func (l *netListener) close() {
	l.once.Do(func() {
		close(l.closed)
		for _, one := range l.listeners {
			_ = one.Close()
		}
	})
}
