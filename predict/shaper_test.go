package predict

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestReadings: what a test reads through a shaper, by what is known of it.
func TestReadings(t *testing.T) {
	const tcp, udp = 2e9 * 1448 / 1514, 2e9 * 1472 / 1514
	pathRate := func(rate unit.BitRate, bucket unit.Bytes) Fabric {
		f := JoinedHosts(testfabric.Plain("a", 10e9, 1500, "10.0.0.1/24"), testfabric.Plain("b", 10e9, 1500, "10.0.0.2/24"), 0, "")
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

// Members of a group that are certain count in the sum's range.
func TestGroupOfCertainAndUncertain(t *testing.T) {
	w := &way{legs: []leg{{mtu: 1500}, {mtu: 1500}}, traffic: Traffic{Streams: 2}}
	l, ok := w.sumOf([]sharedLimit{
		{group: "g", payload: true, legs: []int{0}, total: estimate{rate: 10e9}},
		{group: "g", payload: true, legs: []int{1}, total: estimate{rate: 10e9, low: 5e9, open: "why"}},
	}, []int{0, 1})
	if !ok || l.Rate != 20e9 || l.Low != 15e9 || l.High != 20e9 {
		t.Errorf("%v from %v to %v; want 20 from 15 to 20", l.Rate, l.Low, l.High)
	}
}

// Where lanes differ in MTU a limit's text has the frame that its number has.
func TestTextOfSeveralMTUs(t *testing.T) {
	host := func(name, one, two string) netstate.Host {
		h := testfabric.Bond{Name: name, Ports: 1, Speed: 25e9, Mode: netstate.LACP, Policy: netstate.Layer34, Mtu: 9000, Kernel: "6.1", Vlan: 7, Addrs: []string{one}}.Host()
		h.Links = append(h.Links, netstate.Link{Name: "old", Kind: "vlan", MTU: 1500, Up: true, Carrier: true, VLAN: &netstate.VLAN{ID: 8, Parent: "bond0"},
			Addresses: []netip.Prefix{netip.MustParsePrefix(two)}})
		return h
	}
	f := JoinedHosts(host("a", "10.0.1.1/24", "10.0.0.1/24"), host("b", "10.0.1.2/24", "10.0.0.2/24"), 0, "")
	f.Paths[0].Rate = 30e9
	for _, lanes := range [][2]int{{0, 1}, {1, 0}} {
		all, err := Lanes(f, "a", "b", "")
		if err != nil || len(all) != 2 {
			t.Fatalf("%v %v", all, err)
		}
		p := mustPredict(t, f, Traffic{Streams: 4, Lanes: []flow.Lane{all[lanes[0]], all[lanes[1]]}})
		for _, l := range p.Limits {
			switch {
			case l.Cause == record.LineRate && !strings.Contains(l.Why, "x 8948/9042 "):
				t.Errorf("%v: %s", l.Rate, l.Why)
			case l.Cause == record.Shaper && !strings.Contains(l.Why, "x 8948/9014 "):
				t.Errorf("%v: %s", l.Rate, l.Why)
			}
		}
	}
}
