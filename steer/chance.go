package steer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Coverage returns the probability, from 0 to 1, that so many flows, each on a
// link at random, use every one of n links.
func Coverage(flows, n int) float64 {
	t := newThrows(n)
	for range flows {
		t.add()
	}
	return t.all()
}

// FlowsToCover returns how many flows it takes, each on a link at random, to
// use every one of n links with a probability of at least share, which is below
// one.
func FlowsToCover(n int, share float64) int {
	t := newThrows(n)
	flows := 0
	for t.all() < share {
		t.add()
		flows++
	}
	return flows
}

// throws is the distribution of the number of links in use, one flow at a
// time: throws[k] is the probability of k links.
type throws []float64

func newThrows(n int) throws {
	t := make(throws, n+1)
	t[0] = 1
	return t
}

func (t throws) add() {
	n := len(t) - 1
	for k := n; k >= 0; k-- {
		t[k] *= float64(k) / float64(n)
		if k > 0 {
			t[k] += t[k-1] * float64(n-k+1) / float64(n)
		}
	}
}

// all is the probability that every link is in use.
func (t throws) all() float64 { return min(t[len(t)-1], 1) }

// Percent is a share for people: whole per cents, one decimal where those would
// say all or nothing of what is not.
func Percent(share float64) string {
	whole := fmt.Sprintf("%.0f", 100*share)
	switch {
	case share > 0.9995 && share < 1:
		return "more than 99.9 %"
	case share > 0 && share < 0.0005:
		return "less than 0.1 %"
	case share > 0 && share < 1 && (whole == "100" || whole == "0"):
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return whole + " %"
}

// List is counts as people write them: "2, 2, 0 and 0"; of very many, the
// least and the greatest.
func List(counts []int) string {
	if len(counts) > 16 {
		return fmt.Sprintf("%d to %d", slices.Min(counts), slices.Max(counts))
	}
	words := make([]string, len(counts))
	for i, n := range counts {
		words[i] = strconv.Itoa(n)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
