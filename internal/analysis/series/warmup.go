package series

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat"
)

const (
	// leastPoints is what must be left after a warm-up to judge it.
	leastPoints = 8
	// leastStay is what a cut leaves at the least.
	leastStay = 5
	// A beginning counts as another rate when its mean is this many standard
	// errors from the second half's, and this share of it.
	shiftSure  = 5.0
	shiftShare = 0.005
	// A trend beyond chance that would move the rate by trendShare in trendAhead
	// is a warm-up that goes on: a stream that HyStart took out of slow start
	// early grows by half a segment a round trip.
	trendSure  = 3.0
	trendShare = 0.02
	trendAhead = 5 * time.Second
)

// WarmUp is the index of the first point after the warm-up; over is false
// while it may still go on.
//
// A beginning that is no different from the rest is no warm-up: cutting would
// only pick a calm stretch of noise. One that differs is cut where the
// standard error of what remains is least (White's MSER, 1997); a cut in the
// second half means that no steady rate has been seen yet, and so does a trend
// in what remains. The first point never counts: streams start one after the
// other.
func (s Series) WarmUp() (first int, over bool) {
	if len(s) < 1+leastPoints {
		return min(len(s), 1), false
	}
	first = 1
	if rates := s[1:].rates(); shifted(rates) {
		first += leastError(rates)
	}
	rest := s[first:]
	return first, len(rest) >= leastPoints && first <= len(s)/2 && !rest.trending()
}

// shifted reports a beginning, whatever its length, whose mean differs from
// the second half's beyond chance.
func shifted(values []float64) bool {
	later := values[len(values)/2:]
	mean := stat.Mean(later, nil)
	alike, _ := likeness(later)
	alike = max(alike, 0)
	error2 := stat.Variance(later, nil) * (1 + alike) / (1 - alike)
	sum := 0.0
	for i, v := range values[:len(values)/2] {
		sum += v
		k := float64(i + 1)
		apart := math.Abs(sum/k - mean)
		if apart > shiftSure*math.Sqrt(error2*(1/k+1/float64(len(later)))) && apart > shiftShare*mean {
			return true
		}
	}
	return false
}

// leastError is how many values to leave out at the beginning so that the
// standard error of the mean of the rest is least.
func leastError(values []float64) int {
	if len(values) == 0 {
		return 0
	}
	best, at := math.Inf(1), 0
	var n, sum, squares float64
	zero := values[len(values)-1] // squares about a value near the mean lose no precision
	for i := len(values) - 1; i >= 0; i-- {
		v := values[i] - zero
		n++
		sum += v
		squares += v * v
		if n < leastStay {
			continue
		}
		if e := max(squares-sum*sum/n, 0) / (n * n); e <= best {
			best, at = e, i
		}
	}
	return at
}

// trending reports a slope that is beyond chance and matters.
func (s Series) trending() bool {
	blocks := s.Join(max((len(s)+mostBlocks-1)/mostBlocks, 1))
	n := float64(len(blocks))
	if n < 4 {
		return false
	}
	at, rates := make([]float64, len(blocks)), blocks.rates()
	for i, p := range blocks {
		at[i] = (p.From + p.To).Seconds() / 2
	}
	offset, slope := stat.LinearRegression(at, rates, nil, false)
	rest := make([]float64, len(rates))
	around := 0.0
	for i := range rates {
		rest[i] = rates[i] - offset - slope*at[i]
		around += rest[i] * rest[i]
	}
	times := stat.Variance(at, nil) * (n - 1)
	if times <= 0 {
		return false
	}
	alike, _ := likeness(rest)
	alike = max(alike, 0)
	sure := math.Sqrt(around / (n - 2) / times * (1 + alike) / (1 - alike))
	return math.Abs(slope) > trendSure*sure && math.Abs(slope)*trendAhead.Seconds() > trendShare*stat.Mean(rates, nil)
}
