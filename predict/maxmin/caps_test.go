package maxmin

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestByRate: caps are in order and all there, few and many, with ties, zeros of both
// signs and numbers of every size.
func TestByRate(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 100, 255, 256, 30_000} {
		for _, draw := range []func() float64{
			func() float64 { return 1e9 }, func() float64 { return float64(random.IntN(7)) * 1e9 }, random.ExpFloat64,
			func() float64 { return math.Ldexp(random.Float64(), random.IntN(2000)-1000) }, func() float64 { return math.Copysign(0, float64(random.IntN(2))-1) },
		} {
			caps := make([]capped, n)
			for i := range caps {
				caps[i] = capped{draw(), int32(i)}
			}
			want := slices.Clone(caps)
			slices.SortStableFunc(want, func(a, b capped) int { return cmp.Compare(a.rate, b.rate) })
			if got := byRate(caps); !slices.Equal(got, want) {
				t.Errorf("%d caps are out of order", n)
			}
		}
	}
}
