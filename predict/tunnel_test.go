package predict

import (
	"math"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// TestEthernetTable: goodput of Ethernet links by frame, to four digits.
func TestEthernetTable(t *testing.T) {
	speeds := [...]unit.BitRate{1e9, 10e9, 25e9, 40e9, 50e9, 100e9, 200e9, 400e9}
	for _, c := range []struct {
		mtu      int
		ipv6, ts bool
		payload  int
		wire     int
		atSpeed  [8]float64 // Gb/s
	}{
		{mtu: 1500, ts: true, payload: 1448, wire: 1538, atSpeed: [8]float64{.941, 9.415, 23.537, 37.659, 47.074, 94.148, 188.30, 376.59}},
		{mtu: 1500, payload: 1460, wire: 1538, atSpeed: [8]float64{.949, 9.493, 23.732, 37.971, 47.464, 94.928, 189.86, 379.71}},
		{mtu: 1500, ipv6: true, ts: true, payload: 1428, wire: 1538, atSpeed: [8]float64{.928, 9.285, 23.212, 37.139, 46.424, 92.848, 185.70, 371.39}},
		{mtu: 9000, ts: true, payload: 8948, wire: 9038, atSpeed: [8]float64{.990, 9.900, 24.751, 39.602, 49.502, 99.004, 198.01, 396.02}},
		{mtu: 9000, payload: 8960, wire: 9038, atSpeed: [8]float64{.991, 9.914, 24.784, 39.655, 49.568, 99.137, 198.27, 396.55}},
		{mtu: 9000, ipv6: true, ts: true, payload: 8928, wire: 9038, atSpeed: [8]float64{.988, 9.878, 24.696, 39.513, 49.391, 98.783, 197.57, 395.13}},
	} {
		share := framing.Segment{Mtu: c.mtu, Headers: framing.Headers("tcp", c.ipv6, c.ts)}.Share(netstate.FramingL1, 0)
		if want := float64(c.payload) / float64(c.wire); math.Abs(share-want) > 1e-12 {
			t.Errorf("%+v: %.5f; want %.5f", c, share, want)
		}
		for i, speed := range speeds {
			got := float64(speed) * share / 1e9
			if math.Abs(got-c.atSpeed[i]) > 6e-4*math.Max(1, math.Pow(10, math.Floor(math.Log10(c.atSpeed[i]))-1)) {
				t.Errorf("MTU %d at %v: %.3f; want %.3f", c.mtu, speed, got, c.atSpeed[i])
			}
		}
	}
	for protocol, want := range map[string]float64{"tcp": 1448. / 1542, "udp": 1472. / 1542, "mptcp": 1428. / 1542, "": 1448. / 1542} {
		if got := float64(framing.LinkPayloadOf(protocol, netstate.Link{Speed: 1}, 1500, 1, false)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%q, tagged: %.5f; want %.5f", protocol, got, want)
		}
	}
}

// overlay puts a VXLAN device, overlayOf one of a kind, with an address on each host's first address.
func overlay(f Fabric, mtu, vlan int, lower bool) Fabric {
	return overlayOf("vxlan", f, mtu, vlan, lower)
}

func overlayOf(kind string, f Fabric, mtu, vlan int, lower bool) Fabric {
	var hosts []string
	for _, p := range f.Paths {
		hosts = []string{p.From, p.To}
	}
	for i, name := range hosts {
		h := f.Hosts[name].Clone()
		var base netstate.Link
		for _, l := range h.Links {
			if len(l.Addresses) > 0 {
				base = l
			}
		}
		peer := f.Hosts[hosts[1-i]]
		v := netstate.Tunnel{Kind: kind, ID: 77, Local: base.Addresses[0].Addr(), Remote: peer.Links[len(peer.Links)-1].Addresses[0].Addr()}
		if lower {
			v.Lower = base.Name
		}
		vx := netstate.Link{Name: "vx0", Kind: kind, MTU: mtu, Up: true, Carrier: true, Tunnel: &v}
		address := netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 16, 0, byte(i + 1)}), 24)
		if vlan > 0 {
			h.SetLink(netstate.Link{Name: "in", Kind: "vlan", MTU: mtu, Up: true, Carrier: true,
				VLAN: &netstate.VLAN{ID: vlan, Parent: "vx0"}, Addresses: []netip.Prefix{address}})
		} else {
			vx.Addresses = []netip.Prefix{address}
		}
		h.SetLink(vx)
		defer func() { f.Hosts[name] = h }()
	}
	return f
}

func tunnelTraffic(t *testing.T, f Fabric, streams int, ports string) Prediction {
	t.Helper()
	all, err := Lanes(f, "a", "b", "")
	if err != nil {
		t.Fatal(err)
	}
	tr := Traffic{Streams: streams, Ports: ports}
	for _, l := range all {
		if l.Src.As4()[0] == 172 {
			tr.Lanes = append(tr.Lanes, l)
		}
	}
	if len(tr.Lanes) != 1 {
		t.Fatalf("lanes %v", all)
	}
	return mustPredict(t, f, tr)
}

// TestVXLAN: a tunnel adds 50 bytes to each frame over IPv4, 70 over IPv6, and
// an inner tag 4; its link is its own word, or the route's.
func TestVXLAN(t *testing.T) {
	v4 := func() Fabric {
		return JoinedHosts(testfabric.Plain("a", 10e9, 1500, "10.0.0.1/24"), testfabric.Plain("b", 10e9, 1500, "10.0.0.2/24"), 0, "")
	}
	v6 := func() Fabric {
		return JoinedHosts(testfabric.Plain("a", 10e9, 1500, "fd00::1/64"), testfabric.Plain("b", 10e9, 1500, "fd00::2/64"), 0, "")
	}
	shaped := v4()
	shaped.Paths[0].Rate = 2e9
	routed := v4()
	for name, h := range routed.Hosts {
		h = h.Clone()
		h.Routes = []netstate.Route{{Dst: netip.MustParsePrefix("10.0.0.0/24"), Link: "ens3", Table: 254}}
		routed.Hosts[name] = h
	}
	for _, c := range []struct {
		name string
		f    Fabric
		want float64
	}{
		{"IPv4", overlay(v4(), 1450, 0, true), 10e9 * 1398 / 1538},
		{"its link by the route", overlay(routed, 1450, 0, false), 10e9 * 1398 / 1538},
		{"its link by the address", overlay(v4(), 1450, 0, false), 10e9 * 1398 / 1538},
		{"a tag inside", overlay(v4(), 1446, 5, true), 10e9 * 1394 / 1538},
		{"IPv6", overlay(v6(), 1430, 0, true), 10e9 * 1378 / 1538},
		{"a shaper below", overlay(shaped, 1450, 0, true), 2e9 * 1398 / 1514},
	} {
		p := tunnelTraffic(t, c.f, 2, "")
		if !near(p.Rate, c.want, 1e-6) {
			t.Errorf("%s: %v, %+v; want %v", c.name, p.Rate, p.Limits[0], unit.BitRate(c.want))
		}
	}
	missing := overlay(v4(), 1450, 0, true)
	h := missing.Hosts["a"].Clone()
	vx, _ := h.Link("vx0")
	vx.Tunnel = &netstate.Tunnel{Kind: "vxlan", ID: 77, Lower: "gone"}
	h.SetLink(vx)
	missing.Hosts["a"] = h
	if _, err := Predict(missing, Traffic{From: "a", To: "b", Direction: "forward", Streams: 1}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a tunnel on a link that is missing: %v", err)
	}
}

// TestTunnelOverBond: nobody chooses a tunnel's outer ports, and its outer addresses
// are one pair; what has no ports of its own for each flow is one flow, at the switch
// too where the bond's own hash would tell more.
func TestTunnelOverBond(t *testing.T) {
	for _, c := range []struct {
		kind   string
		policy netstate.HashPolicy
		links  float64 // on average, of two with three flows
		limit  record.Cause
		why    string
	}{
		{"vxlan", netstate.Layer34, 1.75, record.HashImbalance, "secret seed"}, // 2 - 2 x (1/2)^3
		{"vxlan", netstate.Layer23, 1, record.SingleLink, "the tunnel's own addresses"},
		{"vxlan", netstate.Encap23, 1, record.SingleLink, "the tunnel's own addresses"},
		{"geneve", netstate.Layer34, 1.75, record.HashImbalance, "secret seed"},
		{"gre", netstate.Layer34, 1, record.SingleLink, "no ports"},
		{"gretap", netstate.Layer34, 1, record.SingleLink, "no ports"},
		{"ipip", netstate.Layer34, 1, record.SingleLink, "no ports"},
		{"gre", netstate.Encap34, 1, record.SingleLink, "no ports"}, // at the switch, which has layer3+4
		{"gre", netstate.Encap23, 1, record.SingleLink, "reads the packets inside GRE"},
		{"wireguard", netstate.Layer34, 1, record.SingleLink, "one outer flow"},
		{"wireguard", netstate.Layer23, 1, record.SingleLink, "one outer flow"},
		{"wireguard", netstate.Encap34, 1, record.SingleLink, "one outer flow"},
	} {
		tn := netstate.Tunnel{Kind: c.kind}
		room := tn.Headroom()
		f := overlayOf(c.kind, demo(c.policy, 1500), 1500-room, 0, true)
		f.Paths[0].RTT = 0
		p := tunnelTraffic(t, f, 3, "")
		one := 500e6 * float64(1500-room-52) / 1514
		if !near(p.Rate, one*c.links, 1e-6) || p.Limit != c.limit || !strings.Contains(p.Limits[0].Why, c.why) {
			t.Errorf("%s under %v: %v, %s; want %v, %s for %q: %+v", c.kind, c.policy, p.Rate, p.Limit, unit.BitRate(one*c.links), c.limit, c.why, p.Limits)
		}
	}
}

// TestTunnelNeverMore: what travels in a tunnel gets no more than the same traffic
// beside it, whatever the policy, the kind, and the number of flows.
func TestTunnelNeverMore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"vxlan", "geneve", "gre", "gretap", "ipip", "sit", "wireguard"}).Draw(rt, "kind")
		policy := rapid.SampledFrom([]netstate.HashPolicy{netstate.Layer2, netstate.Layer34, netstate.Layer23, netstate.Encap23, netstate.Encap34}).Draw(rt, "policy")
		streams, inside := rapid.IntRange(1, 6).Draw(rt, "streams"), rapid.IntRange(1280, 1600).Draw(rt, "MTU inside")
		f := demo(policy, 1500)
		f.Paths[0].RTT = 0
		beside := mustPredict(t, f, Traffic{Streams: streams})
		p := tunnelTraffic(t, overlayOf(kind, f, inside, 0, true), streams, "")
		room := netstate.Tunnel{Kind: kind}.Headroom()
		if p.Rate > beside.Rate*(1+1e-9) || p.Rate > p.Ceiling*(1+1e-9) {
			rt.Fatalf("%v in the tunnel, at most %v, and %v beside it", p.Rate, p.Ceiling, beside.Rate)
		}
		if said := strings.Contains(p.Limits[0].Why, "do not fit"); said != (inside > 1500-room) {
			rt.Fatalf("an MTU of %d and %d bytes on 1500: %q", inside, room, p.Limits[0].Why)
		}
	})
}

// TestOuterHash: what a hash sees of a tunnel's packets.
func TestOuterHash(t *testing.T) {
	if u := (use{spread: byAddress, hash: &steer.Bundle{}}).ofOuter(netstate.Tunnel{Kind: "vxlan"}); u.spread != onePort || u.hash != nil {
		t.Errorf("addresses: %+v; want one port", u)
	}
	if u := (use{spread: byPort}).ofOuter(netstate.Tunnel{Kind: "vxlan"}); u.spread != byChance || !u.outer {
		t.Errorf("ports: %+v; want chance", u)
	}
	for kind, want := range map[string]spread{"vxlan": byChance, "wireguard": byChance, "gre": byChance} {
		if u := (use{spread: byChance, policy: netstate.Encap34}).ofOuter(netstate.Tunnel{Kind: kind}); u.spread != want {
			t.Errorf("a host's own encap3+4 of %s: %+v", kind, u)
		}
	}
	for kind, want := range map[string]spread{"vxlan": byChance, "wireguard": onePort, "gre": byChance} {
		if u := (use{spread: byChance, policy: netstate.Encap34, bySwitch: true}).ofOuter(netstate.Tunnel{Kind: kind}); u.spread != want {
			t.Errorf("a switch's encap3+4 of %s: %+v", kind, u)
		}
	}
	for kind, want := range map[string]spread{"vxlan": notKnown, "wireguard": onePort, "gre": notKnown} {
		if u := (use{spread: notKnown, bySwitch: true}).ofOuter(netstate.Tunnel{Kind: kind}); u.spread != want {
			t.Errorf("a switch of which nothing is known, of %s: %+v", kind, u)
		}
	}
	if u := (use{spread: byPacket}).ofOuter(netstate.Tunnel{Kind: "vxlan"}); u.spread != byPacket {
		t.Errorf("stripes: %+v; want the same", u)
	}
}
