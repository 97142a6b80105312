package plan

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// The keys of the host that are every link's too: writing one sets the links'
// and the default, whatever they were (inet_forward_change, addrconf_forward_change,
// addrconf_disable_change; tried on 6.1).
const (
	forward4    = "net.ipv4.ip_forward"
	forwardAll4 = "net.ipv4.conf.all.forwarding" // the same number under another name
	forwardAll6 = "net.ipv6.conf.all.forwarding"
	disableAll6 = "net.ipv6.conf.all.disable_ipv6"
	// redirects4 becomes what forwarding is not.
	redirects4 = "net.ipv4.conf.all.accept_redirects"
)

// Spread is what else is set when a sysctl is: the observed keys, each with
// what it becomes; none for a key that stands for itself.
func Spread(sysctls map[string]netstate.Sysctl, key, value string) map[string]string {
	value = fold(value)
	var family, name string
	switch key {
	case forward4, forwardAll4:
		family, name = "net.ipv4.conf.", ".forwarding"
	case forwardAll6:
		family, name = "net.ipv6.conf.", ".forwarding"
	case disableAll6:
		family, name = "net.ipv6.conf.", ".disable_ipv6"
	default:
		return map[string]string{}
	}
	out := make(map[string]string)
	for other := range sysctls {
		if other != key && strings.HasPrefix(other, family) && strings.HasSuffix(other, name) {
			out[other] = value
		}
	}
	if family == "net.ipv4.conf." {
		for _, alias := range [...]string{forward4, forwardAll4} {
			if _, there := sysctls[alias]; there && alias != key {
				out[alias] = value
			}
		}
		if _, there := sysctls[redirects4]; there {
			out[redirects4] = "1"
			if value != "0" {
				out[redirects4] = "0"
			}
		}
	}
	return out
}

// level brings the keys that go with another to what undoing it will make of
// them, so that their own undo finds them.
func (b *builder) level(key string) {
	back := Spread(b.now.Sysctls, key, b.now.Sysctls[key].Value)
	for _, other := range slices.Sorted(maps.Keys(back)) {
		b.do(Step{Kind: Sysctl, Key: other, Scope: b.now.Sysctls[other].Scope, New: back[other], Disruption: Online,
			Why: key + " sets it anyway; so that a rollback finds " + fold(b.now.Sysctls[other].Value) + " again"})
	}
}

// checkSysctls refuses values that take something away which no step brings
// back.
func (b *builder) checkSysctls() {
	for _, key := range b.want.SysctlKeys() {
		to := fold(b.want.Sysctls[key].Value)
		have, there := b.observed.Sysctls[key]
		link, ofLink := netstate.LinkOfSysctl(key)
		if from := fold(have.Value); !there || to == "" || to == from {
			continue
		}
		switch {
		case key == disableAll6 && to != "0":
			for _, l := range b.observed.Links {
				b.checkDisable(key, l)
			}
		case ofLink && strings.HasSuffix(key, ".disable_ipv6") && strings.HasPrefix(key, "net.ipv6.") && to != "0":
			l, _ := b.observed.Link(link)
			b.checkDisable(key, l)
		case ofLink && strings.HasSuffix(key, ".mtu") && strings.HasPrefix(key, "net.ipv6."):
			was, _ := b.observed.Link(link)
			if want, _ := b.want.Link(link); want.MTU != 0 && want.MTU != was.MTU {
				b.problem(key, "a new MTU of %s sets it too (addrconf_notify): change them one plan after the other", link)
			}
		case strings.HasPrefix(key, "net.ipv6.conf.") && strings.HasSuffix(key, ".forwarding") && to != "0" && (ofLink || key == forwardAll6):
			b.checkForward(key, link)
		}
	}
}

// checkDisable refuses to take IPv6 from a link that uses it: its addresses
// and routes would go, and do not come back with it (addrconf_ifdown).
func (b *builder) checkDisable(key string, l netstate.Link) {
	lost := slices.IndexFunc(l.Addresses, func(a netip.Prefix) bool {
		return a.Addr().Is6() && !a.Addr().IsLinkLocalUnicast() && !a.Addr().IsLoopback()
	})
	if lost >= 0 {
		b.problem(key, "%s would lose %s, and a rollback would not bring it back: take the IPv6 addresses off first", l.Name, l.Addresses[lost])
		return
	}
	for _, r := range b.observed.Routes {
		if r.Dst.Addr().Is6() && uses(r, []string{l.Name}) && !restored(b.observed, r) {
			b.problem(key, "the route %s would go with it, and a rollback would not bring it back: remove it first", routeWords(&r, false))
			return
		}
	}
}

// checkForward refuses to forward where the kernel then drops the default
// routes that routers advertised, unless the link takes advertisements all the
// same (rt6_purge_dflt_routers). A link that the kernel takes none for has its
// routes from a program, which keeps them.
func (b *builder) checkForward(key, link string) {
	for _, r := range b.observed.Routes {
		if r.Protocol != "ra" || r.Dst.Bits() != 0 || !r.Dst.Addr().Is6() {
			continue
		}
		for _, leg := range legs(r) {
			accept := netstate.LinkSysctl("ipv6", leg.Link, "accept_ra")
			wanted, said := b.want.Sysctls[accept]
			if link != "" && link != leg.Link || said && (fold(wanted.Value) == "2" || fold(wanted.Value) == "0" && fold(b.observed.Sysctls[accept].Value) == "0") {
				continue
			}
			b.problem(key, "a host that forwards drops the default route via %s that a router advertised on %s (rt6_purge_dflt_routers): set %s = 2 with it", leg.Gateway, leg.Link, accept)
			return
		}
	}
}
