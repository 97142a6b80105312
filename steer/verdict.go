package steer

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// verdict is how chosen streams use one bundle.
type verdict struct {
	perLink        []int
	even, relative bool
	reasons        []string
}

// verdict judges frames placed on links; a link of -1 is unknown. Even must
// hold in every world that the frames and the kernel's release leave open.
func (b Bundle) verdict(frames []flow.Frame, links []int) verdict {
	v := verdict{perLink: make([]int, len(b.Ports))}
	for _, l := range links {
		if l >= 0 {
			v.perLink[l]++
		}
	}
	if len(b.Ports) == 1 {
		v.even = true
		return v
	}
	reach := b.Reach()
	if reach.Striped {
		v.even, v.reasons = true, []string{reach.Why}
		return v
	}
	open, why := b.openHash(frames)
	switch {
	case !b.hashes() || why != "" && !reach.Chosen:
		v.even, v.reasons = len(frames) == 1, []string{reach.Why}
		return v
	case why != "":
		v.even, v.reasons = len(frames) == 1, []string{why}
		return v
	}
	v.even = even(v.perLink)
	if !v.even {
		v.reasons = []string{b.shortfall(v.perLink)}
	}
	agree, evenInAll := b.everywhere(frames, links, open)
	if !agree {
		v.relative = true
		v.reasons = append(v.reasons, b.openReason(frames, open))
	}
	v.even = v.even && evenInAll
	return v
}

// openHash is open for bundles whose mode hashes; others leave nothing to open.
func (b Bundle) openHash(frames []flow.Frame) (open bool, why string) {
	if !b.hashes() {
		return false, ""
	}
	return b.open(frames)
}

// everywhere replays the frames in every world: whether all place them on the
// same links, and whether all are even.
func (b Bundle) everywhere(frames []flow.Frame, links []int, open bool) (agree, evenInAll bool) {
	agree, evenInAll = true, true
	counts := make([]int, len(b.Ports))
	for _, w := range b.worlds(open) {
		clear(counts)
		for i, f := range frames {
			l := int(b.sumIn(f, w) % uint32(len(b.Ports)))
			agree = agree && l == links[i]
			counts[l]++
		}
		evenInAll = evenInAll && even(counts)
	}
	return agree, evenInAll
}

// shortfall says why streams could not be spread evenly.
func (b Bundle) shortfall(perLink []int) string {
	if r := b.Reach(); !r.Ports && !r.Addresses {
		return r.Why
	}
	used := 0
	for _, n := range perLink {
		if n > 0 {
			used++
		}
	}
	if b.Reach().Ports && b.Policy == netstate.Layer34 {
		return fmt.Sprintf("the source ports and addresses allowed reach %d of %d links: %v streams on each", used, len(perLink), perLink)
	}
	return fmt.Sprintf("%s: the pairs of addresses given reach %d of %d links", b.Reach().Why, used, len(perLink))
}

// even reports counts that differ by one at most.
func even(counts []int) bool {
	low, high := counts[0], counts[0]
	for _, c := range counts {
		low, high = min(low, c), max(high, c)
	}
	return high-low <= 1
}
