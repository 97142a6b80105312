package steering

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"

	"github.com/linerate/linerate/flow"
)

// EtherTypes (IEEE 802 numbers).
const (
	etherIPv4 = 0x0800
	etherARP  = 0x0806
	etherTEB  = 0x6558
	etherRARP = 0x8035
	etherVLAN = 0x8100
	etherIPv6 = 0x86dd
	etherQinQ = 0x88a8
)

// coder puts frames on the wire. What a frame leaves open (options, extension
// headers, offsets, fields that no hash reads) it draws. Checksums are left
// out, since nothing receives the frames.
type coder struct{ r *rand.Rand }

func (c coder) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(c.r.Uint32())
	}
	return b
}

// frame is the Ethernet frame of f, whose tag, if any, is inline.
func (c coder) frame(f flow.Frame) []byte {
	wire := append(append([]byte(nil), f.DstMAC[:]...), f.SrcMAC[:]...)
	kind := kindOf(f)
	switch {
	case f.EtherType == etherVLAN || f.EtherType == etherQinQ:
		wire = binary.BigEndian.AppendUint16(wire, f.EtherType)
		wire = binary.BigEndian.AppendUint16(wire, uint16(c.r.Uint32()))
		wire = binary.BigEndian.AppendUint16(wire, kind)
	case f.EtherType != 0:
		wire = binary.BigEndian.AppendUint16(wire, f.EtherType)
	default:
		wire = binary.BigEndian.AppendUint16(wire, kind)
	}
	if !f.Src.IsValid() {
		return append(wire, c.bytes(38)...)
	}
	return append(wire, c.packet(f)...)
}

func kindOf(f flow.Frame) uint16 {
	if f.Src.Is4() {
		return etherIPv4
	}
	return etherIPv6
}

func (c coder) packet(f flow.Frame) []byte {
	if f.Src.Is4() {
		return c.ipv4(f)
	}
	return c.ipv6(f)
}

func (c coder) ipv4(f flow.Frame) []byte {
	options := 0
	if c.r.IntN(4) == 0 {
		options = 1 + c.r.IntN(10)
	}
	head := append(c.bytes(20), c.bytes(4*options)...)
	head[0], head[8], head[9] = 0x40|byte(5+options), 64, byte(f.Proto)
	payload := c.transport(f)
	binary.BigEndian.PutUint16(head[2:], uint16(len(head)+len(payload)))
	bits := uint16(c.r.IntN(2)) << 14 // do not fragment: no fragment
	if f.Fragment {
		bits = c.fragmentBits()
	}
	binary.BigEndian.PutUint16(head[6:], bits)
	copy(head[12:], f.Src.AsSlice())
	copy(head[16:], f.Dst.AsSlice())
	return append(head, payload...)
}

// fragmentBits are those of a first, a middle or a last fragment.
func (c coder) fragmentBits() uint16 {
	offset := uint16(1 + c.r.IntN(0x1ffe))
	return [...]uint16{0x2000, 0x2000 | offset, offset}[c.r.IntN(3)]
}

// extensions are the IPv6 headers that the dissector walks.
var extensions = [...]byte{0, 43, 60}

func (c coder) ipv6(f flow.Frame) []byte {
	var chain [][]byte // innermost first
	next := byte(f.Proto)
	if f.Fragment {
		head := c.bytes(8)
		head[0] = next
		chain, next = append(chain, head), 44
	}
	if f.Extended && (!f.Fragment || c.r.IntN(2) == 0) {
		for range 1 + c.r.IntN(3) {
			units := c.r.IntN(3)
			head := c.bytes(8 * (units + 1))
			head[0], head[1] = next, byte(units)
			chain, next = append(chain, head), extensions[c.r.IntN(len(extensions))]
		}
	}
	wire := make([]byte, 40)
	wire[0], wire[6], wire[7] = 0x60, next, 64
	copy(wire[1:4], c.bytes(3)) // traffic class and flow label
	wire[1] &= 0x0f
	copy(wire[8:], f.Src.AsSlice())
	copy(wire[24:], f.Dst.AsSlice())
	for i := len(chain) - 1; i >= 0; i-- {
		wire = append(wire, chain[i]...)
	}
	wire = append(wire, c.transport(f)...)
	binary.BigEndian.PutUint16(wire[4:], uint16(len(wire)-40))
	return wire
}

func (c coder) transport(f flow.Frame) []byte {
	body := c.bytes(20)
	if f.Fragment {
		return body
	}
	switch f.Proto {
	case flow.TCP, flow.UDP, flow.SCTP, flow.DCCP, flow.UDPLite:
		binary.BigEndian.PutUint16(body, f.Sport)
		binary.BigEndian.PutUint16(body[2:], f.Dport)
		body[12] = 5 << 4 // a TCP header without options
	case flow.ESP:
		binary.BigEndian.PutUint32(body, f.SPI)
	case flow.AH:
		binary.BigEndian.PutUint32(body[4:], f.SPI)
	case flow.ICMP, flow.ICMPv6:
		body[0], body[1] = f.ICMP.Type, f.ICMP.Code
		if f.ICMP.HasID() {
			binary.BigEndian.PutUint16(body[4:], f.ICMP.ID)
		}
		if f.Inner != nil {
			body = append(body[:8], c.packet(*f.Inner)...)
		}
	case flow.IPIP, flow.IPv6:
		body = c.packet(*f.Inner)
	case flow.GRE:
		body = c.gre(*f.Inner)
	}
	return body
}

// gre is version 0 with any of its fields, around IP or an Ethernet frame.
func (c coder) gre(inner flow.Frame) []byte {
	flags := uint16(0)
	head := make([]byte, 4)
	for _, field := range [...]uint16{0x8000, 0x2000, 0x1000} {
		if c.r.IntN(2) == 0 {
			flags |= field
			head = append(head, c.bytes(4)...)
		}
	}
	binary.BigEndian.PutUint16(head, flags)
	if !inner.DstMAC.IsZero() {
		binary.BigEndian.PutUint16(head[2:], etherTEB)
		return append(head, c.frame(inner)...)
	}
	if !inner.Src.IsValid() {
		binary.BigEndian.PutUint16(head[2:], inner.EtherType)
		return append(head, c.bytes(20)...)
	}
	binary.BigEndian.PutUint16(head[2:], kindOf(inner))
	return append(head, c.packet(inner)...)
}

func randomMAC(r *rand.Rand) (m flow.MAC) {
	for i := range m {
		m[i] = byte(r.Uint32())
	}
	m[0] = m[0]&0xfc | 2 // locally administered, unicast
	return m
}

func randomV4(r *rand.Rand) netip.Addr {
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], r.Uint32())
	return netip.AddrFrom4(a)
}

func randomV6(r *rand.Rand) netip.Addr {
	var a [16]byte
	binary.BigEndian.PutUint64(a[:], r.Uint64())
	binary.BigEndian.PutUint64(a[8:], r.Uint64())
	a[0] = 0xfd
	return netip.AddrFrom16(a)
}
