package maxmin

import (
	"math"
	"slices"
)

// sharing is one progressive filling: the flows, by resource too, and where it
// stands. Resources wait in a heap by the level (the rate that all growing
// flows have) at which they will be full. That level only rises when flows
// stop, since each stops at or below it; so a resource's place is set right
// when it comes to the top, and at most once for each flow that stopped.
type sharing struct {
	// rows[first[i]:first[i+1]] are entry i's claims, those of no weight and
	// of resources without end left out: all of an entry lies together, since
	// with a million flows waiting for memory is most of the time.
	first []int32
	rows  []claim
	pools []pool
	users []int32  // entries by resource
	caps  []capped // the lowest first
	heap  []int32  // resources that growing flows claim
	done  []bool   // entries whose flows have stopped
	rate  []float64
	binds []int32
	// work counts the steps, so that growth can be tested without a clock.
	work int
}

// claim is what all of an entry's flows take of a resource.
type claim struct {
	weight float64
	pool   int32
}

// capped is an entry that has a cap.
type capped struct {
	rate float64
	flow int32
}

// pool is a resource and where it stands, a cache line.
type pool struct {
	capacity float64
	used     sum     // by flows that have stopped
	demand   sum     // of growing flows, for each unit of level
	full     float64 // the level at which it is full, as of when it was last looked at
	growing  int32   // claims of growing entries
	from, to int32   // its users
	_        int32
}

// sum adds numbers and keeps what rounding takes off (Neumaier's variant of
// Kahan's), so that a million flows taken off a link leave what is left.
type sum struct{ total, rest float64 }

func (s *sum) add(x float64) {
	t := s.total + x
	if math.Abs(s.total) >= math.Abs(x) {
		s.rest += (s.total - t) + x
	} else {
		s.rest += (x - t) + s.total
	}
	s.total = t
}

func (s sum) value() float64 { return s.total + s.rest }

// newSharing lets all flows grow from zero. The flows are checked.
func newSharing(capacity []float64, flows Flows) *sharing {
	n := flows.Len()
	s := &sharing{
		first: make([]int32, 1, n+1), rows: make([]claim, 0, len(flows.Resource)), pools: make([]pool, len(capacity)),
		done: make([]bool, n), rate: make([]float64, n), binds: make([]int32, n),
	}
	for r, c := range capacity {
		s.pools[r].capacity = c
	}
	for i := range n {
		s.binds[i] = ByNothing
		if count := flows.count(i); count > 0 {
			s.enter(flows, i, count)
		} else {
			s.done[i] = true
		}
		s.first = append(s.first, int32(len(s.rows)))
	}
	s.index()
	slices.SortFunc(s.caps, func(a, b capped) int {
		if a.rate != b.rate {
			if a.rate < b.rate {
				return -1
			}
			return 1
		}
		return int(a.flow - b.flow)
	})
	for r := range s.pools {
		if p := &s.pools[r]; p.growing > 0 {
			p.full = s.fullAt(int32(r))
			s.heap = append(s.heap, int32(r))
		}
	}
	s.order()
	return s
}

// enter adds what an entry claims.
func (s *sharing) enter(flows Flows, i int, count float64) {
	for k := flows.First[i]; k < flows.First[i+1]; k++ {
		r := flows.Resource[k]
		p := &s.pools[r]
		if w := flows.weight(int(k)) * count; w > 0 && !math.IsInf(p.capacity, 1) {
			s.rows = append(s.rows, claim{w, r})
			p.demand.add(w)
			p.growing++
		}
	}
	if limit := flows.limit(i); !math.IsInf(limit, 1) {
		s.caps = append(s.caps, capped{limit, int32(i)})
	}
}

// index lists the users of every resource.
func (s *sharing) index() {
	s.users = make([]int32, len(s.rows))
	at := int32(0)
	for r := range s.pools {
		p := &s.pools[r]
		p.from, p.to = at, at
		at += p.growing
	}
	for i := range s.done {
		for _, c := range s.rows[s.first[i]:s.first[i+1]] {
			p := &s.pools[c.pool]
			s.users[p.to] = int32(i)
			p.to++
		}
	}
}

// tooMuch is a resource whose claims add up to no number, none where all do.
func (s *sharing) tooMuch() int {
	for r := range s.pools {
		if d := s.pools[r].demand.value(); math.IsInf(d, 0) || math.IsNaN(d) {
			return r
		}
	}
	return None
}

// fill lets the flows grow until each has stopped or has no bound.
func (s *sharing) fill() {
	level, next := 0.0, 0
	for {
		r, at := s.tightest()
		for next < len(s.caps) && s.done[s.caps[next].flow] {
			next++
		}
		if next < len(s.caps) && s.caps[next].rate <= at {
			level = max(level, s.caps[next].rate)
			s.stop(s.caps[next].flow, s.caps[next].rate, ByCap)
			continue
		}
		if math.IsInf(at, 1) {
			break
		}
		level = max(level, at)
		for _, i := range s.users[s.pools[r].from:s.pools[r].to] {
			if !s.done[i] {
				s.stop(i, level, r)
			}
		}
	}
	for i, done := range s.done {
		if !done {
			s.rate[i] = math.Inf(1)
		}
	}
}

// stop fixes an entry's rate and takes its flows off what it claims.
func (s *sharing) stop(i int32, rate float64, by int32) {
	s.done[i], s.rate[i], s.binds[i] = true, rate, by
	for _, c := range s.rows[s.first[i]:s.first[i+1]] {
		p := &s.pools[c.pool]
		p.demand.add(-c.weight)
		p.used.add(c.weight * rate)
		p.growing--
	}
	s.work += int(s.first[i+1] - s.first[i])
}

// fullAt is the level at which a resource that growing flows claim is full.
func (s *sharing) fullAt(r int32) float64 {
	p := &s.pools[r]
	demand := p.demand.value()
	if demand <= 0 { // rounding, of weights that are worlds apart
		demand = s.demanded(r)
	}
	return max(0, p.capacity-p.used.value()) / demand
}

// demanded adds up anew what growing flows claim of a resource.
func (s *sharing) demanded(r int32) float64 {
	var d sum
	last := None
	for _, i := range s.users[s.pools[r].from:s.pools[r].to] {
		if s.done[i] || int(i) == last {
			continue
		}
		last = int(i)
		for _, c := range s.rows[s.first[i]:s.first[i+1]] {
			if c.pool == r {
				d.add(c.weight)
			}
		}
	}
	s.pools[r].demand = d
	return d.value()
}
