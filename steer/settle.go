package steer

// settled is how many streams each pair of near and far link gets.
type settled struct {
	order []int   // near link of each stream, in turn
	cells [][]int // by near link, then far link
}

// settle deals streams out: each to the near link that carries least, and from
// there to the far link that carries least; then it evens the far side by
// moving streams along chains of near links that can reach several far ones.
// Where the two hashes are independent, near links take turns in order; where
// the near link decides the far one, the order within a round serves the far
// side.
func (c *candidates) settle(streams int) settled {
	s := settled{cells: make([][]int, c.near)}
	left := make([][]int, c.near)
	for a := range c.near {
		s.cells[a], left[a] = make([]int, c.far), make([]int, c.far)
		for z := range c.far {
			left[a][z] = c.supply(a, z)
		}
	}
	nearUse, farUse := make([]int, c.near), make([]int, c.far)
	for range streams {
		a, z := s.deal(left, nearUse, farUse)
		if a < 0 {
			break
		}
		left[a][z]--
		s.cells[a][z]++
		nearUse[a]++
		farUse[z]++
		s.order = append(s.order, a)
	}
	for from := 0; from < c.far; from++ {
		if s.shift(from, left, farUse) {
			from = -1 // a shift may free another link's streams: look again
		}
	}
	return s
}

// deal chooses the next stream's links; -1 when no port is left. The lowest
// near number breaks a tie.
func (s settled) deal(left [][]int, nearUse, farUse []int) (near, far int) {
	near, far = -1, -1
	for a := range left {
		z := leastFar(left[a], farUse, s.cells[a])
		if z < 0 {
			continue
		}
		if near < 0 || nearUse[a] < nearUse[near] || nearUse[a] == nearUse[near] && farUse[z] < farUse[far] {
			near, far = a, z
		}
	}
	return near, far
}

// leastFar is the far link with fewest streams, and of those the one that the
// near link has used least; -1 when the near link has no ports left.
func leastFar(left, use, own []int) int {
	best := -1
	for z := range left {
		if left[z] == 0 {
			continue
		}
		if best < 0 || use[z] < use[best] || use[z] == use[best] && own[z] < own[best] {
			best = z
		}
	}
	return best
}

// move takes one stream of a near link from one far link to another.
type move struct{ near, from, to int }

// shift moves one stream's worth of load from a far link to one that has at
// least two fewer, over as many moves as that takes; false when no chain of
// moves does it. Near links keep their counts. Each shift lowers the sum of
// squares of farUse, so repeating it ends.
func (s settled) shift(from int, left [][]int, farUse []int) bool {
	reached := map[int][]move{from: nil}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		z := queue[0]
		if farUse[from]-farUse[z] >= 2 {
			for _, m := range reached[z] {
				s.cells[m.near][m.from]--
				s.cells[m.near][m.to]++
				left[m.near][m.from]++
				left[m.near][m.to]--
			}
			farUse[from]--
			farUse[z]++
			return true
		}
		for a := range s.cells {
			if s.cells[a][z] == 0 {
				continue
			}
			for to := range farUse {
				if _, seen := reached[to]; !seen && left[a][to] > 0 {
					reached[to] = append(append([]move(nil), reached[z]...), move{a, z, to})
					queue = append(queue, to)
				}
			}
		}
	}
	return false
}
