package chart

import (
	"math"
	"testing"
)

func TestStep(t *testing.T) {
	for least, want := range map[float64]float64{0.3: 0.5, 1: 1, 1.25: 2, 3: 5, 7: 10, 0.011: 0.02} {
		if got := Step(least); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v: %v, want %v", least, got, want)
		}
	}
}

// An axis begins at zero unless its values lie close together, and holds them all.
func TestAxis(t *testing.T) {
	for _, c := range []struct{ low, high, from, to, step float64 }{
		{1e9, 9e9, 0, 10e9, 2e9},
		{9e9, 9.4e9, 9e9, 9.4e9, 1e8},
		{5, 5, 0, 1e6, 1e6},
	} {
		from, to, step := Axis(c.low, c.high, 5)
		if math.Abs(from-c.from) > 1 || math.Abs(to-c.to) > 1 || math.Abs(step-c.step) > 1 {
			t.Errorf("%g to %g: %g to %g by %g, want %g to %g by %g", c.low, c.high, from, to, step, c.from, c.to, c.step)
		}
	}
}

func TestScale(t *testing.T) {
	s := Scale{Low: 10, High: 20, From: 100, To: 0}
	for v, want := range map[float64]float64{10: 100, 15: 50, 20: 0, 5: 100, 30: 0} {
		if got := s.At(v); got != want {
			t.Errorf("%g: %g, want %g", v, got, want)
		}
	}
	if got := (Scale{From: 7, To: 9}).At(3); got != 7 {
		t.Errorf("of no values: %g", got)
	}
}
