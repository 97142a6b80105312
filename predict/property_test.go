package predict

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/chance"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
	"pgregory.net/rapid"
)

func drawHost(t *rapid.T, name string, first int) netstate.Host {
	b := testfabric.Bond{
		Name:    name,
		Ports:   rapid.IntRange(1, 5).Draw(t, name+" ports"),
		Speed:   unit.BitRate(rapid.SampledFrom([]float64{0, 100e6, 1e9, 10e9, 25e9}).Draw(t, name+" speed")),
		Framing: rapid.SampledFrom([]netstate.Framing{netstate.FramingL1, netstate.FramingL2}).Draw(t, name+" framing"),
		Mode:    rapid.SampledFrom(netstate.BondModes()).Draw(t, name+" mode"),
		Policy:  rapid.SampledFrom(netstate.HashPolicies()).Draw(t, name+" policy"),
		Mtu:     rapid.SampledFrom([]int{0, 576, 1500, 9000}).Draw(t, name+" mtu"),
		Kernel:  rapid.SampledFrom([]string{"", "3.10", "5.4", "6.1", "6.18"}).Draw(t, name+" kernel"),
		Dynamic: rapid.Bool().Draw(t, name+" dynamic"),
	}
	for i := range rapid.IntRange(1, 4).Draw(t, name+" addresses") {
		b.Addrs = append(b.Addrs, fmt.Sprintf("10.0.0.%d/24", first+i))
	}
	h := b.Host()
	h.Rate = unit.BitRate(rapid.SampledFrom([]float64{0, 0, 3e9}).Draw(t, name+" rate"))
	h.CPU = netstate.CPU{Cores: rapid.IntRange(0, 4).Draw(t, name+" cores"), StreamRate: unit.BitRate(rapid.SampledFrom([]float64{0, 5e9}).Draw(t, name+" core"))}
	return h
}

func DrawFabric(t *rapid.T) Fabric {
	rtt := time.Duration(rapid.IntRange(0, 50000).Draw(t, "rtt us")) * time.Microsecond
	words := []string{"", "layer2", "layer2+3", "layer3+4", "encap3+4", "vlan+srcmac", "nonsense"}
	f := JoinedHosts(drawHost(t, "a", 1), drawHost(t, "b", 101), rtt, rapid.SampledFrom(words).Draw(t, "switch"))
	f.Paths[0].Rate = unit.BitRate(rapid.SampledFrom([]float64{0, 0, 2e9, 25e9}).Draw(t, "path rate"))
	return f
}

func Bad(r unit.BitRate) bool {
	return math.IsNaN(float64(r)) || math.IsInf(float64(r), 0) || r < 0
}

// TestPredictionHolds: whatever the fabric, the numbers are numbers and stand
// in the right order.
func TestPredictionHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := DrawFabric(t)
		tr := Traffic{
			From: "a", To: "b",
			Direction:    rapid.SampledFrom(flow.Directions()).Draw(t, "direction"),
			Streams:      rapid.IntRange(1, 12).Draw(t, "streams"),
			Protocol:     rapid.SampledFrom([]string{"", "tcp", "udp", "mptcp"}).Draw(t, "protocol"),
			Ports:        rapid.SampledFrom([]string{"", PortsChosen, PortsKernel}).Draw(t, "ports"),
			SocketBuffer: unit.Bytes(rapid.IntRange(0, 1<<24).Draw(t, "buffer")),
		}
		p, err := Predict(f, tr)
		if err != nil {
			return // nothing bounds it: said, not guessed
		}
		const slack = 1 + 1e-9
		for _, r := range []unit.BitRate{p.Rate, p.Ceiling, p.KernelPorts, p.KernelWorst, p.RateLow, p.RateHigh, p.Forward, p.Reverse} {
			if Bad(r) {
				t.Fatalf("bad rate in %+v", p)
			}
		}
		ways := 1.0
		if tr.Direction == flow.Both {
			ways = 2
		}
		switch {
		case p.Ceiling > 0 && p.Rate > p.Ceiling:
			t.Fatalf("rate %v above ceiling %v", p.Rate, p.Ceiling)
		case p.KernelWorst > p.KernelPorts*slack:
			t.Fatalf("worst %v above mean %v", p.KernelWorst, p.KernelPorts)
		case p.RateLow > p.Rate*slack:
			t.Fatalf("low %v above %v", p.RateLow, p.Rate)
		case len(p.Limits) == 0 || p.Limit != p.Limits[0].Cause || p.Limit == record.Unknown:
			t.Fatalf("limit %q of %+v", p.Limit, p.Limits)
		case ways == 1 && p.Rate > p.Limits[0].Rate*slack:
			t.Fatalf("rate %v above its limit %+v", p.Rate, p.Limits[0])
		}
		var sent, received unit.BitRate
		for i, l := range p.Limits {
			if Bad(l.Rate) || l.Where == "" || l.Why == "" {
				t.Fatalf("limit %+v", l)
			}
			if next := i + 1; next < len(p.Limits) && p.Limits[next].Rate > 0 && l.Rate > p.Limits[next].Rate*(1+openTie)*slack {
				t.Fatalf("limits out of order: %+v", p.Limits)
			}
		}
		for _, l := range p.Links {
			if l.Transmit {
				sent += l.Load
			} else {
				received += l.Load
			}
		}
		if !near(sent, float64(p.Rate), 1e-6) || !near(received, float64(p.Rate), 1e-6) {
			t.Fatalf("links carry %v and %v of %v", sent, received, p.Rate)
		}
	})
}

// noPortChoice reports traffic that no choice of ports can spread: luck
// places it, or addresses do at both ends and may cross streams on two links
// that each other stream has alone.
func noPortChoice(f Fabric) bool {
	w, err := newWay(f, Traffic{From: "a", To: "b", Streams: 1}, flow.Forward)
	if err != nil {
		return true
	}
	out, in := w.out.uses[0].spread, w.in.uses[0].spread
	return out == byChance || in == byChance || out == byAddress && in == byAddress
}

// TestMoreStreamsNeverLower: with chosen ports another stream never costs.
func TestMoreStreamsNeverLower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := DrawFabric(t)
		if noPortChoice(f) {
			t.Skip("ports cannot be chosen")
		}
		before := unit.BitRate(0)
		for n := 1; n <= 10; n++ {
			p, err := Predict(f, Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: n})
			if err != nil {
				return
			}
			if p.Rate < before*(1-1e-9) {
				t.Fatalf("%d streams: %v, one fewer: %v", n, p.Rate, before)
			}
			before = p.Rate
		}
	})
}

// TestMeanOfChance: the enumeration agrees with the closed form, and drawing
// agrees with the enumeration.
func TestMeanOfChance(t *testing.T) {
	for _, c := range []struct{ links, streams int }{{2, 2}, {2, 16}, {3, 5}, {4, 8}, {8, 8}, {8, 40}, {4, 300}, {8, 1000}, {8, 100}, {2, 5000}} {
		cells := make([]int, c.links)
		for i := range cells {
			cells[i] = i
		}
		used, sum := 0.0, 0.0
		chance.Outcomes([]chance.Group{{Streams: c.streams, Classes: []chance.Class{{Cells: cells, Weight: 1}}}}, c.links, func(counts []float64, p float64) {
			sum += p
			for _, n := range counts {
				if n > 0 {
					used += p
				}
			}
		})
		n := float64(c.links)
		want := n * (1 - math.Pow(1-1/n, float64(c.streams)))
		tolerance := 1e-9
		if chance.Compositions(c.streams, c.links) > chance.MostComputed {
			tolerance = 0.01
		}
		if math.Abs(sum-1) > 1e-9 || math.Abs(used-want) > tolerance*want {
			t.Errorf("%d links, %d streams: %.4f used (probabilities %.6f); want %.4f", c.links, c.streams, used, sum, want)
		}
	}
}
