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
	for i := len(s.heap) / fan; i >= 0; i-- {
		s.sink(i)
	}
}

// fan is how many wait below each in the heap: as many as a cache line has room for.
const fan = 4

// sink moves the pool at place i down until none below it is full sooner.
func (s *sharing) sink(i int) {
	if i >= len(s.heap) {
		return
	}
	heap, down := s.heap, s.heap[i]
	for {
		s.work++
		first := fan*i + 1
		if first >= len(heap) {
			break
		}
		least := first
		for child := first + 1; child < min(first+fan, len(heap)); child++ {
			if heap[child].sooner(heap[least]) {
				least = child
			}
		}
		if !heap[least].sooner(down) {
			break
		}
		heap[i] = heap[least]
		i = least
	}
	heap[i] = down
}

// sooner orders by level, equal ones by the number of the resource: the same flows always get the
// same answer.
func (w waiting) sooner(than waiting) bool {
	if w.full != than.full {
		return w.full < than.full
	}
	return w.number < than.number
}
