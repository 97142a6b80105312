package act

import (
	"errors"
	"fmt"
	"slices"

	"github.com/linerate/linerate/internal/kernel/rtnl"
)

// forgetsNone is errors.ErrUnsupported where somebody gave the link, or a VLAN on it,
// a neighbour for good: the kernel forgets those too with a link that goes down
// (neigh_ifdown) or gets another hardware address (neigh_changeaddr), and a plan could
// not roll that back.
func (l link) forgetsNone() error {
	names := []string{l.name}
	all, err := allLinks()
	if err != nil {
		return err
	}
	for on := []int{l.index}; len(on) > 0; on = on[1:] {
		for _, o := range all {
			if o.parent == on[0] && o.kind == "vlan" && !slices.Contains(names, o.name) {
				names, on = append(names, o.name), append(on, o.index)
			}
		}
	}
	return permanent(names, func(rtnl.Neighbour) bool { return true })
}

// forgetsNoIPv4 is the same for the link's last IPv4 address, with which its IPv4
// neighbours go (fib_disable_ip).
func (l link) forgetsNoIPv4() error {
	return permanent([]string{l.name}, func(n rtnl.Neighbour) bool { return n.Addr.Unmap().Is4() })
}

func permanent(links []string, counts func(rtnl.Neighbour) bool) error {
	h, err := rtnl.Open()
	if err != nil {
		return err
	}
	defer h.Close()
	all, err := h.Neighbours()
	if err != nil {
		return err
	}
	for _, n := range all {
		if n.State&rtnl.NeighbourPermanent != 0 && slices.Contains(links, n.Link) && counts(n) {
			return fmt.Errorf("the kernel would forget the permanent neighbour %s of %s, and no rollback brings it back: delete it first (ip neigh del), and add it again after the change: %w", n.Addr, n.Link, errors.ErrUnsupported)
		}
	}
	return nil
}
