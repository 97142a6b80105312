package plan

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// maxRoutes is how many routes a plan takes away and puts back around a
// bounce. More belong to a routing daemon, which restores its own.
const maxRoutes = 64

// changeOptions gives a bond that is there its wanted options, in what their
// preconditions ask for: routes away, bond down, ports out; and the same
// backwards. Nothing is wrapped when every option is changed online.
func (b *builder) changeOptions(have, want netstate.Link) {
	c := newBondChange(b.now.Kernel, have, want, false)
	c.plan()
	b.problems, b.left = append(b.problems, c.problems...), append(b.left, c.left...)
	if len(c.problems) > 0 {
		return
	}
	down, empty := c.needs(have)
	d := Online
	switch {
	case empty != "":
		d = Recreate
	case down != "":
		d = BondDown
	}
	var routes []netstate.Route
	if down != "" {
		var problems []error
		if routes, problems = lostRoutes(b.now, have.Name); len(problems) > 0 {
			b.problems = append(b.problems, problems...)
			return
		}
		for _, r := range routes {
			b.do(Step{Kind: Route, Link: r.Link, Route: &r, New: Absent, Disruption: d,
				Why: fmt.Sprintf("it is lost when %s goes down, and comes back after", have.Name)})
		}
		b.do(Step{Kind: LinkState, Link: have.Name, New: Down, Disruption: d, ReadyRolledBack: carriesAlone(have, want),
			Why: fmt.Sprintf("%s can change only while %s is down", down, have.Name)})
	}
	if empty != "" {
		b.empty(have, want, d, fmt.Sprintf("%s can change only while %s has no ports", empty, have.Name))
	}
	quiet := d != Online || !have.Up || len(have.Bond.Ports) == 0
	for _, s := range c.steps {
		// On a bond that carries nothing by then nobody feels what a table calls
		// a bounce.
		if quiet {
			s.DisruptionOfRollback = ""
			if s.Disruption.Worse(d) {
				s.Disruption = d
			}
		}
		b.do(s)
	}
	if empty != "" {
		for _, port := range b.portsToBe(have.Name) {
			if b.freePort(port, have.Name) {
				b.do(Step{Kind: PortMaster, Link: port, New: have.Name, Disruption: d})
			}
		}
		b.ownMAC(have, d)
	}
	if down != "" {
		b.do(Step{Kind: LinkState, Link: have.Name, New: Up, Disruption: d, Ready: carriesAlone(want, have)})
		for _, r := range slices.Backward(routes) {
			b.do(Step{Kind: Route, Link: r.Link, Route: &r, New: Present, Disruption: d})
		}
	}
}

// carriesAlone is the bond, where it can be waited for when it comes up in
// another mode than it had. One that becomes LACP and wants more than one link
// has no carrier before its partner answers (bond_3ad_set_carrier,
// drivers/net/bonding/bond_3ad.c), whose own turn may come later.
func carriesAlone(now, was netstate.Link) []string {
	if now.Bond.Mode == netstate.LACP && was.Bond.Mode != netstate.LACP && now.Bond.MinLinks > 1 {
		return nil
	}
	return []string{now.Name}
}

// canCarry reports whether a link can have carrier: a bond needs ports, one in
// 802.3ad as many as min_links (bond_3ad_set_carrier), and a VLAN its parent.
// VLANs that are parents of each other, which no kernel has, cannot.
func canCarry(h netstate.Host, name string) bool {
	for range h.Links {
		l, ok := h.Link(name)
		switch {
		case !ok:
			return false
		case l.Bond != nil && (len(l.Bond.Ports) == 0 || l.Bond.Mode == netstate.LACP && len(l.Bond.Ports) < l.Bond.MinLinks):
			return false
		case l.VLAN == nil || l.VLAN.Parent == name:
			return true
		}
		name = l.VLAN.Parent
	}
	return false
}

// needs names the option that asks for the bond to be down, and the one that
// asks for it to have no ports; "" where none does.
func (c *bondChange) needs(bond netstate.Link) (down, empty string) {
	for _, s := range c.steps {
		r, _ := bondopt.Find(s.Key)
		if r.NeedsDown && bond.Up && down == "" {
			down = s.Key
		}
		if r.NoPorts && len(bond.Bond.Ports) > 0 && empty == "" {
			empty = s.Key
		}
	}
	return down, empty
}

// empty takes all ports out of a bond, the last one first.
func (b *builder) empty(bond, want netstate.Link, d Disruption, why string) {
	if first, ok := b.now.Link(bond.Bond.Ports[0]); ok && bond.MAC != first.PermanentMAC && !bond.MAC.IsZero() && !first.PermanentMAC.IsZero() && !OwnMACs(*bond.Bond) {
		b.do(Step{Kind: LinkMAC, Link: bond.Name, New: first.PermanentMAC.String(), Disruption: d,
			Why: "without ports it loses its own address for the first port's; so that a rollback finds it again"})
	}
	for _, port := range slices.Backward(bond.Bond.Ports) {
		b.bareport(bond.Name, port, d)
		b.do(Step{Kind: PortMaster, Link: port, New: NoMaster, Disruption: d, Why: why + b.leaseNote(bond.Name, want)})
	}
}

// ownMAC gives a bond that was empty its own address back.
func (b *builder) ownMAC(was netstate.Link, d Disruption) {
	l, _ := b.now.Link(was.Name)
	if !was.MAC.IsZero() && l.MAC != was.MAC && !OwnMACs(*l.Bond) {
		b.do(Step{Kind: LinkMAC, Link: was.Name, New: was.MAC.String(), Disruption: d})
	}
}

// leaseNote warns where a lease may hang on a bond's hardware address, and the
// first port to come, which gives it, is another.
func (b *builder) leaseNote(bond string, want netstate.Link) string {
	l, _ := b.now.Link(bond)
	if len(l.Leases) == 0 || len(l.Bond.Ports) == 0 || len(want.Bond.Ports) == 0 || l.Bond.Ports[0] == want.Bond.Ports[0] {
		return ""
	}
	return "; its hardware address may change, and with it the leased " + l.Leases[0].String()
}

// lostRoutes returns the routes that the kernel drops with the named link and
// does not bring back by itself, gateways' users before the routes that reach
// the gateways. It is an error when something would be lost that no step can
// restore.
func lostRoutes(host netstate.Host, link string) ([]netstate.Route, []error) {
	affected := ridingOn(host, link)
	var problems []error
	for _, name := range affected {
		l, _ := host.Link(name)
		for _, a := range l.Addresses {
			switch {
			case !lostWhenDown(a):
				continue
			case slices.Contains(l.Leases, a):
				problems = append(problems, rule(link+" state",
					"%s holds the leased %s, which the kernel removes when it goes down, keep_addr_on_down or not (addrconf_ifdown): have its owner give it back first", name, a))
				continue
			case keepsAddresses(host, name):
				continue
			}
			problems = append(problems, rule(link+" state",
				"%s holds %s, which the kernel removes when it goes down: set %s=1 first", name, a, netstate.LinkSysctl("ipv6", name, "keep_addr_on_down")))
		}
	}
	var far, near []netstate.Route
	for _, r := range host.Routes {
		switch {
		case !uses(r, affected) || restored(host, r):
		case r.Gateway.IsValid() || len(r.Hops) > 0:
			far = append(far, r)
		default:
			near = append(near, r)
		}
	}
	if n := len(far) + len(near); n > maxRoutes {
		problems = append(problems, rule(link+" state", "%d routes would be lost with it, more than the %d a plan restores", n, maxRoutes))
	}
	return append(far, near...), problems
}

// ridingOn returns the named link and every VLAN above it.
func ridingOn(host netstate.Host, name string) []string {
	on := []string{name}
	for i := 0; i < len(on); i++ {
		for _, l := range host.Links {
			if l.VLAN != nil && l.VLAN.Parent == on[i] && !slices.Contains(on, l.Name) {
				on = append(on, l.Name)
			}
		}
	}
	return on
}

// keepsAddresses reports net.ipv6.conf.*.keep_addr_on_down
// (Documentation/networking/ip-sysctl.rst: interface or all). A dot in a
// name is a slash in a key.
func keepsAddresses(host netstate.Host, link string) bool {
	for _, l := range []string{"all", link} {
		if v := host.SysctlInts(netstate.LinkSysctl("ipv6", l, "keep_addr_on_down")); len(v) == 1 && v[0] > 0 {
			return true
		}
	}
	return false
}
