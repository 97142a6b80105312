package steer

import (
	"math/rand/v2"
)

// usage counts streams on each side's links.
type usage [][]int

func newUsage(classes []int) usage {
	u := make(usage, len(classes))
	for i, n := range classes {
		u[i] = make([]int, n)
	}
	return u
}

func (u usage) add(l links, n int) {
	for i := range u {
		u[i][l[i]] += n
	}
}

// on is what the cell's link of a side carries.
func (u usage) on(side int, l links) int { return u[side][l[side]] }

// rest is what the cell's links carry on all sides but the first.
func (u usage) rest(l links) int {
	sum := 0
	for i := 1; i < len(u); i++ {
		sum += u[i][l[i]]
	}
	return sum
}

// uneven is how far each side is from even, the first side first: the sum of
// squares above the least possible.
func (u usage) uneven() (v [mostSides]int) {
	for i, counts := range u {
		total := 0
		for _, n := range counts {
			total += n
			v[i] += n * n
		}
		q, r := total/len(counts), total%len(counts)
		v[i] -= r*(q+1)*(q+1) + (len(counts)-r)*q*q
	}
	return v
}

// settled is how many streams each cell gets.
type settled struct {
	order  []int // near link of each stream, in turn
	counts []int // by cell
}

// settle deals streams out: each to the near link that carries least, and of
// its cells to the one whose other links carry least; then it evens the other
// sides. Where the sides are independent, near links take turns in order;
// where the near link decides another one, the order within a round serves
// that.
func (c *candidates) settle(streams int) settled {
	s := settled{counts: make([]int, len(c.cells))}
	left := make([]int, len(c.cells))
	for n := range c.cells {
		left[n] = c.supply(n)
	}
	use := newUsage(c.classes)
	for range streams {
		n := c.deal(left, s.counts, use)
		if n < 0 {
			break
		}
		left[n]--
		s.counts[n]++
		use.add(c.cells[n].links, 1)
		s.order = append(s.order, int(c.cells[n].links[0]))
	}
	if len(c.classes) == 2 {
		for from := 0; from < c.classes[1]; from++ {
			if c.shift(s.counts, left, use[1], from) {
				from = -1 // a shift may free another link's streams: look again
			}
		}
	}
	if use.uneven() != [mostSides]int{} && len(c.classes) > 1 {
		c.wander(&s, left, use)
	}
	return s
}

// deal chooses the next stream's cell; -1 when no port is left. The lowest
// near number breaks a tie.
func (c *candidates) deal(left, own []int, use usage) int {
	best := -1
	for a, cells := range c.near {
		if best >= 0 && use[0][a] > use.on(0, c.cells[best].links) {
			continue
		}
		n := c.leastLoaded(cells, left, own, use)
		if n < 0 {
			continue
		}
		if best < 0 || use[0][a] < use.on(0, c.cells[best].links) || use.rest(c.cells[n].links) < use.rest(c.cells[best].links) {
			best = n
		}
	}
	return best
}

// leastLoaded is the cell with ports left whose other links carry least, and
// of those the one that has been used least, then the lowest links.
func (c *candidates) leastLoaded(cells, left, own []int, use usage) int {
	best := -1
	for _, n := range cells {
		if left[n] == 0 {
			continue
		}
		if best < 0 {
			best = n
			continue
		}
		load, least := use.rest(c.cells[n].links), use.rest(c.cells[best].links)
		if load < least || load == least && (own[n] < own[best] || own[n] == own[best] && c.cells[n].links.before(c.cells[best].links)) {
			best = n
		}
	}
	return best
}

func (l links) before(m links) bool {
	for i := range l {
		if l[i] != m[i] {
			return l[i] < m[i]
		}
	}
	return false
}

// move takes one stream from a cell to another of the same near link.
type move struct{ from, to int }

// shift moves one stream's worth of load from a far link to one that has at
// least two fewer, over as many moves as that takes; false when no chain of
// moves does it. Near links keep their counts. Each shift lowers the sum of
// squares of far, so repeating it ends. For two sides this finds the best
// there is.
func (c *candidates) shift(counts, left, far []int, from int) bool {
	reached := map[int][]move{from: nil}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		z := queue[0]
		if far[from]-far[z] >= 2 {
			for _, m := range reached[z] {
				counts[m.from]--
				counts[m.to]++
				left[m.from]++
				left[m.to]--
			}
			far[from]--
			far[z]++
			return true
		}
		for n, own := range counts {
			if own == 0 || int(c.cells[n].links[1]) != z {
				continue
			}
			for _, other := range c.near[c.cells[n].links[0]] {
				to := int(c.cells[other].links[1])
				if _, seen := reached[to]; !seen && left[other] > 0 {
					reached[to] = append(append([]move(nil), reached[z]...), move{n, other})
					queue = append(queue, to)
				}
			}
		}
	}
	return false
}

// Bounds of wander: how many moves it tries, and one in how many that make
// things a little worse it takes.
const (
	mostTries = 1 << 17
	uphill    = 16
	slope     = 4
)

// wander evens what dealing left uneven, for more than two sides at once
// (where a best answer is hard to compute) and where another near link should
// have the odd stream: it moves single streams at random, keeps what does not
// make things worse, now and then what does a little, and returns the best it
// saw. The same request wanders the same way.
func (c *candidates) wander(s *settled, left []int, use usage) {
	random := rand.New(rand.NewPCG(uint64(len(s.order)), uint64(len(c.cells))))
	at := make([]int, 0, len(s.order)) // the cell of each stream
	for n, count := range s.counts {
		for range count {
			at = append(at, n)
		}
	}
	best, bestCounts := use.uneven(), append([]int(nil), s.counts...)
	now := best
	tries := min(mostTries, 4096+256*len(at))
	for ; tries > 0 && best != [mostSides]int{}; tries-- {
		i := random.IntN(len(at))
		from := at[i]
		to := random.IntN(len(c.cells))
		if random.IntN(2) == 0 {
			same := c.near[c.cells[from].links[0]]
			to = same[random.IntN(len(same))]
		}
		if to == from || left[to] == 0 {
			continue
		}
		next, worse := c.after(now, use, from, to)
		if worse > slope || worse > 0 && random.IntN(uphill) > 0 {
			continue
		}
		use.add(c.cells[from].links, -1)
		use.add(c.cells[to].links, 1)
		s.counts[from]--
		s.counts[to]++
		left[from]++
		left[to]--
		at[i], now = to, next
		if less(now, best) {
			best = now
			copy(bestCounts, s.counts)
		}
	}
	copy(s.counts, bestCounts)
	c.reorder(s)
}

// after is the unevenness once a stream has moved, and by how much the sum of
// all sides is worse.
func (c *candidates) after(now [mostSides]int, use usage, from, to int) (next [mostSides]int, worse int) {
	next = now
	for i := range use {
		a, b := c.cells[from].links[i], c.cells[to].links[i]
		if a != b {
			d := 2 * (use[i][b] - use[i][a] + 1) // of the sum of squares
			next[i] += d
			worse += d
		}
	}
	return next, worse
}

// less compares unevenness, the first side first.
func less(a, b [mostSides]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// reorder lets near links take turns again, as often as their cells now say.
func (c *candidates) reorder(s *settled) {
	want := make([]int, len(c.near))
	for n, count := range s.counts {
		want[c.cells[n].links[0]] += count
	}
	s.order = s.order[:0]
	for again := true; again; {
		again = false
		for a := range want {
			if want[a] > 0 {
				want[a]--
				s.order = append(s.order, a)
				again = true
			}
		}
	}
}
