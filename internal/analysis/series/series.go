// Package series judges a rate over time: where its warm-up ends, how sure its
// mean is, when enough has been seen, and whether it shows a token bucket.
// Plain data and arithmetic; it must never sample, nor say why a rate is as
// it is.
package series

import (
	"time"

	"github.com/linerate/linerate/unit"
)

// Point is the mean rate from one sample to the next, times since the start.
type Point struct {
	From, To time.Duration
	Rate     unit.BitRate
}

// seconds is how long a point lasts; zero where two samples were one moment.
func (p Point) seconds() float64 { return max((p.To - p.From).Seconds(), 0) }

// Series is consecutive points, the oldest first.
type Series []Point

// Length is the time from the first sample to the last.
func (s Series) Length() time.Duration {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].To - s[0].From
}

// Mean is the rate over the whole series; zero of an empty one.
func (s Series) Mean() unit.BitRate {
	var bits, seconds float64
	for _, p := range s {
		bits += float64(p.Rate) * p.seconds()
		seconds += p.seconds()
	}
	if seconds <= 0 {
		return 0
	}
	return unit.BitRate(bits / seconds)
}

// Join is the series with each `by` points made one. What is left over is
// left out at the beginning, where a warm-up would still show.
func (s Series) Join(by int) Series {
	if by <= 1 {
		return s
	}
	s = s[len(s)%by:]
	out := make(Series, 0, len(s)/by)
	for ; len(s) >= by; s = s[by:] {
		part := s[:by]
		out = append(out, Point{From: part[0].From, To: part[by-1].To, Rate: part.Mean()})
	}
	return out
}

// rates are the points' rates.
func (s Series) rates() []float64 {
	out := make([]float64, len(s))
	for i, p := range s {
		out[i] = float64(p.Rate)
	}
	return out
}
