package scene

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Own is an address of a link.
type Own struct {
	Link   string
	Prefix netip.Prefix
	At     piece.Source
}

// Addresses are those of a host's links that are no bond's ports, IPv4's.
func Addresses(h *piece.Host) []Own {
	var out []Own
	for _, link := range h.Subjects("link") {
		for _, key := range h.Keys("link " + link) {
			text, ok := strings.CutPrefix(key, "address ")
			if !ok || Pseudo(link) {
				continue
			}
			p, err := netip.ParsePrefix(text)
			if err != nil || !p.Addr().Is4() || p.Addr().IsLoopback() || p.Addr().IsLinkLocalUnicast() {
				continue
			}
			x, _ := h.Get("link "+link, key)
			out = append(out, Own{Link: link, Prefix: p, At: x.Source})
		}
	}
	for _, r := range h.Routes {
		if own, ok := connected(r); ok && !slices.ContainsFunc(out, func(a Own) bool { return a.Link == own.Link }) {
			out = append(out, own)
		}
	}
	return out
}

// SharedSubnets are the pairs of a host's addresses that are in one subnet, on two links that
// are two ways.
func SharedSubnets(h *piece.Host) [][2]Own {
	var out [][2]Own
	all := Addresses(h)
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.Link != b.Link && a.Prefix.Masked() == b.Prefix.Masked() && !oneBelow(h, a.Link, b.Link) {
				out = append(out, [2]Own{a, b})
			}
		}
	}
	return out
}

// oneBelow reports two links that end at one and the same: an interface and a virtual one
// on top of it (macvlan, ipvlan, a vnic), or two of those. What goes by either goes by
// that link. VLANs are networks of their own.
func oneBelow(h *piece.Host, a, b string) bool {
	if VLAN(h, a) || VLAN(h, b) {
		return false
	}
	low := lowest(h, a)
	return low == lowest(h, b) && (low == a || low == b || !switchPort(a) && !switchPort(b))
}

// switchPort reports a port of a switch's chip: those of a router have one device below them
// all, and cables of their own.
func switchPort(link string) bool {
	return Card(link) || strings.HasPrefix(link, "swp") || strings.HasPrefix(link, "sfp") || strings.HasPrefix(link, "wan") || strings.HasPrefix(link, "lan")
}

func lowest(h *piece.Host, link string) string {
	for range 8 {
		x, ok := h.Get("link "+link, "below")
		if !ok || x.Text == "" || x.Text == "NONE" || x.Text == link || strings.HasPrefix(x.Text, "if") {
			break
		}
		link = x.Text
	}
	return link
}

// VLAN reports a link that the texts show as one, by its tag, its kind or its name.
func VLAN(h *piece.Host, link string) bool {
	_, tagged := h.Get("link "+link, "id")
	return tagged || Word(h, link, "kind") == "vlan" || strings.Contains(link, ".") || strings.HasPrefix(link, "vlan")
}

// connected is the address that a link's own route names: the kernel made it with that.
func connected(r piece.Route) (Own, bool) {
	from := r.Route.Source
	if r.Protocol != "kernel" || r.Gateway.IsValid() || r.Link == "" || Pseudo(r.Link) || !from.Is4() || r.Dst.Bits() >= 31 || !r.Dst.Contains(from) || r.Type != "" || from.IsLinkLocalUnicast() {
		return Own{}, false
	}
	return Own{Link: r.Link, Prefix: netip.PrefixFrom(from, r.Dst.Bits()), At: r.Source}, true
}

// cardNames are interfaces of cards as the kernel, udev or BIOS name them.
var cardNames = regexp.MustCompile(`^(eth[0-9]|em[0-9]|ib[0-9]|ibp|en[opsx][0-9a-f]|wl[opsx][0-9a-f]|p[0-9]+p[0-9]|net[0-9]|nic[0-9]|lan[0-9]|wan[0-9])`)

// Card reports a name of a card's interface: none of a bridge, a tunnel or a guest's
// end.
func Card(link string) bool { return cardNames.MatchString(link) }

// pseudoNames are interfaces that no packet leaves by: loopback, those of filters and of
// captures, and what macOS has for its own (ifconfig of BSD and macOS).
var pseudoNames = regexp.MustCompile(`^(?:lo|pflog|pfsync|pflow|ipfw|enc|usbus|stf|gif|plip|faith|awdl|llw|utun|nflog|any)\d*$`)

// Pseudo reports a name of no link of the host's: a loopback, a filter's or a capture's.
func Pseudo(link string) bool { return pseudoNames.MatchString(link) }

// Physical reports a link by whose name it is a card's: no bond, bridge or tunnel, and
// none that no packet leaves by.
func Physical(link string) bool {
	if Pseudo(link) {
		return false
	}
	for _, p := range []string{"docker", "veth", "br-", "virbr", "cni", "tap", "tun", "wg", "vxlan", "flannel", "cali", "dummy", "bond", "vmbr", "lxdbr", "lxcbr", "incusbr", "ppp", "tailscale", "zt", "ifb", "sit", "gre", "ipip"} {
		if strings.HasPrefix(link, p) {
			return false
		}
	}
	return true
}
