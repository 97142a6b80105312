package subflow

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// connection asks for the subflows between .1 and .2 of a network.
func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

func bondIn(mode netstate.BondMode, policy netstate.HashPolicy, n int) steer.Bundle {
	b := steer.Declared(policy, n)
	b.Mode = mode
	return b
}

func connection(near steer.Spreader, n int) SubflowRequest {
	return SubflowRequest{
		Near: near, Client: ip("10.0.0.1"), Server: ip("10.0.0.2"), Subnet: netip.MustParsePrefix("10.0.0.0/24"), Subflows: n,
		Frame: flow.Frame{SrcMAC: flow.MAC{2, 0, 0, 0, 1, 0x11}, DstMAC: flow.MAC{2, 0, 0, 0, 2, 0x22}},
	}
}

func lanesOf(s Subflows) string {
	var out []string
	for _, f := range s.Flows {
		out = append(out, f.Lane.String())
	}
	return strings.Join(out, ", ")
}

func mustPlan(t *testing.T, req SubflowRequest) Subflows {
	t.Helper()
	s, err := Plan(req)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPlanSubflowsByClientAliases(t *testing.T) {
	s := mustPlan(t, connection(steer.Declared(netstate.Layer23, 4), 0))
	if want := "10.0.0.1 > 10.0.0.2, 10.0.0.3 > 10.0.0.2, 10.0.0.4 > 10.0.0.2, 10.0.0.6 > 10.0.0.2"; lanesOf(s) != want {
		t.Errorf("lanes %s, want %s", lanesOf(s), want)
	}
	if !s.Even || s.Why != "" || s.Remedy != "" || len(s.AddFar) > 0 {
		t.Errorf("%+v, want an even plan without the server's addresses", s)
	}
	if diff := cmp.Diff([]int{1, 1, 1, 1}, s.PerLink); diff != "" {
		t.Errorf("per link (-want +got):\n%s", diff)
	}
	want := netstate.MPTCP{Subflows: 3, Endpoints: []netstate.MPTCPEndpoint{
		{ID: 101, Addr: ip("10.0.0.3"), Flags: netstate.MPTCPSubflow},
		{ID: 102, Addr: ip("10.0.0.4"), Flags: netstate.MPTCPSubflow},
		{ID: 103, Addr: ip("10.0.0.6"), Flags: netstate.MPTCPSubflow},
	}}
	equal := cmp.Comparer(func(a, b netip.Addr) bool { return a == b })
	if diff := cmp.Diff(want, s.Client, equal); diff != "" {
		t.Errorf("client (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(netstate.MPTCP{Subflows: 3}, s.Server, equal); diff != "" {
		t.Errorf("server (-want +got):\n%s", diff)
	}
}

// AIX hashes the destination alone: the client's aliases change nothing on its
// own links, and the server must announce its own.
func TestPlanSubflowsByServerAliases(t *testing.T) {
	near := steer.EtherChannel{Mode: steer.ChannelStandard, Hash: steer.ChannelHashDefault, Adapters: []string{"ent0", "ent1"}}
	s := mustPlan(t, connection(near, 0))
	if len(s.AddNear) > 0 || len(s.AddFar) != 1 || !s.Even {
		t.Fatalf("%+v, want one alias of the server and an even plan", s)
	}
	if s.Client.AddAddrAccepted != 1 || len(s.Client.Endpoints) > 0 {
		t.Errorf("client %+v, want to take one announced address", s.Client)
	}
	if len(s.Server.Endpoints) != 1 || s.Server.Endpoints[0].Flags != netstate.MPTCPSignal || s.Server.AddAddrAccepted != 0 {
		t.Errorf("server %+v, want one address announced", s.Server)
	}
}

// TestPlanSubflowsEven replays plans with the same hash and counts, on every
// side, over random addresses.
func TestPlanSubflowsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(2, 8).Draw(t, "links")
		octet := func() byte { return byte(r.IntN(256)) }
		base := netip.AddrFrom4([4]byte{10, octet(), octet(), 0})
		req := connection(steer.Declared(netstate.Layer23, n), 0)
		req.Subnet = netip.PrefixFrom(base, 24)
		first := base.As4()
		first[3] = byte(1 + r.IntN(126))
		second := first
		second[3] += 127
		req.Client, req.Server = netip.AddrFrom4(first), netip.AddrFrom4(second)
		req.Frame.SrcMAC[5], req.Frame.DstMAC[5] = octet(), octet()
		req.Far = steer.Declared(netstate.Layer23, rapid.IntRange(1, 4).Draw(t, "far")*2)
		req.Back, req.BackFar = steer.Declared(netstate.Layer23, n), steer.Declared(netstate.Layer23, n)
		s, err := Plan(req)
		if err != nil {
			t.Fatal(err)
		}
		for _, side := range []struct {
			spreader steer.Spreader
			back     bool
			counts   []int
		}{{req.Near, false, s.PerLink}, {req.Far, false, s.FarPerLink}, {req.Back, true, s.BackPerLink}, {req.BackFar, true, s.BackFarPerLink}} {
			counts := make([]int, len(side.spreader.Links()))
			for _, f := range s.Flows {
				frame := req.Frame
				frame.Src, frame.Dst, frame.Proto = f.Src, f.Dst, flow.TCP
				if side.back {
					frame.Tuple = frame.Reverse()
					frame.SrcMAC, frame.DstMAC = frame.DstMAC, frame.SrcMAC
				}
				counts[side.spreader.Place(frame).Index]++
			}
			if diff := cmp.Diff(counts, side.counts); diff != "" {
				t.Fatalf("counts (-replayed +planned):\n%s", diff)
			}
			if s.Even && !steer.Evenly(counts) {
				t.Fatalf("called even, and is %v", counts)
			}
		}
		if !steer.Evenly(s.PerLink) {
			t.Fatalf("near side uneven: %v (%s)", s.PerLink, s.Why)
		}
		if n == 2 || n == 4 || n == 8 {
			if len(s.Flows) != max(n, len(req.Far.Links())) || !s.Even {
				t.Fatalf("%d links: %+v", n, s)
			}
		}
	})
}

func TestPlanSubflowsByChance(t *testing.T) {
	s := mustPlan(t, connection(steer.Declared(netstate.Layer34, 4), 0))
	if len(s.Flows) != MostSubflows || s.Even || s.PerLink != nil || len(s.Chances) != 1 {
		t.Fatalf("%+v, want as many subflows as there can be and no promise", s)
	}
	for _, words := range []string{"the kernel draws the source ports", "9 of them use 3.7 of 4 links on average"} {
		if !strings.Contains(s.Why, words) {
			t.Errorf("why %q lacks %q", s.Why, words)
		}
	}
	if !strings.Contains(s.Remedy, "xmit_hash_policy layer2+3") || strings.Contains(s.Remedy, "--subflows") {
		t.Errorf("remedy %q", s.Remedy)
	}
	// One side by chance leaves the other chosen.
	req := connection(steer.Declared(netstate.Layer23, 2), 2)
	req.Far = steer.Declared(netstate.Layer34, 2)
	s = mustPlan(t, req)
	if diff := cmp.Diff([]int{1, 1}, s.PerLink); diff != "" || s.Even || !strings.Contains(s.Why, "far side: layer3+4") {
		t.Errorf("%+v, %s", s, diff)
	}
	if !strings.Contains(s.Remedy, "--subflows 9") {
		t.Errorf("remedy %q does not offer more subflows", s.Remedy)
	}
}

// TestChance compares the formulas with throws.
func TestChance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ links, flows int }{{2, 2}, {4, 4}, {4, 9}, {8, 9}, {8, 3}} {
		const throws = 200_000
		total, all := 0, 0
		for range throws {
			hit := map[int]bool{}
			for range c.flows {
				hit[r.IntN(c.links)] = true
			}
			total += len(hit)
			if len(hit) == c.links {
				all++
			}
		}
		got := chanceOf(steer.Declared(netstate.Layer34, c.links), c.flows)
		if e := float64(total) / throws; got.Expected < e-0.02 || got.Expected > e+0.02 {
			t.Errorf("%+v: expected %.3f, thrown %.3f", c, got.Expected, e)
		}
		if a := float64(all) / throws; got.All < a-0.01 || got.All > a+0.01 {
			t.Errorf("%+v: all with probability %.3f, thrown %.3f", c, got.All, a)
		}
	}
}

func TestPlanSubflowsImpossible(t *testing.T) {
	for _, c := range []struct {
		name      string
		req       SubflowRequest
		why, cure string
	}{
		{"layer2", connection(steer.Declared(netstate.Layer2, 2), 0), "layer2 hashes only MAC addresses", "layer2+3"},
		{"one link", connection(steer.Declared(netstate.Layer23, 1), 0), "only one link is usable", "second link"},
		{"active-backup", connection(bondIn(netstate.ActiveBackup, netstate.Layer23, 2), 0), "one link at a time", "802.3ad"},
		{"round robin", connection(bondIn(netstate.BalanceRR, netstate.Layer2, 2), 0), "one flow uses them all", "none is needed"},
		{"a switch by MAC addresses", func() SubflowRequest {
			r := connection(steer.Declared(netstate.Layer23, 2), 0)
			r.Far = steer.Declared(netstate.Layer2, 2)
			return r
		}(), "far side: layer2", "layer2+3"},
	} {
		_, err := Plan(c.req)
		var none *steer.NoSpreadError
		if !errors.As(err, &none) || !strings.Contains(none.Why, c.why) || !strings.Contains(none.Remedy, c.cure) {
			t.Errorf("%s: %v (%+v), want %q and %q", c.name, err, none, c.why, c.cure)
		}
	}
}

func TestPlanSubflowsRefuses(t *testing.T) {
	near := steer.Declared(netstate.Layer23, 2)
	for name, change := range map[string]func(*SubflowRequest){
		"10 subflows":        func(r *SubflowRequest) { r.Subflows = 10 },
		"different families": func(r *SubflowRequest) { r.Server = ip("fd00::2") },
		"addresses of both":  func(r *SubflowRequest) { r.Client = netip.Addr{} },
		"no usable link":     func(r *SubflowRequest) { r.Near = nil },
		"no subnet":          func(r *SubflowRequest) { r.Subnet = netip.Prefix{} },
		"room":               func(r *SubflowRequest) { r.Subnet = netip.MustParsePrefix("10.0.0.0/30") },
	} {
		req := connection(near, 0)
		change(&req)
		var none *steer.NoSpreadError
		if _, err := Plan(req); err == nil || errors.As(err, &none) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a host is set to already is raised, never lowered, and taken back to.
func TestSubflowSettingsKeepWhatIsThere(t *testing.T) {
	req := connection(steer.Declared(netstate.Layer23, 2), 0)
	req.ClientBefore = &netstate.MPTCP{Subflows: 5, AddAddrAccepted: 4, Endpoints: []netstate.MPTCPEndpoint{{ID: 101, Addr: ip("192.0.2.1")}}}
	s := mustPlan(t, req)
	if s.Client.Subflows != 5 || s.Client.AddAddrAccepted != 4 || s.Client.Endpoints[0].ID != 102 || s.Server.Subflows != 2 {
		t.Errorf("client %+v, server %+v", s.Client, s.Server)
	}
}
