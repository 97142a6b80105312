//go:build !linux || portable

package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/internal/traffic/socket"
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
type netConn struct {
	*net.TCPConn
	netEnds
}

func wrapNet(c net.Conn) netConn { return netConn{c.(*net.TCPConn), netEnds{c}} }

// netEnds are the ends of a connection of package net, which does not tell what
// was granted.
type netEnds struct{ of net.Conn }

func (c netEnds) Local() netip.AddrPort  { return socket.AddrPort(c.of.LocalAddr()) }
func (c netEnds) Remote() netip.AddrPort { return socket.AddrPort(c.of.RemoteAddr()) }
func (c netEnds) Granted() record.Socket { return record.Socket{} }

func refuseOptions(ns netns.Namespace, opts socketOptions) error {
	if opts.MPTCP {
		return fmt.Errorf("make MPTCP connection: the portable engine has none: %w", errors.ErrUnsupported)
	}
	return socket.Refuse(ns, opts.Socket)
}

func dial(want agentapi.Stream, opts socketOptions) (conn, error) {
	if err := refuseOptions(netns.Namespace{}, opts); err != nil {
		return nil, err
	}
	c, err := socket.Dial(context.Background(), "tcp", netip.AddrPortFrom(want.Src, want.Sport), netip.AddrPortFrom(want.Dst, want.Dport), connectTime, opts.Socket)
	if err != nil {
		return nil, err
	}
	return wrapNet(c), nil
}

func (c netConn) info() agentapi.TCPCount { return agentapi.TCPCount{} }
func (c netConn) opened()                 {}
func (c netConn) multipath() bool         { return false }

func (c netConn) patience(d time.Duration) error {
	if d == 0 {
		return c.SetReadDeadline(time.Time{})
	}
	return c.SetReadDeadline(time.Now().Add(d))
}

func receiveMethod(agentapi.Mode) string { return "read" }

func (c netConn) reader(mode agentapi.Mode, length int) (payload.Reader, error) {
	return payload.OverNet(c.TCPConn, mode, make([]byte, length), 0)
}

func (c netConn) writer(mode agentapi.Mode, from *payload.Source) (payload.Writer, error) {
	return payload.OverNet(c.TCPConn, mode, from.Bytes, 0)
}

func (c netConn) shut() {
	_ = c.SetLinger(0)
	_ = c.SetDeadline(time.Unix(1, 0)) // ends what blocks
}

func (c netConn) close() {
	_ = c.SetLinger(0)
	_ = c.Close()
}

type netListener struct {
	accepting
	listeners []*net.TCPListener
	opts      socketOptions
	once      sync.Once
}

func listen(ns netns.Namespace, req agentapi.SinkRequest, opts socketOptions) (listener, error) {
	if len(req.Bind) == 0 {
		return nil, errors.New("listen: no address to bind")
	}
	if err := refuseOptions(ns, opts); err != nil {
		return nil, err
	}
	l, err := onPort(req, func(port int) (*netListener, error) {
		l := &netListener{opts: opts, accepting: accepting{make(chan conn), make(chan struct{})}}
		for _, a := range req.Bind {
			one, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, uint16(port))))
			if err != nil {
				l.close()
				return nil, err
			}
			l.listeners = append(l.listeners, one)
			port = l.port()
		}
		return l, nil
	})
	if err != nil {
		return nil, err
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
			if l.again() {
				continue
			}
			return
		}
		if socket.Ask(c, l.opts.Socket) != nil {
			c.Close()
		} else if !l.offer(wrapNet(c)) {
			return
		}
	}
}

func (l *netListener) granted() record.Socket { return record.Socket{} }

func (l *netListener) port() int { return int(socket.AddrPort(l.listeners[0].Addr()).Port()) }

func (l *netListener) close() {
	l.once.Do(func() {
		close(l.closed)
		for _, one := range l.listeners {
			_ = one.Close()
		}
	})
}
