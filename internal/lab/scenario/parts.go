package scenario

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/linerate/linerate/record"
)

// Parts are n scenarios that measure this one's rows between them, each on a network of
// its own and each about as long. Every part sets what all steps set. Rows of which one is
// published as a ratio to the other are in one part, and a tune whose settings stay is in
// each, for the steps behind it.
func (s Scenario) Parts(n int) []Scenario {
	of := s.shared(n)
	parts := make([]Scenario, n)
	for p := range parts {
		parts[p] = s
		parts[p].Steps = slices.Clone(s.Steps)
		for i, step := range s.Steps {
			parts[p].Steps[i].Measure = nil
			for j, m := range step.Measure {
				if at := of[cell{i, j}]; at == p || at == inEach {
					parts[p].Steps[i].Measure = append(parts[p].Steps[i].Measure, m)
				}
			}
		}
	}
	return parts
}

// Whole puts what the parts showed, each as Parts made it, into the order of the whole. What
// is said once for all is the first part's; the error is of the first that failed.
func (s Scenario) Whole(parts []Outcome) Outcome {
	whole := parts[0]
	if len(parts) == 1 {
		return whole
	}
	whole.Tools = make(map[Tool]string)
	whole.Rows, whole.Findings, whole.Notes, whole.LeftOut = []Row{}, []record.Finding{}, []string{}, nil
	rest := make([][]Row, len(parts))
	for p, o := range parts {
		rest[p] = o.Rows
		maps.Copy(whole.Tools, o.Tools)
		whole.Notes = append(whole.Notes, o.Notes...)
		if len(whole.LeftOut) == 0 {
			whole.LeftOut = o.LeftOut
		}
		if whole.Error == "" {
			whole.Error = o.Error
		}
	}
	of := s.shared(len(parts))
	for i, step := range s.Steps {
		if slices.ContainsFunc(whole.LeftOut, func(l LeftOut) bool { return l.Step == step.Name }) {
			continue
		}
		for j, m := range step.Measure {
			at := of[cell{i, j}]
			for p := range rest {
				if at != p && at != inEach {
					continue
				}
				n := min(m.Rows(), len(rest[p]))
				if at == p || p == 0 {
					whole.Rows = append(whole.Rows, rest[p][:n]...)
				}
				rest[p] = rest[p][n:]
			}
		}
		for _, o := range parts {
			for _, f := range o.Findings {
				if f.Step == step.Name {
					whole.Findings = append(whole.Findings, f)
				}
			}
		}
	}
	for p := range rest {
		if len(rest[p]) > 0 && whole.Error == "" {
			whole.Error = fmt.Sprintf("put part %d to the others: %d rows are of no measurement", p+1, len(rest[p]))
		}
	}
	return whole
}

// cell is a measurement: its step's place, and its own in the step.
type cell struct{ step, measure int }

// inEach is the part of what all parts have to do.
const inEach = -1

// shared says which part has each measurement: the longest first, each to the part that has
// least so far, those that belong together as one.
func (s Scenario) shared(n int) map[cell]int {
	type group struct {
		cells []cell
		long  time.Duration
	}
	var groups []*group
	together := make(map[string]*group)
	all := make(map[cell]int)
	compared := s.compared()
	for i, step := range s.Steps {
		for j, m := range step.Measure {
			if m.Keep {
				all[cell{i, j}] = inEach
				continue
			}
			g := &group{}
			if key := m.pairing(); compared[key] {
				if together[key] == nil {
					together[key] = g
					groups = append(groups, g)
				}
				g = together[key]
			} else {
				groups = append(groups, g)
			}
			g.cells, g.long = append(g.cells, cell{i, j}), g.long+m.length()
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return int(b.long - a.long) })
	long := make([]time.Duration, n)
	for _, g := range groups {
		least := slices.Index(long, slices.Min(long))
		long[least] += g.long
		for _, c := range g.cells {
			all[c] = least
		}
	}
	return all
}

// compared are the measurements of which rows are published as ratios to each other.
func (s Scenario) compared() map[string]bool {
	all := make(map[string]bool)
	for _, step := range s.Steps {
		for _, m := range step.Measure {
			if len(m.Ratios) > 0 {
				all[m.pairing()] = true
			}
		}
	}
	return all
}

// pairing is what measurements of two steps have in common that are set against each other.
func (m Measurement) pairing() string {
	from, to := m.Names()
	return fmt.Sprint(from, " ", to, " ", m.Direction, " ", m.Tool, " ", m.Rows())
}
