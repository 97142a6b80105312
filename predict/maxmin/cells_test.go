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

// TestFillEnds: heavy weights, whose sums are rounded, and numbers that are none.
func TestFillEnds(t *testing.T) {
	heavy := []Cell{
		{Streams: 3, Cap: math.Inf(1), Loads: []Load{{0, 386333.0001840742}}},
		{Streams: 7, Cap: math.Inf(1), Loads: []Load{{0, 839635.2787298774}}},
		{Streams: 1, Cap: math.Inf(1), Loads: []Load{{0, 690830.8124103526}}},
		{Streams: 1, Cap: math.Inf(1), Loads: []Load{{1, 1}}},
	}
	f := Filler{Capacity: []float64{1e9, 1e10}}
	if f.Fill(heavy); math.Abs(heavy[3].Rate-1e10) > 1 || heavy[0].Rate <= 0 {
		t.Errorf("heavy: %+v", heavy)
	}
	beside := []Cell{{Streams: 1, Cap: math.NaN(), Loads: []Load{{1, 1}}}, {Streams: 1, Cap: 4e9, Loads: []Load{{1, 1}}}}
	if f.Fill(beside); math.Abs(beside[0].Rate-6e9) > 1 || math.Abs(beside[1].Rate-4e9) > 1 {
		t.Errorf("beside a cap that is no number: %+v", beside)
	}
	for _, capacity := range []float64{math.NaN(), math.Inf(1), 1e9} {
		for _, most := range []float64{math.NaN(), math.Inf(1), 1e6} {
			f, cells := Filler{Capacity: []float64{capacity}}, []Cell{{Streams: 2, Cap: most, Loads: []Load{{0, 1}}}}
			f.Fill(cells)
			if want := min(most, capacity/2); want < 1e9 && math.Abs(cells[0].Rate-want) > 1 {
				t.Errorf("capacity %v, cap %v: %v", capacity, most, cells[0].Rate)
			}
		}
	}
}
