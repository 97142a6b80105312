package steer

import (
	"math"
	"testing"
)

// The odds that the facts give for 2 and 4 links.
func TestCoverage(t *testing.T) {
	for _, tt := range []struct {
		streams, links int
		want           float64
	}{{1, 2, 0}, {2, 2, 0.5}, {4, 4, 0.09375}, {3, 2, 0.75}, {1, 1, 1}} {
		if got := Coverage(tt.streams, tt.links); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%d streams on %d links: %v, want %v", tt.streams, tt.links, got, tt.want)
		}
	}
}

// The number of flows is the least that is enough, with a thousand links too.
func TestFlowsToCover(t *testing.T) {
	for _, tt := range []struct{ links, want int }{{1, 1}, {2, 8}, {4, 21}, {8, 51}, {1024, 11803}} {
		got := FlowsToCover(tt.links, 0.99)
		if got != tt.want || Coverage(got, tt.links) < 0.99 || Coverage(got-1, tt.links) >= 0.99 {
			t.Errorf("%d links: %d flows, want %d", tt.links, got, tt.want)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{{0, "0 %"}, {0.0001, "less than 0.1 %"}, {0.004, "0.4 %"}, {0.094, "9 %"}, {0.5, "50 %"}, {0.996, "99.6 %"}, {0.99999, "more than 99.9 %"}, {1, "100 %"}} {
		if got := Percent(c.share); got != c.want {
			t.Errorf("%v: %q, want %q", c.share, got, c.want)
		}
	}
}

func TestListed(t *testing.T) {
	for want, counts := range map[string][]int{"": nil, "3": {3}, "2, 2, 0 and 0": {2, 2, 0, 0}, "0 to 2": {0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}} {
		if got := List(counts); got != want {
			t.Errorf("%v: %q, want %q", counts, got, want)
		}
	}
}
