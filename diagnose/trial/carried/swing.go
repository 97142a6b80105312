package carried

import (
	"math"
	"slices"

	"github.com/linerate/linerate/unit"
)

// fewBlocks is how many parts of a trial tell nothing of how even its rate was.
const fewBlocks = 5

// Swing is the standard deviation of a trial's blocks as a share of their mean; false
// with fewer than five, and where nothing was carried.
func Swing(blocks []unit.BitRate) (float64, bool) {
	if len(blocks) < fewBlocks {
		return 0, false
	}
	sum, squares := 0.0, 0.0
	for _, r := range blocks {
		sum += float64(r)
	}
	mean := sum / float64(len(blocks))
	for _, r := range blocks {
		squares += (float64(r) - mean) * (float64(r) - mean)
	}
	if !(mean > 0) || math.IsInf(squares, 0) {
		return 0, false
	}
	return math.Sqrt(squares/float64(len(blocks)-1)) / mean, true
}

// Standstill is the part of a trial's blocks that carried no more than a share of the
// best; zero with fewer than five.
func Standstill(blocks []unit.BitRate, share float64) float64 {
	if len(blocks) < fewBlocks {
		return 0
	}
	least, still := slices.Max(blocks)*unit.BitRate(share), 0
	for _, r := range blocks {
		if r <= least {
			still++
		}
	}
	return float64(still) / float64(len(blocks))
}
