// Package affine learns the exact hash of an unknown switch from a few flows:
// a CRC or an XOR over 2, 4 or 8 links is affine over GF(2) in the bits of the
// header, so that the links of some flows fix those of all others, whatever the
// polynomial, the seed and the offset. It must never call a hash learned that
// flows it had not seen do not confirm, nor guess one that is not affine.
package affine

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/flow"
)

// Checks is how many flows must take the link that the others say before a
// hash is learned. Of two links a random function passes once in 2^32; one that
// is affine for three flows of four passes these and the first 17 once in a
// million.
const Checks = 32

// Learner learns how a device spreads flows over its links. All its flows are
// of one protocol and one pair of hosts.
type Learner struct {
	links      int
	names      []string
	candidates []flow.Tuple
	vectors    []vector
	gone       []bool // candidates that cannot be observed
	reach      int    // the dimension of the candidates' span
	seen       []sighting
	unsteady   []Unsteady
}

// sighting is one candidate and the link it took.
type sighting struct {
	at    int
	link  int
	fixed bool // looked at again
}

// Unsteady is a flow that was seen on two links.
type Unsteady struct {
	Flow flow.Tuple `json:"flow"`
	// First and Then are the links' names.
	First string `json:"first"`
	Then  string `json:"then"`
}

// New returns a learner of a device with those links. Candidates are flows
// that may be observed, in the order to try them: draw it at random. What is
// learned holds for them and for all flows between them.
func New(links []string, candidates []flow.Tuple) *Learner {
	l := &Learner{links: len(links), names: links, candidates: candidates, vectors: make([]vector, len(candidates)), gone: make([]bool, len(candidates))}
	for i, t := range candidates {
		l.vectors[i] = vectorOf(t)
	}
	l.measure()
	return l
}

// measure counts the dimensions of the candidates that are left.
func (l *Learner) measure() {
	var s span
	for i, v := range l.vectors {
		if (!l.gone[i] || l.observed(i)) && !s.reaches(v) {
			s.insert(v, 0)
		}
	}
	l.reach = len(s.rows)
}

func (l *Learner) observed(at int) bool {
	return slices.ContainsFunc(l.seen, func(s sighting) bool { return s.at == at })
}

// Skip leaves out candidates that cannot be observed, or not again.
func (l *Learner) Skip(at ...int) {
	for _, i := range at {
		l.gone[i] = true
		for j := range l.seen {
			l.seen[j].fixed = l.seen[j].fixed || l.seen[j].at == i
		}
	}
	l.measure()
}

// Observe notes that a candidate took a link. A candidate seen again replaces
// what was seen before.
func (l *Learner) Observe(at, link int) {
	for i, s := range l.seen {
		if s.at != at {
			continue
		}
		if s.link != link {
			l.unsteady = append(l.unsteady, Unsteady{l.candidates[at], l.names[s.link], l.names[link]})
		}
		l.seen[i].link, l.seen[i].fixed = link, true
		return
	}
	l.seen = append(l.seen, sighting{at: at, link: link})
}

// Decision is what to do after the flows observed so far.
type Decision struct {
	// Next is the candidate to observe next; -1 when the learner is done.
	Next int
	// Again: Next was observed before, and contradicts the other flows.
	Again bool
	// Map is what was learned, when done; nil where Why says why nothing was.
	Map *Map
	Why string
	Progress
}

// Progress is how far a learner is.
type Progress struct {
	// Fixed of Of directions in which flows differ are known. All flows are,
	// when both are equal.
	Fixed, Of int
	// Learned is how many flows it took to know the link of all of them,
	// Checked how many more were on the link that was said before.
	Learned, Checked int
	// Unsteady are flows that were seen on two links.
	Unsteady []Unsteady
}

// mostUnsteady is how many flows may have been misread.
const mostUnsteady = 2

// Decide says which candidate to observe next, or that the learner is done.
func (l *Learner) Decide() Decision {
	if l.links != 2 && l.links != 4 && l.links != 8 {
		return l.refuse(fmt.Sprintf("a few flows fix a hash over 2, 4 or 8 links, and these are %d", l.links))
	}
	k := l.known(-1)
	d := Decision{Next: -1, Progress: Progress{Fixed: len(k.span.rows), Of: l.reach, Unsteady: l.unsteady}}
	d.Learned, d.Checked = l.effort()
	switch {
	case len(l.unsteady) > mostUnsteady:
		return l.refuse(l.unsteadyWords() + ": the switch goes by more than a flow's addresses and ports, or other traffic hides the flows")
	case len(l.seen) == mostSeen:
		return l.refuse(fmt.Sprintf("%d flows were observed, and they do not settle it", mostSeen))
	case len(k.numberings) == 0:
		return l.doubt(d)
	case d.Fixed < d.Of:
		d.Next = l.fresh(func(i int) bool { return !k.span.reaches(l.vectors[i]) })
		return d
	}
	if next := l.telling(k); next >= 0 {
		d.Next = next
		return d
	}
	if d.Checked < Checks {
		if d.Next = l.fresh(nil); d.Next >= 0 {
			return d
		}
	}
	if d.Checked == 0 {
		return l.refuse("all flows that may be used were observed, and none is left to check what they say")
	}
	d.Map = &Map{links: l.names, known: k, Progress: d.Progress}
	return d
}

func (l *Learner) unsteadyWords() string {
	u := l.unsteady[0]
	return fmt.Sprintf("the flow from port %d to %d was seen on %s and then on %s", u.Flow.Sport, u.Flow.Dport, u.First, u.Then)
}

func (l *Learner) refuse(why string) Decision {
	return Decision{Next: -1, Why: why, Progress: Progress{Of: l.reach, Unsteady: l.unsteady}}
}

// fresh is the first candidate not observed that suits, -1 for none.
func (l *Learner) fresh(suits func(i int) bool) int {
	seen := make(map[int]bool, len(l.seen))
	for _, s := range l.seen {
		seen[s.at] = true
	}
	for i := range l.vectors {
		if !seen[i] && !l.gone[i] && (suits == nil || suits(i)) {
			return i
		}
	}
	return -1
}

// doubt is what to do where no affine hash explains all that was observed: one
// flow may have been misread. While several may, more flows tell which; the
// one is observed again. Where it is not one, or that one was seen alike
// twice, the hash is not affine.
func (l *Learner) doubt(d Decision) Decision {
	var suspects []int
	for i, s := range l.seen {
		if !s.fixed && len(l.known(i).numberings) > 0 {
			suspects = append(suspects, i)
		}
	}
	again := func(i int) Decision {
		d.Next, d.Again = l.seen[i].at, true
		return d
	}
	if len(suspects) > 1 {
		if d.Next = l.fresh(nil); d.Next >= 0 {
			return d
		}
	}
	if len(suspects) > 0 {
		return again(suspects[0])
	}
	// A switch that does not go by the flow alone shows it in what is seen again.
	for i := range min(steady, len(l.seen)) {
		if !l.seen[i].fixed {
			return again(i)
		}
	}
	if len(l.unsteady) > 0 {
		return l.refuse(l.unsteadyWords() + ", and the other flows do not fit together either")
	}
	return l.refuse(fmt.Sprintf("the links of %d flows contradict every CRC and every XOR: this hash is of another kind", len(l.seen)))
}

// steady is how many flows are observed again before a hash is called not affine.
const steady = 3

// effort replays what was observed: how many flows it took until every
// candidate's link was known, and how many came after.
func (l *Learner) effort() (learned, checked int) {
	var k known
	k.numberings = numberings(l.links)
	for i, s := range l.seen {
		sure := len(k.span.rows) == l.reach && k.agree(l.vectors[s.at])
		if sure {
			checked++
		} else {
			learned++
		}
		k.take(l.vectors[s.at], i, l.seen)
	}
	return learned, checked
}
