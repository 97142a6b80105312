package scene

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// tunnelNames begin the names of tunnels as their programs give them, for pastes that
// do not tell the kind: Calico, flannel, Cilium, OVN and antrea, wg-quick.
var tunnelNames = []struct{ begins, kind string }{
	{"tunl", "ipip"}, {"ipip", "ipip"}, {"flannel.", "vxlan"}, {"vxlan", "vxlan"}, {"cilium_vxlan", "vxlan"},
	{"wireguard", "wireguard"}, {"wg", "wireguard"}, {"gretap", "gretap"}, {"gre", "gre"}, {"cilium_geneve", "geneve"}, {"genev_sys", "geneve"}, {"antrea-tun", "geneve"},
}

// TunnelKind is the kernel's kind of a tunnel by what was read of the link, else by its
// name; "" where it is none, or none that is known.
func TunnelKind(h *piece.Host, link string) string {
	if kind := Word(h, link, "kind"); kind != "" {
		if netstate.IsTunnel(kind) {
			return kind
		}
		return ""
	}
	for _, t := range tunnelNames {
		if rest, ok := strings.CutPrefix(link, t.begins); ok && (t.begins != "wg" || strings.Trim(rest, "0123456789-abcdefghijklmnopqrstuvwxyz") == "") {
			return t.kind
		}
	}
	return ""
}

// Tunnel is a tunnel whose packets a host sends by a bond.
type Tunnel struct {
	netstate.Tunnel
	Host *piece.Host
	Link string
	Bond Bond
	// Bound: its own link, its outer address or the route to its peer say so, not only
	// that the host has no other bundle.
	Bound    bool
	Evidence []record.Evidence
}

// Tunnels are those of the case that leave by a bond. They are looked for once: every
// bond is asked of every run.
func (v *View) Tunnels() []Tunnel {
	if v.tunnels == nil {
		v.tunnels = v.findTunnels()
	}
	return v.tunnels
}

func (v *View) findTunnels() []Tunnel {
	out := []Tunnel{}
	for _, h := range v.Hosts {
		if !v.Bundled(h) {
			continue
		}
		for _, link := range h.Subjects("link") {
			if kind := TunnelKind(h, link); kind != "" {
				if t, ok := v.overBond(h, link, kind); ok {
					out = append(out, t)
				}
			}
		}
	}
	return out
}

// overBond is a tunnel with the bond that it leaves by.
func (v *View) overBond(h *piece.Host, link, kind string) (Tunnel, bool) {
	t := Tunnel{Tunnel: netstate.Tunnel{Kind: kind}, Host: h, Link: link}
	_, t.OnePort = h.Get("link "+link, "outer port")
	see := func(what, value string, at piece.Source) {
		t.Evidence = append(t.Evidence, Saw(what, value, at))
	}
	if x, ok := Fact(h, link, "kind"); ok {
		see("kind of "+link, t.Title(), x.Source)
	} else if x, ok := h.Get("link "+link, "mtu"); ok {
		see("kind of "+link, t.Title()+", by its name", x.Source)
	}
	outer := func(key string) (netip.Addr, piece.Source) {
		x, _ := h.Get("link "+link, "outer "+key)
		a, _ := netip.ParseAddr(x.Text)
		return a, x.Source
	}
	var at piece.Source
	t.Local, _ = outer("local")
	t.Remote, at = outer("remote")
	lower := ""
	if x, ok := h.Get("link "+link, "dev"); ok {
		lower = x.Text
		see(link+" is bound to", lower, x.Source)
	}
	if lower == "" && t.Local.IsValid() {
		for _, a := range Addresses(h) {
			if a.Prefix.Addr() == t.Local && a.Link != link {
				lower = a.Link
				see("outer address of "+link, t.Local.String()+", of "+lower, a.At)
			}
		}
	}
	if lower == "" && t.Remote.IsValid() {
		if r, ok := routeTo(h, t.Remote); ok && r.Link != link {
			lower = r.Link
			see("peer of "+link, fmt.Sprintf("%s, by %s", t.Remote, lower), at)
		}
	}
	if lower != "" {
		t.Bond, t.Bound = v.bondBelow(h, lower)
		t.Lower = lower
		return t, t.Bound
	}
	bonds := 0
	for _, b := range v.Bonds {
		if b.Host == h {
			t.Bond = b
			bonds++
		}
	}
	return t, bonds == 1
}

// routeTo is a host's route to an address: as `ip route get` answered, else by the
// longest prefix of its routes and its links' networks.
func routeTo(h *piece.Host, to netip.Addr) (best netstate.Route, ok bool) {
	if x, asked := h.Get("path "+to.String(), "dev"); asked {
		return netstate.Route{Dst: netip.PrefixFrom(to, to.BitLen()), Link: x.Text}, true
	}
	take := func(p netip.Prefix, link string) {
		if p.IsValid() && p.Contains(to) && (!ok || p.Bits() > best.Dst.Bits()) {
			best, ok = netstate.Route{Dst: p, Link: link}, true
		}
	}
	for _, r := range h.Routes {
		if r.Link != "" && (r.Table == 0 || r.Table == 254) && r.TableName == "" {
			take(r.Dst, r.Link)
		}
	}
	for _, a := range Addresses(h) {
		take(a.Prefix.Masked(), a.Link)
	}
	return best, ok
}

// mostBelow bounds how deep links lie on each other in a text.
const mostBelow = 8

// bondBelow is the bond below a link, through VLANs and bridges.
func (v *View) bondBelow(h *piece.Host, link string) (Bond, bool) {
	for range mostBelow {
		if b, ok := v.bond(h, link); ok {
			return b, true
		}
		for _, b := range v.Bonds {
			if b.Host == h && Word(h, b.Name, "master") == strings.ToLower(link) {
				return b, true
			}
		}
		if x, ok := Fact(h, link, "below"); ok {
			link = x.Text
			continue
		}
		parent, _, tagged := strings.Cut(link, ".")
		if !tagged {
			return Bond{}, false
		}
		link = parent
	}
	return Bond{}, false
}

// Way is whether something goes through a tunnel.
type Way uint8

const (
	// WayUnknown: neither its addresses nor the host's routes say.
	WayUnknown Way = iota
	// Through the tunnel.
	Through
	// Beside it.
	Beside
)

// Carries says whether a run goes through the tunnel, by its addresses.
func (t Tunnel) Carries(r piece.Run) Way {
	var all []netip.Addr
	for _, s := range r.Streams {
		all = append(all, s.Local.Addr(), s.Remote.Addr())
	}
	if a, err := netip.ParseAddr(r.Detail["target"]); err == nil {
		all = append(all, a)
	}
	own := make(map[netip.Addr]bool)
	way := WayUnknown
	for _, a := range Addresses(t.Host) {
		own[a.Prefix.Addr()] = true
		for _, at := range all {
			switch {
			case !at.IsValid() || at != a.Prefix.Addr():
			case a.Link == t.Link:
				return Through
			default:
				way = Beside
			}
		}
	}
	for _, at := range all {
		if !at.IsValid() || own[at] {
			continue
		}
		if at == t.Local || at == t.Remote {
			return Beside
		}
		if t.holds(at) {
			return Through
		}
		switch route, ok := routeTo(t.Host, at); {
		case !ok || route.Dst.Bits() == 0:
		case route.Link == t.Link:
			return Through
		case way == WayUnknown && v4Near(t.Host, route):
			way = Beside
		}
	}
	return way
}

// holds reports an address that the tunnel's peers have inside it: WireGuard's allowed
// addresses, but for a peer that takes everything.
func (t Tunnel) holds(a netip.Addr) bool {
	for _, key := range t.Host.Keys("link " + t.Link) {
		text, is := strings.CutPrefix(key, "inside ")
		if p, err := netip.ParsePrefix(text); is && err == nil && p.Bits() > 0 && p.Contains(a) {
			return true
		}
	}
	return false
}

// v4Near reports a route that is a link's own network.
func v4Near(h *piece.Host, r netstate.Route) bool {
	for _, a := range Addresses(h) {
		if a.Link == r.Link && a.Prefix.Masked() == r.Dst {
			return true
		}
	}
	return false
}

// Inside reports a run that goes through a tunnel of that bond: the bond's hash does not
// see its addresses and ports.
func (v *View) Inside(b Bond, r piece.Run) bool {
	for _, t := range v.Tunnels() {
		if t.Bond.Host == b.Host && t.Bond.Name == b.Name && t.Carries(r) == Through {
			return true
		}
	}
	return false
}
