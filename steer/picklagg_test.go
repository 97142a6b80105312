package steer

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// With 2, 4 or 8 ports a pick is even whatever the lagg's key: replayed with
// keys, which places every flow for certain.
func TestPickOnLaggIsEvenForEveryKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 1 << rapid.IntRange(1, 3).Draw(t, "log2 links")
		near := laggOf(rapid.SampledFrom([]LaggHash{0, LaggL3 | LaggL4, LaggL4}).Draw(t, "hash"), n, nil)
		req := PickRequest{
			Near: near, Streams: rapid.IntRange(1, 64).Draw(t, "streams"), Dport: rapid.Uint16Range(1, 65535).Draw(t, "dport"),
			SrcMAC: flow.MAC{2, 0, 0, 0, 0, 1}, DstMAC: flow.MAC{2, 0, 0, 0, 0, 2}, Avoid: []uint16{40001, 40006, 40017},
		}
		for range rapid.IntRange(1, 4).Draw(t, "lanes") {
			var ends [8]byte
			for i := range ends {
				ends[i] = rapid.Byte().Draw(t, "octet")
			}
			req.Lanes = append(req.Lanes, flow.Lane{Src: netip.AddrFrom4([4]byte(ends[:4])), Dst: netip.AddrFrom4([4]byte(ends[4:]))})
		}
		p, err := Pick(req)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Even || !p.Relative || p.Why == "" || p.Remedy != "" || len(p.Streams) != req.Streams {
			t.Fatalf("even %t, relative %t, why %q, remedy %q, per link %v", p.Even, p.Relative, p.Why, p.Remedy, p.PerLink)
		}
		for range 8 {
			key := rapid.Uint32().Draw(t, "key")
			near.Key = &key
			counts := make([]int, n)
			for _, s := range p.Streams {
				counts[near.Place(flow.Frame{Tuple: s.Tuple(flow.TCP), SrcMAC: req.SrcMAC, DstMAC: req.DstMAC}).Index]++
			}
			if !Evenly(counts) {
				t.Fatalf("key %#x: %v", key, counts)
			}
		}
	})
}

// A receiver's lagg, on the way back, is made even beside the sender's bond.
func TestPickWithLaggOnTheWayBack(t *testing.T) {
	for _, streams := range []int{2, 4, 8, 16} {
		p := mustPick(t, PickRequest{Near: Declared(netstate.Layer34, 2), Back: laggOf(LaggL3|LaggL4, 4, nil), Lanes: []flow.Lane{lane("10.0.0.1", "10.0.0.2")}, Streams: streams})
		if !p.Even || !p.Relative || !Evenly(p.PerLink) || !Evenly(p.BackPerLink) {
			t.Errorf("%d streams: even %t, near %v, back %v: %s", streams, p.Even, p.PerLink, p.BackPerLink, p.Why)
		}
	}
}

// What no choice makes even is not called so.
func TestPickOnLaggSaysWhatItCannot(t *testing.T) {
	one := []flow.Lane{lane("10.0.0.1", "10.0.0.2")}
	six := []flow.Lane{lane("2001:db8::1", "2001:db8::2")}
	flowID := laggOf(0, 4, nil)
	flowID.UseFlowID = true
	for _, tt := range []struct {
		name        string
		near        Lagg
		lanes       []flow.Lane
		why, remedy string
	}{
		{"three ports", laggOf(0, 3, nil), one, "random number", "2, 4 or 8 ports"},
		{"no ports in the hash", laggOf(LaggL3, 4, nil), one, "reads no ports", "steer probe"},
		{"the flow label", laggOf(LaggL3|LaggL4, 4, nil), six, "flow label", "steer probe"},
		{"the card's hash", flowID, one, "card's own", "-use_flowid"},
	} {
		p := mustPick(t, PickRequest{Near: tt.near, Lanes: tt.lanes, Streams: 4})
		if p.Even || !strings.Contains(p.Why, tt.why) || !strings.Contains(p.Remedy, tt.remedy) {
			t.Errorf("%s: even %t, why %q, remedy %q", tt.name, p.Even, p.Why, p.Remedy)
		}
	}
}
