package affine

import (
	"math/bits"
	"slices"

	"github.com/linerate/linerate/flow"
)

// known is what some observed flows say of all.
type known struct {
	span       span
	numberings []numbering // under which they fit together
	seen       []sighting  // by the numbers that span counts
}

// known is what the observed flows say, one of them left out; -1 for none.
func (l *Learner) known(without int) (k known) {
	k.numberings = numberings(l.links)
	for i, s := range l.seen {
		if i != without {
			k.take(l.vectors[s.at], i, l.seen)
		}
	}
	return k
}

// take adds an observed flow, number i of seen.
func (k *known) take(v vector, i int, seen []sighting) {
	k.seen = seen
	before := len(k.span.equations)
	if k.span.insert(v, i); len(k.span.equations) == before {
		return
	}
	last := k.span.equations[before]
	k.numberings = slices.DeleteFunc(k.numberings, func(n numbering) bool { return k.value(n, last) != 0 })
}

// value is the XOR of the numbers of the observed flows' links.
func (k *known) value(n numbering, of subset) (number uint8) {
	of.each(func(i int) { number ^= n[k.seen[i].link] })
	return number
}

// agree reports that all numberings put v on one link.
func (k *known) agree(v vector) bool {
	of, ok := k.span.sum(v)
	if !ok {
		return false
	}
	first := -1
	for _, n := range k.numberings {
		link := n.link(k.value(n, of))
		if first >= 0 && link != first {
			return false
		}
		first = link
	}
	return first >= 0
}

// settled reports that the numberings put every sum of the observed flows on
// one link: a sum's link follows from the links of an odd number of flows.
func (k *known) settled() bool {
	var links []int
	for _, r := range k.span.rows {
		r.of.each(func(i int) {
			if link := k.seen[i].link; !slices.Contains(links, link) {
				links = append(links, link)
			}
		})
	}
	for chosen := range 1 << len(links) {
		if bits.OnesCount(uint(chosen))%2 == 0 {
			continue
		}
		first := -1
		for _, n := range k.numberings {
			number := uint8(0)
			for i, link := range links {
				number ^= n[link] * uint8(chosen>>i&1)
			}
			link := n.link(number)
			if first >= 0 && link != first {
				return false
			}
			first = link
		}
	}
	return true
}

// telling is the candidate whose link tells most about the links' numbering,
// -1 where every candidate's link is known.
func (l *Learner) telling(k known) int {
	if k.settled() {
		return -1
	}
	// Among so many candidates there is one that splits evenly.
	const enough = 512
	best, least, tried := -1, len(k.numberings), 0
	l.fresh(func(i int) bool {
		if most := k.largest(l.vectors[i]); most < least {
			least, best = most, i
		}
		tried++
		return tried >= enough && best >= 0
	})
	return best
}

// largest is how many numberings would be left at most once v's link is seen.
func (k *known) largest(v vector) int {
	of, _ := k.span.sum(v)
	var counts [8]int
	for _, n := range k.numberings {
		counts[n.link(k.value(n, of))]++
	}
	return slices.Max(counts[:])
}

// Map is a learned hash: the link of every flow that differs from those
// observed in nothing but what was varied.
type Map struct {
	links []string
	known known
	Progress
}

// Link is the flow's link by number, from 0; false for a flow that the
// observed ones do not reach.
func (m *Map) Link(t flow.Tuple) (link int, ok bool) {
	of, ok := m.known.span.sum(vectorOf(t))
	if !ok {
		return -1, false
	}
	n := m.known.numberings[0]
	link = n.link(m.known.value(n, of))
	return link, link >= 0
}
