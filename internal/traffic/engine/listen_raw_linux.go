//go:build linux && !portable

package engine

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/record"
)

// rawListener is one listening socket per address, all on one port.
type rawListener struct {
	opts   socketOptions
	fds    []int
	at     int
	made   record.Socket
	conns  chan conn
	closed chan struct{}
}

// listen opens the port on every address, in the namespace. Port zero lets
// the kernel choose; a port in use is replaced by one it chooses.
func listen(ns netns.Namespace, bind []netip.Addr, port, backlog int, opts socketOptions) (listener, error) {
	if len(bind) == 0 {
		return nil, errors.New("listen: no address to bind")
	}
	l := &rawListener{opts: opts, at: port, conns: make(chan conn), closed: make(chan struct{})}
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
	if err := sys.Bind(fd, at); err != nil {
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
	l.at = int(sys.AddrPort(name).Port())
	l.made = grantedOf(fd, a.Is6())
	l.made.MSS = opts.MSS // of a listening socket it says nothing yet
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
		c, err := wrapSocket(accepted, l.opts)
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

func (l *rawListener) granted() record.Socket { return l.made }

// close wakes the accepting threads first and tells them why after: each
// closes its own socket, whose number must not be used any more then.
func (l *rawListener) close() {
	for _, fd := range l.fds {
		_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
	}
	close(l.closed)
}
