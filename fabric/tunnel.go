package fabric

import (
	"net/netip"
	"strconv"

	"github.com/linerate/linerate/netstate"
)

// vxlan is a tunnel of netplan's mode vxlan (doc/netplan-yaml.md, tunnels); ok
// false for every other device. What it does not say, or says in words that
// are no number or address, stays zero.
func (o Other) vxlan(h Host) (v netstate.VXLAN, ok bool) {
	if o.Section != "tunnels" {
		return v, false
	}
	for _, p := range o.Unread {
		if p.Value == nil {
			continue
		}
		text := p.Value.Text
		switch p.Key {
		case "mode":
			ok = text == "vxlan"
		case "id":
			v.ID, _ = strconv.Atoi(text)
		case "link":
			v.Lower = text
			if names, known := h.Interfaces(text); known && len(names) > 0 {
				v.Lower = names[0]
			}
		case "local":
			v.Local, _ = netip.ParseAddr(text)
		case "remote":
			v.Remote, _ = netip.ParseAddr(text)
		}
	}
	return v, ok
}

// tunnelMTU is the MTU that a VXLAN device takes: its lower link's less what
// the tunnel adds, Ethernet's where it names none (vxlan_dev_configure,
// drivers/net/vxlan/vxlan_core.c); zero while unknown.
func (b stateBuilder) tunnelMTU(v netstate.VXLAN) int {
	lower, ok := b.Link(v.Lower)
	switch {
	case !ok:
		return DefaultMTU
	case lower.MTU == 0:
		return 0
	}
	return max(lower.MTU-v.Headroom(), 1) // no room is not unknown
}
