package trial

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// overlaid are two hosts with a tunnel over a bond of two links of 500 Mbit/s.
func overlaid(kind string, policy netstate.HashPolicy) predict.Fabric {
	f := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: nil}
	for i, name := range []string{"a", "b"} {
		outer, far := netip.AddrFrom4([4]byte{192, 0, 2, byte(i + 1)}), netip.AddrFrom4([4]byte{192, 0, 2, byte(2 - i)})
		bond := netstate.Link{Name: "bond0", Kind: "bond", MTU: 1500, Up: true, Carrier: true, Addresses: []netip.Prefix{netip.PrefixFrom(outer, 24)},
			Bond: &netstate.Bond{Mode: netstate.BalanceXOR, HashPolicy: policy, Ports: []string{"e0", "e1"}}}
		t := &netstate.Tunnel{Kind: kind, Local: outer, Remote: far}
		h := netstate.Host{Name: name, Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"}, Links: []netstate.Link{bond,
			{Name: "tun0", Kind: kind, MTU: 1500 - t.Headroom(), Up: true, Carrier: true, Tunnel: t,
				Addresses: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 16, 0, byte(i + 1)}), 24)}}},
			Routes: []netstate.Route{{Dst: netip.MustParsePrefix("192.0.2.0/24"), Link: "bond0", Table: 254}, {Dst: netip.MustParsePrefix("172.16.0.0/24"), Link: "tun0", Table: 254}}}
		for _, port := range []string{"e0", "e1"} {
			h.SetLink(netstate.Link{Name: port, MTU: 1500, Up: true, Carrier: true, Speed: 500e6, Framing: netstate.FramingL2, Master: "bond0",
				Port: &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true}})
		}
		f.Hosts[name] = h
	}
	return f
}

// onOneLink is a trial of four streams between the inner addresses, all on e0 of both.
func onOneLink() record.Trial {
	const full = 450e6
	t := record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 4, Protocol: "tcp", Goodput: full, Ceiling: 2 * full}
	for i := range 4 {
		t.Lanes = append(t.Lanes, record.Lane{Lane: flow.Lane{Src: netip.MustParseAddr("172.16.0.1"), Dst: netip.MustParseAddr("172.16.0.2")},
			Sport: uint16(40000 + i), Dport: 5201, Goodput: full / 4, Way: flow.Forward})
	}
	for _, host := range []string{"a", "b"} {
		for i, load := range []unit.BitRate{full, 0} {
			l := record.LinkUse{Host: host, Link: []string{"e0", "e1"}[i], Ceiling: full}
			if host == "a" {
				l.Tx, l.TxPayload = load, load
			} else {
				l.Rx, l.RxPayload = load, load
			}
			t.Links = append(t.Links, l)
		}
	}
	return t
}

// TestThroughTunnel: streams in a tunnel that no hash tells apart have one link, by
// the tunnel and not by the policy's word or by chance, and what is advised is what
// lets them have more.
func TestThroughTunnel(t *testing.T) {
	for _, c := range []struct {
		kind   string
		policy netstate.HashPolicy
		cause  record.Cause
		why    string
		remedy []string
	}{
		{"gre", netstate.Layer34, record.SingleLink, "inside GRE", []string{"encap3+4", "several tunnels"}},
		{"ipip", netstate.Layer23, record.SingleLink, "inside IP in IP", []string{"encap3+4"}},
		{"wireguard", netstate.Layer34, record.SingleLink, "inside WireGuard", []string{"several tunnels"}},
		{"vxlan", netstate.Layer23, record.SingleLink, "inside VXLAN", []string{"layer3+4"}},
		{"geneve", netstate.Layer2, record.SingleLink, "inside Geneve", []string{"layer3+4"}},
		{"vxlan", netstate.Layer34, record.HashImbalance, "a secret seed", []string{"more streams"}},
	} {
		f := Judge(overlaid(c.kind, c.policy), onOneLink())
		if f.Cause != c.cause || !strings.Contains(f.Summary, c.why) {
			t.Errorf("%s under %s: %s, %q; want %s, %q", c.kind, c.policy, f.Cause, f.Summary, c.cause, c.why)
		}
		for _, word := range c.remedy {
			if !strings.Contains(f.Remedy, word) {
				t.Errorf("%s under %s: %q; want %q", c.kind, c.policy, f.Remedy, word)
			}
		}
	}
}
