package steer

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func host(release string, bond netstate.Bond, down ...string) netstate.Host {
	h := netstate.Host{Kernel: netstate.Kernel{OS: "linux", Release: release}}
	bond.Ports = []string{"ens2f1", "ens2f0", "ens3f0"}
	h.Links = []netstate.Link{
		{Name: "bond1", Index: 7, Kind: "bond", Up: true, Bond: &bond},
		{Name: "lan", Kind: "vlan", Up: true, VLAN: &netstate.VLAN{ID: 1904, Parent: "bond1"}},
		{Name: "eno1", Up: true},
	}
	for _, p := range bond.Ports {
		port := &netstate.BondPort{Bond: "bond1", Active: true, MIIUp: true}
		for _, d := range down {
			port.MIIUp = port.MIIUp && d != p
		}
		h.Links = append(h.Links, netstate.Link{Name: p, Up: true, Master: "bond1", Port: port})
	}
	return h
}

func TestBundleOf(t *testing.T) {
	lacp := netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34}
	got, err := BundleOf(host("6.1.0", lacp, "ens2f0"), "lan")
	if err != nil {
		t.Fatal(err)
	}
	want := Bundle{
		Mode: netstate.LACP, Policy: netstate.Layer34, Ports: []string{"ens2f1", "ens3f0"},
		Doubt: []Era{}, TLBStatic: true,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("bundle below the VLAN (-want +got):\n%s", d)
	}
	declared := host("6.1.0", netstate.Bond{Mode: netstate.BalanceTLB})
	declared.Links[0].Index = 0
	if b, err := BundleOf(declared, "bond1"); err != nil || b.TLBStatic {
		t.Errorf("declared balance-tlb: static %t, %v; want the kernel's dynamic default", b.TLBStatic, err)
	}
	unread, err := BundleOf(host("", lacp), "bond1")
	if err != nil || len(unread.Doubt) != 4 {
		t.Errorf("unread release: doubt %v, %v; want four other eras", unread.Doubt, err)
	}
	for _, release := range []string{"", "gentoo"} {
		if b := Declared(netstate.Layer2, 2).OfKernel(release); len(b.Doubt) != 4 || b.Discovery != DiscoveryUnknown {
			t.Errorf("release %q: doubt %v, discovery %d; want four other eras and unknown", release, b.Doubt, b.Discovery)
		}
	}
	if _, err := BundleOf(host("6.1.0", lacp), "bond7"); !errors.Is(err, ErrNoSuchLink) {
		t.Errorf("bond7: %v, want ErrNoSuchLink", err)
	}
	if _, err := BundleOf(host("6.1.0", lacp), "eno1"); !errors.Is(err, ErrNotBond) {
		t.Errorf("eno1: %v, want ErrNotBond", err)
	}
	aix := host("7.3", lacp)
	aix.Kernel.OS = "aix"
	if _, err := BundleOf(aix, "bond1"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("aix: %v, want ErrUnsupported", err)
	}
}

func TestPlaceByMode(t *testing.T) {
	f := between(t, frame("192.168.10.1", "192.168.10.2", 40000, 5201))
	two := []string{"a", "b"}
	for _, tt := range []struct {
		name  string
		b     Bundle
		index int
		known bool
		hash  bool
		why   string
	}{
		{"xor", Bundle{Mode: netstate.BalanceXOR, Policy: netstate.Layer34, Ports: two}, 1, true, true, ""},
		{"802.3ad", Bundle{Mode: netstate.LACP, Policy: netstate.Layer34, Ports: two}, 1, true, true, ""},
		{"no link", Bundle{Mode: netstate.LACP, Policy: netstate.Layer34}, -1, false, true, "no usable link"},
		{"one link", Bundle{Mode: netstate.LACP, Policy: netstate.Encap34, Ports: two[:1]}, 0, true, false, ""},
		{"one link rr", Bundle{Ports: two[:1]}, 0, true, false, ""},
		{"encap3+4", Bundle{Mode: netstate.LACP, Policy: netstate.Encap34, Ports: two}, -1, false, false, "sk_txhash"},
		{"active-backup", Bundle{Mode: netstate.ActiveBackup, Ports: two, Active: "b"}, 1, true, false, ""},
		{"active-backup unknown", Bundle{Mode: netstate.ActiveBackup, Ports: two}, -1, false, false, "active link"},
		{"broadcast", Bundle{Mode: netstate.Broadcast, Ports: two}, -1, true, false, "copy on every link"},
		{"rr", Bundle{Mode: netstate.BalanceRR, Policy: netstate.Layer34, Ports: two}, -1, false, false, "rotates"},
		{"tlb", Bundle{Mode: netstate.BalanceTLB, Policy: netstate.Layer34, Ports: two}, -1, false, true, "by load"},
		{"tlb static", Bundle{Mode: netstate.BalanceTLB, Policy: netstate.Layer34, Ports: two, TLBStatic: true}, 1, true, true, ""},
		{"alb", Bundle{Mode: netstate.BalanceALB, Policy: netstate.Layer34, Ports: two}, -1, false, false, "destination address"},
		{"newer mode", Bundle{Mode: 9, Ports: two}, -1, false, false, "newer than this program"},
		{"xor static flag", Bundle{Mode: netstate.BalanceRR, Ports: two, TLBStatic: true}, -1, false, false, "rotates"},
		{"doubt that does not matter", Bundle{Mode: netstate.LACP, Policy: netstate.Layer34, Ports: two, Doubt: []Era{EraHostProto, EraShifted}}, 1, true, true, ""},
		{"doubt that matters", Bundle{Mode: netstate.LACP, Policy: netstate.Layer23, Ports: []string{"a", "b", "c"}, Doubt: []Era{EraHostProto}}, -1, false, false, "release does not tell"},
		{"doubt, same index", Bundle{Mode: netstate.LACP, Policy: netstate.Layer23, Ports: two, Doubt: []Era{EraShifted}}, 0, true, false, ""},
	} {
		p := tt.b.Place(f)
		if p.Index != tt.index || p.Known != tt.known || (p.Hash != nil) != tt.hash || !strings.Contains(p.Why, tt.why) {
			t.Errorf("%s: %+v, want index %d known %t hash %t why %q", tt.name, p, tt.index, tt.known, tt.hash, tt.why)
		}
		if (p.Index >= 0) != (p.Link != "") || !p.Known && p.Why == "" {
			t.Errorf("%s: %+v: index without a name or unknown without a reason", tt.name, p)
		}
	}
}

func TestGroups(t *testing.T) {
	lanes := func(change func(i int, f *flow.Frame)) []flow.Frame {
		var fs []flow.Frame
		for i := range 4 {
			f := frame("10.0.0.1", "10.0.0.2", 40000, 5201)
			change(i, &f)
			fs = append(fs, f)
		}
		return fs
	}
	ports := lanes(func(i int, f *flow.Frame) { f.Sport += uint16(2 * i) })
	aliases := lanes(func(i int, f *flow.Frame) {
		a := f.Src.As4()
		a[3] += byte(i)
		f.Src = netipFrom4(a)
	})
	tags := lanes(func(i int, f *flow.Frame) { f.VLAN = uint16(i) })
	xor := func(p netstate.HashPolicy, n int) Bundle { return Declared(p, n) }
	doubtful := xor(netstate.Layer23, 2)
	doubtful.Doubt = []Era{EraShifted}
	mode := func(m netstate.BondMode, p netstate.HashPolicy) Bundle {
		return Bundle{Mode: m, Policy: p, Ports: []string{"a", "b"}}
	}
	for _, tt := range []struct {
		name   string
		b      Bundle
		frames []flow.Frame
		want   []int // nil: unknown
	}{
		{"layer2, MACs unknown", xor(netstate.Layer2, 3), ports, []int{0, 0, 0, 0}},
		{"layer2+3 ports, MACs unknown", xor(netstate.Layer23, 3), ports, []int{0, 0, 0, 0}},
		{"layer2+3 aliases, MACs unknown, 2 links", xor(netstate.Layer23, 2), aliases, []int{0, 1, 0, 1}},
		{"layer2+3 aliases, MACs unknown, 4 links", xor(netstate.Layer23, 4), aliases, []int{0, 1, 2, 3}},
		{"layer2+3 aliases, MACs unknown, 3 links", xor(netstate.Layer23, 3), aliases, nil},
		{"layer2+3 aliases, era unknown", doubtful, aliases, nil},
		{"layer3+4 ports", xor(netstate.Layer34, 4), ports, []int{0, 1, 2, 3}},
		{"vlan+srcmac one tag", xor(netstate.VLANSrcMAC, 3), ports, []int{0, 0, 0, 0}},
		{"vlan+srcmac four tags", xor(netstate.VLANSrcMAC, 3), tags, nil},
		{"encap3+4", xor(netstate.Encap34, 2), ports, nil},
		{"active-backup", mode(netstate.ActiveBackup, 0), ports, []int{0, 0, 0, 0}},
		{"broadcast", mode(netstate.Broadcast, 0), ports, []int{0, 0, 0, 0}},
		{"rr", mode(netstate.BalanceRR, 0), ports, nil},
		{"alb ports", mode(netstate.BalanceALB, 0), ports, []int{0, 0, 0, 0}},
		{"tlb layer2", mode(netstate.BalanceTLB, netstate.Layer2), ports, []int{0, 0, 0, 0}},
		{"tlb layer3+4", mode(netstate.BalanceTLB, netstate.Layer34), ports, nil},
		{"one link", xor(netstate.Encap34, 1), ports, []int{0, 0, 0, 0}},
		{"no link", xor(netstate.Layer34, 0), ports, nil},
	} {
		got, known, why := tt.b.Groups(tt.frames)
		if d := cmp.Diff(tt.want, got); d != "" || known != (tt.want != nil) || known == (why != "") {
			t.Errorf("%s: known %t why %q (-want +got):\n%s", tt.name, known, why, d)
		}
	}
}

// Reach must agree with where flows really go.
func TestReachAgreesWithPlace(t *testing.T) {
	for _, policy := range netstate.HashPolicies() {
		b := Declared(policy, 3)
		r := b.Reach()
		if r.Why == "" {
			t.Errorf("%s: no reason", policy)
		}
		if !r.Chosen && r.Ports {
			continue // chance: nothing to compare with
		}
		byPort, byAddress := map[int]bool{}, map[int]bool{}
		for i := range 32 {
			f := between(t, frame("10.0.0.1", "10.0.0.2", 40000+uint16(i), 5201))
			byPort[b.Place(f).Index] = true
			f = between(t, frame("10.0.0.1", "10.0.0.2", 40000, 5201))
			f.Src = netipFrom4([4]byte{10, 0, 0, byte(i)})
			byAddress[b.Place(f).Index] = true
		}
		if got := len(byPort) > 1; got != r.Ports {
			t.Errorf("%s: ports reach %d links, Reach says %t", policy, len(byPort), r.Ports)
		}
		if got := len(byAddress) > 1; got != r.Addresses {
			t.Errorf("%s: addresses reach %d links, Reach says %t", policy, len(byAddress), r.Addresses)
		}
	}
}

func TestReachByMode(t *testing.T) {
	for _, tt := range []struct {
		mode   netstate.BondMode
		static bool
		want   Reach
	}{
		{netstate.BalanceRR, false, Reach{Striped: true, Ports: true, Addresses: true}},
		{netstate.ActiveBackup, false, Reach{}},
		{netstate.BalanceXOR, false, Reach{Ports: true, Addresses: true, Chosen: true}},
		{netstate.Broadcast, false, Reach{}},
		{netstate.LACP, false, Reach{Ports: true, Addresses: true, Chosen: true}},
		{netstate.BalanceTLB, false, Reach{Ports: true, Addresses: true}},
		{netstate.BalanceTLB, true, Reach{Ports: true, Addresses: true, Chosen: true}},
		{netstate.BalanceALB, false, Reach{Addresses: true}},
		{netstate.BalanceALB, true, Reach{Ports: true, Addresses: true, Chosen: true}},
		{9, false, Reach{}},
	} {
		b := Bundle{Mode: tt.mode, Policy: netstate.Layer34, Ports: []string{"a", "b"}, TLBStatic: tt.static}
		got := b.Reach()
		if got.Why == "" {
			t.Errorf("%s: no reason", tt.mode)
		}
		got.Why = ""
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s static %t (-want +got):\n%s", tt.mode, tt.static, d)
		}
		b.Ports = b.Ports[:1]
		if r := b.Reach(); r.Ports || r.Addresses || r.Striped {
			t.Errorf("%s with one link: %+v", tt.mode, r)
		}
	}
}

// What Groups says without MAC addresses must hold for every pair of them.
func TestGroupsHoldForAnyMAC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Declared(netstate.Layer23, rapid.IntRange(2, 8).Draw(t, "links"))
		b.Era = rapid.SampledFrom(Eras()[:EraSeparate]).Draw(t, "era")
		var frames []flow.Frame
		for range 2 {
			f := frame("10.0.0.1", "10.0.0.2", 40000, 5201)
			f.Src = netipFrom4([4]byte{10, 0, 0, rapid.Byte().Draw(t, "last byte")})
			frames = append(frames, f)
		}
		unknown, known, _ := b.Groups(frames)
		if !known {
			t.Skip("nothing claimed")
		}
		for m := range 256 {
			for i := range frames {
				frames[i].SrcMAC, frames[i].DstMAC = flow.MAC{2, 0, 0, 0, 0, byte(m)}, flow.MAC{2, 0, 0, 0, 1, 0}
			}
			if got, _, _ := b.Groups(frames); !slices.Equal(got, unknown) {
				t.Fatalf("MAC byte %d: groups %v, without MACs %v", m, got, unknown)
			}
		}
	})
}
