//go:build linux && !portable

package engine

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/mptcp"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/socket"
	"github.com/linerate/linerate/unit"
)

// mptcpSocket makes an MPTCP socket. Its errors say what a person can do.
func mptcpSocket(a netip.Addr) (int, error) {
	fd, err := syscall.Socket(sys.Family(a), syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, mptcp.Protocol)
	switch {
	case errors.Is(err, syscall.ENOPROTOOPT): // mptcp_init_sock
		return -1, fmt.Errorf("make MPTCP socket: net.mptcp.enabled is 0: %w: %w", errors.ErrUnsupported, err)
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EPROTONOSUPPORT):
		return -1, fmt.Errorf("make MPTCP socket: %w: %w", mptcp.ErrNoMPTCP, err)
	case err != nil:
		return -1, fmt.Errorf("make MPTCP socket: %w", err)
	}
	// A kernel that cannot say what became of a connection would let plain
	// TCP pass for MPTCP.
	if _, err := sys.MPTCPInfo(fd, make([]byte, mptcp.MaxInfo)); err != nil {
		syscall.Close(fd)
		return -1, fmt.Errorf("make MPTCP socket: this kernel does not say whether a connection fell back to TCP (Linux does since 5.16): %w: %w", errors.ErrUnsupported, err)
	}
	return fd, nil
}

// multipathConn is a connection that may have several subflows. TCP_INFO of
// its socket is the first subflow's and is not read.
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
	c.copies = true
	return m
}

// ask is what the kernel says of the connection; ok is false when it is plain
// TCP now.
func (c *multipathConn) ask() (i mptcp.Info, ok bool) {
	raw, err := sys.MPTCPInfo(c.FD, make([]byte, mptcp.MaxInfo))
	if err != nil {
		return i, false
	}
	i, err = mptcp.ParseInfo(raw)
	return i, err == nil && !i.Fallback
}

// eager does nothing: what wakes a reader is the subflows' business.
func (c *multipathConn) setReceiveLowWater(int) {}

func (c *multipathConn) multipath() bool {
	_, ok := c.ask()
	return ok
}

func (c *multipathConn) opened() {
	if i, ok := c.ask(); ok {
		c.base, c.marked = i.RcvNxt-uint64(openingLength), true
	}
}

func (c *multipathConn) info() agentapi.TCPCount {
	i, ok := c.ask()
	if !ok {
		return c.rawConn.info()
	}
	rcv, snd := socket.Buffers(c.FD)
	count := agentapi.TCPCount{RcvBuf: rcv, SndBuf: snd, Unread: unit.Bytes(sys.Unread(c.FD)), MPTCP: &agentapi.MPTCPCount{}}
	if c.marked {
		count.Received = i.RcvNxt - c.base
	}
	buf := make([]byte, mptcp.MaxSubflows)
	copy(buf, mptcp.SubflowHeader())
	if raw, err := sys.MPTCPSubflows(c.FD, buf); err == nil {
		count.MPTCP.Subflows, _ = mptcp.ParseSubflows(raw)
	}
	return count
}
