package steer

import (
	"fmt"

	"github.com/linerate/linerate/flow"
)

// candidates are the source ports that may be chosen, by the links they lead
// to on both sides and by lane, ascending. A side whose placement cannot be
// computed has one class for all.
type candidates struct {
	near, far, lanes int
	ports            [][]uint16 // by cell
	taken            [1 << 16]bool
}

func (c *candidates) cell(near, far, lane int) int { return (near*c.far+far)*c.lanes + lane }

// next returns the lowest free port of a cell; zero when it has none left.
func (c *candidates) next(near, far, lane int) uint16 {
	i := c.cell(near, far, lane)
	for len(c.ports[i]) > 0 && c.taken[c.ports[i][0]] {
		c.ports[i] = c.ports[i][1:]
	}
	if len(c.ports[i]) == 0 {
		return 0
	}
	return c.ports[i][0]
}

// offers reports whether any lane still has a port for the two links.
func (c *candidates) offers(near, far int) bool {
	for lane := range c.lanes {
		if c.next(near, far, lane) != 0 {
			return true
		}
	}
	return false
}

// supply is how many ports a pair of links has left, over all lanes.
func (c *candidates) supply(near, far int) int {
	n := 0
	for lane := range c.lanes {
		n += len(c.ports[c.cell(near, far, lane)])
	}
	return n
}

// ample reports whether every near link has, on one lane at least, a port for
// each stream, so that no choice made for other links can leave it short.
func (c *candidates) ample(streams int) bool {
	for near := range c.near {
		most := 0
		for lane := range c.lanes {
			n := 0
			for far := range c.far {
				n += len(c.ports[c.cell(near, far, lane)])
			}
			most = max(most, n)
		}
		if most < streams {
			return false
		}
	}
	return true
}

// class is a side's class of frames: the link in the likeliest world, or 0
// where the side cannot be computed.
type class struct {
	b        Bundle
	computed bool
}

func (req PickRequest) classes() (near, far class) {
	lone := req.frame(req.Lanes[0], req.FirstPort)
	near = newClass(req.Bundle, req.Lanes, lone)
	if req.Far != nil {
		far = newClass(*req.Far, req.Lanes, lone)
	}
	return near, far
}

func newClass(b Bundle, lanes []flow.Lane, f flow.Frame) class {
	if !b.hashes() {
		return class{b: b}
	}
	for _, l := range lanes {
		f.Src, f.Dst = l.Src, l.Dst
		if b.hasher(b.Era).unknowable(f) != "" {
			return class{b: b}
		}
	}
	return class{b: b, computed: true}
}

func (c class) count() int {
	if c.computed {
		return len(c.b.Ports)
	}
	return 1
}

func (c class) of(f flow.Frame) int {
	if c.computed {
		return int(c.b.sumIn(f, world{era: c.b.Era}) % uint32(len(c.b.Ports)))
	}
	return 0
}

// link is what a stream of the class reports: the link, -1 when unknown.
func (c class) link(f flow.Frame, number int) int {
	switch {
	case c.computed:
		return number
	case len(c.b.Ports) > 0:
		return c.b.Place(f).Index
	}
	return -1
}

// gather sorts the first depth source ports into candidates; all tells that
// the range has no more.
func (req PickRequest) gather(near, far class, depth int) (c *candidates, all bool) {
	c = &candidates{near: near.count(), far: far.count(), lanes: len(req.Lanes)}
	c.ports = make([][]uint16, c.near*c.far*c.lanes)
	for _, p := range req.Avoid {
		c.taken[p] = true
	}
	used := make(map[flow.Tuple]bool, len(req.Used))
	for _, t := range req.Used {
		used[t] = true
	}
	last := min(int(req.LastPort), int(req.FirstPort)+depth-1)
	for port := int(req.FirstPort); port <= last; port++ {
		if c.taken[port] {
			continue
		}
		for i, lane := range req.Lanes {
			f := req.frame(lane, uint16(port))
			if used[f.Tuple] {
				continue
			}
			cell := c.cell(near.of(f), far.of(f), i)
			c.ports[cell] = append(c.ports[cell], uint16(port))
		}
	}
	return c, last == int(req.LastPort)
}

// choose takes the streams' ports. It settles how many streams each pair of
// links gets, then emits them in an order whose every prefix is even.
func (req PickRequest) choose(c *candidates, near, far class) ([]Stream, error) {
	var streams []Stream
	plan := c.settle(req.Streams)
	nearUse, farUse, laneUse := make([]int, c.near), make([]int, c.far), make([]int, c.lanes)
	for _, a := range plan.order {
		if a = c.withPorts(a, nearUse); a < 0 {
			break
		}
		z, lane, port := c.take(a, plan.cells[a], farUse, laneUse)
		plan.cells[a][z]--
		nearUse[a]++
		farUse[z]++
		laneUse[lane]++
		f := req.frame(req.Lanes[lane], port)
		s := Stream{Lane: req.Lanes[lane], Sport: port, Link: near.link(f, a), FarLink: -1}
		if req.Far != nil {
			s.FarLink = far.link(f, z)
		}
		streams = append(streams, s)
	}
	if len(streams) < req.Streams {
		return nil, fmt.Errorf("%d streams, ports %d to %d: %w", req.Streams, req.FirstPort, req.LastPort, ErrTooFewPorts)
	}
	return streams, nil
}

// withPorts is near link a while it has ports left, else the least used one
// that has: in a tight range lanes take each other's ports. -1 when all are
// taken.
func (c *candidates) withPorts(a int, use []int) int {
	has := func(a int) bool {
		for z := range c.far {
			if c.offers(a, z) {
				return true
			}
		}
		return false
	}
	if has(a) {
		return a
	}
	best := -1
	for other := range c.near {
		if has(other) && (best < 0 || use[other] < use[best]) {
			best = other
		}
	}
	return best
}

// take claims a port that leads to near link a, which has one: on the far link
// that the plan still wants and that carries least, on the lane that carries
// least.
func (c *candidates) take(a int, wanted, farUse, laneUse []int) (far, lane int, port uint16) {
	far = -1
	for z := range c.far {
		if !c.offers(a, z) {
			continue
		}
		better := far < 0 || (wanted[z] > 0) != (wanted[far] > 0) && wanted[z] > 0 ||
			(wanted[z] > 0) == (wanted[far] > 0) && farUse[z] < farUse[far]
		if better {
			far = z
		}
	}
	lane = -1
	for i := range c.lanes {
		if p := c.next(a, far, i); p != 0 && (lane < 0 || laneUse[i] < laneUse[lane]) {
			lane, port = i, p
		}
	}
	c.taken[port] = true
	return far, lane, port
}
