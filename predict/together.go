package predict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate/linerate/unit"
)

// CeilingTogether returns the TCP payload that kinds of traffic running at the
// same time may not exceed in sum, and what binds: each keeps below its own
// Ceiling, and hosts and links that several of them use carry them together,
// each way for itself. It is the largest flow through the hosts' links. Errors
// are Ceiling's; ErrUnknownSpeed when nothing bounds the sum.
func CeilingTogether(f Fabric, all []Traffic) (unit.BitRate, string, error) {
	n := flowNet{index: make(map[string]int)}
	source, sink := n.node("source"), n.node("sink")
	for i, t := range all {
		if err := t.check(f); err != nil {
			return 0, "", err
		}
		for _, d := range t.Direction.Ways() {
			w, err := newWay(f, t, d)
			if err != nil {
				return 0, "", err
			}
			n.addWay(w, i, source, sink)
		}
	}
	sum := n.fill(source, sink)
	if math.IsInf(sum, 1) {
		return 0, "", fmt.Errorf("ceiling of %d kinds of traffic together: %w", len(all), ErrUnknownSpeed)
	}
	return unit.BitRate(sum), strings.Join(n.cut(source), ", "), nil
}

// flowNet is a flow network; capacities are payload in bits per second.
type flowNet struct {
	index map[string]int
	edges [][]int // by node, numbers of pipes
	pipes []pipe  // each followed by its way back
}

type pipe struct {
	to   int
	left float64
	what string // what a full one is; "" is never named
}

func (n *flowNet) node(name string) int {
	i, known := n.index[name]
	if !known {
		i = len(n.edges)
		n.index[name] = i
		n.edges = append(n.edges, nil)
	}
	return i
}

// pipe joins two nodes, once; of two capacities for the same pipe the larger
// holds.
func (n *flowNet) pipe(from, to int, capacity float64, what string) {
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

// addWay adds one direction of traffic: from its sender's links to itself, from
// itself to its receiver's.
func (n *flowNet) addWay(w *way, number, source, sink int) {
	name := fmt.Sprintf("%d %s", number, w.dir)
	in, out := n.node(name+" in"), n.node(name+" out")
	capacity := math.Inf(1)
	if c, _ := w.pair().ceiling(); c > 0 {
		capacity = float64(c)
	}
	n.pipe(in, out, capacity, fmt.Sprintf("%s to %s", w.sender.Name, w.receiver.Name))
	n.addSide(w, w.sender.Name, "sends", legOut, slices.Concat(w.out.at, w.out.idle), func(host, link int) (a, b int) { return host, link }, source, in)
	n.addSide(w, w.receiver.Name, "receives", legIn, w.in.at, func(host, link int) (a, b int) { return link, host }, sink, out)
}

// addSide adds one host's links: between outer and a node for the host, the
// host and each link, each link and inner; order turns a pipe round for the
// receiving side.
func (n *flowNet) addSide(w *way, host, verb string, end legEnd, at []attachment, order func(host, link int) (a, b int), outer, inner int) {
	rate := w.sender.Rate
	if verb == "receives" {
		rate = w.receiver.Rate
	}
	whole := math.Inf(1)
	if rate > 0 {
		whole = float64(rate) * w.shaperShare()
	}
	h := n.node(host + " " + verb)
	a, b := order(outer, h)
	n.pipe(a, b, whole, fmt.Sprintf("all that %s %s", host, verb))
	for i, att := range at {
		capacity := 0.0
		for p := range att.ports {
			switch {
			case att.unknown() != "":
				capacity = math.Inf(1)
			case verb == "sends" && i >= len(w.out.at): // idle
				capacity += float64(att.payload(p, w.segment(w.legs[0]), w.legs[0].outTags))
			default:
				capacity += float64(w.portPayload(att, i, p, end))
			}
		}
		l := n.node(host + " " + verb + " " + att.base.Name)
		a, b := order(h, l)
		n.pipe(a, b, capacity, fmt.Sprintf("%s of %s", att.base.Name, host))
		a, b = order(l, inner)
		n.pipe(a, b, math.Inf(1), "")
	}
}

// leastFlow is a rate below which a pipe counts as full: rounding.
const leastFlow = 1

// fill sends as much as goes from source to sink, by the shortest paths first
// (Edmonds and Karp), and returns the sum; +Inf when nothing bounds it.
func (n *flowNet) fill(source, sink int) float64 {
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
func (n *flowNet) search(source int) []int {
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

// cut names the full pipes that bound the sum.
func (n *flowNet) cut(source int) []string {
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
