package socket

import "net/netip"

// Origin is an address by which clients are counted: that of IPv4 or of one link alone, and
// the /64 of other IPv6, of which a client may take any address (RFC 8981).
func Origin(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() && !a.IsLinkLocalUnicast() {
		network, _ := a.Prefix(64) // never fails: a has 128 bits and no zone
		return network.Addr()
	}
	return a
}
