// Package siphash is SipHash-2-4, which kernels hash flows with.
package siphash

import (
	"encoding/binary"
	"math/bits"
)

// Key is a SipHash key, its two halves as 64-bit numbers (in the paper's
// terms k0 and k1, read from 16 bytes in little-endian order).
type Key [2]uint64

// Sum is SipHash-2-4 (J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast
// short-input PRF", 2012): two rounds a word, four at the end.
func Sum(key Key, data []byte) uint64 {
	s := state{
		key[0] ^ 0x736f6d6570736575,
		key[1] ^ 0x646f72616e646f6d,
		key[0] ^ 0x6c7967656e657261,
		key[1] ^ 0x7465646279746573,
	}
	last := uint64(len(data)) << 56
	for ; len(data) >= 8; data = data[8:] {
		s.take(binary.LittleEndian.Uint64(data))
	}
	for i, b := range data {
		last |= uint64(b) << (8 * i)
	}
	s.take(last)
	s[2] ^= 0xff
	for range 4 {
		s.round()
	}
	return s[0] ^ s[1] ^ s[2] ^ s[3]
}

type state [4]uint64

// take compresses one word.
func (s *state) take(word uint64) {
	s[3] ^= word
	s.round()
	s.round()
	s[0] ^= word
}

func (s *state) round() {
	s[0] += s[1]
	s[1] = bits.RotateLeft64(s[1], 13) ^ s[0]
	s[0] = bits.RotateLeft64(s[0], 32)
	s[2] += s[3]
	s[3] = bits.RotateLeft64(s[3], 16) ^ s[2]
	s[0] += s[3]
	s[3] = bits.RotateLeft64(s[3], 21) ^ s[0]
	s[2] += s[1]
	s[1] = bits.RotateLeft64(s[1], 17) ^ s[2]
	s[2] = bits.RotateLeft64(s[2], 32)
}
