// Package chart is what drawings of rates have in common: axes in round steps, and
// where on them a value is.
package chart

import "math"

// Scale puts values between Low and High on a line of coordinates from From to To.
type Scale struct{ Low, High, From, To float64 }

// At is a value's coordinate; that of the nearest end where it is none of the
// scale's.
func (s Scale) At(v float64) float64 {
	if !(s.High > s.Low) {
		return s.From
	}
	return s.From + (s.To-s.From)*min(max((v-s.Low)/(s.High-s.Low), 0), 1)
}

// closeTogether is a lowest value that is so much of the highest that an axis from
// zero on would show nothing.
const closeTogether = 0.75

// Axis is from where to where an axis of these values goes, in steps of which there
// are about so many. It begins at zero unless all lies close together.
func Axis(low, high float64, steps int) (from, to, step float64) {
	if low < closeTogether*high {
		low = 0
	}
	step = Step((high - low) / float64(steps))
	from = math.Floor(low/step) * step
	return from, max(math.Ceil(high/step)*step, from+step), step
}

// Step is the next larger of 1, 2, 5, 10 times a power of ten; of nothing 1e6.
func Step(least float64) float64 {
	if !(least > 0) {
		return 1e6
	}
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, by := range [...]float64{1, 2, 5} {
		if by*power >= least*(1-1e-9) {
			return by * power
		}
	}
	return 10 * power
}
