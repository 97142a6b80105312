package chance

import (
	"math"
	"testing"
)

// TestWithin: of two cells, eight streams leave one empty in 2 of 256 cases.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		streams, used, cells int
		want                 float64
	}{{8, 1, 2, 2. / 256}, {1, 1, 4, 1}, {3, 2, 2, 1}, {16, 3, 4, 4 * math.Pow(0.75, 16)}} {
		if got := Within(c.streams, c.used, c.cells); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
