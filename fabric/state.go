package fabric

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric/overlay"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// MainTable is RT_TABLE_MAIN (include/uapi/linux/rtnetlink.h).
const MainTable = 254

// DefaultMTU is ETH_DATA_LEN (include/uapi/linux/if_ether.h).
const DefaultMTU = 1500

// LoopbackMTU is lo's (loopback_setup, drivers/net/loopback.c).
const LoopbackMTU = 65536

// State returns the declared host as observing it would, were it as declared
// and all its links up: bonds with their ports in order and usable, the
// kernel's defaults where the file is silent, MACs zero where unknown. A bond
// whose ports are behind a match that covers no known link has none, and
// Missing says so. An error names a host that is not in the file.
func (f Fabric) State(host string) (netstate.Host, error) {
	h, ok := f.Host(host)
	if !ok {
		var names []string
		for _, known := range f.Hosts {
			names = append(names, known.Name)
		}
		return netstate.Host{}, fmt.Errorf("find host %q in %s: no such host%s", host, f.File, yamldoc.Nearest(host, names))
	}
	return h.state(), nil
}

func (h Host) state() netstate.Host {
	s := netstate.Host{
		Name:    h.Name,
		Kernel:  netstate.Kernel{OS: cmp.Or(h.System, bondopt.Linux), Release: h.Kernel},
		CPU:     h.Hardware.CPU,
		Rate:    h.Rate,
		Cloud:   h.Cloud,
		Sysctls: map[string]netstate.Sysctl{},
	}
	for name, value := range s.Kernel.TCPBuffers() {
		s.Sysctls[name] = netstate.Sysctl{Value: value, Scope: netstate.ScopeOf(name)}
	}
	for name, value := range h.Sysctl {
		s.Sysctls[name] = netstate.Sysctl{Value: value, Scope: netstate.ScopeOf(name)}
	}
	for _, name := range SortedNames(h.Hardware.Cards) {
		card := h.Hardware.Cards[name]
		card.Name = name
		s.Cards = append(s.Cards, card)
	}
	b := stateBuilder{declared: h, state: &s, LinkIndex: s.Index(), names: h.allInterfaces()}
	b.ethernets()
	b.others()
	b.bonds()
	b.ovsBonds()
	b.bridges()
	b.vlans()
	b.bridgePorts()
	h.Network.each(func(_ string, d Device) { b.address(d) })
	b.settleMTUs()
	for _, d := range h.Leased {
		b.leased(d)
	}
	h.Network.each(func(_ string, d Device) { b.route(d) })
	return InUse(h, s)
}

// stateBuilder fills in one host's links. A link's MTU is zero until
// settleMTUs where the file does not say it.
type stateBuilder struct {
	declared Host
	state    *netstate.Host
	netstate.LinkIndex
	names map[string][]string // interfaces, by definition
}

func (b stateBuilder) add(l netstate.Link) {
	l.Up, l.Carrier = true, true
	b.SetLink(l)
}

func (b stateBuilder) ethernets() {
	for _, e := range b.declared.Network.Ethernets {
		names, known := e.names(b.declared.Hardware)
		if !known {
			b.state.Missing = append(b.state.Missing, b.declared.unresolvedText(e))
			continue
		}
		for _, name := range names {
			l := netstate.Link{Name: name, MTU: e.MTU, MAC: e.MAC}
			if l.Loopback() {
				l.Kind, l.MTU = "loopback", cmp.Or(e.MTU, LoopbackMTU)
			}
			if m := e.Match; m != nil && !m.MAC.IsZero() {
				l.PermanentMAC = m.MAC
				if l.MAC.IsZero() {
					l.MAC = m.MAC
				}
			}
			b.add(withHardware(l, b.declared))
		}
	}
}

// guestQueues are what the file says of a virtio card's queues; nil nothing.
func (hw HardwareLink) guestQueues() *netstate.GuestQueues {
	if hw.Queues == (netstate.GuestQueues{}) {
		return nil
	}
	return &hw.Queues
}

// withHardware is a link with what hardware.links says of it.
func withHardware(l netstate.Link, h Host) netstate.Link {
	if hw, ok := h.HardwareOf(l); ok {
		l.Speed, l.Framing, l.Card = hw.Speed, hw.Framing, hw.Card
		l.GuestQueues = hw.guestQueues()
	}
	return l
}

// otherKinds are the kernel's kinds of netplan's sections.
var otherKinds = map[string]string{"dummy-devices": "dummy", "virtual-ethernets": "veth", "vrfs": "vrf", "tunnels": "tunnel"}

func (b stateBuilder) others() {
	for _, o := range b.declared.Network.Others {
		l := netstate.Link{Name: o.ID, Kind: otherKinds[o.Section], MTU: o.MTU, MAC: o.MAC}
		if o.Section == "tunnels" {
			if t, ok := overlay.Tunnel(o.Unread, b.declared.Interfaces); ok {
				l.Kind, l.Tunnel = t.Kind, &t
			}
		}
		b.add(withHardware(l, b.declared))
	}
}

func (b stateBuilder) bonds() {
	for _, declared := range b.declared.Network.Bonds {
		bond := declared.Options
		bond.Ports = b.devices(declared.Interfaces)
		link := netstate.Link{Name: declared.ID, Kind: "bond", MTU: declared.MTU, MAC: declared.MAC, Bond: &bond}
		if link.MTU == 0 {
			// The driver makes its ports follow the bond (bond_enslave).
			link.MTU = DefaultMTU
		}
		chooseActive(&bond, slices.Concat(b.names[bond.Options["primary"]], []string{bond.Options["primary"]}))
		for _, name := range bond.Ports {
			port, ok := b.Link(name)
			if !ok {
				continue
			}
			port.Master = declared.ID
			port.Port = &netstate.BondPort{Bond: declared.ID, MIIUp: true, Active: bond.Mode != netstate.ActiveBackup || name == bond.Active}
			if port.MTU == 0 {
				port.MTU = link.MTU
			}
			if link.MAC.IsZero() {
				link.MAC = port.MAC
			}
			b.SetLink(port)
		}
		b.add(link)
	}
}

// chooseActive names the port that active-backup uses: the primary, or the
// first.
func chooseActive(bond *netstate.Bond, primary []string) {
	if len(bond.Ports) == 0 || bond.Mode != netstate.ActiveBackup && bond.Mode != netstate.BalanceTLB && bond.Mode != netstate.BalanceALB {
		return
	}
	bond.Active = bond.Ports[0]
	for _, name := range primary {
		if slices.Contains(bond.Ports, name) {
			bond.Active = name
			return
		}
	}
}

// devices are the interfaces behind netplan IDs, in order.
func (b stateBuilder) devices(ids []string) []string {
	names := []string{}
	for _, id := range ids {
		names = append(names, b.names[id]...)
	}
	return names
}

func (b stateBuilder) bridges() {
	for _, bridge := range b.declared.Network.Bridges {
		l := netstate.Link{Name: bridge.ID, Kind: "bridge", MTU: bridge.MTU, MAC: bridge.MAC}
		if bridge.OVS {
			l.Kind = netstate.KindOVSBridge
		}
		b.add(l)
	}
}

// bridgePorts comes when VLANs are there, which are ports as often as not.
func (b stateBuilder) bridgePorts() {
	for _, bridge := range b.declared.Network.Bridges {
		for _, name := range b.devices(bridge.Interfaces) {
			if port, ok := b.Link(name); ok && port.Master == "" {
				port.Master = bridge.ID
				b.SetLink(port)
			}
		}
	}
}

func (b stateBuilder) vlans() {
	for _, v := range b.declared.Network.VLANs {
		parent := v.Link
		if names := b.names[v.Link]; len(names) > 0 {
			parent = names[0]
		}
		b.add(netstate.Link{Name: v.ID, Kind: "vlan", MTU: v.MTU, MAC: v.MAC, VLAN: &netstate.VLAN{ID: v.Tag, Parent: parent}})
		if l, ok := b.Link(parent); ok && v.MAC.IsZero() {
			own, _ := b.Link(v.ID)
			own.MAC = l.MAC
			b.SetLink(own)
		}
	}
}

// settleMTUs gives every link without an MTU its parent's, its smallest
// port's, or Ethernet's.
func (b stateBuilder) settleMTUs() {
	for i := range b.state.Links {
		l := &b.state.Links[i]
		if l.MTU == 0 && l.VLAN == nil && l.Tunnel == nil && l.OVS == nil && !l.Switches() {
			l.MTU = DefaultMTU
		}
	}
	ports := netstate.Ports(b.state.Links)
	for range b.state.Links { // chains are no longer than there are links
		settled := true
		for i := range b.state.Links {
			if l := &b.state.Links[i]; l.MTU == 0 {
				l.MTU = b.inherited(*l, ports[l.Name])
				settled = settled && l.MTU != 0
			}
		}
		if settled {
			return
		}
	}
	for i := range b.state.Links {
		if l := &b.state.Links[i]; l.MTU == 0 {
			l.MTU = DefaultMTU
		}
	}
}

// inherited is the MTU that a VLAN takes from its parent and a bridge from its
// smallest port (br_mtu_auto_adjust, net/bridge/br_if.c); zero while unknown.
func (b stateBuilder) inherited(l netstate.Link, ports []string) int {
	if l.VLAN != nil {
		parent, ok := b.Link(l.VLAN.Parent)
		if !ok {
			return DefaultMTU
		}
		return parent.MTU
	}
	if l.Tunnel != nil {
		return overlay.MTU(*b.state, *l.Tunnel)
	}
	smallest := 0
	for _, name := range ports {
		port, _ := b.Link(name)
		if port.MTU == 0 {
			return 0
		}
		if smallest == 0 || port.MTU < smallest {
			smallest = port.MTU
		}
	}
	if smallest == 0 {
		return DefaultMTU
	}
	return smallest
}

// address puts a definition's addresses on its device with the routes that the
// kernel adds for their networks (fib_add_ifaddr, net/ipv4/fib_frontend.c).
func (b stateBuilder) address(d Device) {
	names := b.names[d.ID]
	if len(names) == 0 {
		for _, p := range d.Addresses {
			b.state.Missing = append(b.state.Missing, fmt.Sprintf("link of address %s: the devices of %s are unknown", p, d.ID))
		}
		return
	}
	l, found := b.Link(names[0])
	if !found {
		return
	}
	l.Addresses = append(l.Addresses, d.Addresses...)
	b.SetLink(l)
	for _, p := range d.Addresses {
		if p.IsSingleIP() {
			continue
		}
		r := netstate.Route{Dst: p.Masked(), Link: l.Name, Table: MainTable}
		if p.Addr().Is4() {
			r.Source = p.Addr()
		}
		b.state.Routes = append(b.state.Routes, r)
	}
}

// route adds a definition's routes and rules. A next hop that is the device's
// own address is no next hop: the destination is directly reachable.
func (b stateBuilder) route(d Device) {
	names := b.names[d.ID]
	for _, r := range d.Routes {
		if r.Type != "" && r.Type != "unicast" {
			b.state.Missing = append(b.state.Missing, fmt.Sprintf("route to %s: type %s is not modelled", r.To, r.Type))
			continue
		}
		route := netstate.Route{Dst: r.To, Gateway: r.Via, Source: r.From, Table: r.Table, Metric: r.Metric}
		if len(names) > 0 {
			route.Link = names[0]
		}
		if owns(d, r.Via) {
			route.Gateway = netip.Addr{}
		}
		if route.Table == 0 {
			route.Table = MainTable
		}
		b.state.Routes = append(b.state.Routes, route)
	}
	for _, r := range d.Rules {
		rule := netstate.Rule{Priority: r.Priority, From: r.From, To: r.To, Table: r.Table}
		if rule.Table == 0 {
			rule.Table = MainTable
		}
		b.state.Rules = append(b.state.Rules, rule)
	}
}

func owns(d Device, a netip.Addr) bool {
	return slices.ContainsFunc(d.Addresses, func(p netip.Prefix) bool { return p.Addr() == a })
}

// DirectlyReachable reports whether the route's next hop is an address of the
// device itself, which netplan writes for a destination on the link.
func (d Device) DirectlyReachable(r Route) bool { return r.Via.IsValid() && owns(d, r.Via) }
