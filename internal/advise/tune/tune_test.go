package tune

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestDemo runs the campaign's loop on predictions: what is proposed first is
// kept, until nothing is left.
func TestDemo(t *testing.T) {
	s := pairOf(demo)
	s.Thorough = true
	if diff := cmp.Diff([]Name{HashPolicy, Streams, MTU}, names(Propose(s))); diff != "" {
		t.Errorf("at the start (-want +got)\n%s", diff)
	}
	type step struct {
		Name             Name
		Change           string
		Streams          int
		Ports            string
		ProofA, ProofB   int
		Expected, Before float64 // links
		ProbeMTU         int
	}
	const one = 500e6 * 1448 / 1514
	const jumboLink = 500e6 * 8948 / 9014
	want := []step{
		{HashPolicy, "transmit hash policy layer3+4 on bond0 of alpha and bond0 of beta", 1, "kernel", 8, 8, 2, 1, 0},
		{Streams, "2 streams on chosen source ports instead of 1 stream", 2, "chosen", 1, 2, 2, 1, 0},
		{MTU, "MTU 9000 on bond0 of alpha and bond0 of beta", 2, "chosen", 2, 2, 2 * jumboLink / one, 2, 9000},
	}
	var got []step
	for range 10 {
		all := Propose(s)
		if len(all) == 0 {
			break
		}
		p := all[0]
		before := float64(p.Expected) / (1 + p.Gain) / one
		got = append(got, step{p.Name, p.Change, p.Traffic.Streams, p.Traffic.Ports, p.ProofA.Traffic.Streams, p.ProofB.Traffic.Streams, float64(p.Expected) / one, before, p.ProbeMTU})
		if !p.Promising() || p.Why == "" {
			t.Errorf("%s: gain %v, why %q", p.Name, p.Gain, p.Why)
		}
		s.Tried[p.Name], s.Load, s.Fabric = true, p.Load, with(s.Fabric, p.Hosts)
	}
	near := cmp.Comparer(func(a, b float64) bool { return a > 0.99*b && a < 1.01*b || a == b })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("steps (-want +got)\n%s", diff)
	}
	for _, h := range s.Fabric.Hosts {
		for _, l := range h.Links {
			if l.MTU != 9000 || l.Bond != nil && l.Bond.HashPolicy != netstate.Layer34 {
				t.Errorf("%s ended as %+v", h.Name, l)
			}
		}
	}
}

// TestNothingElse: a proposal changes what it says and nothing else, and not
// the state it was made from.
func TestNothingElse(t *testing.T) {
	for _, c := range []struct {
		name Name
		want func(*netstate.Host)
	}{
		{HashPolicy, func(h *netstate.Host) { h.Links[2].Bond.HashPolicy = netstate.Layer34 }},
		{MTU, func(h *netstate.Host) { h.Links[0].MTU, h.Links[1].MTU, h.Links[2].MTU = 9000, 9000, 9000 }},
		{Buffers, func(h *netstate.Host) {
			h.Sysctls[rmemKey] = netstate.Sysctl{Value: "4096 131072 16777216", Scope: netstate.ScopeNamespace}
			h.Sysctls[wmemKey] = netstate.Sysctl{Value: "4096 16384 16777216", Scope: netstate.ScopeNamespace}
		}},
	} {
		s := pairOf(demo)
		s.Trials = []record.Trial{waiting(0.9)}
		s.Traffic.Direction, s.Trials[0].Direction = flow.Both, flow.Both
		left := s.left(moveNamed(c.name))
		if len(left) != 1 {
			t.Fatalf("%s: %d options, want one", c.name, len(left))
		}
		for number, name := range []string{"alpha", "beta"} {
			untouched := demo.host(name, 1+number)
			want := untouched.Clone()
			c.want(&want)
			opts := cmp.Comparer(func(a, b flow.MAC) bool { return a == b })
			if diff := cmp.Diff(fmt.Sprintf("%+v", deref(want)), fmt.Sprintf("%+v", deref(left[0].hosts[name])), opts); diff != "" {
				t.Errorf("%s: desired %s (-want +got)\n%s", c.name, name, diff)
			}
			if diff := cmp.Diff(fmt.Sprintf("%+v", deref(untouched)), fmt.Sprintf("%+v", deref(s.Fabric.Hosts[name]))); diff != "" {
				t.Errorf("%s: the state itself changed\n%s", c.name, diff)
			}
		}
	}
}

// deref is a host with its links' pointers followed, for printing.
func deref(h netstate.Host) []any {
	out := []any{h.Name, h.Sysctls}
	for _, l := range h.Links {
		bond, port := netstate.Bond{}, netstate.BondPort{}
		if l.Bond != nil {
			bond = *l.Bond
		}
		if l.Port != nil {
			port = *l.Port
		}
		l.Bond, l.Port, l.VLAN = nil, nil, nil
		out = append(out, l, bond, port)
	}
	return out
}

func TestPropose(t *testing.T) {
	best := demo
	best.policy, best.mtu = netstate.Layer34, 9000
	with := func(change func(*bonded)) bonded { b := demo; b.mtu = 9000; change(&b); return b }
	chosen := func(s *State) { s.Traffic.Streams, s.Traffic.Ports = 2, "chosen" }
	for _, c := range []struct {
		name  string
		state State
		set   func(*State)
		want  []Name
	}{
		{"all is well", pairOf(best), chosen, nil},
		{"all is well, and yet half is lacking: nobody knows", pairOf(best), func(s *State) { chosen(s); s.Trials = []record.Trial{waiting(0)} }, []Name{Streams}},
		{"policy set, one stream", pairOf(best), func(*State) {}, []Name{Streams}},
		{"hash policy alone", pairOf(with(func(*bonded) {})), func(*State) {}, []Name{HashPolicy}},
		{"one host's policy", state(best.host("alpha", 1), with(func(*bonded) {}).host("beta", 2)), func(s *State) { s.Traffic.Direction = flow.Reverse }, []Name{HashPolicy}},
		{"layer2+3", pairOf(with(func(b *bonded) { b.policy = netstate.Layer23 })), func(*State) {}, []Name{HashPolicy}},
		{"balance-xor", pairOf(with(func(b *bonded) { b.mode = netstate.BalanceXOR })), func(*State) {}, []Name{HashPolicy}},
		{"active-backup", pairOf(with(func(b *bonded) { b.mode = netstate.ActiveBackup })), func(*State) {}, nil},
		{"balance-rr", pairOf(with(func(b *bonded) { b.mode = netstate.BalanceRR })), func(*State) {}, []Name{Streams}}, // the switch gives a stream one link
		{"balance-tlb", pairOf(with(func(b *bonded) { b.mode = netstate.BalanceTLB })), func(*State) {}, nil},
		{"broadcast", pairOf(with(func(b *bonded) { b.mode = netstate.Broadcast })), func(*State) {}, nil},
		{"one port", pairOf(with(func(b *bonded) { b.links = 1 })), func(*State) {}, nil},
		{"tried", pairOf(demo), func(s *State) { s.Tried[HashPolicy], s.Tried[MTU] = true, true }, nil},
		{"evidence of a window", pairOf(best), func(s *State) { chosen(s); s.Trials = []record.Trial{waiting(0.5)} }, []Name{Buffers, Streams}},
		{"evidence of the other direction", pairOf(best), func(s *State) {
			chosen(s)
			s.Traffic.Direction, s.Trials = flow.Reverse, []record.Trial{waiting(0.5)}
		}, nil},
		{"waited, but the links were full", pairOf(best), func(s *State) {
			chosen(s)
			s.Trials = []record.Trial{waiting(0.5)}
			s.Trials[0].Ceiling = s.Trials[0].Goodput
		}, nil},
		{"thorough", pairOf(best), func(s *State) { chosen(s); s.Thorough, s.Trials = true, []record.Trial{waiting(0)} }, []Name{Buffers, Streams}},
		{"thorough, nothing measured", pairOf(best), func(s *State) { chosen(s); s.Thorough = true }, nil},
		{"hosts that do not reach each other", state(demo.host("alpha", 1), netstate.Host{Name: "beta"}), func(*State) {}, nil},
	} {
		c.set(&c.state)
		if diff := cmp.Diff(c.want, names(Propose(c.state))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// TestVLANsOnOneBond: two interfaces on one bond are one bond's ports, and one
// change of its policy.
func TestVLANsOnOneBond(t *testing.T) {
	b := demo
	b.vlans = []int{5, 6}
	s := pairOf(b)
	if n := width(s); n != 2 {
		t.Errorf("width %d, want the bond's 2 ports", n)
	}
	all := Propose(s)
	if len(all) == 0 {
		t.Fatal("nothing proposed")
	}
	if !strings.HasPrefix(all[0].Change, "transmit hash policy layer3+4 on bond0 of alpha and bond0 of beta, 2 streams on chosen") || all[0].ProofA.Traffic.Streams != 1 {
		t.Fatalf("got %v, first %q with %d streams", names(all), all[0].Change, all[0].ProofA.Traffic.Streams)
	}
}

// TestTwoBonds: both bonds of a host are changed, not the last one alone.
func TestTwoBonds(t *testing.T) {
	double := func(name string, number int) netstate.Host {
		h := demo.host(name, number)
		for _, l := range demo.host(name, number).Links {
			l.Name += "x"
			if l.Bond != nil {
				bond := *l.Bond
				bond.Ports = []string{"eth0x", "eth1x"}
				l.Bond, l.Addresses = &bond, []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.9.0.%d/24", number))}
			} else {
				port := *l.Port
				port.Bond, l.Master = "bond0x", "bond0x"
				l.Port = &port
			}
			h.Links = append(h.Links, l)
		}
		return h
	}
	s := state(double("alpha", 1), double("beta", 2))
	all := Propose(s)
	i := slices.Index(names(all), HashPolicy)
	if i < 0 {
		t.Fatalf("got %v", names(all))
	}
	for name, h := range all[i].Hosts {
		for _, bond := range []string{"bond0", "bond0x"} {
			if l, _ := h.Link(bond); l.Bond == nil || l.Bond.HashPolicy != netstate.Layer34 {
				t.Errorf("%s of %s stays at %v", bond, name, l.Bond.HashPolicy)
			}
		}
	}
	if all[i].Traffic.Streams != 4 {
		t.Errorf("proven with %d streams, want one a link", all[i].Traffic.Streams)
	}
}

// TestOneLinkManyStreams: on one link only more streams help, and the reason
// is the window.
func TestOneLinkManyStreams(t *testing.T) {
	b := demo
	b.links, b.mtu = 1, 9000
	s := pairOf(b)
	s.Fabric.Paths[0].RTT *= 20
	s.Tried[Buffers] = true // else they would do
	all := Propose(s)
	if len(all) == 0 {
		t.Fatal("nothing proposed")
	}
	if len(all) != 1 || all[0].Name != Streams || strings.Contains(all[0].Change, "chosen") || !strings.Contains(all[0].Why, "tcp_") {
		t.Errorf("got %v, first %q because %q", names(all), all[0].Change, all[0].Why)
	}
}

// TestSteady: the same state gives the same proposals, whatever a map's order.
func TestSteady(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	mixed := demo
	mixed.policy = netstate.Layer23
	s := state(demo.host("alpha", 1), mixed.host("beta", 2))
	first := Propose(s)
	for range 50 {
		for i, p := range Propose(s) {
			if p.Change != first[i].Change || p.Why != first[i].Why {
				t.Fatalf("%q, %q; then %q, %q", first[i].Change, first[i].Why, p.Change, p.Why)
			}
		}
	}
}

// TestNeverWorse: whatever the fabric, a proposal expects more than there is,
// or is asked for; and every first proposal can be predicted.
func TestNeverWorse(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) bonded {
			return bonded{mode: rapid.SampledFrom(netstate.BondModes()).Draw(t, name), policy: rapid.SampledFrom(netstate.HashPolicies()).Draw(t, name),
				links: rapid.IntRange(1, 5).Draw(t, name), mtu: rapid.SampledFrom([]int{0, 1500, 9000}).Draw(t, name), maxMTU: rapid.SampledFrom([]int{0, 1500, 3000, 65535}).Draw(t, name)}
		}
		s := state(draw("alpha").host("alpha", 1), draw("beta").host("beta", 2))
		s.Traffic.Direction = rapid.SampledFrom(flow.Directions()).Draw(t, "direction")
		s.Traffic.Streams = rapid.IntRange(1, 9).Draw(t, "streams")
		for _, p := range Propose(s) { // each as if those before it were kept
			if !p.Promising() || p.Change == "" || p.Why == "" {
				t.Fatalf("%s: gain %v, %q because %q", p.Name, p.Gain, p.Change, p.Why)
			}
			a, errA := predict.Predict(s.Fabric, p.ProofA.Traffic)
			b, errB := predict.Predict(with(s.Fabric, p.Hosts), p.ProofB.Traffic)
			if errA != nil || errB != nil || b.Rate < a.Rate || b.Rate != p.Expected {
				t.Fatalf("%s: %v to %v, expected %v; %v %v", p.Name, a.Rate, b.Rate, p.Expected, errA, errB)
			}
			s.Fabric = with(s.Fabric, p.Hosts)
		}
	})
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, b    record.Trial
		keep    bool
		verdict string
	}{
		{"doubled", measured(500e6, 1e6), measured(1000e6, 2e6), true, "proven: +100.0 %"},
		{"two percent, apart", measured(500e6, 1e6), measured(510e6, 1e6), true, "proven: +2.0 %"},
		{"two percent, overlapping", measured(500e6, 6e6), measured(510e6, 6e6), false, "not proven: +2.0 %, but the intervals overlap"},
		{"touching", measured(500e6, 5e6), measured(510e6, 5e6), false, "not proven: +2.0 %, but the intervals overlap"},
		{"below what counts", measured(500e6, 0), measured(504.9e6, 0), false, "no gain (+1.0 %)"},
		{"the same", measured(500e6, 0), measured(500e6, 0), false, "no gain (+0.0 %)"},
		{"slower", measured(500e6, 0), measured(400e6, 0), false, "slower (-20.0 %)"},
		{"nothing before", measured(0, 0), measured(1e6, 0), true, "nothing was carried before"},
		{"nothing at all", measured(0, 0), measured(0, 0), false, "nothing was carried before"},
		{"nothing after", measured(500e6, 0), measured(0, 0), false, "slower (-100.0 %)"},
	} {
		if keep, verdict := Judge(c.a, c.b); keep != c.keep || verdict != c.verdict {
			t.Errorf("%s: %v, %q; want %v, %q", c.name, keep, verdict, c.keep, c.verdict)
		}
	}
}

// TestJudgeOneWay: a change and its opposite are never both kept.
func TestJudgeOneWay(t *testing.T) {
	rate := rapid.Float64Range(0, 1e11)
	rapid.Check(t, func(t *rapid.T) {
		half := rapid.Float64Range(0, 1e9)
		a := measured(unit.BitRate(rate.Draw(t, "a")), unit.BitRate(half.Draw(t, "half a")))
		b := measured(unit.BitRate(rate.Draw(t, "b")), unit.BitRate(half.Draw(t, "half b")))
		keep, _ := Judge(a, b)
		back, _ := Judge(b, a)
		if keep && (back || b.Goodput <= a.Goodput) {
			t.Fatalf("%v to %v is kept, and back %v", a.Goodput, b.Goodput, back)
		}
	})
}
