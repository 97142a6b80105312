package predict_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/calibrate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/unit"
)

// Properties of whole predictions, whatever the fabric: every limit at once.

func drawWhole(t *rapid.T) predict.Fabric {
	f := predict.DrawFabric(t)
	f.Paths[0].Loss = rapid.SampledFrom([]float64{0, 0, 0, 1e-6, 1e-4, 0.01}).Draw(t, "loss")
	f.Paths[0].Bucket = unit.Bytes(rapid.SampledFrom([]int{0, 0, 1 << 16, 1 << 24}).Draw(t, "bucket"))
	for _, name := range []string{"a", "b"} {
		h := f.Hosts[name]
		if rapid.Bool().Draw(t, name+" has a card") {
			h.Cards = []netstate.Card{{Name: "c0", Generation: rapid.IntRange(0, 5).Draw(t, name+" generation"),
				Lanes: rapid.SampledFrom([]int{0, 1, 4, 8, 16}).Draw(t, name+" lanes"), MaxPayload: rapid.SampledFrom([]int{0, 128, 256}).Draw(t, name+" payload")}}
			for i := range h.Links {
				if h.Links[i].Kind == "" {
					h.Links[i].Card = "c0"
				}
			}
		}
		f.Hosts[name] = h
	}
	if word := rapid.SampledFrom([]string{"", "cubic", "reno", "bbr"}).Draw(t, "congestion"); word != "" {
		f = f.Set("a", "net.ipv4.tcp_congestion_control", word)
	}
	return f
}

func drawWholeTraffic(t *rapid.T) predict.Traffic {
	return predict.Traffic{
		From: "a", To: "b",
		Direction:    rapid.SampledFrom(flow.Directions()).Draw(t, "direction"),
		Streams:      rapid.IntRange(1, 12).Draw(t, "streams"),
		Protocol:     rapid.SampledFrom([]string{"tcp", "tcp", "udp", "mptcp"}).Draw(t, "protocol"),
		Ports:        rapid.SampledFrom([]string{predict.PortsChosen, predict.PortsKernel}).Draw(t, "ports"),
		SocketBuffer: unit.Bytes(rapid.SampledFrom([]int{0, 0, 1 << 16, 1 << 22}).Draw(t, "buffer")),
		Window:       time.Duration(rapid.SampledFrom([]int{0, 0, 1, 30}).Draw(t, "window")) * time.Second,
	}
}

// A prediction's numbers stand in order: low, expected, high; nothing above
// the ceiling; the first limit is what binds.
func TestWholeInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, tr := drawWhole(t), drawWholeTraffic(t)
		p, err := predict.Predict(f, tr)
		if err != nil {
			return
		}
		inOrder(t, p)
	})
}

func inOrder(t *rapid.T, p predict.Prediction) {
	t.Helper()
	const slack = 1 + 1e-9
	switch {
	case predict.Bad(p.Rate) || predict.Bad(p.Ceiling) || predict.Bad(p.RateLow) || predict.Bad(p.RateHigh):
		t.Fatalf("bad rate in %+v", p)
	case p.Ceiling > 0 && p.Rate > p.Ceiling*slack:
		t.Fatalf("rate %v above the ceiling %v", p.Rate, p.Ceiling)
	case p.RateLow > 0 && p.RateLow > p.Rate*slack:
		t.Fatalf("low %v above %v", p.RateLow, p.Rate)
	case p.RateHigh > 0 && p.RateHigh*slack < p.Rate:
		t.Fatalf("high %v below %v", p.RateHigh, p.Rate)
	case len(p.Limits) == 0 || p.Limit != p.Limits[0].Cause:
		t.Fatalf("limit %s of %+v", p.Limit, p.Limits)
	case p.Direction != flow.Both && p.Rate > p.Limits[0].Rate*slack:
		t.Fatalf("rate %v above its limit %+v", p.Rate, p.Limits[0])
	}
	for _, l := range p.Limits {
		if predict.Bad(l.Rate) || l.Low > 0 && l.Low > l.Rate*slack || l.High > 0 && l.High*slack < l.Rate {
			t.Fatalf("limit %v: %v to %v", l.Rate, l.Low, l.High)
		}
	}
}

// One more link never lowers the ceiling.
func TestLinkNeverLowersCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawWhole(t)
		links := len(f.Hosts["a"].UsablePorts("bond0"))
		more, err := whatif.Parse("links=" + string(rune('1'+rapid.IntRange(1, 4).Draw(t, "more")+links-1)))
		if err != nil {
			t.Fatal(err)
		}
		g, _, _, err := more.Apply(f, fabric.Measure{})
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Hosts["b"].UsablePorts("bond0")) < len(f.Hosts["b"].UsablePorts("bond0")) {
			return // b had more
		}
		was, _, err := predict.CeilingOf(f, predict.Between("a", "b", flow.Forward, 1), 0)
		if err != nil {
			return
		}
		is, _, err := predict.CeilingOf(g, predict.Between("a", "b", flow.Forward, 1), 0)
		if err != nil || is < was*(1-1e-9) {
			t.Fatalf("ceiling %v with fewer links, %v (%v) with more", was, is, err)
		}
	})
}

// A longer round trip, or more loss, never raises a rate.
func TestWorsePathNeverHelps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, tr := drawWhole(t), drawWholeTraffic(t)
		f.Paths[0].RTT = max(f.Paths[0].RTT, time.Microsecond)
		was, err := predict.Predict(f, tr)
		if err != nil {
			return
		}
		worse := rapid.SampledFrom([]string{"rtt", "loss"}).Draw(t, "worse")
		if worse == "rtt" {
			f.Paths[0].RTT = time.Duration(float64(f.Paths[0].RTT) * rapid.Float64Range(1, 20).Draw(t, "longer"))
		} else {
			f.Paths[0].Loss = math.Min(1, f.Paths[0].Loss*rapid.Float64Range(1, 20).Draw(t, "more")+1e-7)
		}
		is, err := predict.Predict(f, tr)
		slack := 1e-6
		if tr.Direction == flow.Both {
			slack = 0.02 // of shared cores one way takes what the other gives up, and uses it better
		}
		if err != nil || is.Rate > was.Rate*unit.BitRate(1+slack) || is.Ceiling > was.Ceiling*(1+1e-9) {
			t.Fatalf("%v %v; %v %v; %s: %.9g of %.9g, then %.9g of %.9g (%v)", was.Forward, was.Reverse, is.Forward, is.Reverse, worse, float64(was.Rate), float64(was.Ceiling), float64(is.Rate), float64(is.Ceiling), err)
		}
	})
}

// A larger receive and send buffer never lowers a rate, nor does a faster
// shaper or a faster link.
func TestMoreNeverHurts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, tr := drawWhole(t), drawWholeTraffic(t)
		tr.SocketBuffer = 0
		f.Paths[0].Rate = max(f.Paths[0].Rate, 1e9)
		less := rapid.SampledFrom([]string{"rmem=1Mi,wmem=1Mi", "rate=1G"}).Draw(t, "less")
		more := map[string]string{"rmem=1Mi,wmem=1Mi": "rmem=16Mi,wmem=16Mi", "rate=1G": "rate=7G"}[less]
		rate := func(text string) unit.BitRate {
			w, err := whatif.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			g, _, _, err := w.Apply(f, fabric.Measure{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := predict.Predict(g, tr)
			if err != nil {
				return -1
			}
			return p.Rate
		}
		if a, b := rate(less), rate(more); a >= 0 && b < a*(1-1e-6) {
			t.Fatalf("%v with %s, %v with %s", a, less, b, more)
		}
	})
}

// What one row teaches leaves that row as measured, and the numbers in order.
func TestCalibratedInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, tr := drawWhole(t), drawWholeTraffic(t)
		tr.Ports, tr.ChosenOnly, tr.Streams = predict.PortsChosen, true, min(tr.Streams, 5)
		p, err := predict.Predict(f, tr)
		if err != nil {
			return
		}
		share := rapid.Float64Range(0.2, 1).Draw(t, "measured share")
		c, err := calibrate.FromRow(f, calibrate.Measured{Traffic: tr, Rate: p.Rate * unit.BitRate(share)})
		if err != nil {
			t.Fatalf("below the prediction: %v", err)
		}
		if c.Settles != calibrate.Nothing && math.Abs(c.Residual) > 0.03 {
			t.Fatalf("settles %s (%s) and is %+.3f off", c.Settles, c.Why, c.Residual)
		}
		other := tr
		other.Streams = rapid.IntRange(1, 5).Draw(t, "other streams")
		q, err := c.Predict(f, other)
		if err != nil {
			t.Fatal(err)
		}
		inOrder(t, q)
	})
}

func benchFabric() predict.Fabric {
	b := testfabric.Bond{Ports: 2, Speed: 25e9, Mode: netstate.LACP, Policy: netstate.Layer34, Mtu: 9000, Kernel: "5.15"}
	a, z := b, b
	a.Name, a.Addrs = "a", []string{"10.0.0.1/24"}
	z.Name, z.Addrs = "b", []string{"10.0.0.2/24"}
	f := predict.JoinedHosts(a.Host(), z.Host(), 9*time.Millisecond, "layer3+4")
	f.Paths[0].Rate = 25e9
	return f
}

func BenchmarkCalibrate(b *testing.B) {
	f := benchFabric()
	for b.Loop() {
		if _, err := calibrate.FromRow(f, calibrate.Measured{Traffic: predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1}, Rate: 2.5e9}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWhatIf(b *testing.B) {
	f := benchFabric()
	w, err := whatif.Parse("mtu=1500,links=4,policy=layer2+3,rmem=64Mi")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, _, err := w.Apply(f, fabric.Measure{}); err != nil {
			b.Fatal(err)
		}
	}
}
