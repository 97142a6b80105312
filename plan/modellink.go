package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// setPresence makes a link as the kernel makes it, or deletes one that is as
// bare as that: what it still had would go with it.
func setPresence(h *netstate.Host, l netstate.Link, s Step) error {
	if s.Make == nil {
		return &StateError{s, "a link of no kind"}
	}
	parent, ok := h.Link(s.Make.Parent)
	if s.Make.Kind == kindVLAN && !ok {
		return &StateError{s, "no link " + s.Make.Parent + " for it (ENODEV)"}
	}
	fresh, err := Fresh(s.Link, *s.Make, *h)
	if err != nil {
		return &StateError{s, err.Error()}
	}
	if s.New != Absent {
		if fresh.VLAN != nil && slices.ContainsFunc(h.Links, func(o netstate.Link) bool {
			return o.VLAN != nil && o.VLAN.Parent == parent.Name && o.VLAN.ID == fresh.VLAN.ID && o.VLAN.Protocol == fresh.VLAN.Protocol
		}) {
			return &StateError{s, "the parent has that VLAN already (EEXIST)"}
		}
		h.SetLink(fresh)
		maps.Copy(h.Sysctls, ownSysctls(*h, s.Link))
		return nil
	}
	if more := beyondBare(*h, l, fresh); more != "" {
		return &StateError{s, more + " would go with it"}
	}
	h.Links = slices.DeleteFunc(h.Links, func(o netstate.Link) bool { return o.Name == l.Name })
	for key := range h.Sysctls {
		if link, ok := netstate.LinkOfSysctl(key); ok && link == l.Name {
			delete(h.Sysctls, key)
		}
	}
	return nil
}

// beyondBare names what l has that a fresh link has not.
func beyondBare(h netstate.Host, l, fresh netstate.Link) string {
	for key, v := range ownSysctls(h, l.Name) {
		if have, ok := h.Sysctls[key]; ok && fold(have.Value) != fold(v.Value) {
			return key
		}
	}
	for _, o := range h.Links {
		if o.VLAN != nil && o.VLAN.Parent == l.Name {
			return "the VLAN " + o.Name
		}
	}
	switch {
	case l.Up:
		return "that it is up"
	case l.MTU != fresh.MTU:
		return "its MTU"
	case slices.ContainsFunc(l.Addresses, ownAddress):
		return "its addresses"
	case slices.ContainsFunc(h.Routes, func(r netstate.Route) bool { return uses(r, []string{l.Name}) && !restored(h, r) }):
		return "its routes"
	}
	if q, err := RootQdisc(l); err != nil || q != DefaultQdisc {
		return "its qdisc"
	}
	if l.Bond == nil || fresh.Bond == nil {
		return ""
	}
	if len(l.Bond.Ports) > 0 {
		return "its ports"
	}
	bare := optionsOf(fresh.Bond)
	for name, v := range optionsOf(l.Bond) {
		if bare[name] != v && bare[name] != "" {
			return name
		}
	}
	return ""
}

// ownSysctls are the keys that a link gets when it is made, with the values of
// conf.default (inetdev_init, ipv6_add_dev).
func ownSysctls(h netstate.Host, link string) map[string]netstate.Sysctl {
	out := make(map[string]netstate.Sysctl)
	name := strings.ReplaceAll(link, ".", "/")
	for key, v := range h.Sysctls {
		for _, table := range [...]string{"conf", "neigh"} {
			before, after, ok := strings.Cut(key, "."+table+".default.")
			if ok && (before == "net.ipv4" || before == "net.ipv6") {
				out[before+"."+table+"."+name+"."+after] = v
			}
		}
	}
	return out
}

func setMTU(h *netstate.Host, l netstate.Link, s Step) error {
	mtu, err := strconv.Atoi(s.New)
	if err != nil || mtu < minMTU {
		return &StateError{s, "no MTU"}
	}
	for _, o := range h.Links {
		if o.LargestOn() == l.Name && o.MTU > mtu {
			return &StateError{s, o.Name + ", which rides on it, is larger"}
		}
		if l.VLAN != nil && l.VLAN.Parent == o.Name && o.MTU < mtu {
			return &StateError{s, "its parent " + o.Name + " is smaller (ERANGE)"}
		}
	}
	l.MTU = mtu
	h.SetLink(l)
	followMTU6(h, l)
	if l.Bond == nil {
		return nil
	}
	for _, name := range l.Bond.Ports {
		if port, ok := h.Link(name); ok {
			port.MTU = mtu
			h.SetLink(port)
		}
	}
	return nil
}

func setState(h *netstate.Host, l netstate.Link, s Step) error {
	if s.New == Down {
		if lost, _ := lostRoutes(*h, l.Name); len(lost) > 0 {
			return &StateError{s, "the route " + routeWords(&lost[0], false) + " would be lost"}
		}
	} else if l.VLAN != nil {
		if parent, ok := h.Link(l.VLAN.Parent); ok && !parent.Up {
			return &StateError{s, "its parent " + parent.Name + " is down (ENETDOWN)"}
		}
	}
	l.Up = s.New == Up
	h.SetLink(l)
	if l.Up {
		followMTU6(h, l)
	}
	return nil
}

func setMAC(h *netstate.Host, l netstate.Link, s Step) error {
	m, err := flow.ParseMAC(s.New)
	if err != nil || m.IsZero() || m[0]&1 != 0 {
		return &StateError{s, "no address of one device (EADDRNOTAVAIL)"}
	}
	if l.Bond != nil && len(l.Bond.Ports) > 0 && OwnMACs(*l.Bond) {
		return &StateError{s, "its address is its active port's (fail_over_mac)"}
	}
	giveMAC(h, l, m)
	return nil
}

// giveMAC gives a link the address, a bond's ports (bond_set_mac_address) and
// the VLANs that have their parent's (vlan_sync_address) too.
func giveMAC(h *netstate.Host, l netstate.Link, m flow.MAC) {
	was := l.MAC
	l.MAC = m
	h.SetLink(l)
	if l.Bond != nil && !OwnMACs(*l.Bond) {
		for _, name := range l.Bond.Ports {
			if port, ok := h.Link(name); ok {
				port.MAC = m
				h.SetLink(port)
			}
		}
	}
	for _, o := range h.Links {
		if o.VLAN != nil && o.VLAN.Parent == l.Name && o.MAC == was {
			giveMAC(h, o, m)
		}
	}
}

// LeavesMACs reports a bond that sets the hardware address of no port, neither
// when it takes it nor when it lets it go (bond_enslave, __bond_release_one).
func LeavesMACs(b netstate.Bond) bool {
	return b.Mode == netstate.ActiveBackup && strings.HasPrefix(b.Options["fail_over_mac"], "active")
}

// OwnMACs reports a bond whose ports keep their own addresses.
func OwnMACs(b netstate.Bond) bool {
	if b.Mode != netstate.ActiveBackup {
		return false // the option is kept and does nothing (bond_enslave)
	}
	v := b.Options["fail_over_mac"]
	return strings.HasPrefix(v, "active") || strings.HasPrefix(v, "follow")
}

func splitPorts(list string) []string {
	if list == "" || list == NoMaster {
		return nil
	}
	return strings.Split(list, ",")
}

// joinPorts is a bond's ports as PortOrder spells them.
func joinPorts(ports []string) string {
	if len(ports) == 0 {
		return NoMaster
	}
	return strings.Join(ports, ",")
}
