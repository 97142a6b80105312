package steer

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Ethertypes as the frame's header has them (IEEE 802 numbers).
const (
	etherIPv4 uint16 = 0x0800
	etherIPv6 uint16 = 0x86dd
)

// Protocols that matter to the hash and that flow does not name.
const (
	protoDCCP    flow.Proto = 33
	protoESP     flow.Proto = 50
	protoAH      flow.Proto = 51
	protoSCTP    flow.Proto = 132
	protoUDPLite flow.Proto = 136
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
// A frame without addresses under layer2 is taken as IPv4, and why says so.
func (h Hasher) Hash(f flow.Frame) (hash uint32, known bool, why string) {
	if why := h.unknowable(f); why != "" {
		return 0, false, why
	}
	if why := h.withoutMAC(f); why != "" {
		return 0, false, why
	}
	if h.Policy == netstate.Layer2 && !f.Src.IsValid() && !f.Dst.IsValid() && h.Era < EraNoProto {
		why = "no addresses given: hashed as IPv4"
	}
	return h.sum(f, f.SrcMAC[5]^f.DstMAC[5]), true, why
}

// sum is the hash, given the XOR of the last bytes of the two MAC addresses.
// The caller has ruled out what is unknowable.
func (h Hasher) sum(f flow.Frame, macs byte) uint32 {
	if h.Policy == netstate.VLANSrcMAC {
		m := f.SrcMAC
		vendor := uint32(m[0])<<16 | uint32(m[1])<<8 | uint32(m[2])
		device := uint32(m[3])<<16 | uint32(m[4])<<8 | uint32(m[5])
		return uint32(f.VLAN) ^ vendor ^ device
	}
	if h.Era >= EraSeparate {
		return h.separate(f, macs)
	}
	if h.Policy == netstate.Layer2 {
		return h.ethernet(f, macs)
	}
	var v uint32
	if h.Policy == netstate.Layer34 {
		v = h.portWord(f)
	} else {
		v = h.ethernet(f, macs)
	}
	v ^= h.address(f.Src) ^ h.address(f.Dst)
	v ^= v >> 16
	v ^= v >> 8
	if h.dropsBit() {
		v >>= 1
	}
	return v
}

// separate is the hash of kernels up to 3.12, IPv4 only
// (bond_xmit_hash_policy_l2, _l23, _l34).
func (h Hasher) separate(f flow.Frame, macs byte) uint32 {
	if h.Policy == netstate.Layer2 {
		return uint32(macs)
	}
	src, dst := f.Src.Unmap().As4(), f.Dst.Unmap().As4()
	low := uint32(binary.BigEndian.Uint16(src[2:]) ^ binary.BigEndian.Uint16(dst[2:]))
	if h.Policy == netstate.Layer23 {
		return low ^ uint32(macs)
	}
	if h.readsPorts(f) {
		low ^= uint32(f.Sport ^ f.Dport)
	}
	return low
}

// ethernet is the layer 2 term (bond_eth_hash).
func (h Hasher) ethernet(f flow.Frame, macs byte) uint32 {
	return uint32(macs) ^ uint32(h.etherType(f))
}

// etherType is the type field as the era's arithmetic sees it.
func (h Hasher) etherType(f flow.Frame) uint16 {
	if h.Era >= EraNoProto {
		return 0
	}
	t := etherIPv4
	if is6(f.Src) || is6(f.Dst) {
		t = etherIPv6
	}
	if h.Era >= EraShifted && !h.BigEndian {
		return bits.ReverseBytes16(t)
	}
	return t
}

// dropsBit reports the shift that ends bond_ip_hash.
func (h Hasher) dropsBit() bool {
	switch h.Era {
	case EraCurrent:
		return h.Policy == netstate.Layer34
	case EraHostProto, EraShifted:
		return true
	}
	return false
}

// portWord is the four bytes at the start of the transport header in host
// order; zero where the dissector reads none.
func (h Hasher) portWord(f flow.Frame) uint32 {
	if !h.readsPorts(f) {
		return 0
	}
	wire := uint32(f.Sport)<<16 | uint32(f.Dport)
	if h.BigEndian {
		return wire
	}
	return bits.ReverseBytes32(wire)
}

// readsPorts reports whether the dissector reads ports in f
// (proto_ports_offset; fragments have none, the first one included).
func (h Hasher) readsPorts(f flow.Frame) bool {
	if f.Fragment {
		return false
	}
	switch f.Proto {
	case flow.TCP, flow.UDP:
		return true
	case protoDCCP, protoSCTP, protoUDPLite:
		return h.Era < EraSeparate
	}
	return false
}

// address folds an address to one raw word (ipv6_addr_hash for IPv6).
func (h Hasher) address(a netip.Addr) uint32 {
	if !is6(a) {
		b := a.Unmap().As4()
		return h.word(b[:])
	}
	b := a.As16()
	return h.word(b[0:]) ^ h.word(b[4:]) ^ h.word(b[8:]) ^ h.word(b[12:])
}

func (h Hasher) word(b []byte) uint32 {
	if h.BigEndian {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// is6 reports an address that goes out in an IPv6 header; an IPv4-mapped one
// does not.
func is6(a netip.Addr) bool { return a.Is6() && !a.Is4In6() }
