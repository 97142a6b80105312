// Package chance says how many streams land where when luck places them: every
// way of it with its likelihood, or as many as tell the mean.
package chance

import (
	"math"
	"math/rand/v2"
)

const (
	// MostComputed is how many ways of chance are computed one by one.
	MostComputed = 4096
	// samples is how many are drawn where there are more: the mean is then
	// within about one percent. Of very many streams each way is near the mean
	// by itself, so that drawn streams suffice in all, but no fewer ways than
	// fewestSamples.
	samples       = 2048
	fewestSamples = 128
	drawn         = 1 << 18
)

// samplesOf is how many ways are drawn of so many streams.
func samplesOf(streams int) int {
	return min(max(drawn/max(streams, 1), fewestSamples), samples)
}

// Group is a number of like streams that each land on one of some cells,
// equally likely: those of one of its classes, which is the same for all of
// them.
type Group struct {
	Streams int
	Classes []Class
}

// Class is indices into the way's cell list, and how likely it is.
type Class struct {
	Cells  []int
	Weight float64
}

// All is every cell of the group, some of them more than once.
func (g Group) All() []int {
	if len(g.Classes) == 1 {
		return g.Classes[0].Cells
	}
	var all []int
	for _, c := range g.Classes {
		all = append(all, c.Cells...)
	}
	return all
}

// Outcomes calls visit with every way that chance can deal the groups'
// streams to cells, and its probability: counts[i] is the streams in cell i.
// Where there are too many it draws a fixed number of ways with a fixed seed,
// so that the same input always gives the same answer.
func Outcomes(groups []Group, cells int, visit func(counts []float64, probability float64)) {
	counts := make([]float64, cells)
	total, streams := 1.0, 0
	for _, g := range groups {
		streams += g.Streams
		ways := 0.0
		for _, c := range g.Classes {
			ways += Compositions(g.Streams, len(c.Cells))
		}
		total *= ways
	}
	if total <= MostComputed {
		deal(groups, counts, 1, visit)
		return
	}
	random := rand.New(rand.NewPCG(1, 2))
	ways := samplesOf(streams)
	for range ways {
		clear(counts)
		for _, g := range groups {
			cells := g.drawn(random)
			for range g.Streams {
				counts[cells[random.IntN(len(cells))]]++
			}
		}
		visit(counts, 1/float64(ways))
	}
}

// drawn is the cells of one class by chance.
func (g Group) drawn(random *rand.Rand) []int {
	if len(g.Classes) > 1 {
		left := random.Float64()
		for _, c := range g.Classes {
			if left -= c.Weight; left < 0 {
				return c.Cells
			}
		}
	}
	return g.Classes[0].Cells
}

// deal enumerates group by group.
func deal(groups []Group, counts []float64, p float64, visit func([]float64, float64)) {
	if len(groups) == 0 {
		visit(counts, p)
		return
	}
	g := groups[0]
	for _, c := range g.Classes {
		dealGroup(c.Cells, g.Streams, counts, p*c.Weight, func(p float64) { deal(groups[1:], counts, p, visit) })
	}
}

// dealGroup gives each cell in turn some of the streams left: a binomial
// share of them, one in as many as cells are left.
func dealGroup(cells []int, streams int, counts []float64, p float64, next func(float64)) {
	if len(cells) == 1 {
		counts[cells[0]] += float64(streams)
		next(p)
		counts[cells[0]] -= float64(streams)
		return
	}
	share := 1 / float64(len(cells))
	for k := 0; k <= streams; k++ {
		counts[cells[0]] += float64(k)
		dealGroup(cells[1:], streams-k, counts, p*binomial(streams, k, share), next)
		counts[cells[0]] -= float64(k)
	}
}

// Within is how likely it is, at the most, that streams which each land on one of some
// cells, equally likely, leave all but so many of them empty.
func Within(streams, used, cells int) float64 {
	return math.Exp(logChoose(cells, used) + float64(streams)*math.Log(float64(used)/float64(cells)))
}

// binomial is the probability of k successes of n, each of probability p.
func binomial(n, k int, p float64) float64 {
	return math.Exp(logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// Compositions is how many ways there are to write n as an ordered sum of m
// numbers from zero on.
func Compositions(n, m int) float64 { return math.Round(math.Exp(logChoose(n+m-1, m-1))) }
