package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// portsToBe is the ports that a bond is to have: those it has, where desired
// does not say. Of a bond whose ports' order means nothing the order it has is
// kept.
func (b *builder) portsToBe(bond string) []string {
	want, _ := b.want.Link(bond)
	was, _ := b.observed.Link(bond)
	switch {
	case want.Bond == nil || want.Bond.Ports == nil:
		if was.Bond == nil {
			return nil
		}
		return was.Bond.Ports
	case was.Bond == nil || want.Bond.Mode.Hashes():
		return want.Bond.Ports
	}
	var to []string
	for _, p := range was.Bond.Ports {
		if slices.Contains(want.Bond.Ports, p) {
			to = append(to, p)
		}
	}
	for _, p := range want.Bond.Ports {
		if !slices.Contains(to, p) {
			to = append(to, p)
		}
	}
	return to
}

// ports gives a bond its ports, one at a time: those that come before those
// that go, so that one always carries. A port that goes is made the last one
// first, where the order counts, so that a rollback finds it in its place.
func (b *builder) ports(want netstate.Link) {
	bond := want.Name
	to := b.portsToBe(bond)
	for _, p := range to {
		if l, ok := b.now.Link(p); ok && l.Master != bond && b.freePort(p, bond) {
			b.attach(bond, p)
		}
	}
	have, ok := b.now.Link(bond)
	if !ok || have.Bond == nil {
		return
	}
	var goes []string
	for _, p := range have.Bond.Ports {
		if !slices.Contains(to, p) {
			goes = append(goes, p)
		}
	}
	if b.orderCounts(have) {
		b.order(bond, slices.Concat(to, goes))
	}
	for _, p := range slices.Backward(goes) {
		b.detach(bond, p)
	}
	b.portValues(want)
}

// orderCounts reports a bond that counts its ports in the order they came in, now
// or after a rollback.
func (b *builder) orderCounts(bond netstate.Link) bool {
	was, there := b.observed.Link(bond.Name)
	return bond.Bond.Mode.Hashes() || there && was.Bond != nil && was.Bond.Mode.Hashes()
}

// order brings a bond's ports into an order, one port a step.
func (b *builder) order(bond string, to []string) {
	l, _ := b.now.Link(bond)
	now := l.Bond.Ports
	if len(now) != len(to) || len(b.problems) > 0 {
		return
	}
	for _, p := range movedPorts(now, to) {
		was := now
		now = append(slices.DeleteFunc(slices.Clone(was), func(o string) bool { return o == p }), p)
		b.bareport(bond, p, PortFlap)
		// A rollback moves those that came after it.
		for _, back := range movedPorts(now, was) {
			b.bareport(bond, back, PortFlap)
		}
		b.do(Step{Kind: PortOrder, Link: bond, New: joinPorts(now), Disruption: PortFlap, Ready: []string{p},
			Why: fmt.Sprintf("the transmit hash counts ports in the order they came in: %s leaves and comes back last", p)})
	}
}

// attach puts a free port into a bond.
func (b *builder) attach(bond, port string) {
	l, _ := b.now.Link(bond)
	s := Step{Kind: PortMaster, Link: port, New: bond, Disruption: PortFlap}
	if l.Up {
		s.Ready = []string{port}
	}
	if lease := b.leaseOf(port); lease != "" {
		s.Why = fmt.Sprintf("the leased %s moves to %s; it may change with the hardware address", lease, bond)
	}
	b.takeAddress(bond, port)
	b.do(s)
}

// takeAddress gives a bond without ports the hardware address that it takes
// from its first, so that undo gives back the one it had: the kernel draws
// another when the last port leaves (eth_hw_addr_random).
func (b *builder) takeAddress(bond, port string) {
	was, there := b.observed.Link(bond)
	have, _ := b.now.Link(bond)
	first, _ := b.now.Link(port)
	want, _ := b.want.Link(bond)
	if b.whole || !there || was.Bond == nil || len(have.Bond.Ports) > 0 || !want.MAC.IsZero() || have.MAC.IsZero() || first.MAC.IsZero() {
		return
	}
	b.do(Step{Kind: LinkMAC, Link: bond, New: first.MAC.String(), Disruption: Online, Redrawn: true,
		Why: fmt.Sprintf("a bond takes its first port's, %s; a step, so that a rollback finds this one again", port)})
}

// leaseOf is a leased address that a port had before the plan.
func (b *builder) leaseOf(port string) string {
	if was, ok := b.observed.Link(port); ok && len(was.Leases) > 0 {
		return was.Leases[0].String()
	}
	return ""
}

// detach takes a port out of a bond.
func (b *builder) detach(bond, port string) {
	l, _ := b.now.Link(bond)
	s := Step{Kind: PortMaster, Link: port, New: NoMaster, Disruption: PortFlap}
	if len(l.Bond.Ports) == 1 && l.Up {
		s.Disruption = BondDown
	}
	if l.Up {
		s.ReadyRolledBack = []string{port}
	}
	p, _ := b.now.Link(port)
	if l.MAC == p.PermanentMAC && !l.MAC.IsZero() {
		s.Why = fmt.Sprintf("%s keeps the hardware address it had from it", bond)
		if len(l.Leases) > 0 {
			s.Why = fmt.Sprintf("%s had its hardware address from it: the leased %s may change with the next start", bond, l.Leases[0])
		}
	}
	if len(l.Bond.Ports) == 1 && l.MAC != p.PermanentMAC && !l.MAC.IsZero() && !p.PermanentMAC.IsZero() && !OwnMACs(*l.Bond) {
		b.do(Step{Kind: LinkMAC, Link: bond, New: p.PermanentMAC.String(), Disruption: s.Disruption,
			Why: "without ports it loses its own address; so that a rollback finds it again"})
	}
	b.bareport(bond, port, s.Disruption)
	b.do(s)
}

// bareport takes from a port what it would lose with its bond, so that undo
// finds it again.
func (b *builder) bareport(bond, port string, d Disruption) {
	why := fmt.Sprintf("it would be lost when %s leaves %s; so that a rollback finds it again", port, bond)
	l, _ := b.now.Link(bond)
	p, ok := b.now.Link(port)
	if !ok {
		return
	}
	if l.Bond.Options[bondopt.Primary] == port {
		b.do(Step{Kind: BondOption, Link: bond, Key: bondopt.Primary, New: NoValue, Disruption: Online, Why: why})
	}
	for _, o := range bondopt.Ports() {
		if p.Port != nil && changed(o, p.Port) {
			b.do(Step{Kind: PortOption, Link: port, Key: o.Name, New: o.Default, Disruption: Online, Why: why})
		}
	}
	b.bareAddresses(p, bond, why)
	if p.MTU != l.MTU {
		b.do(Step{Kind: LinkMTU, Link: port, New: strconv.Itoa(l.MTU), Disruption: d,
			Why: fmt.Sprintf("it differs from its bond's, which sets it anyway; so that a rollback finds %d again", p.MTU)})
	}
}

// bareAddresses takes a port's own IPv6 addresses and routes from it, which the kernel
// removes when it closes the port (bond_release, addrconf_ifdown; keep_addr_on_down saves
// none of them, as a port's address is not set up again). Those that are wanted come back
// with the others, unless it is a port still: what is a port's own no plan adds. Of a port
// that goes into another bond, checkHeld and leaveAddresses judge.
func (b *builder) bareAddresses(port netstate.Link, bond, why string) {
	want, named := b.want.Link(port.Name)
	stays := slices.Contains(b.portsToBe(bond), port.Name)
	moves := slices.ContainsFunc(b.want.Links, func(l netstate.Link) bool {
		return l.Name != bond && l.Bond != nil && slices.Contains(l.Bond.Ports, port.Name)
	})
	for _, a := range port.Addresses {
		switch {
		case !lostWhenDown(a):
		case !moves && (stays || !named || want.Addresses == nil || slices.Contains(port.Leases, a)):
			b.problem(bond+" ports", "%s holds %s, which the kernel removes when it leaves %s: take it off first, a port needs none", port.Name, a, bond)
			return
		default:
			b.dropAddress(port.Name, a, why)
		}
	}
	routes, problems := lostRoutes(b.now, port.Name)
	b.problems = append(b.problems, problems...)
	for _, r := range routes {
		if stays && !moves {
			b.problem(bond+" ports", "the route %s leads over %s, and the kernel removes it when that leaves %s: take it off first", routeWords(&r, false), port.Name, bond)
			return
		}
		b.loseRoute(r, why)
	}
}

// lostWhenDown reports an address that goes when its link does (addrconf_ifdown).
func lostWhenDown(a netip.Prefix) bool { return a.Addr().Is6() && !a.Addr().IsLinkLocalUnicast() }

// freePort makes a link ready to become a port: out of another bond, without
// addresses, routes and endpoints, and down. It reports whether it could.
func (b *builder) freePort(port, bond string) bool {
	before := len(b.problems)
	why := fmt.Sprintf("%s becomes a port of %s", port, bond)
	l, ok := b.now.Link(port)
	if !ok {
		b.problem(bond+" ports", "there is no link %s", port)
		return false
	}
	if l.Master != "" {
		if !b.isPort(l) {
			b.problem(bond+" ports", "%s is a port of %s, which is no bond: take it out there first", port, l.Master)
			return false
		}
		b.leaveOthers(l.Master, port)
		b.detach(l.Master, port)
	}
	if b.now.MPTCP != nil {
		for _, e := range slices.Clone(b.now.MPTCP.Endpoints) {
			if e.Link == port {
				b.do(endpointStep(e, Absent, why))
			}
		}
	}
	if !b.whole {
		b.leaveAddresses(port, why)
	}
	if l, _ = b.now.Link(port); l.Up {
		b.takeDown(port, why)
	}
	return len(b.problems) == before
}

// leaveOthers makes a port that another bond takes the last of its own, where the
// order counts: a rollback adds it there.
func (b *builder) leaveOthers(bond, port string) {
	l, _ := b.now.Link(bond)
	if b.orderCounts(l) {
		b.order(bond, append(slices.DeleteFunc(slices.Clone(l.Bond.Ports), func(o string) bool { return o == port }), port))
	}
}

// leaveAddresses takes every address off a link, the last one first.
func (b *builder) leaveAddresses(port, why string) {
	l, _ := b.now.Link(port)
	for _, a := range slices.Backward(l.Addresses) {
		if a.Addr().IsLinkLocalUnicast() && a.Addr().Is6() {
			continue
		}
		b.dropAddress(port, a, why)
	}
}

// portValues sets what a bond's ports are in it: priorities and queues, then
// which of them is the primary and the active one.
func (b *builder) portValues(want netstate.Link) {
	bond, _ := b.now.Link(want.Name)
	if b.freeQueues(bond); len(b.problems) > 0 {
		return
	}
	for _, name := range bond.Bond.Ports {
		to := b.portWanted(name, want.Name)
		l, _ := b.now.Link(name)
		if to == nil || l.Port == nil {
			continue
		}
		for _, o := range bondopt.Ports() {
			b.portSetting(o, name, bond.Bond.Mode, *l.Port, *to)
		}
	}
	for _, option := range [...]string{bondopt.Primary, bondopt.Active} {
		b.portOption(want, option)
	}
}

// portSetting sets one option of a port.
func (b *builder) portSetting(o bondopt.Option, name string, mode netstate.BondMode, now, to netstate.BondPort) {
	value, have := o.OfPort(to), o.OfPort(now)
	lacks := have == "" || !o.Untold() && missing(o, b.now.Kernel)
	switch {
	case value == "" || value == have:
	case !o.Allows(mode):
		if value != o.Default {
			b.left = append(b.left, fmt.Sprintf("%s port %s: %s has no meaning in mode %s (%s)", name, o.Name, value, mode, o.Source))
		}
	case lacks && value != o.Default:
		b.problem(name+" port "+o.Name, "kernel %s has no such option: it came with %s", b.now.Kernel.Release, o.Releases())
	case !lacks:
		b.do(Step{Kind: PortOption, Link: name, Key: o.Name, New: value, Disruption: Online})
	}
}

// freeQueues takes from a bond's ports the queues that others of them are to
// have: the driver lets no two have the same (bond_option_queue_id_set).
func (b *builder) freeQueues(bond netstate.Link) {
	owner := make(map[int]string)
	for _, name := range bond.Bond.Ports {
		to := b.portWanted(name, bond.Name)
		if to == nil || to.QueueID == 0 {
			continue
		}
		if other, taken := owner[to.QueueID]; taken {
			b.problem(name+" port queue_id", "%s is to have queue %d too (bond_option_queue_id_set)", other, to.QueueID)
		}
		owner[to.QueueID] = name
	}
	for _, name := range bond.Bond.Ports {
		l, _ := b.now.Link(name)
		if l.Port == nil || l.Port.QueueID == 0 || owner[l.Port.QueueID] == "" || owner[l.Port.QueueID] == name {
			continue
		}
		b.do(Step{Kind: PortOption, Link: name, Key: bondopt.QueueID, New: "0", Disruption: Online,
			Why: fmt.Sprintf("no two ports of a bond may have one queue, and %s is to have this", owner[l.Port.QueueID])})
	}
}

// portWanted is what a port is to be in its bond; nil leaves it.
func (b *builder) portWanted(port, bond string) *netstate.BondPort {
	if l, ok := b.want.Link(port); ok && l.Port != nil {
		return l.Port
	}
	if was, ok := b.observed.Link(port); ok && was.Master == bond {
		return was.Port
	}
	return nil
}

func (b *builder) portOption(want netstate.Link, option string) {
	r, _ := bondopt.Find(option)
	value, said := want.Bond.Options[option]
	if was, ok := b.observed.Link(want.Name); !said && option == bondopt.Primary && ok && was.Bond != nil {
		value, said = was.Bond.Options[option], true
	}
	if !said || !r.Allows(want.Bond.Mode) {
		return
	}
	word, err := r.Word(value)
	if err != nil {
		b.problem(want.Name+" "+option, "%v", err)
		return
	}
	bond, _ := b.now.Link(want.Name)
	if word != NoValue && !slices.Contains(bond.Bond.Ports, word) {
		if wanted := want.Bond.Options[option]; wanted != "" && wanted != NoValue {
			b.problem(want.Name+" "+option, "%s is no port of it", word)
		}
		return
	}
	b.do(Step{Kind: BondOption, Link: want.Name, Key: option, New: word, Disruption: Online})
}
