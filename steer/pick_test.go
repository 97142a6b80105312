package steer

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func netipFrom4(b [4]byte) netip.Addr { return netip.AddrFrom4(b) }

func lane(src, dst string) flow.Lane {
	return flow.Lane{Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst)}
}

// aliasLanes are k lanes between one host and k addresses of another.
func aliasLanes(k int) []flow.Lane {
	var lanes []flow.Lane
	for i := range k {
		lanes = append(lanes, flow.Lane{Src: netipFrom4([4]byte{10, 0, 0, 1}), Dst: netipFrom4([4]byte{10, 0, 0, byte(2 + i)})})
	}
	return lanes
}

func mustPick(t *testing.T, req PickRequest) Picked {
	t.Helper()
	p, err := Pick(req)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The first ports per link that the facts publish.
func TestPickFirstPorts(t *testing.T) {
	for links, want := range map[int][]uint16{
		2: {40002, 40000},
		3: {40000, 40002, 40001},
		4: {40002, 40000, 40006, 40004},
	} {
		p := mustPick(t, PickRequest{
			Near: Declared(netstate.Layer34, links), Lanes: []flow.Lane{lane("192.168.10.1", "192.168.10.2")}, Streams: links,
		})
		if d := cmp.Diff(want, p.Shown().Ports); d != "" || !p.Even || p.Relative || p.Why != "" {
			t.Errorf("%d links: even %t relative %t %q (-want +got):\n%s", links, p.Even, p.Relative, p.Why, d)
		}
	}
}

// drawSide draws a bundle on which ports can choose the link.
func drawSide(t *rapid.T, name string) Bundle {
	b := Declared(netstate.Layer34, rapid.IntRange(1, 8).Draw(t, name+" links"))
	b.Mode = rapid.SampledFrom([]netstate.BondMode{netstate.BalanceXOR, netstate.LACP}).Draw(t, name+" mode")
	b.Era = rapid.SampledFrom(Eras()).Draw(t, name+" era")
	b.BigEndian = rapid.Bool().Draw(t, name+" big-endian")
	return b
}

func drawLanes(t *rapid.T) []flow.Lane {
	var lanes []flow.Lane
	for range rapid.IntRange(1, 4).Draw(t, "lanes") {
		b := rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "addresses")
		lanes = append(lanes, flow.Lane{Src: netipFrom4([4]byte(b[:4])), Dst: netipFrom4([4]byte(b[4:]))})
	}
	return lanes
}

func TestPickProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := PickRequest{
			Near: drawSide(t, "near"), Lanes: drawLanes(t), Streams: rapid.IntRange(1, 64).Draw(t, "streams"),
			Avoid: rapid.SliceOfN(rapid.Uint16Range(40000, 40100), 0, 20).Draw(t, "avoid"),
		}
		if rapid.Bool().Draw(t, "far side known") {
			far := drawSide(t, "far")
			req.Far = far
		}
		p, err := Pick(req)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Streams) != req.Streams || !p.Even || p.Relative || p.Why != "" {
			t.Fatalf("%d streams of %d, even %t, relative %t, %q; near %v far %v", len(p.Streams), req.Streams, p.Even, p.Relative, p.Why, p.PerLink, p.FarPerLink)
		}
		if !Evenly(p.PerLink) || req.Far != nil && !Evenly(p.FarPerLink) {
			t.Fatalf("near %v far %v", p.PerLink, p.FarPerLink)
		}
		seen := map[uint16]bool{}
		prefix := make([]int, len(req.Near.Links()))
		for i, s := range p.Streams {
			if seen[s.Sport] || slices.Contains(req.Avoid, s.Sport) {
				t.Fatalf("port %d is used twice or to be avoided", s.Sport)
			}
			seen[s.Sport] = true
			if req.Far == nil && s.Link != i%len(req.Near.Links()) {
				t.Fatalf("stream %d goes to link %d of %d", i, s.Link, len(req.Near.Links()))
			}
			if prefix[s.Link]++; !Evenly(prefix) {
				t.Fatalf("the first %d streams use links %v", i+1, prefix)
			}
			f := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: s.Src, Dst: s.Dst, Sport: s.Sport, Dport: DefaultDport}}
			if got := req.Near.Place(f); got.Index != s.Link {
				t.Fatalf("stream %d: Place says %d, Pick %d", i, got.Index, s.Link)
			}
			if req.Far != nil && req.Far.Place(f).Index != s.FarLink {
				t.Fatalf("stream %d: far Place says %d, Pick %d", i, req.Far.Place(f).Index, s.FarLink)
			}
		}
		again, _ := Pick(req)
		if d := cmp.Diff(p, again, cmpopts.EquateComparable(Stream{})); d != "" {
			t.Fatalf("second answer differs:\n%s", d)
		}
	})
}

// A tight range must be used up rather than refused.
func TestPickTightRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Uint16Range(1, 65000).Draw(t, "first")
		count := rapid.IntRange(1, 20).Draw(t, "ports")
		far := drawSide(t, "far")
		req := PickRequest{
			Near: drawSide(t, "near"), Far: far, Lanes: drawLanes(t), Streams: count,
			FirstPort: first, LastPort: first + uint16(count) - 1,
		}
		p, err := Pick(req)
		if err != nil || len(p.Streams) != count {
			t.Fatalf("%d ports, %d streams: %v", count, len(p.Streams), err)
		}
		if p.Even != (Evenly(p.PerLink) && Evenly(p.FarPerLink)) || !p.Even && p.Why == "" {
			t.Fatalf("even %t %q with %v and %v", p.Even, p.Why, p.PerLink, p.FarPerLink)
		}
	})
}

func TestPickLimits(t *testing.T) {
	macs := func(req PickRequest) PickRequest {
		req.SrcMAC, req.DstMAC = mac(t, "02:00:00:00:01:11"), mac(t, "02:00:00:00:02:22")
		return req
	}
	doubtful := Declared(netstate.Layer23, 2)
	doubtful.Doubt = []Era{EraShifted}
	farLayer34 := Declared(netstate.Layer34, 2)
	mode := func(m netstate.BondMode) Bundle {
		return Bundle{Mode: m, Policy: netstate.Layer34, Ports: []string{"a", "b"}, Active: "b"}
	}
	for _, tt := range []struct {
		name           string
		req            PickRequest
		even, relative bool
		perLink        []int
		why            string
	}{
		{"layer2", macs(PickRequest{Near: Declared(netstate.Layer2, 2), Lanes: aliasLanes(1), Streams: 4}), false, false, []int{0, 4}, "only MAC addresses"},
		{"layer2, MACs unknown", PickRequest{Near: Declared(netstate.Layer2, 2), Lanes: aliasLanes(1), Streams: 4}, false, true, []int{4, 0}, "not given"},
		{"layer2+3, one lane", macs(PickRequest{Near: Declared(netstate.Layer23, 2), Lanes: aliasLanes(1), Streams: 4}), false, false, nil, "reach 1 of 2 links"},
		{"layer2+3, two lanes", macs(PickRequest{Near: Declared(netstate.Layer23, 2), Lanes: aliasLanes(2), Streams: 4}), true, false, []int{2, 2}, ""},
		{"layer2+3, two lanes, MACs unknown", PickRequest{Near: Declared(netstate.Layer23, 2), Lanes: aliasLanes(2), Streams: 4}, true, true, []int{2, 2}, "not given"},
		{"layer2+3, four lanes, 3 links, MACs unknown", PickRequest{Near: Declared(netstate.Layer23, 3), Lanes: aliasLanes(4), Streams: 6}, false, true, []int{2, 2, 2}, "not given"},
		{"layer2+3, era in doubt", macs(PickRequest{Near: doubtful, Lanes: aliasLanes(2), Streams: 4}), false, true, []int{2, 2}, "release does not tell"},
		{"encap3+4", PickRequest{Near: Declared(netstate.Encap34, 2), Lanes: aliasLanes(1), Streams: 4}, false, false, []int{0, 0}, "random number"},
		{"encap3+4, one link", PickRequest{Near: Declared(netstate.Encap34, 1), Lanes: aliasLanes(1), Streams: 4}, true, false, []int{4}, ""},
		{"active-backup", PickRequest{Near: mode(netstate.ActiveBackup), Lanes: aliasLanes(1), Streams: 4}, false, false, []int{0, 4}, "one link at a time"},
		{"rr", PickRequest{Near: mode(netstate.BalanceRR), Lanes: aliasLanes(1), Streams: 4}, true, false, []int{0, 0}, "rotates"},
		{"tlb", PickRequest{Near: mode(netstate.BalanceTLB), Lanes: aliasLanes(1), Streams: 4}, false, false, []int{0, 0}, "by load"},
		{"ping", PickRequest{Near: Declared(netstate.Layer34, 2), Lanes: aliasLanes(1), Streams: 4, Proto: flow.ICMP}, false, false, []int{0, 0}, "ICMP identifier"},
		{"GRE", PickRequest{Near: Declared(netstate.Layer34, 2), Lanes: aliasLanes(1), Streams: 4, Proto: flow.GRE}, false, false, nil, "gre has no ports"},
		{"OSPF", PickRequest{Near: Declared(netstate.Layer34, 2), Lanes: aliasLanes(1), Streams: 4, Proto: 89}, false, false, nil, "protocol 89 has no ports to choose"},
		{"near layer2, far layer3+4", macs(PickRequest{Near: Declared(netstate.Layer2, 2), Far: farLayer34, Lanes: aliasLanes(1), Streams: 4}), false, false, []int{0, 4}, "only MAC addresses"},
		{"one stream", macs(PickRequest{Near: Declared(netstate.Layer2, 2), Lanes: aliasLanes(1), Streams: 1}), true, false, []int{0, 1}, ""},
	} {
		p := mustPick(t, tt.req)
		if p.Even != tt.even || p.Relative != tt.relative || !strings.Contains(p.Why, tt.why) || tt.why == "" && p.Why != "" {
			t.Errorf("%s: even %t relative %t %q, want %t %t %q", tt.name, p.Even, p.Relative, p.Why, tt.even, tt.relative, tt.why)
		}
		if d := cmp.Diff(tt.perLink, p.PerLink); tt.perLink != nil && d != "" {
			t.Errorf("%s per link (-want +got):\n%s", tt.name, d)
		}
		if tt.req.Far != nil && !Evenly(p.FarPerLink) {
			t.Errorf("%s: far side %v, want even", tt.name, p.FarPerLink)
		}
	}
}

func TestPickSpreadsLanes(t *testing.T) {
	p := mustPick(t, PickRequest{Near: Declared(netstate.Layer34, 2), Lanes: aliasLanes(4), Streams: 8})
	use := map[flow.Lane]int{}
	for _, s := range p.Streams {
		use[s.Lane]++
	}
	for l, n := range use {
		if n != 2 {
			t.Errorf("lane %s carries %d of 8 streams, want 2", l, n)
		}
	}
}

func TestPickSkipsUsed(t *testing.T) {
	req := PickRequest{Near: Declared(netstate.Layer34, 2), Lanes: aliasLanes(1), Streams: 2}
	first := mustPick(t, req)
	for _, s := range first.Streams {
		req.Used = append(req.Used, flow.Tuple{Proto: flow.TCP, Src: s.Src, Dst: s.Dst, Sport: s.Sport, Dport: DefaultDport})
	}
	for _, s := range mustPick(t, req).Streams {
		for _, u := range req.Used {
			if s.Sport == u.Sport {
				t.Errorf("port %d is in use and was picked again", s.Sport)
			}
		}
	}
}

func TestPickErrors(t *testing.T) {
	b := Declared(netstate.Layer34, 2)
	none := Declared(netstate.Layer34, 0)
	for _, tt := range []struct {
		name string
		req  PickRequest
		want string
	}{
		{"no streams", PickRequest{Near: b, Lanes: aliasLanes(1)}, "at least one"},
		{"no lanes", PickRequest{Near: b, Streams: 1}, "no pair of addresses"},
		{"two families", PickRequest{Near: b, Lanes: append(aliasLanes(1), lane("10.0.0.1", "fd00::2")), Streams: 1}, "10.0.0.1 and fd00::2 are of different families"},
		{"reversed range", PickRequest{Near: b, Lanes: aliasLanes(1), Streams: 1, FirstPort: 9, LastPort: 8}, "9 to 8"},
		{"port 0", PickRequest{Near: b, Lanes: aliasLanes(1), Streams: 1, LastPort: 8}, "0 to 8"},
		{"no links", PickRequest{Near: none, Lanes: aliasLanes(1), Streams: 1}, "no usable link"},
		{"no far links", PickRequest{Near: b, Far: none, Lanes: aliasLanes(1), Streams: 1}, "far side"},
	} {
		if _, err := Pick(tt.req); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	small := PickRequest{Near: b, Lanes: aliasLanes(1), Streams: 3, FirstPort: 1, LastPort: 3, Avoid: []uint16{2}}
	if _, err := Pick(small); !errors.Is(err, ErrTooFewPorts) {
		t.Errorf("2 ports for 3 streams: %v, want ErrTooFewPorts", err)
	}
	small.Streams = 4
	if _, err := Pick(small); !errors.Is(err, ErrTooFewPorts) {
		t.Errorf("3 ports for 4 streams: %v, want ErrTooFewPorts", err)
	}
}

func TestPickJSON(t *testing.T) {
	p := mustPick(t, PickRequest{Near: Declared(netstate.Layer34, 2), Lanes: []flow.Lane{lane("192.168.10.1", "192.168.10.2")}, Streams: 2})
	got, err := json.Marshal(p.Shown())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"streams":2,"ports":[40002,40000],"addresses":[{"src":"192.168.10.1","dst":"192.168.10.2"},{"src":"192.168.10.1","dst":"192.168.10.2"}],"per_link":[1,1],"even":true}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("document (-want +got):\n%s", d)
	}
	relative := mustPick(t, PickRequest{Near: Declared(netstate.Layer23, 2), Lanes: aliasLanes(2), Streams: 2})
	got, err = json.Marshal(relative.Shown())
	if err != nil || !strings.Contains(string(got), `"even":true,"relative":true,"why":`) {
		t.Errorf("links told apart only: %s, %v", got, err)
	}
}
