package maxmin

import (
	"math"
	"slices"
)

// Load is a cell's claim on a resource: weight resource bits per payload bit.
type Load struct {
	Resource int
	Weight   float64
}

// Cell is a number of streams that pass the same resources.
type Cell struct {
	Streams float64
	Cap     float64 // per stream; +Inf or no number: none
	Loads   []Load
	Rate    float64 // per stream, set by fill
}

// Filler shares resources of fixed capacity; its slices are reused from one
// call to the next. It gives what Share gives. Share is for very many flows;
// a prediction fills its few cells up to thousands of times over, one way of
// chance after the other, and for a handful of cells looking at each of them
// at every step takes a third of the time that a heap does.
type Filler struct {
	Capacity     []float64
	left, demand []float64
}

// Fill shares the resources among the cells' streams max-min fairly, as equal
// TCP flows do in the long run: all streams grow alike, and each stops at its
// own cap or when a resource it passes is full. It returns the sum, +Inf when
// a stream has no bound.
func (f *Filler) Fill(cells []Cell) float64 {
	f.left = append(f.left[:0], f.Capacity...)
	f.demand = append(f.demand[:0], f.Capacity...)
	active := 0
	for i := range cells {
		c := &cells[i]
		c.Rate = 0
		if c.Streams > 0 {
			c.Rate = growing
			active++
		}
	}
	level, total := 0.0, 0.0
	for before := -1; active > 0 && active != before; {
		before = active
		f.ask(cells)
		step := f.nextStop(cells, level)
		if math.IsInf(step, 1) {
			return step
		}
		level += step
		for r := range f.left {
			f.left[r] -= f.demand[r] * step
		}
		for i := range cells {
			c := &cells[i]
			if c.Rate != growing || !f.stopped(c, level) {
				continue
			}
			c.Rate = level
			total += level * c.Streams
			active--
		}
	}
	for i := range cells { // capacities or caps that are no numbers stop nobody
		if cells[i].Rate == growing {
			cells[i].Rate = 0
		}
	}
	return total
}

// growing marks a cell whose streams have not stopped.
const growing = -1

// ask adds up what the growing cells demand for each unit of growth. It does so anew at
// every step: what taking demands off again leaves of large ones is a demand of nobody.
func (f *Filler) ask(cells []Cell) {
	clear(f.demand)
	for i := range cells {
		if c := &cells[i]; c.Rate == growing {
			for _, l := range c.Loads {
				f.demand[l.Resource] += min(l.Weight, Heaviest) * c.Streams
			}
		}
	}
}

// nextStop is how far the running streams can grow until the first resource
// is full or the first cap is reached.
func (f *Filler) nextStop(cells []Cell, level float64) float64 {
	step := math.Inf(1)
	for i := range cells {
		if c := &cells[i]; c.Rate == growing {
			if !math.IsNaN(c.Cap) {
				step = min(step, c.Cap-level)
			}
		}
	}
	for r, d := range f.demand {
		if d > 0 {
			step = min(step, f.left[r]/d)
		}
	}
	return max(step, 0)
}

// stopped reports that a cell cannot grow: rounding leaves a full resource
// with a billionth of its capacity.
func (f *Filler) stopped(c *Cell, level float64) bool {
	if level >= c.Cap*(1-1e-12) {
		return true
	}
	return slices.ContainsFunc(c.Loads, func(l Load) bool { return f.left[l.Resource] <= f.Capacity[l.Resource]*1e-9 })
}

// Heaviest stands for a claim without end: of a stream whose segments have no
// room for payload.
const Heaviest = 1e30
