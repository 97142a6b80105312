package plan

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/netstate"
)

// ownAddress reports an address that a plan may add and remove: not one that
// the kernel makes itself.
func ownAddress(a netip.Prefix) bool {
	return !a.Addr().IsLinkLocalUnicast() || a.Addr().Is4()
}

// addresses takes addresses off the links, then puts others on.
func (b *builder) addresses() {
	for _, want := range b.want.Links {
		have, ok := b.now.Link(want.Name)
		if !ok || want.Addresses == nil || b.isPort(have) {
			continue
		}
		to := b.addressesToBe(want)
		var goes []netip.Prefix
		for _, a := range have.Addresses {
			if b.governs(want.Name, a) && !slices.Contains(to, a) {
				goes = append(goes, a)
			}
		}
		b.removeAddresses(have, goes)
	}
	for _, want := range b.want.Links {
		have, ok := b.now.Link(want.Name)
		if !ok || want.Addresses == nil || b.isPort(have) {
			continue
		}
		for _, a := range b.addressesToBe(want) {
			if !slices.Contains(have.Addresses, a) {
				b.addAddress(want.Name, a)
			}
		}
	}
}

func (b *builder) addAddress(link string, a netip.Prefix) {
	s := Step{Kind: Address, Link: link, Address: a, NoBroadcast: b.bare(a), New: Present, Disruption: Online}
	if bond := b.movedTo(a); bond == link {
		s.Why = "the lease goes with its port; its owner renews it or takes another"
	}
	b.do(s)
}

// bare reports an address that has no broadcast address now, and gets none when
// it comes back.
func (b *builder) bare(a netip.Prefix) bool {
	return slices.ContainsFunc(b.observed.Links, func(l netstate.Link) bool { return slices.Contains(l.NoBroadcast, a) })
}

// movedTo is the bond into which a leased address goes with its port.
func (b *builder) movedTo(a netip.Prefix) string {
	for port, bond := range b.moved {
		was, _ := b.observed.Link(port)
		if slices.Contains(was.Leases, a) {
			return bond
		}
	}
	return ""
}

// addressesToBe is the addresses a link is to have that a plan gives it, and
// those on it that it does not touch.
func (b *builder) addressesToBe(want netstate.Link) []netip.Prefix {
	var to []netip.Prefix
	for _, a := range slices.Concat(want.Addresses, want.Leases) {
		if (b.governs(want.Name, a) || b.movedTo(a) == want.Name) && !slices.Contains(to, a) {
			to = append(to, a)
		}
	}
	return to
}

// governs reports an address of a link that is neither the kernel's nor leased.
func (b *builder) governs(link string, a netip.Prefix) bool {
	was, _ := b.observed.Link(link)
	want, _ := b.want.Link(link)
	return ownAddress(a) && (b.whole || !slices.Contains(was.Leases, a) && !slices.Contains(want.Leases, a))
}

// removeAddresses takes addresses off a link, the last one first. The first
// IPv4 address of a subnet takes the others there with it: they go before it
// and come back after.
func (b *builder) removeAddresses(l netstate.Link, goes []netip.Prefix) {
	all := slices.Clone(goes)
	for _, a := range goes {
		for _, o := range secondaries(l, a) {
			if slices.Contains(all, o) {
				continue
			}
			if slices.Contains(l.Leases, o) {
				b.problem(l.Name+" address "+a.String(), "the leased %s would go with it (inet_del_ifa): set %s=1 and remove it by hand", o, netstate.LinkSysctl("ipv4", l.Name, "promote_secondaries"))
				return
			}
			all = append(all, o)
		}
	}
	for _, a := range slices.Backward(l.Addresses) {
		if !slices.Contains(all, a) {
			continue
		}
		why := ""
		if !slices.Contains(goes, a) {
			why = "it goes with the first address of its subnet, and comes back after (inet_del_ifa)"
		}
		b.dropAddress(l.Name, a, why)
	}
}

// nextPrimary is the IPv4 address that is a link's first when another goes;
// false where that was not the first (inet_select_addr takes them in order,
// __inet_insert_ifa puts a new one behind).
func nextPrimary(l netstate.Link, a netip.Prefix) (netip.Prefix, bool) {
	var after []netip.Prefix
	for _, o := range l.Addresses {
		switch {
		case !o.Addr().Is4():
		case len(after) == 0 && o != a:
			return netip.Prefix{}, false
		case o == a || o.Masked() != a.Masked():
			after = append(after, o)
		}
	}
	if !a.Addr().Is4() || len(after) < 2 {
		return netip.Prefix{}, false
	}
	return after[1], true
}

// dropAddress takes an address off a link, after the routes that go with it.
func (b *builder) dropAddress(link string, a netip.Prefix, why string) {
	l, _ := b.now.Link(link)
	for _, r := range routesOfAddress(b.now, l, a) {
		b.loseRoute(r, fmt.Sprintf("it goes with %s", a.Addr()))
	}
	for _, r := range stranded(b.now, l, a) {
		b.loseRoute(r, fmt.Sprintf("its gateway is reached by %s alone", a))
	}
	if why == "" {
		why = "what uses it is cut off"
		if next, ok := nextPrimary(l, a); ok {
			why += fmt.Sprintf("; rolled back, it comes back behind %s, which is then the source where no route says one", next)
		}
	}
	b.do(Step{Kind: Address, Link: link, Address: a, NoBroadcast: b.bare(a), New: Absent, Disruption: LinkDown, Why: why})
}
