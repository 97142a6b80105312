package plan

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// check refuses what no plan can do, before any step is thought of.
func (b *builder) check() {
	for _, name := range b.want.Absent {
		if l, ok := b.now.Link(name); ok {
			b.checkGone(l)
		}
	}
	member := make(map[string]string)
	for _, want := range b.want.Links {
		have, there := b.observed.Link(want.Name)
		if there {
			b.checkKind(have, want)
		} else {
			b.checkMade(want)
		}
		if want.Bond != nil {
			b.checkPorts(want, member)
		}
	}
	b.checkAddresses()
	b.checkSysctls()
}

// checkGone refuses to delete what could not be made again as it is.
func (b *builder) checkGone(l netstate.Link) {
	if kindOf(l) == "" {
		b.problem(l.Name, "it is to be absent, but it is no bond, VLAN or dummy, which is all that a plan deletes")
	}
	if len(l.Leases) > 0 {
		b.problem(l.Name, "it is to be absent, but it holds the leased %s: have its owner give that back first", l.Leases[0])
	}
	if l.Master != "" && !b.absent(l.Master) {
		b.problem(l.Name, "it is to be absent, but it is a port of %s", l.Master)
	}
	for _, o := range b.now.Links {
		if o.VLAN != nil && o.VLAN.Parent == l.Name && !b.absent(o.Name) {
			b.problem(l.Name, "it is to be absent, but the VLAN %s is on it: say that one absent too", o.Name)
		}
	}
}

// BeforeBond is what to do before a bond takes the place of a team that teamd makes, in
// words that can follow a colon.
func BeforeBond(team string) string {
	return "stop teamd first (`systemctl disable --now teamd@" + team + "`, or delete its connection with nmcli), from a console or over another link, and plan then"
}

// checkKind refuses to turn a link into another.
func (b *builder) checkKind(have, want netstate.Link) {
	switch {
	case want.Bond != nil && have.Kind == kindTeam:
		b.problem(want.Name, "it is a team of teamd's, and no plan touches one: %s", BeforeBond(want.Name))
	case want.Bond != nil && have.Bond == nil:
		b.problem(want.Name, "a link of that name is there, and it is no bond")
	case want.VLAN != nil && have.VLAN == nil:
		b.problem(want.Name, "a link of that name is there, and it is no VLAN")
	case want.VLAN != nil && *want.VLAN != *have.VLAN:
		b.problem(want.Name, "it is VLAN %d on %s, and the kernel does not change that: say it absent first", have.VLAN.ID, have.VLAN.Parent)
	}
}

// checkMade refuses links that cannot be made.
func (b *builder) checkMade(want netstate.Link) {
	name := want.Name
	if kindOf(want) == "" {
		b.problem(name, "no such link was observed, and a plan makes only bonds, VLANs and dummies")
		return
	}
	if name == NoMaster {
		b.problem(name, "a link cannot have that name here")
	} else if w, err := (bondopt.Option{Kind: bondopt.Port}).Word(name); err != nil || w != name {
		b.problem(name, "%q is no name of a link: at most 15 bytes without blank, slash or colon (dev_valid_name)", name)
	}
	if want.MTU != 0 && (want.MTU < minMTU || want.MTU > maxMTU) {
		b.problem(name+" mtu", "%d is outside the %d to %d of such a link", want.MTU, minMTU, maxMTU)
	}
	v := want.VLAN
	if v == nil {
		return
	}
	if v.ID < 1 || v.ID > 4094 {
		b.problem(name, "VLAN ID %d is outside 1 to 4094 (IEEE 802.1Q)", v.ID)
	}
	_, there := b.observed.Link(v.Parent)
	_, wanted := b.want.Link(v.Parent)
	switch {
	case b.absent(v.Parent):
		b.problem(name, "it is a VLAN on %s, which is to be absent", v.Parent)
	case !there && !wanted:
		b.problem(name, "it is a VLAN on %s, and there is no such link", v.Parent)
	case b.levels()[name] >= deepest:
		b.problem(name, "it is a VLAN on itself")
	}
}

// checkPorts refuses ports that a bond cannot take. member holds the bond of
// every port so far.
func (b *builder) checkPorts(want netstate.Link, member map[string]string) {
	what := want.Name + " ports"
	seen := make(map[string]bool)
	for _, p := range want.Bond.Ports {
		if seen[p] {
			b.problem(what, "%s is named twice", p)
			continue
		}
		seen[p] = true
		if other := member[p]; other != "" {
			b.problem(what, "%s is a member of %s too: a link can be in one bond only", p, other)
			continue
		}
		member[p] = want.Name
		have, there := b.observed.Link(p)
		if there && have.Master == want.Name {
			continue
		}
		if l, ok := b.want.Link(p); ok && !there {
			have = l
		} else if !there {
			b.problem(what, "there is no link %s", p)
			continue
		}
		b.checkPort(want, have)
	}
}

// checkPort refuses one link as a new port.
func (b *builder) checkPort(bond, port netstate.Link) {
	what := bond.Name + " ports"
	switch {
	case b.absent(port.Name):
		b.problem(what, "%s is to be absent", port.Name)
	case port.Kind == kindLoopback:
		b.problem(what, "%s is the loopback, which no bond takes (bond_enslave)", port.Name)
	case port.Bond != nil:
		b.problem(what, "%s is a bond itself, and a bond takes no bond (bond_enslave)", port.Name)
	case port.VLAN != nil && slices.Contains(b.below(port), bond.Name):
		b.problem(what, "%s is a VLAN on %s itself", port.Name, bond.Name)
	}
	if m, ok := b.observed.Link(port.Master); ok && !b.absent(m.Name) {
		other, _ := b.want.Link(m.Name)
		switch {
		case m.Kind == kindTeam && m.Name == bond.Name: // said of the team itself
		case m.Kind == kindTeam:
			b.problem(what, "%s is a port of %s, a team of teamd's: stop teamd first", port.Name, m.Name)
		case m.Bond == nil:
			b.problem(what, "%s is a port of %s: take it out there first", port.Name, m.Name)
		case other.Bond == nil || other.Bond.Ports == nil:
			b.problem(what, "%s is a member of %s: say that one's ports without it", port.Name, m.Name)
		}
	}
	if port.MaxMTU > 0 && bond.MTU > port.MaxMTU {
		b.problem(bond.Name+" mtu", "%d is more than the %d that its port %s can", bond.MTU, port.MaxMTU, port.Name)
	}
	for _, l := range b.observed.Links {
		if l.VLAN != nil && l.VLAN.Parent == port.Name && !b.absent(l.Name) {
			b.problem(what, "the VLAN %s is on %s and would be cut off: say it absent, and make one on the bond", l.Name, port.Name)
		}
	}
	b.checkHeld(bond, port)
}

// below is the links that a wanted VLAN is on, down to the last.
func (b *builder) below(l netstate.Link) []string {
	var names []string
	for i := 0; l.VLAN != nil && i < deepest; i++ {
		names = append(names, l.VLAN.Parent)
		next, ok := b.want.Link(l.VLAN.Parent)
		if !ok {
			next, _ = b.observed.Link(l.VLAN.Parent)
		}
		l = next
	}
	return names
}

// checkHeld refuses a new port with an address that no other link gets. A
// lease may go with it to its bond.
func (b *builder) checkHeld(bond, port netstate.Link) {
	for _, a := range port.Addresses {
		if !ownAddress(a) {
			continue
		}
		if slices.Contains(port.Leases, a) {
			if slices.Contains(bond.Addresses, a) || slices.Contains(bond.Leases, a) {
				b.moved[port.Name] = bond.Name
				continue
			}
			b.problem(bond.Name+" ports", "%s holds the leased %s, which would be cut off: ask for it on %s (dhcp4: true) or have its owner give it back first", port.Name, a, bond.Name)
			continue
		}
		got := slices.ContainsFunc(b.want.Links, func(l netstate.Link) bool {
			return l.Name != port.Name && slices.ContainsFunc(l.Addresses, func(o netip.Prefix) bool { return o.Addr() == a.Addr() })
		})
		if !got {
			b.problem(bond.Name+" ports", "%s holds %s, which no other link gets, and which would be cut off: say it on %s, or remove it first", port.Name, a, bond.Name)
		}
	}
}

// checkAddresses refuses an address that two links are to have; what was so
// before is left. A port's stale addresses go to its bond.
func (b *builder) checkAddresses() {
	holder := make(map[netip.Addr]string)
	for _, l := range b.want.Links {
		if b.portOfBond(l.Name) {
			continue
		}
		was, _ := b.observed.Link(l.Name)
		for _, a := range l.Addresses {
			if a.Addr().Is6() && l.MTU > 0 && l.MTU < minIPv6MTU && !slices.Contains(was.Addresses, a) {
				b.problem(l.Name+" address "+a.String(), "an MTU of %d is below IPv6's least, %d (RFC 8200)", l.MTU, minIPv6MTU)
			}
			if !ownAddress(a) || a.Addr().IsLoopback() {
				continue
			}
			other := holder[a.Addr()]
			if other == "" {
				holder[a.Addr()] = l.Name
				continue
			}
			before, _ := b.observed.Link(other)
			if other == l.Name || slices.Contains(was.Addresses, a) && slices.ContainsFunc(before.Addresses, func(o netip.Prefix) bool { return o.Addr() == a.Addr() }) {
				continue
			}
			b.problem(l.Name+" address "+a.String(), "%s has it too: an address is on one link of a host only", other)
		}
	}
}

// portOfBond reports a link that a wanted bond has as a port.
func (b *builder) portOfBond(name string) bool {
	return slices.ContainsFunc(b.want.Links, func(l netstate.Link) bool {
		return l.Bond != nil && slices.Contains(l.Bond.Ports, name)
	})
}
