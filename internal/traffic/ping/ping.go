// Package ping measures round trips, with ICMP echo (RFC 792, RFC 4443) or the
// time that a TCP connection takes, and whether a path lets a packet of a
// given size through unfragmented.
package ping

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// ErrRequest is a request that asks for nothing sensible.
var ErrRequest = errors.New("bad ping request")

// The bounds of one series: a ping is a measurement, never a flood.
const (
	maxCount    = 10_000
	minInterval = time.Millisecond
	maxPacket   = 65_535
	// A connection costs the peer more than an echo.
	minConnectInterval = 5 * time.Millisecond
	// The kernel sends a SYN again after 1 s (TCP_TIMEOUT_INIT): an answer
	// after that says nothing of the round trip, so the first one is lost.
	maxConnectTimeout = 950 * time.Millisecond
	maxPort           = 65_535
)

// usualPacket is what ping(8) sends: 56 bytes behind the headers.
const usualPacket = 84

// fill puts the defaults in and refuses what cannot be done.
func fill(r agentapi.PingRequest) (agentapi.PingRequest, error) {
	if r.Packet == 0 {
		r.Packet = usualPacket
	}
	if r.Interval == 0 {
		r.Interval = 100 * time.Millisecond
	}
	if r.Timeout == 0 {
		r.Timeout = time.Second
	}
	if r.TCP != 0 {
		r.Timeout = min(r.Timeout, maxConnectTimeout)
	}
	switch {
	case !r.Dst.IsValid(), r.Count < 1, r.Count > maxCount:
		return r, ErrRequest
	case r.TCP < 0, r.TCP > maxPort, r.TCP != 0 && (r.Interval < minConnectInterval || r.DontFragment || r.Dst.IsMulticast() || r.Dst.IsUnspecified()):
		return r, ErrRequest
	case r.Interval < minInterval, r.Timeout < 0, r.Timeout > time.Minute:
		return r, ErrRequest
	case r.Packet < headers(r.Dst.Is4()), r.Packet > maxPacket:
		return r, ErrRequest
	}
	return r, nil
}

const (
	echoHeader = 8
	ipv4Header = 20
	ipv6Header = 40
)

// headers is the smallest packet: IP and ICMP headers alone.
func headers(v4 bool) int {
	if v4 {
		return ipv4Header + echoHeader
	}
	return ipv6Header + echoHeader
}

// ICMP message types (IANA "ICMP Type Numbers", "ICMPv6 type Numbers").
const (
	echoReply4   = 0
	echoRequest4 = 8
	echoRequest6 = 128
	echoReply6   = 129
)

// echo is an echo request of size bytes, ICMP header included.
func echo(v4 bool, id, seq uint16, size int) []byte {
	b := make([]byte, size)
	b[0] = echoRequest6
	if v4 {
		b[0] = echoRequest4
	}
	binary.BigEndian.PutUint16(b[4:], id)
	binary.BigEndian.PutUint16(b[6:], seq)
	for i := echoHeader; i < size; i++ {
		b[i] = byte(i)
	}
	if v4 { // the kernel computes ICMPv6's, which covers a pseudo header
		binary.BigEndian.PutUint16(b[2:], checksum(b))
	}
	return b
}

// checksum is RFC 1071's.
func checksum(b []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(b[i])<<8 | uint32(b[i+1])
	}
	if len(b)%2 == 1 {
		sum += uint32(b[len(b)-1]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// parseReply reads an echo reply as the socket gives it: raw IPv4 sockets
// put the IP header in front. ok is false for anything else.
func parseReply(b []byte, v4, withHeader bool) (id, seq uint16, ok bool) {
	if v4 && withHeader {
		if len(b) < ipv4Header {
			return 0, 0, false
		}
		length := int(b[0]&0xf) * 4
		if length < ipv4Header || len(b) < length {
			return 0, 0, false
		}
		b = b[length:]
	}
	want := byte(echoReply6)
	if v4 {
		want = echoReply4
	}
	if len(b) < echoHeader || b[0] != want {
		return 0, 0, false
	}
	return binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint16(b[6:]), true
}
