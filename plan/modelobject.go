package plan

import (
	"fmt"

	"github.com/linerate/linerate/netstate"
)

// objectLinks are the links with nexthop objects that have carrier.
func objectLinks(h netstate.Host) []string {
	var out []string
	for _, l := range h.Links {
		if len(l.NexthopObjects) > 0 && carries(h, l.Name, 0) {
			out = append(out, l.Name)
		}
	}
	return out
}

// flushed says why a step must not be: a nexthop object goes when its link goes down
// or loses its carrier (nh_netdev_event, net/ipv4/nexthop.c), and no step adds it again.
// "" none went.
func flushed(h netstate.Host, led []string) string {
	for _, name := range led {
		if l, _ := h.Link(name); !carries(h, name, 0) {
			object := 0
			if len(l.NexthopObjects) > 0 {
				object = l.NexthopObjects[0]
			}
			return fmt.Sprintf("the kernel would drop nexthop object %d, which leads over %s, and the routes that name it, and nothing adds it again: change this by hand", object, name)
		}
	}
	return ""
}

// carries reports a link that is up and has carrier: a bond by one of its ports, in
// 802.3ad by min_links of them (bond_set_carrier), a VLAN by its parent. A port that
// came up in the course of a plan is not believed to.
func carries(h netstate.Host, name string, depth int) bool {
	l, ok := h.Link(name)
	if !ok || !l.Up || depth > len(h.Links) {
		return false
	}
	switch {
	case l.Bond != nil:
		ports := 0
		for _, p := range l.Bond.Ports {
			if carries(h, p, depth+1) {
				ports++
			}
		}
		return ports > 0 && (l.Bond.Mode != netstate.LACP || ports >= l.Bond.MinLinks)
	case l.VLAN != nil:
		return carries(h, l.VLAN.Parent, depth+1)
	}
	return l.Carrier || len(l.NexthopObjects) > 0 // which there are on no other
}
