package maxmin

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// flowsOf lists flows of one each by their resources, all of weight 1.
func flowsOf(caps []float64, paths ...[]int) Flows {
	var f Flows
	for i, path := range paths {
		limit := math.Inf(1)
		if caps != nil {
			limit = caps[i]
		}
		f.Add(1, limit)
		for _, r := range path {
			f.Claim(r, 1)
		}
	}
	return f
}

func TestMaxMin(t *testing.T) {
	inf := math.Inf(1)
	weighted := flowsOf(nil, []int{0}, []int{0})
	weighted.Weight[1] = 3
	counted := flowsOf(nil, []int{0}, []int{0, 1})
	counted.Count = []float64{2, 3}
	for _, c := range []struct {
		name     string
		capacity []float64
		flows    Flows
		rate     []float64
		binds    []int32
	}{
		{"none", []float64{1}, Flows{}, []float64{}, []int32{}},
		{"one", []float64{7}, flowsOf(nil, []int{0}), []float64{7}, []int32{0}},
		{"the textbook's line", []float64{1, 1, 2}, flowsOf(nil, []int{0, 1}, []int{0}, []int{1, 2}, []int{2}),
			[]float64{0.5, 0.5, 0.5, 1.5}, []int32{0, 0, 1, 2}},
		{"a cap leaves more to others", []float64{9}, flowsOf([]float64{1, inf, inf}, []int{0}, []int{0}, []int{0}),
			[]float64{1, 4, 4}, []int32{ByCap, 0, 0}},
		{"a cap that is not reached", []float64{9}, flowsOf([]float64{5, 5}, []int{0}, []int{0}), []float64{4.5, 4.5}, []int32{0, 0}},
		{"weights", []float64{8}, weighted, []float64{2, 2}, []int32{0, 0}},
		{"counts", []float64{10, 3}, counted, []float64{3.5, 1}, []int32{0, 1}},
		{"nothing bounds it", []float64{inf, 4}, flowsOf(nil, []int{0}, nil, []int{1}), []float64{inf, inf, 4}, []int32{ByNothing, ByNothing, 1}},
		{"a cap alone", nil, flowsOf([]float64{3}, nil), []float64{3}, []int32{ByCap}},
		{"nothing passes", []float64{0, 5}, flowsOf(nil, []int{0, 1}, []int{1}), []float64{0, 5}, []int32{0, 1}},
		{"claimed twice", []float64{6}, flowsOf(nil, []int{0, 0}, []int{0}), []float64{2, 2}, []int32{0, 0}},
	} {
		got, err := Share(c.capacity, c.flows)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(Shares{c.rate, c.binds}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestMaxMinRefuses(t *testing.T) {
	good := func() Flows { return flowsOf(nil, []int{0}, []int{0}) }
	change := func(f func(*Flows)) Flows { g := good(); f(&g); return g }
	for name, flows := range map[string]Flows{
		"resource":  change(func(f *Flows) { f.Resource[1] = 1 }),
		"negative":  change(func(f *Flows) { f.Resource[1] = -1 }),
		"weight":    change(func(f *Flows) { f.Weight[0] = -1 }),
		"no number": change(func(f *Flows) { f.Weight[0] = math.NaN() }),
		"cap":       change(func(f *Flows) { f.Cap[0] = math.NaN() }),
		"count":     change(func(f *Flows) { f.Count[0] = math.Inf(1) }),
		"too large": change(func(f *Flows) { f.Count[0], f.Weight[0] = 1e300, 1e300 }),
		"too many":  change(func(f *Flows) { f.Weight[0], f.Weight[1] = 1e308, 1e308 }),
		"lists":     change(func(f *Flows) { f.Cap = f.Cap[:1] }),
		"rows":      change(func(f *Flows) { f.First[1] = 9 }),
		"end":       change(func(f *Flows) { f.First[2] = 1 }),
		"no rows":   {Resource: []int32{0}},
	} {
		if _, err := Share([]float64{1}, flows); !errors.Is(err, ErrFlows) {
			t.Errorf("%s: %v, want ErrFlows", name, err)
		}
	}
	if _, err := Share([]float64{-1}, good()); !errors.Is(err, ErrFlows) {
		t.Errorf("capacity: %v, want ErrFlows", err)
	}
}

// drawFlows draws a network and flows over it, every one with a bound.
func drawFlows(t *rapid.T) ([]float64, Flows) {
	seed := rapid.Uint64().Draw(t, "seed")
	return randomFlows(rand.New(rand.NewPCG(seed, 1)), rapid.IntRange(1, 12).Draw(t, "resources"), rapid.IntRange(1, 40).Draw(t, "flows"))
}

func randomFlows(r *rand.Rand, resources, flows int) ([]float64, Flows) {
	capacity := make([]float64, resources)
	for i := range capacity {
		capacity[i] = math.Ceil(100 * r.Float64())
		if r.IntN(20) == 0 {
			capacity[i] *= 1e6
		}
	}
	// Of some networks each entry is one flow, or each claim of a resource weighs the
	// same: these are shared by counting.
	ones, alike := r.IntN(2) == 0, r.IntN(2) == 0
	var f Flows
	for range flows {
		limit, count := math.Inf(1), 1.0
		if r.IntN(3) == 0 {
			limit = 20 * r.Float64()
		}
		if !ones && r.IntN(4) == 0 {
			count = 4 * r.Float64()
		}
		f.Add(count, limit)
		for range 1 + r.IntN(4) {
			claimed := r.IntN(resources)
			weight := 1 + float64(claimed)/8
			if !alike && r.IntN(2) == 0 {
				weight = 0.25 + 2*r.Float64()
			}
			f.Claim(claimed, weight)
		}
	}
	return capacity, f
}

// certify checks what makes shares max-min fair: no resource carries more than
// it can, and each flow is at its cap or passes a full resource of whose users
// none gets more. Such shares are the only ones (Bertsekas and Gallager,
// section 6.5.2).
func certify(t testing.TB, capacity []float64, f Flows, s Shares) {
	const tolerance = 1e-9
	t.Helper()
	used, most := make([]float64, len(capacity)), make([]float64, len(capacity))
	for i := range f.Len() {
		if math.IsNaN(s.Rate[i]) || s.Rate[i] < 0 || s.Rate[i] > f.limit(i) {
			t.Fatalf("flow %d gets %v, its cap is %v", i, s.Rate[i], f.limit(i))
		}
		for k := int(f.First[i]); k < int(f.First[i+1]); k++ {
			if r := f.Resource[k]; f.weight(k)*f.count(i) > 0 {
				used[r] += f.weight(k) * f.count(i) * s.Rate[i]
				most[r] = max(most[r], s.Rate[i])
			}
		}
	}
	for r, c := range capacity {
		if used[r] > c*(1+tolerance) {
			t.Fatalf("resource %d carries %v of %v", r, used[r], c)
		}
	}
	for i := range f.Len() {
		switch b := s.Binds[i]; {
		case f.count(i) == 0:
		case b == ByNothing:
			t.Fatalf("flow %d has no bound", i)
		case b == ByCap:
			if s.Rate[i] != f.limit(i) {
				t.Fatalf("flow %d gets %v, and not its cap %v that binds it", i, s.Rate[i], f.limit(i))
			}
		case used[b] < capacity[b]*(1-tolerance):
			t.Fatalf("flow %d: resource %d binds it and carries %v of %v", i, b, used[b], capacity[b])
		case s.Rate[i] < most[b]*(1-tolerance):
			t.Fatalf("flow %d gets %v; another of resource %d, which binds it, %v", i, s.Rate[i], b, most[b])
		}
	}
}

func TestMaxMinCertificate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity, f := drawFlows(t)
		s, err := Share(capacity, f)
		if err != nil {
			t.Fatal(err)
		}
		certify(wrappedRapid{t: t}, capacity, f, s)
	})
}

// wrappedRapid lets rapid's T stand for testing's where only Fatalf is called.
type wrappedRapid struct {
	testing.TB
	t *rapid.T
}

func (w wrappedRapid) Helper()                        {}
func (w wrappedRapid) Fatalf(format string, a ...any) { w.t.Fatalf(format, a...) }

// TestMaxMinLeast: more capacity never lowers what the flow gets that gets
// least, and another flow never raises it.
func TestMaxMinLeast(t *testing.T) {
	least := func(s Shares) float64 {
		low := math.Inf(1)
		for _, r := range s.Rate {
			low = min(low, r)
		}
		return low
	}
	rapid.Check(t, func(t *rapid.T) {
		capacity, f := drawFlows(t)
		before, err := Share(capacity, f)
		if err != nil {
			t.Fatal(err)
		}
		more := append([]float64(nil), capacity...)
		more[rapid.IntRange(0, len(more)-1).Draw(t, "widened")] *= 1 + rapid.Float64Range(0, 10).Draw(t, "by")
		after, err := Share(more, f)
		if err != nil {
			t.Fatal(err)
		}
		if x, y := least(before), least(after); y < x*(1-1e-9) {
			t.Fatalf("the least gets %v, and with more capacity %v", x, y)
		}
		first := before.Rate
		f.Add(1, math.Inf(1))
		f.Claim(rapid.IntRange(0, len(capacity)-1).Draw(t, "joined"), 1)
		joined, err := Share(capacity, f)
		if err != nil {
			t.Fatal(err)
		}
		if x, y := least(before), least(Shares{Rate: joined.Rate[:len(first)]}); y > x*(1+1e-9) {
			t.Fatalf("the least gets %v, and with another flow %v", x, y)
		}
	})
}

// TestMaxMinOrder: the order of flows and of resources makes no difference.
func TestMaxMinOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity, f := drawFlows(t)
		want, err := Share(capacity, f)
		if err != nil {
			t.Fatal(err)
		}
		flows := rapid.Permutation(upTo(f.Len())).Draw(t, "flows")
		number := rapid.Permutation(upTo(len(capacity))).Draw(t, "resources")
		moved := make([]float64, len(capacity))
		for r, to := range number {
			moved[to] = capacity[r]
		}
		var g Flows
		for _, i := range flows {
			g.Add(f.count(i), f.limit(i))
			for k := int(f.First[i+1]) - 1; k >= int(f.First[i]); k-- {
				g.Claim(number[f.Resource[k]], f.weight(k))
			}
		}
		got, err := Share(moved, g)
		if err != nil {
			t.Fatal(err)
		}
		for place, i := range flows {
			if math.Abs(got.Rate[place]-want.Rate[i]) > 1e-9*want.Rate[i] {
				t.Fatalf("flow %d gets %v, in another order %v", i, want.Rate[i], got.Rate[place])
			}
		}
	})
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestMaxMinMerged: an entry that counts n is n entries.
func TestMaxMinMerged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity, f := drawFlows(t)
		var each Flows
		var of []int
		for i := range f.Len() {
			f.Count[i] = math.Ceil(f.Count[i])
			for range int(f.Count[i]) {
				of = append(of, i)
				each.Add(1, f.limit(i))
				for k := int(f.First[i]); k < int(f.First[i+1]); k++ {
					each.Claim(int(f.Resource[k]), f.weight(k))
				}
			}
		}
		merged, err := Share(capacity, f)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := Share(capacity, each)
		if err != nil {
			t.Fatal(err)
		}
		for n, i := range of {
			if math.Abs(alone.Rate[n]-merged.Rate[i]) > 1e-9*merged.Rate[i] {
				t.Fatalf("flow %d gets %v merged and %v by itself", i, merged.Rate[i], alone.Rate[n])
			}
		}
	})
}

// TestMaxMinApart: flows whose weights and capacities are worlds apart, and a
// crowd of which one is left: rounding neither overfills nor starves.
func TestMaxMinApart(t *testing.T) {
	var f Flows
	f.Add(1, math.Inf(1))
	f.Claim(0, 1e-9)
	for i := range 20000 {
		f.Add(1, 1e-3+1e-9*float64(i))
		f.Claim(0, 1e6)
	}
	capacity := []float64{2.1e7}
	s, err := Share(capacity, f)
	if err != nil {
		t.Fatal(err)
	}
	certify(t, capacity, f, s)
	used := 0.0
	for _, r := range s.Rate[1:] {
		used += r * 1e6
	}
	if want := (capacity[0] - used) / 1e-9; math.Abs(s.Rate[0]-want) > 1e-6*want {
		t.Errorf("the last gets %v, want %v", s.Rate[0], want)
	}
}

// TestMaxMinUnits: claims of one weight are counted in it, whatever it is, beside
// capacities of every size.
func TestMaxMinUnits(t *testing.T) {
	for _, weight := range []float64{1e-250, 1e-9, 1e-6, 0.3, 1, 1e6, 1e9, Heaviest} {
		for _, capacity := range []float64{1e-9, 1, 1e10, 1e20, 1e39} {
			var f Flows
			for i := range 1000 {
				f.Add(1, capacity/weight/1001*float64(1+i%2))
				f.Claim(0, weight)
			}
			s, err := Share([]float64{capacity}, f)
			if err != nil {
				t.Fatal(err)
			}
			certify(t, []float64{capacity}, f, s)
			if want := capacity / weight * (1 - 500./1001) / 500; math.Abs(s.Rate[1]-want) > 1e-9*want {
				t.Errorf("capacity %g, weight %g: %g, want %g", capacity, weight, s.Rate[1], want)
			}
		}
	}
	f := flowsOf([]float64{5, math.Inf(1)}, []int{0}, []int{0, 1})
	s, err := Share([]float64{1e41, 7}, f)
	if err != nil || s.Rate[0] != 5 || s.Rate[1] != 7 {
		t.Errorf("beside a resource without end: %v, %v", s, err)
	}
}
