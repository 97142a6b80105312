package predict

import (
	"math"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
	"pgregory.net/rapid"
)

func lossy(rtt time.Duration, loss float64) Fabric {
	f := JoinedHosts(testfabric.Plain("a", 10e9, 1500, "10.0.0.1/24"), testfabric.Plain("b", 10e9, 1500, "10.0.0.2/24"), rtt, "")
	f.Paths[0].Loss = loss
	return f
}

func TestLoss(t *testing.T) {
	const rtt = 10 * time.Millisecond
	f := lossy(rtt, 1e-3)
	netem := lossy(rtt, 0)
	h := netem.Hosts["a"].Clone()
	h.Links[0].Qdiscs = []netstate.Qdisc{{Kind: "netem", Parent: "root", Loss: 1e-3}}
	netem.Hosts["a"] = h
	line := 10e9 * 1448 / 1538.0
	for _, c := range []struct {
		name  string
		f     Fabric
		t     Traffic
		want  float64
		limit record.Cause
	}{
		// 10.3 ms with what the hosts add.
		{"cubic", f, Traffic{Streams: 1}, 39.4 * 1448 * 8 / 0.0103, record.Congestion},
		{"reno", f, Traffic{Streams: 1, Congestion: "reno"}, 1.07 * 38.7 * 1448 * 8 / 0.0103, record.Congestion},
		{"eight", f, Traffic{Streams: 8}, 8 * 39.4 * 1448 * 8 / 0.0103, record.Congestion},
		{"bbr", f, Traffic{Streams: 2, Congestion: "bbr"}, 2 * 3 << 20 * 8 / 0.0103, record.ReceiveWindow},
		{"the sender's sysctl", lossy(rtt, 1e-3).Set("a", "net.ipv4.tcp_congestion_control", "bbr"), Traffic{Streams: 2}, 2 * 3 << 20 * 8 / 0.0103, record.ReceiveWindow},
		{"udp", f, Traffic{Streams: 1, Protocol: "udp"}, 10e9 * 1472 / 1538 * 0.999, record.LineRate},
		{"netem drops large pieces", netem, Traffic{Streams: 1}, 400e6, record.Congestion},
		{"none", lossy(rtt, 0), Traffic{Streams: 16}, line, record.LineRate},
		{"round trip unknown", lossy(0, 1e-3), Traffic{Streams: 1}, line * 0.999, record.LineRate},
		{"the window is nearer", f, Traffic{Streams: 1, SocketBuffer: 16 << 10}, 16 << 10 * 8 / 0.0103, record.ReceiveWindow},
	} {
		p := mustPredict(t, c.f, c.t)
		tolerance := 0.03
		if c.name == "netem drops large pieces" {
			tolerance = 0.5
		}
		if !near(p.Rate, c.want, tolerance) || p.Limit != c.limit {
			t.Errorf("%s: %v, %s; want %v, %s\n%+v", c.name, p.Rate, p.Limit, unit.BitRate(c.want), c.limit, p.Limits[0])
		}
		if p.Limit == record.Congestion && (p.RateLow >= p.Rate || p.RateHigh <= p.Rate || p.RangeWhy == "") {
			t.Errorf("%s: %v (%v to %v: %s); want a range", c.name, p.Rate, p.RateLow, p.RateHigh, p.RangeWhy)
		}
	}
}

// TestLossMeets: where loss and a window or a link lie close, less than
// either is left, and a lab's streams had that: Linux 6.1, CUBIC, RTT 10 ms,
// 0.03 % of single packets: 81.8 Mbit/s on a link of 95.6, and 74.4 with a
// receive buffer of 256 KiB.
func TestLossMeets(t *testing.T) {
	f := lossy(10*time.Millisecond, 3e-4)
	for name, h := range f.Hosts {
		h.Links[0].Framing = netstate.FramingL2
		f.Hosts[name] = h
	}
	p := mustPredict(t, f, Traffic{Streams: 1, SocketBuffer: 128 << 10})
	if !near(p.Rate, 74.4e6, 0.06) {
		t.Errorf("beside a window: %v; measured 74.4 Mbit/s\n%+v", p.Rate, p.Limits)
	}
	for name, h := range f.Hosts {
		h.Links[0].Speed = 100e6
		f.Hosts[name] = h
	}
	p = mustPredict(t, f, Traffic{Streams: 1})
	if !near(p.Rate, 81.8e6, 0.05) || p.Limit != record.Congestion {
		t.Errorf("beside a link: %v, %s; measured 81.8 Mbit/s\n%+v", p.Rate, p.Limit, p.Limits[0])
	}
	f.Paths[0].Loss = 1e-3
	if p = mustPredict(t, f, Traffic{Streams: 4}); !near(p.Rate, 95.5e6, 0.02) || p.Limit != record.LineRate {
		t.Errorf("four streams: %v, %s; measured 95.5 Mbit/s", p.Rate, p.Limit)
	}
}

func TestPacing(t *testing.T) {
	f := lossy(time.Millisecond, 0)
	p := mustPredict(t, f, Traffic{Streams: 2, Pace: 1e9})
	if p.Rate != 2e9 || p.Limit != record.Pacing {
		t.Errorf("paced: %v, %s", p.Rate, p.Limit)
	}
	h := f.Hosts["a"].Clone()
	h.Links[0].Qdiscs = []netstate.Qdisc{{Kind: "fq", Parent: "root", FlowRate: 100e6}}
	f.Hosts["a"] = h
	p = mustPredict(t, f, Traffic{Streams: 3})
	if !near(p.Rate, 3*100e6*1448/1514, 1e-6) || p.Limit != record.Pacing || p.RateLow != 0 {
		t.Errorf("fq: %v, %s", p.Rate, p.Limit)
	}
	if p = mustPredict(t, f, Traffic{Streams: 3, Direction: flow.Reverse}); p.Limit == record.Pacing {
		t.Errorf("fq of the receiver: %v, %s", p.Rate, p.Limit)
	}
}

// TestLossOrder: more loss, or a longer way, never gives more, and one more
// stream never less.
func TestLossOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := DrawFabric(t)
		if noPortChoice(f) {
			t.Skip("ports cannot be chosen")
		}
		tr := Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: rapid.IntRange(1, 8).Draw(t, "streams"),
			Congestion: rapid.SampledFrom([]string{"", "reno", "bbr", "other"}).Draw(t, "congestion")}
		loss := math.Pow(10, -rapid.Float64Range(1, 6).Draw(t, "loss"))
		rtt := time.Duration(math.Pow(10, rapid.Float64Range(5, 8).Draw(t, "rtt")))
		rate := func(loss float64, rtt time.Duration, streams int) unit.BitRate {
			g := f
			g.Paths = append(g.Paths[:0:0], f.Paths...)
			g.Paths[0].Loss, g.Paths[0].RTT = loss, rtt
			tr.Streams = streams
			p, err := Predict(g, tr)
			if err != nil {
				t.Skip("nothing bounds it")
			}
			return p.Rate
		}
		const slack = 1 - 1e-6
		base := rate(loss, rtt, tr.Streams)
		more := rapid.Float64Range(1, 4).Draw(t, "more")
		for what, other := range map[string][2]unit.BitRate{
			"loss":    {base, rate(min(loss*more, 0.5), rtt, tr.Streams)},
			"rtt":     {base, rate(loss, time.Duration(float64(rtt)*more), tr.Streams)},
			"streams": {rate(loss, rtt, tr.Streams+1), base},
		} {
			if other[0] < other[1]*slack {
				t.Fatalf("%s: loss %g, %v, %d streams: %.9g; more of it: %.9g bit/s", what, loss, rtt, tr.Streams, float64(other[0]), float64(other[1]))
			}
		}
	})
}

// A rate that loss makes uncertain says so, also where what loss leaves by
// itself lies well above it.
func TestLossFarAboveSaysWhy(t *testing.T) {
	b := testfabric.Plain("b", 10e9, 1500, "10.0.0.2/24")
	b.CPU = netstate.CPU{Cores: 1, StreamRate: 5e9}
	ranges := 0
	for loss := 0.0001; loss < 0.3; loss *= 1.1 {
		b.Links[0].Qdiscs = []netstate.Qdisc{{Kind: "netem", Parent: "root", Loss: loss}}
		f := JoinedHosts(b, testfabric.Plain("a", 10e9, 1500, "10.0.0.1/24"), 50*time.Microsecond, "")
		p := mustPredict(t, f, Traffic{From: "b", To: "a", Streams: 3})
		if p.RateHigh == 0 {
			continue
		}
		ranges++
		if p.RangeWhy == "" {
			t.Errorf("loss %.5f: %v in %v to %v, and no reason", loss, p.Rate, p.RateLow, p.RateHigh)
		}
	}
	if ranges == 0 {
		t.Error("nothing is uncertain")
	}
}

// Where one of the ports that a flow is striped over has no fq, the most is
// all ports' rate, and never below the middle.
func TestFlowRateOfStripes(t *testing.T) {
	a := testfabric.Bond{Name: "a", Ports: 2, Speed: 100e6, Mode: netstate.BalanceRR, Mtu: 1500, Kernel: "6.1", Addrs: []string{"10.0.0.1/24"}}.Host()
	a.Links[0].Qdiscs = []netstate.Qdisc{{Kind: "fq", Parent: "root", FlowRate: 300e6}}
	p := mustPredict(t, JoinedHosts(a, testfabric.Plain("b", 1e9, 1500, "10.0.0.2/24"), time.Millisecond, ""), Traffic{Streams: 1})
	for _, l := range p.Limits {
		if l.Cause == record.Pacing && l.High < l.Rate {
			t.Errorf("pacing %v, at most %v", l.Rate, l.High)
		}
	}
	if p.Rate < 150e6 {
		t.Errorf("%v, want both ports", p.Rate)
	}
}

// Where BBR gives up at single losses and would not at bursts, the most is a
// number still.
func TestBBRBurstsAreBounded(t *testing.T) {
	f := JoinedHosts(testfabric.Plain("a", 1e9, 1500, "10.0.0.1/24"), testfabric.Plain("b", 1e9, 1500, "10.0.0.2/24"), time.Millisecond, "")
	f.Paths[0].Loss = 0.3
	p := mustPredict(t, f.Set("a", "net.ipv4.tcp_congestion_control", "bbr"), Traffic{Streams: 1})
	found := false
	for _, l := range p.Limits {
		if l.Cause == record.Congestion {
			found = true
			if Bad(l.High) || l.High <= l.Rate || l.High > 1e9 {
				t.Errorf("at most %v", l.High)
			}
		}
	}
	if !found {
		t.Errorf("no limit by loss: %+v", p.Limits)
	}
}

// TestDoubtsOfLoss: timeouts widen the range where losses are many, delayed
// acknowledgements where the kernel may count them.
func TestDoubtsOfLoss(t *testing.T) {
	for _, c := range []struct {
		what      string
		loss      float64
		older     bool
		low, high float64 // of the middle, the least
	}{
		{"few losses", 1e-5, false, 0.86, 0.89},
		{"many losses cost timeouts", 0.05, false, 0.70, 0.80},
		{"acknowledgements may count", 1e-5, true, 0.70, 0.72},
	} {
		f := tcp.LossyFlow{Packets: c.loss, RTT: 10 * time.Millisecond, Bytes: 1448, Answer: tcp.AsReno, Older: c.older, Sack: true}
		e := f.Estimate("reno", 0)
		if share := float64(e.Low / e.Rate); share < c.low || share > c.high {
			t.Errorf("%s: at least %.3f of the middle; want %.2f to %.2f", c.what, share, c.low, c.high)
		}
	}
}

// A flow that is striped over ports has what fq leaves it on each.
func TestFlowRateAddsOverStripes(t *testing.T) {
	a := testfabric.Bond{Name: "a", Ports: 2, Speed: 1e9, Mode: netstate.BalanceRR, Mtu: 1500, Kernel: "6.1", Addrs: []string{"10.0.0.1/24"}}.Host()
	for i := range 2 {
		a.Links[i].Qdiscs = []netstate.Qdisc{{Kind: "fq", Parent: "root", FlowRate: 300e6}}
	}
	p := mustPredict(t, JoinedHosts(a, testfabric.Plain("b", 10e9, 1500, "10.0.0.2/24"), time.Millisecond, ""), Traffic{Streams: 1})
	if want := 600e6 * 1448 / 1514.0; !near(p.Rate, want, 1e-6) || p.Limit != record.Pacing {
		t.Errorf("%v, %s; want both ports' %v", p.Rate, p.Limit, unit.BitRate(want))
	}
}
