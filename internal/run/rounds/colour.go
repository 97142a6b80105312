package rounds

import "slices"

// colours is a number for every test so that no two tests at one host have
// the same; what tests share beside hosts is not looked at.
func (g graph) colours() []int {
	colour := make([]int, len(g.edges))
	for i := range colour {
		colour[i] = -1
	}
	next := 0
	for _, layer := range g.layers() {
		part, used := g.complete(layer)
		if part == nil {
			part, used = g.vizing(layer)
		}
		for i, edge := range layer {
			colour[edge] = next + part[i]
		}
		next += used
	}
	return g.compact(colour)
}

// layers splits the tests so that no pair of hosts is twice in one layer, and
// a host that measures itself stands alone.
func (g graph) layers() [][]int {
	var layers [][]int
	seen := make(map[[2]int]int)
	for edge := range g.edges {
		p := g.pair(edge)
		n := seen[p]
		seen[p]++
		if n == len(layers) {
			layers = append(layers, nil)
		}
		layers[n] = append(layers[n], edge)
	}
	return layers
}

// complete colours a layer that is all pairs of its hosts, by the circle
// method: one host stands still, the others move on by one place a round. The
// colours are nil for a layer that is not all pairs.
func (g graph) complete(layer []int) (colour []int, used int) {
	number := make(map[int]int)
	for _, edge := range layer {
		p := g.pair(edge)
		if p[0] == p[1] {
			return nil, 0
		}
		for _, host := range p {
			if _, known := number[host]; !known {
				number[host] = len(number)
			}
		}
	}
	n := len(number)
	if len(layer) != n*(n-1)/2 {
		return nil, 0
	}
	places := n - 1 // on the circle; the last host is in its middle
	if n%2 == 1 {
		places = n // the middle is empty: whoever meets it rests
	}
	colour = make([]int, len(layer))
	for i, edge := range layer {
		a, b := number[g.pair(edge)[0]], number[g.pair(edge)[1]]
		if a > b {
			a, b = b, a
		}
		if b == places {
			b = a
		}
		// Opposite each other in round r are those whose places add up to r.
		colour[i] = (a + b) % places
	}
	return colour, places
}

// compact moves tests to lower colours where their hosts are free there, and
// leaves out colours that nobody has.
func (g graph) compact(colour []int) []int {
	used := make(occupied, g.hosts)
	for edge, c := range colour {
		used.take(g.edges[edge][:], c)
	}
	number := make([]int, slices.Max(colour)+1)
	for edge, c := range colour {
		if lower := used.first(g.edges[edge][:]); lower < c {
			used.leave(g.edges[edge][:], c)
			used.take(g.edges[edge][:], lower)
			colour[edge] = lower
		}
		number[colour[edge]] = 1
	}
	next := 0
	for c, is := range number {
		number[c] = next
		next += is
	}
	for edge, c := range colour {
		colour[edge] = number[c]
	}
	return colour
}
