package hashsurvey

import (
	"slices"

	"github.com/linerate/linerate/flow"
)

// sure is the probability from which a flow's link counts as known without
// having been seen.
const sure = 0.95

// CoverFlow is one flow of a set.
type CoverFlow struct {
	Frame flow.Frame
	Links [sideCount]int // -1 unknown
	// Seen: it was looked at. Otherwise its links follow from the rule that
	// explains what was seen.
	Seen bool
}

// Cover is a set of flows to use together.
type Cover struct {
	// Flows are in the order to start them: first ones are as even as the set
	// allows.
	Flows []CoverFlow
	// Even says on which sides no link has two flows more than another.
	Even [sideCount]bool
	// PerLink counts the set's flows on each link of each side.
	PerLink [sideCount][]int
	// Derived is how many of the flows were not seen.
	Derived int
}

// EvenAll reports whether all sides are even.
func (c Cover) EvenAll() bool { return c.Even == [sideCount]bool{true, true, true, true} }

// Cover returns a set of that many streams that is even on every side, of
// flows seen, and of candidates whose links the belief is sure of when derive
// is set. Ok is false when there is none.
func (s State) Cover(candidates []flow.Frame, streams int, derive bool) (c Cover, ok bool) {
	return s.coverOn(s.sides(), candidates, streams, derive)
}

// coverOn is Cover even on the given sides only.
func (s State) coverOn(use [sideCount]bool, candidates []flow.Frame, streams int, derive bool) (Cover, bool) {
	if streams < 1 {
		return Cover{}, false
	}
	flows := s.whole(use)
	search := packing{links: s.Links, use: use, streams: streams}
	if !derive && search.bound(flows) < streams {
		return Cover{}, false
	}
	parts := search.largest(flows)
	if parts[0].size == streams {
		return s.cover(parts[0].chosen, nil), true
	}
	if !derive {
		return Cover{}, false
	}
	derived := s.derived(use, candidates)
	var pool []packed
	for i, d := range derived {
		pool = append(pool, packed{at: len(s.Seen) + i, links: d.Links})
	}
	for _, part := range parts {
		if part.complete(pool) {
			return s.cover(part.chosen, derived), true
		}
	}
	return Cover{}, false
}

// derived are the candidates that were not seen and whose links on the sides
// in use are sure.
func (s State) derived(use [sideCount]bool, candidates []flow.Frame) []CoverFlow {
	seen := make(map[flow.Tuple]bool, len(s.Seen))
	for _, f := range s.Seen {
		seen[f.Frame.Tuple] = true
	}
	beliefs := s.beliefs()
	var out []CoverFlow
	for _, f := range candidates {
		if seen[f.Tuple] {
			continue
		}
		seen[f.Tuple] = true
		d := CoverFlow{Frame: f, Links: [sideCount]int{-1, -1, -1, -1}}
		known := true
		for _, side := range Sides() {
			switch {
			case s.Links[side] == 1:
				d.Links[side] = 0
			case s.asks(side):
				d.Links[side] = likeliest(beliefs[side].Chances(side.On(f)))
			}
			known = known && (!use[side] || d.Links[side] >= 0)
		}
		if known {
			out = append(out, d)
		}
	}
	return out
}

// likeliest is the link that is sure; -1 when none is.
func likeliest(chances []float64) int {
	return slices.IndexFunc(chances, func(p float64) bool { return p >= sure })
}

// cover puts chosen flows, numbered through seen ones and derived ones, into
// the order to start them and counts their links.
func (s State) cover(chosen []int, derived []CoverFlow) Cover {
	var left []CoverFlow
	c := Cover{}
	for _, at := range chosen {
		if at < len(s.Seen) {
			left = append(left, CoverFlow{Frame: s.Seen[at].Frame, Links: s.Seen[at].Links, Seen: true})
		} else {
			left = append(left, derived[at-len(s.Seen)])
			c.Derived++
		}
	}
	for _, side := range Sides() {
		c.PerLink[side] = make([]int, s.Links[side])
	}
	for len(left) > 0 {
		best, least := 0, -1
		for i, f := range left {
			if load := c.crowding(f); least < 0 || load < least {
				best, least = i, load
			}
		}
		f := left[best]
		for _, side := range Sides() {
			if f.Links[side] >= 0 {
				c.PerLink[side][f.Links[side]]++
			}
		}
		c.Flows = append(c.Flows, f)
		left = slices.Delete(left, best, best+1)
	}
	for _, side := range Sides() {
		c.Even[side] = s.Links[side] < 2 || c.evenOn(side)
	}
	return c
}

// crowding is how many flows already share links with f, over all sides.
func (c Cover) crowding(f CoverFlow) (load int) {
	for _, side := range Sides() {
		if f.Links[side] >= 0 {
			load += c.PerLink[side][f.Links[side]]
		}
	}
	return load
}

func (c Cover) evenOn(side Side) bool {
	known := 0
	for _, n := range c.PerLink[side] {
		known += n
	}
	return known == len(c.Flows) && even(c.PerLink[side])
}

// Best returns the best set there is: even on all sides if it can be, with
// the streams wanted or else another number from the links' to twice that;
// then even on as many sides as possible, the first ones first. Seen flows
// are preferred to derived ones.
func (s State) Best(candidates []flow.Frame, streams int) Cover {
	counts := append([]int{streams}, s.otherCounts(streams)...)
	for _, use := range s.subsets() {
		for _, n := range counts {
			for _, derive := range []bool{false, true} {
				if c, ok := s.coverOn(use, candidates, n, derive); ok {
					return c
				}
			}
		}
	}
	return Cover{}
}

// otherCounts are the other numbers of streams that cover the links, those
// that can be exactly even first.
func (s State) otherCounts(streams int) []int {
	var exact, rest []int
	for n := s.most(); n <= 2*s.most(); n++ {
		whole := true
		for _, side := range Sides() {
			whole = whole && (!s.asks(side) || n%s.Links[side] == 0)
		}
		switch {
		case n == streams:
		case whole:
			exact = append(exact, n)
		default:
			rest = append(rest, n)
		}
	}
	return append(exact, rest...)
}

// subsets are the choices of sides to be even on: all that ask first, then
// without one, the last given up first, and so on.
func (s State) subsets() [][sideCount]bool {
	all := s.sides()
	var out [][sideCount]bool
	for drop := 0; drop <= int(sideCount); drop++ {
		for mask := range 1 << sideCount {
			use, dropped := all, 0
			for _, side := range Sides() {
				if mask&(1<<(sideCount-1-side)) != 0 && all[side] {
					use[side] = false
					dropped++
				}
			}
			if dropped == drop && !slices.Contains(out, use) {
				out = append(out, use)
			}
		}
	}
	return out
}

// even reports counts that differ by one at most.
func even(counts []int) bool { return slices.Max(counts)-slices.Min(counts) <= 1 }
