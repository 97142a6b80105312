package steer

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// drawAny is any frame a hash may meet: of each protocol, in tunnels, in pieces,
// without addresses.
func drawAny(t *rapid.T) flow.Frame {
	f := drawFrame(t)
	f.Proto = rapid.SampledFrom([]flow.Proto{flow.TCP, flow.UDP, flow.SCTP, flow.ESP, flow.ICMP, flow.GRE, flow.IPIP}).Draw(t, "of")
	f.Fragment, f.Extended, f.Forwarded = rapid.Bool().Draw(t, "fragment"), rapid.Bool().Draw(t, "extended"), rapid.Bool().Draw(t, "forwarded")
	f.EtherType = rapid.SampledFrom([]uint16{0, 0, 0, etherIPv4, etherARP}).Draw(t, "type")
	f.SPI = rapid.Uint32().Draw(t, "spi")
	f.NoSport = rapid.Bool().Draw(t, "no sport")
	if rapid.Bool().Draw(t, "tunnel") {
		inner := drawFrame(t)
		f.Inner = &inner
	}
	return f
}

// TestPortHash: what is made once for all source ports of a flow hashes each as it
// is hashed alone, and is known where that is.
func TestPortHash(t *testing.T) {
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		f := drawAny(t)
		h := Hasher{
			Policy:    rapid.SampledFrom(netstate.HashPolicies()).Draw(t, "policy"),
			Era:       rapid.SampledFrom(Eras()).Draw(t, "era"),
			BigEndian: rapid.Bool().Draw(t, "big-endian"),
		}
		ports := rapid.SliceOf(rapid.Uint16()).Draw(t, "ports")
		p, ok, why := h.BySource(f)
		hashes := make([]uint32, len(ports))
		p.Hashes(hashes, ports)
		for i, port := range ports {
			f.Sport, f.NoSport = port, false
			hash, alone, whyAlone := h.Hash(f)
			if alone != ok || whyAlone != why || alone && hash != hashes[i] {
				t.Fatalf("%+v port %d: %#x %t %q, alone %#x %t %q", h, port, hashes[i], ok, why, hash, alone, whyAlone)
			}
			if alone {
				known++
			}
		}
	})
	if known == 0 {
		t.Error("no hash was known")
	}
}

// TestBundleBySource: a bond's link by source port is where Place sends the flow, in
// every mode and whatever is in doubt.
func TestBundleBySource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawAny(t)
		b := Declared(rapid.SampledFrom(netstate.HashPolicies()).Draw(t, "policy"), rapid.IntRange(0, 8).Draw(t, "links"))
		b.Mode = rapid.SampledFrom([]netstate.BondMode{netstate.BalanceXOR, netstate.LACP, netstate.ActiveBackup, netstate.BalanceTLB, netstate.BalanceALB, netstate.Broadcast}).Draw(t, "mode")
		eras := Eras()
		first := rapid.IntRange(0, len(eras)-1).Draw(t, "era")
		b.Era, b.Doubt = eras[first], eras[first+1:][:rapid.IntRange(0, len(eras)-first-1).Draw(t, "doubt")]
		b.TLBStatic, b.BroadcastNeighbor = rapid.Bool().Draw(t, "static"), rapid.Bool().Draw(t, "neighbor")
		if rapid.Bool().Draw(t, "queued") {
			b.Queued = slices.Clip(b.Ports[:min(1, len(b.Ports))])
		}
		index := b.BySource(f)
		for _, port := range rapid.SliceOf(rapid.Uint16()).Draw(t, "ports") {
			f.Sport, f.NoSport = port, false
			if got, want := index(port), b.Place(f).Index; got != want {
				t.Fatalf("%+v port %d: link %d, placed on %d", b, port, got, want)
			}
		}
	})
}

// TestPortHashOfDestination: frames that come back have the sender's port as their
// destination.
func TestPortHashOfDestination(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := PickRequest{Near: drawSide(t, "near"), Back: drawSide(t, "back"), Lanes: drawLanes(t), Streams: 1}
		full, err := req.Complete()
		if err != nil {
			t.Fatal(err)
		}
		s := newSearch(full, false)
		port := rapid.Uint16Range(full.FirstPort, full.LastPort).Draw(t, "port")
		for i := range s.variants {
			v := &s.variants[i]
			got, _ := s.linksOf(v, port)
			for n, side := range s.sides {
				if want := side.class(s.req.frame(side, v.lane, port, v.dport)); got[n] != int32(want) {
					t.Fatalf("side %d: link %d, want %d", n, got[n], want)
				}
			}
		}
	})
}
