package wanted_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
)

// somebodys is a host with two links and a way out.
func somebodys() netstate.Host {
	h := netstate.Host{Name: "h", Kernel: netstate.Kernel{OS: "linux", Release: "6.12.1"}, Sysctls: map[string]netstate.Sysctl{
		"net.ipv4.fib_multipath_hash_policy": {Value: "0"}, "net.ipv6.fib_multipath_hash_policy": {Value: "0"}, "net.mptcp.enabled": {Value: "1"},
	}}
	h.Links = []netstate.Link{
		{Name: "lo", Kind: "loopback", Up: true, Carrier: true, MTU: 65536, Addresses: prefixes("127.0.0.1/8")},
		{Name: "eth0", Up: true, Carrier: true, MTU: 1500, Addresses: prefixes("192.0.2.10/24", "2001:db8::10/64")},
		{Name: "eth1", Up: true, Carrier: true, MTU: 1500, Addresses: prefixes("10.200.0.2/24")},
	}
	h.Routes = []netstate.Route{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("192.0.2.1"), Link: "eth0", Table: 254, Protocol: "boot"}}
	return h
}

// TestDiscoveredCases are hosts of whose own files a plan once took something.
func TestDiscoveredCases(t *testing.T) {
	everything, addr := netip.MustParsePrefix("0.0.0.0/0"), netip.MustParseAddr
	wide := netip.MustParsePrefix("10.7.0.0/16")
	over := func(names ...string) []netstate.NextHop {
		var hops []netstate.NextHop
		for i, via := range []string{"192.0.2.1", "10.200.0.1"} {
			hops = append(hops, netstate.NextHop{Gateway: addr(via), Link: names[i], Weight: 1 + 2*i})
		}
		return hops
	}
	for _, c := range []struct {
		name string
		set  func(*netstate.Host)
		says []string
		not  []string
	}{
		{"WireGuard's rules", func(h *netstate.Host) {
			h.Routes = append(h.Routes, netstate.Route{Dst: everything, Link: "eth1", Table: 51820, Protocol: "boot"})
			h.Rules = []netstate.Rule{{Priority: 32763, Family: "ipv4", Table: 254, Selectors: "suppress_prefixlength 0"}, {Priority: 32764, Family: "ipv4", Table: 51820, Selectors: "not fwmark 0xca6c"}}
		}, []string{"# ", "ip rule priority 32764 from all not fwmark 0xca6c table 51820", "ip rule priority 32763 from all suppress_prefixlength 0 table 254", "{to: default, scope: link, table: 51820}"}, []string{"routing-policy"}},
		{"Tailscale's rules", func(h *netstate.Host) {
			h.Rules = []netstate.Rule{{Priority: 5210, Family: "ipv4", Table: 254, Selectors: "fwmark 0x80000/0xff0000"}, {Priority: 5250, Family: "ipv4", Action: "unreachable", Selectors: "fwmark 0x80000/0xff0000"}}
		}, []string{"ip rule priority 5210 from all fwmark 0x80000/0xff0000 table 254", "fwmark 0x80000/0xff0000 unreachable"}, []string{"routing-policy"}},
		{"a rule by mark alone", func(h *netstate.Host) {
			h.Rules = []netstate.Rule{{Priority: 100, Family: "ipv6", Table: 254, Selectors: "fwmark 0x20"}}
		}, []string{`{from: "::/0", mark: 32, table: 254, priority: 100}`}, []string{"no key"}},
		{"a rule by interface and port", func(h *netstate.Host) {
			h.Rules = []netstate.Rule{{Priority: 299, Family: "ipv4", Table: 254, Selectors: "iif eth0 ipproto 6 dport 80-80"}}
		}, []string{"ip rule priority 299 from all iif eth0 ipproto 6 dport 80-80 table 254"}, []string{"routing-policy"}},
		{"a bond with one port", func(h *netstate.Host) {
			h.Links[2].Master, h.Links[2].Port, h.Links[2].Addresses = "bond0", &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true}, nil
			h.Links = append(h.Links, netstate.Link{Name: "bond0", Kind: "bond", Up: true, Carrier: true, MTU: 1500, Addresses: prefixes("192.0.3.7/24"), Bond: &netstate.Bond{Mode: netstate.ActiveBackup, PacketsPerSlave: 1, TLBDynamic: true, Ports: []string{"eth1"}, Miimon: 100e6}})
		}, []string{"interfaces: [eth1]", "addresses: [192.0.3.7/24]"}, nil},
		{"a bond without ports", func(h *netstate.Host) {
			h.Links = append(h.Links, netstate.Link{Name: "bond0", Kind: "bond", Up: true, MTU: 1500, Addresses: prefixes("192.0.3.7/24"), Bond: &netstate.Bond{PacketsPerSlave: 1, TLBDynamic: true, Ports: []string{}}})
		}, []string{"interfaces: []", "addresses: [192.0.3.7/24]"}, nil},
		{"multipath", func(h *netstate.Host) {
			h.Routes = append(h.Routes, netstate.Route{Dst: wide, Table: 254, Protocol: "boot", Hops: over("eth0", "eth1")})
		}, []string{"multipath:", "{to: 10.7.0.0/16, hops: [{dev: eth0, via: 192.0.2.1}, {dev: eth1, via: 10.200.0.1, weight: 3}]}", `net.ipv4.fib_multipath_hash_policy: "0"`}, nil},
		{"multipath with an MTU", func(h *netstate.Host) {
			h.Routes = append(h.Routes, netstate.Route{Dst: wide, Table: 254, MTU: 1400, Protocol: "boot", Hops: over("eth0", "eth1")})
		}, []string{"ip route 10.7.0.0/16 mtu 1400 nexthop via 192.0.2.1 dev eth0 weight 1", "(its mtu)"}, []string{"multipath:"}},
		{"a nexthop object", func(h *netstate.Host) {
			h.Routes = append(h.Routes, netstate.Route{Dst: wide, Table: 254, Object: 10, Protocol: "boot", Hops: over("eth0", "eth1")})
		}, []string{"nhid 10", "(a nexthop object)"}, []string{"multipath:"}},
		{"routes that deliver nothing", func(h *netstate.Host) {
			h.Routes = append(h.Routes, netstate.Route{Dst: wide, Type: "blackhole", Table: 254, Protocol: "boot"}, netstate.Route{Dst: netip.MustParsePrefix("fd00:7::/48"), Type: "unreachable", Table: 254, Metric: 1024, Protocol: "boot"})
		}, []string{"{to: 10.7.0.0/16, type: blackhole}", `type: unreachable`}, []string{"no key"}},
		{"a route with an MTU and windows", func(h *netstate.Host) {
			h.Routes = append(h.Routes, netstate.Route{Dst: wide, Gateway: addr("192.0.2.1"), Link: "eth0", Table: 254, MTU: 1300, Metrics: map[string]string{"initcwnd": "20", "initrwnd": "30", "advmss": "1200"}, Protocol: "boot"})
		}, []string{"{to: 10.7.0.0/16, via: 192.0.2.1, mtu: 1300, congestion-window: 20, advertised-receive-window: 30, advertised-mss: 1200}"}, nil},
		{"a route with a metric that no key is for", func(h *netstate.Host) {
			h.Routes = append(h.Routes, netstate.Route{Dst: wide, Gateway: addr("192.0.2.1"), Link: "eth0", Table: 254, MTU: 1300, Metrics: map[string]string{"quickack": "1"}, Protocol: "boot"})
		}, []string{"quickack 1", "(its quickack)"}, []string{"to: 10.7.0.0/16"}},
		{"IPv6's default without a next hop", func(h *netstate.Host) {
			h.Routes = append(h.Routes, netstate.Route{Dst: netip.MustParsePrefix("::/0"), Link: "eth0", Table: 254, Metric: 5, Protocol: "boot"})
		}, []string{`{to: "::/0", scope: link, metric: 5}`}, nil},
		{"MPTCP", func(h *netstate.Host) {
			h.MPTCP = &netstate.MPTCP{Subflows: 4, AddAddrAccepted: 3, Endpoints: []netstate.MPTCPEndpoint{
				{Addr: addr("10.200.0.2"), Flags: netstate.MPTCPSubflow, Link: "eth1"}, {Addr: addr("203.0.113.9"), Flags: netstate.MPTCPSignal}}}
		}, []string{"subflows: 4", "{address: 10.200.0.2, dev: eth1, flags: [subflow]}", "ip mptcp endpoint 203.0.113.9 signal (no address of the host)"}, nil},
		{"what a lease brings", func(h *netstate.Host) {
			h.Links[2].Leases = h.Links[2].Addresses
			h.Routes = append(h.Routes, netstate.Route{Dst: everything, Gateway: addr("10.200.0.1"), Link: "eth1", Table: 254, Metric: 100, Protocol: "dhcp"})
		}, []string{"dhcp4: true", "leased:", "addresses: [10.200.0.2/24]", "{to: default, via: 10.200.0.1, metric: 100}"}, nil},
		{"a daemon's routes", func(h *netstate.Host) {
			h.Routes = append(h.Routes, netstate.Route{Dst: wide, Gateway: addr("192.0.2.1"), Link: "eth0", Table: 254, Protocol: "bird"})
		}, []string{"ip route 10.7.0.0/16 via 192.0.2.1 dev eth0 proto bird (made by bird)"}, []string{"to: 10.7.0.0/16"}},
		{"an address on two links", func(h *netstate.Host) {
			h.Links[1].Addresses = append(h.Links[1].Addresses, prefixes("198.51.100.1/32")...)
			h.Links[2].Addresses = append(h.Links[2].Addresses, prefixes("198.51.100.1/32")...)
		}, []string{"ip address 198.51.100.1/32 dev eth1 (it is eth0 of h's already)"}, nil},
		{"an address to a peer", func(h *netstate.Host) {
			h.Links[2].Addresses = append(h.Links[2].Addresses, prefixes("10.9.0.1/32")...)
			h.Links[2].AddressSettings = map[netip.Prefix]string{netip.MustParsePrefix("10.9.0.1/32"): "peer 10.9.0.2/32"}
		}, []string{"ip address 10.9.0.1/32 dev eth1 peer 10.9.0.2/32"}, []string{"10.9.0.1/32]"}},
		{"a link that is down", func(h *netstate.Host) { h.Links[2].Up = false }, []string{"activation-mode: manual"}, nil},
		{"a port of a VRF", func(h *netstate.Host) {
			h.Links[2].Master = "red"
			h.Links = append(h.Links, netstate.Link{Name: "red", Kind: "vrf", Up: true, MTU: 1500})
		}, []string{"ip link eth1 master red (vrf that is not written)"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := somebodys()
			c.set(&h)
			text := discovered(h)
			if err := unchanged(h, text); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			for _, words := range c.says {
				if !strings.Contains(text, words) {
					t.Errorf("it does not say %q:\n%s", words, text)
				}
			}
			for _, words := range c.not {
				if strings.Contains(text, words) {
					t.Errorf("it says %q:\n%s", words, text)
				}
			}
		})
	}
}

// TestDiscoveredTogether: two hosts with one address each by itself, as behind a
// router of their own, and one that both announce.
func TestDiscoveredTogether(t *testing.T) {
	a, b := somebodys(), somebodys()
	a.Name, b.Name = "a", "b"
	b.Links[1].Addresses = prefixes("192.0.2.11/24", "198.51.100.1/32")
	a.Links[1].Addresses = append(a.Links[1].Addresses, prefixes("198.51.100.1/32")...)
	b.Routes = nil
	text := discovered(a, b)
	for _, h := range []netstate.Host{a, b} {
		if err := unchanged(h, text); err != nil {
			t.Errorf("%s: %v\n%s", h.Name, err, text)
		}
	}
}

// TestLeasedIsForPredictions: what was leased is part of the declared state, with
// its mark, and a device that is not there is told of.
func TestLeasedIsForPredictions(t *testing.T) {
	f, err := fabric.Parse("f", []byte("linerate: v1\nhosts:\n  h:\n    network: {ethernets: {eth0: {dhcp4: true}}}\n    leased: {eth0: {addresses: [10.0.0.5/24], routes: [{to: default, via: 10.0.0.1}]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.State("h")
	if err != nil {
		t.Fatal(err)
	}
	l, _ := s.Link("eth0")
	if len(l.Addresses) != 1 || len(l.Leases) != 1 || s.Routes[len(s.Routes)-1].Protocol != "dhcp" {
		t.Errorf("%+v, routes %+v", l, s.Routes)
	}
	_, err = fabric.Parse("f", []byte("linerate: v1\nhosts:\n  h:\n    network: {ethernets: {eth0: {dhcp4: true}}}\n    leased: {eth9: {addresses: [10.0.0.5/24]}}\n"))
	if err == nil || !strings.Contains(err.Error(), `device "eth9" is not defined`) {
		t.Errorf("a device that is not there: %v", err)
	}
}
