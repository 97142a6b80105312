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

	nhaID        = 1
	nhaGroup     = 2
	nhaGroupType = 3
	nhaOif       = 5
	nhaGateway   = 6

	groupThreshold = 0 // NEXTHOP_GRP_TYPE_MPATH
	groupResilient = 1 // NEXTHOP_GRP_TYPE_RES

	groupMember = 8 // struct nexthop_grp: id, weight less one, its high byte
)

// object is one nexthop object: one next hop, or a group of others.
type object struct {
	id, index int // index is zero for a group, a blackhole or a malformed message
	hop       netstate.NextHop
	group     netstate.NexthopGroup
	ids       []int // of a group's members
	weights   []int
}

// objects are the nexthop objects. A kernel without them (before Linux 5.3) has none.
func (h *Handle) objects() ([]object, error) {
	messages, err := h.dump(rtmGetNexthop, rtmNewNexthop, make([]byte, nexthopHead))
	var all []object
	for _, m := range messages {
		if o := decodeNexthop(m); o.id != 0 {
			all = append(all, o)
		}
	}
	if errors.Is(err, syscall.EOPNOTSUPP) {
		return nil, nil
	}
	return all, err
}

// addNexthops notes on each link the nexthop objects that lead over it.
func (h *Handle) addNexthops(links []netstate.Link) error {
	all, err := h.objects()
	for _, o := range all {
		if l := byIndex(links, o.index); l != nil {
			l.NexthopObjects = append(l.NexthopObjects, o.id)
		}
	}
	return err
}

// addGroups says of each route that names a nexthop object how it spreads, and over
// what, where the kernel leaves that to the object (net.ipv4.nexthop_compat_mode 0).
func addGroups(routes []netstate.Route, all []object, name func(index int) string) {
	byID := make(map[int]object, len(all))
	for _, o := range all {
		o.hop.Link = name(o.index)
		byID[o.id] = o
	}
	for i := range routes {
		r := &routes[i]
		o, known := byID[r.Object]
		if !known || r.Type != "" {
			continue
		}
		r.Group = o.group
		switch {
		case len(r.Hops) > 0 || r.Link != "":
		case o.group == "":
			r.Link, r.Gateway, r.OnLink = o.hop.Link, o.hop.Gateway, o.hop.OnLink
		default:
			for k, id := range o.ids {
				hop := byID[id].hop
				hop.Weight = o.weights[k]
				r.Hops = append(r.Hops, hop)
			}
		}
	}
}

// decodeNexthop reads an RTM_NEWNEXTHOP message; the zero object is a malformed one.
func decodeNexthop(message []byte) (o object) {
	if len(message) < nexthopHead {
		return object{}
	}
	flags := u32(message[4:])
	o.hop = netstate.NextHop{Weight: 1, Dead: flags&hopDead != 0, OnLink: flags&hopOnLink != 0}
	kind := -1
	err := nlattr.Each(message[nexthopHead:], func(attribute uint16, v []byte) {
		switch attribute {
		case nhaID:
			o.id = int(u32(v))
		case nhaOif:
			o.index = int(u32(v))
		case nhaGateway:
			o.hop.Gateway = addr(v)
		case nhaGroupType:
			kind = int(u16(v))
		case nhaGroup:
			for ; len(v) >= groupMember; v = v[groupMember:] {
				o.ids = append(o.ids, int(u32(v)))
				o.weights = append(o.weights, int(v[4])+int(v[5])<<8+1)
			}
		}
	})
	switch {
	case err != nil:
		return object{}
	case len(o.ids) > 0 && kind == groupThreshold:
		o.group = netstate.HashThreshold
	case len(o.ids) > 0 && kind == groupResilient:
		o.group = netstate.Resilient
	}
	return o
}
