package socket

import "net/netip"

// Origin is an address by which clients are counted: that of IPv4, and the /64 of IPv6,
// of which a client has all addresses (RFC 4291, 2.5.4).
func Origin(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		network, _ := a.Prefix(64) // never fails: a has 128 bits and no zone
		return network.Addr()
	}
	return a
}
