package mptcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

// Commands, attributes and versions of the family (enum mptcp_pm_cmd and
// MPTCP_PM_ATTR_*, include/uapi/linux/mptcp.h).
const (
	familyName    = "mptcp_pm"
	familyVersion = 1

	cmdAddAddr   = 1
	cmdDelAddr   = 2
	cmdGetAddr   = 3
	cmdFlush     = 4
	cmdSetLimits = 5
	cmdGetLimits = 6

	attrAddr        = 1 // nested
	attrRcvAddAddrs = 2
	attrSubflows    = 3

	addrFamily = 1
	addrID     = 2
	addrV4     = 3
	addrV6     = 4
	addrPort   = 5
	addrFlags  = 6
	addrIfIdx  = 7
)

// Address families of Linux (include/linux/socket.h).
const (
	familyIPv4 = 2
	familyIPv6 = 10
)

// Generic netlink: every message starts with struct genlmsghdr; controller
// requests find a family's number (include/uapi/linux/genetlink.h).
const (
	genericHead = 4

	controller    = 0x10 // GENL_ID_CTRL
	ctrlGetFamily = 3
	ctrlVersion   = 2
	ctrlFamilyID  = 1
	ctrlName      = 2
)

const nested = 0x8000 // NLA_F_NESTED

// errMalformed is a message whose lengths do not fit its size.
var errMalformed = nlattr.ErrMalformed

func attribute32(kind uint16, v uint32) []byte {
	return nlattr.Encode(kind, binary.NativeEndian.AppendUint32(nil, v))
}

// head is struct genlmsghdr.
func head(command, version uint8) []byte { return []byte{command, version, 0, 0} }

// parseFamily is the family's number out of the controller's answer.
func parseFamily(b []byte) (id uint16, err error) {
	if len(b) < genericHead {
		return 0, errMalformed
	}
	err = nlattr.Each(b[genericHead:], func(kind uint16, v []byte) {
		if kind == ctrlFamilyID && len(v) >= 2 {
			id = binary.NativeEndian.Uint16(v)
		}
	})
	if err == nil && id == 0 {
		err = errMalformed
	}
	return id, err
}

// parseLimits reads the answer to GET_LIMITS.
func parseLimits(b []byte) (accepted, subflows int, err error) {
	if len(b) < genericHead {
		return 0, 0, errMalformed
	}
	seen := 0
	err = nlattr.Each(b[genericHead:], func(kind uint16, v []byte) {
		if len(v) < 4 {
			return
		}
		switch n := int(binary.NativeEndian.Uint32(v)); kind {
		case attrRcvAddAddrs:
			accepted = n
			seen |= 1
		case attrSubflows:
			subflows = n
			seen |= 2
		}
	})
	if err == nil && seen != 3 {
		err = fmt.Errorf("read MPTCP limits: %w", errMalformed)
	}
	return accepted, subflows, err
}

// parseEndpoint reads one message of the GET_ADDR dump.
func parseEndpoint(b []byte) (netstate.MPTCPEndpoint, error) {
	if len(b) < genericHead {
		return netstate.MPTCPEndpoint{}, errMalformed
	}
	var e netstate.MPTCPEndpoint
	var inner error
	err := nlattr.Each(b[genericHead:], func(kind uint16, v []byte) {
		if kind == attrAddr {
			e, inner = parseAddr(v)
		}
	})
	if err = errors.Join(err, inner); err == nil && !e.Addr.IsValid() {
		err = fmt.Errorf("read MPTCP endpoint: no address: %w", errMalformed)
	}
	return e, err
}

// parseAddr reads an address nest (mptcp_nl_fill_addr, net/mptcp/pm_netlink.c).
func parseAddr(b []byte) (netstate.MPTCPEndpoint, error) {
	var e netstate.MPTCPEndpoint
	err := nlattr.Each(b, func(kind uint16, v []byte) {
		switch {
		case kind == addrID && len(v) >= 1:
			e.ID = int(v[0])
		case kind == addrV4 && len(v) == 4:
			e.Addr = netip.AddrFrom4([4]byte(v))
		case kind == addrV6 && len(v) == 16:
			e.Addr = netip.AddrFrom16([16]byte(v))
		case kind == addrPort && len(v) >= 2:
			e.Port = binary.NativeEndian.Uint16(v)
		case kind == addrFlags && len(v) >= 4:
			e.Flags = netstate.MPTCPFlags(binary.NativeEndian.Uint32(v))
		case kind == addrIfIdx && len(v) >= 4:
			e.Index = int(int32(binary.NativeEndian.Uint32(v)))
		}
	})
	return e, err
}

// encodeAddr is the nest that ADD_ADDR and DEL_ADDR take. A zero ID, port or
// index is left out: the kernel chooses, or has none.
func encodeAddr(e netstate.MPTCPEndpoint) []byte {
	family, kind := uint16(familyIPv6), uint16(addrV6)
	if e.Addr.Is4() {
		family, kind = familyIPv4, addrV4
	}
	nest := nlattr.Encode(addrFamily, binary.NativeEndian.AppendUint16(nil, family))
	nest = append(nest, nlattr.Encode(kind, e.Addr.AsSlice())...)
	if e.ID != 0 {
		nest = append(nest, nlattr.Encode(addrID, []byte{byte(e.ID)})...)
	}
	if e.Port != 0 {
		nest = append(nest, nlattr.Encode(addrPort, binary.NativeEndian.AppendUint16(nil, e.Port))...)
	}
	nest = append(nest, attribute32(addrFlags, uint32(e.Flags))...)
	if e.Index != 0 {
		nest = append(nest, attribute32(addrIfIdx, uint32(e.Index))...)
	}
	return nlattr.Encode(attrAddr|nested, nest)
}
