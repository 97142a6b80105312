package sockdiag

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/flow"
)

// Socket is one TCP or UDP socket of a network namespace. An end that is not
// bound or not connected has the unspecified address and port zero.
type Socket struct {
	flow.Tuple
	State State
	// UID owns the socket. Inode is its number under /proc/PID/fd; zero when
	// no process holds it any more (time-wait, orphans, the kernel's own).
	UID, Inode uint32
}

// State is a socket's state (include/net/tcp_states.h).
type State uint8

// The states. UDP sockets are Established when connected, else Close.
const (
	Established State = 1
	SynSent     State = 2
	SynReceived State = 3
	FinWait1    State = 4
	FinWait2    State = 5
	TimeWait    State = 6
	Close       State = 7
	CloseWait   State = 8
	LastAck     State = 9
	Listen      State = 10
	Closing     State = 11
	// NewSynReceived is a handshake whose last segment has not come.
	NewSynReceived State = 12
	// Bound is a TCP socket that has a port and neither listens nor connects;
	// kernels before 6.8 do not list it.
	Bound State = 13
)

// stateWords is the one table of state names, indexed by state.
var stateWords = [...]string{
	"", "established", "syn-sent", "syn-received", "fin-wait-1", "fin-wait-2", "time-wait", "close", "close-wait",
	"last-ack", "listen", "closing", "new-syn-received", "bound",
}

// String is the state's word, "state-N" for one that is newer than this
// program.
func (s State) String() string {
	if s > 0 && int(s) < len(stateWords) {
		return stateWords[s]
	}
	return fmt.Sprintf("state-%d", uint8(s))
}

// Query says which sockets to list.
type Query struct {
	Proto flow.Proto // TCP or UDP
	// Dport is the far end's port; zero is any.
	Dport uint16
	// Listening adds sockets that are not connected to anybody: they listen,
	// or hold a port.
	Listening bool
}

// wants reports whether a socket answers the query.
func (q Query) wants(s Socket) bool {
	if q.Dport != 0 && s.Dport != q.Dport {
		return false
	}
	switch s.State {
	case Listen, Bound, Close:
		return q.Listening
	}
	return true
}

// ErrUnreadable is a message or line that is no socket.
var ErrUnreadable = errors.New("not a socket")

// The layout of struct inet_diag_req_v2 and struct inet_diag_msg
// (include/uapi/linux/inet_diag.h). Both hold a struct inet_diag_sockid:
// ports and addresses in network byte order, the rest in the machine's.
const (
	requestLen  = 56
	messageLen  = 72
	sockID      = 4 // offset in the message
	offsetUID   = 64
	offsetInode = 68
	familyIPv4  = 2
	familyIPv6  = 10
)

// request is struct inet_diag_req_v2 for every socket of one address family.
func (q Query) request(family uint8) []byte {
	b := make([]byte, requestLen)
	b[0], b[1] = family, uint8(q.Proto)
	binary.NativeEndian.PutUint32(b[4:], ^uint32(0)) // every state: wants decides
	binary.BigEndian.PutUint16(b[10:], q.Dport)
	// A cookie of all ones matches every socket (INET_DIAG_NOCOOKIE).
	copy(b[48:], []byte{255, 255, 255, 255, 255, 255, 255, 255})
	return b
}

// parse reads one struct inet_diag_msg; what follows it is ignored.
func parse(b []byte, proto flow.Proto) (Socket, error) {
	if len(b) < messageLen {
		return Socket{}, fmt.Errorf("parse socket message of %d bytes: %w", len(b), ErrUnreadable)
	}
	s := Socket{
		State: State(b[1]),
		UID:   binary.NativeEndian.Uint32(b[offsetUID:]), Inode: binary.NativeEndian.Uint32(b[offsetInode:]),
	}
	s.Proto = proto
	s.Sport, s.Dport = binary.BigEndian.Uint16(b[sockID:]), binary.BigEndian.Uint16(b[sockID+2:])
	src, dst := b[sockID+4:sockID+20], b[sockID+20:sockID+36]
	switch b[0] {
	case familyIPv4:
		s.Src, s.Dst = netip.AddrFrom4([4]byte(src)), netip.AddrFrom4([4]byte(dst))
	case familyIPv6:
		// A socket of both families shows its IPv4 peers mapped.
		s.Src, s.Dst = netip.AddrFrom16([16]byte(src)).Unmap(), netip.AddrFrom16([16]byte(dst)).Unmap()
	default:
		return Socket{}, fmt.Errorf("parse socket message of family %d: %w", b[0], ErrUnreadable)
	}
	return s, nil
}
