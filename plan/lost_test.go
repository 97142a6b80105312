package plan_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// lonely is a host with one link, the addresses and routes on it, and sysctls.
func lonely(addresses []string, sysctls map[string]string, routes ...netstate.Route) netstate.Host {
	h := netstate.Host{Kernel: netstate.Kernel{Release: "6.12.1"}, Sysctls: map[string]netstate.Sysctl{}, Routes: routes,
		Links: []netstate.Link{{Name: "e", MTU: 9000, Up: true, Addresses: []netip.Prefix{}}, {Name: "f", MTU: 1500, Up: true, Addresses: []netip.Prefix{}}}}
	for _, a := range addresses {
		h.Links[0].Addresses = append(h.Links[0].Addresses, prefix(a))
	}
	for k, v := range sysctls {
		h.Sysctls[k] = netstate.Sysctl{Value: v}
	}
	return h
}

func via(dst, gateway, protocol string) netstate.Route {
	return netstate.Route{Dst: prefix(dst), Gateway: netip.MustParseAddr(gateway), Link: "e", Table: 254, Protocol: protocol}
}

func setSysctl(h *netstate.Host, key, value string) {
	s := h.Sysctls[key]
	s.Value = value
	h.Sysctls[key] = s
}

// TestNothingIsLost: what the kernel takes away along with a change goes in a
// step of its own and is back at the end, and after undo.
func TestNothingIsLost(t *testing.T) {
	long6 := via("fd01::/64", "fd00::2", "static")
	long6.MTU = 8000
	forward := map[string]string{"net.ipv4.ip_forward": "0", "net.ipv4.conf.all.forwarding": "0", "net.ipv4.conf.e.forwarding": "0",
		"net.ipv4.conf.f.forwarding": "1", "net.ipv4.conf.all.accept_redirects": "0"}
	for name, tt := range map[string]struct {
		host   netstate.Host
		change func(*netstate.Host)
		want   []string // the steps, in order
	}{
		"a gateway whose address goes": {
			lonely([]string{"10.0.0.1/24", "10.5.0.1/24"}, nil, via("0.0.0.0/0", "10.0.0.254", "static")),
			func(h *netstate.Host) {
				h.Links[0].Addresses = []netip.Prefix{prefix("10.5.0.1/24")}
				h.Routes = []netstate.Route{via("0.0.0.0/0", "10.5.0.254", "static")}
			},
			[]string{"ip route del 0.0.0.0/0 via 10.0.0.254 dev e", "ip address del 10.0.0.1/24 dev e", "ip route add 0.0.0.0/0 via 10.5.0.254 dev e proto static"}},
		"a lower MTU of IPv6's": {
			lonely(nil, map[string]string{"net.ipv6.conf.f.mtu": "1400"}),
			func(h *netstate.Host) { h.Links[1].MTU = 9000 },
			[]string{"sysctl -w net.ipv6.conf.f.mtu=1500", "ip link set f mtu 9000", "sysctl -w net.ipv6.conf.f.mtu=1400"}},
		"a lower MTU of IPv6's, and a lower one": {
			lonely(nil, map[string]string{"net.ipv6.conf.f.mtu": "1400"}),
			func(h *netstate.Host) {
				h.Links[1].MTU = 1300
				setSysctl(h, "net.ipv6.conf.f.mtu", "1400")
			},
			[]string{"sysctl -w net.ipv6.conf.f.mtu=1500", "ip link set f mtu 1300"}},
		"an address of another length": {
			lonely([]string{"10.0.0.1/24", "10.5.0.1/24"}, nil, via("0.0.0.0/0", "10.0.0.254", "dhcp")),
			func(h *netstate.Host) {
				h.Links[0].Addresses = []netip.Prefix{prefix("10.5.0.1/24"), prefix("10.0.0.1/16")}
			},
			[]string{"ip route del 0.0.0.0/0 via 10.0.0.254 dev e", "ip address del 10.0.0.1/24 dev e", "ip address add 10.0.0.1/16 dev e", "ip route add 0.0.0.0/0 via 10.0.0.254 dev e proto dhcp"}},
		"an IPv6 route with an MTU": {
			lonely([]string{"fd00::1/64"}, nil, long6),
			func(h *netstate.Host) { h.Links[0].MTU = 1500 },
			[]string{"ip route del fd01::/64 via fd00::2 dev e mtu 8000", "ip link set e mtu 1500", "ip route add fd01::/64 via fd00::2 dev e mtu 8000 proto static"}},
		"forwarding": {
			lonely(nil, forward),
			func(h *netstate.Host) {
				for _, key := range []string{"net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding", "net.ipv4.conf.e.forwarding"} {
					setSysctl(h, key, "1")
				}
			},
			[]string{"sysctl -w net.ipv4.conf.all.accept_redirects=1", "sysctl -w net.ipv4.conf.f.forwarding=0", "sysctl -w net.ipv4.conf.all.forwarding=1"}},
		"forwarding no more": {
			lonely(nil, map[string]string{"net.ipv4.ip_forward": "1", "net.ipv4.conf.all.accept_redirects": "0", "net.ipv4.conf.e.forwarding": "1"}),
			func(h *netstate.Host) {
				setSysctl(h, "net.ipv4.ip_forward", "0")
				setSysctl(h, "net.ipv4.conf.e.forwarding", "0")
			},
			[]string{"sysctl -w net.ipv4.ip_forward=0", "sysctl -w net.ipv4.conf.all.accept_redirects=0"}},
	} {
		t.Run(name, func(t *testing.T) {
			desired := tt.host.Clone()
			tt.change(&desired)
			p, err := plan.Between(tt.host, desired)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range p.Steps {
				got = append(got, s.Command())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			after, err := plan.Apply(tt.host, p)
			if err != nil {
				t.Fatal(err)
			}
			if rest, err := plan.Between(after, desired); err != nil || len(rest.Steps) > 0 {
				t.Errorf("left to do: %v\n%s", err, rest.Text(80))
			}
			back, err := plan.Apply(after, p.Rollback())
			if err != nil {
				t.Fatalf("undo: %v", err)
			}
			for _, h := range []*netstate.Host{&tt.host, &back} {
				slices.SortFunc(h.Links[0].Addresses, netip.Prefix.Compare) // the plan says that their order changes
			}
			if diff := cmp.Diff(governed(tt.host), governed(back)); diff != "" {
				t.Errorf("undone (-before +after):\n%s", diff)
			}
		})
	}
}

// TestLowerMTU6Goes: a link whose MTU for IPv6 is lower, as a router may have told it, can
// be removed, and the plan says that this is lost.
func TestLowerMTU6Goes(t *testing.T) {
	h := lonely(nil, map[string]string{"net.ipv6.conf.e/5.mtu": "1400"})
	h.Links = append(h.Links, netstate.Link{Name: "e.5", Kind: "vlan", MTU: 9000, Up: true, VLAN: &netstate.VLAN{ID: 5, Parent: "e"}})
	want := h.Clone()
	want.Absent = []string{"e.5"}
	p, err := plan.Between(h, want)
	if err != nil || len(p.Steps) == 0 || len(p.Left) != 1 || !strings.Contains(p.Left[0], "1400 goes with its link") {
		t.Errorf("%v\n%s", err, p.Text(100))
	}
}

// TestRefusesLoss: what no step could bring back is refused.
func TestRefusesLoss(t *testing.T) {
	ra := via("::/0", "fe80::9", "ra")
	disable := map[string]string{"net.ipv6.conf.all.disable_ipv6": "0", "net.ipv6.conf.e.disable_ipv6": "0"}
	forward := map[string]string{"net.ipv6.conf.all.forwarding": "0", "net.ipv6.conf.e.accept_ra": "1"}
	for name, tt := range map[string]struct {
		host   netstate.Host
		change func(*netstate.Host)
		want   string // "" it is planned
	}{
		"IPv6 everywhere":       {lonely([]string{"fd00::1/64"}, disable), func(h *netstate.Host) { setSysctl(h, "net.ipv6.conf.all.disable_ipv6", "1") }, "e would lose fd00::1/64"},
		"IPv6 of a link":        {lonely(nil, disable, via("fd01::/64", "fe80::2", "static")), func(h *netstate.Host) { setSysctl(h, "net.ipv6.conf.e.disable_ipv6", "1") }, "the route fd01::/64 via fe80::2 dev e"},
		"IPv6 that nobody uses": {lonely([]string{"10.0.0.1/24", "fe80::1/64"}, disable), func(h *netstate.Host) { setSysctl(h, "net.ipv6.conf.e.disable_ipv6", "1") }, ""},
		"advertised route":      {lonely(nil, forward, ra), func(h *netstate.Host) { setSysctl(h, "net.ipv6.conf.all.forwarding", "1") }, "set net.ipv6.conf.e.accept_ra = 2 with it"},
		"advertised, and kept": {lonely(nil, forward, ra), func(h *netstate.Host) {
			setSysctl(h, "net.ipv6.conf.all.forwarding", "1")
			setSysctl(h, "net.ipv6.conf.e.accept_ra", "2")
		}, ""},
		"IPv6 on a small link": {lonely(nil, nil), func(h *netstate.Host) {
			h.Links[1].MTU, h.Links[1].Addresses = 1200, []netip.Prefix{prefix("fd00::1/64")}
		}, "an MTU of 1200 is below IPv6's least, 1280"},
		"settings of IPv6":                       {lonely(nil, map[string]string{"net.ipv6.conf.f.accept_ra": "0", "net.ipv6.conf.default.accept_ra": "1"}), func(h *netstate.Host) { h.Links[1].MTU = 1200 }, "the kernel would forget net.ipv6.conf.f.accept_ra"},
		"IPv6's own MTU":                         {lonely(nil, map[string]string{"net.ipv6.conf.f.mtu": "1500"}), func(h *netstate.Host) { h.Links[1].MTU = 1400; setSysctl(h, "net.ipv6.conf.f.mtu", "1300") }, "a new MTU of f sets it too"},
		"default of another":                     {lonely([]string{"10.0.0.1/24"}, nil, via("0.0.0.0/0", "10.0.0.254", "zebra")), func(h *netstate.Host) { h.Links[0].Addresses = []netip.Prefix{prefix("10.5.0.1/24")} }, "it would go and not come back"},
		"gateway out of reach":                   {lonely([]string{"10.0.0.1/24"}, nil), func(h *netstate.Host) { h.Routes = []netstate.Route{via("10.9.0.0/16", "10.8.0.1", "static")} }, "its gateway 10.8.0.1 is in no network of its link"},
		"lease of a link down":                   {leasedDown(), func(h *netstate.Host) { h.Links[0].Up = false }, "e holds the leased fd00::1/64, which the kernel removes"},
		"nexthop object":                         {objectOn(lonely(nil, nil), "e"), func(h *netstate.Host) { h.Links[0].Up = false }, "the kernel would drop nexthop object 7, which leads over e"},
		"nexthop object, MTU":                    {objectOn(lonely(nil, nil), "e"), func(h *netstate.Host) { h.Links[0].MTU = 8000 }, ""},
		"nexthop object of VLAN":                 {objectOn(bonded(), "bond0.5"), func(h *netstate.Host) { h.Links[2].Bond.Ports = h.Links[2].Bond.Ports[:0] }, "which leads over bond0.5"},
		"nexthop object, a port":                 {objectOn(bonded(), "bond0"), func(h *netstate.Host) { h.Links[2].Bond.Ports = h.Links[2].Bond.Ports[:1] }, ""},
		"nexthop object, last port with carrier": {objectOn(unplugged(bonded(), "e"), "bond0"), func(h *netstate.Host) { h.Links[2].Bond.Ports = h.Links[2].Bond.Ports[:1] }, "which leads over bond0"},
		"nexthop object, mode": {objectOn(bonded(), "bond0"), func(h *netstate.Host) {
			h.Links[2].Bond.Mode, h.Links[2].Bond.Miimon = netstate.LACP, 100*time.Millisecond
		}, "which leads over bond0"},
		"gateway barred by a rule": {barring(netstate.Rule{Priority: 32765, Action: "blackhole", Selectors: "not tos 0x10 fwmark 0x7", Family: "ipv4"}), withoutRoutes,
			"a rule of the host (blackhole) refuses the lookup of its gateway 10.0.0.254"},
		"gateway barred for another":         {barring(netstate.Rule{Priority: 32765, Action: "blackhole", Selectors: "fwmark 0x7", Family: "ipv4"}), withoutRoutes, ""},
		"gateway barred behind the main":     {barring(netstate.Rule{Priority: 32800, Action: "unreachable", Family: "ipv4"}), withoutRoutes, ""},
		"gateway barred in the other IP":     {barring(netstate.Rule{Priority: 100, Action: "blackhole", Family: "ipv6"}), withoutRoutes, ""},
		"gateway barred, and said on link":   {onLink(barring(netstate.Rule{Priority: 100, Action: "blackhole", Family: "ipv4"})), withoutRoutes, ""},
		"gateway barred, its network before": {barring(netstate.Rule{Priority: 0, Table: 255, Family: "ipv4"}, netstate.Rule{Priority: 90, Table: 254, To: prefix("10.0.0.0/8"), Family: "ipv4"}, netstate.Rule{Priority: 100, Action: "unreachable", Family: "ipv4"}), withoutRoutes, ""},
		"gateway barred, wg-quick before":    {barring(netstate.Rule{Priority: 90, Table: 254, Selectors: "suppress_prefixlength 0", Family: "ipv4"}, netstate.Rule{Priority: 100, Action: "unreachable", Family: "ipv4"}), withoutRoutes, ""},
		"gateway barred, and gone round":     {barring(netstate.Rule{Priority: 90, Action: "goto", Goto: 32766, Family: "ipv4"}, netstate.Rule{Priority: 100, Action: "prohibit", Family: "ipv4"}), withoutRoutes, ""},
		"gateway barred for root":            {barring(netstate.Rule{Priority: 100, Action: "prohibit", Selectors: "uidrange 0-99", Family: "ipv4"}), withoutRoutes, "a rule of the host (prohibit)"},
		"no rule of the main table": {func() netstate.Host {
			h := barring(netstate.Rule{Priority: 0, Table: 255, Family: "ipv4"})
			h.Rules = h.Rules[:1]
			return h
		}(), withoutRoutes, "is in no network of its link"},
		"gateway barred, main table before": {barring(netstate.Rule{Priority: 90, Table: 254, Family: "ipv4"}, netstate.Rule{Priority: 100, Action: "blackhole", Family: "ipv4"}), withoutRoutes, ""},
		"gateway by another way":            {lonely([]string{"10.0.0.1/32"}, nil, netstate.Route{Dst: prefix("10.8.0.1/32"), Link: "e", Table: 254, Protocol: "static"}), func(h *netstate.Host) { h.Routes = append(h.Routes, via("0.0.0.0/0", "10.8.0.1", "static")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			desired := tt.host.Clone()
			tt.change(&desired)
			p, err := plan.Between(tt.host, desired)
			switch {
			case tt.want == "" && (err != nil || len(p.Steps) == 0):
				t.Errorf("%v\n%s", err, p.Text(80))
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %q\n%s", err, tt.want, p.Text(80))
			}
		})
	}
}

// barring is a host with a default route and rules of its own.
func barring(rules ...netstate.Rule) netstate.Host {
	h := lonely([]string{"10.0.0.1/24"}, nil, via("0.0.0.0/0", "10.0.0.254", "static"))
	h.Rules = append(rules, netstate.Rule{Priority: 32766, Table: 254, Family: "ipv4"})
	return h
}

func onLink(h netstate.Host) netstate.Host {
	h.Routes[0].OnLink = true
	return h
}

func withoutRoutes(h *netstate.Host) { h.Routes = []netstate.Route{} }

// objectOn is a host with a nexthop object over the named link.
func objectOn(h netstate.Host, link string) netstate.Host {
	l, _ := h.Link(link)
	l.NexthopObjects = []int{7}
	h.SetLink(l)
	return h
}

// unplugged is the host with no carrier on the named link.
func unplugged(h netstate.Host, link string) netstate.Host {
	l, _ := h.Link(link)
	l.Carrier = false
	h.SetLink(l)
	return h
}

// bonded has the bond bond0 of e and f, third, and a VLAN on it.
func bonded() netstate.Host {
	h := lonely(nil, nil)
	for i := range h.Links {
		h.Links[i].Master, h.Links[i].Port, h.Links[i].MTU, h.Links[i].Carrier = "bond0", &netstate.BondPort{Bond: "bond0", MIIUp: true, Active: true}, 1500, true
	}
	h.Links = append(h.Links,
		netstate.Link{Name: "bond0", Kind: "bond", MTU: 1500, Up: true, Addresses: []netip.Prefix{}, Bond: &netstate.Bond{Ports: []string{"e", "f"}, Options: map[string]string{}}},
		netstate.Link{Name: "bond0.5", Kind: "vlan", MTU: 1500, Up: true, Addresses: []netip.Prefix{}, VLAN: &netstate.VLAN{Parent: "bond0", ID: 5}})
	return h
}

func leasedDown() netstate.Host {
	h := lonely([]string{"fd00::1/64"}, map[string]string{"net.ipv6.conf.e.keep_addr_on_down": "1"})
	h.Links[0].Leases = slices.Clone(h.Links[0].Addresses)
	return h
}

// TestRouteOfAnother: a route that a program made goes with its link's address,
// and is named when nothing brings it back.
func TestRouteOfAnother(t *testing.T) {
	h := lonely([]string{"10.0.0.1/24"}, nil, via("10.9.0.0/16", "10.0.0.254", "zebra"))
	desired := h.Clone()
	desired.Links[0].Addresses = []netip.Prefix{prefix("10.5.0.1/24")}
	p, err := plan.Between(h, desired)
	if err != nil || len(p.Left) != 1 || !strings.Contains(p.Left[0], "10.9.0.0/16") {
		t.Errorf("%v: left %q", err, p.Left)
	}
}

// TestOrderOfAddresses: a first address that comes back last is told.
func TestOrderOfAddresses(t *testing.T) {
	h := lonely([]string{"10.0.0.1/24", "10.0.0.2/24", "10.5.0.1/24"}, nil)
	for drop, want := range map[int]bool{0: true, 1: false, 2: false} {
		desired := h.Clone()
		desired.Links[0].Addresses = slices.Delete(slices.Clone(h.Links[0].Addresses), drop, drop+1)
		p, err := plan.Between(h, desired)
		told := slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return strings.Contains(s.Why, "behind 10.5.0.1/24") })
		if err != nil || told != want {
			t.Errorf("without %s: %v\n%s", h.Links[0].Addresses[drop], err, p.Text(80))
		}
	}
}
