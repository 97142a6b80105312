// Package ovs says what a bond of Open vSwitch does with a flow. The bucket of a source
// MAC address is computed; the member that has the bucket is Open vSwitch's own choice,
// moves with the load, and is known only where somebody read it. The package must never
// learn how Open vSwitch is asked.
package ovs

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/linerate/linerate/flow"
)

// Hash is how a build of Open vSwitch mixes a number into its hash (lib/hash.h of
// 3.1). Zero is the portable one, which Debian's builds for amd64 have.
type Hash uint8

// The hashes. Builds for processors with SSE4.2 by default (x86-64-v2, as RHEL 9's are),
// and for aarch64 with CRC, use the processor's CRC32C.
const (
	Portable Hash = iota
	CRC32C
)

// hashWords is the one table of their words, indexed by Hash.
var hashWords = [...]string{"portable", "crc32c"}

// String is the hash's word.
func (h Hash) String() string { return hashWords[h] }

// ParseHash reads a word as String writes it; false for another.
func ParseHash(word string) (Hash, bool) {
	for i, w := range hashWords {
		if w == word {
			return Hash(i), true
		}
	}
	return 0, false
}

// Buckets is how many buckets a bond has (BOND_BUCKETS, ofproto/bond.h).
const Buckets = 256

// Bucket is the bucket of a source MAC address in a VLAN, 0 for untagged frames: what
// `ovs-appctl bond/hash MAC VLAN BASIS` prints (hash_mac, lib/packets.h of 3.1).
func (h Hash) Bucket(mac flow.MAC, vlan uint16, basis uint32) uint8 {
	word := uint64(vlan) << 48
	for i, b := range mac {
		word |= uint64(b) << (8 * (5 - i))
	}
	if h == CRC32C { // which ends with 23, the portable one with the length
		sum := crc(crc(basis, word), 23) * 0x805204f3
		return uint8(sum ^ sum>>16)
	}
	return uint8(finish(mix(mix(basis, uint32(word)), uint32(word>>32)) ^ 8))
}

// crc is one step of the processor's CRC32C over eight bytes.
func crc(sum uint32, word uint64) uint32 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], word)
	return ^crc32.Update(^sum, crc32.MakeTable(crc32.Castagnoli), b[:])
}

// mix is one round of MurmurHash3, but that a word of zero leaves the sum to be
// rotated alone (mhash_add).
func mix(sum, word uint32) uint32 {
	if word != 0 {
		word *= 0xcc9e2d51
		word = word<<15 | word>>17
		sum ^= word * 0x1b873593
	}
	sum = sum<<13 | sum>>19
	return sum*5 + 0xe6546b64
}

// finish is MurmurHash3's last step (mhash_finish).
func finish(sum uint32) uint32 {
	sum = (sum ^ sum>>16) * 0x85ebca6b
	sum = (sum ^ sum>>13) * 0xc2b2ae35
	return sum ^ sum>>16
}
