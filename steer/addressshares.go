package steer

import (
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// shares is how frames divide over links: in every reading that the unknown
// inputs leave open, the number of each frame's link or group.
type shares struct {
	links    int
	readings [][]int
	// known: there is one reading and its numbers are the links'.
	known bool
	// turns: the numbers are those of buckets that the links take in turn or
	// by load; frames in different buckets can be on different links.
	turns bool
	// why is what stands in the way of knowing the links, or, without any
	// reading, of telling the frames apart.
	why string
}

// sharesOf asks a spreader how frames divide. sport says whether the frames'
// source ports are the real ones.
func sharesOf(s Spreader, frames []flow.Frame, sport bool) shares {
	out := shares{links: len(s.Links())}
	if out.links == 1 {
		out.readings, out.known = [][]int{make([]int, len(frames))}, true
		return out
	}
	reach := s.Reach()
	b, isBundle := BundleIn(s)
	switch {
	case reach.Striped:
		out.why = reach.Why
	case isBundle && b.adaptive() && !b.TLBStatic:
		return b.buckets(frames, out, sport)
	case reach.Ports && !sport && !reach.Chosen:
		out.why = reach.Why // no port that could be given would help
	case reach.Ports && !sport:
		out.why = reach.Why + "; no source port is given"
	case isBundle:
		out.readings, out.why = b.readings(frames)
		out.known = out.why == ""
	default:
		out.readings, out.why = placements(s, frames)
		if out.known = out.why == ""; out.known {
			break
		}
		if l, ok := s.(reader); ok {
			missing := out.why
			if out.readings, out.why = l.Readings(frames); out.why == "" {
				out.why = missing
			}
		}
	}
	return out
}

// reader tells how frames may share links in every reading of a rule that is not
// wholly known.
type reader interface {
	Readings(frames []flow.Frame) (all [][]int, why string)
}

// BundleIn is the bundle that a spreader is.
func BundleIn(s Spreader) (Bundle, bool) {
	switch b := s.(type) {
	case Bundle:
		return b, true
	case *Bundle:
		return *b, true
	}
	return Bundle{}, false
}

// placements is the one reading of a spreader that places every frame.
func placements(s Spreader, frames []flow.Frame) (readings [][]int, why string) {
	part := make([]int, len(frames))
	for i, f := range frames {
		p := s.Place(f)
		if !p.Known || p.Index < 0 {
			return nil, p.Why
		}
		part[i] = p.Index
	}
	return [][]int{part}, ""
}

// readings lists how the frames may share the ports: for each era in doubt
// and, where a MAC address is not given, for each value that the two last
// bytes may add up to. With why empty there is one, and it counts ports;
// otherwise why says what is not known.
func (b Bundle) readings(frames []flow.Frame) (all [][]int, why string) {
	if all, why = placements(b, frames); why == "" {
		return all, ""
	}
	for _, era := range b.eras() {
		one := b
		one.Era, one.Doubt = era, nil
		part, missing := placements(one, frames)
		if missing == "" {
			all = append(all, part...)
			continue
		}
		parts, missing := one.anyMAC(frames)
		if missing != "" {
			return nil, missing
		}
		all = append(all, parts...)
	}
	return Distinct(all), why
}

// anyMAC is one reading for each XOR of the last bytes of sender and next hop;
// frames that lack one of the two lack the same one.
func (b Bundle) anyMAC(frames []flow.Frame) (all [][]int, why string) {
	if b.Policy == netstate.VLANSrcMAC {
		return nil, b.Reach().Why
	}
	filled := slices.Clone(frames)
	for macs := range 256 {
		for i := range filled {
			if f := &filled[i]; frames[i].SrcMAC.IsZero() || frames[i].DstMAC.IsZero() {
				f.SrcMAC, f.DstMAC = flow.MAC{2, 0, 0, 0, 0, byte(macs)}, flow.MAC{2}
			}
		}
		part, why := placements(b, filled)
		if why != "" {
			return nil, why
		}
		all = append(all, part...)
	}
	return Distinct(all), ""
}

// buckets is the reading of the modes that go by load: what shares a bucket
// shares a link, whichever that is. Balance-alb sends by the XOR of the
// destination address's bytes (bond_alb_xmit) and gives each peer address a
// bucket of that kind for what it receives (rlb_choose_channel); balance-tlb
// sends by the low byte of the transmit hash (bond_tlb_xmit).
func (b Bundle) buckets(frames []flow.Frame, out shares, sport bool) shares {
	out.turns, out.why = true, b.noPlace()
	if b.Mode == netstate.BalanceALB {
		part := make([]int, len(frames))
		for i, f := range frames {
			if !f.Dst.IsValid() {
				out.why = "balance-alb goes by the destination address, which is not given"
				return out
			}
			for _, c := range f.Dst.Unmap().AsSlice() {
				part[i] ^= int(c)
			}
		}
		out.readings = [][]int{part}
		return out
	}
	if reach := policyReach(b.Policy); !reach.Addresses || reach.Ports && !sport {
		out.why = reach.Why
		return out
	}
	table := b
	table.Mode = netstate.BalanceXOR
	table.Ports = make([]string, 256)
	var missing string
	if out.readings, missing = table.readings(frames); len(out.readings) == 0 {
		out.why = missing
	}
	return out
}

// classes is how many numbers a reading's frames are spread over.
func (s shares) classes() int {
	if s.turns {
		return 256
	}
	return s.links
}

// Distinct renumbers each partition by first appearance and drops those that
// are the same then.
func Distinct(parts [][]int) [][]int {
	var out [][]int
	for _, part := range parts {
		number := map[int]int{}
		groups := make([]int, len(part))
		for i, c := range part {
			g, seen := number[c]
			if !seen {
				g = len(number)
				number[c] = g
			}
			groups[i] = g
		}
		if !slices.ContainsFunc(out, func(have []int) bool { return slices.Equal(have, groups) }) {
			out = append(out, groups)
		}
	}
	return out
}
