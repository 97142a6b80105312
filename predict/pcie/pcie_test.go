package pcie

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/netstate"
)

// TestSlotArithmetic counts one frame by hand: 9014 bytes in 36 writes of 256
// with 24 each, a descriptor written back (16 + 24), an eighth of a request
// (24), an interrupt in 32 frames (28).
func TestSlotArithmetic(t *testing.T) {
	s, ok := At(netstate.Card{Generation: 2, Lanes: 4, MaxPayload: 256}, Middle)
	const want = 9014 + 36*24 + 16 + 24 + 24.0/8 + 28.0/32
	if got := s.PerFrame(Traffic{Frame: 9014}); !ok || math.Abs(got-want) > 1e-9 || s.Rate != 16e9*.95 {
		t.Errorf("a frame takes %v of %v; want %v of 15.2 Gbit/s", got, s.Rate, want)
	}
	// From memory: 36 completions with 20, 40 descriptors in three more for 40
	// frames, a doorbell.
	const sent = 9014 + 36*20 + (640+3*20)/40.0 + 28
	if got := s.PerFrame(Traffic{Frame: 9014, Transmit: true}); math.Abs(got-sent) > 1e-9 {
		t.Errorf("a frame that leaves takes %v; want %v", got, sent)
	}
	// Both ways: the reads of the other way are requests in this one.
	both := s.PerFrame(Traffic{Frame: 9014, Duplex: true})
	if extra := both - want; math.Abs(extra-(18*24+2*24/40.0+(128+24)/8.0+28.0/32)) > 1e-9 {
		t.Errorf("the other way adds %v", extra)
	}
}

// TestSlotHolds: smaller frames, smaller packets and fewer lanes never move
// more, and traffic the other way never helps.
func TestSlotHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := netstate.Card{
			Generation: rapid.IntRange(1, 7).Draw(t, "generation"), Lanes: rapid.IntRange(1, 32).Draw(t, "lanes"),
			MaxPayload: rapid.SampledFrom([]int{0, 128, 256, 512, 1024, 4096}).Draw(t, "max payload"),
		}
		at := rapid.SampledFrom([]Level{Middle, Lowest, Highest}).Draw(t, "level")
		s, ok := At(c, at)
		if !ok {
			t.Fatalf("%+v has no slot", c)
		}
		x := Traffic{
			Frame: rapid.IntRange(60, 16000).Draw(t, "frame"), Transmit: rapid.Bool().Draw(t, "transmit"),
			TCP: rapid.Bool().Draw(t, "tcp"),
		}
		rate := s.RateOf(x)
		if math.IsNaN(float64(rate)) || rate <= 0 || rate >= s.Rate {
			t.Fatalf("%v of %v", rate, s.Rate)
		}
		y := x
		y.Duplex = true
		if s.RateOf(y) > rate {
			t.Fatalf("%v with the other way, %v without", s.RateOf(y), rate)
		}
		larger := s
		larger.MaxPayload *= 2
		if larger.RateOf(x) < rate {
			t.Fatalf("larger packets: %v, %v", larger.RateOf(x), rate)
		}
		y = x
		y.Frame += larger.MaxPayload * readRequest // a multiple of both: no packet less full
		if y.Frame < 1<<22 && !x.TCP && s.RateOf(y) < rate {
			t.Fatalf("larger frames: %v, %v", s.RateOf(y), rate)
		}
		low, _ := At(c, Lowest)
		mid, _ := At(c, Middle)
		high, _ := At(c, Highest)
		if low.RateOf(x) > mid.RateOf(x) || mid.RateOf(x) > high.RateOf(x) {
			t.Fatalf("%v not within %v to %v", mid, low, high)
		}
	})
}
