package iperf3client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// ErrName is a host name that has no address.
var ErrName = errors.New("unknown host")

// Resolve is a host's addresses, those of IPv4 first; a literal address is
// itself. A name that has none is ErrName.
func Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return nil, fmt.Errorf("%w: %s", ErrName, host)
	case err != nil:
		return nil, fmt.Errorf("resolve %s: %w", host, err)
	}
	var four, six []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); a.Is4() {
			four = append(four, a)
		} else {
			six = append(six, a)
		}
	}
	return append(four, six...), nil
}
