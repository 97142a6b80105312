//go:build linux && !portable

package engine

import (
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// multipathConn is a connection that may have several subflows.
type multipathConn struct {
	*rawConn
	base   uint64 // the number before the stream's first byte
	marked bool
}

// asMultipath is the connection as MPTCP has it; a plain one, from a peer
// that speaks TCP only, stays what it is.
func asMultipath(c *rawConn) conn {
	m := &multipathConn{rawConn: c}
	if !m.multipath() {
		return c
	}
	return m
}

func (c *multipathConn) multipath() bool {
	_, ok := socket.Multipath(c.FD)
	return ok
}

func (c *multipathConn) opened() {
	if i, ok := socket.Multipath(c.FD); ok {
		c.base, c.marked = i.RcvNxt-uint64(openingLength), true
	}
}

func (c *multipathConn) info() agentapi.TCPCount {
	i, ok := socket.Multipath(c.FD)
	if !ok {
		return c.rawConn.info()
	}
	count := socket.CountMultipath(c.FD)
	if c.marked {
		count.Received = i.RcvNxt - c.base
	}
	return count
}
