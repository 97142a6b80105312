package rounds

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// allPairs is every pair of n hosts.
func allPairs(n int) []Test {
	var out []Test
	for a := range n {
		for b := a + 1; b < n; b++ {
			out = append(out, Test{A: fmt.Sprint("h", a), B: fmt.Sprint("h", b)})
		}
	}
	return out
}

// occupies is every name that a test keeps from others.
func occupies(t Test) []string {
	out := []string{"host " + t.A}
	if t.B != t.A {
		out = append(out, "host "+t.B)
	}
	for _, o := range slices.Compact(slices.Sorted(slices.Values(t.Over))) {
		out = append(out, "thing "+o)
	}
	return out
}

// busiest is how many tests the most wanted host has.
func busiest(tests []Test) int {
	count, most := make(map[string]int), 0
	for _, t := range tests {
		for _, name := range slices.Compact([]string{t.A, t.B}) {
			count[name]++
			most = max(most, count[name])
		}
	}
	return most
}

// sound says what is wrong with rounds: a test that is missing or double, two
// of one round that share something, an order that is not the tests'.
func sound(tests []Test, rounds [][]int) error {
	seen := make([]int, len(tests))
	first := -1
	for r, round := range rounds {
		if len(round) == 0 || round[0] <= first {
			return fmt.Errorf("round %d is empty or out of order: %v", r, rounds)
		}
		first = round[0]
		holder := make(map[string]int)
		for k, i := range round {
			if k > 0 && i <= round[k-1] {
				return fmt.Errorf("round %d is not in order: %v", r, round)
			}
			seen[i]++
			for _, name := range occupies(tests[i]) {
				if other, taken := holder[name]; taken {
					return fmt.Errorf("round %d: tests %d and %d share %s", r, other, i, name)
				}
				holder[name] = i
			}
		}
	}
	for i, n := range seen {
		if n != 1 {
			return fmt.Errorf("test %d is in %d rounds", i, n)
		}
	}
	return nil
}

func TestAllPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	for n := 2; n <= 64; n++ {
		tests := allPairs(n)
		rounds := Rounds(tests)
		if err := sound(tests, rounds); err != nil {
			t.Errorf("%d hosts: %v", n, err)
		}
		want := n - 1
		if n%2 == 1 {
			want = n
		}
		if len(rounds) != want {
			t.Errorf("%d hosts: %d rounds, want %d", n, len(rounds), want)
		}
	}
}

// Whatever order the pairs are named in, and whichever way round.
func TestAllPairsShuffled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 64).Draw(t, "hosts")
		tests := rapid.Permutation(allPairs(n)).Draw(t, "order")
		for i := range tests {
			if i%3 == 1 {
				tests[i].A, tests[i].B = tests[i].B, tests[i].A
			}
		}
		rounds := Rounds(tests)
		if err := sound(tests, rounds); err != nil {
			t.Fatal(err)
		}
		if want := n - 1 + n%2; len(rounds) != want {
			t.Fatalf("%d hosts: %d rounds, want %d", n, len(rounds), want)
		}
	})
}

// drawPairs is some pairs of some hosts, each pair once.
func drawPairs(t *rapid.T) []Test {
	n := rapid.IntRange(2, 64).Draw(t, "hosts")
	all := allPairs(n)
	few := rapid.IntRange(1, min(len(all), 300)).Draw(t, "pairs")
	return rapid.Permutation(all).Draw(t, "order")[:few]
}

// Vizing's bound: one round more than the busiest host has tests.
func TestSomePairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tests := drawPairs(t)
		rounds := Rounds(tests)
		if err := sound(tests, rounds); err != nil {
			t.Fatal(err)
		}
		if most := busiest(tests); len(rounds) < most || len(rounds) > most+1 {
			t.Fatalf("%d rounds, the busiest host has %d tests", len(rounds), most)
		}
		if diff := cmp.Diff(rounds, Rounds(tests)); diff != "" {
			t.Fatalf("asked twice (-first +second):\n%s", diff)
		}
	})
}

// Anything goes: pairs twice, hosts with themselves, links and machines that
// several tests share. No test waits for a round that it could have joined.
func TestSharedLinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.IntRange(1, 12).Draw(t, "hosts")
		name := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint("h", rapid.IntRange(0, hosts-1).Draw(t, "host")) })
		thing := rapid.SampledFrom([]string{"core", "shaper", "rack", "h0"})
		tests := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Test {
			return Test{A: name.Draw(t, "a"), B: name.Draw(t, "b"), Over: rapid.SliceOfN(thing, 0, 2).Draw(t, "over")}
		}), 0, 60).Draw(t, "tests")
		rounds := Rounds(tests)
		if err := sound(tests, rounds); err != nil {
			t.Fatal(err)
		}
		conflicts := 0
		for i := range tests {
			n := 0
			for j := range tests {
				if i != j && slices.ContainsFunc(occupies(tests[i]), func(o string) bool { return slices.Contains(occupies(tests[j]), o) }) {
					n++
				}
			}
			conflicts = max(conflicts, n)
		}
		if len(tests) > 0 && len(rounds) > conflicts+1 {
			t.Fatalf("%d rounds, no test conflicts with more than %d", len(rounds), conflicts)
		}
	})
}

func TestRounds(t *testing.T) {
	one := func(a, b string, over ...string) Test { return Test{A: a, B: b, Over: over} }
	for name, c := range map[string]struct {
		tests []Test
		want  [][]int
	}{
		"none":                   {nil, nil},
		"one":                    {[]Test{one("a", "b")}, [][]int{{0}}},
		"two apart":              {[]Test{one("a", "b"), one("c", "d")}, [][]int{{0, 1}}},
		"two over one link":      {[]Test{one("a", "b", "core"), one("c", "d", "core")}, [][]int{{0}, {1}}},
		"one machine":            {[]Test{one("a", "b", "m"), one("c", "d", "m"), one("a", "d", "m")}, [][]int{{0}, {1}, {2}}},
		"one pair, both ways":    {[]Test{one("a", "b"), one("b", "a")}, [][]int{{0}, {1}}},
		"a link named as a host": {[]Test{one("a", "b"), one("c", "d", "a")}, [][]int{{0, 1}}},
		"a host with itself":     {[]Test{one("a", "a"), one("b", "c"), one("a", "b")}, [][]int{{0, 1}, {2}}},
		"a star":                 {[]Test{one("hub", "a"), one("hub", "b"), one("hub", "c")}, [][]int{{0}, {1}, {2}}},
		"a ring of four":         {[]Test{one("a", "b"), one("b", "c"), one("c", "d"), one("d", "a")}, [][]int{{0, 2}, {1, 3}}},
		"four hosts, all pairs": {
			[]Test{one("a", "b"), one("a", "c"), one("a", "d"), one("b", "c"), one("b", "d"), one("c", "d")},
			[][]int{{0, 5}, {1, 4}, {2, 3}},
		},
	} {
		if diff := cmp.Diff(c.want, Rounds(c.tests)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPace(t *testing.T) {
	var p Pace
	want := func(kind string, thought, want time.Duration) {
		t.Helper()
		if got := p.Expect(kind, thought); got != want {
			t.Errorf("%s, thought to take %v: expected %v, want %v", kind, thought, got, want)
		}
	}
	want("8 streams", 10*time.Second, 10*time.Second)
	p.Took("1 stream", 10*time.Second, 4*time.Second)
	want("1 stream", 10*time.Second, 4*time.Second)
	want("8 streams", 10*time.Second, 4*time.Second)
	p.Took("1 stream", 10*time.Second, 6*time.Second)
	want("1 stream", 10*time.Second, 5*time.Second)
	want("2 streams", 20*time.Second, 10*time.Second)
	p.Took("2 streams", 0, 7*time.Second)
	want("2 streams", 0, 7*time.Second)
}
