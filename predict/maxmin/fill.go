package maxmin

import (
	"cmp"
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
// lies together, and beside it lie those that claim the same resource first; and a
// claim is a number: its weight is the resource's, except where some differ.
type sharing struct {
	// rows has a row for each entry: how many claims it has, its entry, and the pools
	// that it claims, those of no weight and of resources without end left out.
	rows []int32
	// how is a number of ends for each entry.
	how []int32
	// weights has a weight for each claim, by its place in rows; nil where each is the
	// pool's unit. counts are the flows of entries; nil where each is one.
	weights, counts []float64
	pools           []pool
	numbers         []int32 // of the pools' resources
	// demand of growing flows, for each unit of level; nil where each claim of a pool
	// is alike, and they only have to be counted.
	demand      []sum
	from, users []int32  // users[from[p]:from[p+1]] are the rows that claim pool p
	caps        []capped // the lowest first
	heap        []waiting
	ends        []end
	// ended has a bit for each row, by half its place: its flows have stopped. It is
	// small enough to be at hand before the row is.
	ended []uint64
	// work counts the steps, so that growth can be tested without a clock.
	work    int
	fetched int32 // no number of anything: see fetch
}

// head is how much of a row is before its claims.
const head = 2

// end is the rate at which flows have stopped, and what binds them.
type end struct {
	rate float64
	by   int32
}

// capped is a row that has a cap.
type capped struct {
	rate float64
	row  int32
}

// pool is a resource that has an end and is claimed, and where it stands: a quarter of a
// cache line, for each stop looks at some that lie anywhere.
type pool struct {
	// left is what flows that have stopped do not use, and rest what rounding took off
	// it, as in sum: a part in 2^53 of it, of which 24 bits are enough. Where all
	// claims have one weight it is the unit of both.
	left    float64
	rest    float32
	growing int32 // claims of growing rows
}

// take takes from what is left.
func (p *pool) take(x float64) {
	t := p.left - x
	took := t - p.left
	p.rest += float32((p.left - (t - took)) - (x + took))
	p.left = t
}

// A capacity of immense bits a second bounds nothing. With it, and with weights between
// slight and 1/slight as units, what rounding takes off fits a float32.
const (
	immense = 1e40
	slight  = 1e-6
)

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
	s := &sharing{how: make([]int32, flows.Len())}
	if slices.ContainsFunc(flows.Count, func(count float64) bool { return count != 1 }) {
		s.counts = flows.Count
	}
	of, place := s.number(capacity, flows)
	s.enter(flows, of, place)
	s.index()
	s.caps = byRate(s.caps)
	s.heap = make([]waiting, len(s.pools))
	for p := range s.pools {
		s.heap[p] = waiting{s.fullAt(int32(p)), int32(p), s.numbers[p]}
	}
	s.order()
	return s
}

// byRate sorts by the bits of the rates, which are numbers from zero on and so lie as
// these do, a few at a time (Knuth, The Art of Computer Programming, volume 3, section
// 5.2.5): time in proportion to their number, which comparing does not keep to.
func byRate(caps []capped) []capped {
	const (
		bits   = 11
		digits = 1 << bits
		few    = 256 // of which comparing is quicker
	)
	if len(caps) < few {
		slices.SortStableFunc(caps, func(a, b capped) int { return cmp.Compare(a.rate, b.rate) })
		return caps
	}
	other := make([]capped, len(caps))
	for shift := 0; shift < 64; shift += bits {
		var next [digits]int32
		for i := range caps {
			next[digit(caps[i].rate, shift)%digits]++
		}
		if int(next[digit(caps[0].rate, shift)%digits]) == len(caps) {
			continue // all are alike in these
		}
		at := int32(0)
		for d, n := range next {
			next[d] = at
			at += n
		}
		for i := range caps {
			d := digit(caps[i].rate, shift) % digits
			other[next[d]] = caps[i]
			next[d]++
		}
		caps, other = other, caps
	}
	return caps
}

// digit is what stands from a place on in a rate's bits; minus zero is zero.
func digit(rate float64, shift int) uint64 { return math.Float64bits(rate+0) >> shift }

// claimed is what flows claim of a resource.
type claimed struct {
	weight float64 // of a claim by one flow; 0: of some it is another
	claims int32
	pool   int32 // None: there is no claim; endless
}

// unit is the weight that a pool's numbers are in.
func (c *claimed) unit() float64 {
	if c.weight < slight || c.weight > 1/slight {
		return 1
	}
	return c.weight
}

// endless is the pool of a resource that bounds nothing.
const endless = -2

// number gives each resource that bounds flows a pool, in their order: those of one
// host or switch have numbers beside each other. It returns the claims by resource,
// and where the next row that claims a resource first begins, by resource and one;
// first of all that of rows that claim none.
func (s *sharing) number(capacity []float64, flows Flows) (of []claimed, place []int32) {
	of, place = make([]claimed, len(capacity)), make([]int32, 1+len(capacity))
	for r, c := range capacity {
		of[r].pool = None
		if c > immense {
			of[r].pool = endless
		}
	}
	limited := 0
	for i := range flows.Len() {
		count, first, size := flows.count(i), int32(None), int32(head)
		for k := flows.First[i]; k < flows.First[i+1]; k++ {
			r, w := flows.Resource[k], flows.weight(int(k))
			c := &of[r]
			if w*count == 0 || c.pool == endless {
				continue
			}
			if size++; first == None {
				first = r
			}
			if c.claims++; c.claims == 1 {
				c.weight = w
			} else if c.weight != w {
				c.weight = 0
			}
		}
		place[first+1] += size
		if count > 0 && !math.IsInf(flows.limit(i), 1) {
			limited++
		}
	}
	several := false
	s.pools, s.numbers = make([]pool, 0, len(capacity)), make([]int32, 0, len(capacity))
	for r := range of {
		if c := &of[r]; c.claims > 0 {
			c.pool = int32(len(s.pools))
			several = several || c.weight != c.unit()
			s.pools = append(s.pools, pool{left: capacity[r] / c.unit(), growing: c.claims})
			s.numbers = append(s.numbers, int32(r))
		}
	}
	s.caps = make([]capped, 0, limited)
	s.ends = append(make([]end, 0, 2+limited+len(s.pools)), end{0, ByNothing}, end{math.Inf(1), ByNothing})
	at := int32(0)
	for r, size := range place {
		place[r] = at
		at += size
	}
	s.rows, s.users, s.ended = make([]int32, at), make([]int32, int(at)-head*flows.Len()), make([]uint64, at/(64*head)+1)
	if several {
		s.weights = make([]float64, at)
	}
	return of, place
}

// enter makes the rows: by the resource that an entry claims first.
func (s *sharing) enter(flows Flows, of []claimed, place []int32) {
	for i := range flows.Len() {
		count, next := flows.count(i), &place[0]
		k, last := flows.First[i], flows.First[i+1]
		for ; k < last; k++ {
			if r := flows.Resource[k]; of[r].pool >= 0 && flows.weight(int(k))*count > 0 {
				next = &place[r+1]
				break
			}
		}
		at := *next
		to := at + head
		for ; k < last; k++ {
			c, w := &of[flows.Resource[k]], flows.weight(int(k))
			if c.pool < 0 || w*count == 0 {
				continue
			}
			s.rows[to] = c.pool
			if s.weights != nil {
				s.weights[to] = w / c.unit()
			}
			to++
		}
		*next = to
		s.rows[at], s.rows[at+1] = to-at-head, int32(i)
		switch limit := flows.limit(i); {
		case count == 0:
			s.end(at, 0)
		case !math.IsInf(limit, 1):
			s.caps = append(s.caps, capped{limit, at})
		case to == at+head:
			s.end(at, 1)
		}
	}
}

// index lists the users of every pool and adds up what they demand.
func (s *sharing) index() {
	s.from = make([]int32, len(s.pools)+1)
	next := make([]int32, len(s.pools))
	for p := range s.pools {
		next[p] = s.from[p]
		s.from[p+1] = s.from[p] + s.pools[p].growing
	}
	if s.weights != nil || s.counts != nil {
		s.demand = make([]sum, len(s.pools))
	}
	for row := int32(0); int(row) < len(s.rows); row += head + s.rows[row] {
		for k := row + head; k < row+head+s.rows[row]; k++ {
			p := s.rows[k]
			s.users[next[p]] = row
			next[p]++
			if s.demand != nil {
				s.demand[p].add(s.weight(k) * s.count(row))
			}
		}
	}
}

// count is how many flows a row is.
func (s *sharing) count(row int32) float64 {
	if s.counts == nil {
		return 1
	}
	return s.counts[s.rows[row+1]]
}

// weight is that of a claim by one flow, in the pool's unit.
func (s *sharing) weight(claim int32) float64 {
	if s.weights == nil {
		return 1
	}
	return s.weights[claim]
}

// stopped reports a row whose flows grow no more.
func (s *sharing) stopped(row int32) bool {
	bit := row / head
	return s.ended[bit>>6]>>(bit&63)&1 != 0
}

// end notes how a row has stopped.
func (s *sharing) end(row, how int32) {
	bit := row / head
	s.ended[bit>>6] |= 1 << (bit & 63)
	s.how[s.rows[row+1]] = how
}

// tooMuch is a resource whose claims add up to no number, None where all do.
func (s *sharing) tooMuch() int {
	for p := range s.pools {
		if d := s.demands(int32(p)); math.IsInf(d, 0) || math.IsNaN(d) {
			return int(s.numbers[p])
		}
	}
	return None
}

// fill lets the flows grow until each has stopped.
func (s *sharing) fill() {
	level, next, asked := 0.0, 0, 0
	for {
		full, at := s.tightest()
		for next < len(s.caps) && s.stopped(s.caps[next].row) {
			next++
		}
		if next >= asked {
			asked = min(next+ahead, len(s.caps))
			for _, c := range s.caps[next:asked] {
				s.fetch(c.row)
			}
		}
		if next < len(s.caps) && s.caps[next].rate <= at {
			level = max(level, s.caps[next].rate)
			s.ends = append(s.ends, end{s.caps[next].rate, ByCap})
			s.stop(s.caps[next].row)
			continue
		}
		if full == None {
			return
		}
		level = max(level, at)
		s.ends = append(s.ends, end{level, s.numbers[full]})
		for part := range slices.Chunk(s.users[s.from[full]:s.from[full+1]], ahead) {
			for _, row := range part {
				s.fetch(row)
			}
			for _, row := range part {
				if !s.stopped(row) {
					s.stop(row)
				}
			}
		}
	}
}

// ahead is how many rows are fetched at a time.
const ahead = 64

// fetch has the memory bring a row that is about to be stopped: of several all are waited
// for at once, where stopping one waits for it and then for the next.
func (s *sharing) fetch(row int32) {
	if !s.stopped(row) {
		s.fetched += s.rows[row]
	}
}

// stop ends a row in the last of the ends, and takes its flows off what they claim.
func (s *sharing) stop(row int32) {
	how := int32(len(s.ends) - 1)
	rate, to := s.ends[how].rate, row+head+s.rows[row]
	s.end(row, how)
	s.work += int(s.rows[row])
	if s.demand == nil {
		for _, n := range s.rows[row+head : to] {
			p := &s.pools[n]
			p.take(rate)
			p.growing--
		}
		return
	}
	count := s.count(row)
	for k := row + head; k < to; k++ {
		n, takes := s.rows[k], s.weight(k)*count
		p := &s.pools[n]
		p.take(takes * rate)
		p.growing--
		s.demand[n].add(-takes)
	}
}

// shares is what the entries got.
func (s *sharing) shares() Shares {
	all := Shares{Rate: make([]float64, len(s.how)), Binds: s.how}
	for i, how := range s.how {
		e := s.ends[how]
		all.Rate[i], all.Binds[i] = e.rate, e.by
	}
	return all
}

// fullAt is the level at which a pool that growing flows claim is full.
func (s *sharing) fullAt(p int32) float64 {
	demand := s.demands(p)
	if demand <= 0 { // rounding, of weights that are worlds apart
		demand = s.demanded(p)
	}
	return max(0, s.pools[p].left+float64(s.pools[p].rest)) / demand
}

// demands is what growing flows claim of a pool for each unit of level, in its unit.
func (s *sharing) demands(p int32) float64 {
	if s.demand == nil {
		return float64(s.pools[p].growing)
	}
	return s.demand[p].value()
}

// demanded adds up anew what growing flows claim of a pool.
func (s *sharing) demanded(p int32) float64 {
	var d sum
	last := int32(None)
	for _, row := range s.users[s.from[p]:s.from[p+1]] {
		if s.stopped(row) || row == last {
			continue
		}
		last = row
		for k := row + head; k < row+head+s.rows[row]; k++ {
			if s.rows[k] == p {
				d.add(s.weight(k) * s.count(row))
			}
		}
	}
	s.demand[p] = d
	return d.value()
}
