package steer

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// drawnFlows draws flows between two hosts with so many addresses each.
func drawnFlows(r *rand.Rand, flows, addresses int) []flow.Frame {
	f := flow.Frame{SrcMAC: flow.MAC{2, 0, 0, 0, 0, byte(r.Uint32())}, DstMAC: flow.MAC{2, 0, 0, 0, 1, byte(r.Uint32())}}
	out := make([]flow.Frame, flows)
	for i := range out {
		f.Tuple = flow.Tuple{
			Proto: flow.TCP, Sport: uint16(40000 + r.IntN(20000)), Dport: 5201,
			Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(1 + r.IntN(addresses))}), Dst: netip.AddrFrom4([4]byte{10, 0, 0, byte(100 + r.IntN(addresses))}),
		}
		out[i] = f
	}
	return out
}

func TestTellsEras(t *testing.T) {
	frames := drawnFlows(rand.New(rand.NewPCG(9, 9)), 24, 20)
	mode := func(m netstate.BondMode, p netstate.HashPolicy) Bundle {
		return Bundle{Mode: m, Policy: p, Ports: []string{"a", "b", "c"}}
	}
	static := mode(netstate.BalanceTLB, netstate.Layer23)
	static.TLBStatic = true
	for _, tt := range []struct {
		name string
		b    Bundle
		why  string // "" is that they can
	}{
		{"layer2", mode(netstate.BalanceXOR, netstate.Layer2), ""},
		{"layer2+3", mode(netstate.LACP, netstate.Layer23), ""},
		{"layer3+4", mode(netstate.LACP, netstate.Layer34), ""},
		{"encap2+3", mode(netstate.BalanceXOR, netstate.Encap23), ""},
		{"tlb static", static, ""},
		{"tlb", mode(netstate.BalanceTLB, netstate.Layer23), "by load"},
		{"encap3+4", mode(netstate.LACP, netstate.Encap34), "random number"},
		{"vlan+srcmac", mode(netstate.LACP, netstate.VLANSrcMAC), "every kernel"},
		{"active-backup", mode(netstate.ActiveBackup, netstate.Layer23), "one link at a time"},
		{"rr", mode(netstate.BalanceRR, netstate.Layer23), "rotates"},
		{"broadcast", mode(netstate.Broadcast, netstate.Layer23), "on every link"},
		{"one link", Declared(netstate.Layer23, 1), "one link"},
	} {
		can, why := tt.b.TellsEras(frames)
		if can != (tt.why == "") || !strings.Contains(why, tt.why) || can && why != "" {
			t.Errorf("%s: %t %q, want %q", tt.name, can, why, tt.why)
		}
	}
}

func TestFit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	all := Declared(netstate.Layer23, 3)
	all.Era, all.Doubt = EraSeparate, Eras()[:EraSeparate]
	for _, truth := range []Era{EraCurrent, EraHostProto, EraShifted, EraRawProto} {
		one := all
		one.Era, one.Doubt = truth, nil
		var seen []Sighting
		for _, f := range drawnFlows(r, 24, 20) {
			seen = append(seen, Sighting{Frame: f, Link: one.Place(f).Index})
		}
		got := Fit(all, seen)
		if !slices.Contains(got, truth) {
			t.Errorf("%v: fits %v", truth, got)
		}
		if b := all.AfterFit(got); !slices.Contains(append(b.Doubt, b.Era), truth) {
			t.Errorf("%v: after the fit %v, %v", truth, b.Era, b.Doubt)
		}
		if truth == EraCurrent && slices.Contains(got, EraRawProto) {
			t.Errorf("%v: fits %v", truth, got)
		}
		seen[3].Link = (seen[3].Link + 1) % 3
		if got := Fit(all, seen); !slices.Contains(got, truth) {
			t.Errorf("%v: one wrong sighting excluded it: %v", truth, got)
		}
	}
	var noise []Sighting
	for i, f := range drawnFlows(r, 24, 20) {
		noise = append(noise, Sighting{Frame: f, Link: i % 3})
	}
	if got := Fit(all, noise); got != nil {
		t.Errorf("noise fits %v", got)
	}
	// Of frames that no era places there is nothing to fit.
	var bare []Sighting
	for i := range 24 {
		bare = append(bare, Sighting{Frame: frame("10.0.0.1", "10.0.0.2", 0, 0), Link: i % 3})
	}
	for _, b := range []Bundle{Declared(netstate.Layer34, 3), Declared(netstate.Encap34, 3), {Mode: netstate.BalanceRR, Ports: []string{"a", "b", "c"}}} {
		if got := Fit(b, bare); got != nil {
			t.Errorf("%s, %s: frames without a link fit %v", b.Mode, b.Policy, got)
		}
	}
	if got := Fit(all, nil); got != nil {
		t.Errorf("no sighting fits %v", got)
	}
	if b := all.AfterFit(nil); b.Era != all.Era || len(b.Doubt) != len(all.Doubt) {
		t.Error("no fit changed the bundle")
	}
}
