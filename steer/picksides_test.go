package steer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// drawBond is a bond by layer3+4 of one of the link counts that the field
// has, of any byte order and of one of the eras.
func drawBond(t *rapid.T, name string, eras []Era) Bundle {
	b := Declared(netstate.Layer34, rapid.SampledFrom([]int{2, 3, 4, 5, 6, 8}).Draw(t, name+" links"))
	b.Era = rapid.SampledFrom(eras).Draw(t, name+" era")
	b.BigEndian = rapid.Bool().Draw(t, name+" big-endian")
	return b
}

func drawIPv4Lanes(t *rapid.T) []flow.Lane { return drawLanes(t)[:1] }

// checkStreams holds an answer to what its request says: no port twice, none
// to be avoided, each stream on the links that the spreaders place it on, and
// the counts those of the streams.
func checkStreams(t *rapid.T, req PickRequest, p Picked) {
	t.Helper()
	seen := map[string]bool{}
	counts := map[string][]int{}
	for name, s := range map[string]Spreader{"near": req.Near, "far": req.Far, "back": req.Back, "back far": req.BackFar} {
		if s != nil {
			counts[name] = make([]int, len(s.Links()))
		}
	}
	for _, s := range p.Streams {
		key := fmt.Sprint(s.Sport)
		if len(req.Dports) > 1 {
			key = fmt.Sprint(s.Sport, s.Dport)
		}
		if seen[key] {
			t.Fatalf("port %s serves two streams", key)
		}
		seen[key] = true
		there := flow.Frame{Tuple: s.Tuple(flow.TCP)}
		back := flow.Frame{Tuple: there.Reverse()}
		for _, side := range []struct {
			name string
			s    Spreader
			f    flow.Frame
			link int
		}{{"near", req.Near, there, s.Link}, {"far", req.Far, there, s.FarLink}, {"back", req.Back, back, s.BackLink}, {"back far", req.BackFar, back, s.BackFarLink}} {
			if side.s == nil {
				if side.link != -1 {
					t.Fatalf("%s link of an unknown side is %d", side.name, side.link)
				}
				continue
			}
			if got := side.s.Place(side.f); got.Index != side.link {
				t.Fatalf("%s: %v: Place says %d, Pick %d", side.name, side.f.Tuple, got.Index, side.link)
			}
			counts[side.name][side.link]++
		}
	}
	for name, got := range map[string][]int{"near": p.PerLink, "far": p.FarPerLink, "back": p.BackPerLink, "back far": p.BackFarPerLink} {
		if fmt.Sprint(got) != fmt.Sprint(counts[name]) {
			t.Fatalf("%s counts are %v, the streams' %v", name, got, counts[name])
		}
	}
}

// shiftedEras are those whose layer3+4 drops the lowest bit of the hash: 4.15
// and newer. A hash that keeps it and one that drops it differ by that bit
// alone, so that the bit follows from the two links modulo 3 or 5; where a
// third side goes by the bit, all three cannot be even for every number of
// streams, whatever the ports.
func shiftedEras() []Era {
	var eras []Era
	for _, e := range Eras() {
		if e < EraRawProto {
			eras = append(eras, e)
		}
	}
	return eras
}

// The promise: 2, 3, 4, 5, 6, 8 links and 1 to 64 streams are even,
// with a far side of another number of links and in both directions.
func TestPickIsEven(t *testing.T) {
	for _, tt := range []struct {
		name            string
		far, back, both bool
		eras            []Era
	}{
		{"near", false, false, false, Eras()}, {"near and far", true, false, false, Eras()},
		{"both directions", false, true, false, Eras()}, {"all four sides", true, true, true, shiftedEras()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				req := PickRequest{
					Near: drawBond(t, "near", tt.eras), Lanes: drawIPv4Lanes(t), Streams: rapid.IntRange(1, 64).Draw(t, "streams"),
					Dport: rapid.Uint16Range(1, 65535).Draw(t, "dport"),
				}
				if tt.far {
					req.Far = drawBond(t, "far", tt.eras)
				}
				if tt.back {
					req.Back = drawBond(t, "back", tt.eras)
				}
				if tt.both {
					req.BackFar = drawBond(t, "back far", tt.eras)
				}
				p, err := Pick(req)
				if err != nil {
					t.Fatal(err)
				}
				if !p.Even || p.Why != "" || p.Remedy != "" || len(p.Streams) != req.Streams {
					t.Fatalf("%d streams, even %t, %q, %q: near %v far %v back %v back far %v", len(p.Streams), p.Even, p.Why, p.Remedy, p.PerLink, p.FarPerLink, p.BackPerLink, p.BackFarPerLink)
				}
				checkStreams(t, req, p)
			})
		})
	}
}

// byDport is a spreader that goes by the destination port alone, as AIX's
// dst_port does; seen only where told so.
type byDport struct {
	links int
	seen  func(uint16) bool
}

func (s byDport) Links() []string { return Declared(netstate.Layer34, s.links).Ports }
func (s byDport) Reach() Reach {
	return Reach{Ports: true, Chosen: true, Why: "goes by the destination port"}
}

func (s byDport) Place(f flow.Frame) Placement {
	if s.seen != nil && !s.seen(f.Sport) {
		return Placement{Index: -1, Why: "not seen"}
	}
	return Placement{Index: int(f.Dport) % s.links, Known: true}
}

func TestPickByDestinationPort(t *testing.T) {
	req := PickRequest{Near: byDport{links: 4}, Lanes: aliasLanes(1), Streams: 8}
	p := mustPick(t, req)
	if p.Even || p.Remedy == "" || p.PerLink[5201%4] != 8 {
		t.Errorf("one destination port: even %t %v, remedy %q", p.Even, p.PerLink, p.Remedy)
	}
	req.Dports = []uint16{5201, 5202, 5203, 5204}
	p = mustPick(t, req)
	if !p.Even || fmt.Sprint(p.PerLink) != "[2 2 2 2]" || p.Remedy != "" {
		t.Errorf("four destination ports: even %t %v, %q", p.Even, p.PerLink, p.Why)
	}
	sports := map[uint16]bool{}
	for _, s := range p.Streams {
		sports[s.Sport] = true
	}
	if len(sports) != 8 {
		t.Errorf("source ports repeat without need: %v", p.Streams)
	}
	// One source port only: it must serve all four destination ports, and no
	// pair of ports twice.
	req.FirstPort, req.LastPort, req.Streams = 40000, 40000, 4
	if p = mustPick(t, req); !p.Even {
		t.Errorf("one source port: %v, %q", p.Streams, p.Why)
	}
	req.Streams = 5
	if _, err := Pick(req); !errors.Is(err, ErrTooFewPorts) {
		t.Errorf("five streams of four pairs of ports: %v", err)
	}
}

// Streams take turns on the destination ports, so that each may be a server
// process of its own.
func TestPickTakesTurnsOnDports(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 16).Draw(t, "streams")
		req := PickRequest{Near: drawBond(t, "near", Eras()), Lanes: drawIPv4Lanes(t), Streams: n, Dports: make([]uint16, n)}
		for i := range req.Dports {
			req.Dports[i] = 5201 + uint16(i)
		}
		p, err := Pick(req)
		if err != nil || !p.Even {
			t.Fatalf("even %t %v, %v", p.Even, p.PerLink, err)
		}
		checkStreams(t, req, p)
		used := map[uint16]bool{}
		for _, s := range p.Streams {
			if used[s.Dport] {
				t.Fatalf("destination port %d serves two of %d streams", s.Dport, n)
			}
			used[s.Dport] = true
		}
	})
}

// A spreader that knows only what it has seen: Pick must keep to that.
func TestPickKeepsToWhatWasSeen(t *testing.T) {
	seen := byDport{links: 2, seen: func(p uint16) bool { return p == 41000 || p == 45001 }}
	req := PickRequest{Near: Declared(netstate.Layer34, 2), Far: seen, Lanes: aliasLanes(1), Streams: 2, Dports: []uint16{5201, 5202}}
	for _, s := range mustPick(t, req).Streams {
		if s.Sport != 41000 && s.Sport != 45001 {
			t.Errorf("port %d was never seen", s.Sport)
		}
	}
	req.Streams = 5
	if _, err := Pick(req); !errors.Is(err, ErrTooFewPorts) {
		t.Errorf("five streams of two ports seen: %v", err)
	}
}

func TestPickAvoidsRanges(t *testing.T) {
	req := PickRequest{
		Near: Declared(netstate.Layer34, 2), Lanes: aliasLanes(1), Streams: 4, FirstPort: 40000, LastPort: 40020,
		AvoidRanges: []flow.PortRange{{First: 40000, Last: 40009}, {}}, Avoid: []uint16{40010},
	}
	p := mustPick(t, req)
	for _, s := range p.Streams {
		if s.Sport <= 40010 {
			t.Errorf("port %d was to be avoided", s.Sport)
		}
	}
	req.AvoidRanges = []flow.PortRange{{First: 1, Last: 65535}}
	if _, err := Pick(req); !errors.Is(err, ErrTooFewPorts) {
		t.Errorf("all ports avoided: %v", err)
	}
}

// What stands in the way has a remedy, and the remedy works.
func TestPickRemedies(t *testing.T) {
	one := aliasLanes(1)
	mode := func(m netstate.BondMode) Bundle {
		return Bundle{Mode: m, Policy: netstate.Layer34, Ports: []string{"a", "b"}, Active: "b"}
	}
	for _, tt := range []struct {
		name string
		near Spreader
		want string
	}{
		{"layer2", Declared(netstate.Layer2, 2), "layer3+4"},
		{"layer2+3", Declared(netstate.Layer23, 2), "at least 2 pairs of addresses: linerate steer addresses"},
		{"encap2+3", Declared(netstate.Encap23, 3), "at least 3 pairs of addresses: linerate steer addresses"},
		{"encap3+4", Declared(netstate.Encap34, 2), "layer3+4"},
		{"vlan+srcmac", Declared(netstate.VLANSrcMAC, 2), "several VLANs"},
		{"active-backup", mode(netstate.ActiveBackup), "mode 802.3ad"},
		{"broadcast", mode(netstate.Broadcast), "mode 802.3ad"},
		{"tlb", mode(netstate.BalanceTLB), "tlb_dynamic_lb=0"},
		{"alb", mode(netstate.BalanceALB), "at least 2 addresses"},
		{"AIX default", EtherChannel{Adapters: []string{"ent0", "ent1"}}, "src_dst_port"},
	} {
		p := mustPick(t, PickRequest{Near: tt.near, Lanes: one, Streams: 4})
		if p.Even || !strings.Contains(p.Remedy, tt.want) || p.Why == "" {
			t.Errorf("%s: even %t, why %q, remedy %q, want %q", tt.name, p.Even, p.Why, p.Remedy, tt.want)
		}
		far := mustPick(t, PickRequest{Near: Declared(netstate.Layer34, 2), Far: tt.near, Lanes: one, Streams: 4})
		if far.Even || !strings.HasPrefix(far.Remedy, "far side: ") || !strings.Contains(far.Remedy, tt.want) || !Evenly(far.PerLink) {
			t.Errorf("%s as the far side: even %t, near %v, remedy %q", tt.name, far.Even, far.PerLink, far.Remedy)
		}
	}
	tight := mustPick(t, PickRequest{Near: Declared(netstate.Layer34, 8), Lanes: one, Streams: 8, FirstPort: 40000, LastPort: 40007})
	if tight.Even || !strings.Contains(tight.Remedy, "more source or destination ports") {
		t.Errorf("a tight range: even %t %v, remedy %q", tight.Even, tight.PerLink, tight.Remedy)
	}
}

func BenchmarkPick1024(b *testing.B) {
	req := PickRequest{Near: Declared(netstate.Layer34, 8), Lanes: aliasLanes(1), Streams: 1024}
	for b.Loop() {
		if p, err := Pick(req); err != nil || !p.Even {
			b.Fatal(p.Why, err)
		}
	}
}

func BenchmarkPickBothSides(b *testing.B) {
	req := PickRequest{Near: Declared(netstate.Layer34, 3), Far: Declared(netstate.Layer34, 4), Lanes: aliasLanes(2), Streams: 16}
	for b.Loop() {
		if p, err := Pick(req); err != nil || !p.Even {
			b.Fatal(p.Why, err)
		}
	}
}

func BenchmarkPickFourSides(b *testing.B) {
	req := PickRequest{
		Near: Declared(netstate.Layer34, 8), Far: Declared(netstate.Layer34, 6), Back: Declared(netstate.Layer34, 5), BackFar: Declared(netstate.Layer34, 3),
		Lanes: aliasLanes(1), Streams: 64,
	}
	for b.Loop() {
		if p, err := Pick(req); err != nil || !p.Even {
			b.Fatal(p.Why, err)
		}
	}
}
