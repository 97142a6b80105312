package series

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/linerate/linerate/unit"
)

// Neighbouring samples of a rate are alike, so the interval is computed from
// the means of blocks of them. Ten to twenty blocks lose little against more,
// and leave each the length that makes it independent (Schmeiser, Batch size
// effects in the analysis of simulation output, 1982).
const (
	mostBlocks  = 20
	leastBlocks = 8
	confidence  = 0.95
	// alikeZ is the normal quantile of the test for alike blocks: 5 % on one side.
	alikeZ = 1.645
	// mostAlike bounds the widening of an interval: beyond it the blocks are too
	// short to say anything.
	mostAlike = 0.9
	// mostUnlike bounds its narrowing: what one sample counted too late the next
	// has too much, and the mean of both is surer than either.
	mostUnlike = 0.5
	// sameRate is how far rates may differ, as a share, that are one.
	sameRate = 1e-9
)

// Estimate is a mean and its 95 % interval, Mean ± Half.
type Estimate struct {
	Mean, Half unit.BitRate
	// Blocks are the means that the interval is computed from, each of Length.
	Blocks []unit.BitRate
	Length time.Duration
	// Known is false where there are too few points to say: Half is then zero
	// and means nothing.
	Known bool
	// Alike is set where even the longest blocks are like their neighbours: the
	// interval, though widened, may be too narrow.
	Alike bool
}

// Estimate is the mean of a series that has no warm-up in it. Blocks are made
// longer while each is significantly like the one before.
func (s Series) Estimate() Estimate {
	out := Estimate{Mean: s.Mean()}
	for by := max((len(s)+mostBlocks-1)/mostBlocks, 1); len(s)/by >= leastBlocks; by++ {
		blocks := s.Join(by)
		out.Known = true
		out.Length = blocks.Length() / time.Duration(len(blocks))
		out.Blocks = out.Blocks[:0]
		for _, p := range blocks {
			out.Blocks = append(out.Blocks, p.Rate)
		}
		values := blocks.rates()
		var alike float64
		if alike, out.Alike = likeness(values); !out.Alike {
			out.Half = half(values, s.rates(), alike)
			break
		}
		out.Half = max(out.Half, half(values, s.rates(), alike))
	}
	return out
}

// half is half the width of the interval. The variance of the mean is the
// larger of two: that of the blocks, widened for the likeness that remains (as
// in Tafazzoli, Steiger and Wilson's Skart, 2011), and that of a first-order
// autoregression of the points, whose likeness is taken a standard error above
// what they show: few points say little of it. Half of the window that differs
// from the other half widens it too: a drift, or noise that outlasts blocks.
func half(blocks, points []float64, alike float64) unit.BitRate {
	of := spread(blocks, max(alike, 0))
	n := float64(len(points))
	fine, _ := likeness(points)
	fine = min(fine+math.Sqrt((1-fine*fine)/n), mostAlike)
	of = max(of, spread(points, fine))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(blocks) - 1)}.Quantile(1 - (1-confidence)/2)
	middle := len(blocks) / 2
	drift := stat.Mean(blocks[:middle], nil) - stat.Mean(blocks[len(blocks)-middle:], nil)
	return unit.BitRate(math.Hypot(t*of, drift))
}

// spread is the standard error of the mean of values that are that much alike.
func spread(values []float64, alike float64) float64 {
	return stat.StdDev(values, nil) * math.Sqrt((1+alike)/(1-alike)/float64(len(values)))
}

// likeness is the lag-1 autocorrelation, its bias of small numbers taken off
// (Kendall: (1+3r)/n), and whether it is significantly above zero (R. L.
// Anderson, 1942).
func likeness(values []float64) (r float64, significant bool) {
	n := float64(len(values))
	mean := stat.Mean(values, nil)
	var around, lagged float64
	for i, v := range values {
		around += (v - mean) * (v - mean)
		if i > 0 {
			lagged += (v - mean) * (values[i-1] - mean)
		}
	}
	if around <= n*(mean*sameRate)*(mean*sameRate) {
		return 0, false
	}
	r = lagged / around
	significant = r > (alikeZ*math.Sqrt(n-2)-1)/(n-1)
	return min(max(r+(1+3*r)/n, -mostUnlike), mostAlike), significant
}
