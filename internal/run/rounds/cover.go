package rounds

import (
	"cmp"
	"container/heap"
	"slices"
)

// Cover returns some of the tests, as indices in their order, such that every
// host and everything that a test runs over is in one at least, with few tests;
// then more, until there are most of them, between those that were measured
// least. It is what a fleet measures whose pairs are too many to measure all. Zero
// or less is as few as cover all. Fewer than are needed cover as much as they can:
// left is how many hosts and things are in none then. The same tests give the same
// cover.
//
// Each step takes the test that covers most of what is not covered yet, which
// needs at most ln(n)+1 times as many as the least there can be (Chvátal, 1979).
func Cover(tests []Test, most int) (chosen []int, left int) {
	g := newGraph(tests)
	c := &cover{g: g, hosts: make([]int, g.hosts), things: make([]int, g.things)}
	for i := range tests {
		c.queue = append(c.queue, candidate{test: i, gain: c.gain(i)})
	}
	heap.Init(c)
	for len(c.queue) > 0 && (most <= 0 || len(chosen) < most) {
		// What a test gains only shrinks as others are taken, so that one whose
		// gain still holds is the best there is.
		top := &c.queue[0]
		if now := c.gain(top.test); now != top.gain {
			top.gain = now
			heap.Fix(c, 0)
			continue
		}
		if top.gain.fresh == 0 && most <= 0 {
			break
		}
		chosen = append(chosen, top.test)
		c.take(top.test)
		heap.Pop(c)
	}
	slices.Sort(chosen)
	return chosen, c.uncovered()
}

// cover is how often hosts and things are in the tests that were chosen.
type cover struct {
	g             graph
	hosts, things []int
	queue         []candidate
}

// candidate is a test that is not chosen yet.
type candidate struct {
	test int
	gain gain
}

// gain is what choosing a test brings: how much it covers for the first time, then
// how seldom its ends and what it runs over were chosen.
type gain struct{ fresh, worn int }

func (c *cover) gain(test int) (n gain) {
	each := func(count int) {
		if count == 0 {
			n.fresh++
		}
		n.worn -= count
	}
	e := c.g.pair(test)
	each(c.hosts[e[0]])
	if e[1] != e[0] {
		each(c.hosts[e[1]])
	}
	for _, thing := range c.g.over[test] {
		each(c.things[thing])
	}
	return n
}

func (c *cover) take(test int) {
	e := c.g.pair(test)
	c.hosts[e[0]]++
	if e[1] != e[0] {
		c.hosts[e[1]]++
	}
	for _, thing := range c.g.over[test] {
		c.things[thing]++
	}
}

func (c *cover) uncovered() (n int) {
	for _, counts := range [][]int{c.hosts, c.things} {
		for _, count := range counts {
			if count == 0 {
				n++
			}
		}
	}
	return n
}

// heap.Interface: the candidate that gains most is first, of equals the earliest.

func (c *cover) Len() int { return len(c.queue) }

func (c *cover) Less(i, j int) bool {
	a, b := c.queue[i], c.queue[j]
	return cmp.Or(cmp.Compare(b.gain.fresh, a.gain.fresh), cmp.Compare(b.gain.worn, a.gain.worn), cmp.Compare(a.test, b.test)) < 0
}

func (c *cover) Swap(i, j int) { c.queue[i], c.queue[j] = c.queue[j], c.queue[i] }

func (c *cover) Push(x any) { c.queue = append(c.queue, x.(candidate)) }

func (c *cover) Pop() any {
	last := c.queue[len(c.queue)-1]
	c.queue = c.queue[:len(c.queue)-1]
	return last
}
