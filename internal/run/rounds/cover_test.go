package rounds

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCoverOfPairs: hosts that share nothing are covered by half as many pairs,
// each once; with one host over, by one pair more.
func TestCoverOfPairs(t *testing.T) {
	for n, want := range map[int]int{2: 1, 3: 2, 8: 4, 9: 5, 200: 100} {
		chosen, left := Cover(allPairs(n), 0)
		if len(chosen) != want || left != 0 {
			t.Errorf("%d hosts: %d pairs, %d left, want %d and none", n, len(chosen), left, want)
		}
	}
}

// TestCoverTakesLinks: a link that one pair alone runs over is in the cover, though
// its hosts are covered without it.
func TestCoverTakesLinks(t *testing.T) {
	tests := []Test{
		{A: "a", B: "b", Over: []string{"x"}}, {A: "c", B: "d", Over: []string{"x"}},
		{A: "a", B: "c", Over: []string{"rare"}}, {A: "b", B: "d", Over: []string{"x"}},
	}
	chosen, left := Cover(tests, 0)
	if left != 0 || !slices.Contains(chosen, 2) || len(chosen) > 3 {
		t.Errorf("chose %v, %d left, want the pair over the rare link and two at most", chosen, left)
	}
}

// TestCoverWithin: fewer than are needed leave something out and say how much; more
// are spread over those measured least.
func TestCoverWithin(t *testing.T) {
	if chosen, left := Cover(allPairs(10), 3); len(chosen) != 3 || left != 4 {
		t.Errorf("3 of 10 hosts' pairs: %v, %d left, want 4", chosen, left)
	}
	tests := allPairs(10)
	chosen, left := Cover(tests, 15)
	times := map[string]int{}
	for _, i := range chosen {
		times[tests[i].A]++
		times[tests[i].B]++
	}
	for host, n := range times {
		if n < 2 || n > 4 {
			t.Errorf("%s is in %d of 15 pairs, want 3 or nearly", host, n)
		}
	}
	if len(chosen) != 15 || left != 0 || len(times) != 10 {
		t.Errorf("%d pairs of %d hosts, %d left", len(chosen), len(times), left)
	}
	if chosen, left := Cover(tests, 100); len(chosen) != len(tests) || left != 0 {
		t.Errorf("more than there are: %d of %d", len(chosen), len(tests))
	}
	if chosen, left := Cover(nil, 0); chosen != nil || left != 0 {
		t.Errorf("nothing: %v, %d", chosen, left)
	}
}

// TestCoverCovers: whatever is shared, nothing is left out, and the same tests give
// the same cover.
func TestCoverCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		tests := allPairs(2 + rng.IntN(12))
		for i := range tests {
			for range rng.IntN(3) {
				tests[i].Over = append(tests[i].Over, fmt.Sprint("link", rng.IntN(8)))
			}
		}
		chosen, left := Cover(tests, 0)
		covered := map[string]bool{}
		for _, i := range chosen {
			for _, name := range append([]string{"host " + tests[i].A, "host " + tests[i].B}, tests[i].Over...) {
				covered[name] = true
			}
		}
		for _, one := range tests {
			for _, name := range append([]string{"host " + one.A, "host " + one.B}, one.Over...) {
				if !covered[name] {
					t.Fatalf("%s is in none of %v", name, chosen)
				}
			}
		}
		again, _ := Cover(tests, 0)
		if left != 0 || fmt.Sprint(again) != fmt.Sprint(chosen) {
			t.Fatalf("%d left; %v, then %v", left, chosen, again)
		}
	})
}
