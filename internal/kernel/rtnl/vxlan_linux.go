package rtnl

import (
	"net/netip"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

// Attributes of a VXLAN device, include/uapi/linux/if_link.h (IFLA_VXLAN_*).
const (
	vxlanID     = 1
	vxlanGroup  = 2
	vxlanLink   = 3
	vxlanLocal  = 4
	vxlanGroup6 = 16
	vxlanLocal6 = 17
)

// rawVXLAN is a VXLAN device as a message says it: its lower link by index.
type rawVXLAN struct {
	vxlan netstate.VXLAN
	lower int // zero none
}

// decodeVXLAN reads IFLA_INFO_DATA of a vxlan device. An address that is all
// zero is none.
func decodeVXLAN(data []byte) rawVXLAN {
	var r rawVXLAN
	_ = nlattr.Each(data, func(kind uint16, v []byte) {
		switch kind {
		case vxlanID:
			r.vxlan.ID = int(u32(v))
		case vxlanLink:
			r.lower = int(u32(v))
		case vxlanGroup, vxlanGroup6:
			outer(&r.vxlan.Remote, v)
		case vxlanLocal, vxlanLocal6:
			outer(&r.vxlan.Local, v)
		}
	})
	return r
}

func outer(into *netip.Addr, v []byte) {
	if a, ok := netip.AddrFromSlice(v); ok && !a.IsUnspecified() {
		*into = a
	}
}
