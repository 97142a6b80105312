package rtnl

import (
	"errors"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

// Nexthop objects, include/uapi/linux/nexthop.h and rtnetlink.h.
const (
	rtmNewNexthop = 104
	rtmGetNexthop = 106

	nexthopHead = 8 // struct nhmsg

	nhaID  = 1
	nhaOif = 5
)

// addNexthops notes on each link the nexthop objects that lead over it. A
// kernel without them (before Linux 5.3) has none.
func (h *Handle) addNexthops(links []netstate.Link) error {
	messages, err := h.dump(rtmGetNexthop, rtmNewNexthop, make([]byte, nexthopHead))
	for _, m := range messages {
		id, index := decodeNexthop(m)
		if l := byIndex(links, index); l != nil {
			l.NexthopObjects = append(l.NexthopObjects, id)
		}
	}
	if errors.Is(err, syscall.EOPNOTSUPP) {
		return nil
	}
	return err
}

// decodeNexthop reads an RTM_NEWNEXTHOP message. The index is zero for a group,
// a blackhole or a malformed message, which lead over no link.
func decodeNexthop(message []byte) (id, index int) {
	if len(message) < nexthopHead {
		return 0, 0
	}
	err := nlattr.Each(message[nexthopHead:], func(kind uint16, v []byte) {
		switch kind {
		case nhaID:
			id = int(u32(v))
		case nhaOif:
			index = int(u32(v))
		}
	})
	if err != nil {
		return 0, 0
	}
	return id, index
}
