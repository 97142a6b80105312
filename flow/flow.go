// Package flow is the vocabulary of traffic: a five-tuple, the frame around it,
// a lane (a pair of addresses), a direction. Plain data. Don't ask it which
// link a flow takes: that is steer's.
package flow

import (
	"fmt"
	"net/netip"
)

// Proto is an IP protocol number (IANA "Protocol Numbers").
type Proto uint8

// The protocols linerate names: transports, IPsec and tunnels.
const (
	ICMP    Proto = 1
	IPIP    Proto = 4
	TCP     Proto = 6
	UDP     Proto = 17
	DCCP    Proto = 33
	IPv6    Proto = 41
	GRE     Proto = 47
	ESP     Proto = 50
	AH      Proto = 51
	ICMPv6  Proto = 58
	SCTP    Proto = 132
	UDPLite Proto = 136
)

// protoNames is the one table of protocol words.
var protoNames = [...]struct {
	p    Proto
	name string
}{
	{TCP, "tcp"}, {UDP, "udp"}, {ICMP, "icmp"}, {ICMPv6, "icmpv6"}, {SCTP, "sctp"}, {DCCP, "dccp"},
	{UDPLite, "udplite"}, {ESP, "esp"}, {AH, "ah"}, {GRE, "gre"}, {IPIP, "ipip"}, {IPv6, "ipv6"},
}

// String is the lower-case name, or the number of a protocol without one.
func (p Proto) String() string {
	for _, n := range protoNames {
		if n.p == p {
			return n.name
		}
	}
	return fmt.Sprintf("%d", uint8(p))
}

// MarshalText writes what UnmarshalText reads.
func (p Proto) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a name of the table or a number from 0 to 255.
func (p *Proto) UnmarshalText(b []byte) error {
	for _, n := range protoNames {
		if n.name == string(b) {
			*p = n.p
			return nil
		}
	}
	var v uint8
	if _, err := fmt.Sscanf(string(b), "%d", &v); err != nil || fmt.Sprint(v) != string(b) {
		return fmt.Errorf("parse protocol %q: want tcp, udp, icmp, icmpv6, sctp, esp, gre or a number", b)
	}
	*p = Proto(v)
	return nil
}

// HasPorts reports a transport whose header begins with two ports.
func (p Proto) HasPorts() bool {
	switch p {
	case TCP, UDP, DCCP, SCTP, UDPLite:
		return true
	}
	return false
}

// Tuple is a flow as IP sees it. Ports are zero for protocols without ports.
type Tuple struct {
	Proto Proto      `json:"proto"`
	Src   netip.Addr `json:"src"`
	Dst   netip.Addr `json:"dst"`
	Sport uint16     `json:"sport"`
	Dport uint16     `json:"dport"`
}

// Reverse is the tuple of the packets that answer t.
func (t Tuple) Reverse() Tuple {
	return Tuple{Proto: t.Proto, Src: t.Dst, Dst: t.Src, Sport: t.Dport, Dport: t.Sport}
}

// String prints "tcp 10.0.0.1:40000 > 10.0.0.2:5201".
func (t Tuple) String() string {
	return fmt.Sprintf("%s %s > %s", t.Proto, netip.AddrPortFrom(t.Src, t.Sport), netip.AddrPortFrom(t.Dst, t.Dport))
}

// MAC is an Ethernet address. The zero MAC means unknown.
type MAC [6]byte

// ParseMAC reads six colon-separated bytes.
func ParseMAC(s string) (MAC, error) {
	var m MAC
	if len(s) != 17 {
		return m, fmt.Errorf("parse MAC %q: want six bytes such as 02:00:00:00:01:11", s)
	}
	for i := range m {
		hi, lo := nibble(s[3*i]), nibble(s[3*i+1])
		if hi < 0 || lo < 0 || (i < 5 && s[3*i+2] != ':') {
			return MAC{}, fmt.Errorf("parse MAC %q: want six bytes such as 02:00:00:00:01:11", s)
		}
		m[i] = byte(hi<<4 | lo)
	}
	return m, nil
}

func nibble(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// IsZero reports an unknown MAC.
func (m MAC) IsZero() bool { return m == MAC{} }

// String prints the lower-case colon form; "" for the zero MAC.
func (m MAC) String() string {
	if m.IsZero() {
		return ""
	}
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// MarshalText writes String.
func (m MAC) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (m *MAC) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*m = MAC{}
		return nil
	}
	v, err := ParseMAC(string(b))
	*m = v
	return err
}

// Frame is a flow with what Ethernet adds: what a hash over layer 2 needs.
type Frame struct {
	Tuple
	SrcMAC MAC `json:"smac"`
	// DstMAC is the next hop's address: the peer's own only on one subnet.
	DstMAC MAC `json:"dmac"`
	// VLAN is the accelerated tag, priority bits included; zero for none.
	VLAN uint16 `json:"vlan"`
	// NoSport and NoDport mark a port that is not given, or that the kernel is
	// yet to choose: it is zero, and a hash that reads it unknown.
	NoSport bool `json:"no_sport,omitempty"`
	NoDport bool `json:"no_dport,omitempty"`
	// Fragment marks a packet with the more-fragments bit or an offset: the
	// kernel reads no ports in it.
	Fragment bool `json:"fragment,omitempty"`
	// Extended marks IPv6 extension headers before the transport: hashes that
	// do not walk them read no ports. Proto is the transport's own.
	Extended bool `json:"extended,omitempty"`
	// EtherType is the frame's own where it is not that of its addresses
	// (ARP 0x0806, an inline VLAN tag 0x8100, IPv6 with IPv4-mapped
	// addresses); zero follows from them.
	EtherType uint16 `json:"ethertype,omitempty"`
	// ICMP is the message's header; nil not given.
	ICMP *ICMPHeader `json:"icmp,omitempty"`
	// SPI is the security parameter index of ESP and AH; zero not given.
	SPI uint32 `json:"spi,omitempty"`
	// Inner is the packet inside: what a tunnel carries, or what an ICMP error
	// quotes. Nil for none, or not given.
	Inner *Frame `json:"inner,omitempty"`
	// Forwarded marks a frame that no socket of the sending host made (routed,
	// bridged, or a virtual machine's) and that came without a receive hash
	// (ethtool -k: receive-hashing, and RPS, off): the kernel has neither a
	// socket's random hash nor the card's, and computes its own.
	Forwarded bool `json:"forwarded,omitempty"`
	// FlowLabel is the IPv6 header's flow label of 20 bits; zero for none, or
	// not given.
	FlowLabel uint32 `json:"flow_label,omitempty"`
}

// Direction is which way payload goes between the two hosts of a path, in the
// order the path names them.
type Direction string

// The three directions of a trial.
const (
	Forward Direction = "forward"
	Reverse Direction = "reverse"
	Both    Direction = "both"
)

// Directions lists them in the order tables print them.
func Directions() []Direction { return []Direction{Forward, Reverse, Both} }

// UnmarshalText refuses any other word.
func (d *Direction) UnmarshalText(b []byte) error {
	switch v := Direction(b); v {
	case Forward, Reverse, Both:
		*d = v
		return nil
	}
	return fmt.Errorf("parse direction %q: want forward, reverse or both", b)
}

// Ways is the single directions that d is made of.
func (d Direction) Ways() []Direction {
	if d == Both {
		return []Direction{Forward, Reverse}
	}
	return []Direction{d}
}

// Turned is d with the two hosts named the other way round.
func (d Direction) Turned() Direction {
	switch d {
	case Forward:
		return Reverse
	case Reverse:
		return Forward
	}
	return d
}

// Lane is one pair of addresses that traffic may use between two hosts.
type Lane struct {
	Src netip.Addr `json:"src"`
	Dst netip.Addr `json:"dst"`
}

// Reverse is the lane seen from the other end.
func (l Lane) Reverse() Lane { return Lane{Src: l.Dst, Dst: l.Src} }

// OneFamily reports two addresses that one packet can have: both IPv4, an
// IPv4-mapped one among them, or both IPv6. An address that is not given goes
// with any.
func (l Lane) OneFamily() bool {
	return !l.Src.IsValid() || !l.Dst.IsValid() || l.Src.Unmap().Is4() == l.Dst.Unmap().Is4()
}

// String prints "10.0.0.1 > 10.0.0.2".
func (l Lane) String() string { return l.Src.String() + " > " + l.Dst.String() }
