package steer

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/flow"
)

// Bounds of the search: addresses looked at on a side, and steps of one
// search for a choice that is even on every side.
const (
	mostAddresses     = 8192
	mostAddressPairs  = 96 // a side, where both vary
	mostAddressSteps  = 200_000
	leastSubnetV4Bits = 30 // from here up a subnet has no network and broadcast address
)

// candidates lists the lanes that may be used, smallest addresses first and
// the existing one before all, out of the first depth addresses; all reports
// that there are no more.
func (req AddressRequest) candidates(depth int) (pool []flow.Lane, all bool) {
	limit := mostAddresses
	if req.Side == SideBoth {
		limit = mostAddressPairs
	}
	free, all := req.Free(min(depth, limit))
	all = all || depth >= limit
	if req.Src.IsValid() && req.Dst.IsValid() {
		pool = append(pool, flow.Lane{Src: req.Src, Dst: req.Dst})
	}
	switch req.Side {
	case SideFar:
		for _, a := range free {
			pool = append(pool, flow.Lane{Src: req.Src, Dst: a})
		}
	case SideNear:
		for _, a := range free {
			pool = append(pool, flow.Lane{Src: a, Dst: req.Dst})
		}
	case SideBoth:
		for high := range free {
			for low := range high {
				pool = append(pool, flow.Lane{Src: free[low], Dst: free[high]}, flow.Lane{Src: free[high], Dst: free[low]})
			}
		}
	}
	return pool, all
}

// Free lists the first n addresses of the subnet that nobody has.
func (req AddressRequest) Free(n int) (free []netip.Addr, all bool) {
	taken := map[netip.Addr]bool{req.Src: true, req.Dst: true}
	for _, a := range req.Avoid {
		taken[a.Unmap()] = true
	}
	first := req.Subnet.Addr()
	ends := req.Subnet.Bits() <= leastSubnetV4Bits
	if Is6(first) {
		ends = req.Subnet.Bits() < 127 // RFC 4291: the first is every router's
	}
	for a := first; a.IsValid() && req.Subnet.Contains(a); a = a.Next() {
		if taken[a] || ends && a == first || ends && !Is6(a) && !req.Subnet.Contains(a.Next()) {
			continue
		}
		if len(free) == n {
			return free, false
		}
		free = append(free, a)
	}
	return free, true
}

// choose picks lanes that are even in every reading of every view; where that
// cannot be had it gives up views from the last. Complete says that no view
// that addresses can help was given up.
func (req AddressRequest) choose(pool []flow.Lane, views []view) (chosen []int, complete bool) {
	var useful, able []view
	for _, v := range views {
		if v.links < 2 || len(v.readings) == 0 || !v.s.Reach().Addresses {
			continue
		}
		useful = append(useful, v)
		if v.able(req.Lanes) {
			able = append(able, v)
		}
	}
	for n := len(able); n > 0; n-- {
		if chosen = req.search(pool, able[:n]); chosen != nil {
			return chosen, n == len(useful)
		}
	}
	for _, v := range able { // one side in its likeliest reading
		v.readings = v.readings[:1]
		if chosen = req.search(pool, []view{v}); chosen != nil {
			return chosen, false
		}
	}
	if len(useful) == 0 {
		return req.leastUsed(pool, nil), true
	}
	return req.leastUsed(pool, useful[0].readings[0]), false
}

// able reports that every reading has members enough for an even choice.
func (v view) able(lanes int) bool {
	return !slices.ContainsFunc(v.readings, func(part []int) bool { return !plenty(part, v.classes(), lanes) })
}

// constraint is one reading with what is used of it so far.
type constraint struct {
	part      []int
	count     []int
	low, high int // what a class may have, and how many may have one more
	above     int
}

func newConstraint(part []int, classes, lanes int) *constraint {
	return &constraint{part: part, count: make([]int, classes), low: lanes / classes, high: lanes % classes}
}

// fits reports whether candidate i leaves an even end possible.
func (c *constraint) fits(i int) bool {
	n := c.count[c.part[i]]
	return n < c.low || n == c.low && c.above < c.high
}

func (c *constraint) add(i, by int) {
	n := &c.count[c.part[i]]
	if by > 0 && *n == c.low {
		c.above++
	}
	*n += by
	if by < 0 && *n == c.low {
		c.above--
	}
}

// search looks for the first choice, in the order of the pool, that is even in
// all readings; nil when there is none or it is too far to find.
func (req AddressRequest) search(pool []flow.Lane, views []view) []int {
	s := seeker{req: req, pool: pool, steps: mostAddressSteps}
	for _, v := range views {
		for _, part := range v.readings {
			s.all = append(s.all, newConstraint(part, v.classes(), req.Lanes))
		}
	}
	s.cells = cells(s.all, len(pool))
	first := 0
	if req.Src.IsValid() && req.Dst.IsValid() {
		s.take(0, 1)
		first = 1
	}
	if s.from(first) {
		return s.chosen
	}
	return nil
}

// plenty reports that a reading has members enough for an even choice at all.
func plenty(part []int, classes, lanes int) bool {
	size := map[int]int{}
	for _, c := range part {
		size[c]++
	}
	low, high := lanes/classes, lanes%classes
	full := 0
	for _, n := range size {
		if n < low {
			return false
		}
		if n > low {
			full++
		}
	}
	return (low == 0 || len(size) == classes) && full >= high
}

// cells numbers candidates so that equal numbers mean the same class in every
// reading.
func cells(all []*constraint, n int) []int {
	number := map[string]int{}
	out := make([]int, n)
	key := make([]byte, 0, 2*len(all))
	for i := range n {
		key = key[:0]
		for _, c := range all {
			key = append(key, byte(c.part[i]), byte(c.part[i]>>8))
		}
		cell, seen := number[string(key)]
		if !seen {
			cell = len(number)
			number[string(key)] = cell
		}
		out[i] = cell
	}
	return out
}

// seeker is one depth-first search.
type seeker struct {
	req    AddressRequest
	pool   []flow.Lane
	all    []*constraint
	cells  []int
	chosen []int
	steps  int
}

// from extends the choice with candidates from index first on.
func (s *seeker) from(first int) bool {
	if len(s.chosen) == s.req.Lanes {
		return true
	}
	var failed []int // cells that led nowhere from here
	for i := first; i < len(s.pool) && s.steps > 0; i++ {
		s.steps--
		if s.req.Side != SideBoth && slices.Contains(failed, s.cells[i]) || !s.fits(i) {
			continue
		}
		s.take(i, 1)
		if s.from(i + 1) {
			return true
		}
		s.take(i, -1)
		failed = append(failed, s.cells[i])
	}
	return false
}

func (s *seeker) fits(i int) bool {
	for _, c := range s.all {
		if !c.fits(i) {
			return false
		}
	}
	return s.req.Side != SideBoth || disjoint(s.pool, s.chosen, i)
}

func (s *seeker) take(i, by int) {
	for _, c := range s.all {
		c.add(i, by)
	}
	if by > 0 {
		s.chosen = append(s.chosen, i)
	} else {
		s.chosen = s.chosen[:len(s.chosen)-1]
	}
}

// disjoint reports that lane i has no address of a chosen one.
func disjoint(pool []flow.Lane, chosen []int, i int) bool {
	for _, c := range chosen {
		a, b := pool[c], pool[i]
		if a.Src == b.Src || a.Dst == b.Dst || a.Src == b.Dst || a.Dst == b.Src {
			return false
		}
	}
	return true
}

// leastUsed takes each next lane from the class that has fewest, smallest
// addresses first; without a reading simply the smallest.
func (req AddressRequest) leastUsed(pool []flow.Lane, part []int) []int {
	var chosen []int
	used := make([]bool, len(pool))
	count := map[int]int{}
	for len(chosen) < req.Lanes {
		best, least := -1, 0
		for i := range pool {
			if used[i] || req.Side == SideBoth && !disjoint(pool, chosen, i) {
				continue
			}
			n := 0
			if part != nil {
				n = count[part[i]]
			}
			if best < 0 || n < least {
				best, least = i, n
			}
			if least == 0 {
				break
			}
		}
		if best < 0 {
			break
		}
		used[best] = true
		chosen = append(chosen, best)
		if part != nil {
			count[part[best]]++
		}
	}
	slices.Sort(chosen)
	return chosen
}
