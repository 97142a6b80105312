// Package testhash has hash functions of chips, drivers and cards, for tests of what is
// learned of a switch. They are of IPv4.
package testhash

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// Hash is a switch's function.
type Hash struct {
	Name string
	// Make draws one with a seed of its own.
	Make func(r *rand.Rand) func(t flow.Tuple) uint32
}

// Fields are what chips feed to a hash: addresses, ports, protocol.
func Fields(t flow.Tuple) []byte {
	src, dst := t.Src.As4(), t.Dst.As4()
	b := append(src[:], dst[:]...)
	b = binary.BigEndian.AppendUint16(b, t.Sport)
	b = binary.BigEndian.AppendUint16(b, t.Dport)
	return append(b, byte(t.Proto), 0)
}

// crc16 is reflected, its result not reversed.
func crc16(poly, start uint16, b []byte) uint16 {
	for _, c := range b {
		start ^= uint16(c)
		for range 8 {
			carry := start & 1
			start >>= 1
			if carry == 1 {
				start ^= poly
			}
		}
	}
	return start
}

// premix is what RTAG7 does with each bin of sixteen bits.
func premix(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i+1 < len(b); i += 2 {
		x := binary.BigEndian.Uint16(b[i:])
		out = binary.LittleEndian.AppendUint16(out, x^x>>3^x<<2)
	}
	return out
}

func xor8(b []byte) (x byte) {
	for _, c := range b {
		x ^= c
	}
	return x
}

func xor16(b []byte) (x uint16) {
	for i := 0; i+1 < len(b); i += 2 {
		x ^= binary.BigEndian.Uint16(b[i:])
	}
	return x
}

// toeplitz is the hash of receive side scaling.
func toeplitz(key []byte, b []byte) (h uint32) {
	for i, c := range b {
		for bit := range 8 {
			if c>>(7-bit)&1 == 0 {
				continue
			}
			var window uint64
			for j := range 5 {
				window = window<<8 | uint64(key[i+j])
			}
			h ^= uint32(window >> (8 - bit))
		}
	}
	return h
}

// Affine are functions that are affine over GF(2).
func Affine() []Hash {
	crc := func(name string, poly uint16, after func(uint16) uint32) Hash {
		return Hash{name, func(r *rand.Rand) func(flow.Tuple) uint32 {
			seed, start, turn := r.Uint32(), uint16(r.Uint32()), r.IntN(16)
			return func(t flow.Tuple) uint32 {
				h := crc16(poly, start, binary.BigEndian.AppendUint32(Fields(t), seed))
				return after(bits.RotateLeft16(h, -turn))
			}
		}}
	}
	crc32of := func(name string, poly uint32, mixed bool, after func(uint32) uint32) Hash {
		table := crc32.MakeTable(poly)
		return Hash{name, func(r *rand.Rand) func(flow.Tuple) uint32 {
			seed, turn := r.Uint32(), r.IntN(32)
			return func(t flow.Tuple) uint32 {
				b := Fields(t)
				if mixed {
					b = premix(b)
				}
				return after(bits.RotateLeft32(crc32.Update(seed, table, b), -turn))
			}
		}}
	}
	same16 := func(h uint16) uint32 { return uint32(h) }
	bonding := func(name string, policy netstate.HashPolicy, eras ...steer.Era) Hash {
		return Hash{name, func(r *rand.Rand) func(flow.Tuple) uint32 {
			h := steer.Hasher{Policy: policy, Era: eras[r.IntN(len(eras))], BigEndian: r.IntN(2) == 1}
			macs := [2]flow.MAC{{2, 0, 0, 0, 0, byte(r.Uint32())}, {2, 0, 0, 0, 0, byte(r.Uint32())}}
			return func(t flow.Tuple) uint32 {
				v, known, why := h.Hash(flow.Frame{Tuple: t, SrcMAC: macs[0], DstMAC: macs[1]})
				if !known {
					panic(why)
				}
				return v
			}
		}}
	}
	return []Hash{
		crc("crc16 bisync", 0xa001, same16),
		crc("crc16 ccitt, reversed", 0x8408, func(h uint16) uint32 { return uint32(bits.Reverse16(h)) }),
		crc("crc16 dnp, folded to 8", 0xa6bc, func(h uint16) uint32 { return uint32(h>>8 ^ h&0xff) }),
		crc32of("crc32, low half", crc32.IEEE, false, func(h uint32) uint32 { return h & 0xffff }),
		crc32of("crc32, high half", crc32.IEEE, true, func(h uint32) uint32 { return h >> 16 }),
		crc32of("crc32c, reversed", crc32.Castagnoli, true, bits.Reverse32),
		crc32of("crc32 koopman, folded", crc32.Koopman, false, func(h uint32) uint32 { return h>>16 ^ h }),
		crc32of("crc32c, top bits", crc32.Castagnoli, false, func(h uint32) uint32 { return bits.Reverse32(h >> 29 << 29) }),
		{"crc16 over xor8", func(r *rand.Rand) func(flow.Tuple) uint32 {
			turn, seed := r.IntN(16), byte(r.Uint32())
			return func(t flow.Tuple) uint32 {
				b := premix(Fields(t))
				return uint32(bits.RotateLeft16(crc16(0xa001, 0, b)&0xff00|uint16(xor8(b)^seed), -turn))
			}
		}},
		{"two crc16", func(r *rand.Rand) func(flow.Tuple) uint32 {
			turn, s, u := r.IntN(32), uint16(r.Uint32()), uint16(r.Uint32())
			return func(t flow.Tuple) uint32 {
				b := Fields(t)
				return bits.RotateLeft32(uint32(crc16(0xa001, s, b))<<16|uint32(crc16(0x8408, u, b)), -turn)
			}
		}},
		{"xor16, premixed", func(r *rand.Rand) func(flow.Tuple) uint32 {
			turn := r.IntN(16)
			return func(t flow.Tuple) uint32 { return uint32(bits.RotateLeft16(xor16(premix(Fields(t))), -turn)) }
		}},
		{"xor8 of all bytes", func(r *rand.Rand) func(flow.Tuple) uint32 {
			seed := byte(r.Uint32())
			return func(t flow.Tuple) uint32 { return uint32(xor8(Fields(t)) ^ seed) }
		}},
		{"xor32, seeded, shifted", func(r *rand.Rand) func(flow.Tuple) uint32 {
			seed, turn := r.Uint32(), r.IntN(16)
			return func(t flow.Tuple) uint32 {
				var x uint32
				b := Fields(t)
				for i := 0; i+3 < len(b); i += 4 {
					x ^= binary.BigEndian.Uint32(b[i:])
				}
				x ^= seed
				return (x ^ x>>16) >> (turn % 9)
			}
		}},
		{"symmetric xor of both sides", func(r *rand.Rand) func(flow.Tuple) uint32 {
			table := crc32.MakeTable(crc32.Castagnoli)
			seed := r.Uint32()
			return func(t flow.Tuple) uint32 {
				b := Fields(t)
				for i := range 4 {
					b[i] ^= b[i+4]
				}
				b[8], b[9] = b[8]^b[10], b[9]^b[11]
				return crc32.Update(seed, table, append(b[:4:4], b[8:10]...))
			}
		}},
		{"toeplitz, low bits", func(r *rand.Rand) func(flow.Tuple) uint32 {
			key := make([]byte, 40)
			for i := range key {
				key[i] = byte(r.Uint32())
			}
			return func(t flow.Tuple) uint32 { return toeplitz(key, Fields(t)[:12]) & 127 }
		}},
		{"cisco src-dst-ip, eight buckets", func(*rand.Rand) func(flow.Tuple) uint32 {
			return func(t flow.Tuple) uint32 { b := Fields(t); return uint32(b[3]^b[7]) & 7 }
		}},
		{"cisco src-dst-port, eight buckets", func(*rand.Rand) func(flow.Tuple) uint32 {
			return func(t flow.Tuple) uint32 { return uint32(t.Sport^t.Dport) & 7 }
		}},
		// With one addend fixed a sum's low bits renumber those of the other.
		{"sum of ports", func(*rand.Rand) func(flow.Tuple) uint32 {
			return func(t flow.Tuple) uint32 { return uint32(t.Sport) + uint32(t.Dport) }
		}},
		{"source port alone", func(*rand.Rand) func(flow.Tuple) uint32 {
			return func(t flow.Tuple) uint32 { return uint32(t.Sport) }
		}},
		bonding("bonding layer2+3", netstate.Layer23, steer.Eras()...),
		bonding("bonding layer3+4", netstate.Layer34, steer.Eras()...),
		bonding("bonding layer2", netstate.Layer2, steer.EraCurrent),
	}
}

// Murmur3 is Austin Appleby's public MurmurHash3_x86_32, of whole words.
func Murmur3(seed uint32, b []byte) uint32 {
	h := seed
	for i := 0; i+3 < len(b); i += 4 {
		k := binary.LittleEndian.Uint32(b[i:]) * 0xcc9e2d51
		h = bits.RotateLeft32(h^bits.RotateLeft32(k, 15)*0x1b873593, 13)*5 + 0xe6546b64
	}
	h ^= uint32(len(b))
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// Lookup3 is Bob Jenkins' final mixing of three words.
func Lookup3(a, b, c uint32) uint32 {
	rot := bits.RotateLeft32
	c = (c ^ b) - rot(b, 14)
	a = (a ^ c) - rot(c, 11)
	b = (b ^ a) - rot(a, 25)
	c = (c ^ b) - rot(b, 16)
	a = (a ^ c) - rot(c, 4)
	b = (b ^ a) - rot(a, 14)
	return (c ^ b) - rot(b, 24)
}
