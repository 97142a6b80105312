package wanted

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// addresses puts the file's addresses on their links, and moves what links
// lose that become a bond's ports.
func (b *builder) addresses() {
	for _, d := range b.definitions() {
		path := network(d.name, d.device.ID, "addresses")
		if len(d.device.Addresses) > 0 && len(b.devices[d.device.ID]) == 0 {
			b.leave("the addresses of %s: it is not there", d.device.ID)
			continue
		}
		for i, a := range d.device.Addresses {
			name, ok := b.linkOf(d.device.ID, append(slices.Clone(path), i))
			if !ok {
				break
			}
			b.address(name, a, append(slices.Clone(path), i))
			if label := d.device.Label(a); label != "" {
				b.leave("label %s of address %s: it is set when the files are read at boot", label, a)
			}
		}
	}
	for _, d := range b.file.Network.Bonds {
		b.inherit(d)
	}
	for _, d := range b.definitions() {
		b.leases(d)
	}
}

// address puts one address on a link, and takes it from where it was.
func (b *builder) address(name string, a netip.Prefix, path []any) {
	by := b.at.Line(path...)
	if why := b.unusable(name, a); why != "" {
		b.wrong(path, "", "%s of %s: %s", a, name, why)
		return
	}
	l, _ := b.want.Link(name)
	if was, _ := b.observed.Link(name); slices.Contains(l.Addresses, a) && !slices.Contains(l.Leases, a) && was.Master == l.Master {
		return // others that have it, too, had it before
	}
	if bond := b.bondOf(name); bond != "" {
		b.wrong(path, "write it under bonds."+bond, "%s is a port of %s, and a port's addresses are not used", name, bond)
		return
	}
	if l, _ := b.want.Link(name); a.Addr().Is6() && a.Addr().IsLinkLocalUnicast() && !slices.Contains(l.Addresses, a) {
		b.leave("%s of %s is not added: link-local addresses are the kernel's own to make", a, name)
		return
	}
	for _, other := range slices.Clone(b.want.Links) {
		for _, have := range other.Addresses {
			if have.Addr() != a.Addr() || other.Name == name && have == a {
				continue
			}
			if slices.Contains(other.Leases, have) {
				if other.Name == name {
					b.leave("%s keeps its leased address %s, which the file has as %s", name, have, a)
					return
				}
				b.wrong(path, "", "%s is leased to %s", a.Addr(), other.Name)
				return
			}
			b.drop(other.Name, have, by, "it is "+a.String()+" of "+name+" now")
		}
	}
	b.change(name, func(l *netstate.Link) {
		if !slices.Contains(l.Addresses, a) {
			l.Addresses = append(l.Addresses, a)
		}
	})
	b.because(plan.Step{Kind: plan.Address, Link: name, Address: a}, by, "")
}

// unusable says why an address is none for a host's link; "" it is one, or it
// is there already.
func (b *builder) unusable(name string, a netip.Prefix) string {
	l, _ := b.want.Link(name)
	ip, subnet := a.Addr(), a.Masked()
	switch {
	case slices.Contains(l.Addresses, a):
		return ""
	case ip.IsMulticast() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return "it is the address of no single host"
	case ip.IsUnspecified():
		return "it is no address"
	case a.Bits() == 0:
		return "its network would be all there is"
	case ip.IsLoopback() && l.Kind != "loopback" && l.Kind != "dummy":
		return "it is a loopback address"
	case ip.Is6() && l.MTU > 0 && l.MTU < leastIPv6MTU:
		return fmt.Sprintf("%s has an MTU of %d, and IPv6 needs %d (RFC 8200)", name, l.MTU, leastIPv6MTU)
	case ip.Is4() && a.Bits() < 31 && ip == subnet.Addr():
		return "it is its network's own (RFC 1122, 3.2.1.3)"
	case ip.Is4() && a.Bits() < 31 && !subnet.Contains(ip.Next()):
		return "it is its network's broadcast address (RFC 1122, 3.2.1.3)"
	}
	return ""
}

func (b *builder) drop(name string, a netip.Prefix, by, why string) {
	b.change(name, func(l *netstate.Link) {
		l.Addresses = slices.DeleteFunc(slices.Clone(l.Addresses), func(p netip.Prefix) bool { return p == a })
		l.Leases = slices.DeleteFunc(slices.Clone(l.Leases), func(p netip.Prefix) bool { return p == a })
	})
	b.because(plan.Step{Kind: plan.Address, Link: name, Address: a}, by, why)
}

// inherit moves what new ports had: leases go to a bond that asks for leases,
// static addresses only where the file says (address did that).
func (b *builder) inherit(d fabric.Bond) {
	bond, ok := b.want.Link(d.ID)
	if !ok || bond.Bond == nil {
		return
	}
	path := network("bonds", d.ID, "interfaces")
	by := b.at.Line(path...)
	for _, name := range bond.Bond.Ports {
		port, there := b.want.Link(name)
		if had, _ := b.observed.Link(name); !there || had.Master == d.ID {
			continue
		}
		for _, a := range slices.Clone(port.Addresses) {
			leased := slices.Contains(port.Leases, a)
			asks := a.Addr().Is4() && d.DHCP4() || a.Addr().Is6() && (d.DHCP6() || autoconfigured(d.Device))
			switch {
			case a.Addr().IsLinkLocalUnicast():
				// The kernel makes the bond's own.
				b.drop(name, a, by, "a port has no addresses")
			case leased && asks:
				b.drop(name, a, by, "it moves to "+d.ID)
				b.moveLease(d, port, a)
			case leased:
				b.wrong(path, "write dhcp4: true under bonds."+d.ID+", or the address itself", "%s has the leased address %s and would lose it as a port of %s", name, a, d.ID)
			default:
				b.wrong(path, "write it where it should go, such as bonds."+d.ID+".addresses", "%s has the address %s and would lose it as a port of %s", name, a, d.ID)
			}
		}
		b.inheritRoutes(d, name, path)
	}
}

// autoconfigured reports a device that may take router advertisements.
func autoconfigured(d fabric.Device) bool {
	on, said := d.AcceptRA()
	return on || !said
}

// moveLease keeps a lease's address on the bond. DHCP servers know a client by
// its hardware address, so that the bond gets the port's.
func (b *builder) moveLease(d fabric.Bond, port netstate.Link, a netip.Prefix) {
	b.change(d.ID, func(l *netstate.Link) {
		if !slices.Contains(l.Addresses, a) {
			l.Addresses = append(slices.Clone(l.Addresses), a)
			l.Leases = append(slices.Clone(l.Leases), a)
		}
	})
	by := b.at.Line(network("bonds", d.ID, "dhcp4")...)
	b.because(plan.Step{Kind: plan.Address, Link: d.ID, Address: a}, by, "the lease of "+port.Name+", kept until "+d.ID+" has its own")
	mac := port.PermanentMAC
	if had, ok := b.observed.Link(port.Name); ok && !had.MAC.IsZero() {
		mac = had.MAC
	}
	have, existed := b.observed.Link(d.ID)
	switch bondMAC := d.MAC; {
	case !bondMAC.IsZero() && bondMAC != mac:
		b.warn("%s asks for its lease with the hardware address %s, %s had %s: the lease %s may change", d.ID, bondMAC, port.Name, mac, a)
	case bondMAC.IsZero() && existed && have.MAC != mac:
		b.warn("%s asks for its lease with its own hardware address %s, %s had %s: the lease %s may change", d.ID, have.MAC, port.Name, mac, a)
	case bondMAC.IsZero() && !mac.IsZero():
		b.setMAC(d.ID, mac, by, "the lease of "+port.Name+" is this hardware address's")
	}
}

// inheritRoutes moves the routes of leases to the bond that takes the lease,
// and refuses to lose others.
func (b *builder) inheritRoutes(d fabric.Bond, port string, path []any) {
	var kept []netstate.Route
	for _, r := range b.want.Routes {
		switch {
		case r.Link != port:
			kept = append(kept, r)
		case r.Protocol == "dhcp" && d.DHCP4() || r.Protocol == "ra":
			r.Link = d.ID
			kept = append(kept, r)
		case r.Protocol == "kernel":
			// It goes with its address, and comes with it.
		case b.declaresRoute(r):
		case !static(r.Protocol):
			b.leave("the route %s of %s goes with %s: who made it may make it again", routeWords(r), r.Protocol, port)
		default:
			b.wrong(path, "write it under bonds."+d.ID+".routes", "the route %s would be lost when %s becomes a port of %s", routeWords(r), port, d.ID)
		}
	}
	b.want.Routes = kept
}

// declaresRoute reports a route of the file to the same destination.
func (b *builder) declaresRoute(r netstate.Route) bool {
	for _, d := range b.file.Network.Devices() {
		for _, want := range d.Routes {
			if want.To == r.Dst && mainTable(want.Table) == mainTable(r.Table) {
				return true
			}
		}
	}
	return slices.ContainsFunc(b.file.Multipath, func(m fabric.MultipathRoute) bool {
		return m.To == r.Dst && mainTable(m.Table) == mainTable(r.Table)
	})
}

// leases says what becomes of them.
func (b *builder) leases(d section) {
	for _, name := range b.links(d.device.ID) {
		l, _ := b.want.Link(name)
		if bond := b.bondOf(name); bond != "" && d.device.DHCP4() {
			b.wrong(network(d.name, d.device.ID, "dhcp4"), "write it under bonds."+bond, "%s is a port of %s, and a port asks for no lease", name, bond)
			continue
		}
		var four bool
		for _, a := range l.Leases {
			four = four || a.Addr().Is4()
			if a.Addr().Is4() && !d.device.DHCP4() && b.bondOf(name) == "" {
				b.leave("%s keeps its leased address %s, though the file has no dhcp4: who asked for it renews it", name, a)
			}
		}
		if d.device.DHCP4() && !four {
			b.warn("%s has no lease yet: no DHCP client is started here, what manages the host's network asks for one when its files are read", name)
		}
		had, was := b.observed.Link(name)
		if was && four && !l.MAC.IsZero() && l.MAC != had.MAC && len(had.Leases) > 0 {
			b.warn("%s gets the hardware address %s for %s: its lease may change", name, l.MAC, had.MAC)
		}
	}
}
