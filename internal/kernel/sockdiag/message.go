package sockdiag

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/nlattr"
)

// Message is one connection as the kernel told it (struct inet_diag_msg and its
// attributes), of at least the struct's length. Of ten thousand few are worth a
// Detail: the rest is read in place.
type Message []byte

// Cookie names the socket, as in Detail.
func (m Message) Cookie() uint64 { return binary.NativeEndian.Uint64(m[offsetCookie:]) }

// State is the connection's.
func (m Message) State() State { return State(m[1]) }

// Waiting reports bytes that the program has not read, or the peer has not
// acknowledged.
func (m Message) Waiting() bool {
	return binary.NativeEndian.Uint32(m[offsetRQueue:])|binary.NativeEndian.Uint32(m[offsetWQueue:]) != 0
}

// Detail reads all of it. Error: ErrUnreadable.
func (m Message) Detail() (Detail, error) { return parseDetail(m) }

// Offsets in struct tcp_info of the time since payload was sent and came, ms, and of
// what was acknowledged and received in all.
const (
	infoSent     = 44
	infoCame     = 52
	infoAcked    = 120
	infoReceived = 128
)

// Moved is the payload that was acknowledged and that came since the connection
// began, and the time since either was last sent or came; false where the kernel
// does not say.
func (m Message) Moved() (acked, received uint64, ago time.Duration, ok bool) {
	info := m.info()
	if len(info) < int(FieldBytes) {
		return 0, 0, 0, false
	}
	last := min(binary.NativeEndian.Uint32(info[infoSent:]), binary.NativeEndian.Uint32(info[infoCame:]))
	return binary.NativeEndian.Uint64(info[infoAcked:]), binary.NativeEndian.Uint64(info[infoReceived:]), time.Duration(last) * time.Millisecond, true
}

func (m Message) info() (info []byte) {
	_ = nlattr.Each(m[messageLen:], func(kind uint16, v []byte) {
		if kind == diagInfo {
			info = v
		}
	})
	return info
}

// Operations of the program by which the kernel picks sockets (INET_DIAG_BC_*,
// include/uapi/linux/inet_diag.h). Each has the bytes to go on by where it holds, and
// where it does not; what ends behind the program's end by four bytes is not picked.
const (
	diagBytecode = 1 // INET_DIAG_REQ_BYTECODE
	opJump       = 1
	opPeer       = 8 // INET_DIAG_BC_D_COND

	opLen   = 4
	peerLen = 8 // struct inet_diag_hostcond without its address
	anyPort = 0xffffffff
)

// mostPrefixes keeps a program shorter than its jumps can say: those beyond are not
// looked for.
const mostPrefixes = 1000

// picking is the program that lets through the sockets whose peer is in one of the
// prefixes, or in none of them. An IPv4 prefix is an IPv6 socket's mapped peer too.
func picking(peers []netip.Prefix, in bool) []byte {
	var program []byte
	peers = peers[:min(len(peers), mostPrefixes)]
	length := 0
	for _, p := range peers {
		length += 2*opLen + peerLen + p.Addr().BitLen()/8
	}
	if in {
		length += opLen
	}
	op := func(code uint8, yes uint8, no int) {
		program = append(program, code, yes)
		program = binary.NativeEndian.AppendUint16(program, uint16(no))
	}
	// jump goes on behind the program, or past its end. The kernel checks that each step
	// is followed by the next where it holds, so a way out is a jump, which never holds.
	jump := func(picked bool) {
		to := length - len(program)
		if !picked {
			to += opLen
		}
		op(opJump, opLen, to)
	}
	for _, p := range peers {
		size := opLen + peerLen + p.Addr().BitLen()/8
		op(opPeer, uint8(size), size+opLen)
		family := byte(familyIPv6)
		if p.Addr().Is4() {
			family = familyIPv4
		}
		program = append(program, family, uint8(p.Bits()), 0, 0)
		program = binary.NativeEndian.AppendUint32(program, anyPort)
		program = append(program, p.Addr().AsSlice()...)
		jump(in)
	}
	if in {
		jump(false)
	}
	return program
}

// pickingRequest asks for the connections whose peers picking lets through: with what is to
// be told of each (idiag_ext), and those too that wait for the answer to their SYN; or,
// where that is nothing, only that they are there.
func pickingRequest(peers []netip.Prefix, in bool, tell uint8) []byte {
	b := allRequest(0, 0)
	if b[3] = tell; tell != 0 {
		binary.NativeEndian.PutUint32(b[52:], carrying|1<<SynSent)
	}
	if len(peers) > 0 {
		b = append(b, nlattr.Encode(diagBytecode, picking(peers, in))...)
	}
	return b
}

// singleRequest asks for one connection, by struct inet_diag_req_v2.
func singleRequest(d Detail) []byte {
	family := uint8(familyIPv6)
	if d.Src.Is4() {
		family = familyIPv4
	}
	b := Query{Proto: flow.TCP, Dport: d.Dport}.request(family)
	b[2] = everything
	binary.BigEndian.PutUint16(b[8:], d.Sport)
	copy(b[12:28], d.Src.AsSlice())
	copy(b[28:44], d.Dst.AsSlice())
	binary.NativeEndian.PutUint32(b[44:], uint32(d.Link))
	binary.NativeEndian.PutUint64(b[48:], d.Cookie)
	return b
}
