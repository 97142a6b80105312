package rtnl

import (
	"net/netip"

	"github.com/linerate/linerate/internal/kernel/nlattr"
)

// Attributes of an address, include/uapi/linux/if_addr.h.
const (
	ifaAddress  = 1
	ifaLocal    = 2
	addressHead = 8 // struct ifaddrmsg: family, prefixlen, flags, scope, index
)

const familyIPv6 = 10 // AF_INET6

// decodeAddress reads an RTM_NEWADDR message; ok is false for an address that
// is no IP address.
func decodeAddress(message []byte) (index int, p netip.Prefix, ok bool) {
	if len(message) < addressHead {
		return 0, p, false
	}
	var address, local netip.Addr
	err := nlattr.Each(message[addressHead:], func(kind uint16, v []byte) {
		switch kind {
		case ifaAddress:
			address = addr(v)
		case ifaLocal:
			local = addr(v)
		}
	})
	// On a point-to-point link IFA_ADDRESS is the peer's.
	if local.IsValid() {
		address = local
	}
	if err != nil || !address.IsValid() {
		return 0, p, false
	}
	p = prefix(address, int(message[1]), message[0] == familyIPv6)
	return int(u32(message[4:])), p, p.IsValid()
}
