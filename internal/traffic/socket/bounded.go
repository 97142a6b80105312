package socket

import (
	"net"
	"sync"
)

// Bounded gives out no more than so many connections at a time, and so many of one
// address: for one more the oldest is closed. A flood pushes itself out, and leaves the
// process the files that it needs for its work.
func Bounded(l net.Listener, inAll, ofOne int) net.Listener {
	return &boundedListener{l, NewGate(inAll, ofOne)}
}

type boundedListener struct {
	net.Listener
	gate *Gate
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	of := l.gate.Enter(AddrPort(c.RemoteAddr()).Addr(), func() { _ = c.Close() })
	return &boundedConn{c, sync.OnceFunc(func() { l.gate.Leave(of) })}, nil
}

type boundedConn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	c.leave()
	return c.Conn.Close()
}
