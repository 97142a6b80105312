package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

// findingGroup is one cause of one phase and pair: the finding that stands for
// it and the results that share it.
type findingGroup struct {
	Phase    record.Phase
	Cause    record.Cause
	From, To string
	Lead     record.Finding
	All      []record.Finding
}

// findingGroups gathers the findings of the compared trials: in each phase real
// limits before line rate, what holds for more results first.
func findingGroups(r record.Record) []findingGroup {
	type groupKey struct {
		phase    record.Phase
		cause    record.Cause
		from, to string
	}
	compared := phased(r)
	index := map[groupKey]int{}
	var out []findingGroup
	for _, t := range ordered(r) {
		if t.Finding == nil || compared && t.Phase == record.PhaseStep {
			continue
		}
		k := groupKey{t.Phase, cause(&t), t.From, t.To}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, findingGroup{Phase: k.phase, Cause: k.cause, From: k.from, To: k.to})
		}
		f := *t.Finding
		f.Direction, f.Streams = t.Direction, t.Streams
		out[i].All = append(out[i].All, f)
	}
	summary := map[[2]string]map[flow.Direction]int{}
	for _, s := range seriesOf(r) {
		summary[[2]string{s.from, s.to}] = s.summary
	}
	for i := range out {
		out[i].Lead = leading(out[i].All, summary[[2]string{out[i].From, out[i].To}])
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		switch {
		case a.Phase != b.Phase:
			return phaseOrder(a.Phase) < phaseOrder(b.Phase)
		case (a.Cause == record.LineRate) != (b.Cause == record.LineRate):
			return b.Cause == record.LineRate
		}
		return len(a.All) > len(b.All)
	})
	return out
}

// leading prefers the finding of the summary's place, else the one with the
// most evidence.
func leading(all []record.Finding, summary map[flow.Direction]int) record.Finding {
	best := all[0]
	for _, f := range all {
		if n, ok := summary[f.Direction]; ok && n == f.Streams {
			return f
		}
		if len(f.Evidence) > len(best.Evidence) {
			best = f
		}
	}
	return best
}

// where lists the results a group covers: "forward, reverse · 2, 4 streams".
func (g findingGroup) where() string {
	var directions []string
	var streams []int
	for _, f := range g.All {
		if !slices.Contains(directions, string(f.Direction)) {
			directions = append(directions, string(f.Direction))
		}
		if !slices.Contains(streams, f.Streams) {
			streams = append(streams, f.Streams)
		}
	}
	sort.Ints(streams)
	numbers := make([]string, len(streams))
	for i, n := range streams {
		numbers[i] = fmt.Sprint(n)
	}
	noun := "streams"
	if len(streams) == 1 && streams[0] == 1 {
		noun = "stream"
	}
	return strings.Join(directions, ", ") + " · " + strings.Join(numbers, ", ") + " " + noun
}
