package predict

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// mixed is two declared LACP hosts, nobody observed their aggregators: ports
// of these speeds each.
func mixed(adSelect string, speeds ...unit.BitRate) Fabric {
	b := testfabric.Bond{Ports: len(speeds), Mode: netstate.LACP, Policy: netstate.Layer34, Mtu: 1500, Kernel: "6.1"}
	a, z := b, b
	a.Name, a.Addrs = "a", []string{"10.0.0.1/24"}
	z.Name, z.Addrs = "b", []string{"10.0.0.2/24"}
	f := JoinedHosts(a.Host(), z.Host(), time.Millisecond, "layer3+4")
	for _, h := range f.Hosts {
		n := 0
		for i := range h.Links {
			if bond := h.Links[i].Bond; bond != nil {
				bond.AD = nil
				bond.Options = map[string]string{"ad_select": adSelect}
			} else if p := h.Links[i].Port; p != nil {
				p.AggregatorID = 0
				h.Links[i].Speed = speeds[n]
				n++
			}
		}
	}
	return f
}

func TestAggregators(t *testing.T) {
	const share = 1448 / 1538.0
	for _, c := range []struct {
		adSelect string
		speeds   []unit.BitRate
		want     float64
		limit    record.Cause
	}{
		{"", []unit.BitRate{1e9, 10e9}, 10e9, record.LACPDown},
		{"stable", []unit.BitRate{10e9, 1e9, 1e9}, 10e9, record.LACPDown},
		{"count", []unit.BitRate{10e9, 1e9, 1e9}, 2e9, record.LACPDown},
		{"bandwidth", []unit.BitRate{1e9, 1e9}, 2e9, record.LineRate},
	} {
		p := mustPredict(t, mixed(c.adSelect, c.speeds...), Traffic{Streams: 8})
		if !near(p.Rate, c.want*share, 1e-6) || p.Limit != c.limit || p.Rate > p.Ceiling {
			t.Errorf("%s %v: %v of %v, %s; want %v, %s\n%+v", c.adSelect, c.speeds, p.Rate, p.Ceiling, p.Limit, unit.BitRate(c.want*share), c.limit, p.Limits[0])
		}
	}
}

// TestStandby: a second port that waits is one link unused.
func TestStandby(t *testing.T) {
	b := testfabric.Bond{Ports: 2, Speed: 1e9, Mode: netstate.ActiveBackup, Mtu: 1500, Kernel: "6.1"}
	a := b
	a.Name, a.Addrs = "a", []string{"10.0.0.1/24"}
	f := JoinedHosts(a.Host(), testfabric.Plain("b", 10e9, 1500, "10.0.0.2/24"), 0, "")
	p := mustPredict(t, f, Traffic{Streams: 4})
	if p.Limit != record.SingleLink || !near(p.Rate, 1e9*1448/1538, 1e-6) || !strings.Contains(p.Limits[0].Why, "1 more stands by") {
		t.Errorf("%v, %+v", p.Rate, p.Limits[0])
	}
	for i := range f.Hosts["a"].Links {
		if f.Hosts["a"].Links[i].Name == "a1" {
			f.Hosts["a"].Links[i].Port.MIIUp = false
		}
	}
	if p = mustPredict(t, f, Traffic{Streams: 4}); p.Limit != record.LineRate {
		t.Errorf("the other port is down: %s", p.Limit)
	}
}
