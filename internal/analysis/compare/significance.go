package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// estimate is a mean and how sure it is.
type estimate struct {
	mean float64
	// se is the mean's standard error, df its degrees of freedom (infinite
	// where an interval was given and no more).
	se, df float64
	// borrowed is a standard error that is the other side's: the two know no
	// more than one.
	borrowed bool
}

// relative is the standard error as a share of the mean.
func (e estimate) relative() float64 { return e.se / e.mean }

// leastBlocks is how many values a variance is computed from at least.
const leastBlocks = 3

// compareRuns compares the runs of one measurement.
func compareRuns(k Key, before, after []record.Trial) Row {
	row := Row{Key: k, BeforeRuns: len(before), AfterRuns: len(after), CPU: cores(before, after)}
	row.Before, row.After = unit.BitRate(stat.Mean(goodputs(before), nil)), unit.BitRate(stat.Mean(goodputs(after), nil))
	row.Change = float64(row.After/row.Before) - 1
	b, a, over, ok := estimates(before, after)
	if !ok {
		row.Test, row.few = "none", over
		return row
	}
	p, low, high := welch(b, a)
	row.Low, row.High, row.P = &low, &high, &p
	row.Test = "Welch's t over " + over
	if len(before) > 1 || len(after) > 1 {
		return row
	}
	if x, y := blocks(before[0]), blocks(after[0]); len(x) >= leastRanks && len(y) >= leastRanks && growth(x) == 1 && growth(y) == 1 && skewed(slices.Concat(around(x), around(y))) {
		p := MannWhitney(x, y)
		row.P, row.Test = &p, "Mann-Whitney over "+over
	}
	return row
}

// leastRanks is how many values a rank test needs to show anything: four
// against four can come to 0.029 at best.
const leastRanks = 4

func goodputs(trials []record.Trial) []float64 {
	out := make([]float64, len(trials))
	for i, t := range trials {
		out[i] = float64(t.Goodput)
	}
	return out
}

func blocks(t record.Trial) []float64 {
	out := make([]float64, len(t.Blocks))
	for i, b := range t.Blocks {
		out[i] = float64(b)
	}
	return out
}

// estimates are both sides' means. Where a side has several runs their
// differences count; a side with one run then is thought to vary from run to
// run as the other does. With one run each it is the blocks of the windows, or
// the interval that the record has.
func estimates(before, after []record.Trial) (b, a estimate, over string, ok bool) {
	x, y := goodputs(before), goodputs(after)
	switch {
	case len(x) > 1 && len(y) > 1:
		return meanOf(x), meanOf(y), fmt.Sprintf("%d and %d runs", len(x), len(y)), true
	case len(x) > 1:
		return meanOf(x), like(x, y[0]), fmt.Sprintf("%d runs before and one after", len(x)), len(x) >= leastBlocks
	case len(y) > 1:
		return like(y, x[0]), meanOf(y), fmt.Sprintf("one run before and %d after", len(y)), len(y) >= leastBlocks
	}
	b, bOver := within(before[0])
	a, aOver := within(after[0])
	if bOver == "" || aOver == "" {
		return b, a, "neither a series of blocks nor an interval", false
	}
	return b, a, bOver + " and " + aOver, true
}

// meanOf is the mean of independent values.
func meanOf(x []float64) estimate {
	mean, sd := stat.MeanStdDev(x, nil)
	n := float64(len(x))
	return estimate{mean: mean, se: sd / math.Sqrt(n), df: n - 1}
}

// like is one run that varies, as a share of its rate, as those of x do.
func like(x []float64, mean float64) estimate {
	m, sd := stat.MeanStdDev(x, nil)
	return estimate{mean: mean, se: sd / m * mean, df: float64(len(x) - 1), borrowed: true}
}

// within is one trial's rate from its own window, and what it rests on; ""
// where the trial does not say how much it varies.
func within(t record.Trial) (estimate, string) {
	mean := float64(t.Goodput)
	if x := blocks(t); len(x) >= leastBlocks {
		e := correlated(x)
		e.mean = mean
		return e, fmt.Sprintf("%d blocks", len(x))
	}
	if t.GoodputLow > 0 && t.GoodputHigh > t.GoodputLow {
		half := float64(t.GoodputHigh-t.GoodputLow) / 2
		return estimate{mean: mean, se: half / normal.Quantile(0.975), df: math.Inf(1)}, "an interval"
	}
	return estimate{mean: mean}, ""
}

// correlated is the mean of values in the order of time. Where neighbours go
// together they say less than as many independent ones: the variance grows by
// (1+r)/(1-r), r their correlation (Bayley and Hammersley, 1946).
func correlated(x []float64) estimate {
	e, grow := meanOf(x), growth(x)
	if grow > 1 {
		e.se *= math.Sqrt(grow)
		e.df = max(float64(len(x))/grow-1, 1)
	}
	return e
}

// growth is by what the variance of the mean grows; 1 where neighbours go
// together no more than by chance, or too few are there to tell.
func growth(x []float64) float64 {
	n := float64(len(x))
	r := neighbours(x) + 1/n // the estimate is too low by about that
	if len(x) < 8 || r <= 1/math.Sqrt(n) {
		return 1
	}
	r = min(r, 0.9)
	return (1 + r) / (1 - r)
}

// around is values without their mean.
func around(x []float64) []float64 {
	mean := stat.Mean(x, nil)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v - mean
	}
	return out
}

// neighbours is the correlation of each value with the next.
func neighbours(x []float64) float64 {
	mean := stat.Mean(x, nil)
	var with, all float64
	for i, v := range x {
		all += (v - mean) * (v - mean)
		if i > 0 {
			with += (v - mean) * (x[i-1] - mean)
		}
	}
	if all == 0 {
		return 0
	}
	return with / all
}

var normal = distuv.UnitNormal

// welch tests whether two means differ, as shares of each other, and gives
// the 95 % interval of the change: Welch, "The generalization of Student's
// problem", 1947, on the logarithm.
func welch(b, a estimate) (p, low, high float64) {
	log := math.Log(a.mean / b.mean)
	vb, va := b.relative()*b.relative(), a.relative()*a.relative()
	se := math.Sqrt(vb + va)
	if se == 0 { // every value the same, to the last bit
		p = 1
		if log != 0 {
			p = 0
		}
		return p, math.Expm1(log), math.Expm1(log)
	}
	df := (vb + va) * (vb + va) / (part(vb, b.df) + part(va, a.df))
	if b.borrowed || a.borrowed {
		df = min(b.df, a.df)
	}
	half := tQuantile(0.975, df) * se
	return 2 * tTail(math.Abs(log)/se, df), math.Expm1(log - half), math.Expm1(log + half)
}

func part(v, df float64) float64 {
	if math.IsInf(df, 1) {
		return 0
	}
	return v * v / df
}

// manyDegrees is from where on Student's t is the normal distribution.
const manyDegrees = 1e6

func tQuantile(p, df float64) float64 {
	if !(df < manyDegrees) {
		return normal.Quantile(p)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p)
}

func tTail(t, df float64) float64 {
	if !(df < manyDegrees) {
		return normal.Survival(t)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Survival(t)
}

// skewed reports values whose skewness is out of what samples of a normal
// distribution show: then their mean says little, and ranks are compared.
func skewed(x []float64) bool {
	n := float64(len(x))
	if len(x) < 8 {
		return false
	}
	if stat.StdDev(x, nil) == 0 {
		return false
	}
	error := math.Sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
	return math.Abs(stat.Skew(x, nil)) > 3*error
}

// MannWhitney is the two-sided probability that samples of one distribution
// differ in rank as much as these do: exact for small samples without ties,
// else by the normal approximation with its corrections for ties and for
// whole numbers.
func MannWhitney(x, y []float64) float64 {
	n, m := len(x), len(y)
	if n == 0 || m == 0 {
		return 1
	}
	u, ties, tied := rankSum(x, y)
	big := max(u, float64(n*m)-u)
	if !tied && n*m <= 400 {
		return min(2*atLeast(n, m, int(big)), 1)
	}
	total := float64(n + m)
	variance := float64(n*m) / 12 * (total + 1 - ties/(total*(total-1)))
	if variance <= 0 {
		return 1
	}
	z := (big - float64(n*m)/2 - 0.5) / math.Sqrt(variance)
	return min(2*normal.Survival(z), 1)
}

// rankSum is Mann and Whitney's U of x, and the sum of t^3-t over groups of
// t equal values.
func rankSum(x, y []float64) (u, ties float64, tied bool) {
	type value struct {
		v    float64
		from int
	}
	var all []value
	for _, v := range x {
		all = append(all, value{v, 0})
	}
	for _, v := range y {
		all = append(all, value{v, 1})
	}
	slices.SortFunc(all, func(a, b value) int { return cmp.Compare(a.v, b.v) })
	ranks := 0.0
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].v == all[i].v {
			j++
		}
		if t := float64(j - i); t > 1 {
			ties, tied = ties+t*t*t-t, true
		}
		for k := i; k < j; k++ {
			if all[k].from == 0 {
				ranks += float64(i+j+1) / 2
			}
		}
		i = j
	}
	n := float64(len(x))
	return ranks - n*(n+1)/2, ties, tied
}

// atLeast is the share of all orders of n and m values whose U is at least u.
func atLeast(n, m, u int) float64 {
	// ways[j][k]: orders of the values so far with j of the first kind, U = k.
	ways := make([][]float64, n+1)
	for j := range ways {
		ways[j] = make([]float64, n*m+1)
	}
	ways[0][0] = 1
	for i := range n + m {
		for j := min(n, i+1); j >= 1; j-- {
			below := i - (j - 1) // of the second kind, below the one added
			if below > m {
				continue
			}
			for k := n * m; k >= below; k-- {
				ways[j][k] += ways[j-1][k-below]
			}
		}
	}
	var tail, all float64
	for k, w := range ways[n] {
		all += w
		if k >= u {
			tail += w
		}
	}
	return tail / all
}

// Holm is the probabilities adjusted for their number: Holm, "A simple
// sequentially rejective multiple test procedure", 1979.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	out := make([]float64, len(ps))
	most := 0.0
	for rank, i := range order {
		most = max(most, min(ps[i]*float64(len(ps)-rank), 1))
		out[i] = most
	}
	return out
}
