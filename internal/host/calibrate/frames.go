// Package calibrate finds out how the running kernel's bond hashes, by sending
// a few frames from the bond to itself and looking which port each left by. Don't
// send one that a switch would deliver.
package calibrate

import (
	"encoding/binary"
	"net/netip"

	"github.com/linerate/linerate/flow"
)

// The bounds of one calibration: each flow is sent until two readings agree.
const (
	leastFlows = 12
	mostFlows  = 32
	mostFrames = 64
)

// enough is how many frames must be placed on that many ports: two a port,
// but no more than half of all, for others' traffic hides some, and with many
// ports each frame tells much.
func enough(ports int) int { return min(2*ports, mostFlows/2) }

// discard is the port that throws away what it gets (RFC 863), should a frame
// reach anybody after all.
const discard = 9

// EtherTypes (IEEE 802 numbers).
const (
	etherIPv4 = 0x0800
	etherARP  = 0x0806
	etherIPv6 = 0x86dd
)

// flows are the frames to send over a bond with that many ports and that
// address: from the bond to itself, so that a switch, which has learned the
// address on the very port that they come in by, drops them. Addresses are
// those for documentation (RFC 5737, RFC 3849), UDP to the discard port.
func flows(mac flow.MAC, ports int) []flow.Frame {
	count := min(max(leastFlows, 4*ports), mostFlows)
	out := make([]flow.Frame, count)
	for i := range out {
		f := flow.Frame{SrcMAC: mac, DstMAC: mac}
		f.Tuple = flow.Tuple{Proto: flow.UDP, Sport: uint16(40000 + 37*i), Dport: discard}
		// Odd steps through the bytes that the hash folds: low ones and high.
		switch {
		case i%6 == 5:
			f.Tuple, f.EtherType = flow.Tuple{}, etherARP
		case i%3 == 2:
			f.Src = netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 14: byte(3 * i), 15: byte(1 + 29*i)})
			f.Dst = netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 7: 1, 15: byte(7 + 11*i)})
		default:
			f.Src = netip.AddrFrom4([4]byte{192, 0, 2, byte(1 + 29*i)})
			f.Dst = netip.AddrFrom4([4]byte{203, 0, 113, byte(7 + 11*i)})
		}
		out[i] = f
	}
	return out
}

// payload marks the frames for whoever sees one.
const payload = "linerate calibration"

// encode is the frame on the wire and its EtherType. The UDP checksum is left
// out over IPv4, where it may be, and right over IPv6, where it must be there.
func encode(f flow.Frame) (wire []byte, etherType uint16) {
	if f.EtherType == etherARP {
		return encodeARP(f), etherARP
	}
	udp := make([]byte, 8, 8+len(payload))
	binary.BigEndian.PutUint16(udp, f.Sport)
	binary.BigEndian.PutUint16(udp[2:], f.Dport)
	udp = append(udp, payload...)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	wire = append(append(wire, f.DstMAC[:]...), f.SrcMAC[:]...)
	if f.Src.Is4() {
		ip := make([]byte, 20)
		ip[0], ip[8], ip[9] = 0x45, 1, byte(f.Proto) // one hop: it goes no further
		binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)+len(udp)))
		src, dst := f.Src.As4(), f.Dst.As4()
		copy(ip[12:], src[:])
		copy(ip[16:], dst[:])
		binary.BigEndian.PutUint16(ip[10:], ^sum(ip, 0))
		wire = binary.BigEndian.AppendUint16(wire, etherIPv4)
		return append(append(wire, ip...), udp...), etherIPv4
	}
	ip := make([]byte, 40)
	ip[0], ip[6], ip[7] = 0x60, byte(f.Proto), 1
	binary.BigEndian.PutUint16(ip[4:], uint16(len(udp)))
	src, dst := f.Src.As16(), f.Dst.As16()
	copy(ip[8:], src[:])
	copy(ip[24:], dst[:])
	pseudo := uint32(sum(ip[8:], 0)) + uint32(len(udp)) + uint32(f.Proto)
	binary.BigEndian.PutUint16(udp[6:], ^sum(udp, pseudo))
	wire = binary.BigEndian.AppendUint16(wire, etherIPv6)
	return append(append(wire, ip...), udp...), etherIPv6
}

// encodeARP is a question for an address for documentation by one that asks
// for nobody (RFC 5227, 0.0.0.0): it would teach no neighbour anything.
func encodeARP(f flow.Frame) []byte {
	wire := append(append([]byte(nil), f.DstMAC[:]...), f.SrcMAC[:]...)
	wire = binary.BigEndian.AppendUint16(wire, etherARP)
	wire = append(wire, 0, 1, 8, 0, 6, 4, 0, 1) // Ethernet, IPv4, request
	wire = append(append(wire, f.SrcMAC[:]...), 0, 0, 0, 0)
	return append(wire, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1)
}

// sum is the ones' complement sum of RFC 1071.
func sum(b []byte, start uint32) uint16 {
	s := start
	for i := 0; i+1 < len(b); i += 2 {
		s += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	if len(b)%2 == 1 {
		s += uint32(b[len(b)-1]) << 8
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}
