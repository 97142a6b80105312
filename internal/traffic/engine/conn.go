package engine

import (
	"io"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/payload"
	"github.com/linerate/linerate/record"
)

// conn is one TCP connection, on raw system calls or on package net. Its calls
// block; shut ends them from another goroutine; close frees the
// connection once nobody uses it. Closing never lingers: the port is free at
// once.
type conn interface {
	end
	io.ReadWriter // for the stream's opening
	// patience bounds how long Read blocks; zero is no bound.
	patience(time.Duration) error
	info() agentapi.TCPCount
	// opened tells a receiving end that the stream's opening has been read
	// and nothing behind it has been sent.
	opened()
	// multipath reports whether the connection is MPTCP now.
	multipath() bool
	// writer is how the stream's payload is sent, out of the source, and reader
	// how it is taken in, after the opening. Either is used by one thread.
	writer(agentapi.Mode, *payload.Source) (payload.Writer, error)
	reader(mode agentapi.Mode, length int) (payload.Reader, error)
	// incoming is the core that last processed what came in; beside reports
	// that no card handed it over: the peer is on this machine.
	incoming() (core int, beside bool)
	shut()
	close()
}

// listener accepts a session's connections until it is closed.
type listener interface {
	accept() (conn, error)
	port() int
	// granted is the listening socket as the kernel made it: what it accepts
	// begins with the same.
	granted() record.Socket
	close()
}

// socketOptions are asked for before a connection is made, since the window
// scale is fixed by its first segment.
type socketOptions struct {
	record.Socket // zero fields leave what the system does
	MPTCP         bool
}

// connectTime is the longest a connection may take to be made.
const connectTime = 10 * time.Second

// accepting hands a listener's connections on until it closes.
type accepting struct {
	conns  chan conn
	closed chan struct{}
}

func (a accepting) accept() (conn, error) {
	select {
	case c := <-a.conns:
		return c, nil
	case <-a.closed:
		return nil, io.ErrClosedPipe
	}
}

// acceptPause is how long a listener that gets no connection out of the kernel
// waits before it asks again.
const acceptPause = 100 * time.Millisecond

// again waits after a failed accept, and reports false once the listener is closed.
func (a accepting) again() bool {
	select {
	case <-a.closed:
		return false
	case <-time.After(acceptPause):
		return true
	}
}

// offer reports whether the connection was taken; one that was not is closed.
func (a accepting) offer(c conn) bool {
	select {
	case a.conns <- c:
		return true
	case <-a.closed:
		c.close()
		return false
	}
}
