package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// deepest ends rings in what a host says of its layers.
const deepest = 16

// layers is the wanted links, those below before those on them.
func (b *builder) layers() []netstate.Link {
	out, level := slices.Clone(b.want.Links), b.levels()
	slices.SortStableFunc(out, func(x, y netstate.Link) int { return level[x.Name] - level[y.Name] })
	return out
}

// levels is how far above the lowest every wanted link is.
func (b *builder) levels() map[string]int {
	below := make(map[string][]string)
	for _, l := range b.want.Links {
		below[l.Name] = nil
		if l.VLAN != nil {
			below[l.Name] = append(below[l.Name], l.VLAN.Parent)
		}
		if l.Bond != nil {
			below[l.Name] = append(below[l.Name], b.portsToBe(l.Name)...)
		}
	}
	return levels(below)
}

// levels counts the links below every link, along the longest way; those of a
// ring are deepest or more. Names that are no link's are not counted.
func levels(below map[string][]string) map[string]int {
	level := make(map[string]int)
	for range deepest + 1 {
		for name, all := range below {
			for _, under := range all {
				if _, there := below[under]; there {
					level[name] = max(level[name], min(level[under]+1, deepest+1))
				}
			}
		}
	}
	return level
}

// link makes a link that is not there, and gives a bond its options and ports.
func (b *builder) link(want netstate.Link) {
	if b.makes(want.Name) {
		b.make(want)
	} else if have, ok := b.now.Link(want.Name); ok && want.Bond != nil && have.Bond != nil {
		b.changeOptions(have, want)
	}
	if want.Bond != nil && len(b.problems) == 0 {
		b.ports(want)
	}
}

// make makes a link, bare and down, then gives it its own sysctls, a bond also
// its options and MTU while nothing is on it.
func (b *builder) make(want netstate.Link) {
	m := b.made(want)
	b.do(Step{Kind: LinkPresence, Link: want.Name, Make: m, New: Present, Disruption: Online})
	have, ok := b.now.Link(want.Name)
	if !ok {
		return
	}
	b.sysctls(want.Name)
	if want.Bond == nil {
		return
	}
	c := newBondChange(b.now.Kernel, have, want, true)
	c.plan()
	b.problems, b.left = append(b.problems, c.problems...), append(b.left, c.left...)
	if len(c.problems) > 0 {
		return
	}
	for _, s := range c.steps {
		s.Disruption, s.DisruptionOfRollback = Online, "" // nobody is on it yet
		b.do(s)
	}
	if want.MTU != 0 {
		b.do(Step{Kind: LinkMTU, Link: want.Name, New: strconv.Itoa(want.MTU), Disruption: Online})
	}
}

// made is what makes a link. A hardware address is said only where it is not
// the one that the link takes by itself.
func (b *builder) made(want netstate.Link) *Made {
	m := &Made{Kind: kindOf(want)}
	switch m.Kind {
	case kindVLAN:
		m.Parent, m.ID, m.Protocol = want.VLAN.Parent, want.VLAN.ID, want.VLAN.Protocol
		if parent, ok := b.now.Link(m.Parent); ok && parent.MAC != want.MAC {
			m.MAC = want.MAC
		}
	case kindBond:
		if !b.whole || want.MAC != b.firstMAC(want) {
			m.MAC = want.MAC
		}
	default:
		m.MAC = want.MAC
	}
	return m
}

// firstMAC is what a bond takes from its first port.
func (b *builder) firstMAC(bond netstate.Link) flow.MAC {
	if len(bond.Bond.Ports) == 0 {
		return flow.MAC{}
	}
	first, _ := b.now.Link(bond.Bond.Ports[0])
	return first.MAC
}

// kindOf is the kind of a link that a plan makes or deletes; "" of another.
func kindOf(l netstate.Link) string {
	switch {
	case l.Bond != nil:
		return kindBond
	case l.VLAN != nil:
		return kindVLAN
	case l.Kind == kindDummy:
		return kindDummy
	}
	return ""
}

// deleteLinks takes links away, whole: by the way back of the plan that would
// make them as they are.
func (b *builder) deleteLinks() {
	var gone []netstate.Link
	for _, name := range b.want.Absent {
		if l, ok := b.now.Link(name); ok {
			gone = append(gone, l)
			if mtu, lower := b.lowerMTU6(l); lower {
				b.left = append(b.left, mtu6Key(name)+": "+fold(mtu.Value)+" goes with its link, and a rollback does not bring it back")
			}
		}
	}
	if len(gone) == 0 {
		return
	}
	inner := newBuilder(without(b.now, gone), b.now)
	inner.whole = true
	for i := range inner.want.Links {
		l := &inner.want.Links[i]
		l.Addresses = append([]netip.Prefix{}, l.Addresses...)
	}
	if inner.want.Routes == nil {
		inner.want.Routes = []netstate.Route{}
	}
	inner.build()
	b.problems = append(b.problems, inner.problems...)
	if len(b.problems) > 0 {
		return
	}
	why := "it goes"
	for _, s := range (Plan{Steps: inner.steps}).Rollback().Steps {
		s.Disruption, s.Ready = LinkDown, nil
		if l, ok := b.now.Link(s.Link); ok && l.Bond != nil {
			s.Disruption = BondDown
		}
		s.Why = why
		b.do(s)
	}
}

// without is a host as it is without some links: their ports are let go, and
// what is on them is not there.
func without(h netstate.Host, gone []netstate.Link) netstate.Host {
	h = h.Clone()
	var names []string
	for _, l := range gone {
		names = append(names, l.Name)
	}
	on := func(link string) bool { return slices.Contains(names, link) }
	for _, l := range h.Links {
		if on(l.Master) {
			// As bond_release leaves it.
			if bond, _ := h.Link(l.Master); !l.PermanentMAC.IsZero() && (bond.Bond == nil || !LeavesMACs(*bond.Bond)) {
				l.MAC = l.PermanentMAC
			}
			l.Master, l.Up, l.MTU = "", false, freshMTU
			if l.Port != nil {
				l.Port = &netstate.BondPort{MIIUp: l.Port.MIIUp, Active: l.Port.Active}
			}
			h.SetLink(l)
		}
	}
	h.Links = slices.DeleteFunc(h.Links, func(l netstate.Link) bool { return on(l.Name) })
	h.Routes = slices.DeleteFunc(h.Routes, func(r netstate.Route) bool { return uses(r, names) })
	for key := range h.Sysctls {
		if link, ok := netstate.LinkOfSysctl(key); ok && on(link) {
			delete(h.Sysctls, key)
		}
	}
	if h.MPTCP != nil {
		h.MPTCP.Endpoints = slices.DeleteFunc(h.MPTCP.Endpoints, func(e netstate.MPTCPEndpoint) bool { return on(e.Link) })
	}
	return h
}

// macs sets hardware addresses that were asked for; a port has its bond's.
func (b *builder) macs() {
	for _, want := range b.want.Links {
		have, ok := b.now.Link(want.Name)
		was, _ := b.observed.Link(want.Name)
		if !ok || want.MAC.IsZero() || want.MAC == was.MAC || have.MAC == want.MAC || b.isPort(have) || b.makes(want.Name) {
			continue
		}
		if have.Bond != nil && len(have.Bond.Ports) > 0 && OwnMACs(*have.Bond) {
			b.left = append(b.left, fmt.Sprintf("%s mac: with fail_over_mac its address is its active port's (bond_set_mac_address)", want.Name))
			continue
		}
		d, why := Online, ""
		if kindOf(have) == "" {
			d = LinkDown
		}
		if len(have.Leases) > 0 {
			why = fmt.Sprintf("the leased %s may change with it", have.Leases[0])
		}
		b.do(Step{Kind: LinkMAC, Link: want.Name, New: want.MAC.String(), Disruption: d, Why: why, Ready: []string{want.Name}})
	}
}

// states takes links down, upper ones first, and up, lower ones first. A port
// goes with its bond.
func (b *builder) states() {
	layers := b.layers()
	for _, want := range slices.Backward(layers) {
		have, ok := b.now.Link(want.Name)
		was, _ := b.observed.Link(want.Name)
		if ok && have.Up && was.Up && !want.Up && !b.isPort(have) {
			b.takeDown(want.Name, "")
		}
	}
	for _, want := range layers {
		have, ok := b.now.Link(want.Name)
		if ok && !have.Up && want.Up && !b.isPort(have) {
			b.do(Step{Kind: LinkState, Link: want.Name, New: Up, Disruption: Online, Ready: []string{want.Name}})
		}
	}
}

// takeDown takes a link down, after the routes that would go with it.
func (b *builder) takeDown(name, why string) {
	routes, problems := lostRoutes(b.now, name)
	if len(problems) > 0 {
		b.problems = append(b.problems, problems...)
		return
	}
	for _, r := range routes {
		b.loseRoute(r, fmt.Sprintf("it is lost when %s goes down", name))
	}
	b.do(Step{Kind: LinkState, Link: name, New: Down, Disruption: LinkDown, Why: why, ReadyRolledBack: []string{name}})
}

// isPort reports a port of a bond.
func (b *builder) isPort(l netstate.Link) bool {
	master, ok := b.now.Link(l.Master)
	return ok && master.Bond != nil
}
