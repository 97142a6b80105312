package predict

import (
	"math"
	"slices"

	"github.com/linerate/linerate/predict/chance"
	"github.com/linerate/linerate/unit"
)

// Chance is one way in which the kernel's choice of source ports may come out.
type Chance struct {
	// Links is how many links carry a flow, on the side whose links the ports
	// decide.
	Links int `json:"links"`
	// Probability is its share of all ways, and Even that of the ways in which
	// the flows are spread over all links as evenly as their number allows;
	// from 0 to 1.
	Probability float64 `json:"probability_ratio"`
	Even        float64 `json:"even_ratio,omitempty"`
	// Rate is what the traffic then reaches on average.
	Rate unit.BitRate `json:"rate_bps"`
}

// chances is how likely each number of links is with the kernel's ports, the
// most links first. It is exact where there are few ways and drawn where there
// are very many (as outcomes does). What loss or drawing takes off the mean is
// taken off each alike.
func (w *way) chances(p plan, n *network, streamCap, mean float64) []Chance {
	cells, f := p.prepared(n, streamCap)
	transmit := p.varies(func(c planned) int { return c.out })
	if !transmit && !p.varies(func(c planned) int { return c.in }) {
		return nil // the switches' links alone
	}
	var all []Chance
	sum := 0.0
	chance.Outcomes(p.groups, len(cells), func(counts []float64, probability float64) {
		for i := range cells {
			cells[i].Streams = counts[i]
		}
		rate := f.Fill(cells)
		sum += rate * probability
		split := w.split(p, counts, transmit)
		links := 0
		for _, flows := range split {
			if flows > 0 {
				links++
			}
		}
		i := slices.IndexFunc(all, func(c Chance) bool { return c.Links == links })
		if i < 0 {
			i = len(all)
			all = append(all, Chance{Links: links})
		}
		all[i].Probability += probability
		all[i].Rate += unit.BitRate(rate * probability)
		if slices.Max(split)-slices.Min(split) <= 1 {
			all[i].Even += probability
		}
	})
	kept := 1.0
	if mean < sum {
		kept = mean / sum
	}
	for i := range all {
		all[i].Rate *= unit.BitRate(kept / all[i].Probability)
		all[i].Probability, all[i].Even = tidy(all[i].Probability), tidy(all[i].Even)
	}
	slices.SortFunc(all, func(a, b Chance) int { return b.Links - a.Links })
	return all
}

// tidy takes off what summing left: shares to nine digits.
func tidy(share float64) float64 { return math.Round(share*1e9) / 1e9 }

// split is how many flows each port of the side carries that varies.
func (w *way) split(p plan, counts []float64, transmit bool) []float64 {
	s := &w.in
	if transmit {
		s = &w.out
	}
	var ports []float64
	first := make([]int, len(s.at))
	for i, a := range s.at {
		first[i] = len(ports)
		ports = append(ports, make([]float64, len(a.ports))...)
	}
	for i, c := range p.cells {
		at, port := w.legs[c.leg].in, c.in
		if transmit {
			at, port = w.legs[c.leg].out, c.out
		}
		if port != everyPort {
			ports[first[at]+port] += counts[i]
		}
	}
	return ports
}

// varies reports whether luck decides between different ports of one side.
func (p plan) varies(port func(planned) int) bool {
	for _, g := range p.groups {
		for _, c := range g.All() {
			if port(p.cells[c]) != port(p.cells[g.All()[0]]) {
				return true
			}
		}
	}
	return false
}
