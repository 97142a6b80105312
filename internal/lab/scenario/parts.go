package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/linerate/linerate/record"
)

// Parts are n scenarios that measure this one's rows between them, each on a network of
// its own and each about as long. Every part sets what all steps set. Rows of which one is
// published as a ratio to the other are in one part; a tune whose settings stay is in each, for
// what is measured behind it, but the last, which one part does with all of that where it can.
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

// Whole puts what the parts showed, each as Parts of this scenario made it, into the order of
// the whole. What is said once for all, and what each part had to do, is the first's that says
// it; so is the error. Parts that were not run say so.
func (s Scenario) Whole(parts []Outcome) Outcome {
	if len(parts) == 1 {
		return parts[0]
	}
	whole := Outcome{Tools: make(map[Tool]string), Rows: []Row{}, Findings: []record.Finding{}, Notes: []string{}}
	rest := make([][]Row, len(parts))
	for p, o := range parts {
		rest[p] = o.Rows
		whole.addHead(o)
		if o.Scenario == "" && whole.Error == "" {
			whole.Error = fmt.Sprintf("part %d of %d was not run", p+1, len(parts))
		}
	}
	of := s.shared(len(parts))
	for i, step := range s.Steps {
		if slices.ContainsFunc(whole.LeftOut, func(l LeftOut) bool { return l.Step == step.Name }) {
			continue
		}
		for j, m := range step.Measure {
			at, kept := of[cell{i, j}], false
			for p := range rest {
				if at != p && at != inEach {
					continue
				}
				n := min(m.Rows(), len(rest[p]))
				if !kept {
					whole.Rows = append(whole.Rows, rest[p][:n]...)
					kept = n > 0
				}
				rest[p] = rest[p][n:]
			}
		}
		for p, o := range parts {
			own := ofStep(o.Findings, step.Name)
			for j, m := range step.Measure {
				if p > 0 && of[cell{i, j}] == inEach {
					own = without(own, m)
				}
			}
			whole.Findings = append(whole.Findings, own...)
		}
	}
	for p := range rest {
		if len(rest[p]) > 0 && whole.Error == "" {
			whole.Error = fmt.Sprintf("put part %d to the others: %d rows are of no measurement", p+1, len(rest[p]))
		}
	}
	return whole
}

// addHead takes what a part says of the run where no part before it did.
func (o *Outcome) addHead(part Outcome) {
	o.Scenario, o.Title, o.Source = cmp.Or(o.Scenario, part.Scenario), cmp.Or(o.Title, part.Title), cmp.Or(o.Source, part.Source)
	o.BackEnd, o.Kernel = cmp.Or(o.BackEnd, part.BackEnd), cmp.Or(o.Kernel, part.Kernel)
	o.Scale, o.Slow, o.Error = cmp.Or(o.Scale, part.Scale), cmp.Or(o.Slow, part.Slow), cmp.Or(o.Error, part.Error)
	maps.Copy(o.Tools, part.Tools)
	for _, n := range part.Notes {
		if !slices.Contains(o.Notes, n) {
			o.Notes = append(o.Notes, n)
		}
	}
	if len(o.LeftOut) == 0 {
		o.LeftOut = part.LeftOut
	}
}

func ofStep(all []record.Finding, step string) (own []record.Finding) {
	for _, f := range all {
		if f.Step == step {
			own = append(own, f)
		}
	}
	return own
}

// without are findings but for one of a measurement's hosts, which another part tells.
func without(all []record.Finding, m Measurement) []record.Finding {
	at := slices.IndexFunc(all, func(f record.Finding) bool { return f.From == m.From && f.To == m.To })
	if at < 0 {
		return all
	}
	return slices.Delete(all, at, at+1)
}

// cell is a measurement: its step's place, and its own in the step.
type cell struct{ step, measure int }

// before reports a cell that is measured earlier.
func (c cell) before(other cell) bool {
	return cmp.Or(cmp.Compare(c.step, other.step), cmp.Compare(c.measure, other.measure)) < 0
}

// inEach is the part of what all parts have to do.
const inEach = -1

// shared says which part has each measurement: the longest first, each to the part that has
// least so far, those that belong together as one.
func (s Scenario) shared(n int) map[cell]int {
	groups, all := s.groups()
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(b.long, a.long) })
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

// MostParts is in how many parts the scenario can be measured at most.
func (s Scenario) MostParts() int {
	groups, _ := s.groups()
	return max(len(groups), 1)
}

// group is measurements that are in one part.
type group struct {
	cells []cell
	long  time.Duration
}

// groups are what parts are made of, and what is in each part.
func (s Scenario) groups() (groups []*group, each map[cell]int) {
	together := make(map[string]*group)
	each = make(map[cell]int)
	compared := s.compared()
	last, behind := s.lastKept()
	for i, step := range s.Steps {
		for j, m := range step.Measure {
			if at := (cell{i, j}); behind != nil && !at.before(last) {
				if at == last {
					groups = append(groups, behind)
				}
				behind.cells, behind.long = append(behind.cells, at), behind.long+m.length()
				continue
			}
			if m.Keep {
				each[cell{i, j}] = inEach
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
	return groups, each
}

// lastKept is the last tune whose settings stay, and a group for it with all that is measured
// behind, so that one part does it alone; nil where that is more than half of everything, or
// has a row that is set against an earlier one.
func (s Scenario) lastKept() (at cell, behind *group) {
	var tail time.Duration
	compared := false
	for i, step := range s.Steps {
		for j, m := range step.Measure {
			if m.Keep {
				at, behind, tail, compared = cell{i, j}, &group{}, 0, false
			}
			tail += m.length()
			compared = compared || len(m.Ratios) > 0
		}
	}
	if compared || 2*tail > s.Length() {
		behind = nil
	}
	return at, behind
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
