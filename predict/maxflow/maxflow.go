// Package maxflow is the largest flow through a network of named nodes, and what
// bounds it. Pure arithmetic: what the nodes are is its callers'.
package maxflow

import (
	"math"
	"slices"
)

// New is an empty network.
func New() *Net { return &Net{index: make(map[string]int)} }

// Net is a flow network of named nodes; capacities are in bits per second. Its zero
// value is not usable: New makes one.
type Net struct {
	index map[string]int
	edges [][]int // by node, numbers of pipes
	pipes []pipe  // each followed by its way back
}

type pipe struct {
	to   int
	left float64
	what string // what a full one is; "" is never named
}

// Node is the number of the node of that name, made where there is none.
func (n *Net) Node(name string) int {
	i, known := n.index[name]
	if !known {
		i = len(n.edges)
		n.index[name] = i
		n.edges = append(n.edges, nil)
	}
	return i
}

// Pipe joins two nodes, once, named by what a full one is ("" is never named); of two
// capacities for the same pipe the larger holds.
func (n *Net) Pipe(from, to int, capacity float64, what string) {
	for _, p := range n.edges[from] {
		if n.pipes[p].to == to {
			n.pipes[p].left = max(n.pipes[p].left, capacity)
			return
		}
	}
	n.edges[from] = append(n.edges[from], len(n.pipes))
	n.edges[to] = append(n.edges[to], len(n.pipes)+1)
	n.pipes = append(n.pipes, pipe{to, capacity, what}, pipe{from, 0, ""})
}

// leastFlow is a rate below which a pipe counts as full: rounding.
const leastFlow = 1

// Fill sends as much as goes from source to sink, by the shortest paths first
// (Edmonds and Karp), and returns the sum; +Inf when nothing bounds it.
func (n *Net) Fill(source, sink int) float64 {
	sum := 0.0
	for {
		via := n.search(source)
		if via[sink] < 0 {
			return sum
		}
		least := math.Inf(1)
		for at := sink; at != source; at = n.pipes[via[at]^1].to {
			least = min(least, n.pipes[via[at]].left)
		}
		if math.IsInf(least, 1) {
			return least
		}
		for at := sink; at != source; at = n.pipes[via[at]^1].to {
			n.pipes[via[at]].left -= least
			n.pipes[via[at]^1].left += least
		}
		sum += least
	}
}

// search finds what can still be reached: the pipe by which each node was,
// negative for those that were not.
func (n *Net) search(source int) []int {
	const unreached, start = -1, math.MaxInt
	via := make([]int, len(n.edges))
	for i := range via {
		via[i] = unreached
	}
	via[source] = start
	queue := []int{source}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, p := range n.edges[at] {
			if next := n.pipes[p].to; via[next] == unreached && n.pipes[p].left > leastFlow {
				via[next] = p
				queue = append(queue, next)
			}
		}
	}
	return via
}

// Cut names the full pipes that bound the sum.
func (n *Net) Cut(source int) []string {
	via := n.search(source)
	var names []string
	for from, edges := range n.edges {
		for _, p := range edges {
			if e := n.pipes[p]; e.what != "" && via[from] >= 0 && via[e.to] < 0 && !slices.Contains(names, e.what) {
				names = append(names, e.what)
			}
		}
	}
	return names
}
