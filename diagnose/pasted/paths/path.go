package paths

import (
	"cmp"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// path is what is known of the way from sentences, and from links and runs beside them.
type path struct {
	host    *piece.Host // who says it; nil nobody
	tunnel  string      // "wireguard", "vxlan", ...; "" none named
	cluster bool        // between pods or containers
	said    []record.Evidence
	// through is the rate by the tunnel or between pods, direct the one without; zero not told.
	through, direct unit.BitRate
}

// names are how a sentence calls a tunnel.
var names = map[string]string{"flannel-udp": "flannel's UDP backend", "vxlan": "VXLAN", "geneve": "Geneve", "ipip": "IP in IP", "gre": "GRE", "wireguard": "WireGuard",
	"openvpn": "OpenVPN", "ipsec": "IPsec", "zerotier": "ZeroTier", "vpn": "the VPN", "tunnel": "the tunnel", "host-gw": "host-gw"}

func (p path) name() string {
	if p.tunnel == "" && p.cluster {
		return "the containers' network"
	}
	return cmp.Or(names[p.tunnel], "the tunnel")
}

// used reports a tunnel or an overlay on the way.
func (p path) used() bool { return p.tunnel != "" && p.tunnel != "host-gw" || p.cluster }

// encrypts reports a tunnel whose packets a program or the kernel encrypts.
func (p path) encrypts() bool {
	return slices.Contains([]string{"wireguard", "openvpn", "ipsec", "zerotier", "vpn"}, p.tunnel)
}

// pathOf is what was told of the way.
func pathOf(v *scene.View) (p path) {
	get := func(key string) (piece.Value, bool) {
		for _, h := range v.Case.Hosts {
			if x, ok := h.Get("said", key); ok {
				if p.host == nil {
					p.host = h
				}
				return x, true
			}
		}
		return piece.Value{}, false
	}
	if x, ok := get("tunnel"); ok {
		p.tunnel = strongest(v, x)
		p.said = append(p.said, scene.Saw("said", "the way goes by "+names[p.tunnel], x.Source))
	} else if kind, at := linkTunnel(v); kind != "" {
		p.tunnel = kind
		p.said = append(p.said, scene.Saw("a link of the host", names[kind], at))
	}
	if x, ok := get("cluster"); ok {
		p.cluster = true
		if p.tunnel == "" {
			p.said = append(p.said, scene.Saw("said", x.Text, x.Source))
		}
	}
	for _, h := range v.Case.Hosts {
		for _, x := range h.Facts["said"]["rate_through"] {
			if rate := unit.BitRate(piece.Float(x.Text)); p.through == 0 || rate < p.through {
				p.through = rate
			}
		}
		for _, x := range h.Facts["said"]["rate_direct"] {
			p.direct = max(p.direct, unit.BitRate(piece.Float(x.Text)))
		}
	}
	if before, ok := get("rate_before"); ok {
		after, _ := get("rate_after")
		p.direct = max(p.direct, unit.BitRate(piece.Float(before.Text)))
		if rate := unit.BitRate(piece.Float(after.Text)); p.through == 0 || rate < p.through {
			p.through = rate
		}
	}
	for _, r := range v.Case.Runs {
		if r.Rate == 0 || r.UDP || r.Target > 0 {
			continue
		}
		if p.through == 0 || r.Rate < p.through {
			p.through = r.Rate
		}
		p.direct = max(p.direct, r.Rate)
	}
	return p
}

// strongest is the tunnel of which most is known: a general word is none where a
// sentence before it named one.
func strongest(v *scene.View, x piece.Value) string {
	for _, h := range v.Case.Hosts {
		for _, one := range h.Facts["said"]["tunnel"] {
			if one.Text == "flannel-udp" || x.Text == "tunnel" && one.Text != "tunnel" {
				return one.Text
			}
		}
	}
	return x.Text
}

// linkTunnel is a tunnel among the links that were read; "" none.
func linkTunnel(v *scene.View) (string, piece.Source) {
	for _, h := range v.Hosts {
		for _, link := range h.Subjects("link") {
			at, _ := h.Get("link "+link, "mtu")
			kind, low := scene.Word(h, link, "kind"), strings.ToLower(link)
			switch {
			case kind == "wireguard" || strings.HasPrefix(low, "wg"):
				return "wireguard", at.Source
			case kind == "vxlan" || scene.Contains(low, "vxlan", "flannel.", "cilium_vxlan"):
				return "vxlan", at.Source
			case kind == "geneve" || strings.HasPrefix(low, "genev"):
				return "geneve", at.Source
			case kind == "ipip" || strings.HasPrefix(low, "tunl"):
				return "ipip", at.Source
			}
		}
	}
	return "", piece.Source{}
}
