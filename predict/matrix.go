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
	seen := map[[2]string]bool{}
	for _, path := range f.Paths {
		if seen[[2]string{path.From, path.To}] || seen[[2]string{path.To, path.From}] {
			continue
		}
		seen[[2]string{path.From, path.To}] = true
		ps, err := pairMatrix(f, path, m, streams, directions)
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
			p, err := Predict(f, Traffic{
				From: path.From, To: path.To, Direction: d, Streams: n,
				Protocol: m.Protocol, Ports: m.Ports, SocketBuffer: m.SocketBuffer,
			})
			if err != nil {
				return all, err
			}
			all = append(all, p)
		}
	}
	return all, nil
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
