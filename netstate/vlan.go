package netstate

// VLAN is an 802.1Q link's tag and the link it rides on.
type VLAN struct {
	ID     int    `json:"id"`
	Parent string `json:"parent"`
	// Protocol is the tag's: "802.1ad", or "", which is 802.1Q.
	Protocol string `json:"protocol,omitempty"`
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

// RidesOn is the link whose frames the link's own are: a VLAN's parent, or that of a
// macvlan, macvtap or ipvlan, which may be of another namespace; "" none. They have no
// speed of their own.
func (l Link) RidesOn() string {
	switch {
	case l.VLAN != nil:
		return l.VLAN.Parent
	case l.Kind == "macvlan", l.Kind == "macvtap", l.Kind == "ipvlan":
		return l.Extra["link"]
	}
	return ""
}
