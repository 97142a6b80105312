package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/linerate/linerate/netstate"
)

// Limits of an MTU: RFC 791 and RFC 8200 section 5.
const (
	minMTU     = 68
	minIPv6MTU = 1280
)

// mtus adds the steps to the wanted MTUs. What shrinks shrinks first, upper
// layers before lower ones; what grows grows after, lower layers first: a
// VLAN's MTU may at no time exceed its parent's (vlan_dev_change_mtu).
func (b *builder) mtus() {
	m := mtuChange{observed: b.now, want: make(map[string]int)}
	for _, l := range b.want.Links {
		have, ok := b.now.Link(l.Name)
		if !ok || l.MTU == 0 || l.MTU == have.MTU {
			continue
		}
		m.want[l.Name] = l.MTU
	}
	b.leavePorts(&m)
	m.leaveToBonds()
	var down, up []netstate.Link
	for _, l := range b.now.Links {
		switch want := m.want[l.Name]; {
		case want == 0:
			continue
		case want < l.MTU:
			down = append(down, l)
		default:
			up = append(up, l)
		}
		m.check(l)
	}
	m.checkVLANs()
	if len(m.problems) > 0 {
		b.problems = append(b.problems, m.problems...)
		return
	}
	byDepth := func(x, y netstate.Link) int { return m.depth(x.Name, 0) - m.depth(y.Name, 0) }
	slices.SortStableFunc(down, func(x, y netstate.Link) int { return byDepth(y, x) })
	slices.SortStableFunc(up, byDepth)
	for _, l := range slices.Concat(down, up) {
		m.steps = append(m.steps, m.step(l, l.MTU, m.want[l.Name]))
	}
	for _, s := range m.steps {
		b.do(s)
	}
}

// leavePorts drops the wish for a port's own MTU where it is not its bond's,
// which the bond would set again; what was said on purpose is told.
func (b *builder) leavePorts(m *mtuChange) {
	for name, own := range m.want {
		port, _ := b.now.Link(name)
		bond, ok := b.now.Link(port.Master)
		if !ok || bond.Bond == nil {
			continue
		}
		to := bond.MTU
		if w := m.want[bond.Name]; w != 0 {
			to = w
		}
		if own == to {
			continue
		}
		delete(m.want, name)
		if was, _ := b.observed.Link(name); own != was.MTU {
			b.left = append(b.left, fmt.Sprintf("%s mtu: not %d: its bond %s gives its ports its own, %d (bond_change_mtu)", name, own, bond.Name, to))
		}
	}
}

type mtuChange struct {
	observed netstate.Host
	want     map[string]int // the MTUs to set, by link
	steps    []Step
	problems []error
}

// leaveToBonds drops the ports of a bond that changes: the bond sets theirs
// (bond_change_mtu). A port that has strayed from its bond is first brought
// to the bond's old MTU, so that undoing both gives what was.
func (m *mtuChange) leaveToBonds() {
	for _, bond := range m.observed.Links {
		to := m.want[bond.Name]
		if bond.Bond == nil || to == 0 {
			continue
		}
		for _, name := range bond.Bond.Ports {
			port, ok := m.observed.Link(name)
			if !ok {
				continue
			}
			delete(m.want, name)
			if port.MTU != bond.MTU {
				s := m.step(port, port.MTU, bond.MTU)
				s.Why = fmt.Sprintf("it differs from its bond's, which sets it anyway; so that undo finds %d again", port.MTU)
				m.steps = append(m.steps, s)
			}
			if port.MaxMTU > 0 && to > port.MaxMTU {
				m.problems = append(m.problems, rule(bond.Name+" mtu", "%d is more than the %d that its port %s can", to, port.MaxMTU, name))
			}
		}
	}
}

func (m *mtuChange) step(l netstate.Link, old, want int) Step {
	return Step{Kind: LinkMTU, Link: l.Name, Old: strconv.Itoa(old), New: strconv.Itoa(want), Disruption: m.disruption(l)}
}

// disruption is PortFlap for hardware, whose drivers may stop and start their
// queues to change the MTU (ndo_change_mtu), and for bonds of such ports.
func (m *mtuChange) disruption(l netstate.Link) Disruption {
	if l.Kind == "" && l.Bond == nil && l.VLAN == nil {
		return PortFlap
	}
	if l.Bond != nil {
		for _, name := range l.Bond.Ports {
			if port, ok := m.observed.Link(name); ok && port.Kind == "" {
				return PortFlap
			}
		}
	}
	return Online
}

func (m *mtuChange) check(l netstate.Link) {
	want := m.want[l.Name]
	bad := func(format string, args ...any) {
		m.problems = append(m.problems, rule(l.Name+" mtu", format, args...))
	}
	switch {
	case want < minMTU:
		bad("%d is below IPv4's least, %d (RFC 791)", want, minMTU)
	case l.MaxMTU > 0 && want > l.MaxMTU:
		bad("%d is more than the %d its driver allows (IFLA_MAX_MTU)", want, l.MaxMTU)
	}
	for _, a := range l.Addresses {
		if a.Addr().Is6() && want < minIPv6MTU {
			bad("%d is below IPv6's least, %d (RFC 8200): the kernel would remove %s", want, minIPv6MTU, a)
		}
	}
}

// checkVLANs refuses a parent below its VLAN: the kernel would lower the VLAN
// by itself, and undo would not know.
func (m *mtuChange) checkVLANs() {
	final := func(l netstate.Link) int {
		if w := m.want[l.Name]; w != 0 {
			return w
		}
		return l.MTU
	}
	for _, l := range m.observed.Links {
		if l.VLAN == nil {
			continue
		}
		parent, ok := m.observed.Link(l.VLAN.Parent)
		if !ok || m.want[l.Name] == 0 && m.want[parent.Name] == 0 {
			continue
		}
		if v, p := final(l), final(parent); v > p {
			m.problems = append(m.problems, rule(l.Name+" mtu",
				"%d would exceed the %d of %s, which it rides on (vlan_dev_change_mtu)", v, p, parent.Name))
		}
	}
}

// depth counts the links below: ports, parents. Rings in what was observed
// end at a depth no host has.
func (m *mtuChange) depth(name string, guard int) int {
	if guard > 16 {
		return guard
	}
	deepest := -1
	for _, l := range m.observed.Links {
		below := l.Master == name
		if own, ok := m.observed.Link(name); ok && own.VLAN != nil && own.VLAN.Parent == l.Name {
			below = true
		}
		if below {
			deepest = max(deepest, m.depth(l.Name, guard+1))
		}
	}
	return deepest + 1
}
