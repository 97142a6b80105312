package tunnel

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/netstate"
)

var (
	local, remote = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	kinds         = []string{"vxlan", "geneve", "gre", "gretap", "ip6gre", "ip6gretap", "ipip", "sit", "ip6tnl", "wireguard"}
	policies      = []netstate.HashPolicy{netstate.Layer2, netstate.Layer34, netstate.Layer23, netstate.Encap23, netstate.Encap34, netstate.VLANSrcMAC}
)

func link(name, kind string, mtu int, addresses ...netip.Prefix) netstate.Link {
	return netstate.Link{Name: name, Kind: kind, MTU: mtu, Up: true, Carrier: true, Addresses: addresses}
}

// host has a tunnel on a bond, with a VLAN on top.
func host(t netstate.Tunnel, below, inside, tagged int) netstate.Host {
	bond := link("bond0", "bond", below, netip.PrefixFrom(local, 24))
	bond.Bond = &netstate.Bond{Ports: []string{"e0", "e1"}}
	tun := link("tun0", t.Kind, inside)
	tun.Tunnel = &t
	vlan := link("lan", "vlan", tagged)
	vlan.VLAN = &netstate.VLAN{ID: 5, Parent: "tun0"}
	return netstate.Host{Links: []netstate.Link{link("e0", "", below), link("e1", "", below), bond, tun, vlan},
		Routes: []netstate.Route{{Dst: netip.MustParsePrefix("192.0.2.0/24"), Link: "bond0", Table: 254}}}
}

// TestBelow: the link under a tunnel is its own word, the route's to its peer, or that
// with its outer address, and a tunnel whose peer nobody knows lies on nothing.
func TestBelow(t *testing.T) {
	for _, c := range []struct {
		name string
		t    netstate.Tunnel
		base string
	}{
		{"its own word", netstate.Tunnel{Kind: "vxlan", Lower: "bond0"}, "bond0"},
		{"the route", netstate.Tunnel{Kind: "wireguard", Remote: remote}, "bond0"},
		{"its address", netstate.Tunnel{Kind: "vxlan", Local: local, Remote: netip.MustParseAddr("239.1.1.1")}, "bond0"},
		{"nothing known", netstate.Tunnel{Kind: "wireguard"}, "tun0"},
	} {
		h := host(c.t, 1500, 1400, 1396)
		vlan, _ := h.Link("lan")
		s, ok := Below(h, vlan)
		if !ok || s.Base.Name != c.base {
			t.Errorf("%s: %+v, %t", c.name, s, ok)
		}
		if c.base == "bond0" && (s.Tags != 0 || s.Outer != c.t.Headroom()+4 || s.Tunnel == nil || *s.Tunnel != c.t || s.Fits != 1500-c.t.Headroom()-4) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
	lost := host(netstate.Tunnel{Kind: "gre", Lower: "gone"}, 1500, 1400, 1400)
	tun, _ := lost.Link("tun0")
	if _, ok := Below(lost, tun); ok {
		t.Error("a tunnel on a missing link lies on something")
	}
}

// TestRoom: an MTU that a tunnel and its headers leave no room for is said, with the
// one that fits; it fits for every kind at exactly the headroom.
func TestRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tn := netstate.Tunnel{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Lower: "bond0", Options: 4 * rapid.IntRange(0, 3).Draw(t, "options")}
		if rapid.Bool().Draw(t, "over IPv6") {
			tn.Local = netip.MustParseAddr("2001:db8::1")
		}
		below, over := rapid.IntRange(1280, 9216).Draw(t, "below"), rapid.IntRange(-200, 200).Draw(t, "over")
		h := host(tn, below, below-tn.Headroom()+over, 0)
		l, _ := h.Link("tun0")
		s, ok := Below(h, l)
		if !ok || s.Fits != below-tn.Headroom() || (s.Narrow != "") != (over > 0) || s.Whole(l.MTU) > s.Fits || s.Whole(l.MTU) > l.MTU {
			t.Fatalf("%+v over %d by %d: %+v", tn, below, over, s)
		}
	})
}

// TestNested: a tunnel in a tunnel is to the bond the outer one, and both cost.
func TestNested(t *testing.T) {
	h := host(netstate.Tunnel{Kind: "wireguard", Remote: remote}, 1500, 1420, 0)
	inner := link("vx0", "vxlan", 1370)
	inner.Tunnel = &netstate.Tunnel{Kind: "vxlan", Lower: "tun0"}
	h.SetLink(inner)
	s, ok := Below(h, inner)
	if !ok || s.Base.Name != "bond0" || s.Tunnel.Kind != "wireguard" || s.Outer != 60+50 || s.Fits != 1370 || s.Narrow != "" {
		t.Errorf("%+v", s)
	}
	inner.MTU = 1400
	h.SetLink(inner)
	if s, _ = Below(h, inner); !strings.Contains(s.Narrow, "vx0's to 1370") {
		t.Errorf("narrow: %q", s.Narrow)
	}
}

// TestSeen is the whole table: which policies tell flows inside apart.
func TestSeen(t *testing.T) {
	want := func(tn netstate.Tunnel, p netstate.HashPolicy, own bool) Sight {
		gre := strings.Contains(tn.Kind, "gre") || strings.HasPrefix(tn.Kind, "ip") || tn.Kind == "sit"
		udp := (tn.Kind == "vxlan" || tn.Kind == "geneve") && !tn.OnePort
		switch {
		case p == netstate.Encap34 && own:
			return ByChance
		case gre && (p == netstate.Encap23 || p == netstate.Encap34):
			return Inside
		case udp && (p == netstate.Layer34 || p == netstate.Encap34):
			return ByChance
		}
		return OneFlow
	}
	for _, kind := range kinds {
		for _, tn := range []netstate.Tunnel{{Kind: kind}, {Kind: kind, OnePort: kind == "vxlan"}} {
			for _, p := range policies {
				for _, own := range []bool{true, false} {
					got, why := Seen(tn, p, own)
					if got != want(tn, p, own) || !strings.Contains(why, tn.Title()) {
						t.Errorf("%+v, %s, own %t: %d, %q", tn, p, own, got, why)
					}
				}
				remedy := Remedy(tn, p)
				if sight, _ := Seen(tn, p, true); sight == OneFlow && remedy == "" {
					t.Errorf("%+v, %s: no remedy", tn, p)
				}
			}
		}
	}
}

// TestRemedyHelps: what is advised of a policy tells flows apart where it is set.
func TestRemedyHelps(t *testing.T) {
	for _, kind := range kinds {
		tn := netstate.Tunnel{Kind: kind}
		for _, p := range policies {
			r := Remedy(tn, p)
			for word, advised := range map[string]netstate.HashPolicy{"layer3+4 on the bond": netstate.Layer34, "encap3+4 on the bond": netstate.Encap34} {
				if sight, _ := Seen(tn, advised, true); strings.Contains(r, word) && (sight == OneFlow || advised == p) {
					t.Errorf("%s under %s: %q does not help", kind, p, r)
				}
			}
		}
	}
}
