package sockdiag

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/unit"
)

// Detail is a TCP socket with what the kernel knows of its connection.
type Detail struct {
	Socket
	// Cookie names the socket for as long as it lives; no other has it.
	Cookie uint64
	// Link is the ifindex that the socket is bound to (SO_BINDTODEVICE, or a
	// link-local address); zero none.
	Link int
	// Again is how often in a row its oldest segment was sent again: a SYN that nobody
	// answers too (idiag_retrans).
	Again uint8
	// Unread is what arrived in order and the program has not taken, Unacked
	// what it wrote and the peer has not acknowledged, bytes.
	Unread, Unacked uint32
	// Info is nil where the kernel sent none.
	Info *Info
	// RcvRTT is the receiver's estimate of the round trip (tcpi_rcv_rtt);
	// zero unknown: it takes timestamps or a full window.
	RcvRTT time.Duration
	// Memory is zero where the kernel sent none (INET_DIAG_SKMEMINFO).
	Memory Memory
	// Congestion is the congestion control's name; "" unknown.
	Congestion string
	// Bandwidth is what BBR believes the path carries; zero for others.
	Bandwidth unit.BitRate
	// Mark is the socket's firewall mark, shown to CAP_NET_ADMIN only.
	Mark uint32
	// Token joins the subflows of one MPTCP connection; zero is plain TCP, or
	// a kernel that does not say.
	Token uint32
}

// Memory is what a socket's buffers hold (enum SK_MEMINFO_*), in the kernel's
// own count: packets with their overhead.
type Memory struct {
	Received, RcvBuf unit.Bytes
	Queued, SndBuf   unit.Bytes
	// Drops are packets that the socket had no room for.
	Drops uint32
}

// Attributes of struct inet_diag_msg and what is in them
// (include/uapi/linux/inet_diag.h, linux/mptcp.h).
const (
	diagInfo      = 2
	diagVegas     = 3 // as a question: BBR's answer too
	diagCong      = 4
	diagSKMemInfo = 7
	diagMark      = 15
	diagBBR       = 16
	diagULP       = 19

	ulpMPTCP      = 3
	subflowToken  = 2 // MPTCP_SUBFLOW_ATTR_TOKEN_LOC
	memInfoFields = 9
	rcvRTTOffset  = 92
)

// Offsets in struct inet_diag_msg behind its addresses.
const (
	offsetAgain  = 3
	offsetIf     = 40
	offsetCookie = 44
	offsetRQueue = 56
	offsetWQueue = 60
)

// carrying are the states in which a connection moves payload.
const carrying = 1<<Established | 1<<FinWait1 | 1<<FinWait2 | 1<<CloseWait

// getTCP is TCPDIAG_GETSOCK: a dump that it asks for has the sockets of IPv4 and IPv6
// from one walk over the kernel's table, where SOCK_DIAG_BY_FAMILY walks for each
// (inet_diag_dump_compat in net/ipv4/inet_diag.c; Linux 2.6.14).
const getTCP = 18

// allRequest is struct inet_diag_req: the connections of these ports, zero for any
// (struct inet_diag_sockid's idiag_sport and idiag_dport), with all that Detail holds.
func allRequest(sport, dport uint16) []byte {
	b := make([]byte, 60)
	b[3] = everything
	binary.BigEndian.PutUint16(b[4:], sport)
	binary.BigEndian.PutUint16(b[6:], dport)
	copy(b[44:], []byte{255, 255, 255, 255, 255, 255, 255, 255}) // INET_DIAG_NOCOOKIE
	binary.NativeEndian.PutUint32(b[52:], carrying)
	return b
}

// askedRequest asks for the connections that wait for the answer to their SYN.
func askedRequest() []byte {
	b := allRequest(0, 0)
	b[3] = 0
	binary.NativeEndian.PutUint32(b[52:], 1<<SynSent)
	return b
}

// everything are the attributes that Detail is read from (idiag_ext).
const everything = onlyInfo | 1<<(diagVegas-1) | 1<<(diagCong-1) | 1<<(diagSKMemInfo-1)

// onlyInfo is tcp_info alone.
const onlyInfo = 1 << (diagInfo - 1)

// parseDetail reads one struct inet_diag_msg with its attributes. An attribute
// that is too short is left out.
func parseDetail(b []byte) (Detail, error) {
	s, err := parse(b, flow.TCP)
	if err != nil {
		return Detail{}, err
	}
	d := Detail{
		Socket: s, Again: b[offsetAgain], Cookie: binary.NativeEndian.Uint64(b[offsetCookie:]), Link: int(binary.NativeEndian.Uint32(b[offsetIf:])),
		Unread: binary.NativeEndian.Uint32(b[offsetRQueue:]), Unacked: binary.NativeEndian.Uint32(b[offsetWQueue:]),
	}
	if err := nlattr.Each(b[messageLen:], d.attribute); err != nil {
		return Detail{}, fmt.Errorf("parse socket message: %w", err)
	}
	return d, nil
}

func (d *Detail) attribute(kind uint16, v []byte) {
	switch kind {
	case diagInfo:
		if info, err := ParseInfo(v); err == nil {
			d.Info = &info
			d.RcvRTT = time.Duration(binary.NativeEndian.Uint32(v[rcvRTTOffset:])) * time.Microsecond
		}
	case diagCong:
		name, _, _ := bytes.Cut(v, []byte{0})
		d.Congestion = string(name)
	case diagSKMemInfo:
		d.Memory = parseMemory(v)
	case diagMark:
		if len(v) >= 4 {
			d.Mark = binary.NativeEndian.Uint32(v)
		}
	case diagBBR:
		if len(v) >= 8 { // bytes a second in two halves, low first
			low, high := binary.NativeEndian.Uint32(v), binary.NativeEndian.Uint32(v[4:])
			d.Bandwidth = 8 * unit.BitRate(uint64(high)<<32|uint64(low))
		}
	case diagULP:
		d.Token = parseToken(v)
	}
}

// parseMemory reads the numbers of SK_MEMINFO_*; an older kernel's shorter list
// has no drops.
func parseMemory(v []byte) Memory {
	var n [memInfoFields]uint32
	for i := range n {
		if len(v) >= 4*i+4 {
			n[i] = binary.NativeEndian.Uint32(v[4*i:])
		}
	}
	return Memory{Received: unit.Bytes(n[0]), RcvBuf: unit.Bytes(n[1]), SndBuf: unit.Bytes(n[3]), Queued: unit.Bytes(n[5]), Drops: n[8]}
}

// parseToken reads an MPTCP subflow's token; zero for another upper layer.
func parseToken(v []byte) (token uint32) {
	_ = nlattr.Each(v, func(kind uint16, v []byte) {
		if kind != ulpMPTCP {
			return
		}
		_ = nlattr.Each(v, func(kind uint16, v []byte) {
			if kind == subflowToken && len(v) >= 4 {
				token = binary.NativeEndian.Uint32(v)
			}
		})
	})
	return token
}
