package socket

import (
	"net/netip"
	"slices"
	"sync"
)

// Gate bounds how many connections wait to say what they are, in all and of
// one address. For one more, the oldest goes: a flood pushes itself out, and a
// client that speaks at once is heard even while one comes.
type Gate struct {
	inAll, ofOne int

	mu      sync.Mutex
	waiting []*Stranger // the oldest first
	by      map[netip.Addr]int
	closed  bool
}

// Stranger is a connection that has not said what it is.
type Stranger struct {
	from netip.Addr
	cut  func() // ends the wait
}

// NewGate lets so many wait, and so many of them of one address.
func NewGate(inAll, ofOne int) *Gate {
	return &Gate{inAll: inAll, ofOne: ofOne, by: make(map[netip.Addr]int)}
}

// Enter lets a connection wait until Leave, or until it is cut.
func (g *Gate) Enter(from netip.Addr, cut func()) *Stranger {
	s := &Stranger{from, cut}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		cut()
		return s
	}
	switch {
	case g.by[from] >= g.ofOne:
		g.push(slices.IndexFunc(g.waiting, func(o *Stranger) bool { return o.from == from }))
	case len(g.waiting) >= g.inAll:
		g.push(0)
	}
	g.waiting = append(g.waiting, s)
	g.by[from]++
	return s
}

func (g *Gate) push(i int) {
	g.waiting[i].cut()
	g.remove(i)
}

func (g *Gate) remove(i int) {
	from := g.waiting[i].from
	g.waiting = slices.Delete(g.waiting, i, i+1)
	if g.by[from]--; g.by[from] == 0 {
		delete(g.by, from)
	}
}

// Shut cuts all who wait, and whoever comes from now on.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for len(g.waiting) > 0 {
		g.push(len(g.waiting) - 1)
	}
}

// Leave ends a wait; of one that was cut it does nothing.
func (g *Gate) Leave(s *Stranger) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, s); i >= 0 {
		g.remove(i)
	}
}
