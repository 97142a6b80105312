package report

import (
	"fmt"
	"slices"
	"sort"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Result is one direction of one pair, before and after, at one stream count.
type Result struct {
	From      string
	To        string
	Direction flow.Direction
	Streams   int
	// Before and After are goodput. A record without phases has its results in
	// Before. Zero is unknown.
	Before unit.BitRate
	After  unit.BitRate
	// Ceiling is the after trial's where there is one; zero unknown.
	Ceiling     unit.BitRate
	CeilingMTU  int
	CauseBefore record.Cause
	CauseAfter  record.Cause
}

// Results are the record's headline numbers: every pair and direction at one
// stream count for all directions of a pair. That count is the smallest from
// two up that comes within one percent of the best the pair reached in its
// last phase; one where nothing else does. Of a run that did not measure every
// direction at every count, each direction has its own.
func Results(r record.Record) []Result {
	var out []Result
	for _, s := range seriesOf(r) {
		for _, c := range s.places() {
			res := Result{From: s.from, To: s.to, Direction: c.direction, Streams: c.last().Streams, CauseBefore: record.Unknown, CauseAfter: record.Unknown}
			if c.before != nil {
				res.Before, res.CauseBefore = unit.BitRate(amount(c.before.Goodput)), cause(c.before)
			}
			if c.after != nil {
				res.After, res.CauseAfter = unit.BitRate(amount(c.after.Goodput)), cause(c.after)
			}
			res.Ceiling, res.CeilingMTU = c.ceiling()
			out = append(out, res)
		}
	}
	return out
}

// series is one pair of hosts measured in one way.
type series struct {
	from, to   string
	qualifier  string // protocol or tool, where a phase holds several
	swept      bool   // the trials of one value of a sweep
	directions []flow.Direction
	streams    []int
	cells      map[at]cell
	// summary is the stream count to show each direction at.
	summary map[flow.Direction]int
	// tuned are a tune's first and last rates of a direction, where it ended with
	// another number of streams than it found.
	tuned map[flow.Direction]cell
}

// place is one direction as summaries show it.
type place struct {
	direction flow.Direction
	cell
	streams string // "2", "1 → 2"
}

// places are the directions that have a summary, in order; those with a before and
// an after first.
func (s series) places() []place {
	var out []place
	for _, d := range s.directions {
		if c, ok := s.tuned[d]; ok {
			out = append(out, place{d, c, fmt.Sprintf("%d → %d", c.before.Streams, c.after.Streams)})
		} else if n, ok := s.summary[d]; ok {
			out = append(out, place{d, s.cells[at{d, n}], fmt.Sprint(n)})
		}
	}
	slices.SortStableFunc(out, func(a, b place) int { return len(b.sides()) - len(a.sides()) })
	return out
}

// sides are the trials that a cell has.
func (c cell) sides() []*record.Trial {
	return slices.DeleteFunc([]*record.Trial{c.before, c.after}, func(t *record.Trial) bool { return t == nil })
}

// counted is a place's streams in words.
func (p place) counted() string {
	if p.streams == "1" {
		return "1 stream"
	}
	return p.streams + " streams"
}

type at struct {
	direction flow.Direction
	streams   int
}

// cell is one place of the matrix. Without phases the trial is in before.
type cell struct{ before, after *record.Trial }

// last is the newer of the two trials.
func (c cell) last() *record.Trial {
	if c.after != nil {
		return c.after
	}
	return c.before
}

// ceiling is the newer known ceiling: one yardstick for before and after.
func (c cell) ceiling() (unit.BitRate, int) {
	for _, t := range []*record.Trial{c.after, c.before} {
		if t != nil && positive(float64(t.Ceiling)) {
			return t.Ceiling, t.CeilingMTU
		}
	}
	return 0, 0
}

type pairKey struct{ from, to, qualifier string }

// seriesOf groups the trials that are compared. Of several trials at one place
// and phase the one with the best goodput stands for them.
func seriesOf(r record.Record) []series {
	compared := phased(r)
	split := ambiguous(r, compared)
	index := map[pairKey]int{}
	var out []series
	for _, t := range ordered(r) {
		if compared && t.Phase != record.PhaseBefore && t.Phase != record.PhaseAfter {
			continue
		}
		k := pairKey{from: t.From, to: t.To}
		by := split[k]
		if by.protocol {
			k.qualifier = t.Protocol
		}
		if by.tool {
			k.qualifier = joinWith(", ", k.qualifier, t.Tool)
		}
		if t.Variant != "" { // a sweep's trials are of one place and no rivals
			k.qualifier = joinWith(", ", k.qualifier, t.Variant)
		}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, series{from: t.From, to: t.To, qualifier: k.qualifier, swept: t.Variant != "", cells: map[at]cell{}})
		}
		out[i].add(t, compared)
	}
	for i := range out {
		out[i].arrange()
		if r.Tuning != nil {
			out[i].matchTuned()
		}
	}
	return out
}

// matchTuned finds a tune's rates before and after where no stream count has both.
func (s *series) matchTuned() {
	for _, d := range s.directions {
		var c cell
		for _, n := range s.streams {
			one := s.cells[at{d, n}]
			if b := one.before; b != nil && (c.before == nil || b.Started.Before(c.before.Started)) {
				c.before = b
			}
			if a := one.after; a != nil && (c.after == nil || a.Started.After(c.after.Started)) {
				c.after = a
			}
		}
		if c.before != nil && c.after != nil && !s.twoSided(d) {
			if s.tuned == nil {
				s.tuned = map[flow.Direction]cell{}
			}
			s.tuned[d] = c
		}
	}
}

// amount is a rate as a number to compare: what is no number counts as zero.
func amount(v unit.BitRate) float64 {
	if !positive(float64(v)) {
		return 0
	}
	return float64(v)
}

type splitBy struct{ protocol, tool bool }

// ambiguous says of which pairs one phase holds several protocols or tools.
// Only those are split, since a change may itself be of protocol.
func ambiguous(r record.Record, compared bool) map[pairKey]splitBy {
	type seen struct {
		pair  pairKey
		phase record.Phase
	}
	first := map[seen]record.Trial{}
	out := map[pairKey]splitBy{}
	for _, t := range r.Trials {
		if compared && t.Phase == record.PhaseStep {
			continue
		}
		k := seen{pairKey{from: t.From, to: t.To}, t.Phase}
		f, ok := first[k]
		if !ok {
			first[k] = t
			continue
		}
		s := out[k.pair]
		s.protocol = s.protocol || f.Protocol != t.Protocol
		s.tool = s.tool || f.Tool != t.Tool
		out[k.pair] = s
	}
	return out
}

func (s *series) add(t record.Trial, compared bool) {
	k := at{t.Direction, t.Streams}
	c := s.cells[k]
	side := &c.before
	if compared && t.Phase == record.PhaseAfter {
		side = &c.after
	}
	if *side == nil || amount(t.Goodput) > amount((*side).Goodput) {
		*side = &t
	}
	s.cells[k] = c
}

// arrange orders the axes and picks the summary's stream counts.
func (s *series) arrange() {
	for k := range s.cells {
		if !slices.Contains(s.directions, k.direction) {
			s.directions = append(s.directions, k.direction)
		}
		if !slices.Contains(s.streams, k.streams) {
			s.streams = append(s.streams, k.streams)
		}
	}
	sort.Ints(s.streams)
	known := flow.Directions()
	sort.Slice(s.directions, func(i, j int) bool {
		a, b := slices.Index(known, s.directions[i]), slices.Index(known, s.directions[j])
		if a < 0 || b < 0 {
			return a > b || a == b && s.directions[i] < s.directions[j]
		}
		return a < b
	})
	s.summary = map[flow.Direction]int{}
	if n, ok := s.pick(s.directions); ok && s.whole() {
		for _, d := range s.directions {
			s.summary[d] = n
		}
		return
	}
	for _, d := range s.directions {
		if n, ok := s.pick([]flow.Direction{d}); ok {
			s.summary[d] = n
		}
	}
}

// whole reports whether every direction was measured at every stream count. A
// run that ended early has no count that is fair to all directions: each then
// stands by its own best.
func (s *series) whole() bool { return len(s.cells) == len(s.directions)*len(s.streams) }

// pick is the smallest stream count within one percent of the best that all
// the given directions reached, two or more where there is such a one, since a
// single stream cannot show what several links do. Comparable places are
// preferred.
func (s *series) pick(directions []flow.Direction) (int, bool) {
	for _, complete := range []bool{true, false} {
		best, score := map[flow.Direction]float64{}, map[int]float64{}
		for _, n := range s.streams {
			if !s.covers(directions, n, complete) {
				continue
			}
			score[n] = 0
			for _, d := range directions {
				best[d] = max(best[d], amount(s.cells[at{d, n}].last().Goodput))
			}
		}
		top := 0.0
		for n := range score {
			for _, d := range directions {
				if positive(best[d]) {
					score[n] += amount(s.cells[at{d, n}].last().Goodput) / best[d]
				}
			}
			top = max(top, score[n])
		}
		chosen, found := 0, false
		for _, n := range s.streams {
			if v, ok := score[n]; ok && v >= 0.99*top && (!found || chosen < 2) {
				chosen, found = n, true
			}
		}
		if found {
			return chosen, true
		}
	}
	return 0, false
}

func (s *series) covers(directions []flow.Direction, n int, complete bool) bool {
	for _, d := range directions {
		c, ok := s.cells[at{d, n}]
		if !ok || complete && s.twoSided(d) && (c.before == nil || c.after == nil) {
			return false
		}
	}
	return len(directions) > 0
}

// twoSided reports whether any stream count of d has both a before and an after.
func (s *series) twoSided(d flow.Direction) bool {
	for k, c := range s.cells {
		if k.direction == d && c.before != nil && c.after != nil {
			return true
		}
	}
	return false
}
