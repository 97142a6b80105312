package profile

import (
	"slices"

	"github.com/linerate/linerate/netstate"
)

// Security returns the hardening list of the cross-region article, with its
// IPv6 half, as far as the host lacks it: what is as strict stays, and what a
// router, a Kubernetes node or a host in several networks must not have is
// left out with the reason.
func Security(in Input) Result {
	m := &maker{Input: in}
	if os := in.Host.Kernel.OS; os != "" && os != "linux" {
		m.leave("the list is Linux's, not %s's", os)
		return m.result
	}
	is := roles(in)
	for _, h := range hardenings() {
		m.harden(h, is)
	}
	m.reversePath(is)
	m.leave("net.ipv4.tcp_tw_recycle, tcp_fack and tcp_low_latency of older lists: removed from Linux, or without effect")
	return m.result
}

// harden sets one hardening, or says why not.
func (m *maker) harden(h hardening, is map[string]string) {
	key := h.name
	if h.scope != hostWide {
		key = netstate.LinkSysctl(h.family, "all", h.name)
	}
	if h.only != "" && is[h.only] == "" {
		return
	}
	for _, role := range h.spare {
		if is[role] == "" {
			continue
		}
		if v, there := m.value(key); there && !h.strict(v) {
			m.leave("%s = %d: %s, and %s", key, h.value, is[role], h.instead)
		}
		return
	}
	why := h.why
	if h.twin != "" {
		why += "; " + h.twin
	}
	if v, there := m.value(key); (!there || !h.strict(v)) && m.settable(key) {
		m.setNumber(key, h.value, "%s", why)
	}
	if h.scope == hostWide {
		return
	}
	// Links before the default: a link without addresses follows a new default
	// (devinet_copy_dflt_conf), and would then be what it is to become already.
	if h.scope == everyLink {
		for _, l := range m.addressed(h.family) {
			m.onLink(h, l, why)
		}
	}
	m.onLink(h, "default", why)
}

// onLink sets one link's own, where the kernel has it: a link that is still to
// be made takes the default.
func (m *maker) onLink(h hardening, link, why string) {
	key := netstate.LinkSysctl(h.family, link, h.name)
	if v, there := m.value(key); there && !h.strict(v) && m.settable(key) {
		m.setNumber(key, h.value, "%s", why)
	}
}

// addressed are the links with addresses of the family: what redirects are
// sent to.
func (m *maker) addressed(family string) []string { return addressed(m.Host.Links, family) }

func addressed(links []netstate.Link, family string) []string {
	var names []string
	for _, l := range links {
		for _, a := range l.Addresses {
			if l.Kind != "loopback" && a.Addr().Is4() == (family == "ipv4") && reachable(a) {
				names = append(names, l.Name)
				break
			}
		}
	}
	return names
}

// reversePath has packets dropped whose sender would not be answered by the
// link that they came in by (RFC 3704): strictly on a host with one link, and
// loosely, whose sender has no route at all, on one with several, where strict
// filtering drops good packets. The greater of conf/all and the link's own
// counts (ip-sysctl.rst).
func (m *maker) reversePath(is map[string]string) {
	const twin = "IPv6 has no such key: its filter is nftables' (fib saddr . iif)"
	all, there := m.value(netstate.LinkSysctl("ipv4", "all", "rp_filter"))
	if !there {
		m.leave("%s: this kernel has none", netstate.LinkSysctl("ipv4", "all", "rp_filter"))
		return
	}
	reason := ""
	for _, role := range []string{"router", "kubernetes", "multihomed"} {
		if reason == "" {
			reason = is[role]
		}
	}
	if reason == "" {
		for _, link := range []string{"all", "default"} {
			key := netstate.LinkSysctl("ipv4", link, "rp_filter")
			if v, there := m.value(key); there && v == 0 && m.settable(key) {
				m.setNumber(key, 1, "packets with a forged sender are dropped: one that would be answered by another link; %s", twin)
			}
		}
		return
	}
	m.leave("rp_filter = 1: %s, and strict filtering drops what rightly comes in by another link; 2 is used where nothing filters", reason)
	for _, link := range append(m.addressed("ipv4"), "default") {
		key := netstate.LinkSysctl("ipv4", link, "rp_filter")
		if v, there := m.value(key); there && v == 0 && all == 0 && m.settable(key) {
			m.setNumber(key, 2, "loose reverse-path filter (packets whose sender has no route are dropped): %s; %s", reason, twin)
		}
	}
}

func securityKeys(links []netstate.Link) []string {
	keys := []string{"net.ipv4.conf.all.forwarding", netstate.LinkSysctl("ipv4", "all", "rp_filter"), netstate.LinkSysctl("ipv4", "default", "rp_filter")}
	for _, h := range hardenings() {
		if h.scope == hostWide {
			keys = append(keys, h.name)
			continue
		}
		keys = append(keys, netstate.LinkSysctl(h.family, "all", h.name), netstate.LinkSysctl(h.family, "default", h.name))
		if h.scope == everyLink {
			for _, l := range addressed(links, h.family) {
				keys = append(keys, netstate.LinkSysctl(h.family, l, h.name))
			}
		}
	}
	for _, l := range addressed(links, "ipv4") {
		keys = append(keys, netstate.LinkSysctl("ipv4", l, "rp_filter"))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
