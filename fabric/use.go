package fabric

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/subnets"
	"github.com/linerate/linerate/netstate"
)

// InUse returns the host with what carries traffic and may be changed decided:
// every other link has Unused set, and the addresses that the file does not
// name are UnusedAddresses. This is the one place where that is decided; Merge
// and State go by it. State is the host as observed, or as declared where it
// was not.
//
// In use are the links that `use` names. Without `use`: all that the file names
// (all there are where it has no network), less the link over which the host is
// managed. That one stays in use where it is the only one, and where it shares
// its ports with another that is in use: a VLAN, a bond or a bridge. What a link
// in use rides on is in use too. lo is no link, and its addresses are used as
// others are.
func InUse(file Host, state netstate.Host) netstate.Host {
	u := usage{file: file, host: state, named: map[string]bool{}}
	u.host.Links = slices.Clone(state.Links)
	for _, l := range u.host.Links {
		u.named[l.Name] = u.names(l)
	}
	reason := map[string]netstate.Unused{}
	if file.Use == nil {
		for name, named := range u.named {
			if !named {
				reason[name] = netstate.UnusedUnnamed
			}
		}
		if l, why := u.managed(); why != "" && u.named[l.Name] && u.spared(l) {
			reason[l.Name] = why
		}
	} else {
		for _, l := range u.host.Links {
			if !u.chosen(l) {
				reason[l.Name] = netstate.UnusedUse
			}
		}
	}
	for i, l := range u.host.Links {
		u.host.Links[i].Unused, u.host.Links[i].UnusedAddresses = reason[l.Name], nil
		if l.Loopback() {
			u.host.Links[i].Unused = ""
		}
	}
	u.carry(reason)
	u.addresses()
	return u.host
}

type usage struct {
	file  Host
	host  netstate.Host
	named map[string]bool // links that the file names
}

// ids are the netplan definitions that stand for a link of the host.
func (u usage) ids(l netstate.Link) []Device {
	var found []Device
	for _, e := range u.file.Network.Ethernets {
		if e.Covers(l) || u.file.Names[e.ID] == l.Name {
			found = append(found, e.Device)
		}
	}
	u.file.Network.each(func(section string, d Device) {
		if section != "ethernets" && (d.ID == l.Name || u.file.Names[d.ID] == l.Name) {
			found = append(found, d)
		}
	})
	return found
}

// names reports a link that the file names: by a definition, by what hardware
// it is, by a setting, or by an address that it holds.
func (u usage) names(l netstate.Link) bool {
	if u.file.Network.IsZero() || len(u.ids(l)) > 0 {
		return true
	}
	if _, ok := u.file.HardwareOf(l); ok {
		return true
	}
	if _, ok := u.file.Links[l.Name]; ok {
		return true
	}
	return slices.ContainsFunc(u.file.Network.addresses(), func(p netip.Prefix) bool { return l.Holds(p.Addr()) })
}

// chosen reports a link that `use` names, itself or by what it rides on.
func (u usage) chosen(l netstate.Link) bool {
	return slices.ContainsFunc(append(u.under(l), l), func(l netstate.Link) bool {
		return slices.ContainsFunc(u.file.Use, func(name string) bool {
			return name == l.Name || u.file.Names[name] == l.Name ||
				slices.ContainsFunc(u.ids(l), func(d Device) bool { return d.ID == name })
		})
	})
}

// under are the links that a link rides on, however deep.
func (u usage) under(l netstate.Link) []netstate.Link {
	var all []netstate.Link
	add := func(name string) {
		if next, ok := u.host.Link(name); ok && next.Name != l.Name && !slices.ContainsFunc(all, func(o netstate.Link) bool { return o.Name == name }) {
			all = append(all, next)
		}
	}
	for next, i := l, 0; ; i++ {
		switch {
		case next.VLAN != nil:
			add(next.VLAN.Parent)
		case next.VXLAN != nil:
			add(next.VXLAN.Lower)
		}
		for _, port := range u.host.Links {
			if port.Master == next.Name && (next.Bond != nil || next.OVS != nil || next.Switches()) {
				add(port.Name)
			}
		}
		if next.Bond != nil {
			for _, port := range next.Bond.Ports {
				add(port)
			}
		}
		if i == len(all) {
			return all
		}
		next = all[i]
	}
}

// base are the links that lead off the host under a link: ports of cards, or,
// on a host that has none, of virtual cables. None is a link that stays inside.
func (u usage) base(l netstate.Link) []string {
	var names []string
	cards := slices.ContainsFunc(u.host.Links, func(l netstate.Link) bool { return l.Kind == "" && !l.Loopback() })
	for _, b := range append(u.under(l), l) {
		if b.Loopback() || b.Bond != nil || b.VLAN != nil || b.VXLAN != nil {
			continue
		}
		named := u.named[b.Name] && !u.file.Network.IsZero()
		switch b.Kind {
		case "":
			names = append(names, b.Name)
		case "veth", "macvlan", "ipvlan", "netdevsim", "ipoib":
			if !cards || named {
				names = append(names, b.Name)
			}
		}
	}
	return names
}

// spared reports that the management's link can be left out: others carry
// traffic, and none of them by the same ports.
func (u usage) spared(l netstate.Link) bool {
	ports, others := u.base(l), false
	for _, o := range u.host.Links {
		if o.Name == l.Name || o.Port != nil || o.Loopback() || !u.named[o.Name] || !slices.ContainsFunc(o.Addresses, subnets.Connects) {
			continue
		}
		base := u.base(o)
		if slices.ContainsFunc(base, func(name string) bool { return slices.Contains(ports, name) }) {
			return false
		}
		others = others || len(base) > 0
	}
	return others
}

// managed is the link over which the host is managed, and what tells so: the
// ssh connection, the address in `reach`, or, where neither does, the default
// route. "" nothing tells: nobody reaches the host, by an address of lo, or by
// a default route over several links.
func (u usage) managed() (netstate.Link, netstate.Unused) {
	for _, at := range []struct {
		addr string
		why  netstate.Unused
	}{{u.host.ManagedAt, netstate.UnusedSSH}, {u.file.reachHost(), netstate.UnusedReach}} {
		addr, err := netip.ParseAddr(at.addr)
		if addr = addr.Unmap().WithZone(""); err != nil || addr.IsLoopback() {
			continue // a name, or a tunnel
		}
		switch l, ok := u.host.LinkWith(addr); {
		case ok && l.Loopback():
			return l, ""
		case ok:
			return l, at.why
		}
	}
	if u.file.Reach == "" {
		return netstate.Link{}, ""
	}
	if l, ok := u.defaultLink(); ok {
		return l, netstate.UnusedRoute
	}
	return netstate.Link{}, ""
}

// reachHost is the host that an ssh reach names; "" of another reach.
func (h Host) reachHost() string {
	u, err := url.Parse(h.Reach)
	if err != nil || u.Scheme != "ssh" {
		return ""
	}
	return u.Hostname()
}

// defaultLink is the one link by which the default route leaves, IPv4's before
// IPv6's.
func (u usage) defaultLink() (netstate.Link, bool) {
	for _, v4 := range []bool{true, false} {
		var best []netstate.Route
		for _, r := range u.host.Routes {
			if !r.Dst.IsValid() || r.Dst.Bits() != 0 || r.Dst.Addr().Is4() != v4 || r.Type != "" || r.Table != MainTable && r.Table != 0 {
				continue
			}
			if len(best) > 0 && r.Metric < best[0].Metric {
				best = nil
			}
			if len(best) == 0 || r.Metric == best[0].Metric {
				best = append(best, r)
			}
		}
		switch {
		case len(best) == 0:
			continue
		case len(best) > 1 || len(best[0].Hops) > 1:
			return netstate.Link{}, false
		}
		r := best[0]
		if len(r.Hops) == 1 {
			r.Link = r.Hops[0].Link
		}
		return u.host.Link(r.Link)
	}
	return netstate.Link{}, false
}

// carry puts in use what a link in use rides on, its own addresses aside, and
// out of use what only the management's link rides on.
func (u usage) carry(reason map[string]netstate.Unused) {
	uses, leaves := map[string]bool{}, map[string]netstate.Unused{}
	for _, l := range u.host.Links {
		for _, below := range u.under(l) {
			switch {
			case reason[l.Name] == "":
				uses[below.Name] = true
			case reason[l.Name].Managed():
				leaves[below.Name] = reason[l.Name]
			}
		}
	}
	for i := range u.host.Links {
		switch l := &u.host.Links[i]; {
		case uses[l.Name] && l.Unused != "" && !l.Unused.Managed():
			l.Unused = ""
			for _, p := range l.Addresses {
				l.UnusedAddresses = append(l.UnusedAddresses, p.Addr())
			}
		case leaves[l.Name] != "" && l.Unused == "" && !slices.ContainsFunc(l.Addresses, subnets.Connects):
			l.Unused = leaves[l.Name]
		}
	}
}

// addresses sets aside, on links of which the file names addresses, those that
// it does not name. Where the host has none of them the host's word counts; so
// it does for what DHCP and routers give where the file asks them.
func (u usage) addresses() {
	if u.file.Network.IsZero() {
		return
	}
	named := u.file.Network.addresses()
	isNamed := func(a netip.Addr) bool {
		return slices.ContainsFunc(named, func(p netip.Prefix) bool { return p.Addr() == a })
	}
	for i := range u.host.Links {
		l := &u.host.Links[i]
		if l.Unused != "" {
			continue
		}
		there := slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return isNamed(p.Addr()) })
		if !there && !l.Loopback() {
			continue
		}
		for _, p := range l.Addresses {
			if a := p.Addr(); subnets.Connects(p) && !isNamed(a) && !u.given(*l, a) && l.MaySend(a) {
				l.UnusedAddresses = append(l.UnusedAddresses, a)
			}
		}
	}
}

// given reports an address that DHCP or a router gives a link whose definition
// asks them.
func (u usage) given(l netstate.Link, a netip.Addr) bool {
	return slices.ContainsFunc(u.ids(l), func(d Device) bool {
		ra, _ := d.AcceptRA()
		return a.Is4() && d.DHCP4() || !a.Is4() && (d.DHCP6() || ra)
	})
}

// LeftOut says, a line for each, which links the hosts are managed over and are
// left out for that: "a, b: mgmt0 is left out: ssh comes in by it; `use:`
// includes it". Of links that ride on each other it names the highest.
func LeftOut(hosts []netstate.Host) []string {
	var lines []string
	at := map[string][]string{}
	for _, h := range hosts {
		for _, l := range h.Links {
			if !l.Unused.Managed() || !slices.ContainsFunc(l.Addresses, subnets.Connects) {
				continue
			}
			line := fmt.Sprintf("%s is left out: %s; `use:` includes it", l.Name, ManagedWords[l.Unused])
			if len(at[line]) == 0 {
				lines = append(lines, line)
			}
			at[line] = append(at[line], h.Name)
		}
	}
	for i, line := range lines {
		lines[i] = strings.Join(at[line], ", ") + ": " + line
	}
	return lines
}

var ManagedWords = map[netstate.Unused]string{
	netstate.UnusedSSH: "ssh comes in by it", netstate.UnusedReach: "`reach` has its address", netstate.UnusedRoute: "the default route leaves by it",
}
