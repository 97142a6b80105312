package steer

import (
	"errors"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// TestPickAddressesEven: whatever the policy, the era, the MAC addresses and
// the addresses, what is called even is even by Place, in both directions.
func TestPickAddressesEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := AddressRequest{Lanes: rapid.IntRange(1, 12).Draw(t, "lanes")}
		req.Frame = flow.Frame{SrcMAC: drawMAC(t), DstMAC: drawMAC(t)}
		req.Frame.Dport = 2049
		six := rapid.Bool().Draw(t, "IPv6")
		req.Near = drawSpreader(t, "near", six)
		if rapid.Bool().Draw(t, "has far") {
			req.Far = drawSpreader(t, "far", six)
		}
		if rapid.Bool().Draw(t, "has back") {
			req.Back = drawSpreader(t, "back", six)
		}
		base := netip.AddrFrom4([4]byte{10, rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "c"), 0})
		req.Subnet = netip.PrefixFrom(base, rapid.IntRange(20, 24).Draw(t, "bits"))
		if six {
			req.Subnet = netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfd, rapid.Byte().Draw(t, "d")}), 64)
		}
		req.Src, req.Dst = req.Subnet.Masked().Addr().Next(), req.Subnet.Masked().Addr().Next().Next()
		req.Side = rapid.SampledFrom([]Side{SideFar, SideNear, SideBoth}).Draw(t, "side")
		a, err := PickAddresses(req)
		if noSpread := (*NoSpreadError)(nil); errors.As(err, &noSpread) {
			if noSpread.Why == "" {
				t.Fatal("no spread, and no reason")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkAddresses(t, req, a)
	})
}

func checkAddresses(t *rapid.T, req AddressRequest, a Addresses) {
	if len(a.Lanes) != req.Lanes {
		t.Fatalf("%d lanes, want %d", len(a.Lanes), req.Lanes)
	}
	seen := map[flow.Lane]bool{}
	var ahead, behind []flow.Frame
	for _, l := range a.Lanes {
		if seen[l.Lane] {
			t.Fatalf("%s twice", l.Lane)
		}
		seen[l.Lane] = true
		f := req.Frame
		f.Proto, f.Src, f.Dst = flow.TCP, l.Src, l.Dst
		ahead = append(ahead, f)
		f.Tuple = f.Reverse()
		f.SrcMAC, f.DstMAC = f.DstMAC, f.SrcMAC
		behind = append(behind, f)
	}
	if !a.Even {
		if a.Why == "" {
			t.Fatal("not even, and no reason")
		}
		return
	}
	for _, side := range []struct {
		s      Spreader
		frames []flow.Frame
	}{{req.Near, ahead}, {req.Far, ahead}, {req.Back, behind}} {
		if side.s == nil {
			continue
		}
		counts := make([]int, len(side.s.Links()))
		for _, f := range side.frames {
			counts[anyLink(side.s, f)]++
		}
		if !Evenly(counts) {
			t.Fatalf("called even, but %v over %+v: %v", counts, side.s, a.Lanes)
		}
	}
}

// anyLink is a frame's link; where it is a secret or in doubt, under one of the
// values it may have.
func anyLink(s Spreader, f flow.Frame) int {
	p := s.Place(f)
	if !p.Known {
		switch x := s.(type) {
		case Lagg:
			key := uint32(0xdecaf)
			x.Key = &key
			p = x.Place(f)
		case Bundle:
			x.Doubt = nil
			p = x.Place(f)
		}
	}
	return p.Index
}

func drawMAC(t *rapid.T) flow.MAC {
	m := flow.MAC{2}
	for i := range m[1:] {
		m[i+1] = rapid.Byte().Draw(t, "mac")
	}
	return m
}

func drawSpreader(t *rapid.T, label string, six bool) Spreader {
	n := rapid.IntRange(1, 8).Draw(t, label+" links")
	switch rapid.IntRange(0, 5).Draw(t, label+" kind") {
	case 0:
		return channelOf(ChannelHashDefault, n)
	case 1:
		return laggOf(LaggL2|LaggL3, n, nil)
	case 2:
		policy := rapid.SampledFrom([]netstate.HashPolicy{netstate.Layer2, netstate.Encap23}).Draw(t, label)
		return bondOf(netstate.BalanceXOR, policy, n)
	}
	b := bondOf(rapid.SampledFrom([]netstate.BondMode{netstate.BalanceXOR, netstate.LACP}).Draw(t, label+" mode"), netstate.Layer23, n)
	eras := Eras()
	if six {
		eras = eras[:len(eras)-1]
	}
	b.Era = rapid.SampledFrom(eras).Draw(t, label+" era")
	b.BigEndian = rapid.Bool().Draw(t, label+" big-endian")
	if rapid.Bool().Draw(t, label+" doubt") {
		b.Doubt = []Era{rapid.SampledFrom(eras).Draw(t, label+" other era")}
	}
	return b
}
