//go:build linux && !portable

package engine

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// Kind names this build's way of moving bytes.
const Kind = "raw"

func lockThread(id *atomic.Int64) func() { return socket.LockThread(id) }

func pin(core int) error { return sys.Pin(core) }

// affinity and setAffinity are a thread's cores.
func affinity(thread int) ([]int, error)         { return sys.ThreadAffinity(thread) }
func setAffinity(thread int, cores ...int) error { return sys.SetThreadAffinity(thread, cores) }
func (c *rawConn) incoming() (core int, beside bool) {
	core, card, ok := sys.Incoming(c.FD)
	return core, ok && !card
}

// rawConn is a blocking socket used by system calls directly.
type rawConn struct{ socket.Raw }

// receiveMethod is how a sink's streams are taken in.
func receiveMethod(m agentapi.Mode) string { return payload.ReceiveMethod(m) }

func (c *rawConn) reader(mode agentapi.Mode, length int) (payload.Reader, error) {
	return payload.NewReader(c.FD, mode, length, openingLength), nil
}

func (c *rawConn) writer(mode agentapi.Mode, from *payload.Source) (payload.Writer, error) {
	return payload.NewWriter(c.FD, mode, from, openingLength)
}

func newSocket(a netip.Addr, opts socketOptions) (int, error) {
	open := func(a netip.Addr) (int, error) { return socket.Open(a, syscall.SOCK_STREAM) }
	if opts.MPTCP {
		open = socket.OpenMultipath
	}
	fd, err := open(a)
	if err != nil {
		return -1, err
	}
	if err = socket.Configure(fd, a, true, opts.Socket); err != nil {
		syscall.Close(fd)
		return -1, err
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
	if err = socket.Bind(fd, netip.AddrPortFrom(want.Src, want.Sport)); err == nil {
		err = connect(fd, far)
	}
	if err == nil {
		err = socket.Timeout(fd, syscall.SO_SNDTIMEO, 0)
	}
	if err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("connect to %s: %w", far, err)
	}
	return wrapSocket(fd, opts)
}

func connect(fd int, far netip.AddrPort) error {
	to, err := sys.Sockaddr(far)
	if err != nil {
		return err
	}
	return socket.ConnectError(socket.Connect(context.Background(), fd, to, connectTime))
}

func wrapSocket(fd int, opts socketOptions) (conn, error) {
	raw, err := socket.Named(fd)
	if err != nil {
		return nil, err
	}
	c := &rawConn{raw}
	if opts.MPTCP {
		return asMultipath(c), nil
	}
	return c, nil
}

func (c *rawConn) multipath() bool { return false }
func (c *rawConn) opened()         {}

func (c *rawConn) patience(d time.Duration) error {
	return socket.Timeout(c.FD, syscall.SO_RCVTIMEO, d)
}

func (c *rawConn) Write(buf []byte) (sent int, err error) {
	for sent < len(buf) && (err == nil || err == syscall.EINTR) {
		var n int
		n, err = syscall.Write(c.FD, buf[sent:])
		sent += max(n, 0)
	}
	return sent, err
}

func (c *rawConn) Read(buf []byte) (int, error) {
	for {
		n, _, err := syscall.Recvfrom(c.FD, buf, 0)
		switch {
		case err == syscall.EINTR:
		case err == nil && n == 0:
			return 0, io.EOF
		default:
			return max(n, 0), err
		}
	}
}

func (c *rawConn) shut() { _ = syscall.Shutdown(c.FD, syscall.SHUT_RDWR) }

func (c *rawConn) close() { socket.Reset(c.FD) }

func (c *rawConn) info() agentapi.TCPCount {
	count, _ := socket.Count(c.FD)
	return count
}
