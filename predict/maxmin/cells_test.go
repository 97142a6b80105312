package maxmin

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestFillersAgree: a prediction's own filler and Share share alike.
func TestFillersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity, f := drawFlows(t)
		cells := make([]Cell, f.Len())
		want := 0.0
		for i := range cells {
			cells[i] = Cell{Streams: f.count(i), Cap: f.limit(i)}
			for k := int(f.First[i]); k < int(f.First[i+1]); k++ {
				cells[i].Loads = append(cells[i].Loads, Load{int(f.Resource[k]), f.weight(k)})
			}
		}
		s, err := Share(capacity, f)
		if err != nil {
			t.Fatal(err)
		}
		filler := Filler{Capacity: capacity}
		got := filler.Fill(cells)
		for i, c := range cells {
			want += s.Rate[i] * c.Streams
			if math.Abs(c.Rate-s.Rate[i]) > 1e-6*s.Rate[i] {
				t.Fatalf("cell %d: %v, by MaxMin %v", i, c.Rate, s.Rate[i])
			}
		}
		if math.Abs(got-want) > 1e-6*want {
			t.Fatalf("%v in all, by MaxMin %v", got, want)
		}
	})
}
