// Package rounds puts measurements into rounds, so that of those that run at
// the same time no two share a host, a machine or a link, and estimates how
// long they take. It must never measure, nor look at a clock. Don't put two
// tests together to save time.
package rounds

import (
	"cmp"
	"slices"
)

// Test is one pair of hosts to measure and what that occupies.
type Test struct {
	// A and B are the hosts at its ends; the same one twice is a host that
	// measures itself.
	A, B string
	// Over is what else it occupies: links, shaped paths, a machine that
	// several hosts share. The names are compared with each other only, not
	// with those of hosts.
	Over []string
}

// Rounds returns the tests in rounds, as indices: two tests of one round
// share neither a host nor anything they run over. The same tests give the
// same rounds, and each round is in the order of the tests.
//
// All pairs of n hosts that share nothing else take n-1 rounds, n where n is
// odd: that is the least there can be. Other pairs, none of them twice, take
// at most one round more than the busiest host has tests (Vizing, 1964), and
// often that number itself. What tests share beside hosts can cost more.
func Rounds(tests []Test) [][]int {
	if len(tests) == 0 {
		return nil
	}
	g := newGraph(tests)
	best := g.split(g.colours())
	// The colouring knows nothing of what is shared beside hosts; looking at
	// the most entangled tests first does.
	if g.entangled() {
		if other := g.first(g.byConflicts()); len(other) < len(best) {
			best = other
		}
	}
	return ordered(best)
}

// graph is the tests as edges between hosts.
type graph struct {
	hosts int
	edges [][2]int
	over  [][]int
	// things is how many different names there are in over.
	things int
}

func newGraph(tests []Test) graph {
	hosts, things := make(map[string]int), make(map[string]int)
	number := func(of map[string]int, name string) int {
		n, known := of[name]
		if !known {
			n = len(of)
			of[name] = n
		}
		return n
	}
	var g graph
	for _, t := range tests {
		g.edges = append(g.edges, [2]int{number(hosts, t.A), number(hosts, t.B)})
		var over []int
		for _, name := range t.Over {
			over = append(over, number(things, name))
		}
		g.over = append(g.over, over)
	}
	g.hosts, g.things = len(hosts), len(things)
	return g
}

// entangled reports whether two tests share something beside their hosts.
func (g graph) entangled() bool {
	owner := make([]int, g.things)
	for i, over := range g.over {
		for _, thing := range over {
			if owner[thing] != 0 && g.pair(owner[thing]-1) != g.pair(i) {
				return true
			}
			owner[thing] = i + 1
		}
	}
	return false
}

// pair is an edge's hosts, the lower number first.
func (g graph) pair(edge int) [2]int {
	e := g.edges[edge]
	return [2]int{min(e[0], e[1]), max(e[0], e[1])}
}

// split makes rounds of a colouring: a colour is a round, and what conflicts
// in it nevertheless goes to the first round that has room.
func (g graph) split(colour []int) [][]int {
	rounds, busy := make([][]int, slices.Max(colour)+1), make(occupied, g.hosts+g.things)
	var left []int
	for test, c := range colour {
		if of := g.occupies(test); busy.free(of, c) {
			busy.take(of, c)
			rounds[c] = append(rounds[c], test)
		} else {
			left = append(left, test)
		}
	}
	return g.place(rounds, busy, left)
}

// first puts each test, in the order given, into the first round with room.
func (g graph) first(order []int) [][]int {
	return g.place(nil, make(occupied, g.hosts+g.things), order)
}

func (g graph) place(rounds [][]int, busy occupied, order []int) [][]int {
	for _, test := range order {
		of := g.occupies(test)
		at := busy.first(of)
		if at == len(rounds) {
			rounds = append(rounds, nil)
		}
		busy.take(of, at)
		rounds[at] = append(rounds[at], test)
	}
	return slices.DeleteFunc(rounds, func(tests []int) bool { return len(tests) == 0 })
}

// occupies are a test's hosts and, numbered after all hosts, things.
func (g graph) occupies(test int) []int {
	of := append(make([]int, 0, 8), g.edges[test][:]...)
	for _, thing := range g.over[test] {
		of = append(of, g.hosts+thing)
	}
	return of
}

// byConflicts is the tests with those first that occupy what most others do.
func (g graph) byConflicts() []int {
	hosts, things := make([]int, g.hosts), make([]int, g.things)
	for i, e := range g.edges {
		hosts[e[0]]++
		hosts[e[1]]++
		for _, thing := range g.over[i] {
			things[thing]++
		}
	}
	weight := make([]int, len(g.edges))
	order := make([]int, len(g.edges))
	for i, e := range g.edges {
		order[i] = i
		weight[i] = hosts[e[0]] + hosts[e[1]]
		for _, thing := range g.over[i] {
			weight[i] += things[thing]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	return order
}

// ordered sorts each round, and the rounds by their first test.
func ordered(rounds [][]int) [][]int {
	for _, r := range rounds {
		slices.Sort(r)
	}
	slices.SortFunc(rounds, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return rounds
}
