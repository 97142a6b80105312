package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// Errors of ParseFrame.
var (
	// ErrTruncated: the bytes end inside a header.
	ErrTruncated = errors.New("truncated packet")
	// ErrMalformed: a header contradicts itself.
	ErrMalformed = errors.New("malformed packet")
	// ErrTooDeep: more headers than a kernel would follow.
	ErrTooDeep = errors.New("too many headers")
)

// EtherTypes that ParseFrame follows (IEEE 802 numbers).
const (
	etherIPv4 = 0x0800
	etherTEB  = 0x6558 // Ethernet inside GRE
	etherVLAN = 0x8100
	etherIPv6 = 0x86dd
	etherQinQ = 0x88a8
)

// IPv6 extension headers that are walked (RFC 8200), as the kernel's flow
// dissector walks them (__skb_flow_dissect, net/core/flow_dissector.c).
const (
	nextHopByHop    = 0
	nextRouting     = 43
	nextFragment    = 44
	nextDestination = 60
)

// mostHeaders is MAX_FLOW_DISSECT_HDRS (net/core/flow_dissector.c).
const mostHeaders = 15

// ParseFrame reads an Ethernet frame as it is handed to a link, from the
// destination address on and without FCS. A tag in the bytes is an inline one:
// EtherType is then the tag's 0x8100 or 0x88a8, and the addresses are those of
// the packet behind all tags. A frame that is no IP has its EtherType and no
// addresses. Fragments have no ports, the first one included. Inner is the
// packet in a tunnel (IP in IP, GRE version 0) or in an ICMP error; nil for
// GRE that says no more. Forwarded is left false. Errors are ErrTruncated,
// ErrMalformed and ErrTooDeep.
func ParseFrame(wire []byte) (Frame, error) {
	p := parser{budget: mostHeaders}
	f, err := p.ethernet(wire)
	if err != nil {
		return Frame{}, fmt.Errorf("parse frame: %w", err)
	}
	return f, nil
}

// parser counts the headers of one frame.
type parser struct{ budget int }

func (p *parser) next() error {
	if p.budget == 0 {
		return ErrTooDeep
	}
	p.budget--
	return nil
}

// need is the first n bytes, or ErrTruncated.
func need(b []byte, n int, what string) error {
	if len(b) < n {
		return fmt.Errorf("%s: %d of %d bytes: %w", what, len(b), n, ErrTruncated)
	}
	return nil
}

func (p *parser) ethernet(b []byte) (f Frame, err error) {
	if err := need(b, 14, "Ethernet header"); err != nil {
		return f, err
	}
	copy(f.DstMAC[:], b)
	copy(f.SrcMAC[:], b[6:])
	kind := binary.BigEndian.Uint16(b[12:])
	if kind == 0 {
		return f, fmt.Errorf("EtherType 0: %w", ErrMalformed)
	}
	b = b[14:]
	outer := kind
	for kind == etherVLAN || kind == etherQinQ {
		if err := errors.Join(p.next(), need(b, 4, "VLAN tag")); err != nil {
			return f, err
		}
		kind, b = binary.BigEndian.Uint16(b[2:]), b[4:]
	}
	if kind == etherIPv4 || kind == etherIPv6 {
		err = p.packet(&f, kind, b)
	}
	if outer != kind || kind != etherIPv4 && kind != etherIPv6 {
		f.EtherType = outer
	}
	return f, err
}

// packet reads the IP packet that the EtherType promises.
func (p *parser) packet(f *Frame, kind uint16, b []byte) error {
	if err := p.next(); err != nil {
		return err
	}
	if kind == etherIPv4 {
		return p.ipv4(f, b)
	}
	return p.ipv6(f, b)
}

func (p *parser) ipv4(f *Frame, b []byte) error {
	if err := need(b, 20, "IPv4 header"); err != nil {
		return err
	}
	size := int(b[0]&15) * 4
	if b[0]>>4 != 4 || size < 20 {
		return fmt.Errorf("IPv4 header begins with 0x%02x: %w", b[0], ErrMalformed)
	}
	if err := need(b, size, "IPv4 header with options"); err != nil {
		return err
	}
	f.Proto = Proto(b[9])
	f.Src, f.Dst = netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:]))
	// All but the reserved and the don't-fragment bit: more fragments, offset.
	if f.Fragment = binary.BigEndian.Uint16(b[6:])&0x3fff != 0; f.Fragment {
		return nil
	}
	return p.transport(f, etherIPv4, b[size:])
}

func (p *parser) ipv6(f *Frame, b []byte) error {
	if err := need(b, 40, "IPv6 header"); err != nil {
		return err
	}
	if b[0]>>4 != 6 {
		return fmt.Errorf("IPv6 header begins with 0x%02x: %w", b[0], ErrMalformed)
	}
	f.Src, f.Dst = netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:]))
	if f.Src.Is4In6() || f.Dst.Is4In6() {
		f.EtherType = etherIPv6
	}
	next := b[6]
	b = b[40:]
	for next == nextHopByHop || next == nextRouting || next == nextDestination || next == nextFragment {
		if err := errors.Join(p.next(), need(b, 8, "IPv6 extension header")); err != nil {
			return err
		}
		f.Extended = true
		if next == nextFragment {
			f.Fragment, f.Proto = true, Proto(b[0])
			return nil
		}
		size := (int(b[1]) + 1) * 8
		if err := need(b, size, "IPv6 extension header"); err != nil {
			return err
		}
		next, b = b[0], b[size:]
	}
	f.Proto = Proto(next)
	return p.transport(f, etherIPv6, b)
}

// transport reads what identifies the flow behind the IP header of the kind.
func (p *parser) transport(f *Frame, kind uint16, b []byte) error {
	switch f.Proto {
	case TCP, UDP, DCCP, SCTP, UDPLite: // HasPorts
		if err := need(b, 4, "ports"); err != nil {
			return err
		}
		f.Sport, f.Dport = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	case ESP:
		if err := need(b, 4, "ESP header"); err != nil {
			return err
		}
		f.SPI = binary.BigEndian.Uint32(b)
	case AH:
		if err := need(b, 8, "AH header"); err != nil {
			return err
		}
		f.SPI = binary.BigEndian.Uint32(b[4:])
	case ICMP, ICMPv6:
		return p.icmp(f, kind, b)
	case IPIP:
		return p.inner(f, etherIPv4, b)
	case IPv6:
		return p.inner(f, etherIPv6, b)
	case GRE:
		return p.gre(f, b)
	}
	return nil
}

// inner reads the packet that a tunnel carries.
func (p *parser) inner(f *Frame, kind uint16, b []byte) error {
	f.Inner = &Frame{}
	return p.packet(f.Inner, kind, b)
}

// icmp reads a message and, in an error, the packet that it quotes.
func (p *parser) icmp(f *Frame, kind uint16, b []byte) error {
	if err := need(b, 8, "ICMP header"); err != nil {
		return err
	}
	f.ICMP = &ICMPHeader{Type: b[0], Code: b[1]}
	if f.ICMP.HasID() {
		f.ICMP.ID = binary.BigEndian.Uint16(b[4:])
	}
	if !f.ICMP.IsError(f.Proto) {
		return nil
	}
	var quoted Frame
	if err := p.packet(&quoted, kind, b[8:]); err != nil {
		// An error quotes the beginning of a packet: a tunnel's inside may be
		// cut off, the header that the error is about may not.
		if !errors.Is(err, ErrTruncated) || quoted.Inner == nil && quoted.ICMP == nil {
			return fmt.Errorf("quoted packet: %w", err)
		}
		quoted.Inner = nil
	}
	f.Inner = &quoted
	return nil
}

// GRE flags (RFC 2784, RFC 2890; GRE_* of include/uapi/linux/if_tunnel.h).
const (
	greChecksum = 0x8000
	greRouting  = 0x4000
	greKey      = 0x2000
	greSequence = 0x1000
	greVersion  = 0x0007
)

func (p *parser) gre(f *Frame, b []byte) error {
	if err := need(b, 4, "GRE header"); err != nil {
		return err
	}
	flags, kind := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	if flags&(greRouting|greVersion) != 0 || kind == 0 {
		return nil
	}
	size := 4
	for _, field := range [...]uint16{greChecksum, greKey, greSequence} {
		if flags&field != 0 {
			size += 4
		}
	}
	if err := need(b, size, "GRE header"); err != nil {
		return err
	}
	b = b[size:]
	switch kind {
	case etherIPv4, etherIPv6:
		return p.inner(f, kind, b)
	case etherTEB:
		if err := p.next(); err != nil {
			return err
		}
		f.Inner = &Frame{}
		inner, err := p.ethernet(b)
		*f.Inner = inner
		return err
	}
	f.Inner = &Frame{EtherType: kind}
	return nil
}
