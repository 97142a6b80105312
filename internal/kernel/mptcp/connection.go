package mptcp

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/linerate/linerate/flow"
)

// Numbers of the socket interface (include/uapi/linux/in.h, mptcp.h).
const (
	// Protocol is IPPROTO_MPTCP, for socket(2).
	Protocol = 262

	// MaxInfo is more than any kernel's struct mptcp_info; MaxSubflows holds
	// the addresses of the most subflows there can be.
	MaxInfo     = 256
	MaxSubflows = 16 + 16*2*storageSize
)

// Info is struct mptcp_info as far as it is read.
type Info struct {
	// Extra is the subflows beyond the first, those closed left out.
	Extra int
	// Fallback: the connection is plain TCP after all.
	Fallback bool
	// RcvNxt is the next byte wanted in the connection's own numbering; a
	// difference of two is the bytes that arrived in order meanwhile.
	RcvNxt uint64
	// SndUna is likewise the first byte that the peer has not acknowledged.
	SndUna uint64
}

// ErrShort is a structure that ends before the fields every kernel has.
var ErrShort = errors.New("MPTCP information too short")

// Offsets in struct mptcp_info (Linux 5.16 on; it only grows at its end).
const (
	infoFlags  = 8
	infoSndUna = 24
	infoRcvNxt = 32
	infoLeast  = 40

	flagFallback = 1 // MPTCP_INFO_FLAG_FALLBACK
)

// ParseInfo reads struct mptcp_info as getsockopt(MPTCP_INFO) returned it, in
// the machine's byte order.
func ParseInfo(b []byte) (Info, error) {
	if len(b) < infoLeast {
		return Info{}, ErrShort
	}
	return Info{
		Extra:    int(b[0]),
		Fallback: binary.NativeEndian.Uint32(b[infoFlags:])&flagFallback != 0,
		SndUna:   binary.NativeEndian.Uint64(b[infoSndUna:]),
		RcvNxt:   binary.NativeEndian.Uint64(b[infoRcvNxt:]),
	}, nil
}

// storageSize is sizeof(struct sockaddr_storage).
const storageSize = 128

// SubflowHeader is struct mptcp_subflow_data for MPTCP_SUBFLOW_ADDRS: what the
// caller must write before it asks.
func SubflowHeader() []byte {
	b := make([]byte, 16)
	binary.NativeEndian.PutUint32(b, 16)
	binary.NativeEndian.PutUint32(b[12:], 2*storageSize) // size_user
	return b
}

// ParseSubflows reads the answer to getsockopt(MPTCP_SUBFLOW_ADDRS): the TCP
// flows that carry the connection, local address first.
func ParseSubflows(b []byte) ([]flow.Tuple, error) {
	if len(b) < 16 {
		return nil, ErrShort
	}
	start, step := int(binary.NativeEndian.Uint32(b)), int(binary.NativeEndian.Uint32(b[12:]))
	if start < 16 || start > len(b) || step < 2*storageSize || step > len(b) {
		return nil, ErrShort
	}
	var flows []flow.Tuple
	for rest := b[start:]; len(rest) >= step; rest = rest[step:] {
		src, sport := parseSockaddr(rest)
		dst, dport := parseSockaddr(rest[storageSize:])
		if src.IsValid() && dst.IsValid() {
			flows = append(flows, flow.Tuple{Proto: flow.TCP, Src: src, Dst: dst, Sport: sport, Dport: dport})
		}
	}
	return flows, nil
}

// parseSockaddr reads the head of a struct sockaddr_storage, which the caller
// has seen to be whole.
func parseSockaddr(b []byte) (netip.Addr, uint16) {
	port := binary.BigEndian.Uint16(b[2:])
	switch binary.NativeEndian.Uint16(b) {
	case familyIPv4:
		return netip.AddrFrom4([4]byte(b[4:8])), port
	case familyIPv6:
		return netip.AddrFrom16([16]byte(b[8:24])).Unmap(), port
	}
	return netip.Addr{}, 0
}
