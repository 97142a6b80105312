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

// Even losses: at least fewLosses fall in a block, and the variance of the blocks over their
// squared mean times the losses of one stays below evenScatter. What is lost by chance, each
// stream by itself, leaves some 0.15 to 0.6; one limit that drops what all together send
// above it 0.02 to 0.06 (measured on Linux 6.1).
const fewLosses, evenScatter = 3, 0.1

// Even reports that so many lost segments leave a trial's blocks as even as one limit does.
func Even(blocks []unit.BitRate, lost float64) bool {
	swing, ok := Swing(blocks)
	each := lost / float64(max(len(blocks), 1))
	return ok && each >= fewLosses && swing*swing*each < evenScatter
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
