// Package socket is what the traffic of this host has in common below its
// protocols: how sockets are opened, asked for options, bound and connected,
// what they are granted and what TCP counts of them, and the table of sessions
// that use them. Elsewhere than on Linux package net does what it can. Don't send
// or receive payload here, and don't open a socket for traffic anywhere else.
package socket

import (
	"net"
	"net/netip"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/unit"
)

// Patience is how long a call on a socket blocks that has to see whether its
// session is over: so long a session may outlast its end.
const Patience = 100 * time.Millisecond

// AddrPort is an end of a connection of package net; invalid where it has none.
func AddrPort(a net.Addr) netip.AddrPort {
	at, ok := a.(interface{ AddrPort() netip.AddrPort })
	if !ok {
		return netip.AddrPort{}
	}
	p := at.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

// Pattern writes bytes that no link compresses away (xorshift).
func Pattern(buf []byte) {
	x := uint64(0x9e3779b97f4a7c15)
	for i := range buf {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		buf[i] = byte(x)
	}
}

// TCPCount is TCP_INFO as a sample carries it, without what only the socket's
// owner or a dump knows: its buffers and what waits in them.
func TCPCount(i sockdiag.Info) agentapi.TCPCount {
	return agentapi.TCPCount{
		Present:  true,
		Received: Received(i),
		Busy:     i.Busy, RwndLimited: i.RwndLimited, SndbufLimited: i.SndbufLimited,
		Retransmits: uint64(i.TotalRetrans), BytesRetrans: i.BytesRetrans, BytesSent: i.BytesSent,
		SegmentsOut: uint64(i.DataSegsOut), SegmentsIn: uint64(i.DataSegsIn), AllSegmentsOut: uint64(i.SegsOut),
		InFlight: i.InFlight(), Last: i.Values(),
	}
}

// ForeignCount is TCPCount of a socket that another program owns, its buffers
// included.
func ForeignCount(d sockdiag.Detail) agentapi.TCPCount {
	if d.Info == nil {
		return agentapi.TCPCount{}
	}
	c := TCPCount(*d.Info)
	c.Unread, c.RcvBuf, c.SndBuf = unit.Bytes(d.Unread), d.Memory.RcvBuf, d.Memory.SndBuf
	c.SocketDrops = uint64(d.Memory.Drops)
	return c
}

// Received is the payload of bytes_received: without the peer's FIN, which the
// kernel counts as a byte (tcp_rcv_nxt_update).
func Received(i sockdiag.Info) uint64 {
	switch sockdiag.State(i.State) {
	case sockdiag.TimeWait, sockdiag.CloseWait, sockdiag.LastAck, sockdiag.Closing:
		return max(i.BytesReceived, 1) - 1
	}
	return i.BytesReceived
}
