package hashsurvey

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer/recognise"
)

// Request is what a survey is to find.
type Request struct {
	// Streams is the number of streams wanted; zero leaves it to the survey:
	// WantedStreams, or another number that covers the links.
	Streams int
	// Limit is the most flows that may be looked at; zero is ProbeLimit.
	Limit int
	// Quick ends the survey when the set is found. Otherwise what is left of
	// the limit is spent on telling which policy the switch has.
	Quick bool
}

// Decision is what to do after the flows seen so far.
type Decision struct {
	// Next is the candidate to look at next; -1 when the survey is over.
	Next int
	// Cover is the set, when the survey is over; it is even on all sides that
	// ask unless Why says why not.
	Cover Cover
	Why   string
}

// hopeful is the chance from which looking on beats settling for a set of
// another number than wanted.
const hopeful = 0.5

// hopeless is the chance below which looking on is a waste: well under what a
// random flow has to hit one given link on each side that is a black box.
func (s State) hopeless() float64 {
	chance := 0.02
	for _, side := range Sides() {
		if s.asks(side) && s.Own[side] == nil {
			chance /= float64(s.Links[side])
		}
	}
	return chance
}

// Decide says which candidate to look at next, or that the survey is over and
// with what set. Candidates are flows that may be used, looked at or not.
func (s State) Decide(candidates []flow.Frame, req Request) Decision {
	streams, limit := req.Streams, req.Limit
	if streams == 0 {
		streams = s.WantedStreams()
	}
	if limit == 0 {
		limit = s.ProbeLimit()
	}
	fresh, at := s.unseen(candidates)
	if c, ok := s.Cover(nil, streams, false); ok {
		if req.Quick || len(s.Seen) >= limit {
			return Decision{Next: -1, Cover: c}
		}
		if next := s.telling(fresh); next >= 0 {
			return Decision{Next: at[next], Cover: c}
		}
		return Decision{Next: -1, Cover: c}
	}
	next, chance := s.Next(fresh, streams)
	over := len(s.Seen) >= limit || next < 0 || s.most() < 2
	begun := float64(len(s.Seen)) < s.Expected()
	stuck := !begun && chance < s.hopeless()
	if over || !begun && chance < hopeful {
		if c, ok := s.settle(candidates, streams, req.Streams != 0); ok {
			if over || c.Derived == 0 {
				return Decision{Next: -1, Cover: c}
			}
			return Decision{Next: c.toLookAt(candidates)} // a rule is good, seeing is better
		}
	}
	switch {
	case over:
		return Decision{Next: -1, Cover: s.Best(candidates, streams), Why: fmt.Sprintf("%d flows were looked at, as many as allowed", len(s.Seen))}
	case stuck:
		return Decision{Next: -1, Cover: s.Best(candidates, streams), Why: "no other flow is likely to help"}
	}
	return Decision{Next: at[next]}
}

// A policy is recognised when it is this likely; a flow that is expected to
// tell less than so many bits is not worth looking at.
const (
	recognised  = 0.95
	worthAsking = 0.05
)

// telling is the flow that tells most about the rules of the black boxes that
// are not recognised yet; -1 when none tells anything.
func (s State) telling(fresh []flow.Frame) int {
	best, most := -1, worthAsking
	var open []Side
	var beliefs [sideCount]recognise.Belief
	for _, side := range Sides() {
		if !s.asks(side) || s.Own[side] != nil {
			continue
		}
		beliefs[side] = s.Belief(side)
		if guesses := beliefs[side].Guesses(); len(guesses) == 0 || guesses[0].Confidence < recognised {
			open = append(open, side)
		}
	}
	for i, f := range fresh {
		bits := 0.0
		for _, side := range open {
			bits += beliefs[side].Information(side.On(f))
		}
		if bits > most {
			best, most = i, bits
		}
	}
	return best
}

// settle is an even set that is second choice: completed by flows that were
// not seen, or of another number.
func (s State) settle(candidates []flow.Frame, streams int, fixed bool) (Cover, bool) {
	if c, ok := s.Cover(candidates, streams, true); ok {
		return c, true
	}
	if fixed {
		return Cover{}, false
	}
	for _, derive := range []bool{false, true} {
		for _, n := range s.otherCounts(streams) {
			if c, ok := s.Cover(candidates, n, derive); ok {
				return c, true
			}
		}
	}
	return Cover{}, false
}

// toLookAt is the number of the set's first flow that was not seen.
func (c Cover) toLookAt(candidates []flow.Frame) int {
	for _, f := range c.Flows {
		if !f.Seen {
			return slices.IndexFunc(candidates, func(have flow.Frame) bool { return have.Tuple == f.Frame.Tuple })
		}
	}
	return -1
}

// unseen are the candidates that were not looked at, and their numbers.
func (s State) unseen(candidates []flow.Frame) (fresh []flow.Frame, at []int) {
	seen := make(map[flow.Tuple]bool, len(s.Seen))
	for _, f := range s.Seen {
		seen[f.Frame.Tuple] = true
	}
	for i, f := range candidates {
		if !seen[f.Tuple] {
			fresh, at = append(fresh, f), append(at, i)
		}
	}
	return fresh, at
}
