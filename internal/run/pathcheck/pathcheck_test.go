package pathcheck

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// twoLinks is a host with 10.0.0.1/24 on eth0 and the second address on eth1.
func twoLinks(second string, sysctls map[string]string, change ...func(*netstate.Host)) netstate.Host {
	h := netstate.Host{Name: "alpha", Sysctls: make(map[string]netstate.Sysctl), Links: []netstate.Link{
		{Name: "lo", Kind: "loopback", Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}},
		{Name: "eth0", Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}},
		{Name: "eth1", Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix(second)}},
	}}
	for k, v := range sysctls {
		h.Sysctls["net.ipv4.conf."+k] = netstate.Sysctl{Value: v}
	}
	for _, f := range change {
		f(&h)
	}
	return h
}

func end(h netstate.Host, own, peer string, r netstate.FlowRoute) End {
	return End{Host: h, Own: netip.MustParseAddr(own), Peer: netip.MustParseAddr(peer), Route: r}
}

func TestCheck(t *testing.T) {
	route := func(dst string, r netstate.Route) func(*netstate.Host) {
		r.Dst = netip.MustParsePrefix(dst)
		return func(h *netstate.Host) { h.Routes = append(h.Routes, r) }
	}
	quiet := map[string]string{"all.rp_filter": "0", "eth1.rp_filter": "0", "all.arp_ignore": "1"}
	for _, c := range []struct {
		name   string
		ends   []End
		want   []Kind
		remedy string // part of the first problem's
	}{
		{"by its own link", []End{end(twoLinks("10.0.1.1/24", quiet), "10.0.1.1", "10.0.1.2", netstate.FlowRoute{Link: "eth1"})}, nil, ""},
		{"two links in one subnet", []End{end(twoLinks("10.0.0.2/24", quiet), "10.0.0.2", "10.0.0.9", netstate.FlowRoute{Link: "eth0"})},
			[]Kind{OneSubnet}, "ip route add 10.0.0.0/24 dev eth1 src 10.0.0.2 table 102 && ip rule add from 10.0.0.2 table 102"},
		{"by another link", []End{end(twoLinks("10.0.1.1/24", quiet, route("0.0.0.0/0", netstate.Route{Gateway: netip.MustParseAddr("10.0.1.254"), Link: "eth1"})), "10.0.1.1", "10.9.0.2", netstate.FlowRoute{Link: "eth0"})},
			[]Kind{OtherLink}, "ip route add 10.9.0.2/32 via 10.0.1.254 dev eth1 src 10.0.1.1 table 102"},
		{"no route", []End{end(twoLinks("10.0.1.1/24", quiet), "10.0.1.1", "10.9.0.2", netstate.FlowRoute{Why: "network is unreachable"})},
			[]Kind{NoRoute}, "ip route add 10.9.0.2/32 dev eth1 src 10.0.1.1"},
		{"strict reverse path", []End{end(twoLinks("10.0.0.2/24", map[string]string{"all.rp_filter": "0", "eth1.rp_filter": "1", "all.arp_ignore": "1"}), "10.0.0.2", "10.0.0.9", netstate.FlowRoute{Link: "eth0"})},
			[]Kind{ReversePath, OneSubnet}, "sysctl -w net.ipv4.conf.eth1.rp_filter=2"},
		{"strict by all", []End{end(twoLinks("10.0.1.1/24", map[string]string{"all.rp_filter": "1", "eth1.rp_filter": "0"}), "10.0.1.1", "10.9.0.9", netstate.FlowRoute{Link: "eth0"})},
			[]Kind{ReversePath, OtherLink}, "eth1.rp_filter=2"},
		{"loose by all wins over strict", []End{end(twoLinks("10.0.1.1/24", map[string]string{"all.rp_filter": "2", "eth1.rp_filter": "1"}), "10.0.1.1", "10.9.0.9", netstate.FlowRoute{Link: "eth0"})},
			[]Kind{OtherLink}, ""},
		{"strict and by its own link", []End{end(twoLinks("10.0.1.1/24", map[string]string{"all.rp_filter": "1"}), "10.0.1.1", "10.0.1.9", netstate.FlowRoute{Link: "eth1"})}, nil, ""},
		{"ARP flux", []End{end(twoLinks("10.0.0.2/24", map[string]string{"all.arp_ignore": "0", "all.arp_filter": "0"}), "10.0.0.2", "10.0.0.9", netstate.FlowRoute{Link: "eth1"})},
			[]Kind{ARPFlux}, "sysctl -w net.ipv4.conf.all.arp_ignore=1 && sysctl -w net.ipv4.conf.all.arp_announce=2"},
		{"no flux with arp_filter", []End{end(twoLinks("10.0.0.2/24", map[string]string{"all.arp_ignore": "0", "eth0.arp_filter": "1"}), "10.0.0.2", "10.0.0.9", netstate.FlowRoute{Link: "eth1"})}, nil, ""},
		{"settings not observed", []End{end(twoLinks("10.0.0.2/24", nil), "10.0.0.2", "10.0.0.9", netstate.FlowRoute{Link: "eth1"})}, nil, ""},
		{"a leg of a multipath route", []End{end(twoLinks("10.0.1.1/24", quiet, route("10.9.0.0/16", netstate.Route{Hops: []netstate.NextHop{{Link: "eth0"}, {Link: "eth1"}}})), "10.0.1.1", "10.9.0.2", netstate.FlowRoute{Link: "eth0"})}, nil, ""},
		{"a closer route than the multipath one", []End{end(twoLinks("10.0.1.1/24", quiet, route("10.9.0.0/16", netstate.Route{Hops: []netstate.NextHop{{Link: "eth0"}, {Link: "eth1"}}}), route("10.9.0.2/32", netstate.Route{Link: "eth0"})), "10.0.1.1", "10.9.0.2", netstate.FlowRoute{Link: "eth0"})}, []Kind{OtherLink}, ""},
		{"an address of the loopback", []End{end(twoLinks("10.0.1.1/24", quiet, func(h *netstate.Host) {
			h.Links[0].Addresses = append(h.Links[0].Addresses, netip.MustParsePrefix("10.7.0.1/32"))
		}), "10.7.0.1", "10.9.0.2", netstate.FlowRoute{Link: "eth0"})}, nil, ""},
		{"each thing once", []End{
			end(twoLinks("10.0.0.2/24", quiet), "10.0.0.2", "10.0.0.9", netstate.FlowRoute{Link: "eth0"}),
			end(twoLinks("10.0.0.2/24", quiet), "10.0.0.2", "10.0.0.10", netstate.FlowRoute{Link: "eth0"}),
		}, []Kind{OneSubnet}, ""},
		{"IPv6", []End{end(twoLinks("2001:db8:1::1/64", quiet), "2001:db8:1::1", "2001:db8:9::1", netstate.FlowRoute{Link: "eth0"})},
			[]Kind{OtherLink}, "ip -6 rule add from 2001:db8:1::1 table 102"},
		{"not on the host", []End{end(twoLinks("10.0.1.1/24", quiet), "10.5.5.5", "10.0.1.2", netstate.FlowRoute{Link: "eth0"})}, nil, ""},
	} {
		var got []Kind
		problems := Check(c.ends)
		for _, p := range problems {
			got = append(got, p.Kind)
			if p.Summary == "" || len(p.Remedy) == 0 || p.Host != "alpha" {
				t.Errorf("%s: %+v", c.name, p)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s%v", c.name, diff, problems)
			continue
		}
		if len(problems) > 0 && !strings.Contains(problems[0].String(), c.remedy) {
			t.Errorf("%s: %s\nwant %s", c.name, problems[0], c.remedy)
		}
	}
}

func TestStopsAndMisleads(t *testing.T) {
	for _, k := range kinds {
		p := Problem{Kind: k}
		if p.Stops() && p.Misleads() {
			t.Errorf("%s does both", k)
		}
	}
}

// TestManyAddresses: 254 aliases on the wrong link are one problem whose
// remedy fits a page.
func TestManyAddresses(t *testing.T) {
	h := twoLinks("10.0.0.2/24", map[string]string{"all.arp_ignore": "1"})
	var ends []End
	for i := range 200 {
		a := netip.AddrFrom4([4]byte{10, 0, 0, byte(20 + i)})
		h.Links[2].Addresses = append(h.Links[2].Addresses, netip.PrefixFrom(a, 24))
	}
	for _, p := range h.Links[2].Addresses {
		ends = append(ends, End{Host: h, Own: p.Addr(), Peer: netip.MustParseAddr("10.0.0.250"), Route: netstate.FlowRoute{Link: "eth0"}})
	}
	got := Check(ends)
	if len(got) != 1 || len(got[0].Own) != 201 || len(got[0].Remedy) > 7 || !strings.Contains(got[0].Summary, "199 more") {
		t.Errorf("%d problems: %+v", len(got), got)
	}
}

func TestExplain(t *testing.T) {
	wrong := []Problem{{Kind: OneSubnet, Host: "alpha", Link: "eth1", Out: "eth0", Own: []netip.Addr{netip.MustParseAddr("10.0.0.2")}, Summary: "leaves by eth0", Remedy: record.Way{record.Run("alpha", "ip", "rule", "add")}}}
	for _, c := range []struct {
		name      string
		cause     record.Cause
		direction flow.Direction
		goodput   unit.BitRate
		problems  []Problem
		want      record.Cause
	}{
		{"half the ceiling", record.SingleLink, flow.Forward, 50, wrong, record.AsymmetricRoute},
		{"all of it", record.LineRate, flow.Forward, 99, wrong, record.LineRate},
		{"a full processor", record.SenderCPU, flow.Forward, 50, wrong, record.SenderCPU},
		{"of the receiver only", record.SingleLink, flow.Reverse, 50, wrong, record.SingleLink},
		{"both ways", record.Unknown, flow.Both, 50, wrong, record.AsymmetricRoute},
		{"ARP flux alone", record.Unknown, flow.Forward, 50, []Problem{{Kind: ARPFlux, Host: "alpha"}}, record.Unknown},
	} {
		trial := record.Trial{From: "alpha", To: "beta", Direction: c.direction, Goodput: c.goodput, Ceiling: 100}
		got := Explain(record.Finding{Cause: c.cause, Remedy: "old"}, trial, c.problems)
		if got.Cause != c.want || (c.want == record.AsymmetricRoute) != (len(got.Evidence) == 1 && strings.Contains(got.Remedy, "on alpha: `ip rule add`")) {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}
