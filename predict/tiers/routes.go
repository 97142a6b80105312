package tiers

import (
	"math"
	"slices"
)

// Arriving are the routes to one link, all where there is none: the ports of a flow can be
// chosen so that it has that link.
func Arriving(routes []Route, in int) []Route {
	if some := slices.DeleteFunc(slices.Clone(routes), func(r Route) bool { return r.In != in }); len(some) > 0 {
		return some
	}
	return routes
}

// Striped is what one flow over all ports puts on each link.
func Striped(routes []Route) Route {
	var all Route
	for _, r := range routes {
		for i, l := range r.Links {
			at := slices.Index(all.Links, l)
			if at < 0 {
				at = len(all.Links)
				all.Links, all.Weights = append(all.Links, l), append(all.Weights, 0)
			}
			all.Weights[at] += r.Share * r.Weights[i]
		}
	}
	return all
}

// mostAlike bounds how often cells are repeated.
const mostAlike = 512

// Alike repeats cells until all are equally likely.
func Alike(cells []int, shares []float64) []int {
	parts := len(cells)
	whole := func() bool {
		return !slices.ContainsFunc(shares, func(s float64) bool {
			n := s * float64(parts)
			return math.Abs(n-math.Round(n)) > 1e-6
		})
	}
	for parts < mostAlike && !whole() {
		parts++
	}
	var all []int
	for i, s := range shares {
		all = append(all, slices.Repeat(cells[i:i+1], max(1, int(math.Round(s*float64(parts)))))...)
	}
	return all
}
