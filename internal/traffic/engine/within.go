package engine

import (
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// listenWithin listens on a port of the range: the one wanted where it is in
// it and free, else the first free one. All taken is agentapi.ErrPortTaken.
func listenWithin(ns netns.Namespace, bind []netip.Addr, want int, within flow.PortRange, backlog int, opts socketOptions) (listener, error) {
	return openWithin(want, within, func(port int) (listener, error) { return listen(ns, bind, port, backlog, opts) }, listener.port, listener.close)
}

// openWithin opens something on a port of the range, the one wanted first.
// Open may answer with another port than asked when that is in use: then it is
// shut again.
func openWithin[L any](want int, within flow.PortRange, open func(int) (L, error), port func(L) int, shut func(L)) (L, error) {
	var none L
	if err := checkWithin(within); err != nil {
		return none, err
	}
	for _, p := range candidates(want, within) {
		l, err := open(p)
		if err != nil {
			return none, err
		}
		if port(l) == p {
			return l, nil
		}
		shut(l)
	}
	if within.Count() == 1 {
		return none, fmt.Errorf("listen: port %v, the only one allowed, is in use (%w)", within, agentapi.ErrPortTaken)
	}
	return none, fmt.Errorf("listen: all %d ports of %v are in use (%w)", within.Count(), within, agentapi.ErrPortTaken)
}

// checkWithin refuses a range that holds no port, or the one that is the
// kernel's choice.
func checkWithin(r flow.PortRange) error {
	if r.First == 0 || r.First > r.Last {
		return fmt.Errorf("listen within ports %v: want ports from 1 to 65535, the lowest first", r)
	}
	return nil
}

// candidates are the ports of a range in the order to try them.
func candidates(want int, within flow.PortRange) []int {
	ports := make([]int, 0, within.Count())
	if want > 0 && want <= int(within.Last) && within.Contains(uint16(want)) {
		ports = append(ports, want)
	}
	for p := int(within.First); p <= int(within.Last); p++ {
		if p != want {
			ports = append(ports, p)
		}
	}
	return ports
}
