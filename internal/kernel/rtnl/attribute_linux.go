package rtnl

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/nlattr"
)

// errMalformed is a message whose lengths do not fit its size.
var errMalformed = nlattr.ErrMalformed

const (
	// keptBytes is how much of an unknown attribute is kept.
	keptBytes = 32
)

// u8 to u64 read a value in the host's byte order; zero when it is too short.
func u8(v []byte) uint8 {
	if len(v) < 1 {
		return 0
	}
	return v[0]
}

func u16(v []byte) uint16 {
	if len(v) < 2 {
		return 0
	}
	return binary.NativeEndian.Uint16(v)
}

func u32(v []byte) uint32 {
	if len(v) < 4 {
		return 0
	}
	return binary.NativeEndian.Uint32(v)
}

func u64(v []byte) uint64 {
	if len(v) < 8 {
		return 0
	}
	return binary.NativeEndian.Uint64(v)
}

func text(v []byte) string {
	s, _, _ := strings.Cut(string(v), "\x00")
	return s
}

// mac reads an Ethernet address; zero for one of another length.
func mac(v []byte) (m flow.MAC) {
	if len(v) == len(m) {
		copy(m[:], v)
	}
	return m
}

// addr reads an IP address; the zero Addr for one of another length.
func addr(v []byte) netip.Addr {
	a, _ := netip.AddrFromSlice(v)
	return a
}

// prefix joins an address and a length; an absent address is all zeros of the
// family. The zero Prefix when they do not fit.
func prefix(a netip.Addr, bits int, ipv6 bool) netip.Prefix {
	if !a.IsValid() {
		a = netip.IPv4Unspecified()
		if ipv6 {
			a = netip.IPv6Unspecified()
		}
	}
	if a.Is6() != ipv6 || bits > a.BitLen() {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(a, bits)
}

// kept is an unread value as text.
func kept(v []byte) string {
	if len(v) > keptBytes {
		return hex.EncodeToString(v[:keptBytes]) + "..."
	}
	return hex.EncodeToString(v)
}

// decimal reads a number of whatever width the kernel chose.
func decimal(v []byte) string {
	var n uint64
	switch {
	case len(v) >= 8:
		n = u64(v)
	case len(v) >= 4:
		n = uint64(u32(v))
	case len(v) >= 2:
		n = uint64(u16(v))
	default:
		n = uint64(u8(v))
	}
	return strconv.FormatUint(n, 10)
}
