package rtnl

import (
	"math"
	"net/netip"

	"github.com/linerate/linerate/internal/kernel/nlattr"
)

// Attributes of an address, include/uapi/linux/if_addr.h.
const (
	ifaAddress   = 1
	ifaLocal     = 2
	ifaCacheInfo = 6 // struct ifa_cacheinfo: preferred, valid, created, updated; s
	ifaFlags     = 8 // all 32 bits of them; the header has 8
	addressHead  = 8 // struct ifaddrmsg: family, prefixlen, flags, scope, index
)

// ifaPermanent is IFA_F_PERMANENT: nobody set a lifetime.
const ifaPermanent = 0x80

const familyIPv6 = 10 // AF_INET6

// decodeAddress reads an RTM_NEWADDR message; ok is false for an address that
// is no IP address. leased is one with a lifetime: its owner (a DHCP client,
// router advertisements) renews it.
func decodeAddress(message []byte) (index int, p netip.Prefix, leased, ok bool) {
	if len(message) < addressHead {
		return 0, p, false, false
	}
	var address, local netip.Addr
	flags, valid := uint32(message[2]), uint32(math.MaxUint32)
	err := nlattr.Each(message[addressHead:], func(kind uint16, v []byte) {
		switch kind {
		case ifaAddress:
			address = addr(v)
		case ifaLocal:
			local = addr(v)
		case ifaFlags:
			flags = u32(v)
		case ifaCacheInfo:
			if len(v) >= 8 {
				valid = u32(v[4:])
			}
		}
	})
	// On a point-to-point link IFA_ADDRESS is the peer's.
	if local.IsValid() {
		address = local
	}
	if err != nil || !address.IsValid() {
		return 0, p, false, false
	}
	p = prefix(address, int(message[1]), message[0] == familyIPv6)
	leased = flags&ifaPermanent == 0 && valid != math.MaxUint32
	return int(u32(message[4:])), p, leased, p.IsValid()
}
