package predict

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// truth is a prediction made with everything known: what a measurement of it
// would read.
func truth(t *testing.T, f Fabric, streams int) unit.BitRate {
	t.Helper()
	return forward(t, f, streams).Rate
}

func bond10(rtt time.Duration) Fabric {
	b := bonded{ports: 2, speed: 10e9, mode: netstate.LACP, policy: netstate.Layer34, mtu: 1500, kernel: "5.15"}
	a, z := b, b
	a.name, a.addrs = "a", []string{"10.0.0.1/24"}
	z.name, z.addrs = "b", []string{"10.0.0.2/24"}
	return between(a.host(), z.host(), rtt, "layer3+4")
}

// One row of a world that is known here and not to the calibration foretells
// the others.
func TestCalibrateForetells(t *testing.T) {
	slowTrip := bond10(20 * time.Millisecond)
	noTrip := bond10(0)
	shaped, unshaped := bond10(time.Millisecond), bond10(time.Millisecond)
	shaped.Paths[0].Rate, unshaped.Paths[0].Rate = 4e9, 6e9
	core := bond10(100 * time.Microsecond)
	for _, name := range []string{"a", "b"} {
		h := core.Hosts[name]
		h.CPU.StreamRate = 3e9
		core.Hosts[name] = h
	}
	for _, c := range []struct {
		name         string
		world, known Fabric
		settles      Settles
	}{
		{"round trip not known", slowTrip, noTrip, SettlesRoundTrip},
		{"round trip longer than thought", slowTrip, bond10(10 * time.Millisecond), SettlesRoundTrip},
		{"shaper slower than said", shaped, unshaped, SettlesShaper},
		{"shaper faster than said", unshaped, shaped, SettlesShaper},
		{"a core", core, bond10(100 * time.Microsecond), SettlesCore},
		{"nothing to learn", bond10(time.Millisecond), bond10(time.Millisecond), SettlesNothing},
	} {
		first := 1
		if c.settles == SettlesShaper {
			first = 8
		}
		got, err := Calibrate(c.known, Measured{Traffic: Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: first}, Rate: truth(t, c.world, first)})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.Settles != c.settles || math.Abs(got.Residual) > 0.02 || got.Why == "" {
			t.Errorf("%s: settles %s (%s), %+.3f off; want %s", c.name, got.Settles, got.Why, got.Residual, c.settles)
		}
		for _, n := range []int{1, 2, 4, 16} {
			p, err := got.Predict(c.known, Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: n})
			if want := truth(t, c.world, n); err != nil || !near(p.Rate, float64(want), 0.03) {
				t.Errorf("%s, %d streams: %v (%v), want %v", c.name, n, p.Rate, err, want)
			}
		}
	}
}

// A larger window than the row's leaves a range, which a known round trip
// makes narrower.
func TestCalibrateRange(t *testing.T) {
	width := func(known time.Duration) float64 {
		f := bond10(known)
		c, err := Calibrate(f, Measured{Traffic: Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1}, Rate: 1e9})
		if err != nil || c.Settles != SettlesRoundTrip {
			t.Fatalf("settles %s, %v", c.Settles, err)
		}
		larger, _, _ := supposing(t, f, "rmem=12Mi,wmem=64Mi")
		p, err := c.Predict(larger, Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1})
		if err != nil || p.RateLow < 1e9*0.98 || p.RateHigh > 2e9*1.02 || p.Rate < p.RateLow || p.Rate > p.RateHigh || p.RangeWhy == "" {
			t.Fatalf("known %v: %v, %v to %v (%s), %v", known, p.Rate, p.RateLow, p.RateHigh, p.RangeWhy, err)
		}
		return float64(p.RateHigh / p.RateLow)
	}
	open, half, whole := width(0), width(12*time.Millisecond), width(24*time.Millisecond)
	if !(open > half && half > whole && open > 1.9 && whole < 1.2) {
		t.Errorf("ranges of %.2f, %.2f and %.2f", open, half, whole)
	}
}

// The cause that was found counts before what the prediction thinks.
func TestCalibrateCause(t *testing.T) {
	f := bond10(10 * time.Millisecond)
	tr := Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1}
	c, err := Calibrate(f, Measured{Traffic: tr, Rate: 1e9, Cause: record.ReceiverCPU})
	if err != nil || c.Settles != SettlesCore || !near(c.Core, 1e9, 0.02) {
		t.Errorf("settles %s at %v, %v", c.Settles, c.Core, err)
	}
	if c, err = Calibrate(f, Measured{Traffic: tr, Rate: 1e9, Cause: record.Application}); err != nil || c.Settles != SettlesFactor {
		t.Errorf("settles %s, %v", c.Settles, err)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	f := bond10(time.Millisecond)
	tr := Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 8}
	for _, rate := range []unit.BitRate{0, -1, unit.BitRate(math.NaN()), unit.BitRate(math.Inf(1)), 25e9} {
		if c, err := Calibrate(f, Measured{Traffic: tr, Rate: rate}); !errors.Is(err, ErrCalibrate) {
			t.Errorf("%v: settles %s, %v", rate, c.Settles, err)
		}
	}
	tr.To = "c"
	if _, err := Calibrate(f, Measured{Traffic: tr, Rate: 1e9}); !errors.Is(err, ErrUnknownHost) {
		t.Errorf("unknown host: %v", err)
	}
	if p, err := (Calibration{}).Predict(f, Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1}); err != nil || p.Rate == 0 {
		t.Errorf("the zero calibration: %v, %v", p.Rate, err)
	}
}
