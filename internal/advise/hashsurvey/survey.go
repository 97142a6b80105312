// Package hashsurvey decides which flow to probe next when the links that flows
// take are to be found out, which of the flows seen make a set that uses every
// link evenly, and the words for whoever runs the switch. Pure: how a flow is
// probed is package probe's. Don't call a rule known that was only guessed: a
// guess carries how sure it is.
package hashsurvey

import (
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/recognise"
)

// Side is one of the four places where the flows between two hosts are spread
// over links. Data goes from the near host to the far one, and every
// connection's acknowledgements, or its data the other way, come back.
type Side int

// The sides, in the order that decides which is given up first when not all
// can be even: the last.
const (
	NearOut Side = iota // the near host's bond sends data
	FarIn               // the switch hands data to the far host
	FarOut              // the far host's bond answers
	NearIn              // the switch hands answers to the near host
	sideCount
)

// Sides lists them.
func Sides() []Side { return []Side{NearOut, FarIn, FarOut, NearIn} }

// Back reports the sides that the answers pass.
func (s Side) Back() bool { return s == FarOut || s == NearIn }

// Far reports the sides whose links are the far host's.
func (s Side) Far() bool { return s == FarIn || s == FarOut }

// Out reports the sides where a host, and not the switch, chooses the link.
func (s Side) Out() bool { return s == NearOut || s == FarOut }

// State is what looking has found out about the four sides so far.
type State struct {
	// Links is how many usable links each side has; a side with one is even
	// whatever happens.
	Links [sideCount]int
	// Own is the spreader of a side whose rule is known; nil for a black box.
	Own [sideCount]steer.Spreader
	// Ignore leaves out a side on which flows have no link of their own.
	Ignore [sideCount]bool
	// Seen are the flows that were looked at.
	Seen []SeenFlow
}

// SeenFlow is a flow, as the near host sends it, and its link on each side;
// -1 where that could not be told.
type SeenFlow struct {
	Frame flow.Frame
	Links [sideCount]int
}

// Answer is the frame that answers f.
func Answer(f flow.Frame) flow.Frame {
	f.Tuple = f.Tuple.Reverse()
	f.SrcMAC, f.DstMAC = f.DstMAC, f.SrcMAC
	return f
}

// On is f as the side sees it.
func (s Side) On(f flow.Frame) flow.Frame {
	if s.Back() {
		return Answer(f)
	}
	return f
}

// Sightings are the flows seen on a side.
func (s State) Sightings(side Side) []steer.Sighting {
	var out []steer.Sighting
	for _, f := range s.Seen {
		if link := f.Links[side]; link >= 0 {
			out = append(out, steer.Sighting{Frame: side.On(f.Frame), Link: link})
		}
	}
	return out
}

// Belief is what the sightings of a side leave open.
func (s State) Belief(side Side) recognise.Belief {
	return recognise.Believe(s.Sightings(side), s.Links[side], s.Own[side])
}

// asks reports whether a side has anything to be even about.
func (s State) asks(side Side) bool { return s.Links[side] > 1 && !s.Ignore[side] }

func (s State) sides() (use [sideCount]bool) {
	for _, side := range Sides() {
		use[side] = s.asks(side)
	}
	return use
}

// most is the larger number of links that have to be covered.
func (s State) most() int {
	most := 1
	for _, side := range Sides() {
		if s.asks(side) {
			most = max(most, s.Links[side])
		}
	}
	return most
}

// ExpectedProbes is how many random flows it takes, on average, until each of
// n links was hit (the coupon collector's n*H(n)).
func ExpectedProbes(n int) float64 {
	sum := 0.0
	for i := 1; i <= n; i++ {
		sum += float64(n) / float64(i)
	}
	return sum
}

// ProbeLimit is the most probes that a survey of these sides should need:
// 2*n*H(n) of the larger number of links n.
func (s State) ProbeLimit() int { return int(2 * ExpectedProbes(s.most())) }

// Expected is n*H(n) of the larger number of links.
func (s State) Expected() float64 { return ExpectedProbes(s.most()) }

// WantedStreams is the number of streams to look for when none is asked for:
// so many that every side can be exactly even, unless that is more than twice
// the links; then as many as the larger number of links.
func (s State) WantedStreams() int {
	most, all := s.most(), 1
	for _, side := range Sides() {
		if s.asks(side) {
			all = lcm(all, s.Links[side])
		}
	}
	if all <= 2*most {
		return all
	}
	return most
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// Next chooses, of the candidates, the flow to look at next: the one most
// likely to fit into an even set of that many streams beside the flows seen
// so far; among equals the one whose links are least sure. Chance is that
// likelihood. At is -1 without candidates.
func (s State) Next(candidates []flow.Frame, streams int) (at int, chance float64) {
	use := s.sides()
	beliefs := s.beliefs()
	partial := packing{links: s.Links, use: use, streams: streams}.largest(s.whole(use))
	at, best := -1, -1.0
	for i, f := range candidates {
		var chances [sideCount][]float64
		unsure := 0.0
		for _, side := range Sides() {
			if use[side] {
				chances[side] = beliefs[side].Chances(side.On(f))
				unsure += recognise.Entropy(chances[side])
			}
		}
		fits := fitting(partial, chances, use)
		if score := fits + curiosity*unsure; score > best {
			at, chance, best = i, fits, score
		}
	}
	return at, chance
}

func (s State) beliefs() (all [sideCount]recognise.Belief) {
	for _, side := range Sides() {
		if s.asks(side) {
			all[side] = s.Belief(side)
		}
	}
	return all
}

// whole are the flows whose links are known on every side that asks.
func (s State) whole(use [sideCount]bool) []packed {
	var out []packed
	for i, f := range s.Seen {
		known := true
		for _, side := range Sides() {
			known = known && (!use[side] || f.Links[side] >= 0)
		}
		if known {
			out = append(out, packed{at: i, links: f.Links})
		}
	}
	return out
}

// curiosity is what a bit of doubt about a flow's links is worth beside the
// probability that it fits: it decides between equals.
const curiosity = 0.005

// rare is a probability not worth following.
const rare = 0.002

// fitting is the probability that a flow with these chances fits into one of
// the partial sets.
func fitting(partial []*load, chances [sideCount][]float64, use [sideCount]bool) float64 {
	var links [sideCount]int
	fits, looked := 0.0, 0.0
	var walk func(side Side, p float64)
	walk = func(side Side, p float64) {
		if p < rare {
			return
		}
		if side == sideCount {
			looked += p
			if slices.ContainsFunc(partial, func(l *load) bool { return l.fits(links) }) {
				fits += p
			}
			return
		}
		if !use[side] {
			walk(side+1, p)
			return
		}
		for link, chance := range chances[side] {
			links[side] = link
			walk(side+1, p*chance)
		}
	}
	walk(NearOut, 1)
	if looked == 0 { // so many links that none is likelier than rare
		return 1
	}
	return fits / looked
}
