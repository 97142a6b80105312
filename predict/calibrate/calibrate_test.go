package calibrate

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// truth is a prediction made with everything known: what a measurement of it
// would read.
func truth(t *testing.T, f predict.Fabric, streams int) unit.BitRate {
	t.Helper()
	return onPaper(t, f, predict.Traffic{Streams: streams}).Rate
}

// onPaper is a prediction of one way from a to b.
func onPaper(t *testing.T, f predict.Fabric, tr predict.Traffic) predict.Prediction {
	t.Helper()
	tr.From, tr.To, tr.Direction = "a", "b", flow.Forward
	p, err := predict.Predict(f, tr)
	if err != nil {
		t.Fatalf("Predict(%+v): %v", tr, err)
	}
	return p
}

func between(a, b netstate.Host, rtt time.Duration) predict.Fabric {
	return predict.Fabric{
		Hosts: map[string]netstate.Host{a.Name: a, b.Name: b},
		Paths: []fabric.Path{{From: a.Name, To: b.Name, RTT: rtt, SwitchHash: "layer3+4", Declared: true}},
	}
}

func near(got unit.BitRate, want, tolerance float64) bool {
	return math.Abs(float64(got)-want) <= tolerance*want
}

func bond10(rtt time.Duration) predict.Fabric {
	b := testfabric.Bond{Ports: 2, Speed: 10e9, Mode: netstate.LACP, Policy: netstate.Layer34, Mtu: 1500, Kernel: "5.15"}
	a, z := b, b
	a.Name, a.Addrs = "a", []string{"10.0.0.1/24"}
	z.Name, z.Addrs = "b", []string{"10.0.0.2/24"}
	return between(a.Host(), z.Host(), rtt)
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
		world, known predict.Fabric
		settles      Settles
	}{
		{"round trip not known", slowTrip, noTrip, RoundTrip},
		{"round trip longer than thought", slowTrip, bond10(10 * time.Millisecond), RoundTrip},
		{"shaper slower than said", shaped, unshaped, Shaper},
		{"shaper faster than said", unshaped, shaped, Shaper},
		{"a core", core, bond10(100 * time.Microsecond), Core},
		{"nothing to learn", bond10(time.Millisecond), bond10(time.Millisecond), Nothing},
	} {
		first := 1
		if c.settles == Shaper {
			first = 8
		}
		got, err := FromRow(c.known, Measured{Traffic: predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: first}, Rate: truth(t, c.world, first)})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.Settles != c.settles || math.Abs(got.Residual) > 0.02 || got.Why == "" {
			t.Errorf("%s: settles %s (%s), %+.3f off; want %s", c.name, got.Settles, got.Why, got.Residual, c.settles)
		}
		for _, n := range []int{1, 2, 4, 16} {
			p, err := got.Predict(c.known, predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: n})
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
		c, err := FromRow(f, Measured{Traffic: predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1}, Rate: 1e9})
		if err != nil || c.Settles != RoundTrip {
			t.Fatalf("settles %s, %v", c.Settles, err)
		}
		w, err := whatif.Parse("rmem=12Mi,wmem=64Mi")
		if err != nil {
			t.Fatal(err)
		}
		larger, _, _, err := w.Apply(f, fabric.Measure{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Predict(larger, predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1})
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
	tr := predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1}
	c, err := FromRow(f, Measured{Traffic: tr, Rate: 1e9, Cause: record.ReceiverCPU})
	if err != nil || c.Settles != Core || !near(c.Core, 1e9, 0.02) {
		t.Errorf("settles %s at %v, %v", c.Settles, c.Core, err)
	}
	if c, err = FromRow(f, Measured{Traffic: tr, Rate: 1e9, Cause: record.Application}); err != nil || c.Settles != Factor {
		t.Errorf("settles %s, %v", c.Settles, err)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	f := bond10(time.Millisecond)
	tr := predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 8}
	for _, rate := range []unit.BitRate{0, -1, unit.BitRate(math.NaN()), unit.BitRate(math.Inf(1)), 25e9} {
		if c, err := FromRow(f, Measured{Traffic: tr, Rate: rate}); !errors.Is(err, ErrNothing) {
			t.Errorf("%v: settles %s, %v", rate, c.Settles, err)
		}
	}
	tr.To = "c"
	if _, err := FromRow(f, Measured{Traffic: tr, Rate: 1e9}); !errors.Is(err, predict.ErrUnknownHost) {
		t.Errorf("unknown host: %v", err)
	}
	if p, err := (Calibration{}).Predict(f, predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1}); err != nil || p.Rate == 0 {
		t.Errorf("the zero calibration: %v, %v", p.Rate, err)
	}
}
