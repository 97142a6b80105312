package engine

import (
	"net/netip"
	"time"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/unit"
)

// conn is one TCP connection, on raw system calls or on package net. send and
// receive block; shut ends them from another goroutine; close frees the
// connection once nobody uses it. Closing never lingers: the port is free at
// once.
type conn interface {
	send(buf []byte) (int, error)
	receive(buf []byte) (int, error) // 0, nil is the end of the stream
	readFull(buf []byte, limit time.Duration) error
	writeFull(buf []byte) error
	info() agentapi.TCPCount
	// opened tells a receiving end that the stream's opening has been read
	// and nothing behind it has been sent.
	opened()
	// multipath reports whether the connection is MPTCP now.
	multipath() bool
	local() netip.AddrPort
	remote() netip.AddrPort
	shut()
	close()
}

// listener accepts a session's connections until it is closed.
type listener interface {
	accept() (conn, error)
	port() int
	close()
}

// socketOptions are asked for before a connection is made, since the window
// scale is fixed by its first segment.
type socketOptions struct {
	Buffer     unit.Bytes // SO_RCVBUF and SO_SNDBUF; zero leaves autotuning on
	Congestion string     // "" is the system's default
	MPTCP      bool
}

// connectTime is the longest a connection may take to be made.
const connectTime = 10 * time.Second

func served(c conn, peers []netip.Addr) bool {
	from := c.remote().Addr().Unmap()
	for _, p := range peers {
		if p.Unmap() == from {
			return true
		}
	}
	return false
}
