package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// maxRoutes is how many routes a plan takes away and puts back around a
// bounce. More belong to a routing daemon, which restores its own.
const maxRoutes = 64

// bounce wraps the option steps in what their preconditions ask for: routes
// away, bond down, ports out; and the same backwards. Nothing is wrapped when
// every option is changed online.
func (c *bondChange) bounce(host netstate.Host, bond netstate.Link) ([]Step, []error) {
	var down, empty string // the option that asks for it
	for _, s := range c.steps {
		r, _ := BondOptionRule(s.Key)
		if r.NeedsDown && bond.Up && down == "" {
			down = s.Key
		}
		if r.NoSlaves && len(bond.Bond.Ports) > 0 && empty == "" {
			empty = s.Key
		}
	}
	d := Online
	switch {
	case empty != "":
		d = Recreate
	case down != "":
		d = BondDown
	}
	for i := range c.steps {
		// On a bond that is down already nobody feels what a table calls a bounce.
		if c.steps[i].Disruption.Worse(d) {
			c.steps[i].Disruption = d
		}
	}
	var before []Step
	if down != "" {
		routes, problems := lostRoutes(host, bond.Name)
		if len(problems) > 0 {
			return nil, problems
		}
		for _, r := range routes {
			before = append(before, Step{Kind: Route, Link: r.Link, Route: &r, Old: Present, New: Absent, Disruption: d,
				Why: fmt.Sprintf("it is lost when %s goes down, and comes back after", bond.Name)})
		}
		before = append(before, Step{Kind: LinkState, Link: bond.Name, Old: Up, New: Down, Disruption: d,
			Why: fmt.Sprintf("%s can change only while %s is down", down, bond.Name)})
	}
	if empty != "" {
		for _, port := range slices.Backward(bond.Bond.Ports) {
			before = append(before, Step{Kind: PortMaster, Link: port, Old: bond.Name, New: NoMaster, Disruption: d,
				Why: fmt.Sprintf("%s can change only while %s has no ports", empty, bond.Name)})
		}
	}
	after := Plan{Steps: before}.Undo().Steps
	for i := range after {
		after[i].Why = ""
	}
	return slices.Concat(before, c.steps, after), nil
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
			if a.Addr().Is4() || a.Addr().IsLinkLocalUnicast() || keepsAddresses(host, name) {
				continue
			}
			problems = append(problems, rule(link+" state",
				"%s holds %s, which the kernel removes when it goes down: set net.ipv6.conf.%s.keep_addr_on_down=1 first", name, a, strings.ReplaceAll(name, ".", "/")))
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
		if v := host.SysctlInts("net.ipv6.conf." + strings.ReplaceAll(l, ".", "/") + ".keep_addr_on_down"); len(v) == 1 && v[0] > 0 {
			return true
		}
	}
	return false
}

func uses(r netstate.Route, links []string) bool {
	return slices.Contains(links, r.Link) || slices.ContainsFunc(r.Hops, func(h netstate.NextHop) bool {
		return slices.Contains(links, h.Link)
	})
}

// Routing tables by number (include/uapi/linux/rtnetlink.h).
const (
	tableMain  = 254
	tableLocal = 255
)

// restored reports routes the kernel makes from addresses when a link comes
// up: the local table, connected prefixes, link-local and multicast.
func restored(host netstate.Host, r netstate.Route) bool {
	if r.Table == tableLocal || r.Dst.Addr().IsMulticast() || r.Dst.Addr().IsLinkLocalUnicast() {
		return true
	}
	if r.Gateway.IsValid() || len(r.Hops) > 0 || r.Table != 0 && r.Table != tableMain {
		return false
	}
	l, _ := host.Link(r.Link)
	for _, a := range l.Addresses {
		if a.Masked() == r.Dst.Masked() {
			return true
		}
	}
	return false
}
