package predict

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/routing"
)

// Lanes returns the pairs of addresses that traffic between two hosts may
// use: those that routes to single addresses name, then the addresses of
// common subnets paired in order (k aliases: k lanes, even when the other
// side has fewer), and where the hosts share no subnet the addresses that
// routes lead to. Family is "ipv4", "ipv6", or "" for what the path names, else
// IPv4 where both ends have it and else IPv6. Errors: ErrUnknownHost, ErrNoLane.
func Lanes(f Fabric, from, to, family string) ([]flow.Lane, error) {
	a, ok := f.Hosts[from]
	b, okB := f.Hosts[to]
	if !ok || !okB {
		return nil, fmt.Errorf("lanes from %s to %s: %w", from, to, ErrUnknownHost)
	}
	if family == "" {
		family = f.family(from, to)
	}
	families := []bool{false, true}
	switch family {
	case "ipv4":
		families = families[:1]
	case "ipv6":
		families = families[1:]
	}
	for _, v6 := range families {
		if lanes := routing.Lanes(a, b, v6); len(lanes) > 0 {
			return lanes, nil
		}
	}
	return nil, noLane(a, b, from, to)
}

// noLane says which links would join the hosts if they were used.
func noLane(a, b netstate.Host, from, to string) error {
	err := fmt.Errorf("lanes from %s to %s: %w", from, to, ErrNoLane)
	a.Name, b.Name = from, to
	far, near := a.AllUsed(), b.AllUsed()
	if len(routing.Lanes(far, near, false))+len(routing.Lanes(far, near, true)) == 0 {
		return err
	}
	if lines := fabric.LeftOut([]netstate.Host{a, b}); len(lines) > 0 {
		return fmt.Errorf("%w in use (%s)", err, strings.Join(lines, "; "))
	}
	return fmt.Errorf("%w in use: what joins them is not named in the file", err)
}
