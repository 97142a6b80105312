package siphash

import (
	"encoding/binary"
	"testing"
)

// The paper's appendix A and the vectors of the authors' reference program:
// key 00 01 .. 0f, input 00 01 .. of growing length.
func TestSipHash(t *testing.T) {
	var key Key
	raw := make([]byte, 16)
	input := make([]byte, 64)
	for i := range input {
		input[i] = byte(i)
		if i < len(raw) {
			raw[i] = byte(i)
		}
	}
	key[0], key[1] = binary.LittleEndian.Uint64(raw), binary.LittleEndian.Uint64(raw[8:])
	for length, want := range map[int]uint64{
		0:  0x726fdb47dd0e0e31,
		1:  0x74f839c593dc67fd,
		2:  0x0d6c8009d9a94f5a,
		3:  0x85676696d7fb7e2d,
		7:  0xab0200f58b01d137,
		8:  0x93f5f5799a932462,
		15: 0xa129ca6149be45e5,
		16: 0x3f2acc7f57c29bdb,
		63: 0x958a324ceb064572,
	} {
		if got := Sum(key, input[:length]); got != want {
			t.Errorf("%d bytes: %#x, want %#x", length, got, want)
		}
	}
}
