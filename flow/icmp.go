package flow

import (
	"fmt"
	"strconv"
	"strings"
)

// ICMPHeader is what identifies an ICMP or ICMPv6 message (RFC 792, RFC 4443).
type ICMPHeader struct {
	Type uint8 `json:"type"`
	Code uint8 `json:"code"`
	// ID is the identifier of an echo or timestamp message; zero for others.
	ID uint16 `json:"id"`
}

// ParseICMPHeader reads TYPE, TYPE/CODE or TYPE/CODE/ID as String writes it.
func ParseICMPHeader(s string) (h ICMPHeader, err error) {
	wrong := fmt.Errorf("parse ICMP message %q: want TYPE, TYPE/CODE or TYPE/CODE/ID such as 8/0/4711", s)
	parts := strings.Split(s, "/")
	if len(parts) > 3 {
		return ICMPHeader{}, wrong
	}
	var n [3]uint64
	for i, part := range parts {
		size := 8
		if i == 2 {
			size = 16
		}
		if n[i], err = strconv.ParseUint(part, 10, size); err != nil {
			return ICMPHeader{}, wrong
		}
	}
	return ICMPHeader{Type: uint8(n[0]), Code: uint8(n[1]), ID: uint16(n[2])}, nil
}

// String prints "8/0/4711".
func (h ICMPHeader) String() string { return fmt.Sprintf("%d/%d/%d", h.Type, h.Code, h.ID) }

// HasID reports a type whose messages carry an identifier that the kernel
// hashes: echo and timestamp of either family (icmp_has_id,
// net/core/flow_dissector.c).
func (h ICMPHeader) HasID() bool {
	switch h.Type {
	case 0, 8, 13, 14, 128, 129:
		return true
	}
	return false
}

// IsError reports a message that quotes the packet it is about: for ICMP
// unreachable, source quench, redirect, time exceeded and parameter problem
// (icmp_is_err), for ICMPv6 unreachable, too big, time exceeded and parameter
// problem (icmpv6_is_err).
func (h ICMPHeader) IsError(p Proto) bool {
	if p == ICMPv6 {
		return h.Type >= 1 && h.Type <= 4
	}
	switch h.Type {
	case 3, 4, 5, 11, 12:
		return p == ICMP
	}
	return false
}
