package steer

import (
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// PortHash is the transmit hash of flows that differ in one port alone: made
// once, it hashes hundreds of millions of ports a second. The driver only
// shifts what it reads and joins it by XOR, whatever the policy and the release.
// So the hash is that of port zero, XORed with what each four bits of the port
// change in it.
type PortHash struct {
	zero uint32
	bits [4][16]uint32
}

// BySource is the hash of f by its source port, whatever f's own is. Known and
// why are Hash's.
func (h Hasher) BySource(f flow.Frame) (p PortHash, known bool, why string) {
	f.NoSport = false
	if _, known, why = h.hash(&f); known {
		p = portHash(f, false, func(f *flow.Frame) uint32 { return h.value(f, f.SrcMAC[5]^f.DstMAC[5]) })
	}
	return p, known, why
}

// portHash tries each bit of the source port, or of the destination's, in a hash.
func portHash(f flow.Frame, destination bool, hash func(*flow.Frame) uint32) (p PortHash) {
	port := &f.Sport
	if destination {
		port = &f.Dport
	}
	*port = 0
	p.zero = hash(&f)
	for n := range p.bits {
		for bit := 1; bit < 16; bit *= 2 {
			*port = uint16(bit << (4 * n))
			changed := hash(&f) ^ p.zero
			for low := range bit {
				p.bits[n][bit|low] = p.bits[n][low] ^ changed
			}
		}
	}
	return p
}

// Hash is Hasher.Hash of the flow with that port.
func (p *PortHash) Hash(port uint16) uint32 {
	return p.zero ^ p.bits[0][port&15] ^ p.bits[1][port>>4&15] ^ p.bits[2][port>>8&15] ^ p.bits[3][port>>12]
}

// Hashes puts the hash of each port into the place of the same number in
// hashes, which has as many at least.
func (p *PortHash) Hashes(hashes []uint32, ports []uint16) {
	hashes = hashes[:len(ports)]
	for i, port := range ports {
		hashes[i] = p.Hash(port)
	}
}

// BySource is Place of f by its source port, whatever f's own is: the index, -1
// where the link is not known or there is no one link.
func (b Bundle) BySource(f flow.Frame) func(port uint16) int {
	place := func(port uint16) int {
		f.Sport, f.NoSport = port, false
		return b.Place(f).Index
	}
	if b.Mode != netstate.BalanceXOR && b.Mode != netstate.LACP || len(b.Ports) < 2 || b.BroadcastNeighbor || len(b.Queued) > 0 {
		return place
	}
	var eras []PortHash
	for _, e := range b.eras() {
		p, known, _ := b.hasher(e).BySource(f)
		if !known {
			return func(uint16) int { return -1 }
		}
		eras = append(eras, p)
	}
	n := uint32(len(b.Ports))
	return func(port uint16) int {
		index := eras[0].Hash(port) % n
		for i := range eras[1:] {
			if eras[i+1].Hash(port)%n != index {
				return -1
			}
		}
		return int(index)
	}
}
