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
//
// With a million flows waiting for memory is most of the time. So all of an entry
// lies together, and beside it lie those that claim the same resource first.
type sharing struct {
	// rows[first[i]] is what entry i gets, and behind it are its claims, those
	// of no weight and of resources without end left out.
	first []int32
	rows  []claim
	pools []pool
	users []int32   // rows by resource: where each begins
	caps  []capped  // the lowest first
	heap  []waiting // resources that growing flows claim
	// ended has a bit for each place of rows: a row's flows have stopped where it
	// begins. It is small enough to be at hand before the row is.
	ended []uint64
	// work counts the steps, so that growth can be tested without a clock.
	work int
}

// claim is what all of an entry's flows take of a resource; or, where a row
// begins, the rate that a flow of the entry gets, what binds it, and how many
// claims follow.
type claim struct {
	weight float64
	pool   int32
	claims int32
}

// capped is a row that has a cap.
type capped struct {
	rate float64
	row  int32
}

// pool is a resource and where it stands, a cache line.
type pool struct {
	capacity float64
	used     sum   // by flows that have stopped
	demand   sum   // of growing flows, for each unit of level
	growing  int32 // claims of growing rows
	from, to int32 // its users
	_        [3]int32
}

// sum adds numbers and keeps what rounding takes off (Knuth's TwoSum, The Art of
// Computer Programming, volume 2, section 4.2.2), so that a million flows taken
// off a link leave what is left.
type sum struct{ total, rest float64 }

func (s *sum) add(x float64) {
	t := s.total + x
	took := t - s.total
	s.rest += (s.total - (t - took)) + (x - took)
	s.total = t
}

func (s sum) value() float64 { return s.total + s.rest }

// newSharing lets all flows grow from zero. The flows are checked.
func newSharing(capacity []float64, flows Flows) *sharing {
	s := &sharing{first: make([]int32, flows.Len()), pools: make([]pool, len(capacity))}
	for r, c := range capacity {
		s.pools[r].capacity = c
	}
	s.enter(capacity, flows)
	s.index()
	slices.SortFunc(s.caps, func(a, b capped) int {
		switch {
		case a.rate < b.rate:
			return -1
		case a.rate > b.rate:
			return 1
		}
		return int(a.row - b.row)
	})
	s.heap = make([]waiting, 0, len(s.pools))
	for r := range s.pools {
		if s.pools[r].growing > 0 {
			s.heap = append(s.heap, waiting{s.fullAt(int32(r)), int32(r)})
		}
	}
	s.order()
	return s
}

// enter makes the rows: by the resource that an entry claims first, entries that
// claim none last.
func (s *sharing) enter(capacity []float64, flows Flows) {
	place := make([]int32, len(capacity)+2) // where the next row of that resource begins
	firstOf := func(i int) int32 {
		if flows.First[i] == flows.First[i+1] {
			return int32(len(capacity))
		}
		return flows.Resource[flows.First[i]]
	}
	limited := 0
	for i := range s.first {
		place[firstOf(i)+1]++
		count := flows.count(i)
		if count == 0 {
			continue
		}
		if !math.IsInf(flows.limit(i), 1) {
			limited++
		}
		for k := flows.First[i]; k < flows.First[i+1]; k++ {
			if flows.weight(int(k))*count > 0 && !math.IsInf(capacity[flows.Resource[k]], 1) {
				place[firstOf(i)+1]++
			}
		}
	}
	for r := range capacity {
		place[r+1] += place[r]
	}
	s.rows = make([]claim, place[len(capacity)]+place[len(capacity)+1])
	s.ended, s.caps = make([]uint64, len(s.rows)/64+1), make([]capped, 0, limited)
	for i := range s.first {
		next := &place[firstOf(i)]
		at := *next
		*next++
		s.first[i], s.rows[at] = at, claim{pool: ByNothing}
		count := flows.count(i)
		if count == 0 {
			s.end(at)
			continue
		}
		for k := flows.First[i]; k < flows.First[i+1]; k++ {
			r := flows.Resource[k]
			if w := flows.weight(int(k)) * count; w > 0 && !math.IsInf(capacity[r], 1) {
				s.rows[*next] = claim{weight: w, pool: r}
				*next++
			}
		}
		s.rows[at].weight, s.rows[at].claims = math.Inf(1), *next-at-1
		if limit := flows.limit(i); !math.IsInf(limit, 1) {
			s.caps = append(s.caps, capped{limit, at})
		}
	}
}

// index lists the users of every resource and adds up what they demand.
func (s *sharing) index() {
	next := make([]int32, len(s.pools)+1)
	for row := int32(0); int(row) < len(s.rows); row += 1 + s.rows[row].claims {
		for _, c := range s.claims(row) {
			next[c.pool+1]++
		}
	}
	for r := range s.pools {
		s.pools[r].growing = next[r+1]
		next[r+1] += next[r]
		s.pools[r].from, s.pools[r].to = next[r], next[r+1]
	}
	s.users = make([]int32, next[len(s.pools)])
	for row := int32(0); int(row) < len(s.rows); row += 1 + s.rows[row].claims {
		for _, c := range s.claims(row) {
			s.pools[c.pool].demand.add(c.weight)
			s.users[next[c.pool]] = row
			next[c.pool]++
		}
	}
}

// claims are those of the row that begins there.
func (s *sharing) claims(row int32) []claim { return s.rows[row+1 : row+1+s.rows[row].claims] }

// stopped reports a row whose flows grow no more.
func (s *sharing) stopped(row int32) bool { return s.ended[row>>6]>>(row&63)&1 != 0 }

func (s *sharing) end(row int32) { s.ended[row>>6] |= 1 << (row & 63) }

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
		for next < len(s.caps) && s.stopped(s.caps[next].row) {
			next++
		}
		if next < len(s.caps) && s.caps[next].rate <= at {
			level = max(level, s.caps[next].rate)
			s.stop(s.caps[next].row, s.caps[next].rate, ByCap)
			continue
		}
		if math.IsInf(at, 1) {
			break
		}
		level = max(level, at)
		for _, i := range s.users[s.pools[r].from:s.pools[r].to] {
			if !s.stopped(i) {
				s.stop(i, level, r)
			}
		}
	}
}

// stop fixes a row's rate and takes its flows off what it claims.
func (s *sharing) stop(row int32, rate float64, by int32) {
	claims := s.claims(row)
	s.end(row)
	s.rows[row].weight, s.rows[row].pool = rate, by
	for _, c := range claims {
		p := &s.pools[c.pool]
		p.demand.add(-c.weight)
		p.used.add(c.weight * rate)
		p.growing--
	}
	s.work += len(claims)
}

// shares is what the entries got.
func (s *sharing) shares() Shares {
	all := Shares{Rate: make([]float64, len(s.first)), Binds: make([]int32, len(s.first))}
	for i, row := range s.first {
		all.Rate[i], all.Binds[i] = s.rows[row].weight, s.rows[row].pool
	}
	return all
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
	last := int32(None)
	for _, i := range s.users[s.pools[r].from:s.pools[r].to] {
		if s.stopped(i) || i == last {
			continue
		}
		last = i
		for _, c := range s.claims(i) {
			if c.pool == r {
				d.add(c.weight)
			}
		}
	}
	s.pools[r].demand = d
	return d.value()
}
