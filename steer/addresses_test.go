package steer

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func bondOf(mode netstate.BondMode, policy netstate.HashPolicy, n int) Bundle {
	b := Declared(policy, n)
	b.Mode = mode
	return b
}

// toServer asks for aliases on the far host, which has .2.
func toServer(near Spreader, lanes int) AddressRequest {
	return AddressRequest{
		Near: near, Subnet: netip.MustParsePrefix("10.0.0.0/24"), Src: addr("10.0.0.1"), Dst: addr("10.0.0.2"), Lanes: lanes,
		Frame: flow.Frame{Tuple: flow.Tuple{Dport: 2049}, SrcMAC: flow.MAC{2, 0, 0, 0, 1, 0x11}, DstMAC: flow.MAC{2, 0, 0, 0, 2, 0x22}},
	}
}

func destinations(a Addresses) string {
	var out []string
	for _, l := range a.Lanes {
		out = append(out, l.Dst.String())
	}
	return strings.Join(out, " ")
}

func mustChoose(t *testing.T, req AddressRequest) Addresses {
	t.Helper()
	a, err := PickAddresses(req)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// On a power of two of links, layer2+3 goes by the XOR of all address bytes:
// the next address with the bit wanted is the smallest.
func TestPickAddressesTakesTheSmallest(t *testing.T) {
	for _, c := range []struct {
		name string
		near Spreader
		n    int
		want string
	}{
		{"layer2+3 over 2", bondOf(netstate.BalanceXOR, netstate.Layer23, 2), 2, "10.0.0.2 10.0.0.3"},
		{"layer2+3 over 4", bondOf(netstate.BalanceXOR, netstate.Layer23, 4), 4, "10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5"},
		{"5.4 drops the lowest bit", Bundle{Mode: netstate.BalanceXOR, Policy: netstate.Layer23, Ports: []string{"a", "b"}, Era: EraShifted}, 2, "10.0.0.2 10.0.0.4"},
		{"AIX over 2", channelOf(0, 2), 2, "10.0.0.2 10.0.0.3"},
		{"AIX over 3, six lanes", channelOf(0, 3), 6, "10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 10.0.0.6 10.0.0.7"},
		{"lagg over 2, any key", laggOf(LaggL3, 2, nil), 2, "10.0.0.2 10.0.0.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := mustChoose(t, toServer(c.near, c.n))
			if diff := cmp.Diff(c.want, destinations(a)); diff != "" || !a.Even {
				t.Errorf("even %v (%s); addresses (-want +got):\n%s", a.Even, a.Why, diff)
			}
		})
	}
}

func TestPickAddressesAvoids(t *testing.T) {
	req := toServer(bondOf(netstate.LACP, netstate.Layer23, 2), 2)
	req.Avoid = []netip.Addr{addr("10.0.0.3"), addr("10.0.0.5")}
	if a := mustChoose(t, req); destinations(a) != "10.0.0.2 10.0.0.6" && destinations(a) != "10.0.0.2 10.0.0.7" {
		t.Errorf("chose %s", destinations(a))
	}
	req = toServer(bondOf(netstate.LACP, netstate.Layer23, 4), 4)
	req.Subnet = netip.MustParsePrefix("10.0.0.0/29")
	req.Dst = netip.Addr{}
	for _, l := range mustChoose(t, req).Lanes {
		if last := l.Dst.As4()[3]; last < 2 || last > 6 {
			t.Errorf("%s is the network, the broadcast or the near host's address", l.Dst)
		}
	}
}

// TestPickAddressesReachesEven: with room enough, layer2+3 and AIX are even on
// 2 to 8 links for every number of lanes, and so are both directions of two
// Linux hosts, whatever the MAC addresses.
func TestPickAddressesReachesEven(t *testing.T) {
	for n := 2; n <= 8; n++ {
		for _, lanes := range []int{2, n, n + 1, 2*n - 1, 2 * n} {
			for name, near := range map[string]Spreader{
				"layer2+3": bondOf(netstate.LACP, netstate.Layer23, n), "AIX": channelOf(0, n),
				"layer2+3 on 5.4": Bundle{Mode: netstate.LACP, Policy: netstate.Layer23, Ports: Declared(0, n).Ports, Era: EraShifted},
			} {
				for macs := range byte(8) {
					req := toServer(near, lanes)
					req.Frame.SrcMAC[5] = macs * 37
					if name == "layer2+3" {
						req.Back = near
					}
					if a, err := PickAddresses(req); err != nil || !a.Even || a.Why != "" {
						t.Errorf("%s, %d links, %d lanes: even %v, %q, %v", name, n, lanes, a.Even, a.Why, err)
					}
				}
			}
		}
	}
}

func TestPickAddressesWithoutMACs(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		req := toServer(bondOf(netstate.LACP, netstate.Layer23, n), n)
		req.Frame.SrcMAC, req.Frame.DstMAC = flow.MAC{}, flow.MAC{}
		a := mustChoose(t, req)
		if !a.Even || !a.Relative || a.Lanes[0].Link != -1 || a.Lanes[n-1].Group != n-1 || !strings.Contains(a.Why, "MAC") {
			t.Errorf("%d links: %+v", n, a)
		}
		if diff := cmp.Diff(n, len(a.PerLink)); diff != "" || a.PerLink[n-1] != 1 {
			t.Errorf("per link %v", a.PerLink)
		}
	}
}

// TestPickAddressesInEveryReading: modulo a power of two the unknown MAC
// addresses turn all links alike, so that a choice is even in each of the 256
// readings; modulo another number the sharing itself depends on them, and no
// choice is.
func TestPickAddressesInEveryReading(t *testing.T) {
	for _, tt := range []struct {
		links int
		even  bool
	}{{2, true}, {3, false}, {4, true}, {5, false}, {6, false}, {7, false}, {8, true}} {
		n := tt.links
		req := toServer(bondOf(netstate.LACP, netstate.Layer23, n), n)
		given := req.Frame
		req.Frame.SrcMAC, req.Frame.DstMAC = flow.MAC{}, flow.MAC{}
		a, err := PickAddresses(req)
		if !tt.even {
			var none *NoSpreadError
			if !errors.As(err, &none) || !strings.Contains(none.Why, "MAC") || !strings.Contains(none.Remedy, "--dmac") {
				t.Errorf("%d links: %+v, %v; want a NoSpreadError that names the MAC addresses", n, a, err)
			}
			continue
		}
		if err != nil || !a.Even {
			t.Errorf("%d links: even %v, %v", n, a.Even, err)
			continue
		}
		for m := range 256 {
			counts := make([]int, n)
			for _, l := range a.Lanes {
				f := given
				f.Proto, f.Src, f.Dst, f.SrcMAC[5] = flow.TCP, l.Src, l.Dst, byte(m)
				counts[req.Near.Place(f).Index]++
			}
			if !Evenly(counts) {
				t.Errorf("%d links, MAC %d: %v", n, m, counts)
			}
		}
	}
}

func TestPickAddressesSaysWhatIsImpossible(t *testing.T) {
	near := func(s Spreader) AddressRequest { return toServer(s, 2) }
	aixNear := near(channelOf(0, 2))
	aixNear.Side = SideNear
	for _, c := range []struct {
		name, why, remedy string
		req               AddressRequest
	}{
		{"layer2", "MAC addresses", "layer2+3", near(bondOf(netstate.LACP, netstate.Layer2, 2))},
		{"active-backup", "one link at a time", "802.3ad", near(bondOf(netstate.ActiveBackup, netstate.Layer23, 2))},
		{"balance-rr", "rotates", "none is needed", near(bondOf(netstate.BalanceRR, 0, 2))},
		{"one link", "only one link", "second link", near(bondOf(netstate.LACP, netstate.Layer23, 1))},
		{"layer3+4 with the kernel's ports", "source port", "steer pick", near(bondOf(netstate.LACP, netstate.Layer34, 2))},
		{"encap3+4", "random number", "layer2+3", near(bondOf(netstate.LACP, netstate.Encap34, 2))},
		{"vlan+srcmac", "VLAN tag", "layer2+3", near(bondOf(netstate.LACP, netstate.VLANSrcMAC, 2))},
		{"AIX by ports", "source port", "hash_mode=default", near(channelOf(ChannelHashSrcPort, 2))},
		{"AIX, the sender's addresses", "destination address", "far side", aixNear},
		{"lagg of three", "3 ports", "2, 4 or 8", near(laggOf(LaggL3, 3, nil))},
		{"lagg l2", "MAC addresses", "lagghash l3,l4", near(laggOf(LaggL2, 2, nil))},
		{"lagg failover", "one port at a time", "laggproto lacp", near(Lagg{Ports: []string{"a", "b"}})},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := PickAddresses(c.req)
			var none *NoSpreadError
			if !errors.As(err, &none) {
				t.Fatalf("error %v, want a NoSpreadError", err)
			}
			if !strings.Contains(none.Why, c.why) || !strings.Contains(none.Remedy, c.remedy) {
				t.Errorf("why %q, remedy %q; want %q, %q", none.Why, none.Remedy, c.why, c.remedy)
			}
		})
	}
}

func TestPickAddressesALB(t *testing.T) {
	a := mustChoose(t, toServer(bondOf(netstate.BalanceALB, netstate.Layer2, 3), 3))
	if a.Even || !strings.Contains(a.Why, "in turn") || a.Lanes[0].Link != -1 {
		t.Errorf("balance-alb: %+v", a)
	}
	buckets := map[byte]bool{}
	for _, l := range a.Lanes {
		b := l.Dst.As4()
		buckets[b[0]^b[1]^b[2]^b[3]] = true
	}
	if len(buckets) != 3 {
		t.Errorf("addresses %s share a bucket", destinations(a))
	}
}

func TestPickAddressesWithSourcePort(t *testing.T) {
	for n := 2; n <= 8; n++ {
		req := toServer(bondOf(netstate.LACP, netstate.Layer34, n), n)
		req.Frame.Sport = 40000
		if a := mustChoose(t, req); !a.Even {
			t.Errorf("layer3+4 over %d links with port 40000: %s", n, a.Why)
		}
	}
}

// An ECMP route that hashes addresses alone, with its key set; and without.
func TestPickAddressesECMP(t *testing.T) {
	eras := MultipathErasOf("6.12")
	route := Multipath{Policy: MultipathL3, Seed: 12345, Hops: []Hop{{Link: "a"}, {Link: "b"}, {Link: "c"}}, Era: eras[0], Doubt: eras[1:]}
	req := toServer(route, 6)
	a := mustChoose(t, req)
	if diff := cmp.Diff([]int{2, 2, 2}, a.PerLink); diff != "" || !a.Even || a.Relative {
		t.Errorf("with the key: %+v", a)
	}
	route.Seed = 0
	req.Near = route
	var none *NoSpreadError
	if _, err := PickAddresses(req); !errors.As(err, &none) || !strings.Contains(none.Why, "key") {
		t.Errorf("without the key: %v", err)
	}
}

func TestPickAddressesBothWaysOnAIX(t *testing.T) {
	req := toServer(channelOf(0, 4), 4)
	req.Back = channelOf(0, 4)
	a := mustChoose(t, req)
	if a.Even || !strings.Contains(a.Why, "return path") || !strings.Contains(a.Remedy, "both sides") {
		t.Errorf("far side alone: even %v, %q, %q", a.Even, a.Why, a.Remedy)
	}
	req.Side = SideBoth
	a = mustChoose(t, req)
	if !a.Even || len(a.AddNear) != 3 || len(a.AddFar) != 3 {
		t.Errorf("both sides: %+v", a)
	}
	if diff := cmp.Diff([]int{1, 1, 1, 1}, a.BackPerLink); diff != "" {
		t.Error(diff)
	}
}

func TestPickAddressesRefuses(t *testing.T) {
	good := toServer(bondOf(netstate.LACP, netstate.Layer23, 2), 2)
	for name, spoil := range map[string]func(*AddressRequest){
		"no lanes":  func(r *AddressRequest) { r.Lanes = 0 },
		"no subnet": func(r *AddressRequest) { r.Subnet = netip.Prefix{} },
		"no source": func(r *AddressRequest) { r.Src = netip.Addr{} },
		"multicast": func(r *AddressRequest) {
			r.Subnet = netip.MustParsePrefix("224.0.0.0/24")
			r.Src, r.Dst = addr("224.0.0.1"), addr("224.0.0.2")
		},
		"loopback":    func(r *AddressRequest) { r.Subnet = netip.MustParsePrefix("127.0.0.0/8") },
		"unspecified": func(r *AddressRequest) { r.Subnet = netip.MustParsePrefix("0.0.0.0/0") },
		"broadcast":   func(r *AddressRequest) { r.Subnet = netip.MustParsePrefix("255.255.255.0/24") },
		"IPv6 multicast": func(r *AddressRequest) {
			r.Subnet = netip.MustParsePrefix("ff02::/64")
			r.Src, r.Dst = addr("fd00::1"), addr("fd00::2")
		},
		"IPv6 loopback": func(r *AddressRequest) {
			r.Subnet = netip.MustParsePrefix("::/64")
			r.Src, r.Dst = addr("fd00::1"), addr("fd00::2")
		},
		"multicast dst":   func(r *AddressRequest) { r.Dst = addr("224.0.0.251") },
		"loopback src":    func(r *AddressRequest) { r.Src = addr("127.0.0.1") },
		"broadcast dst":   func(r *AddressRequest) { r.Dst = addr("255.255.255.255") },
		"mixed families":  func(r *AddressRequest) { r.Src = addr("fd00::1") },
		"no spreader":     func(r *AddressRequest) { r.Near = nil },
		"no links":        func(r *AddressRequest) { r.Near = Bundle{} },
		"subnet too full": func(r *AddressRequest) { r.Subnet = netip.MustParsePrefix("10.0.0.0/30"); r.Lanes = 4 },
	} {
		req := good
		spoil(&req)
		if a, err := PickAddresses(req); err == nil {
			t.Errorf("%s: %+v, want an error", name, a)
		}
	}
}

func BenchmarkPickAddresses(b *testing.B) {
	for _, n := range []int{2, 8} {
		b.Run(fmt.Sprintf("layer2+3 %d links", n), func(b *testing.B) {
			req := toServer(bondOf(netstate.LACP, netstate.Layer23, n), n)
			for b.Loop() {
				if _, err := PickAddresses(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
