package series

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/unit"
)

func near(a, b, share float64) bool {
	return a == b || math.Abs(a-b) <= share*max(math.Abs(a), math.Abs(b))
}

// TestMean: points count by how long they are, and one of no time not at all.
func TestMean(t *testing.T) {
	uneven := Series{{0, time.Second, 100}, {time.Second, 4 * time.Second, 200}, {4 * time.Second, 4 * time.Second, 9e9}}
	for _, c := range []struct {
		name string
		s    Series
		want unit.BitRate
	}{
		{"empty", nil, 0},
		{"one", of(7), 7},
		{"by time", uneven, 175},
		{"of no length", Series{{time.Second, time.Second, 5}}, 0},
		{"backward", Series{{2 * time.Second, time.Second, 5}, {time.Second, 2 * time.Second, 6}}, 6},
	} {
		if got := c.s.Mean(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, float64(got), float64(c.want))
		}
	}
}

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		by   int
		want []float64
	}{{0, []float64{1, 2, 3, 4, 5}}, {1, []float64{1, 2, 3, 4, 5}}, {2, []float64{2.5, 4.5}}, {3, []float64{4}}, {5, []float64{3}}, {6, []float64{}}} {
		got := of(1, 2, 3, 4, 5).Join(c.by)
		if diff := cmp.Diff(c.want, got.rates()); diff != "" {
			t.Errorf("by %d (-want +got)\n%s", c.by, diff)
		}
		if len(got) > 0 && got[len(got)-1].To != 5*tick {
			t.Errorf("by %d: the end was left out", c.by)
		}
	}
}

// series draws rates at uneven times, some of them zero.
func draw(t *rapid.T) Series {
	var s Series
	at := time.Duration(0)
	for range rapid.IntRange(0, 150).Draw(t, "points") {
		to := at + time.Duration(rapid.IntRange(0, 300).Draw(t, "ms"))*time.Millisecond
		rate := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1e12)).Draw(t, "rate")
		s = append(s, Point{at, to, unit.BitRate(rate)})
		at = to
	}
	return s
}

// TestAnything: whatever was sampled, judgements are numbers within bounds.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		if m := float64(s.Mean()); math.IsNaN(m) || m < 0 {
			t.Fatalf("mean %v", m)
		}
		w := s.Window()
		if w.First < 0 || w.First > len(s) || w.After < 0 || w.After > len(s) || w.Over && len(s)-w.First < leastPoints/3 {
			t.Fatalf("window %+v of %d points", w, len(s))
		}
		if w.Bucket != nil && (w.Bucket.Bucket <= 0 || w.Bucket.Burst <= w.Bucket.Rate || w.Bucket.BurstFor <= 0) {
			t.Fatalf("bucket %+v", *w.Bucket)
		}
		e := s[w.First:].Estimate()
		if math.IsNaN(float64(e.Half)) || e.Half < 0 || e.Known != (len(e.Blocks) > 0) || len(e.Blocks) > mostBlocks {
			t.Fatalf("estimate %+v", e)
		}
		if d := s.Dip(); math.IsNaN(d) || d < 0 || d > 1 {
			t.Fatalf("dip %v", d)
		}
		if x := Spread(e.Blocks); math.IsNaN(x) || x < 0 {
			t.Fatalf("spread %v", x)
		}
		s.MayBeBucket()
		var r Rule
		r.Enough(s, w.First)
	})
}

// TestScales: in other units everything is the same.
func TestScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rates := rapid.SliceOfN(rapid.Float64Range(100, 1000), 20, 100).Draw(t, "rates")
		scale := math.Pow(2, float64(rapid.IntRange(0, 30).Draw(t, "scale")))
		other := slices.Clone(rates)
		for i := range other {
			other[i] *= scale
		}
		a, b := of(rates...), of(other...)
		x, y := a.Estimate(), b.Estimate()
		if !near(float64(x.Half)*scale, float64(y.Half), 1e-6) || x.Alike != y.Alike || len(x.Blocks) != len(y.Blocks) {
			t.Fatalf("± %v became ± %v with x %v", float64(x.Half), float64(y.Half), scale)
		}
		v, w := a.Window(), b.Window()
		if v.First != w.First || v.Over != w.Over || (v.Bucket == nil) != (w.Bucket == nil) || a.Dip() != b.Dip() {
			t.Fatalf("%+v became %+v", v, w)
		}
	})
}

// TestEstimate: twenty equal and sure blocks; too few points.
func TestEstimate(t *testing.T) {
	even := of(slices.Repeat([]float64{5e8}, 60)...).Estimate()
	if !even.Known || even.Half > 1e-3 || !near(float64(even.Mean), 5e8, 1e-9) || len(even.Blocks) != 20 || even.Length != 3*tick {
		t.Errorf("even: %+v", even)
	}
	if few := of(1, 2, 3, 4, 5, 6, 7).Estimate(); few.Known || few.Half != 0 {
		t.Errorf("few: %+v", few)
	}
	// Eight values that differ and are not alike: no narrower than Student's
	// interval, which is 2.364624 standard errors with seven degrees of freedom.
	rates := []float64{10, 12, 9, 11, 10, 9, 12, 11}
	e, plain := of(rates...).Estimate(), 2.364624*1.1952286/math.Sqrt(8)
	if !e.Known || float64(e.Half) < 0.8*plain || float64(e.Half) > 2*plain {
		t.Errorf("half %v, Student's is %v", float64(e.Half), plain)
	}
}

func TestDip(t *testing.T) {
	flat := slices.Repeat([]float64{100}, 20)
	with := func(at int, rates ...float64) Series {
		all := slices.Clone(flat)
		copy(all[at:], rates)
		return of(all...)
	}
	for _, c := range []struct {
		name string
		s    Series
		want float64
	}{
		{"steady", of(flat...), 0},
		{"two points at half", with(10, 50, 50), 0.5},
		{"a stall", with(10, 0, 0), 1},
		{"a moment's", with(10, 20), 0.4},
		{"rising is no fall", with(10, 300, 300), 0},
		{"always uneven", of(slices.Repeat([]float64{100, 100, 60, 60, 90, 90, 70, 70}, 4)...), 0},
		{"too short to matter", of(slices.Concat(slices.Repeat(flat, 40), []float64{0, 0}, flat)...), 0},
		{"nothing carried", of(make([]float64, 20)...), 0},
		{"too few to say", of(100, 0, 100), 0},
	} {
		if got := c.s.Dip(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		blocks []unit.BitRate
		want   float64
	}{{nil, 0}, {[]unit.BitRate{5}, 0}, {[]unit.BitRate{0, 0}, 0}, {[]unit.BitRate{9, 10, 11}, 0.2}, {[]unit.BitRate{0, 10}, 2}} {
		if got := Spread(c.blocks); !near(got, c.want, 1e-9) {
			t.Errorf("%v: %v, want %v", c.blocks, got, c.want)
		}
	}
}
