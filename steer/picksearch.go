package steer

import (
	"github.com/linerate/linerate/flow"
)

// mostSides is how many sides a request can have. Both directions and the switches
// at both ends are four hashes of one flow, and those between switches are four more.
// For two sides the search is exact; for
// more that is too dear, and sets that cannot be even on all exist: a bounded
// random walk from a striped start, always the same one, is taken.
const mostSides = 4 + MostBetween

// links is a class on each side.
type links [mostSides]int32

// cell is the candidates that lead to the same links on all sides: source
// ports ascending, by variant.
type cell struct {
	links links
	ports [][]uint16
}

// variant is what a stream has besides its source port.
type variant struct {
	lane  flow.Lane
	dport uint16
	group int // of the ports taken: streams of one group share no source port
	// hashes are what the bonds among the sides make of its source ports; nil elsewhere.
	hashes [mostSides]*PortHash
}

// search looks for the streams of one request.
type search struct {
	req      PickRequest
	sides    []side
	variants []variant
	useful   bool // other ports could change a placement
	barred   portSet
	used     map[flow.Tuple]bool
}

// newSearch prepares a search. With repeats a source port may serve one
// stream for each destination port.
func newSearch(req PickRequest, repeats bool) *search {
	s := &search{req: req, sides: req.sides(), used: make(map[flow.Tuple]bool, len(req.Used))}
	for i, dport := range req.Dports {
		for _, lane := range req.Lanes {
			v := variant{lane: lane, dport: dport}
			if repeats {
				v.group = i
			}
			for n, side := range s.sides {
				v.hashes[n] = side.byPort(req.frame(side, lane, 0, dport))
			}
			s.variants = append(s.variants, v)
		}
	}
	for _, side := range s.sides {
		s.useful = s.useful || side.portsHelp()
	}
	for _, p := range req.Avoid {
		s.barred.add(p)
	}
	for _, r := range req.AvoidRanges {
		for p := int(r.First); p <= int(r.Last); p++ {
			s.barred.add(uint16(p))
		}
	}
	for _, t := range req.Used {
		s.used[t] = true
	}
	return s
}

// run looks through ever more source ports until the streams are even or
// there are no more.
func (s *search) run() (Picked, error) {
	for depth := s.firstDepth(); ; depth *= 8 {
		c, all := s.gather(depth)
		if s.useful && !all && !c.ample(s.req.Streams) {
			continue // later ports may reach a link that these leave out
		}
		streams := s.choose(c)
		if len(streams) < s.req.Streams {
			if all {
				return Picked{}, s.req.tooFew()
			}
			continue
		}
		if p := s.judge(streams); p.Even || all || !s.useful {
			return p, nil
		}
	}
}

// firstDepth is how many source ports to begin with: several for each stream
// and for each combination of links.
func (s *search) firstDepth() int {
	cells := 1
	for _, side := range s.sides {
		cells = min(cells*side.classes(), 1<<16)
	}
	return max(1024, 4*s.req.Streams, 4*cells)
}

// portSet is a set of ports.
type portSet [1 << 16 / 64]uint64

func (s *portSet) add(p uint16)      { s[p/64] |= 1 << (p % 64) }
func (s *portSet) has(p uint16) bool { return s[p/64]>>(p%64)&1 != 0 }

// candidates are the source ports that may be chosen, by the links they lead
// to.
type candidates struct {
	classes  []int // of each side
	variants []variant
	cells    []cell
	near     [][]int // cells by near link, in the order found
	taken    []portSet
}

func (s *search) newCandidates() *candidates {
	c := &candidates{variants: s.variants}
	for _, side := range s.sides {
		c.classes = append(c.classes, side.classes())
	}
	c.near = make([][]int, c.classes[0])
	c.taken = make([]portSet, s.variants[len(s.variants)-1].group+1)
	return c
}

// gather sorts the first depth source ports into cells; all tells that the
// range has no more.
func (s *search) gather(depth int) (c *candidates, all bool) {
	c = s.newCandidates()
	at := make(map[links]int)
	last := min(int(s.req.LastPort), int(s.req.FirstPort)+depth-1)
	for port := int(s.req.FirstPort); port <= last; port++ {
		if s.barred.has(uint16(port)) {
			continue
		}
		for i := range s.variants {
			l, ok := s.linksOf(&s.variants[i], uint16(port))
			if !ok {
				continue
			}
			n, seen := at[l]
			if !seen {
				n = len(c.cells)
				at[l] = n
				c.cells = append(c.cells, cell{links: l, ports: make([][]uint16, len(s.variants))})
				c.near[l[0]] = append(c.near[l[0]], n)
			}
			c.cells[n].ports[i] = append(c.cells[n].ports[i], uint16(port))
		}
	}
	return c, last == int(s.req.LastPort)
}

// linksOf is where a flow goes on each side; not ok when it exists already or
// a side that computes others cannot tell.
func (s *search) linksOf(v *variant, sport uint16) (l links, ok bool) {
	for i := range s.sides {
		side := &s.sides[i]
		if v.hashes[i] != nil && (i > 0 || len(s.used) == 0) {
			l[i] = int32(v.hashes[i].Hash(sport) % uint32(len(side.bundle.Ports)))
			continue
		}
		f := s.req.frame(*side, v.lane, sport, v.dport)
		if i == 0 && len(s.used) > 0 && s.used[f.Tuple] {
			return l, false
		}
		class := side.class(f)
		if class < 0 {
			return l, false
		}
		l[i] = int32(class)
	}
	return l, true
}

// ample reports whether no choice made for other links can leave a near link
// short of ports. Variants take each other's: then one of them alone must
// have a port for each stream.
func (c *candidates) ample(streams int) bool {
	need := streams/len(c.near) + 1
	if len(c.variants) > 1 {
		need = streams
	}
	count := make([]int, len(c.variants))
	for _, cells := range c.near {
		clear(count)
		most := 0
		for _, n := range cells {
			for v, ports := range c.cells[n].ports {
				count[v] += len(ports)
				most = max(most, count[v])
			}
		}
		if most < need {
			return false
		}
	}
	return true
}

// supply is how many ports a cell has left, over all variants.
func (c *candidates) supply(n int) int {
	total := 0
	for _, ports := range c.cells[n].ports {
		total += len(ports)
	}
	return total
}

// next returns the lowest free port of a cell's variant; zero when it has
// none left.
func (c *candidates) next(n, v int) uint16 {
	taken, ports := &c.taken[c.variants[v].group], &c.cells[n].ports[v]
	for len(*ports) > 0 && taken.has((*ports)[0]) {
		*ports = (*ports)[1:]
	}
	if len(*ports) == 0 {
		return 0
	}
	return (*ports)[0]
}

// offers reports whether any variant still has a port for the cell.
func (c *candidates) offers(n int) bool {
	for v := range c.variants {
		if c.next(n, v) != 0 {
			return true
		}
	}
	return false
}

// choose takes the streams' ports: it settles how many streams each cell gets
// and emits them in an order whose every prefix is even. Fewer streams than
// asked for: the ports ran out.
func (s *search) choose(c *candidates) []Stream {
	streams := make([]Stream, 0, s.req.Streams)
	plan := c.settle(s.req.Streams)
	use, turns := newUsage(c.classes), make([]int, len(c.variants))
	for _, a := range plan.order {
		n := c.pick(a, plan.counts, use)
		if n < 0 {
			break
		}
		plan.counts[n]--
		use.add(c.cells[n].links, 1)
		v, port := c.take(n, turns)
		turns[v]++
		streams = append(streams, s.stream(c.variants[v], port, c.cells[n].links))
	}
	return streams
}

// pick is the cell of the next stream: one of near link a, that the plan still
// wants, and whose links carry least. In a tight range variants take each
// other's ports: then the least used near link that has some. -1 when all are
// taken.
func (c *candidates) pick(a int, wanted []int, use usage) int {
	best := -1
	for _, n := range c.near[a] {
		if c.offers(n) && (best < 0 || better(wanted[n] > 0, wanted[best] > 0, use.rest(c.cells[n].links), use.rest(c.cells[best].links))) {
			best = n
		}
	}
	if best >= 0 {
		return best
	}
	for n := range c.cells {
		if c.offers(n) && (best < 0 || use.on(0, c.cells[n].links) < use.on(0, c.cells[best].links)) {
			best = n
		}
	}
	return best
}

// better prefers what is wanted, then the smaller load.
func better(wanted, bestWanted bool, load, bestLoad int) bool {
	if wanted != bestWanted {
		return wanted
	}
	return load < bestLoad
}

// take claims the lowest port of a cell on the variant that carries least.
func (c *candidates) take(n int, turns []int) (v int, port uint16) {
	v = -1
	for i := range c.variants {
		if p := c.next(n, i); p != 0 && (v < 0 || turns[i] < turns[v]) {
			v, port = i, p
		}
	}
	c.taken[c.variants[v].group].add(port)
	return v, port
}

func (s *search) stream(v variant, sport uint16, l links) Stream {
	st := Stream{Lane: v.lane, Sport: sport, Dport: v.dport, FarLink: -1, BackLink: -1, BackFarLink: -1}
	for i := range st.BetweenLinks {
		st.BetweenLinks[i] = -1
	}
	for i, side := range s.sides {
		f := s.req.frame(side, v.lane, sport, v.dport)
		*st.linkOn(side) = side.link(f, int(l[i]))
	}
	return st
}
