// Package placement chooses the cores that the threads of streams are kept on:
// near the card's memory and interrupts, and out of the interrupts' way. Where
// that is not certain to help it chooses none, and says why: the scheduler
// moves a thread away from a core that fills, a pinned thread stays.
package placement

import (
	"cmp"
	"fmt"
	"slices"
)

// Core is one processor as the kernel numbers them.
type Core struct {
	ID   int
	Node int // of memory
	// Cache tells the cores apart that share a last-level cache, Physical
	// those that are threads of one physical core.
	Cache, Physical int
}

// Link is a device that streams use.
type Link struct {
	Name string
	Node int // of memory it is attached to; negative unknown
	// Interrupts are the cores that serve its interrupts; empty for a device
	// that has none, such as a veth.
	Interrupts []int
}

// Request is what to choose for.
type Request struct {
	Cores   []Core
	Allowed []int // cores that the process may run on
	Links   []Link
	Streams int
}

// Choice is a core for each stream; none, with the reason.
type Choice struct {
	Cores []int
	Why   string
}

// Choose puts each stream's thread on a physical core of its own. The rules:
//
//   - A card's packets lie in the memory of its node: cores of other nodes
//     reach them over the link between the sockets.
//   - The core that serves a card's interrupt runs the kernel's whole receive
//     path in it; a thread that copies the same packets beside it, on that core
//     or its hyperthread, takes half of it away.
//   - A core that shares the last-level cache with the one that served the
//     interrupt finds the packets there.
//   - With fewer such cores than streams, or interrupts on every core of the
//     node, no choice is better than the scheduler's.
//   - Links on several nodes: which stream takes which link is the hash's
//     business, so no core is near.
func Choose(r Request) Choice {
	if len(r.Links) == 0 || r.Streams <= 0 {
		return Choice{Why: "no link is known to be near"}
	}
	byID := make(map[int]Core, len(r.Cores))
	for _, c := range r.Cores {
		byID[c.ID] = c
	}
	node, busy, cached := -1, make(map[int]bool), make(map[int]bool) // physical cores, caches
	for _, l := range r.Links {
		if len(l.Interrupts) == 0 {
			return Choice{Why: l.Name + " has no interrupts of its own"}
		}
		near := l.Node
		for _, id := range l.Interrupts {
			c, known := byID[id]
			if !known {
				return Choice{Why: fmt.Sprintf("core %d, which serves %s, is not known", id, l.Name)}
			}
			busy[c.Physical], cached[c.Cache] = true, true
			if near < 0 {
				near = c.Node
			}
		}
		if node >= 0 && near != node {
			return Choice{Why: fmt.Sprintf("links are attached to memory nodes %d and %d", node, near)}
		}
		node = near
	}
	free := freeCores(r, node, busy)
	if len(free) < r.Streams {
		return Choice{Why: fmt.Sprintf("memory node %d has %d cores that serve no interrupt of the links, fewer than streams", node, len(free))}
	}
	slices.SortStableFunc(free, func(a, b Core) int {
		return cmp.Or(cmp.Compare(rank(cached[a.Cache]), rank(cached[b.Cache])), cmp.Compare(a.ID, b.ID))
	})
	out := Choice{Why: fmt.Sprintf("memory node %d, beside the cores that serve the links' interrupts", node)}
	for _, c := range free[:r.Streams] {
		out.Cores = append(out.Cores, c.ID)
	}
	return out
}

func rank(near bool) int {
	if near {
		return 0
	}
	return 1
}

// freeCores is one core, the lowest, of each physical core of the node that
// the process may use and that serves no interrupt.
func freeCores(r Request, node int, busy map[int]bool) []Core {
	cores := slices.SortedFunc(slices.Values(r.Cores), func(a, b Core) int { return cmp.Compare(a.ID, b.ID) })
	taken := make(map[int]bool)
	var free []Core
	for _, c := range cores {
		if c.Node != node || busy[c.Physical] || taken[c.Physical] || !slices.Contains(r.Allowed, c.ID) {
			continue
		}
		taken[c.Physical] = true
		free = append(free, c)
	}
	return free
}
