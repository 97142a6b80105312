package predict

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestTrip: cards add their moderation to the round trip, a measured one is
// taken as it is, and an unknown one stays unknown.
func TestTrip(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name        string
		rtt, loaded time.Duration
		cards       int
		want        tcp.Trip
	}{
		{"unknown", 0, 0, 2, tcp.Trip{}},
		{"measured under load", 9 * ms, 9500 * time.Microsecond, 2, tcp.Trip{RTT: 9500 * time.Microsecond}},
		{"emulated", 9 * ms, 0, 0, tcp.Trip{RTT: 9110 * time.Microsecond}},
		{"cards", 9 * ms, 0, 2, tcp.Trip{RTT: 9302 * time.Microsecond, Shortest: 9092 * time.Microsecond, Longest: 9642 * time.Microsecond}},
		{"one card", 9 * ms, 0, 1, tcp.Trip{RTT: 9206 * time.Microsecond, Shortest: 9091 * time.Microsecond, Longest: 9386 * time.Microsecond}},
		{"short", ms / 5, 0, 2, tcp.Trip{RTT: 220 * time.Microsecond, Shortest: 220 * time.Microsecond, Longest: 842 * time.Microsecond}},
	} {
		if got := tcp.TripOf(c.rtt, c.loaded, c.cards); got != c.want {
			t.Errorf("%s: %+v; want %+v", c.name, got, c.want)
		}
	}
}

// TestWallsOfKernels: which end holds one stream back at 10 ms, by kernel.
func TestWallsOfKernels(t *testing.T) {
	for _, c := range []struct {
		kernel string
		asked  unit.Bytes
		limit  record.Cause
		rate   float64
	}{
		{"5.15", 0, record.ReceiveWindow, 3 * 1048576 * 8 / 10.302e-3},
		{"6.12", 0, record.ReceiveWindow, 3 * 1048576 * 8 / 10.302e-3},
		{"6.18", 0, record.SendBuffer, .96 * 4194304 * 8 / 10.302e-3},
		{"5.15", 512 * unit.KiB, record.ReceiveWindow, 524288 * 8 / 10.302e-3},
	} {
		a, b := testfabric.Plain("a", 100e9, 9000, "10.0.0.1/24"), testfabric.Plain("b", 100e9, 9000, "10.0.0.2/24")
		a.Kernel.Release, b.Kernel.Release = c.kernel, c.kernel
		f := JoinedHosts(a, b, 10*time.Millisecond, "")
		for h := range f.Hosts {
			f = f.Set(h, "net.core.rmem_max", "8388608").Set(h, "net.core.wmem_max", "8388608")
		}
		p := mustPredict(t, f, Traffic{Streams: 1, SocketBuffer: c.asked})
		if p.Limit != c.limit || !near(p.Rate, c.rate, 1e-3) || p.RateLow >= p.Rate || p.RateHigh <= p.Rate || p.RangeWhy == "" {
			t.Errorf("%s: %v (%v to %v, %q), %s; want %v, %s", c.kernel, p.Rate, p.RateLow, p.RateHigh, p.RangeWhy, p.Limit, unit.BitRate(c.rate), c.limit)
		}
	}
	f := JoinedHosts(testfabric.Plain("a", 100e9, 9000, "10.0.0.1/24"), testfabric.Plain("b", 100e9, 9000, "10.0.0.2/24"), 10*time.Millisecond, "")
	p := mustPredict(t, f.Set("a", "net.ipv4.tcp_window_scaling", "0"), Traffic{Streams: 1})
	if !near(p.Rate, 65535*8/10.302e-3, 1e-3) || !strings.Contains(p.Limits[0].Why, "a has tcp_window_scaling 0") {
		t.Errorf("a sender without window scaling: %v, %+v", p.Rate, p.Limits[0])
	}
}

// TestRamp: a test that counts slow start may read less than the window allows,
// by the doublings it takes.
func TestRamp(t *testing.T) {
	f := JoinedHosts(testfabric.Plain("a", 10e9, 1500, "10.0.0.1/24"), testfabric.Plain("b", 10e9, 1500, "10.0.0.2/24"), 100*time.Millisecond, "")
	for name, h := range f.Hosts {
		h.Links[0].Kind = "veth"
		f.Hosts[name] = h
	}
	const rtt = .10011
	rate := 3 * 1048576 * 8 / rtt
	lost := (math.Log2(3*1048576/14480.) - 1) * rtt
	for _, c := range []struct {
		window time.Duration
		low    float64
	}{
		{0, 0}, {10 * time.Second, rate * 10 / (10 + lost)}, {5 * time.Minute, 0},
	} {
		p := mustPredict(t, f, Traffic{Streams: 1, Window: c.window})
		if !near(p.Rate, rate, 1e-3) || !near(p.RateLow, c.low, 1e-3) || strings.Contains(p.RangeWhy, "first round trips") != (c.low > 0) {
			t.Errorf("%v: %v, from %v, %q; want %v from %v", c.window, p.Rate, p.RateLow, p.RangeWhy, unit.BitRate(rate), unit.BitRate(c.low))
		}
	}
}
