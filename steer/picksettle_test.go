package steer

import (
	"testing"

	"pgregory.net/rapid"
)

// twoSided is candidates of two sides with so many ports in each cell.
func twoSided(near, far int, supply func(a, z int) int) *candidates {
	c := &candidates{classes: []int{near, far}, variants: make([]variant, 1), near: make([][]int, near), taken: make([]portSet, 1)}
	for a := range near {
		for z := range far {
			c.near[a] = append(c.near[a], len(c.cells))
			c.cells = append(c.cells, cell{links: links{int32(a), int32(z)}, ports: [][]uint16{make([]uint16, supply(a, z))}})
		}
	}
	return c
}

// settle must find the most even far side that the near side's counts allow,
// or a more even near side: compared with trying everything.
func TestSettleIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := 0
		c := twoSided(rapid.IntRange(1, 3).Draw(t, "near"), rapid.IntRange(1, 3).Draw(t, "far"), func(int, int) int {
			n := rapid.IntRange(0, 3).Draw(t, "supply")
			total += n
			return n
		})
		streams := rapid.IntRange(1, 7).Draw(t, "streams")
		s := c.settle(streams)
		if len(s.order) != min(streams, total) {
			t.Fatalf("%d streams of %d from %d ports", len(s.order), streams, total)
		}
		use, turns := newUsage(c.classes), make([]int, c.classes[0])
		for n, count := range s.counts {
			if count < 0 || count > c.supply(n) {
				t.Fatalf("cell %v gets %d of %d", c.cells[n].links, count, c.supply(n))
			}
			use.add(c.cells[n].links, count)
		}
		for _, a := range s.order {
			turns[a]++
		}
		for a := range turns {
			if turns[a] != use[0][a] {
				t.Fatalf("near links take turns %v, cells give them %v", turns, use[0])
			}
		}
		if best := mostEven(c, len(s.order), 0, newUsage(c.classes), make([]int, len(c.cells))); less(best, use.uneven()) {
			t.Fatalf("%v is uneven by %v, best is %v", use, use.uneven(), best)
		}
	})
}

// Of three and four sides, what can be even must be.
func TestSettleFindsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &candidates{variants: make([]variant, 1), taken: make([]portSet, 1)}
		for range rapid.IntRange(3, mostSides).Draw(t, "sides") {
			c.classes = append(c.classes, rapid.IntRange(2, 3).Draw(t, "links"))
		}
		c.near = make([][]int, c.classes[0])
		for range rapid.IntRange(2, 12).Draw(t, "cells") {
			var l links
			for i, n := range c.classes {
				l[i] = int32(rapid.IntRange(0, n-1).Draw(t, "link"))
			}
			c.near[l[0]] = append(c.near[l[0]], len(c.cells))
			c.cells = append(c.cells, cell{links: l, ports: [][]uint16{make([]uint16, rapid.IntRange(0, 3).Draw(t, "supply"))}})
		}
		s := c.settle(rapid.IntRange(1, 6).Draw(t, "streams"))
		use := newUsage(c.classes)
		for n, count := range s.counts {
			use.add(c.cells[n].links, count)
		}
		best := mostEven(c, len(s.order), 0, newUsage(c.classes), make([]int, len(c.cells)))
		if best == [mostSides]int{} && use.uneven() != best {
			t.Fatalf("%v is uneven by %v, and need not be", use, use.uneven())
		}
	})
}

// mostEven tries every way to fill the cells from n on.
func mostEven(c *candidates, streams, n int, use usage, counts []int) [mostSides]int {
	if streams == 0 {
		return use.uneven()
	}
	best := [mostSides]int{1 << 30}
	for ; n < len(c.cells); n++ {
		if counts[n] == c.supply(n) {
			continue
		}
		counts[n]++
		use.add(c.cells[n].links, 1)
		if v := mostEven(c, streams-1, n, use, counts); less(v, best) {
			best = v
		}
		use.add(c.cells[n].links, -1)
		counts[n]--
	}
	return best
}

// The unevenness must be what it is called, after moves too.
func TestUneven(t *testing.T) {
	for _, tt := range []struct {
		use  usage
		want [mostSides]int
	}{
		{usage{{0, 0}}, [mostSides]int{}},
		{usage{{2, 1, 1}}, [mostSides]int{}},
		{usage{{3, 1}, {2, 2}}, [mostSides]int{2}},
		{usage{{2, 2}, {4, 0}}, [mostSides]int{0, 8}},
		{usage{{3, 0, 0}}, [mostSides]int{6}},
	} {
		if got := tt.use.uneven(); got != tt.want {
			t.Errorf("%v is uneven by %v, want %v", tt.use, got, tt.want)
		}
	}
	c := twoSided(2, 2, func(int, int) int { return 9 })
	use := newUsage(c.classes)
	use.add(c.cells[0].links, 3) // 0,0
	next, worse := c.after(use.uneven(), use, 0, 3)
	before := use.uneven()
	use.add(c.cells[0].links, -1)
	use.add(c.cells[3].links, 1)
	if next != use.uneven() || worse != next[0]+next[1]-before[0]-before[1] {
		t.Errorf("after the move %v (%+d), want %v", next, worse, use.uneven())
	}
}
