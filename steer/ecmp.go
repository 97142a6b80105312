package steer

import (
	"fmt"
	"math/bits"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer/siphash"
)

// Multipath is a Linux route with several next hops (ECMP) as far as placing
// flows needs it: net/ipv4/route.c fib_multipath_hash and fib_select_multipath,
// net/ipv6/route.c rt6_multipath_hash and fib6_select_path. A frame stands for
// a flow of a socket on the routing host that has its source address already
// (bind first: the kernel may hash before it chooses one), unless it is marked
// Forwarded.
//
// Two things are outside it: a next hop whose router the kernel believes to be
// gone is skipped in an IPv6 route and in a group of nexthop objects, and an address that moved since the route was made may
// still count as that of its old link. The kernel's own answer (RTM_GETROUTE)
// knows both.
type Multipath struct {
	Policy MultipathPolicy
	// Fields are what MultipathFields hashes; zero is the kernel's default.
	Fields HashFields
	// Seed is net.ipv4.fib_multipath_hash_seed, of IPv6 too (Linux 6.11). Zero
	// is the kernel's default: a key drawn at boot that nobody can read.
	Seed uint32
	// Hops are the next hops that live, in the order of the route.
	Hops []Hop
	// Era is the likeliest era of the kernel, Doubt the others that it may be
	// of; a placement on which they disagree is unknown.
	Era       MultipathEra
	Doubt     []MultipathEra
	BigEndian bool
	// Opaque says why nothing can be told of this route; "" when it can.
	Opaque string
}

// Hop is one leg of a multipath route.
type Hop struct {
	Link string
	// Weight is 1 to 256; zero counts as one.
	Weight int
	// Source is the address that the kernel would send from on this leg; zero
	// is one that no flow in question is sent from.
	Source netip.Addr
}

var _ Spreader = Multipath{}

// Name is the policy as documents print it, such as "ecmp l4".
func (m Multipath) Name() string {
	if m.Policy == MultipathFields {
		return fmt.Sprintf("ecmp %s=%#x", m.Policy, uint16(m.fields()))
	}
	return "ecmp " + m.Policy.String()
}

// Links are the links of the next hops.
func (m Multipath) Links() []string {
	links := make([]string, len(m.Hops))
	for i, h := range m.Hops {
		links[i] = h.Link
	}
	return links
}

// askKernel is what to do where the key is not known.
const askKernel = "the key of the route's hash was drawn at boot and cannot be read: ask the kernel (steer show --route), or set net.ipv4.fib_multipath_hash_seed (Linux 6.11)"

// askNobody is askKernel where the kernel hashes the question in another way
// than the flow (inet_rtm_getroute_build_skb with fib_multipath_custom_hash_skb).
const askNobody = "the key of the route's hash was drawn at boot and cannot be read, and under this policy the kernel's answer about an IPv4 route is not what a socket gets: set net.ipv4.fib_multipath_hash_seed (Linux 6.11)"

// Place says which next hop sends f. Why may hold a remark on a known one.
// Placement.Hash is the 32-bit hash of which the kernel drops the lowest bit.
func (m Multipath) Place(f flow.Frame) Placement {
	p := Placement{Index: -1}
	switch {
	case len(m.Hops) == 0:
		p.Why = "no usable next hop"
		return p
	case len(m.Hops) == 1:
		p.Index, p.Link, p.Known = 0, m.Hops[0].Link, true
		return p
	case m.Opaque != "":
		p.Why = m.Opaque
		return p
	case !f.Src.IsValid() || !f.Dst.IsValid():
		p.Why = "a route's hash needs both IP addresses, and one is not given"
		return p
	}
	if p.Why = familiesDiffer(&f); p.Why != "" {
		return p
	}
	for i, e := range m.eras() {
		hash, known, why := m.hash(f, e)
		index, remark := m.selects(f, e, hash, known)
		switch {
		case index < 0:
			return Placement{Index: -1, Why: why}
		case i > 0 && index != p.Index:
			return Placement{Index: -1, Why: fmt.Sprintf("the kernel's release does not tell how it chooses next hops: as %s or as %s", m.Era, e)}
		}
		switch {
		case i == 0 && known:
			p.Hash = &hash
		case p.Hash != nil && *p.Hash != hash:
			p.Hash = nil
		}
		p.Index, p.Link, p.Known, p.Why = index, m.Hops[index].Link, true, remark
	}
	return p
}

func (m Multipath) eras() []MultipathEra { return append([]MultipathEra{m.Era}, m.Doubt...) }

// upperBounds are the largest 31-bit hashes that each next hop takes, by
// weight (fib_rebalance, rt6_multipath_rebalance).
func (m Multipath) upperBounds() []uint32 {
	var total, sum uint64
	for _, h := range m.Hops {
		total += h.weight()
	}
	bounds := make([]uint32, len(m.Hops))
	for i, h := range m.Hops {
		sum += h.weight()
		bounds[i] = uint32((sum<<31+total/2)/total - 1)
	}
	return bounds
}

func (h Hop) weight() uint64 { return uint64(max(h.Weight, 1)) }

// selects is the next hop of a flow with that hash; -1 when it takes the hash
// to tell and that is not known.
func (m Multipath) selects(f flow.Frame, e MultipathEra, hash uint32, known bool) (index int, remark string) {
	src := f.Src.Unmap()
	if f.Forwarded || Is6(f.Src) {
		src = netip.Addr{}
	}
	if !known {
		return m.without(src, e)
	}
	if src.IsValid() && e == MultipathSourceFirst {
		return m.sourceFirst(src, hash>>1), ""
	}
	best, bestScore := 0, -1
	for i, bound := range m.upperBounds() {
		score := 0
		if hash>>1 <= bound {
			score = 1
		}
		if e == MultipathScored && src.IsValid() && m.Hops[i].Source == src {
			score += 2
		}
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	if bestScore >= 2 {
		remark = preferred
	}
	return best, remark
}

const preferred = "kernels from 6.16 on prefer the next hop whose own address an IPv4 flow is sent from, whatever its hash"

// without is the next hop that the source address alone decides: kernels that
// score, and exactly one leg with that address.
func (m Multipath) without(src netip.Addr, e MultipathEra) (index int, remark string) {
	index = -1
	if e != MultipathScored || !src.IsValid() {
		return -1, ""
	}
	for i, h := range m.Hops {
		if h.Source != src {
			continue
		}
		if index >= 0 {
			return -1, ""
		}
		index = i
	}
	return index, preferred
}

// sourceFirst is fib_select_multipath of 6.16 to 6.18.3: the first leg with the
// source address, from the hash's own on; without such a leg, the last one.
func (m Multipath) sourceFirst(src netip.Addr, hash uint32) int {
	selected, found := -1, false
	for i, bound := range m.upperBounds() {
		own := m.Hops[i].Source == src
		if !found {
			selected, found = i, own
		}
		if hash > bound {
			continue
		}
		if own {
			return i
		}
		if found {
			return selected
		}
	}
	return selected
}

// hash is the 32-bit hash of f. Known is false where it cannot be told, and
// why then says the reason.
func (m Multipath) hash(f flow.Frame, e MultipathEra) (hash uint32, known bool, why string) {
	if f.Forwarded {
		return m.hashForwarded(f, e)
	}
	keys, why := m.socketKeys(f)
	if why != "" {
		return 0, false, why
	}
	if keys == nil { // nothing is hashed
		return 0, true, ""
	}
	switch {
	case m.Seed != 0:
		return m.digest(*keys, e), true, ""
	case m.Policy == MultipathFields && !Is6(f.Src):
		return 0, false, askNobody
	}
	return 0, false, askKernel
}

// digest is fib_multipath_hash_from_keys.
func (m Multipath) digest(k flowKeys, e MultipathEra) uint32 {
	half := uint64(m.Seed)<<32 | uint64(m.Seed)
	hash := uint32(siphash.Sum(siphash.Key{half, half}, k.image(e == MultipathJoint, m.BigEndian)))
	return max(hash, 1)
}

// jhash2 is jhash_2words(a, b, 0) of include/linux/jhash.h: B. Jenkins' lookup3
// final mix (public domain, 2006) of two words.
func jhash2(a, b uint32) uint32 {
	const start = 0xdeadbeef + 2<<2
	a, b = a+start, b+start
	c := uint32(start)
	mix := func(x *uint32, y uint32, n int) { *x = (*x ^ y) - bits.RotateLeft32(y, n) }
	mix(&c, b, 14)
	mix(&a, c, 11)
	mix(&b, a, 25)
	mix(&c, b, 16)
	mix(&a, c, 4)
	mix(&b, a, 14)
	mix(&c, b, 24)
	return c
}

// Reach says what spreads the host's own TCP and UDP flows over the next hops.
func (m Multipath) Reach() Reach {
	switch n := len(m.Hops); {
	case n == 0:
		return Reach{Why: "no usable next hop"}
	case n == 1:
		return Reach{Why: "only one next hop is usable"}
	}
	r := m.Policy.reach(m.fields())
	r.Chosen = (r.Ports || r.Addresses) && m.Seed != 0 && m.Opaque == ""
	switch {
	case m.Opaque != "":
		r.Why += "; " + m.Opaque
	case m.Seed == 0 && (r.Ports || r.Addresses):
		r.Why += "; " + askKernel
	}
	return r
}
