package tune

import (
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/record"
)

// joint are the sets of moves that may pay only together, the smallest first:
// one stream that loses its place gains as little by large frames alone as many
// streams do by small ones.
func joint() [][]Name {
	return [][]Name{{MTU, Streams}, {Congestion, Streams}, {MTU, Congestion, Streams}}
}

// together are the sets that the newest trial's evidence allows once nothing is
// left that helps by itself, whatever came of their parts.
func together(s State, t record.Trial) []Proposal {
	if !slices.ContainsFunc(causesOf(t, s.rate()), func(c record.Cause) bool {
		return slices.Contains(moveNamed(Streams).causes, c) && slices.Contains(moveNamed(Congestion).causes, c)
	}) || noCoreLeft(t) {
		return nil
	}
	var out []Proposal
	for _, set := range joint() {
		chosen := s.untried(set).chosen(set)
		if len(chosen) < len(set) {
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
