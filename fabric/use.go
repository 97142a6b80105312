package fabric

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/subnets"
	"github.com/linerate/linerate/flow"
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
	state.Links = slices.Clone(state.Links)
	u := newUsage(file, state)
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
	links netstate.LinkIndex
	ports map[string][]string // by master
	cards bool                // the host has some
	named map[string]bool     // links that the file names
	// defined are the netplan definitions that stand for a link, addressed the
	// addresses that the file names.
	defined   map[string][]Device
	addressed map[netip.Addr]bool
}

func newUsage(file Host, host netstate.Host) usage {
	u := usage{file: file, host: host, links: host.Index(), ports: netstate.Ports(host.Links),
		named: map[string]bool{}, defined: map[string][]Device{}, addressed: map[netip.Addr]bool{}}
	define := func(name string, d Device) { u.defined[name] = append(u.defined[name], d) }
	byMAC := map[flow.MAC][]string{}
	var all []string
	for _, l := range host.Links {
		u.cards = u.cards || l.Kind == "" && !l.Loopback()
		byMAC[l.HardwareMAC()], all = append(byMAC[l.HardwareMAC()], l.Name), append(all, l.Name)
	}
	for _, e := range file.Network.Ethernets {
		some := all // links that it may cover
		switch m := e.Match; {
		case m == nil:
			some = []string{e.ID}
		case !m.MAC.IsZero():
			some = append(byMAC[m.MAC], e.SetName)
		case m.Name != "" && !isGlob(m.Name):
			some = []string{m.Name, e.SetName}
		}
		for _, name := range some {
			if l, ok := u.links.Link(name); ok && e.Covers(l) {
				define(name, e.Device)
			}
		}
	}
	file.Network.each(func(section string, d Device) {
		if section != "ethernets" {
			define(d.ID, d)
		}
		if name := file.Names[d.ID]; name != "" {
			define(name, d)
		}
		for _, p := range d.Addresses {
			u.addressed[p.Addr()] = true
		}
	})
	return u
}

// names reports a link that the file names: by a definition, by what hardware
// it is, by a setting, or by an address that it holds.
func (u usage) names(l netstate.Link) bool {
	if u.file.Network.IsZero() || u.defined[l.Name] != nil {
		return true
	}
	if _, ok := u.file.HardwareOf(l); ok {
		return true
	}
	if _, ok := u.file.Links[l.Name]; ok {
		return true
	}
	return u.holdsNamed(l)
}

// holdsNamed reports a link with an address that the file names.
func (u usage) holdsNamed(l netstate.Link) bool {
	return slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return u.addressed[p.Addr()] })
}

// chosen reports a link that `use` names, itself or by what it rides on.
func (u usage) chosen(l netstate.Link) bool {
	return slices.ContainsFunc(append(u.under(l), l), func(l netstate.Link) bool {
		return slices.ContainsFunc(u.file.Use, func(name string) bool {
			return name == l.Name || u.file.Names[name] == l.Name ||
				slices.ContainsFunc(u.defined[l.Name], func(d Device) bool { return d.ID == name })
		})
	})
}

// under are the links that a link rides on, however deep.
func (u usage) under(l netstate.Link) []netstate.Link {
	var all []netstate.Link
	seen := map[string]bool{l.Name: true}
	add := func(name string) {
		if next, ok := u.links.Link(name); ok && !seen[name] {
			seen[name] = true
			all = append(all, next)
		}
	}
	for next, i := l, 0; ; i++ {
		add(next.RidesOn())
		if next.Tunnel != nil {
			add(next.Tunnel.Lower)
		}
		if next.Bond != nil || next.OVS != nil || next.Switches() {
			for _, port := range u.ports[next.Name] {
				add(port)
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
	for _, b := range append(u.under(l), l) {
		if b.Loopback() || b.Bond != nil || b.VLAN != nil || b.Tunnel != nil {
			continue
		}
		if _, here := u.links.Link(b.RidesOn()); here {
			continue // it has no port of its own
		}
		named := u.named[b.Name] && !u.file.Network.IsZero()
		switch b.Kind {
		case "":
			names = append(names, b.Name)
		case "veth", "macvlan", "ipvlan", "netdevsim", "ipoib":
			if !u.cards || named {
				names = append(names, b.Name)
			}
		}
	}
	return names
}

// spared reports that the management's link can be left out: others carry
// traffic, and none of them by the same ports.
func (u usage) spared(l netstate.Link) bool {
	ports, others := map[string]bool{}, false
	for _, name := range u.base(l) {
		ports[name] = true
	}
	for _, o := range u.host.Links {
		if o.Name == l.Name || o.Port != nil || o.Loopback() || !u.named[o.Name] || !slices.ContainsFunc(o.Addresses, subnets.Connects) {
			continue
		}
		base := u.base(o)
		if slices.ContainsFunc(base, func(name string) bool { return ports[name] }) {
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
	for i := range u.host.Links {
		l := &u.host.Links[i]
		if l.Unused != "" {
			continue
		}
		if !u.holdsNamed(*l) && !l.Loopback() {
			continue
		}
		for _, p := range l.Addresses {
			if a := p.Addr(); subnets.Connects(p) && !u.addressed[a] && !u.given(*l, a) && l.MaySend(a) {
				l.UnusedAddresses = append(l.UnusedAddresses, a)
			}
		}
	}
}

// given reports an address that DHCP or a router gives a link whose definition
// asks them.
func (u usage) given(l netstate.Link, a netip.Addr) bool {
	return slices.ContainsFunc(u.defined[l.Name], func(d Device) bool {
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
