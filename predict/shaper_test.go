package predict

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// TestReadings: what a test reads through a shaper, by what is known of it.
func TestReadings(t *testing.T) {
	const tcp, udp = 2e9 * 1448 / 1514, 2e9 * 1472 / 1514
	pathRate := func(rate unit.BitRate, bucket unit.Bytes) Fabric {
		f := between(plain("a", 10e9, 1500, "10.0.0.1/24"), plain("b", 10e9, 1500, "10.0.0.2/24"), 0, "")
		f.Paths[0].Rate, f.Paths[0].Bucket = rate, bucket
		return f
	}
	emulated := pathRate(2e9, 0)
	hostRate := pathRate(0, 0)
	for name, h := range emulated.Hosts {
		h = h.Clone()
		h.Links[0].Framing = netstate.FramingL2
		emulated.Hosts[name] = h
	}
	h := hostRate.Hosts["b"]
	h.Rate = 2e9
	hostRate.Hosts["b"] = h
	qdisc := pathRate(0, 0)
	h = qdisc.Hosts["a"].Clone()
	h.Links[0].Qdiscs = []netstate.Qdisc{{Kind: "tbf", Handle: "1:", Parent: "root", Rate: 2e9}}
	qdisc.Hosts["a"] = h
	for _, c := range []struct {
		name      string
		f         Fabric
		t         Traffic
		rate      float64
		low, high float64
		why       string
	}{
		{"nothing known, steady", pathRate(2e9, 0), Traffic{}, tcp, .85 * tcp, tcp, "burst size and queue of the shaper unknown"},
		{"nothing known, 30 s", pathRate(2e9, 0), Traffic{Window: 30 * time.Second}, tcp, .85 * tcp, 1.15 * tcp, "burst size"},
		{"nothing known, 5 s", pathRate(2e9, 0), Traffic{Window: 5 * time.Second}, tcp, .85 * tcp, 1.9 * tcp, "burst size"},
		{"a short test reads the links", pathRate(2e9, 0), Traffic{Window: time.Second}, tcp, .85 * tcp, 10e9 * 1448 / 1538, "burst size"},
		{"bucket known, 30 s", pathRate(2e9, 375*unit.MB), Traffic{Window: 30 * time.Second}, tcp, tcp, 1.05 * tcp, "bucket of"},
		{"bucket known, steady", pathRate(2e9, 375*unit.MB), Traffic{}, tcp, 0, 0, ""},
		{"a small bucket", pathRate(2e9, 128*unit.KiB), Traffic{Window: 30 * time.Second}, tcp, 0, 0, ""},
		{"udp does not back off", pathRate(2e9, 0), Traffic{Protocol: "udp"}, udp, 0, 0, ""},
		{"udp, 30 s", pathRate(2e9, 0), Traffic{Protocol: "udp", Window: 30 * time.Second}, udp, udp, 1.15 * udp, "burst size"},
		{"a lab's", emulated, Traffic{Window: 30 * time.Second}, tcp, 0, 0, ""},
		{"a root qdisc", qdisc, Traffic{Window: 30 * time.Second}, tcp, 0, 0, ""},
		{"a host's rate", hostRate, Traffic{Window: 30 * time.Second}, tcp, .85 * tcp, 1.15 * tcp, "burst size"},
		{"above the links", pathRate(40e9, 0), Traffic{Window: 30 * time.Second}, 10e9 * 1448 / 1538, 0, 0, ""},
	} {
		c.t.Streams = 2
		p := mustPredict(t, c.f, c.t)
		if !near(p.Rate, c.rate, 1e-6) || !near(p.RateLow, c.low, 1e-6) || !near(p.RateHigh, c.high, 1e-6) || !strings.Contains(p.RangeWhy, c.why) || (c.why == "") != (p.RangeWhy == "") {
			t.Errorf("%s: %v (%v to %v, %q); want %v (%v to %v, %q)", c.name, p.Rate, p.RateLow, p.RateHigh, p.RangeWhy,
				unit.BitRate(c.rate), unit.BitRate(c.low), unit.BitRate(c.high), c.why)
		}
		if !near(p.Ceiling, c.rate, 1e-6) {
			t.Errorf("%s: ceiling %v; want the steady state's %v", c.name, p.Ceiling, unit.BitRate(c.rate))
		}
	}
}
