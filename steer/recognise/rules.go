package recognise

import (
	"encoding/binary"
	"math"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// The words for what is not one of bonding's policies. Switches call the
// plain ones by these names (Cisco: port-channel load-balance).
const (
	wordOneLink      = "one-link"
	wordUnpublished  = "unpublished:"
	wordAddrAndPorts = wordUnpublished + "src-dst-ip-port"
	wordAddr         = wordUnpublished + "src-dst-ip"
	wordSrcAddr      = wordUnpublished + "src-ip"
	wordDstAddr      = wordUnpublished + "dst-ip"
)

// suspect is one way in which an unknown device may choose links: flows of
// one class share a link.
type suspect struct {
	policy string
	era    steer.Era
	linux  bool
	prior  float64
	// ruled: the classes are as many as links and each has a link of its own.
	// Otherwise only the inputs are known, and a class falls on any link.
	ruled  bool
	reads  Reads
	class  func(f flow.Frame, links int) (class uint64, ok bool)
	placed steer.Spreader // of the sender's own spreader, whose classes are links
}

// Reads says which parts of a flow decide about its link.
type Reads struct {
	Addresses bool `json:"addresses"`
	Ports     bool `json:"ports"`
}

// Half of what a device may be is a rule that somebody wrote down; the other
// half is a hash that nobody published, of inputs that can still be told.
const ruledShare = 0.5

// suspects lists what a device that spreads flows may do. Priors sum to one.
func suspects() []suspect {
	ruled := append(linuxSuspects(), plainSuspects()...)
	unpublished := unpublishedSuspects()
	scale := func(all []suspect, share float64) {
		sum := 0.0
		for _, s := range all {
			sum += s.prior
		}
		for i := range all {
			all[i].prior *= share / sum
		}
	}
	scale(ruled, ruledShare)
	scale(unpublished, 1-ruledShare)
	return append(ruled, unpublished...)
}

// linuxSuspects are bonding's policies: a host cabled without a switch, and
// the many switches that run Linux. The policy's weight is shared by the
// eras; the older an era the less of it there is.
func linuxSuspects() []suspect {
	var all []suspect
	for _, p := range []struct {
		policy netstate.HashPolicy
		weight float64
		reads  Reads
	}{
		{netstate.Layer2, 1, Reads{}},
		{netstate.Layer23, 4, Reads{Addresses: true}},
		{netstate.Layer34, 4, Reads{Addresses: true, Ports: true}},
		{netstate.VLANSrcMAC, 0.1, Reads{}},
	} {
		for _, era := range steer.Eras() {
			for _, big := range []bool{false, true} {
				weight := p.weight * math.Pow(2, -float64(era))
				if big {
					weight /= 20
				}
				hasher := steer.Hasher{Policy: p.policy, Era: era, BigEndian: big}
				all = append(all, suspect{
					policy: p.policy.String(), era: era, linux: true, prior: weight, ruled: true, reads: p.reads,
					class: func(f flow.Frame, links int) (uint64, bool) {
						hash, known, _ := hasher.Hash(withMACs(f))
						return uint64(hash % uint32(links)), known
					},
				})
			}
		}
	}
	return all
}

// withMACs stands in for addresses that were not given: where the number of
// links is a power of two any other pair only renumbers the links.
func withMACs(f flow.Frame) flow.Frame {
	standIn := flow.MAC{2}
	if f.SrcMAC.IsZero() {
		f.SrcMAC = standIn
	}
	if f.DstMAC.IsZero() {
		f.DstMAC = standIn
	}
	return f
}

// plainSuspects are the documented hashes of switches and other systems, each
// a value and a way to bring it down to a link. Sources: facts of Cisco's and
// Allied Telesis' manuals (XOR of the low bits, eight buckets), AIX (last
// byte, sum of ports), libteam's tx_hash (XOR of all bytes).
func plainSuspects() []suspect {
	both, ports, addrs := Reads{Addresses: true, Ports: true}, Reads{Ports: true}, Reads{Addresses: true}
	values := []struct {
		policy string
		weight float64
		reads  Reads
		of     func(f flow.Frame) uint64
	}{
		{"src-dst-mac", 0.5, Reads{}, func(f flow.Frame) uint64 { return uint64(f.SrcMAC[5] ^ f.DstMAC[5]) }},
		{"src-ip", 0.5, addrs, func(f flow.Frame) uint64 { return low32(f.Src) }},
		{"dst-ip", 1, addrs, func(f flow.Frame) uint64 { return low32(f.Dst) }},
		{"src-dst-ip", 1.5, addrs, func(f flow.Frame) uint64 { return low32(f.Src) ^ low32(f.Dst) }},
		{"src-dst-ip", 1, addrs, func(f flow.Frame) uint64 { return low32(f.Src) + low32(f.Dst) }},
		{"src-dst-ip", 1.5, addrs, func(f flow.Frame) uint64 { return uint64(foldBytes(f.Src) ^ foldBytes(f.Dst)) }},
		{"src-port", 0.5, ports, func(f flow.Frame) uint64 { return uint64(f.Sport) }},
		{"dst-port", 0.5, ports, func(f flow.Frame) uint64 { return uint64(f.Dport) }},
		{"src-dst-port", 0.5, ports, func(f flow.Frame) uint64 { return uint64(f.Sport ^ f.Dport) }},
		{"src-dst-port", 0.5, ports, func(f flow.Frame) uint64 { return uint64(f.Sport) + uint64(f.Dport) }},
		{"src-dst-ip-port", 1, both, func(f flow.Frame) uint64 {
			return low32(f.Src) ^ low32(f.Dst) ^ uint64(f.Sport) ^ uint64(f.Dport)
		}},
		{"src-dst-ip-port", 1, both, func(f flow.Frame) uint64 {
			ports := f.Sport ^ f.Dport
			return uint64(foldBytes(f.Src) ^ foldBytes(f.Dst) ^ byte(ports) ^ byte(ports>>8))
		}},
	}
	all := []suspect{{policy: wordOneLink, prior: 1, ruled: true, class: func(flow.Frame, int) (uint64, bool) { return 0, true }}}
	for _, v := range values {
		for _, reduce := range []func(v uint64, links int) uint64{
			func(v uint64, links int) uint64 { return v % uint64(links) },
			func(v uint64, links int) uint64 { return v & 0xff % uint64(links) },
			func(v uint64, links int) uint64 { return v & 7 % uint64(links) }, // eight buckets
		} {
			all = append(all, suspect{
				policy: v.policy, prior: v.weight / 3, ruled: true, reads: v.reads,
				class: func(f flow.Frame, links int) (uint64, bool) {
					if !f.Src.IsValid() || !f.Dst.IsValid() {
						return 0, false
					}
					return reduce(v.of(f), links), true
				},
			})
		}
	}
	return all
}

// unpublishedSuspects are the hashes of switch chips: a CRC with a seed that
// nobody can compute, of inputs that a few sightings tell apart.
func unpublishedSuspects() []suspect {
	var none netip.Addr
	all := []struct {
		policy string
		weight float64
		reads  Reads
		inputs func(t flow.Tuple) flow.Tuple
	}{
		{wordAddrAndPorts, 6, Reads{Addresses: true, Ports: true}, func(t flow.Tuple) flow.Tuple { return t }},
		{wordAddr, 3, Reads{Addresses: true}, func(t flow.Tuple) flow.Tuple { return flow.Tuple{Src: t.Src, Dst: t.Dst} }},
		{wordSrcAddr, 0.5, Reads{Addresses: true}, func(t flow.Tuple) flow.Tuple { return flow.Tuple{Src: t.Src, Dst: none} }},
		{wordDstAddr, 0.5, Reads{Addresses: true}, func(t flow.Tuple) flow.Tuple { return flow.Tuple{Src: none, Dst: t.Dst} }},
	}
	out := make([]suspect, len(all))
	for i, s := range all {
		out[i] = suspect{policy: s.policy, prior: s.weight, reads: s.reads, class: func(f flow.Frame, _ int) (uint64, bool) {
			return digest(s.inputs(f.Tuple)), true
		}}
	}
	return out
}

// low32 is the last four bytes of an address as a number.
func low32(a netip.Addr) uint64 {
	b := a.As16()
	return uint64(binary.BigEndian.Uint32(b[12:]))
}

// foldBytes folds an address to one byte.
func foldBytes(a netip.Addr) (x byte) {
	for _, b := range a.Unmap().AsSlice() {
		x ^= b
	}
	return x
}

// digest names a tuple by a number (FNV-1a, 64 bits): equal tuples have equal
// ones, and for the few flows of a probe different ones differ.
func digest(t flow.Tuple) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	src, dst := t.Src.As16, t.Dst.As16
	var b []byte
	for _, of := range []struct {
		a  netip.Addr
		as func() [16]byte
	}{{t.Src, src}, {t.Dst, dst}} {
		if of.a.IsValid() {
			raw := of.as()
			b = append(b, raw[:]...)
		} else {
			b = append(b, 0)
		}
	}
	b = append(b, byte(t.Proto), byte(t.Sport>>8), byte(t.Sport), byte(t.Dport>>8), byte(t.Dport))
	h := uint64(offset)
	for _, c := range b {
		h = (h ^ uint64(c)) * prime
	}
	return h
}
