package maxmin

import "math"

// waiting is a pool in the heap.
type waiting struct {
	full   float64 // the level at which it is full, as of when it was last looked at
	pool   int32
	number int32 // of the resource
}

// tightest is the pool that will be full first and the level at which it will be;
// None and +Inf where none bounds a growing flow.
func (s *sharing) tightest() (int32, float64) {
	for len(s.heap) > 0 {
		top := s.heap[0]
		if s.pools[top.pool].growing == 0 {
			last := len(s.heap) - 1
			s.heap[0] = s.heap[last]
			s.heap = s.heap[:last]
			s.sink(0)
			continue
		}
		at := s.fullAt(top.pool)
		if at <= top.full {
			return top.pool, at
		}
		s.heap[0].full = at
		s.sink(0)
		if s.heap[0].pool == top.pool {
			return top.pool, at
		}
	}
	return None, math.Inf(1)
}

// order makes a heap of the pools.
func (s *sharing) order() {
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
}

// sink moves the pool at place i down until none below it is full sooner.
func (s *sharing) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s.heap); child++ {
			if s.sooner(child, least) {
				least = child
			}
		}
		s.work++
		if least == i {
			return
		}
		s.heap[i], s.heap[least] = s.heap[least], s.heap[i]
		i = least
	}
}

// sooner orders by level, equal ones by the number of the resource: the same flows always get the
// same answer.
func (s *sharing) sooner(i, j int) bool {
	a, b := &s.heap[i], &s.heap[j]
	if a.full != b.full {
		return a.full < b.full
	}
	return a.number < b.number
}
