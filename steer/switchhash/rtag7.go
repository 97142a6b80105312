package switchhash

import (
	"fmt"
	"math/bits"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

// Function is a hash function of RTAG7.
type Function string

// The functions whose arithmetic is published. CRC-16-BISYNC is not among them: its
// inner loop was not read.
const (
	XOR16  Function = "xor16"
	CCITT  Function = "crc-ccitt"
	CRC32L Function = "crc32-lo"
	CRC32H Function = "crc32-hi"
)

// Functions lists them.
func Functions() []Function { return []Function{XOR16, CCITT, CRC32L, CRC32H} }

// RTAG7 is the hash of Broadcom's Trident, Tomahawk, Helix and Hurricane for TCP and UDP
// with addresses, ports and protocol as its fields, as OpenBCM computes it
// (sdk-6.5.20, src/bcm/esw/trident/hashing.c: thirteen 16-bit bins, an optional
// mixing of each, seven words, the function, a rotation, the remainder). Dell's OS9
// prints function and seed (`show hash-algorithm`), not the offset. Where a switch has
// more fields, the port that a frame came in by among them, it does not hold.
type RTAG7 struct {
	Function Function
	Seed     uint32
	// Offset is how far the 16 bits are rotated to the right; Premix the mixing.
	Offset  int
	Premix  bool
	Members []string
}

var _ steer.Grouper = RTAG7{}

// ParseRTAG7 reads "xor16", "crc-ccitt seed 7 offset 4", "crc32-lo premix".
func ParseRTAG7(text string, members []string) (RTAG7, error) {
	h := RTAG7{Members: members}
	f := strings.Fields(strings.ReplaceAll(text, ",", " "))
	bad := func(what string) (RTAG7, error) {
		return RTAG7{}, fmt.Errorf("%s: want a function (%s, %s, %s or %s), then seed N, offset 0 to 15, premix", what, XOR16, CCITT, CRC32L, CRC32H)
	}
	for i := 0; i < len(f); i++ {
		switch w := f[i]; {
		case i == 0:
			if h.Function = Function(w); h.crc() == nil && h.Function != XOR16 {
				return bad("function " + w)
			}
		case w == "premix":
			h.Premix = true
		case (w == "seed" || w == "offset") && i+1 < len(f):
			i++
			n, err := strconv.ParseUint(f[i], 0, 32)
			if err != nil || w == "offset" && n > 15 {
				return bad(w + " " + f[i])
			}
			if w == "seed" {
				h.Seed = uint32(n)
			} else {
				h.Offset = int(n)
			}
		default:
			return bad("word " + w)
		}
	}
	if h.Function == "" {
		return bad("no function")
	}
	return h, nil
}

// bins are the sixteen-bit fields of a packet, by OpenBCM's numbers.
const (
	binProtocol, binDport, binSport = 4, 5, 6
	binDstLow, binDstHigh           = 8, 9
	binSrcLow, binSrcHigh           = 10, 11
	binCount                        = 14 // thirteen, and an empty one to fill the words
)

// folded is an address in 32 bits: of IPv6 the exclusive or of its words.
func folded(a netip.Addr) (out uint32) {
	b := a.AsSlice()
	for i := 0; i+4 <= len(b); i += 4 {
		out ^= uint32(b[i])<<24 | uint32(b[i+1])<<16 | uint32(b[i+2])<<8 | uint32(b[i+3])
	}
	return out
}

// Value is the sixteen bits that the members' choice begins with.
func (h RTAG7) Value(f flow.Frame) uint16 {
	src, dst := folded(f.Src), folded(f.Dst)
	var bins [binCount]uint16
	bins[binProtocol], bins[binSport], bins[binDport] = uint16(f.Proto), f.Sport, f.Dport
	bins[binSrcHigh], bins[binSrcLow], bins[binDstHigh], bins[binDstLow] = uint16(src>>16), uint16(src), uint16(dst>>16), uint16(dst)
	if h.Premix {
		for i, x := range bins {
			bins[i] = x ^ x>>3 ^ x<<2
		}
	}
	var words [7]uint32
	for i := range words[:6] {
		words[i] = uint32(bins[2*i+1])<<16 | uint32(bins[2*i])
	}
	words[6] = h.Seed
	if h.Function == XOR16 {
		fold := uint32(0)
		for _, w := range words {
			fold ^= w
		}
		return uint16(fold>>16) ^ uint16(fold)
	}
	return h.crc()(words)
}

// crc is the function over the 28 bytes of the words, each word's least byte first;
// nil for one that is not known.
func (h RTAG7) crc() func([7]uint32) uint16 {
	run := func(polynomial uint32) func([7]uint32) uint32 {
		return func(words [7]uint32) (crc uint32) {
			for _, w := range words {
				for shift := 0; shift < 32; shift += 8 {
					crc ^= w >> shift & 0xff
					for range 8 {
						crc = crc>>1 ^ polynomial&-(crc&1)
					}
				}
			}
			return crc
		}
	}
	const ccitt, castagnoli = 0x8408, 0x82F63B78
	switch h.Function {
	case CCITT:
		return func(w [7]uint32) uint16 { return bits.Reverse16(uint16(run(ccitt)(w))) }
	case CRC32L:
		return func(w [7]uint32) uint16 { return uint16(bits.Reverse32(run(castagnoli)(w))) }
	case CRC32H:
		return func(w [7]uint32) uint16 { return uint16(bits.Reverse32(run(castagnoli)(w)) >> 16) }
	}
	return nil
}

// unicastBits are those of the value that choose a member for one receiver.
const unicastBits = 1<<10 - 1

// Links are the members in the order of the trunk's table.
func (h RTAG7) Links() []string { return h.Members }

// Place says which member sends f.
func (h RTAG7) Place(f flow.Frame) steer.Placement {
	out := steer.Placement{Index: -1}
	switch {
	case len(h.Members) == 0:
		out.Why = "no usable link"
	case f.EtherType != 0 || !f.Src.IsValid() || !f.Dst.IsValid():
		out.Why = "the hash takes both IP addresses, which are not given"
	case f.Proto != flow.TCP && f.Proto != flow.UDP, f.Fragment:
		out.Why = "what the hash takes of packets without ports is another list of fields, which a switch does not print"
	case f.NoSport || f.NoDport:
		out.Why = "the hash takes both ports, which are not given"
	case f.Sport == f.Dport:
		out.Why = "where both ports are alike the hash takes another list of fields, which a switch does not print"
	default:
		value := uint32(h.Value(f))
		turned := bits.RotateLeft16(uint16(value), -h.Offset) & unicastBits
		out.Hash, out.Known, out.Index = &value, true, int(turned)%len(h.Members)
		out.Link = h.Members[out.Index]
	}
	return out
}

// Groups says which frames share a member.
func (h RTAG7) Groups(frames []flow.Frame) (groups []int, known bool, why string) {
	seen := make(map[int]int)
	for _, f := range frames {
		p := h.Place(f)
		if !p.Known {
			return nil, false, p.Why
		}
		if _, ok := seen[p.Index]; !ok {
			seen[p.Index] = len(seen)
		}
		groups = append(groups, seen[p.Index])
	}
	return groups, true, ""
}

// Reach says what makes flows use more than one member.
func (h RTAG7) Reach() steer.Reach {
	if len(h.Members) < 2 {
		return steer.Reach{Why: "only one link is usable"}
	}
	return steer.Reach{Ports: true, Addresses: true, Chosen: true, Why: "RTAG7 " + string(h.Function) + " hashes IP addresses, protocol and ports: each flow takes one link, and its source port decides which"}
}
