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
	"pgregory.net/rapid"
)

// cored is two hosts on 100 Gbit/s whose processors and offloads are given.
func cored(mtu int, a, b netstate.CPU, offA, offB map[string]bool) Fabric {
	f := JoinedHosts(testfabric.Plain("a", 100e9, mtu, "10.0.0.1/24"), testfabric.Plain("b", 100e9, mtu, "10.0.0.2/24"), 0, "")
	set := func(name string, c netstate.CPU, off map[string]bool) {
		h := f.Hosts[name]
		h.CPU, h.Links[0].Offloads = c, off
		f.Hosts[name] = h
	}
	set("a", a, offA)
	set("b", b, offB)
	return f
}

// TestCoreOfOneStream: bytes and packets are two costs of a core; which of them
// count depends on whether the links join packets.
func TestCoreOfOneStream(t *testing.T) {
	const stream, packet = 30e9, 1e6
	c := netstate.CPU{Cores: 8, StreamRate: stream, PacketRate: packet}
	bytesOnly := netstate.CPU{Cores: 8, StreamRate: stream}
	slow := func(payload float64) float64 { return payload * 8 / (payload*8/stream + 1/packet) }
	none := map[string]bool{"gro": false, "lro": false, "tso": false, "gso": false}
	all := map[string]bool{"gro": true, "tso": true, "gso": true}
	for _, tt := range []struct {
		name            string
		f               Fabric
		protocol        string
		rate, low, high float64 // zero low and high: certain
		cause           record.Cause
		why             string
	}{
		{"nothing known of packets", cored(1500, bytesOnly, netstate.CPU{}, nil, nil), "", stream, 0, 0, record.SenderCPU, ""},
		{"nothing joins, packets unknown", cored(1500, bytesOnly, netstate.CPU{}, none, nil), "", stream, 0, 0, record.SenderCPU, ""},
		{"sender, nothing joins", cored(1500, c, netstate.CPU{}, none, nil), "", slow(1448), 0, 0, record.SenderCPU, ""},
		{"sender, nothing joins, large packets", cored(9000, c, netstate.CPU{}, none, nil), "", slow(8948), 0, 0, record.SenderCPU, ""},
		{"sender, offloads unknown", cored(1500, c, netstate.CPU{}, nil, nil), "", stream, slow(1448), stream, record.SenderCPU, "join packets"},
		{"sender, TSO", cored(1500, c, netstate.CPU{}, all, nil), "", stream, slow(1448), stream, record.SenderCPU, "without a card"},
		{"sender, GSO alone", cored(1500, c, netstate.CPU{}, map[string]bool{"tso": false, "gso": true}, nil), "", stream, slow(1448), stream, record.SenderCPU, "join packets"},
		{"receiver, nothing joins", cored(1500, netstate.CPU{}, c, nil, none), "", slow(1448), slow(1448) / 1, 1448 * 8 * packet, record.ReceiverCPU, "software interrupts"},
		{"receiver, GRO", cored(1500, netstate.CPU{}, c, nil, all), "", stream, slow(1448), stream, record.ReceiverCPU, "without a card"},
		{"UDP, offloads or not", cored(1500, c, netstate.CPU{}, none, nil), "udp", stream, slow(1472), stream, record.SenderCPU, "datagrams"},
	} {
		p := mustPredict(t, tt.f, Traffic{Streams: 1, Protocol: tt.protocol})
		if !near(p.Rate, tt.rate, 1e-6) || p.Limit != tt.cause {
			t.Errorf("%s: %v, %s; want %v, %s", tt.name, p.Rate, p.Limit, unit.BitRate(tt.rate), tt.cause)
		}
		if tt.low == 0 && (p.RateLow != 0 || p.RateHigh != 0) || tt.low > 0 && (!near(p.RateLow, tt.low, 1e-6) || !near(p.RateHigh, tt.high, 1e-6)) {
			t.Errorf("%s: %v to %v; want %v to %v", tt.name, p.RateLow, p.RateHigh, unit.BitRate(tt.low), unit.BitRate(tt.high))
		}
		if (tt.why == "") != (p.RangeWhy == "") || !strings.Contains(p.RangeWhy, tt.why) {
			t.Errorf("%s: reason %q, want %q in it", tt.name, p.RangeWhy, tt.why)
		}
	}
}

// TestCoresOfManyStreams: a host's cores are shared by its streams, those of
// the other direction included; software interrupts may take half.
func TestCoresOfManyStreams(t *testing.T) {
	c := netstate.CPU{Cores: 2, StreamRate: 10e9}
	sends, receives := cored(9000, c, netstate.CPU{}, nil, nil), cored(9000, netstate.CPU{}, c, nil, nil)
	for _, tt := range []struct {
		name      string
		f         Fabric
		d         flow.Direction
		streams   int
		rate, low float64
		limit     record.Cause
	}{
		{"one stream sent", sends, flow.Forward, 1, 10e9, 0, record.SenderCPU},
		{"more streams than cores", sends, flow.Forward, 8, 20e9, 0, record.SenderCPU},
		{"one stream received", receives, flow.Forward, 1, 10e9, 0, record.ReceiverCPU},
		{"many received", receives, flow.Forward, 8, 20e9, 10e9, record.ReceiverCPU},
		{"one each way, a core each", sends, flow.Both, 1, 20e9, 10e9, record.SenderCPU},
		{"four each way share two cores", sends, flow.Both, 4, 20e9, 10e9, record.SenderCPU},
	} {
		p := mustPredict(t, tt.f, Traffic{Streams: tt.streams, Direction: tt.d})
		cause := p.Limit == tt.limit || tt.d == flow.Both && (p.Limit == record.SenderCPU || p.Limit == record.ReceiverCPU)
		if !near(p.Rate, tt.rate, 1e-6) || !cause {
			t.Errorf("%s: %v, %s; want %v, %s", tt.name, p.Rate, p.Limit, unit.BitRate(tt.rate), tt.limit)
		}
		if tt.low == 0 && p.RateLow != 0 || tt.low > 0 && !near(p.RateLow, tt.low, 1e-6) {
			t.Errorf("%s: at least %v; want %v", tt.name, p.RateLow, unit.BitRate(tt.low))
		}
	}
}

// TestCoresNotKnown: one entry says so for both hosts, the last of the ladder,
// and none when both were calibrated.
func TestCoresNotKnown(t *testing.T) {
	c := netstate.CPU{Cores: 2, StreamRate: 10e9}
	count := func(p Prediction) (n int, where string) {
		for _, l := range p.Limits {
			if strings.Contains(l.Why, "inspect --calibrate") {
				n, where = n+1, l.Where
			}
		}
		return n, where
	}
	for _, tt := range []struct {
		name  string
		f     Fabric
		n     int
		where string
	}{
		{"neither", cored(1500, netstate.CPU{}, netstate.CPU{}, nil, nil), 1, "a, b"},
		{"one of them", cored(1500, c, netstate.CPU{Cores: 4}, nil, nil), 1, "b"},
		{"both", cored(1500, c, c, nil, nil), 0, ""},
	} {
		for _, d := range flow.Directions() {
			p := mustPredict(t, tt.f, Traffic{Streams: 4, Direction: d})
			if n, where := count(p); n != tt.n || where != tt.where {
				t.Errorf("%s known, %s: %d entries, of %q; want %d of %q", tt.name, d, n, where, tt.n, tt.where)
			}
			if last := p.Limits[len(p.Limits)-1]; tt.n > 0 && (last.Cause != record.Unknown || last.Where != tt.where) {
				t.Errorf("%s known, %s: the last is %+v", tt.name, d, last)
			}
		}
	}
}

// TestCoresMonotone: more cores, a faster core or one more stream never lower
// what is expected, nor either end of its range.
func TestCoresMonotone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		draw := func(name string) netstate.CPU {
			return netstate.CPU{
				Cores:      rapid.IntRange(1, 16).Draw(r, name+" cores"),
				StreamRate: unit.BitRate(rapid.Float64Range(1e8, 1e11).Draw(r, name+" stream rate")),
				PacketRate: rapid.SampledFrom([]float64{0, 1e5, 1e6, 1e7}).Draw(r, name+" packet rate"),
			}
		}
		offloads := rapid.SampledFrom([]map[string]bool{nil, {"tso": true, "gro": true}, {"tso": false, "gso": false, "gro": false, "lro": false}})
		a, b, offA, offB := draw("a"), draw("b"), offloads.Draw(r, "a offloads"), offloads.Draw(r, "b offloads")
		mtu := rapid.SampledFrom([]int{576, 1500, 9000}).Draw(r, "mtu")
		tr := Traffic{
			Direction: rapid.SampledFrom(flow.Directions()).Draw(r, "direction"),
			Streams:   rapid.IntRange(1, 32).Draw(r, "streams"), Protocol: rapid.SampledFrom([]string{"", "udp"}).Draw(r, "protocol"),
		}
		base := mustPredict(t, cored(mtu, a, b, offA, offB), tr)
		if low, high := base.RateLow, base.RateHigh; low > base.Rate*(1+1e-9) || high > 0 && high < base.Rate*(1-1e-9) {
			r.Fatalf("%v is not within %v and %v", base.Rate, low, high)
		}
		more, faster, oneMore := b, b, tr
		more.Cores++
		faster.StreamRate *= 1.5
		oneMore.Streams++
		for name, p := range map[string]Prediction{
			"one more core":   mustPredict(t, cored(mtu, a, more, offA, offB), tr),
			"a faster core":   mustPredict(t, cored(mtu, a, faster, offA, offB), tr),
			"one more stream": mustPredict(t, cored(mtu, a, b, offA, offB), oneMore),
		} {
			const slack = 1 - 2*Differs // ends of a range nearer than differs are not said
			if p.Rate < base.Rate*(1-1e-9) || least(p) < least(base)*slack || most(p) < most(base)*slack {
				r.Fatalf("%s: %v (%v to %v), it was %v (%v to %v)", name, p.Rate, least(p), most(p), base.Rate, least(base), most(base))
			}
		}
	})
}

func least(p Prediction) unit.BitRate {
	if p.RateLow > 0 {
		return p.RateLow
	}
	return p.Rate
}

func most(p Prediction) unit.BitRate { return max(p.Rate, p.RateHigh) }

// TestCoreOnWorstHardware: figures without sense are no reason to fail.
func TestCoreOnWorstHardware(t *testing.T) {
	for _, c := range []netstate.CPU{
		{Cores: -3, StreamRate: 1e9}, {Cores: 1, StreamRate: 1e9, PacketRate: math.Inf(1)}, {Cores: 1, StreamRate: 1e9, PacketRate: math.NaN()},
		{Cores: 1, StreamRate: 1e9, PacketRate: -1}, {Cores: math.MaxInt, StreamRate: 1e300, PacketRate: 1e-300},
	} {
		p := mustPredict(t, cored(1500, c, c, nil, map[string]bool{"gro": false, "lro": false}), Traffic{Streams: 2, Direction: flow.Both})
		if Bad(p.Rate) || Bad(p.RateLow) || Bad(p.RateHigh) || p.Rate > p.Ceiling {
			t.Errorf("%+v: %v (%v to %v) of %v", c, p.Rate, p.RateLow, p.RateHigh, p.Ceiling)
		}
	}
}
