package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// noise makes values around one: normal, from a bucket that now and then is
// empty, or with neighbours that go together.
type noise func(r *rand.Rand, n int) []float64

func gauss(spread float64) noise {
	return func(r *rand.Rand, n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = 1 + spread*r.NormFloat64()
		}
		return out
	}
}

// dips is a rate that falls in one block of five.
func dips(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1 + 0.005*r.NormFloat64()
		if r.IntN(5) == 0 {
			out[i] -= 0.1 * r.Float64()
		}
	}
	return out
}

// drifting has neighbours with a correlation of 0.3.
func drifting(r *rand.Rand, n int) []float64 {
	const rho = 0.3
	out := make([]float64, n)
	state := r.NormFloat64()
	for i := range out {
		out[i] = 1 + 0.02*state
		state = rho*state + math.Sqrt(1-rho*rho)*r.NormFloat64()
	}
	return out
}

// trial is a window of the blocks, at the rate.
func trial(rate float64, values []float64) record.Trial {
	t := record.Trial{From: "alpha", To: "beta", Direction: flow.Forward, Streams: 1, BlockLength: 0.5}
	for _, v := range values {
		t.Blocks = append(t.Blocks, unit.BitRate(rate*v))
		t.Goodput += unit.BitRate(rate * v / float64(len(values)))
	}
	return t
}

func holding(trials ...record.Trial) []record.Record {
	out := make([]record.Record, len(trials))
	for i, t := range trials {
		out[i].Trials = []record.Trial{t}
	}
	return out
}

// shown is in what share of comparisons a side that carries `ratio` as much is
// called better or worse, wrong how often it is called the other.
func shown(t *testing.T, of noise, n, runs int, ratio float64) (right, wrong float64) {
	t.Helper()
	const times = 2000
	r := rand.New(rand.NewPCG(7, uint64(n*1000+runs)))
	for range times {
		side := func(rate float64) []record.Record {
			var out []record.Trial
			for range runs {
				run := rate
				if runs > 1 { // runs differ by more than their blocks do
					run *= 1 + 0.02*r.NormFloat64()
				}
				out = append(out, trial(run, of(r, n)))
			}
			return holding(out...)
		}
		result := Records(side(1e9), side(1e9*ratio), Options{})
		switch v := result.Rows[0].Verdict; {
		case v == Better && ratio >= 1, v == Worse && ratio < 1:
			right++
		case v == Better || v == Worse:
			wrong++
		}
	}
	return right / times, wrong / times
}

// Where there is no difference, at most one comparison in twenty shows one.
// Of 2000 a test that keeps to 0.05 shows more than 0.065 once in a thousand
// times.
func TestNoDifference(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	const most = 0.065
	for name, c := range map[string]struct {
		of      noise
		n, runs int
	}{
		"4 blocks":                {gauss(0.02), 4, 1},
		"8 blocks":                {gauss(0.02), 8, 1},
		"20 blocks":               {gauss(0.05), 20, 1},
		"a rate that dips":        {dips, 10, 1},
		"a rate that dips long":   {dips, 40, 1},
		"blocks that go together": {drifting, 60, 1},
		"3 runs":                  {gauss(0.01), 10, 3},
		"6 runs":                  {gauss(0.01), 10, 6},
	} {
		better, worse := shown(t, c.of, c.n, c.runs, 1)
		t.Logf("%s: %.3f of comparisons show a difference", name, better+worse)
		if better+worse > most {
			t.Errorf("%s: %.3f of comparisons show a difference where there is none, want at most 0.05", name, better+worse)
		}
	}
}

// A difference of three standard errors of it and more is found.
func TestKnownShifts(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	for name, c := range map[string]struct {
		of      noise
		n, runs int
		ratio   float64
		least   float64
	}{
		"2 % of 10 blocks within 1 %":    {gauss(0.01), 10, 1, 1.02, 0.90},
		"2 % less of 10 blocks":          {gauss(0.01), 10, 1, 0.98, 0.90},
		"10 % of 20 blocks within 5 %":   {gauss(0.05), 20, 1, 1.10, 0.99},
		"10 % of a rate that dips":       {dips, 20, 1, 1.10, 0.99},
		"10 % of 4 runs within 2 %":      {gauss(0.01), 10, 4, 1.10, 0.95},
		"5 % of blocks that go together": {drifting, 60, 1, 1.05, 0.99},
	} {
		right, wrong := shown(t, c.of, c.n, c.runs, c.ratio)
		t.Logf("%s: found in %.3f of comparisons", name, right)
		if right < c.least || wrong > 0.001 {
			t.Errorf("%s: found in %.3f of comparisons, want %.2f; the wrong way round in %.3f", name, right, c.least, wrong)
		}
	}
}

// With many rows, all of them together keep to one in twenty.
func TestManyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 13))
	const times, rows = 400, 24
	families := 0
	for range times {
		side := func() record.Record {
			var out record.Record
			for i := range rows {
				one := trial(1e9, gauss(0.02)(r, 8))
				one.Streams = i + 1
				out.Trials = append(out.Trials, one)
			}
			return out
		}
		result := Records([]record.Record{side()}, []record.Record{side()}, Options{})
		if result.Count(Better)+result.Count(Worse) > 0 {
			families++
		}
	}
	t.Logf("%d of %d comparisons of %d rows show a difference", families, times, rows)
	if families > 34 { // 0.05 of 400, and three standard deviations
		t.Errorf("%d of %d comparisons of %d rows show a difference where there is none", families, times, rows)
	}
}

// The interval of the change holds the true one 95 times of 100.
func TestIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	const times = 2000
	covered := 0
	for range times {
		b, a := trial(1e9, gauss(0.03)(r, 10)), trial(1.2e9, gauss(0.03)(r, 10))
		row := Records(holding(b), holding(a), Options{}).Rows[0]
		if *row.Low <= 0.2 && 0.2 <= *row.High {
			covered++
		}
	}
	if share := float64(covered) / times; share < 0.935 || share > 0.98 {
		t.Errorf("%.3f of the intervals hold the change, want 0.95", share)
	}
}

// Student's two samples: sleep under two drugs (Student 1908), as R's t.test
// and wilcox.test have them; here as rates, so that logarithms stay close.
func TestAgainstTables(t *testing.T) {
	// 2*pt(-2.5, 5) and qt(0.975, 5), from tables of Student's t.
	if got := 2 * tTail(2.570582, 5); math.Abs(got-0.05) > 1e-6 {
		t.Errorf("t = 2.5706 with 5 degrees of freedom: p = %v, want 0.05", got)
	}
	if got := tQuantile(0.975, math.Inf(1)); math.Abs(got-1.959964) > 1e-6 {
		t.Errorf("the normal quantile is %v", got)
	}
	// Mann and Whitney 1947, table I: U = 0 of 4 and 4 has probability
	// 1/70 one-sided; U = 1 of 5 and 4, 2/126.
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		{[]float64{5, 6, 7, 8}, []float64{1, 2, 3, 4}, 2.0 / 70},
		{[]float64{1, 2, 3, 4, 6}, []float64{5, 7, 8, 9}, 2 * 2.0 / 126},
		{[]float64{1, 3}, []float64{2, 4}, 2 * 2.0 / 6},
		{[]float64{1, 1, 1}, []float64{1, 1, 1}, 1},
		{nil, []float64{1}, 1},
	} {
		if got := MannWhitney(c.x, c.y); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v against %v: p = %v, want %v", c.x, c.y, got, c.want)
		}
	}
}

// The exact and the approximate probability agree where both are good.
func TestMannWhitneyForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		r := rand.New(rand.NewPCG(seed, 1))
		x, y := gauss(1)(r, 20), gauss(1)(r, 20)
		exact := MannWhitney(x, y)
		u, _, _ := rankSum(x, y)
		z := (max(u, 400-u) - 200 - 0.5) / math.Sqrt(400.0/12*41)
		approx := min(2*normal.Survival(z), 1)
		if math.Abs(exact-approx) > 0.01 {
			t.Fatalf("exact %v, approximate %v", exact, approx)
		}
	})
}

func TestHolm(t *testing.T) {
	for _, c := range []struct{ in, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.03}, []float64{0.03}},
		// Holm 1979's procedure by hand: 0.01*4, 0.02*3, 0.03*2 (raised), 0.04.
		{[]float64{0.04, 0.01, 0.03, 0.02}, []float64{0.06, 0.04, 0.06, 0.06}},
		{[]float64{0.6, 0.7}, []float64{1, 1}},
	} {
		if diff := cmp.Diff(c.want, Holm(c.in), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.in, diff)
		}
	}
}

// What scales both sides changes no verdict, and turning the sides round
// turns the verdict round.
func TestSymmetry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		n := rapid.IntRange(3, 30).Draw(t, "blocks")
		ratio := rapid.Float64Range(0.9, 1.1).Draw(t, "ratio")
		b, a := gauss(0.02)(r, n), gauss(0.02)(r, n)
		of := func(x, y float64, bs, as []float64) Row {
			return Records(holding(trial(x, bs)), holding(trial(y, as)), Options{MinEffect: 0.01}).Rows[0]
		}
		plain, scaled, turned := of(1e9, 1e9*ratio, b, a), of(1e6, 1e6*ratio, b, a), of(1e9*ratio, 1e9, a, b)
		if math.Abs(*plain.P-*scaled.P) > 1e-6 || math.Abs(*plain.P-*turned.P) > 1e-6 {
			t.Fatalf("p is %v, scaled %v, turned round %v", *plain.P, *scaled.P, *turned.P)
		}
		if !(*plain.Low <= plain.Change && plain.Change <= *plain.High) {
			t.Fatalf("the change %v is outside its interval %v to %v", plain.Change, *plain.Low, *plain.High)
		}
		if plain.Verdict == Better && turned.Verdict == Better || plain.Verdict == Worse && turned.Verdict == Worse {
			t.Fatalf("both ways round %s", plain.Verdict)
		}
	})
}

func TestVerdicts(t *testing.T) {
	steady := func(rate float64) record.Trial { return trial(rate, []float64{1.001, 0.999, 1, 1.0005, 0.9995, 1}) }
	noisy := func(rate float64) record.Trial { return trial(rate, []float64{1.2, 0.8, 1.1, 0.9, 1.15, 0.85}) }
	bare := func(rate, half float64) record.Trial {
		out := trial(rate, []float64{1})
		out.Blocks = nil
		if half > 0 {
			out.GoodputLow, out.GoodputHigh = unit.BitRate(rate*(1-half)), unit.BitRate(rate*(1+half))
		}
		return out
	}
	for name, c := range map[string]struct {
		before, after []record.Trial
		least         float64
		want          Verdict
		test          string
	}{
		"better":                     {[]record.Trial{steady(1e9)}, []record.Trial{steady(1.1e9)}, 0.01, Better, "Welch's t over 6 blocks and 6 blocks"},
		"worse":                      {[]record.Trial{steady(1e9)}, []record.Trial{steady(0.9e9)}, 0.01, Worse, "Welch's t over 6 blocks and 6 blocks"},
		"a difference too small":     {[]record.Trial{steady(1e9)}, []record.Trial{steady(1.004e9)}, 0.01, Same, "Welch's t over 6 blocks and 6 blocks"},
		"the same where any matters": {[]record.Trial{steady(1e9)}, []record.Trial{steady(1.004e9)}, 0, Better, "Welch's t over 6 blocks and 6 blocks"},
		"equal and steady":           {[]record.Trial{steady(1e9)}, []record.Trial{steady(1e9)}, 0.01, Same, "Welch's t over 6 blocks and 6 blocks"},
		"equal and noisy":            {[]record.Trial{noisy(1e9)}, []record.Trial{noisy(1.05e9)}, 0.01, NotShown, "Welch's t over 6 blocks and 6 blocks"},
		"by the interval":            {[]record.Trial{bare(1e9, 0.01)}, []record.Trial{bare(1.1e9, 0.01)}, 0.01, Better, "Welch's t over an interval and an interval"},
		"an interval that is wide":   {[]record.Trial{bare(1e9, 0.1)}, []record.Trial{bare(1.1e9, 0.1)}, 0.01, NotShown, "Welch's t over an interval and an interval"},
		"one number each":            {[]record.Trial{bare(1e9, 0)}, []record.Trial{bare(2e9, 0)}, 0.01, TooFew, "none"},
		"runs":                       {[]record.Trial{bare(1e9, 0), bare(1.01e9, 0), bare(0.99e9, 0)}, []record.Trial{bare(2e9, 0), bare(2.02e9, 0), bare(1.98e9, 0)}, 0.01, Better, "Welch's t over 3 and 3 runs"},
		"runs that differ a lot":     {[]record.Trial{steady(1e9), steady(1.3e9), steady(0.8e9)}, []record.Trial{steady(1.1e9), steady(1.4e9), steady(0.9e9)}, 0.01, NotShown, "Welch's t over 3 and 3 runs"},
		"one run against three":      {[]record.Trial{steady(1e9)}, []record.Trial{steady(1.1e9), steady(1.3e9), steady(0.9e9)}, 0.01, NotShown, "Welch's t over one run before and 3 after"},
		"one run against two":        {[]record.Trial{steady(1e9)}, []record.Trial{steady(2e9), steady(2e9)}, 0.01, TooFew, "none"},
		"three against one, far off": {[]record.Trial{steady(1e9), steady(1.01e9), steady(0.99e9)}, []record.Trial{steady(2e9)}, 0.01, Better, "Welch's t over 3 runs before and one after"},
		"ranks for a rate that dips": {[]record.Trial{trial(1e9, []float64{1, 1.001, 0.999, 1.002, 0.998, 0.3, 1.003, 0.997, 1.0015})}, []record.Trial{trial(1e9, []float64{1.05, 1.051, 1.049, 1.052, 1.048, 1.053, 1.047, 1.0515, 1.0485})}, 0.01, Better, "Mann-Whitney over 9 blocks and 9 blocks"},
	} {
		row := Records(holding(c.before...), holding(c.after...), Options{MinEffect: c.least}).Rows[0]
		if row.Verdict != c.want || row.Test != c.test {
			t.Errorf("%s: %q by %q, want %q by %q (%s)", name, row.Verdict, row.Test, c.want, c.test, values(row))
		}
	}
}

func values(r Row) string {
	if r.P == nil {
		return "no p"
	}
	return fmt.Sprintf("p %.4f, change %.4f in %.4f to %.4f", *r.P, r.Change, *r.Low, *r.High)
}
