// Package framing counts bytes on the wire: what headers, tags and frames
// cost, and so what payload a link or a shaper lets through.
package framing

import (
	"cmp"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Bytes a frame costs beside its payload. IEEE 802.3: header 14, FCS 4,
// preamble and SFD 8, gap 12; 802.1Q: tag 4. RFC 791, 8200, 9293, 768; RFC
// 7323: timestamps are 10 bytes and Linux pads them with two NOPs; RFC 8684:
// a DSS option with 64-bit sequence and acknowledgement is 20 bytes or more.
const (
	EthernetHeader = 14
	ethernetLine   = 38
	TagBytes       = 4
	Ipv4Header     = 20
	ipv6Header     = 40
	TcpHeader      = 20
	TcpTimestamps  = 12
	udpHeader      = 8
	mptcpDSS       = 20
)

// protocols is the one table of protocols: bytes of header above IP, and
// whether TCP's options, windows and buffers apply.
var protocols = map[string]struct {
	header int
	tcp    bool
}{
	"tcp":   {header: TcpHeader, tcp: true},
	"mptcp": {header: TcpHeader + mptcpDSS, tcp: true},
	"udp":   {header: udpHeader},
}

// Known reports a protocol of the table.
func Known(protocol string) bool {
	_, ok := protocols[protocol]
	return ok
}

// IsTCP reports a protocol that has TCP's options, windows and buffers.
func IsTCP(protocol string) bool { return protocols[protocol].tcp }

// DefaultMTU is Ethernet's, taken where a link's MTU is unknown.
const DefaultMTU = 1500

// LinkPayload is the TCP payload (with timestamps) that one link sends at
// most in one direction, frames of the given MTU with that many VLAN tags. A
// root qdisc's rate below the link's speed, or in place of an unknown speed,
// counts as a shaper. Zero when neither is known.
//
// A link that counts as a shaper does not count tags: the kernel carries them
// beside the packet (__vlan_hwaccel_put_tag), so qdisc_pkt_len_init sees MTU +
// 14 bytes (tbf, netem on 6.1).
func LinkPayload(l netstate.Link, mtu, tags int, ipv6 bool) unit.BitRate {
	return LinkPayloadOf("tcp", l, mtu, tags, ipv6)
}

// LinkPayloadOf is LinkPayload of a protocol: "tcp", "udp" or "mptcp"; "" is
// tcp.
func LinkPayloadOf(protocol string, l netstate.Link, mtu, tags int, ipv6 bool) unit.BitRate {
	return PacketPayload(protocol, l, mtu, 0, tags, 0, ipv6)
}

// PacketPayload is LinkPayloadOf where a packet carries that much payload
// instead of filling the MTU; zero, and what does not fit, fill it. Outer is what
// tunnels put around its frame.
func PacketPayload(protocol string, l netstate.Link, mtu, payload, tags, outer int, ipv6 bool) unit.BitRate {
	headers := HeaderBytes(protocol, ipv6)
	if payload > 0 && payload+headers < mtu {
		mtu = payload + headers
	}
	c := CapacityOf(l, true)
	return unit.BitRate(float64(c.Rate) * c.Share(Segment{Mtu: mtu, Headers: headers, Outer: outer}, tags))
}

// HeaderBytes is what IP and the protocol put before the payload of a full
// segment, TCP's timestamps included.
func HeaderBytes(protocol string, ipv6 bool) int {
	return Headers(cmp.Or(protocol, "tcp"), ipv6, true)
}

func Headers(protocol string, ipv6, timestamps bool) int {
	p := protocols[protocol]
	n := p.header + Ipv4Header
	if ipv6 {
		n = p.header + ipv6Header
	}
	if p.tcp && timestamps {
		n += TcpTimestamps
	}
	return n
}

// Segment is one full packet: its MTU, the header bytes from IP up, and what
// tunnels put around its frame.
type Segment struct{ Mtu, Headers, Outer int }

func (s Segment) Payload() int { return max(0, s.Mtu-s.Headers) }

// Frame is the bytes that a link or shaper counts for the segment.
func (s Segment) Frame(framing netstate.Framing, tags int) int {
	if framing == netstate.FramingL2 {
		return s.Mtu + s.Outer + EthernetHeader + TagBytes*tags
	}
	return s.Mtu + s.Outer + ethernetLine + TagBytes*tags
}

func (s Segment) Share(framing netstate.Framing, tags int) float64 {
	frame := s.Frame(framing, tags)
	if frame <= 0 {
		return 0
	}
	return float64(s.Payload()) / float64(frame)
}

// Capacity is what one link lets through in one direction.
type Capacity struct {
	Rate    unit.BitRate // zero unknown
	Framing netstate.Framing
	// Shaped: a root qdisc is slower than the link's speed, or all that is
	// known of it.
	Shaped bool
}

// CapacityOf is the link's capacity to send, or to receive. A qdisc shapes
// what leaves; for what arrives it counts only where nothing else is known.
func CapacityOf(l netstate.Link, transmit bool) Capacity {
	c := Capacity{Rate: l.Speed, Framing: l.Framing}
	shaper := RootRate(l)
	if shaper > 0 && (c.Rate == 0 || transmit && shaper < c.Rate) {
		return Capacity{Rate: shaper, Framing: netstate.FramingL2, Shaped: true}
	}
	return c
}

// CountedTags is how many of a frame's VLAN tags the capacity counts.
func (c Capacity) CountedTags(tags int) int {
	if c.Framing == netstate.FramingL2 {
		return 0
	}
	return tags
}

func (c Capacity) Share(s Segment, tags int) float64 { return s.Share(c.Framing, c.CountedTags(tags)) }

// RootRate is the lowest rate of the link's root qdiscs; zero when none shapes.
func RootRate(l netstate.Link) unit.BitRate {
	var rate unit.BitRate
	for _, q := range l.Qdiscs {
		if q.Parent == "root" && q.Rate > 0 && (rate == 0 || q.Rate < rate) {
			rate = q.Rate
		}
	}
	return rate
}
