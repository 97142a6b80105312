package steering

import (
	"math/rand/v2"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// kind is a sort of traffic to check the hash with.
type kind struct {
	name string
	draw func(g generator) flow.Frame
}

// generator draws frames; their MAC addresses are set afterwards.
type generator struct{ r *rand.Rand }

// kinds are all sorts that a bond may be given. Each is drawn equally often.
var kinds = [...]kind{
	{"tcp", func(g generator) flow.Frame { return g.ports(g.any(), flow.TCP) }},
	{"tcp4", func(g generator) flow.Frame { return g.ports(g.v4(), flow.TCP) }},
	{"udp", func(g generator) flow.Frame { return g.ports(g.any(), flow.UDP) }},
	{"udp6", func(g generator) flow.Frame { return g.ports(g.v6(), flow.UDP) }},
	{"sctp", func(g generator) flow.Frame { return g.ports(g.any(), flow.SCTP) }},
	{"dccp", func(g generator) flow.Frame { return g.ports(g.any(), flow.DCCP) }},
	{"udplite", func(g generator) flow.Frame { return g.ports(g.any(), flow.UDPLite) }},
	{"esp", func(g generator) flow.Frame { return g.spi(g.any(), flow.ESP) }},
	{"ah", func(g generator) flow.Frame { return g.spi(g.any(), flow.AH) }},
	{"other protocols", func(g generator) flow.Frame { return g.plain(g.any()) }},
	{"icmp echo", func(g generator) flow.Frame { return g.message(g.v4(), flow.ICMP, pick[byte](g.r, 8, 0)) }},
	{"icmp", func(g generator) flow.Frame { return g.message(g.v4(), flow.ICMP, byte(g.r.Uint32())) }},
	{"icmp errors", func(g generator) flow.Frame { return g.message(g.v4(), flow.ICMP, pick[byte](g.r, 3, 4, 5, 11, 12)) }},
	{"icmpv6 echo", func(g generator) flow.Frame { return g.message(g.v6(), flow.ICMPv6, pick[byte](g.r, 128, 129)) }},
	{"icmpv6", func(g generator) flow.Frame { return g.message(g.v6(), flow.ICMPv6, byte(g.r.Uint32())) }},
	{"icmpv6 errors", func(g generator) flow.Frame { return g.message(g.v6(), flow.ICMPv6, pick[byte](g.r, 1, 2, 3, 4)) }},
	{"neighbour discovery", func(g generator) flow.Frame {
		return g.message(g.v6(), flow.ICMPv6, pick[byte](g.r, 133, 134, 135, 136))
	}},
	{"fragments", func(g generator) flow.Frame { return g.fragment(g.v4()) }},
	{"fragments of IPv6", func(g generator) flow.Frame { return g.fragment(g.v6()) }},
	{"extension headers", func(g generator) flow.Frame { return g.extended() }},
	{"IP in IP", func(g generator) flow.Frame { return g.tunnel(false) }},
	{"GRE", func(g generator) flow.Frame { return g.tunnel(true) }},
	{"ARP", func(g generator) flow.Frame { return flow.Frame{EtherType: pick[uint16](g.r, etherARP, etherRARP)} }},
	{"not IP", func(g generator) flow.Frame {
		return flow.Frame{EtherType: pick[uint16](g.r, 0x88cc, 0x88b5, 0x9000, 0x0026)}
	}},
	{"inline tags", func(g generator) flow.Frame { return g.tagged() }},
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// draw is the frame of the n-th flow, as the policy can know it.
func (g generator) draw(policy netstate.HashPolicy, n int) (flow.Frame, string) {
	k := kinds[n%len(kinds)]
	encap := policy == netstate.Encap23 || policy == netstate.Encap34
	if k.name == "inline tags" && encap {
		k = kinds[0] // read or not by the way the frame came: not to be known
	}
	f := k.draw(g)
	f.SrcMAC, f.DstMAC = randomMAC(g.r), randomMAC(g.r)
	f.Forwarded = policy == netstate.Encap34
	return f, k.name
}

func (g generator) v4() flow.Frame {
	return flow.Frame{Tuple: flow.Tuple{Src: randomV4(g.r), Dst: randomV4(g.r)}}
}

func (g generator) v6() flow.Frame {
	return flow.Frame{Tuple: flow.Tuple{Src: randomV6(g.r), Dst: randomV6(g.r)}}
}

func (g generator) any() flow.Frame {
	if g.r.IntN(2) == 0 {
		return g.v4()
	}
	return g.v6()
}

func (g generator) ports(f flow.Frame, p flow.Proto) flow.Frame {
	f.Proto, f.Sport, f.Dport = p, uint16(1+g.r.IntN(1<<16-1)), uint16(1+g.r.IntN(1<<16-1))
	return f
}

func (g generator) spi(f flow.Frame, p flow.Proto) flow.Frame {
	f.Proto, f.SPI = p, 1+uint32(g.r.Int32())
	return f
}

// plain are protocols of which the kernel reads nothing: IGMP, OSPF, PIM,
// VRRP, an experiment's, mobility, and no next header.
func (g generator) plain(f flow.Frame) flow.Frame {
	f.Proto = pick[flow.Proto](g.r, 2, 89, 103, 112, 253, 135, 59)
	return f
}

// payload is a packet of any kind that has no further one inside.
func (g generator) payload(f flow.Frame) flow.Frame {
	switch g.r.IntN(5) {
	case 0:
		return g.ports(f, flow.TCP)
	case 1:
		return g.ports(f, flow.UDP)
	case 2:
		return g.spi(f, pick(g.r, flow.ESP, flow.AH))
	case 3:
		if f.Src.Is4() {
			return g.message(f, flow.ICMP, 8)
		}
		return g.message(f, flow.ICMPv6, 128)
	}
	return g.fragment(f)
}

// message is an ICMP message, with the packet that it quotes where it is an
// error.
func (g generator) message(f flow.Frame, p flow.Proto, kind byte) flow.Frame {
	f.Proto = p
	f.ICMP = &flow.ICMPHeader{Type: kind, Code: byte(g.r.IntN(16))}
	if f.ICMP.HasID() && g.r.IntN(8) > 0 {
		f.ICMP.ID = uint16(g.r.Uint32())
	}
	if f.ICMP.IsError(p) {
		quoted := g.v4()
		if f.Src.Is6() {
			quoted = g.v6()
			if quoted.Extended = g.r.IntN(4) == 0; quoted.Extended {
				quoted = g.ports(quoted, flow.UDP)
				f.Inner = &quoted
				return f
			}
		}
		quoted = g.payload(quoted)
		f.Inner = &quoted
	}
	return f
}

func (g generator) fragment(f flow.Frame) flow.Frame {
	f.Proto, f.Fragment, f.Extended = pick(g.r, flow.TCP, flow.UDP, flow.ICMP, flow.ESP), true, f.Src.Is6()
	return f
}

func (g generator) extended() flow.Frame {
	f := g.payload(g.v6())
	f.Extended = true
	return f
}

// tunnel is a packet in a packet, and now and then in one more.
func (g generator) tunnel(gre bool) flow.Frame {
	inner := g.payload(g.any())
	if g.r.IntN(4) == 0 {
		inner = g.around(inner, g.r.IntN(2) == 0)
	}
	return g.around(inner, gre)
}

func (g generator) around(inner flow.Frame, gre bool) flow.Frame {
	f := g.any()
	f.Extended = f.Src.Is6() && g.r.IntN(4) == 0
	f.Proto = flow.IPIP
	if inner.Src.Is6() {
		f.Proto = flow.IPv6
	}
	if gre {
		f.Proto = flow.GRE
		switch g.r.IntN(6) {
		case 0, 1: // an Ethernet frame
			inner.SrcMAC, inner.DstMAC = randomMAC(g.r), randomMAC(g.r)
			if g.r.IntN(3) == 0 {
				inner.EtherType = pick[uint16](g.r, etherVLAN, etherQinQ)
			}
		case 2:
			inner = flow.Frame{EtherType: pick[uint16](g.r, etherARP, 0x88cc)}
		}
	}
	f.Inner = &inner
	return f
}

// tagged is a frame whose tag is part of its bytes.
func (g generator) tagged() flow.Frame {
	f := g.payload(g.any())
	f.EtherType = pick[uint16](g.r, etherVLAN, etherQinQ)
	return f
}

// taggedInside reports a tag inside a tunnel.
func taggedInside(f flow.Frame) bool {
	for at := f.Inner; at != nil; at = at.Inner {
		if at.EtherType == etherVLAN || at.EtherType == etherQinQ {
			return true
		}
	}
	return false
}
