package maxmin

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// TestMaxMinLP compares 200 small random fabrics with linear programs: the
// largest rate that all flows can have, then of those that can still grow, and
// so on.
func TestMaxMinLP(t *testing.T) {
	const fabrics = 200
	random := rand.New(rand.NewPCG(5, 9))
	worst := 0.0
	for n := range fabrics {
		capacity, f := randomFlows(random, 1+random.IntN(6), 1+random.IntN(9))
		got, err := Share(capacity, f)
		if err != nil {
			t.Fatal(err)
		}
		p := program{capacity: capacity, flows: f, fixed: make([]float64, f.Len())}
		for i, want := range p.maxMin(t) {
			if f.count(i) == 0 {
				continue
			}
			off := math.Abs(got.Rate[i]-want) / max(want, 1e-3)
			worst = max(worst, off)
			if off > 1e-6 {
				t.Errorf("fabric %d, flow %d of %d: %v, by linear programs %v", n, i, f.Len(), got.Rate[i], want)
			}
		}
	}
	t.Logf("compared with linear programs on %d fabrics: at most %.1e apart", fabrics, worst)
}

// program is flows of which some have their final rate; NaN is none yet.
type program struct {
	capacity []float64
	flows    Flows
	fixed    []float64
}

// maxMin is the rate of each flow.
func (p *program) maxMin(t *testing.T) []float64 {
	for i := range p.fixed {
		p.fixed[i] = math.NaN()
	}
	for {
		open := p.open()
		if len(open) == 0 {
			return p.fixed
		}
		least := p.most(t, open, 0, open, true)
		var stuck []int
		for n, i := range open {
			if extra := p.most(t, open[n:n+1], least, open, false); extra <= 1e-7*(1+least) {
				stuck = append(stuck, i)
			}
		}
		if len(stuck) == 0 {
			t.Fatalf("all of %v can grow beyond their largest common rate %v", open, least)
		}
		for _, i := range stuck {
			p.fixed[i] = least
		}
	}
}

func (p *program) open() []int {
	var open []int
	for i, x := range p.fixed {
		if math.IsNaN(x) {
			open = append(open, i)
		}
	}
	return open
}

// most is the largest sum of what the chosen flows get beyond base, each of
// them the same where common, while every open flow gets at least base.
func (p *program) most(t *testing.T, chosen []int, base float64, open []int, common bool) float64 {
	t.Helper()
	// Unknowns: the growth that all share, and each open flow's own.
	unknowns := 1 + len(open)
	var rows [][]float64
	var left []float64
	use := make([][]float64, len(p.capacity))
	for r := range use {
		use[r] = make([]float64, unknowns)
	}
	spare := append([]float64(nil), p.capacity...)
	for i := range p.flows.Len() {
		column := 1 + slices.Index(open, i)
		for k := int(p.flows.First[i]); k < int(p.flows.First[i+1]); k++ {
			r, w := p.flows.Resource[k], p.flows.weight(k)*p.flows.count(i)
			if column == 0 {
				spare[r] -= w * p.fixed[i]
				continue
			}
			spare[r] -= w * base
			use[r][0] += w
			use[r][column] += w
		}
	}
	rows, left = append(rows, use...), append(left, spare...)
	for n, i := range open {
		if limit := p.flows.limit(i); !math.IsInf(limit, 1) {
			row := make([]float64, unknowns)
			row[0], row[1+n] = 1, 1
			rows, left = append(rows, row), append(left, limit-base)
		}
	}
	cost := make([]float64, unknowns)
	if common {
		cost[0] = -1
	} else {
		for _, i := range chosen {
			cost[0]--
			cost[1+slices.Index(open, i)]--
		}
	}
	return maximise(t, cost, rows, left)
}

// maximise is the largest -cost x with rows x at most left and x not negative.
func maximise(t *testing.T, cost []float64, rows [][]float64, left []float64) float64 {
	t.Helper()
	n := len(cost)
	a := mat.NewDense(len(rows), n+len(rows), nil)
	basis := make([]int, len(rows))
	for r, row := range rows {
		left[r] = max(0, left[r])
		for c, x := range row {
			a.Set(r, c, x)
		}
		a.Set(r, n+r, 1)
		basis[r] = n + r
	}
	best, _, err := lp.Simplex(append(slices.Clone(cost), make([]float64, len(rows))...), a, left, 1e-11, basis)
	if err != nil {
		t.Fatalf("linear program: %v", err)
	}
	return -best
}
