package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	own := b.leavePorts(&m)
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
	level := m.levels()
	byDepth := func(x, y netstate.Link) int { return level[x.Name] - level[y.Name] }
	slices.SortStableFunc(down, func(x, y netstate.Link) int { return byDepth(y, x) })
	slices.SortStableFunc(up, byDepth)
	for _, l := range slices.Concat(down, up) {
		m.steps = append(m.steps, m.step(l, l.MTU, m.want[l.Name]))
	}
	for _, s := range m.steps {
		b.spareRoutes(s)
		b.do(s)
	}
	for _, want := range b.want.Links {
		if have, _ := b.now.Link(want.Name); own[want.Name] != 0 {
			b.do(m.step(have, have.MTU, own[want.Name]))
		}
	}
}

// spareRoutes takes away the IPv6 routes with an MTU of their own that the
// kernel would change along with their link's, there or back: those that are
// not below the smaller of the two (rt6_mtu_change_route; tried on 6.1).
func (b *builder) spareRoutes(s Step) {
	links := []string{s.Link}
	if l, _ := b.now.Link(s.Link); l.Bond != nil {
		links = append(links, l.Bond.Ports...)
	}
	for _, r := range slices.Clone(b.now.Routes) {
		if r.MTU == 0 || !r.Dst.Addr().Is6() || !uses(r, links) || restored(b.now, r) {
			continue
		}
		from, _ := strconv.Atoi(s.Old)
		if to, _ := strconv.Atoi(s.New); r.MTU >= min(from, to) {
			b.loseRoute(r, fmt.Sprintf("its mtu %d would change with the MTU of %s", r.MTU, s.Link))
		}
	}
}

// leavePorts takes the wish for a port's own MTU away where it is not its
// bond's, which the bond would set again, and returns those that were said on
// purpose: they come when their bonds have theirs.
func (b *builder) leavePorts(m *mtuChange) map[string]int {
	later := make(map[string]int)
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
			m.checkValue(port, own)
			later[name] = own
		}
	}
	return later
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
				s.Why = fmt.Sprintf("it differs from its bond's, which sets it anyway; so that a rollback finds %d again", port.MTU)
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

func (m *mtuChange) check(l netstate.Link) { m.checkValue(l, m.want[l.Name]) }

func (m *mtuChange) checkValue(l netstate.Link, want int) {
	bad := func(format string, args ...any) {
		m.problems = append(m.problems, rule(l.Name+" mtu", format, args...))
	}
	switch {
	case want < minMTU:
		bad("%d is below IPv4's least, %d (RFC 791)", want, minMTU)
	case l.MaxMTU > 0 && want > l.MaxMTU:
		bad("%d is more than the %d its driver allows (IFLA_MAX_MTU)", want, l.MaxMTU)
	}
	if want < minIPv6MTU && l.MTU >= minIPv6MTU {
		for _, key := range m.observed.SysctlKeys() {
			name, own := strings.CutPrefix(key, netstate.LinkSysctl("ipv6", l.Name, ""))
			if begin, known := m.observed.Sysctls[netstate.LinkSysctl("ipv6", "default", name)]; own && known && fold(begin.Value) != fold(m.observed.Sysctls[key].Value) {
				bad("%d is below IPv6's least, %d (RFC 8200): the kernel would forget %s", want, minIPv6MTU, key)
			}
		}
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
		parent, ok := m.observed.Link(l.LargestOn())
		if !ok || m.want[l.Name] == 0 && m.want[parent.Name] == 0 {
			continue
		}
		if v, p := final(l), final(parent); v > p {
			m.problems = append(m.problems, rule(l.Name+" mtu",
				"%d would exceed the %d of %s, which it rides on (vlan_dev_change_mtu)", v, p, parent.Name))
		}
	}
}

// levels counts the links below every link: ports, parents.
func (m *mtuChange) levels() map[string]int {
	below := make(map[string][]string)
	for _, l := range m.observed.Links {
		below[l.Name] = nil
	}
	for _, l := range m.observed.Links {
		if lower := l.LargestOn(); lower != "" {
			below[l.Name] = append(below[l.Name], lower)
		}
		if l.Master != "" {
			below[l.Master] = append(below[l.Master], l.Name)
		}
	}
	return levels(below)
}
