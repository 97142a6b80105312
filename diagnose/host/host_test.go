package host

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// healthy is a host with a bond about which there is nothing to say.
func healthy() netstate.Host {
	port := func(name string) netstate.Link {
		return netstate.Link{Name: name, MTU: 9000, Up: true, Carrier: true, Speed: 25e9, Master: "bond0",
			Port: &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true, AggregatorID: 1}}
	}
	return netstate.Host{
		Name: "alpha", Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"},
		Links: []netstate.Link{
			{Name: "lo", Kind: "loopback", Up: true, Carrier: true, MTU: 65536, Addresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}},
			port("eth0"), port("eth1"),
			{Name: "bond0", Kind: "bond", MTU: 9000, Up: true, Carrier: true, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24"), netip.MustParsePrefix("fe80::1/64")},
				Bond: &netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34, Miimon: 100 * time.Millisecond, MinLinks: 1, Ports: []string{"eth0", "eth1"},
					AD: &netstate.Aggregator{ID: 1, Ports: 2, PartnerMAC: flow.MAC{2, 0, 0, 0, 0, 1}}}},
		},
	}
}

const (
	port0, port1, bond0 = 1, 2, 3 // of healthy's links
)

func TestHost(t *testing.T) {
	second := netip.MustParsePrefix("10.0.0.2/24")
	for _, c := range []struct {
		name     string
		change   func(*netstate.Host)
		what     []string // of each finding, in order
		severity []Severity
		source   string // of some evidence of the first
	}{
		{"healthy", func(*netstate.Host) {}, nil, nil, ""},
		{"layer2", func(h *netstate.Host) { h.Links[bond0].Bond.HashPolicy = netstate.Layer2 },
			[]string{"bond0 sends all traffic to one peer on one of its 2 links"}, []Severity{Warning}, "IFLA_BOND_XMIT_HASH_POLICY"},
		{"layer2, several addresses", func(h *netstate.Host) {
			h.Links[bond0].Bond.HashPolicy = netstate.Layer2
			h.Links[bond0].Addresses = append(h.Links[bond0].Addresses, second)
		}, []string{"bond0 sends all traffic"}, []Severity{Warning}, ""},
		{"layer2+3, one address", func(h *netstate.Host) { h.Links[bond0].Bond.HashPolicy = netstate.Layer23 },
			[]string{"bond0 sends all traffic"}, []Severity{Warning}, "RTM_GETADDR"},
		{"layer2+3, an alias", func(h *netstate.Host) {
			h.Links[bond0].Bond.HashPolicy = netstate.Layer23
			h.Links[bond0].Addresses = append(h.Links[bond0].Addresses, second)
		}, nil, nil, ""},
		{"layer2+3, address on a VLAN", func(h *netstate.Host) {
			h.Links[bond0].Bond.HashPolicy = netstate.Layer23
			h.Links[bond0].Addresses = nil
			h.Links = append(h.Links, netstate.Link{Name: "lan", Kind: "vlan", Up: true, MTU: 9000, VLAN: &netstate.VLAN{ID: 5, Parent: "bond0"}, Addresses: []netip.Prefix{second}})
		}, []string{"bond0 sends all traffic"}, []Severity{Warning}, ""},
		{"layer2 below a bridge without address", func(h *netstate.Host) {
			h.Links[bond0].Bond.HashPolicy = netstate.Layer2
			h.Links[bond0].Addresses, h.Links[bond0].Master = nil, "br0"
			h.Links = append(h.Links, netstate.Link{Name: "br0", Kind: "bridge", Up: true, MTU: 9000})
		}, nil, nil, ""},
		{"layer2 below a bridge with one", func(h *netstate.Host) {
			h.Links[bond0].Bond.HashPolicy = netstate.Layer2
			h.Links[bond0].Addresses, h.Links[bond0].Master = nil, "br0"
			h.Links = append(h.Links, netstate.Link{Name: "br0", Kind: "bridge", Up: true, MTU: 9000, Addresses: []netip.Prefix{second}})
		}, []string{"bond0 sends all traffic"}, []Severity{Warning}, ""},
		{"layer2, active-backup", func(h *netstate.Host) {
			h.Links[bond0].Bond.HashPolicy, h.Links[bond0].Bond.Mode = netstate.Layer2, netstate.ActiveBackup
		}, nil, nil, ""},
		{"layer2, one port usable", func(h *netstate.Host) {
			h.Links[bond0].Bond.HashPolicy = netstate.Layer2
			h.Links[port1].Carrier, h.Links[port1].Port.MIIUp = false, false
		}, []string{"bond0 runs on 1 of 2 ports: eth1 is down", "bond0 sends all traffic"}, []Severity{Fault, Warning}, "IFF_LOWER_UP of RTM_GETLINK"},
		{"no partner", func(h *netstate.Host) {
			h.Links[bond0].Bond.AD.PartnerMAC = flow.MAC{}
			h.Links[port1].Port.AggregatorID = 2
		}, []string{"no LACP partner answers bond0"}, []Severity{Fault}, "IFLA_BOND_AD_INFO_PARTNER_MAC"},
		{"partner not read", func(h *netstate.Host) { h.Links[bond0].Bond.AD = nil }, nil, nil, ""},
		{"outside the aggregator", func(h *netstate.Host) { h.Links[port1].Port.AggregatorID = 2 },
			[]string{"eth1 carries nothing"}, []Severity{Fault}, "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID"},
		{"miimon 0", func(h *netstate.Host) {
			h.Links[bond0].Bond.Mode, h.Links[bond0].Bond.Miimon = netstate.BalanceXOR, 0
		}, []string{"bond0 does not watch its ports"}, []Severity{Fault}, "IFLA_BOND_MIIMON"},
		{"miimon 0, ARP monitor", func(h *netstate.Host) {
			h.Links[bond0].Bond.Mode, h.Links[bond0].Bond.Miimon = netstate.BalanceXOR, 0
			h.Links[bond0].Bond.Options = map[string]string{"arp_interval": "1000"}
		}, nil, nil, ""},
		{"miimon 0, no ports", func(h *netstate.Host) {
			h.Links[bond0].Bond.Mode, h.Links[bond0].Bond.Miimon, h.Links[bond0].Bond.Ports = netstate.BalanceRR, 0, nil
		}, nil, nil, ""},
		{"unequal speeds", func(h *netstate.Host) { h.Links[port1].Speed = 10e9 },
			[]string{"the ports of bond0 run at different speeds"}, []Severity{Warning}, "ETHTOOL_GLINKSETTINGS"},
		{"unknown speed", func(h *netstate.Host) { h.Links[port1].Speed = 0 }, nil, nil, ""},
		{"min_links 0", func(h *netstate.Host) { h.Links[bond0].Bond.MinLinks = 0 },
			[]string{"bond0 stays up until its last port dies"}, []Severity{Info}, "IFLA_BOND_MIN_LINKS"},
		{"port with a smaller MTU", func(h *netstate.Host) { h.Links[port0].MTU = 1500 },
			[]string{"eth0 has another MTU than bond0"}, []Severity{Fault}, "IFLA_MTU"},
		{"port with a larger MTU", func(h *netstate.Host) { h.Links[port0].MTU = 9216 },
			[]string{"eth0 has another MTU than bond0"}, []Severity{Warning}, "IFLA_MTU"},
		{"two links in one subnet", twoInOneSubnet, []string{"bond0, eth2 are all in 10.0.0.0/24"}, []Severity{Warning}, "RTM_GETADDR"},
		{"two links in one subnet, one down", func(h *netstate.Host) { twoInOneSubnet(h); h.Links[4].Up = false }, nil, nil, ""},
		{"two links in one subnet, with a rule", func(h *netstate.Host) {
			twoInOneSubnet(h)
			h.Rules = []netstate.Rule{{Priority: 100, From: netip.MustParsePrefix("10.0.0.2/32"), Table: 100}}
		}, nil, nil, ""},
		{"two links in one subnet, a route each", func(h *netstate.Host) {
			twoInOneSubnet(h)
			h.Routes = []netstate.Route{{Dst: netip.MustParsePrefix("10.0.0.9/32"), Link: "eth2", Table: 254}}
		}, nil, nil, ""},
		{"the local table steers nothing", func(h *netstate.Host) {
			twoInOneSubnet(h)
			h.Routes = []netstate.Route{{Dst: netip.MustParsePrefix("10.0.0.2/32"), Link: "eth2", Table: 255}}
		}, []string{"bond0, eth2 are all in"}, []Severity{Warning}, ""},
		{"nothing known", func(h *netstate.Host) { *h = netstate.Host{} }, nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := healthy()
			c.change(&h)
			got := Judge(h)
			if got == nil || len(got) != len(c.what) {
				t.Fatalf("%d findings, want %d: %+v", len(got), len(c.what), got)
			}
			for i, f := range got {
				if !strings.HasPrefix(f.What, c.what[i]) || f.Severity != c.severity[i] {
					t.Errorf("finding %d: %s %q, want %s %q", i, f.Severity, f.What, c.severity[i], c.what[i])
				}
				if len(f.Evidence) == 0 || f.Remedy == "" {
					t.Errorf("finding %d lacks evidence or remedy: %+v", i, f)
				}
				for _, e := range f.Evidence {
					if e.What == "" || e.Value == "" || e.Source == "" {
						t.Errorf("finding %d: evidence %+v is incomplete", i, e)
					}
				}
			}
			if c.source == "" {
				return
			}
			var sources []string
			for _, e := range got[0].Evidence {
				sources = append(sources, e.Source)
			}
			if !strings.Contains(strings.Join(sources, "\n"), c.source) {
				t.Errorf("evidence from %q, want %q", sources, c.source)
			}
		})
	}
}

func twoInOneSubnet(h *netstate.Host) {
	h.Links = append(h.Links, netstate.Link{Name: "eth2", Up: true, Carrier: true, MTU: 1500, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.2/24")}})
	h.Sysctls = map[string]netstate.Sysctl{"net.ipv4.conf.all.arp_ignore": {Value: "0", Scope: netstate.ScopeNamespace}}
}

// Judging a host must not change it: slices of the caller's are looked at.
func TestHostLeavesTheHostAlone(t *testing.T) {
	h := healthy()
	h.Links[bond0].Bond.HashPolicy = netstate.Layer2
	h.Links[port1].Carrier = false
	Judge(h)
	want := healthy()
	want.Links[bond0].Bond.HashPolicy = netstate.Layer2
	want.Links[port1].Carrier = false
	if d := cmp.Diff(want, h, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); d != "" {
		t.Errorf("host changed (-want +got):\n%s", d)
	}
}

func TestNarrowSlots(t *testing.T) {
	h := healthy()
	h.Cards = []netstate.Card{{Name: "c0", Generation: 3, Lanes: 4, MaxPayload: 256, MaxLanes: 8}}
	h.Links[port0].Card, h.Links[port1].Card = "c0", "c0"
	got := Judge(h)
	if len(got) != 1 || got[0].Severity != Warning || !strings.Contains(got[0].What, "moves about 27.") || !strings.Contains(got[0].Remedy, "x8") {
		t.Errorf("two ports of 25G in a slot of 27: %+v", got)
	}
	h.Cards[0].Lanes = 8
	if got := Judge(h); len(got) != 0 {
		t.Errorf("a slot wide enough: %+v", got)
	}
	h.Cards[0].Lanes = 0
	if got := Judge(h); len(got) != 0 {
		t.Errorf("an unknown slot: %+v", got)
	}
}
