package predict

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// striping is two hosts with a round-robin bond of so many ports each.
func striping(ports, mtu int, speed unit.BitRate, kernel string, card bool) Fabric {
	b := testfabric.Bond{Ports: ports, Speed: speed, Mode: netstate.BalanceRR, Mtu: mtu, Kernel: kernel}
	if card {
		b.Card = "c0"
	}
	a, z := b, b
	a.Name, a.Addrs = "a", []string{"10.0.0.1/24"}
	z.Name, z.Addrs = "b", []string{"10.0.0.2/24"}
	f := JoinedHosts(a.Host(), z.Host(), 0, "")
	for name, h := range f.Hosts {
		if card {
			h.Cards = []netstate.Card{{Name: "c0", Generation: 2, Lanes: 4, MaxPayload: 256}}
		}
		f.Hosts[name] = h
	}
	return f
}

// emulated is the fabric with ports that no card brings packets to, as the lab's.
func emulated(f Fabric) Fabric {
	for name, h := range f.Hosts {
		h = h.Clone()
		for i := range h.Links {
			if h.Links[i].Master != "" {
				h.Links[i].Kind = "veth"
			}
		}
		f.Hosts[name] = h
	}
	return f
}

// TestStriped: the published streams over round-robin bonds, and the lab's.
func TestStriped(t *testing.T) {
	for _, c := range []struct {
		what              string
		f                 Fabric
		streams           int
		measured, within  float64
		limit             record.Cause
		spreads, inBounds bool
	}{
		{"one card, MTU 1500", striping(2, 1500, 10e9, "3.10", true), 1, 11.3e9, 0.15, record.Reordering, true, true},
		{"one card, MTU 9000", striping(2, 9000, 10e9, "3.10", true), 1, 13.9e9, 0.05, record.CardSlot, false, false},
		{"two cards, MTU 9000", striping(2, 9000, 10e9, "3.10", false), 1, 20e9, 0.05, record.LineRate, true, false},
		{"three cards, MTU 9000", striping(3, 9000, 10e9, "3.10", false), 1, 30e9, 0.05, record.LineRate, true, false},
		{"lab, RTT 0", emulated(striping(2, 1500, 101.58e6, "6.1", false)), 1, 176e6, 0.05, record.Reordering, true, true},
		{"lab, four links", emulated(striping(4, 1500, 101.58e6, "6.1", false)), 1, 352e6, 0.05, record.Reordering, true, true},
		{"lab, four links and streams", emulated(striping(4, 1500, 101.58e6, "6.1", false)), 4, 375e6, 0.05, record.Reordering, true, true},
		{"lab, the worst", emulated(striping(2, 1500, 527.7e6, "6.1", false)), 1, 742e6, 0.3, record.Reordering, true, true},
		{"I210, 0.3 ms", striping(2, 1500, 1e9, "6.8", false), 1, 1.19e9, 0.40, record.Reordering, true, true},
		{"I210, four streams", striping(2, 1500, 1e9, "6.8", false), 4, 1.80e9, 0.02, record.Reordering, true, true},
		{"two gigabit ports", striping(2, 1500, 1e9, "5.4", false), 1, 1.881e9, 0.15, record.Reordering, true, true},
		{"three gigabit ports", striping(3, 1500, 1e9, "5.4", false), 1, 1.856e9, 0.30, record.Reordering, true, true},
		{"three direct cables", striping(3, 1500, 1e9, "4.19", false), 1, 2.25e9, 0.10, record.Reordering, true, true},
		{"seven direct cables", striping(7, 1500, 1e9, "4.19", false), 1, 2.25e9, 0.10, record.Reordering, true, true},
		{"four gigabit ports", striping(4, 1500, 1e9, "5.4", false), 1, 2.227e9, 0.10, record.Reordering, true, true},
		{"four gigabit ports, the other way", striping(4, 1500, 1e9, "5.4", false), 1, 3.117e9, 0.30, record.Reordering, true, true},
	} {
		p := mustPredict(t, c.f, Traffic{Streams: c.streams})
		if !near(p.Rate, c.measured, c.within) || p.Limit != c.limit {
			t.Errorf("%s: %v, %s; measured %v, %s\n%+v", c.what, p.Rate, p.Limit, unit.BitRate(c.measured), c.limit, p.Limits)
		}
		m := unit.BitRate(c.measured)
		if c.spreads && (p.RateLow >= p.Rate || !strings.Contains(p.RangeWhy, "order")) || c.inBounds && (m < p.RateLow || m > p.RateHigh) {
			t.Errorf("%s: %v to %v (%s); want a range around %v", c.what, p.RateLow, p.RateHigh, p.RangeWhy, m)
		}
		if p.Rate > p.Ceiling || p.RateHigh > p.Ceiling {
			t.Errorf("%s: %v to %v above %v", c.what, p.Rate, p.RateHigh, p.Ceiling)
		}
	}
}

// TestStripedCalibrated: a calibrated core leaves no doubt, and UDP no order.
func TestStripedCalibrated(t *testing.T) {
	f := striping(4, 1500, 25e9, "6.1", false)
	h := f.Hosts["b"]
	h.CPU.PacketRate = 2e6
	f.Hosts["b"] = h
	p := mustPredict(t, f, Traffic{Streams: 1})
	if !near(p.Limits[0].Rate, 2e6*1448*8, 1e-6) || p.Limit != record.Reordering && p.Limit != record.ReceiverCPU || p.Limits[0].Low != 0 {
		t.Errorf("%v, %+v", p.Rate, p.Limits[0])
	}
	if u := mustPredict(t, striping(2, 1500, 1e9, "6.1", false), Traffic{Streams: 1, Protocol: "udp"}); u.Limit == record.Reordering {
		t.Errorf("udp: %v", u.Limits[0])
	}
	old := mustPredict(t, striping(4, 1500, 1e9, "3.10", false), Traffic{Streams: 1})
	if one := 1e9 * 1448 / 1538.0; !near(old.Limits[0].Low, 2.3*one, 0.01) {
		t.Errorf("old kernel: at least %v; bonding.rst expects 2.3 of 4 links", old.Limits[0].Low)
	}
	bbr := mustPredict(t, striping(2, 1500, 1e9, "6.1", false), Traffic{Streams: 1, Congestion: "bbr"})
	if cubic := mustPredict(t, striping(2, 1500, 1e9, "6.1", false), Traffic{Streams: 1}); bbr.Limits[0].Low <= cubic.Limits[0].Low {
		t.Errorf("bbr at least %v, cubic %v", bbr.Limits[0].Low, cubic.Limits[0].Low)
	}
}

// TestKernelChances: P(perfect split) is 1/2 for two flows on two links, 3/8
// for four, 0.273 for eight, and 3/32 for four on four.
func TestKernelChances(t *testing.T) {
	for _, c := range []struct {
		links, flows int
		even         float64
		most         int
		probability  float64
	}{
		{2, 2, 0.5, 2, 0.5}, {2, 4, 0.375, 2, 0.875}, {2, 8, 70.0 / 256, 2, 1 - 2.0/256}, {4, 4, 24.0 / 256, 4, 24.0 / 256},
	} {
		p := mustPredict(t, hashed(c.links, "6.1"), Traffic{Streams: c.flows, Ports: PortsKernel})
		var sum float64
		var mean unit.BitRate
		for _, k := range p.KernelChances {
			sum += k.Probability
			mean += k.Rate * unit.BitRate(k.Probability)
		}
		if len(p.KernelChances) == 0 {
			t.Fatalf("%+v: no chances in %+v", c, p)
		}
		best := p.KernelChances[0]
		if !near(unit.BitRate(best.Even), c.even, 1e-6) || best.Links != c.most || !near(unit.BitRate(best.Probability), c.probability, 1e-6) ||
			!near(unit.BitRate(sum), 1, 1e-6) || !near(mean, float64(p.KernelPorts), 0.01) {
			t.Errorf("%d flows on %d links: %+v (sum %.3f, mean %v of %v)", c.flows, c.links, p.KernelChances, sum, mean, p.KernelPorts)
		}
	}
}

func hashed(links int, kernel string) Fabric {
	b := testfabric.Bond{Ports: links, Speed: 1e9, Mode: netstate.LACP, Policy: netstate.Layer34, Mtu: 1500, Kernel: kernel}
	a, z := b, b
	a.Name, a.Addrs = "a", []string{"10.0.0.1/24"}
	z.Name, z.Addrs = "b", []string{"10.0.0.2/24"}
	return JoinedHosts(a.Host(), z.Host(), time.Millisecond, "layer3+4")
}

// TestEvenPorts: kernels that hash the lowest bit of the port put all even
// ports of a neighbourhood on one of two links; before they were all even,
// and since the bit is dropped, flows spread.
func TestEvenPorts(t *testing.T) {
	const one = 1e9 * 1448 / 1538
	for kernel, links := range map[string]float64{"4.9.50": 1, "4.14.0-rc1": 1, "4.19": 1.875, "5.10": 1.875, "6.1": 1.875, "3.10": 1.875} {
		p := mustPredict(t, hashed(2, kernel), Traffic{Streams: 4, Ports: PortsKernel})
		// A run of ports may cross into the next 256, whose side is the other.
		if got := float64(p.Rate) / one; got < links-0.01 || got > links+0.2 {
			t.Errorf("%s: %.3f links; want %.3f", kernel, got, links)
		}
	}
	p := mustPredict(t, hashed(2, "4.9.50"), Traffic{Streams: 4, Direction: flow.Forward})
	if !near(p.Rate, 2*one, 1e-6) {
		t.Errorf("chosen ports: %v", p.Rate)
	}
}

// A port of unknown speed leaves a striped bond bound by the ports that are
// known.
func TestStripedOverUnknownPort(t *testing.T) {
	a := testfabric.Bond{Name: "a", Ports: 2, Speed: 1e9, Mode: netstate.BalanceRR, Mtu: 1500, Kernel: "6.1", Addrs: []string{"10.0.0.1/24"}}.Host()
	a.Links[0].Speed = 0
	p := mustPredict(t, JoinedHosts(a, testfabric.Plain("b", 0, 1500, "10.0.0.2/24"), time.Millisecond, ""), Traffic{Streams: 1, Protocol: "udp"})
	if want := 2 * 1e9 * 1472 / 1538.0; !near(p.Rate, want, 1e-6) || !near(p.Limits[0].Rate, want, 1e-6) || p.Limit != record.LineRate {
		t.Errorf("%v, %s: %+v", p.Rate, p.Limit, p.Limits[0])
	}
}
