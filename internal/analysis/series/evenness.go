package series

import (
	"math"
	"slices"

	"github.com/linerate/linerate/unit"
)

// EvenEnough is how far the block means of an even trial lie apart, as a share
// of their mean.
const EvenEnough = 0.10

// Spread is how far block means lie apart, highest from lowest, as a share of
// their mean; zero of less than two, or of nothing carried.
func Spread(blocks []unit.BitRate) float64 {
	if len(blocks) < 2 {
		return 0
	}
	sum := unit.BitRate(0)
	for _, b := range blocks {
		sum += b
	}
	if sum <= 0 {
		return 0
	}
	return float64((slices.Max(blocks) - slices.Min(blocks)) / (sum / unit.BitRate(len(blocks))))
}

const (
	// dipNoise is how many times its usual deviation a rate must fall by to be
	// no part of its noise, and dipMatters what of the whole must be missing.
	dipNoise   = 6.0
	dipMatters = 0.005
)

// Dip is the deepest fall of a rate beneath its median, over two points, as a
// share of the median; zero where it is no more than the rate's own noise, or
// too short to move the mean, and of less than four points. A link that is
// shared is uneven all the time; a machine that lost its processor falls once.
func (s Series) Dip() float64 {
	joined := s.Join(2)
	pairs := joined.rates()
	median := quantile(pairs, 0.5)
	if len(s) < 4 || median <= 0 {
		return 0
	}
	deviations := make([]float64, len(pairs))
	for i, r := range pairs {
		deviations[i] = math.Abs(r - median)
	}
	usual := 1.4826 * quantile(deviations, 0.5) // a normal deviation, by the median's
	deepest, missing := 0.0, 0.0
	for i, r := range pairs {
		if fall := median - r; fall > dipNoise*usual {
			deepest = max(deepest, fall/median)
			missing += fall / median * joined[i].seconds()
		}
	}
	if missing < dipMatters*s.Length().Seconds() {
		return 0
	}
	return deepest
}
