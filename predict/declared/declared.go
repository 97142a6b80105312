// Package declared predicts what a fabric file says by itself, where no host was
// observed, and names what the file would have to say for more.
package declared

import (
	"errors"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// ErrNoPath is a fabric file that names no path, and whose hosts share no subnet.
var ErrNoPath = errors.New("no path to predict")

// State is what a fabric file says by itself, where no host was observed. Errors:
// ErrNoPath, and fabric.ResolveAlone's.
func State(f fabric.Fabric) (predict.Fabric, error) {
	if err := f.ResolveAlone(); err != nil {
		return predict.Fabric{}, err
	}
	if len(f.Paths) == 0 {
		return predict.Fabric{}, ErrNoPath
	}
	out := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: f.Paths}
	for _, h := range f.Hosts {
		state, err := f.State(h.Name)
		if err != nil {
			return predict.Fabric{}, err
		}
		out.Hosts[h.Name] = state
	}
	return out, nil
}

// Pairs groups paths by the pair they join, in their order: two directed ones are
// one pair.
func Pairs(paths []fabric.Path) [][]fabric.Path {
	var pairs [][]fabric.Path
	index := map[[2]string]int{}
	for _, p := range paths {
		i, seen := index[[2]string{p.From, p.To}]
		if !seen {
			i = len(pairs)
			index[[2]string{p.From, p.To}], index[[2]string{p.To, p.From}] = i, i
			pairs = append(pairs, nil)
		}
		pairs[i] = append(pairs[i], p)
	}
	return pairs
}

// Unpredicted says of every direction and stream count of a pair why nobody can tell:
// its limit is unknown.
func Unpredicted(p fabric.Path, m fabric.Measure, why error) []predict.Prediction {
	limit := predict.Limit{Cause: record.Unknown, Where: p.From + " to " + p.To, Why: why.Error() + "; write it as hosts.NAME.hardware.links: {LINK: {speed: 25G}}"}
	var out []predict.Prediction
	for _, d := range m.Directions {
		for _, n := range m.Streams {
			out = append(out, predict.Prediction{
				From: p.From, To: p.To, Direction: d, Streams: n, Protocol: m.Protocol, Limit: record.Unknown, Limits: []predict.Limit{limit},
			})
		}
	}
	return out
}

// RemedyFor says what to mend in a fabric file for an error of State, predict.Matrix or
// predict.Predict.
func RemedyFor(err error) string {
	switch {
	case errors.Is(err, ErrNoPath):
		return "name one in paths:, or give two hosts addresses in one subnet"
	case errors.Is(err, predict.ErrMTU):
		return "set mtu at both ends: Ethernet's is 1500"
	case errors.Is(err, predict.ErrNoLink):
		return "bring the link up, give the bond a port, or give the hosts addresses on another"
	case errors.Is(err, cloud.ErrUnknownProvider), errors.Is(err, cloud.ErrUnknownInstance):
		return "correct the name, or write cloud.bandwidth, or the type in a file of your own (--clouds)"
	}
	return "give both hosts an address in one subnet, or a route to the other's"
}
