package engine

import (
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/unit"
)

// TCPCount is TCP_INFO as a sample carries it, without what only the socket's
// owner or a dump knows: its buffers and what waits in them.
func TCPCount(i sockdiag.Info) agentapi.TCPCount {
	return agentapi.TCPCount{
		Present:  true,
		Received: payloadReceived(i),
		Busy:     i.Busy, RwndLimited: i.RwndLimited, SndbufLimited: i.SndbufLimited,
		Retransmits: uint64(i.TotalRetrans), BytesRetrans: i.BytesRetrans, BytesSent: i.BytesSent,
		SegmentsOut: uint64(i.DataSegsOut), SegmentsIn: uint64(i.DataSegsIn), AllSegmentsOut: uint64(i.SegsOut),
		InFlight: i.InFlight(), Last: i.Values(),
	}
}

// SocketCount is TCPCount of a socket that another program owns, its buffers
// included.
func SocketCount(d sockdiag.Detail) agentapi.TCPCount {
	if d.Info == nil {
		return agentapi.TCPCount{}
	}
	c := TCPCount(*d.Info)
	c.Unread, c.RcvBuf, c.SndBuf = unit.Bytes(d.Unread), d.Memory.RcvBuf, d.Memory.SndBuf
	c.SocketDrops = uint64(d.Memory.Drops)
	return c
}

// payloadReceived is bytes_received without the peer's FIN, which the kernel
// counts as a byte (tcp_rcv_nxt_update).
func payloadReceived(i sockdiag.Info) uint64 {
	switch sockdiag.State(i.State) {
	case sockdiag.TimeWait, sockdiag.CloseWait, sockdiag.LastAck, sockdiag.Closing:
		return max(i.BytesReceived, 1) - 1
	}
	return i.BytesReceived
}
