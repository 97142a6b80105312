package plan

import (
	"strconv"

	"github.com/linerate/linerate/netstate"
)

// mtu6Key is the sysctl with the MTU that a link has for IPv6: the link's own, or a
// lower one that a router or a person gave it.
func mtu6Key(link string) string {
	return netstate.LinkSysctl("ipv6", link, "mtu")
}

// followMTU6 is what the kernel does to that when a link gets an MTU, or comes up
// (addrconf_notify; tried on 6.18).
func followMTU6(h *netstate.Host, l netstate.Link) {
	key := mtu6Key(l.Name)
	if v, there := h.Sysctls[key]; there && l.MTU >= minIPv6MTU {
		v.Value = strconv.Itoa(l.MTU)
		h.Sysctls[key] = v
	}
}

// overMTU6 reports an MTU for IPv6 above that of its link, and says so.
func (b *builder) overMTU6(key, want string) bool {
	link, ok := netstate.LinkOfSysctl(key)
	l, there := b.want.Link(link)
	n, err := strconv.Atoi(want)
	if !ok || !there || err != nil || key != mtu6Key(link) || l.MTU == 0 || n <= l.MTU {
		return false
	}
	b.left = append(b.left, key+": "+want+" is more than the MTU of "+link+", so it follows that")
	return true
}

// lowerMTU6 is a link's MTU for IPv6 where it is below the link's own.
func (b *builder) lowerMTU6(l netstate.Link) (netstate.Sysctl, bool) {
	have := b.now.Sysctls[mtu6Key(l.Name)]
	n, err := strconv.Atoi(fold(have.Value))
	return have, err == nil && n >= minIPv6MTU && n < l.MTU
}

// spareMTU6 brings a link's lower MTU for IPv6 to the link's own before a step that
// does so anyway, there or back.
func (b *builder) spareMTU6(s Step) {
	if s.Kind != LinkMTU && s.Kind != LinkState {
		return
	}
	l, _ := b.now.Link(s.Link)
	key := mtu6Key(l.Name)
	have, lower := b.lowerMTU6(l)
	if !lower || b.absent(l.Name) {
		return
	}
	b.do(Step{Kind: Sysctl, Key: key, Scope: have.Scope, New: strconv.Itoa(l.MTU), Disruption: Online,
		Why: l.Name + " sets it anyway; so that a rollback finds " + fold(have.Value) + " again"})
}

// mtus6 gives links back what spareMTU6 took, where it is still the lower one.
func (b *builder) mtus6() {
	for _, l := range b.now.Links {
		key := mtu6Key(l.Name)
		have, there := b.now.Sysctls[key]
		want, wanted := b.want.Sysctls[key]
		if !wanted {
			want = b.observed.Sysctls[key]
		}
		n, err := strconv.Atoi(fold(want.Value))
		if !there || err != nil || n < minIPv6MTU || n >= l.MTU || fold(have.Value) == fold(want.Value) {
			continue
		}
		b.do(Step{Kind: Sysctl, Key: key, Scope: have.Scope, New: fold(want.Value), Disruption: Online,
			Why: "it was lower than the MTU of " + l.Name + ", and stays so"})
	}
}
