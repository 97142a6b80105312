package steer

import (
	"math/bits"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Ethertypes as the frame's header has them (IEEE 802 numbers).
const (
	etherIPv4 uint16 = 0x0800
	etherARP  uint16 = 0x0806
	etherRARP uint16 = 0x8035
	etherVLAN uint16 = 0x8100
	etherIPv6 uint16 = 0x86dd
	etherQinQ uint16 = 0x88a8
)

// Protocols whose headers identify a flow, in the words of the hashes.
const (
	protoDCCP    = flow.DCCP
	protoESP     = flow.ESP
	protoAH      = flow.AH
	protoSCTP    = flow.SCTP
	protoUDPLite = flow.UDPLite
)

// typeField is the frame's type field; without one given or addresses to tell
// it is IPv4's.
func typeField(f *flow.Frame) uint16 {
	switch {
	case f.EtherType != 0:
		return f.EtherType
	case Is6(f.Src) || Is6(f.Dst):
		return etherIPv6
	}
	return etherIPv4
}

// isIP reports a frame whose type field says IP.
func isIP(f *flow.Frame) bool {
	return f.EtherType == 0 || f.EtherType == etherIPv4 || f.EtherType == etherIPv6
}

func isIPv6(f *flow.Frame) bool {
	if f.EtherType != 0 {
		return f.EtherType == etherIPv6 || f.EtherType != etherIPv4 && Is6(f.Src)
	}
	return Is6(f.Src)
}

// dissect is what the driver reads out of the headers behind the Ethernet one
// (bond_flow_dissect): the packet whose addresses count, nil for none, and the
// first word of the hash of layer3+4 and encap3+4. Without IP the hash is that
// of the Ethernet header. The caller has ruled out what is unknowable.
func (h Hasher) dissect(f *flow.Frame) (from *flow.Frame, word uint32, ip bool) {
	if h.Policy == netstate.Encap23 || h.Policy == netstate.Encap34 {
		return h.walk(f)
	}
	if !isIP(f) {
		return nil, 0, false
	}
	if f.Extended || f.Fragment {
		return f, 0, true // the first next header has no ports
	}
	if isICMP(f) && h.Era <= EraRawID {
		if f.ICMP == nil {
			return f, 0, true
		}
		if f.ICMP.IsError(f.Proto) {
			q := f.Inner
			if q.Extended || q.Fragment {
				return q, 0, true
			}
			return q, h.ports(q), true
		}
		return f, h.identifier(f.ICMP), true
	}
	return f, h.ports(f), true
}

// walk follows tunnels and extension headers as the flow dissector does
// (__skb_flow_dissect, net/core/flow_dissector.c).
func (h Hasher) walk(f *flow.Frame) (from *flow.Frame, word uint32, ip bool) {
	for at := f; ; at = at.Inner {
		switch {
		case !isIP(at) && !(from != nil && isTag(at)):
			// ARP is a success that sets no addresses.
			return from, 0, isARP(at) && h.Era < EraRawProto
		case at.Fragment:
			return at, 0, true
		case isTunnel(at):
			from = at
		case isICMP(at):
			if h.Era <= EraRawID && at.ICMP != nil {
				word = h.identifier(at.ICMP)
			}
			return at, word, true
		default:
			return at, h.ports(at), true
		}
	}
}

func isARP(f *flow.Frame) bool { return f.EtherType == etherARP || f.EtherType == etherRARP }

func isTag(f *flow.Frame) bool { return f.EtherType == etherVLAN || f.EtherType == etherQinQ }

func isICMP(f *flow.Frame) bool { return f.Proto == flow.ICMP || f.Proto == flow.ICMPv6 }

// isTunnel reports a packet that carries another in its payload.
func isTunnel(f *flow.Frame) bool {
	return f.Proto == flow.IPIP || f.Proto == flow.IPv6 || f.Proto == flow.GRE
}

// ports is the four bytes at the start of the transport header, raw; zero
// where the kernel reads none (skb_flow_get_ports, proto_ports_offset).
func (h Hasher) ports(f *flow.Frame) uint32 {
	switch f.Proto {
	case flow.TCP, flow.UDP, protoDCCP, protoSCTP, protoUDPLite:
		return h.raw(uint32(f.Sport)<<16 | uint32(f.Dport))
	case protoESP, protoAH:
		return h.raw(f.SPI)
	}
	return 0
}

// identifier is type, code and identifier of an ICMP message that has one, as
// the four bytes lie in struct flow_dissector_key_icmp; zero for others
// (skb_flow_get_icmp_tci).
func (h Hasher) identifier(m *flow.ICMPHeader) uint32 {
	if !m.HasID() {
		return 0
	}
	id := m.ID
	switch {
	case id == 0:
		id = 1
	case h.Era >= EraRawID && !h.BigEndian:
		id = bits.ReverseBytes16(id)
	}
	if h.BigEndian {
		return uint32(m.Type)<<24 | uint32(m.Code)<<16 | uint32(id)
	}
	return uint32(m.Type) | uint32(m.Code)<<8 | uint32(id)<<16
}
