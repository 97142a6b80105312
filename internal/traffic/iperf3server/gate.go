package iperf3server

import (
	"net/netip"
	"slices"
	"sync"
)

// gate bounds how many connections wait to say what they are, in all and of
// one address. For one more, the oldest goes: a flood pushes itself out, and a
// client that speaks at once is heard even while one comes.
type gate struct {
	inAll, ofOne int

	mu      sync.Mutex
	waiting []*stranger // the oldest first
	by      map[netip.Addr]int
	closed  bool
}

// stranger is a connection that has not said what it is.
type stranger struct {
	from netip.Addr
	cut  func() // ends the wait
}

func newGate(inAll, ofOne int) *gate {
	return &gate{inAll: inAll, ofOne: ofOne, by: make(map[netip.Addr]int)}
}

// enter lets a connection wait until leave, or until it is cut.
func (g *gate) enter(from netip.Addr, cut func()) *stranger {
	s := &stranger{from, cut}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		cut()
		return s
	}
	switch {
	case g.by[from] >= g.ofOne:
		g.push(slices.IndexFunc(g.waiting, func(o *stranger) bool { return o.from == from }))
	case len(g.waiting) >= g.inAll:
		g.push(0)
	}
	g.waiting = append(g.waiting, s)
	g.by[from]++
	return s
}

func (g *gate) push(i int) {
	g.waiting[i].cut()
	g.remove(i)
}

func (g *gate) remove(i int) {
	from := g.waiting[i].from
	g.waiting = slices.Delete(g.waiting, i, i+1)
	if g.by[from]--; g.by[from] == 0 {
		delete(g.by, from)
	}
}

// shut cuts all who wait, and whoever comes from now on.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for len(g.waiting) > 0 {
		g.push(len(g.waiting) - 1)
	}
}

// leave ends a wait; of one that was cut it does nothing.
func (g *gate) leave(s *stranger) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, s); i >= 0 {
		g.remove(i)
	}
}
