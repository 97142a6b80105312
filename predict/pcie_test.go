package predict

import (
	"math"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestPublishedSlots: what others measured through a slot that was the limit.
func TestPublishedSlots(t *testing.T) {
	const jumbo, payload = 9014, 9014.0 / 8948
	for _, c := range []struct {
		name         string
		card         netstate.Card
		transmit     bool
		want, within float64
	}{
		{"X520, two ports, 5 GT/s x4: never exceeds 13.90", netstate.Card{Generation: 2, Lanes: 4, MaxPayload: 256}, false, 13.90e9, .02},
		{"as many lanes of generation 1", netstate.Card{Generation: 1, Lanes: 8, MaxPayload: 256}, false, 13.90e9, .02},
		{"X540, two ports, MTU 9000: 13.9 of payload", netstate.Card{Generation: 2, Lanes: 4, MaxPayload: 256}, false, 13.9e9 * payload, .03},
		{"10 Gb/s cards in a single-board computer's x1: about 3.2 of payload", netstate.Card{Generation: 2, Lanes: 1, MaxPayload: 128}, true, 3.2e9 * payload, .03},
		{"NVIDIA's rule, raw - 1 Gb/s, is an upper bound", netstate.Card{Generation: 3, Lanes: 8, MaxPayload: 512}, true, 62e9, .15},
	} {
		rate, low, high := CardRate(c.card, jumbo, c.transmit)
		if math.Abs(float64(rate)/c.want-1) > c.within || low >= rate || high <= rate {
			t.Errorf("%s: %v (%v to %v); want %v", c.name, rate, low, high, unit.BitRate(c.want))
		}
	}
}

func TestUnknownSlot(t *testing.T) {
	for _, c := range []netstate.Card{{}, {Lanes: 16}, {Generation: 3}, {Generation: 8, Lanes: 4}, {Generation: -1, Lanes: 4}} {
		if rate, low, high := CardRate(c, 1514, true); rate != 0 || low != 0 || high != 0 {
			t.Errorf("%+v: %v", c, rate)
		}
	}
}

// TestSmallFrames: descriptors and headers weigh more on smaller frames, and
// both ways at once load each other.
func TestSmallFrames(t *testing.T) {
	card := netstate.Card{Name: "c0", Generation: 2, Lanes: 4, MaxPayload: 256, MaxLanes: 8}
	rate := func(mtu int, d flow.Direction) Prediction {
		f := JoinedHosts(testfabric.Plain("a", 40e9, mtu, "10.0.0.1/24"), testfabric.Plain("b", 40e9, mtu, "10.0.0.2/24"), 0, "")
		for name, h := range f.Hosts {
			h.Cards = []netstate.Card{card}
			h.Links[0].Card = "c0"
			f.Hosts[name] = h
		}
		p := mustPredict(t, f, Traffic{Streams: 4, Direction: d})
		if p.Limit != record.CardSlot || p.RateLow >= p.Rate || p.RateHigh <= p.Rate || !strings.Contains(p.RangeWhy, "link layer") {
			t.Errorf("MTU %d %s: %v (%v to %v: %s), %s", mtu, d, p.Rate, p.RateLow, p.RateHigh, p.RangeWhy, p.Limit)
		}
		if !strings.Contains(p.Limits[0].Why, "could run x8 in a better slot") {
			t.Errorf("no remedy in %q", p.Limits[0].Why)
		}
		return p
	}
	jumbo, usual, small := rate(9000, flow.Forward), rate(1500, flow.Forward), rate(576, flow.Forward)
	if !(jumbo.Rate > usual.Rate*1.05 && usual.Rate > small.Rate*1.1) {
		t.Errorf("MTU 9000 %v, 1500 %v, 576 %v", jumbo.Rate, usual.Rate, small.Rate)
	}
	if both := rate(9000, flow.Both); !near(both.Rate, 2*.956*float64(jumbo.Rate), .01) {
		t.Errorf("both ways: %v, one %v", both.Rate, jumbo.Rate)
	}
}

// TestStripedSlots: what is striped goes no faster than the card that has two
// of its three ports.
func TestStripedSlots(t *testing.T) {
	b := testfabric.Bond{Ports: 3, Speed: 10e9, Mode: netstate.BalanceRR, Mtu: 9000, Kernel: "3.10", Card: "c0"}
	a, z := b, b
	a.Name, a.Addrs = "a", []string{"10.0.0.1/24"}
	z.Name, z.Addrs = "b", []string{"10.0.0.2/24"}
	f := JoinedHosts(a.Host(), z.Host(), 0, "")
	for name, h := range f.Hosts {
		h.Cards = []netstate.Card{{Name: "c0", Generation: 2, Lanes: 4, MaxPayload: 256}, {Name: "c1", Generation: 2, Lanes: 4, MaxPayload: 256}}
		for i := range h.Links {
			if h.Links[i].Name == name+"2" {
				h.Links[i].Card = "c1"
			}
		}
		f.Hosts[name] = h
	}
	p := mustPredict(t, f, Traffic{Streams: 1})
	if p.Rate > 1.5*13.9e9 || p.RateHigh > 1.5*14.3e9 || p.Rate > p.Limits[0].Rate*(1+1e-9) {
		t.Errorf("striped over two cards: %v of %+v", p.Rate, p.Limits[0])
	}
}
