package predict

import (
	"errors"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
)

// defaultStreams is what a measurement without stream counts runs.
var defaultStreams = [...]int{1, 2, 4, 8, 16}

// Matrix predicts every path, direction and stream count that m asks for, in
// that order; without counts 1 to 16, without directions all three. A pair
// that two directed paths describe appears once. What could not be predicted
// is missing from the result and said in the joined error.
func Matrix(f Fabric, m fabric.Measure) ([]Prediction, error) {
	streams, directions := m.Streams, m.Directions
	if len(streams) == 0 {
		streams = defaultStreams[:]
	}
	if len(directions) == 0 {
		directions = flow.Directions()
	}
	var all []Prediction
	var errs []error
	paths := f.pathsByPair()
	for _, path := range f.pairs() {
		// The pair's own paths alone: Predict looks for them again and again.
		one := f
		one.Paths = paths[pairOf(path.From, path.To)]
		ps, err := pairMatrix(one, path, m, streams, directions)
		all = append(all, ps...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return all, errors.Join(errs...)
}

// pairMatrix stops at a pair's first error: the others would say the same.
func pairMatrix(f Fabric, path fabric.Path, m fabric.Measure, streams []int, directions []flow.Direction) ([]Prediction, error) {
	var all []Prediction
	for _, d := range directions {
		for _, n := range streams {
			p, err := Predict(f, TrafficOf(path, m, d, n))
			if err != nil {
				return all, err
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// EveryPair is one direction and stream count of what m asks for, for every
// pair that the fabric's paths join, in their order: what Together takes.
func EveryPair(f Fabric, m fabric.Measure, d flow.Direction, streams int) []Traffic {
	var all []Traffic
	for _, path := range f.pairs() {
		all = append(all, TrafficOf(path, m, d, streams))
	}
	return all
}

// pairs is the first path of every pair.
func (f Fabric) pairs() []fabric.Path {
	var first []fabric.Path
	seen := map[[2]string]bool{}
	for _, path := range f.Paths {
		if key := pairOf(path.From, path.To); !seen[key] {
			seen[key] = true
			first = append(first, path)
		}
	}
	return first
}

// pathBetween returns what is declared of the way from one host to another:
// a path named in that order, or an undirected one named the other way round;
// the zero path when neither is.
func (f Fabric) pathBetween(from, to string) fabric.Path {
	var back fabric.Path
	for _, p := range f.Paths {
		if p.From == from && p.To == to {
			return p
		}
		if p.From == to && p.To == from && !p.Directed {
			back = p
		}
	}
	return back
}
