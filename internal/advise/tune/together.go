package tune

import (
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/record"
)

// together are these sets, whatever came of their parts; of full links those
// that are expected to carry more.
func together(s State, t record.Trial, sets [][]Name) []Proposal {
	if noCoreLeft(t) {
		return nil
	}
	full := t.Finding != nil && t.Finding.Cause == record.LineRate
	var out []Proposal
	for _, set := range sets {
		chosen := s.untried(set).chosen(set)
		if len(chosen) < len(set) || full && float64(t.Goodput) >= asExpected*float64(reached(s, chosen).rate()) {
			continue
		}
		p, _ := proposalOf(s, chosen)
		if !s.Tried[p.Key] {
			p.Unsure, p.Gain = true, 0
			out = append(out, p)
		}
	}
	return out
}

// untried is the state as if nothing had been tried of these moves.
func (s State) untried(names []Name) State {
	s.Tried = maps.Clone(s.Tried)
	maps.DeleteFunc(s.Tried, func(key Name, _ bool) bool {
		return slices.ContainsFunc(names, func(n Name) bool { return strings.HasPrefix(string(key), string(n)) })
	})
	return s
}

// chosen are the first options of the moves, each behind those before it, of
// streams as many more as tell whether any help.
func (s State) chosen(names []Name) []pick {
	var out []pick
	for _, name := range names {
		m := moveNamed(name)
		left := s.left(m)
		if name == Streams {
			left = slices.DeleteFunc(left, func(o option) bool { return o.load.Traffic.Streams < moreStreams(s.Traffic.Streams) })
		}
		if len(left) == 0 {
			return nil
		}
		out = append(out, pick{m, left[0]})
		s = s.after(left[0])
	}
	return out
}
