//go:build linux && !portable

package engine

import (
	"fmt"
	"net/netip"
	"syscall"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/socket"
	"github.com/linerate/linerate/record"
)

// rawListener is one listening socket per address, all on one port.
type rawListener struct {
	socket.Listener
	accepting
	opts socketOptions
	made record.Socket
}

// listen opens a port on every address, in the namespace.
func listen(ns netns.Namespace, req agentapi.SinkRequest, opts socketOptions) (listener, error) {
	l := &rawListener{opts: opts}
	err := ns.Do(func() (err error) {
		l.Listener, err = onPort(req, func(port int) (socket.Listener, error) {
			return socket.ListenAll(req.Bind, port, func(at netip.AddrPort) (int, error) { return bindOne(at, req.Streams+strangersMost, opts) })
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	l.accepting = accepting{make(chan conn), l.Closed}
	l.made = socket.Granted(l.FDs[0], req.Bind[0].Is6())
	l.made.MSS = opts.MSS // of a listening socket it says nothing yet
	for _, fd := range l.FDs {
		go l.acceptOn(fd)
	}
	return l, nil
}

func bindOne(at netip.AddrPort, backlog int, opts socketOptions) (int, error) {
	fd, err := newSocket(at.Addr(), opts)
	if err != nil {
		return -1, err
	}
	if err = socket.Bind(fd, at); err == nil {
		if err = syscall.Listen(fd, backlog); err == nil {
			return fd, nil
		}
		err = fmt.Errorf("listen on %s: %w", at, err)
	}
	syscall.Close(fd)
	return -1, err
}

func (l *rawListener) acceptOn(fd int) {
	defer syscall.Close(fd)
	for {
		accepted, _, err := syscall.Accept4(fd, syscall.SOCK_CLOEXEC)
		if err == syscall.EINTR || err == syscall.ECONNABORTED {
			continue
		}
		if err != nil { // shut down by close, or out of files for now
			if l.again() {
				continue
			}
			return
		}
		c, err := wrapSocket(accepted, l.opts)
		if err != nil {
			continue // gone already
		}
		if !l.offer(c) {
			return
		}
	}
}

func (l *rawListener) port() int              { return l.Port }
func (l *rawListener) granted() record.Socket { return l.made }
func (l *rawListener) close()                 { l.Shut() }
