package corerate

import (
	"cmp"
	"slices"

	"github.com/linerate/linerate/internal/traffic/placement"
)

// idleStep is the share of a core below which a difference in how busy two
// cores are does not matter.
const idleStep = 0.05

// chooseCores picks a core for the sender and one for the receiver among those
// allowed: the idlest, and beside it one of another physical core, of the same
// memory node and cache where there is one. Busy is each core's share of time
// that is not idle. With one core allowed both are that one; with none known
// they are negative.
func chooseCores(cores []placement.Core, allowed []int, busy map[int]float64) (sender, receiver int) {
	var free []placement.Core
	for _, c := range cores {
		if slices.Contains(allowed, c.ID) {
			free = append(free, c)
		}
	}
	if len(free) == 0 {
		return -1, -1
	}
	load := func(c placement.Core) int { return int(busy[c.ID] / idleStep) }
	// The kernel's housekeeping and unspread interrupts are on the lowest
	// numbers: of equals the highest.
	first := slices.MinFunc(free, func(a, b placement.Core) int {
		return cmp.Or(cmp.Compare(load(a), load(b)), cmp.Compare(b.ID, a.ID))
	})
	if len(free) == 1 {
		return first.ID, first.ID
	}
	others := slices.DeleteFunc(slices.Clone(free), func(c placement.Core) bool { return c.ID == first.ID })
	second := slices.MinFunc(others, func(a, b placement.Core) int {
		return cmp.Or(
			order(a.Physical != first.Physical, b.Physical != first.Physical),
			order(a.Node == first.Node, b.Node == first.Node),
			cmp.Compare(load(a), load(b)),
			order(a.Cache == first.Cache, b.Cache == first.Cache),
			cmp.Compare(b.ID, a.ID))
	})
	return first.ID, second.ID
}

// order puts what holds first.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
