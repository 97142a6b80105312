package predict

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestFillersAgree: a prediction's own filler and MaxMin share alike.
func TestFillersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity, f := drawFlows(t)
		cells := make([]cell, f.Len())
		want := 0.0
		for i := range cells {
			cells[i] = cell{streams: f.count(i), cap: f.limit(i)}
			for k := int(f.First[i]); k < int(f.First[i+1]); k++ {
				cells[i].loads = append(cells[i].loads, load{int(f.Resource[k]), f.weight(k)})
			}
		}
		s, err := MaxMin(capacity, f)
		if err != nil {
			t.Fatal(err)
		}
		filler := filler{capacity: capacity}
		got := filler.fill(cells)
		for i, c := range cells {
			want += s.Rate[i] * c.streams
			if math.Abs(c.rate-s.Rate[i]) > 1e-6*s.Rate[i] {
				t.Fatalf("cell %d: %v, by MaxMin %v", i, c.rate, s.Rate[i])
			}
		}
		if math.Abs(got-want) > 1e-6*want {
			t.Fatalf("%v in all, by MaxMin %v", got, want)
		}
	})
}
