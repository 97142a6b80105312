package steer

import (
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Groups says which frames share a link, even where it cannot be told which
// link: groups[i] numbers the link of frames[i] from 0 in order of first
// appearance. Frames that lack a MAC address are taken to lack the same one
// (one sender and one next hop). Known is false, with the reason, when the
// sharing itself depends on what is unknown; groups is then nil.
func (b Bundle) Groups(frames []flow.Frame) (groups []int, known bool, why string) {
	one := make([]int, len(frames))
	switch {
	case len(b.Ports) == 0:
		return nil, false, "no usable link"
	case len(b.Ports) == 1, b.Mode == netstate.ActiveBackup, b.Mode == netstate.Broadcast:
		return one, true, ""
	case b.Hashes():
		return b.groupsBy(frames, len(b.Ports))
	case b.Mode == netstate.BalanceALB && sameDestination(frames):
		return one, true, ""
	case b.Mode == netstate.BalanceTLB && b.oldest() <= EraRawProto:
		// The table of 256 buckets moves whole buckets: one bucket, one link.
		if g, known, _ := b.groupsBy(frames, 256); known && single(g) {
			return g, true, ""
		}
	}
	return nil, false, b.noPlace()
}

// groupsBy partitions frames by hash modulo n in every world and returns the
// partition when all worlds agree.
func (b Bundle) groupsBy(frames []flow.Frame, n int) (groups []int, known bool, why string) {
	open, why := b.open(frames)
	if why != "" {
		return nil, false, why
	}
	for _, w := range b.worlds(open) {
		g := b.partition(frames, w, n)
		if groups == nil {
			groups = g
			continue
		}
		for i := range g {
			if g[i] != groups[i] {
				return nil, false, b.openReason(frames, open)
			}
		}
	}
	return groups, true, ""
}

// world is one reading of what a bundle and its frames leave open: the era
// and the XOR of the last bytes of two unknown MAC addresses, which is all
// that the hash takes of them.
type world struct {
	era  Era
	macs byte
}

// worlds lists every reading, likeliest era first.
func (b Bundle) worlds(open bool) []world {
	macs := 1
	if open {
		macs = 256
	}
	var all []world
	for _, e := range b.eras() {
		for m := range macs {
			all = append(all, world{e, byte(m)})
		}
	}
	return all
}

// open reports whether a MAC address that decides is missing; why is set when
// the frames cannot be hashed in any world.
func (b Bundle) open(frames []flow.Frame) (open bool, why string) {
	for _, f := range frames {
		for _, e := range b.eras() {
			if why := b.hasher(e).unknowable(&f); why != "" {
				return false, why
			}
		}
		if why := b.hasher(b.Era).withoutMAC(&f); why != "" {
			// vlan+srcmac takes all of the address: only equal tags are sure.
			if b.Policy == netstate.VLANSrcMAC && f.VLAN != frames[0].VLAN {
				return false, why
			}
			open = true
		}
	}
	return open, ""
}

// openReason says what the answer would need.
func (b Bundle) openReason(frames []flow.Frame, open bool) string {
	if open {
		for _, f := range frames {
			if why := b.hasher(b.Era).withoutMAC(&f); why != "" {
				return why
			}
		}
	}
	return b.doubtful()
}

// sumIn is the hash of f in a world.
func (b Bundle) sumIn(f flow.Frame, w world) uint32 {
	macs := f.SrcMAC[5] ^ f.DstMAC[5]
	if f.SrcMAC.IsZero() || f.DstMAC.IsZero() {
		macs = w.macs
	}
	return b.hasher(w.era).value(&f, macs)
}

// partition numbers the frames' links in a world by first appearance.
func (b Bundle) partition(frames []flow.Frame, w world, n int) []int {
	number := make([]int, n)
	groups := make([]int, len(frames))
	next := 0
	for i, f := range frames {
		link := b.sumIn(f, w) % uint32(n)
		if number[link] == 0 {
			next++
			number[link] = next
		}
		groups[i] = number[link] - 1
	}
	return groups
}

func (b Bundle) oldest() Era {
	oldest := b.Era
	for _, e := range b.Doubt {
		oldest = max(oldest, e)
	}
	return oldest
}

func sameDestination(frames []flow.Frame) bool {
	return !slices.ContainsFunc(frames, func(f flow.Frame) bool { return !f.Dst.IsValid() || f.Dst != frames[0].Dst })
}

func single(groups []int) bool {
	return !slices.ContainsFunc(groups, func(g int) bool { return g != 0 })
}
