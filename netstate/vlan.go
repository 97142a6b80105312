package netstate

import "net/netip"

// VLAN is an 802.1Q link's tag and the link it rides on.
type VLAN struct {
	ID     int    `json:"id"`
	Parent string `json:"parent"`
	// Protocol is the tag's: "802.1ad", or "", which is 802.1Q.
	Protocol string `json:"protocol,omitempty"`
}

// VXLAN is a VXLAN device (RFC 7348): the network's number, the link that
// carries its packets, "" where the route to the peer decides, and the two
// outer addresses, zero where unknown. Remote may be a multicast group.
type VXLAN struct {
	ID     int        `json:"id"`
	Lower  string     `json:"lower,omitempty"`
	Local  netip.Addr `json:"local,omitzero"`
	Remote netip.Addr `json:"remote,omitzero"`
}

// Headroom is what one frame costs more inside the tunnel: the outer IP, UDP
// and VXLAN headers and the inner Ethernet header, 50 bytes or over IPv6 70
// (VXLAN_HEADROOM and VXLAN6_HEADROOM of include/net/vxlan.h). IPv4 where
// neither address is known.
func (v VXLAN) Headroom() int {
	for _, a := range []netip.Addr{v.Remote, v.Local} {
		if a.IsValid() && !a.Unmap().Is4() {
			return 70
		}
	}
	return 50
}

// LargestOn is the link that no larger MTU than its own can ride on: what is
// larger goes down with it, and stays down (vlan_device_event,
// macvlan_device_event, macsec_notify). A VLAN's parent, or a macvlan's; "" none.
func (l Link) LargestOn() string {
	switch {
	case l.VLAN != nil:
		return l.VLAN.Parent
	case l.Kind == "macvlan", l.Kind == "macvtap", l.Kind == "macsec":
		return l.Extra["link"]
	}
	return ""
}
