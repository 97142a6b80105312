package steer

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Hasher computes the bonding driver's transmit hash. The zero value is
// layer2 on a current little-endian kernel.
type Hasher struct {
	Policy netstate.HashPolicy
	Era    Era
	// BigEndian is the sending host's byte order (s390x, ppc64). It decides
	// the value because the kernel folds raw words.
	BigEndian bool
}

// Hash returns the 32-bit value that the driver takes modulo the number of
// usable ports (bond_xmit_hash, drivers/net/bonding/bond_main.c). On kernels
// up to 3.12 it is the value before their modulo. Known is false when no
// program can know it or f lacks what the policy reads; why then says which.
// With a known one it is empty or says under what condition it holds, such as
// layer2 without addresses, which is taken as IPv4.
func (h Hasher) Hash(f flow.Frame) (hash uint32, known bool, why string) { return h.hash(&f) }

func (h Hasher) hash(f *flow.Frame) (hash uint32, known bool, why string) {
	if why := h.unknowable(f); why != "" {
		return 0, false, why
	}
	if why := h.withoutMAC(f); why != "" {
		return 0, false, why
	}
	return h.value(f, f.SrcMAC[5]^f.DstMAC[5]), true, h.remark(f)
}

// value is the hash, given the XOR of the last bytes of the two MAC addresses.
// The caller has ruled out what is unknowable.
func (h Hasher) value(f *flow.Frame, macs byte) uint32 {
	switch {
	case h.Policy == netstate.VLANSrcMAC:
		m := &f.SrcMAC
		vendor := uint32(m[0])<<16 | uint32(m[1])<<8 | uint32(m[2])
		device := uint32(m[3])<<16 | uint32(m[4])<<8 | uint32(m[5])
		return uint32(f.VLAN) ^ vendor ^ device
	case h.Era >= EraSeparate:
		return h.separate(f, macs)
	case h.Policy == netstate.Layer2:
		return h.ethernet(f, macs)
	}
	from, v, isIP := h.dissect(f)
	if !isIP {
		return h.ethernet(f, macs)
	}
	if h.Policy == netstate.Layer23 || h.Policy == netstate.Encap23 {
		v = h.ethernet(f, macs)
	}
	if from != nil {
		v ^= h.addresses(from)
	}
	v ^= v >> 16
	v ^= v >> 8
	if h.dropsBit() {
		v >>= 1
	}
	return v
}

// separate is the hash of kernels up to 3.12, IPv4 only
// (bond_xmit_hash_policy_l2, _l23, _l34).
func (h Hasher) separate(f *flow.Frame, macs byte) uint32 {
	if h.Policy == netstate.Layer2 || !isIP(f) {
		return uint32(macs)
	}
	src, dst := f.Src.Unmap().As4(), f.Dst.Unmap().As4()
	low := uint32(binary.BigEndian.Uint16(src[2:]) ^ binary.BigEndian.Uint16(dst[2:]))
	if h.Policy == netstate.Layer23 {
		return low ^ uint32(macs)
	}
	if !f.Fragment && (f.Proto == flow.TCP || f.Proto == flow.UDP) {
		low ^= uint32(f.Sport ^ f.Dport)
	}
	return low
}

// ethernet is the layer 2 term (bond_eth_hash).
func (h Hasher) ethernet(f *flow.Frame, macs byte) uint32 {
	return uint32(macs) ^ uint32(h.etherType(f))
}

// etherType is the type field as the era's arithmetic sees it.
func (h Hasher) etherType(f *flow.Frame) uint16 {
	if h.Era >= EraNoProto {
		return 0
	}
	t := typeField(f)
	if h.Era >= EraShifted && !h.BigEndian {
		return bits.ReverseBytes16(t)
	}
	return t
}

// dropsBit reports the shift that ends bond_ip_hash.
func (h Hasher) dropsBit() bool {
	switch h.Era {
	case EraCurrent:
		return h.Policy == netstate.Layer34 || h.Policy == netstate.Encap34
	case EraHostProto, EraShifted, EraRawID, EraNoICMP:
		return true
	}
	return false
}

// addresses folds both addresses to one raw word (ipv6_addr_hash for IPv6).
func (h Hasher) addresses(f *flow.Frame) uint32 {
	src, dst := f.Src.As16(), f.Dst.As16()
	wire := binary.BigEndian.Uint32(src[12:]) ^ binary.BigEndian.Uint32(dst[12:])
	if isIPv6(f) {
		high := binary.BigEndian.Uint64(src[:]) ^ binary.BigEndian.Uint64(dst[:])
		wire ^= uint32(high>>32) ^ uint32(high)
		wire ^= binary.BigEndian.Uint32(src[8:]) ^ binary.BigEndian.Uint32(dst[8:])
	}
	return h.raw(wire)
}

// raw is a big-endian word of the wire as the host's memory has it.
func (h Hasher) raw(wire uint32) uint32 {
	if h.BigEndian {
		return wire
	}
	return bits.ReverseBytes32(wire)
}

// Is6 reports an address that goes out in an IPv6 header; an IPv4-mapped one
// does not.
func Is6(a netip.Addr) bool { return a.Is6() && !a.Is4In6() }
