package sockdiag

import (
	"errors"
	"fmt"
	"syscall"
)

// Connections lists the TCP connections of the calling thread's network
// namespace, IPv4 and IPv6, with what the kernel knows of each. It needs no
// privilege. A kernel without the interface is errors.ErrUnsupported: there is
// no other way to see into other programs' sockets.
func Connections() ([]Detail, error) { return ConnectionsAt(0, 0) }

// ConnectionsAt are the Connections whose own port is sport and whose peer's is
// dport, as the kernel picks them out; zero is any.
func ConnectionsAt(sport, dport uint16) ([]Detail, error) {
	var all []Detail
	for _, family := range [...]uint8{familyIPv4, familyIPv6} {
		messages, err := ask(detailRequest(family, sport, dport))
		switch {
		case family == familyIPv6 && errors.Is(err, syscall.ENOENT):
			continue // a kernel without IPv6 has none of its sockets
		case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EPROTONOSUPPORT):
			return nil, fmt.Errorf("list connections: %w: %w", errors.ErrUnsupported, err)
		case err != nil:
			return nil, fmt.Errorf("list connections: %w", err)
		}
		for _, m := range messages {
			d, err := parseDetail(m)
			if err != nil {
				return nil, fmt.Errorf("list connections: %w", err)
			}
			all = append(all, d)
		}
	}
	return all, nil
}
