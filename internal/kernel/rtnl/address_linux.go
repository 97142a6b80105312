package rtnl

import (
	"fmt"
	"math"
	"net/netip"

	"github.com/linerate/linerate/internal/kernel/nlattr"
)

// Attributes of an address, include/uapi/linux/if_addr.h.
const (
	ifaAddress   = 1
	ifaLocal     = 2
	ifaLabel     = 3
	ifaBroadcast = 4
	ifaMetric    = 9 // IFA_RT_PRIORITY
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
func decodeAddress(message []byte) (a foundAddress, ok bool) {
	if len(message) < addressHead {
		return a, false
	}
	var address, local netip.Addr
	var broadcast netip.Addr
	flags, valid := uint32(message[2]), uint32(math.MaxUint32)
	err := nlattr.Each(message[addressHead:], func(kind uint16, v []byte) {
		switch kind {
		case ifaAddress:
			address = addr(v)
		case ifaLocal:
			local = addr(v)
		case ifaBroadcast:
			broadcast = addr(v)
		case ifaLabel:
			a.label = text(v)
		case ifaMetric:
			a.add("metric %d", u32(v))
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
		if address != local && address.IsValid() {
			a.add("peer %s", netip.PrefixFrom(address, int(message[1])))
		}
		address = local
	}
	if err != nil || !address.IsValid() {
		return a, false
	}
	a.index = int(u32(message[4:]))
	a.prefix = prefix(address, int(message[1]), message[0] == familyIPv6)
	a.leased = flags&ifaPermanent == 0 && valid != math.MaxUint32
	if !a.prefix.IsValid() {
		return a, false
	}
	a.settings(flags, message[3], broadcast)
	return a, true
}

// settings are those that no prefix says. What the kernel sets by itself, and
// what a lease is known by, is none.
func (a *foundAddress) settings(flags uint32, scope uint8, broadcast netip.Addr) {
	usual, has := Broadcast(a.prefix)
	a.noBroadcast = has && !broadcast.IsValid()
	if broadcast.IsValid() && broadcast != usual {
		a.add("brd %s", broadcast)
	}
	if a.prefix.Addr().Is4() && scope != 0 {
		a.add("scope %s", map[uint8]string{scopeLink: "link", scopeHost: "host"}[scope])
	}
	for _, f := range addressFlags {
		if flags&f.bit != 0 {
			a.add("%s", f.word)
		}
	}
}

const scopeHost = 254 // RT_SCOPE_HOST

// addressFlags are the flags that somebody asks for, by ip-address(8)'s words
// (include/uapi/linux/if_addr.h).
var addressFlags = [...]struct {
	bit  uint32
	word string
}{{0x10, "home"}, {0x100, "mngtmpaddr"}, {0x200, "noprefixroute"}, {0x400, "autojoin"}}

// Broadcast is the broadcast address of an IPv4 network that has one.
func Broadcast(p netip.Prefix) (netip.Addr, bool) {
	if !p.Addr().Is4() || p.Bits() >= 31 {
		return netip.Addr{}, false
	}
	b := p.Masked().Addr().As4()
	for bit := p.Bits(); bit < 32; bit++ {
		b[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(b), true
}

func (a *foundAddress) add(format string, args ...any) {
	a.words = append(a.words, fmt.Sprintf(format, args...))
}

// foundAddress is an address of the link with the index.
type foundAddress struct {
	index       int
	prefix      netip.Prefix
	leased      bool
	noBroadcast bool
	label       string
	words       []string // of settings
}
