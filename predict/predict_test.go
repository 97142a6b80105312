package predict

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func near(got unit.BitRate, want, tolerance float64) bool {
	return math.Abs(float64(got)-want) <= tolerance*want
}

func mustPredict(t *testing.T, f Fabric, tr Traffic) Prediction {
	t.Helper()
	if tr.From == "" {
		tr.From, tr.To = "a", "b"
	}
	if tr.Direction == "" {
		tr.Direction = flow.Forward
	}
	p, err := Predict(f, tr)
	if err != nil {
		t.Fatalf("Predict(%+v): %v", tr, err)
	}
	return p
}

func TestDemo(t *testing.T) {
	const old, jumbo = 500e6 * 1448 / 1514, 500e6 * 8948 / 9014
	for _, c := range []struct {
		name          string
		policy        netstate.HashPolicy
		mtu, streams  int
		ports         string
		rate, ceiling float64
		limit         record.Cause
	}{
		{"layer2", netstate.Layer2, 1500, 1, "", old, 2 * old, record.SingleLink},
		{"layer2", netstate.Layer2, 1500, 2, "", old, 2 * old, record.SingleLink},
		{"layer2", netstate.Layer2, 1500, 16, "", old, 2 * old, record.SingleLink},
		{"layer3+4", netstate.Layer34, 9000, 1, "", jumbo, 2 * jumbo, record.SingleLink},
		{"layer3+4", netstate.Layer34, 9000, 2, "", 2 * jumbo, 2 * jumbo, record.LineRate},
		{"layer3+4", netstate.Layer34, 9000, 3, "", 2 * jumbo, 2 * jumbo, record.LineRate},
		{"layer3+4", netstate.Layer34, 9000, 16, "", 2 * jumbo, 2 * jumbo, record.LineRate},
		{"kernel's ports", netstate.Layer34, 9000, 2, PortsKernel, 1.5 * jumbo, 2 * jumbo, record.HashImbalance},
		{"kernel's ports", netstate.Layer34, 9000, 1, PortsKernel, jumbo, 2 * jumbo, record.SingleLink},
		{"kernel's ports", netstate.Layer34, 9000, 4, PortsKernel, 1.875 * jumbo, 2 * jumbo, record.HashImbalance},
		{"kernel's ports", netstate.Layer34, 9000, 16, PortsKernel, 2 * jumbo * (1 - math.Pow(.5, 16)), 2 * jumbo, record.LineRate},
	} {
		for _, d := range flow.Directions() {
			p := mustPredict(t, demo(c.policy, c.mtu), Traffic{Direction: d, Streams: c.streams, Ports: c.ports})
			ways := float64(len(d.Ways()))
			if !near(p.Rate, c.rate*ways, 1e-6) || !near(p.Ceiling, c.ceiling*ways, 1e-6) || p.Limit != c.limit {
				t.Errorf("%s, MTU %d, %d streams %s: %v of %v, %s; want %v of %v, %s", c.name, c.mtu, c.streams, d,
					p.Rate, p.Ceiling, p.Limit, unit.BitRate(c.rate*ways), unit.BitRate(c.ceiling*ways), c.limit)
			}
			if d == flow.Both && (!near(p.Forward, c.rate, 1e-6) || !near(p.Reverse, c.rate, 1e-6)) {
				t.Errorf("%s both: forward %v, reverse %v; want %v each", c.name, p.Forward, p.Reverse, unit.BitRate(c.rate))
			}
		}
	}
}

func TestKernelPortsBesideChosen(t *testing.T) {
	const jumbo = 500e6 * 8948.0 / 9014
	p := mustPredict(t, demo(netstate.Layer34, 9000), Traffic{Streams: 2})
	if !near(p.KernelPorts, 1.5*jumbo, 1e-6) || !near(p.KernelWorst, jumbo, 1e-6) || p.RateLow != 0 {
		t.Errorf("kernel %v, worst %v, low %v; want %v, %v, 0", p.KernelPorts, p.KernelWorst, p.RateLow, unit.BitRate(1.5*jumbo), unit.BitRate(jumbo))
	}
	p = mustPredict(t, demo(netstate.Layer2, 1500), Traffic{Streams: 8})
	if p.KernelPorts != 0 || p.KernelWorst != 0 {
		t.Errorf("layer2: kernel %v, worst %v; want none: ports make no difference", p.KernelPorts, p.KernelWorst)
	}
}

func TestUnknownSwitch(t *testing.T) {
	const jumbo = 500e6 * 8948.0 / 9014
	for _, word := range []string{"", "unknown"} {
		f := demo(netstate.Layer34, 9000)
		f.Paths[0].SwitchHash = word
		p := mustPredict(t, f, Traffic{Streams: 4})
		if !near(p.Rate, 2*jumbo, 1e-6) || !near(p.RateLow, jumbo, 1e-6) || p.RateHigh != p.Rate {
			t.Errorf("switch_hash %q: %v (%v to %v); want %v, low %v", word, p.Rate, p.RateLow, p.RateHigh, unit.BitRate(2*jumbo), unit.BitRate(jumbo))
		}
		said := false
		for _, l := range p.Limits {
			said = said || strings.Contains(l.Why, "switch_hash") && strings.Contains(l.Where, "b: ")
		}
		if !said {
			t.Errorf("switch_hash %q: no limit says that the switch is unknown: %+v", word, p.Limits)
		}
	}
}

// A Catalyst of the eight buckets reads no ports: all flows of a pair of addresses come
// by one link, however many there are.
func TestCatalystBindsReceiver(t *testing.T) {
	const jumbo = 500e6 * 8948.0 / 9014
	for _, word := range netstate.CatalystHashes() {
		f := demo(netstate.Layer34, 9000)
		f.Paths[0].SwitchHash = word
		p := mustPredict(t, f, Traffic{Streams: 8})
		if !near(p.Rate, jumbo, 1e-6) || !near(p.Ceiling, 2*jumbo, 1e-6) || p.Limit != record.SingleLink {
			t.Errorf("switch_hash %s: %v of %v, %s", word, p.Rate, p.Ceiling, p.Limit)
		}
	}
}

func TestSwitchPolicyBindsReceiver(t *testing.T) {
	const jumbo = 500e6 * 8948.0 / 9014
	f := demo(netstate.Layer34, 9000)
	f.Paths[0].SwitchHash = "layer2"
	p := mustPredict(t, f, Traffic{Streams: 4})
	if !near(p.Rate, jumbo, 1e-6) || p.Limit != record.SingleLink || !strings.HasPrefix(p.Limits[0].Where, "b: bond0") {
		t.Errorf("got %v, %s at %s; want one link of b", p.Rate, p.Limit, p.Limits[0].Where)
	}
}

func TestJSON(t *testing.T) {
	p := Prediction{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Protocol: "tcp", Rate: 1e6, Ceiling: 2e6, Limit: record.LineRate,
		Limits: []Limit{{Cause: record.LineRate, Rate: 1e6, Where: "a: a0", Why: "w"}}, CeilingMTU: 1500, Links: []LinkShare{{Host: "a"}}}
	got, err := json.Marshal(p)
	want := `{"from":"a","to":"b","direction":"forward","streams":1,"protocol":"tcp","rate_bps":1000000,"ceiling_bps":2000000,` +
		`"limit":"line-rate","limits":[{"cause":"line-rate","rate_bps":1000000,"where":"a: a0","why":"w"}]}`
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	p.KernelPorts, p.KernelWorst, p.RateLow, p.RateHigh, p.Forward, p.Reverse = 1, 2, 3, 4, 5, 6
	got, _ = json.Marshal(p)
	if tail := `,"kernel_ports_bps":1,"kernel_ports_worst_bps":2,"rate_low_bps":3,"rate_high_bps":4,"forward_bps":5,"reverse_bps":6}`; !strings.HasSuffix(string(got), tail) {
		t.Errorf("got %s, want the end %s", got, tail)
	}
}

func TestErrors(t *testing.T) {
	good := Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 1}
	unknown := JoinedHosts(testfabric.Plain("a", 0, 1500, "10.0.0.1/24"), testfabric.Plain("b", 0, 1500, "10.0.0.2/24"), 0, "")
	apart := JoinedHosts(testfabric.Plain("a", 1e9, 1500, "10.0.0.1/24"), testfabric.Plain("b", 1e9, 1500, "10.9.0.2/24"), 0, "")
	down := demo(netstate.Layer2, 1500)
	h := down.Hosts["a"].Clone()
	for _, name := range []string{"a0", "a1"} {
		l, _ := h.Link(name)
		l.Up = false
		h.SetLink(l)
	}
	down.Hosts["a"] = h
	for _, c := range []struct {
		name string
		f    Fabric
		edit func(*Traffic)
		want error
		text string
	}{
		{"host", demo(0, 1500), func(t *Traffic) { t.To = "c" }, ErrUnknownHost, `"c"`},
		{"streams", demo(0, 1500), func(t *Traffic) { t.Streams = 0 }, ErrTraffic, "0 streams"},
		{"protocol", demo(0, 1500), func(t *Traffic) { t.Protocol = "sctp" }, ErrTraffic, "sctp"},
		{"direction", demo(0, 1500), func(t *Traffic) { t.Direction = "up" }, ErrTraffic, "up"},
		{"ports", demo(0, 1500), func(t *Traffic) { t.Ports = "odd" }, ErrTraffic, "odd"},
		{"lane", demo(0, 1500), func(t *Traffic) { t.Lanes = []flow.Lane{} }, ErrNoLane, ""},
		{"no subnet", apart, func(*Traffic) {}, ErrNoLane, ""},
		{"speed", unknown, func(*Traffic) {}, ErrUnknownSpeed, "ens3 on a"},
		{"both", unknown, func(t *Traffic) { t.Direction = flow.Both }, ErrUnknownSpeed, "ens3 on a"},
		{"MTU", demo(0, 52), func(*Traffic) {}, ErrMTU, "52 bytes of headers"},
		{"MTU of MPTCP", demo(0, 72), func(t *Traffic) { t.Protocol = "mptcp" }, ErrMTU, "72 bytes of headers"},
		{"ports down", down, func(*Traffic) {}, ErrNoLink, "bond0 on a"},
	} {
		tr := good
		c.edit(&tr)
		_, err := Predict(c.f, tr)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v; want %v with %q", c.name, err, c.want, c.text)
		}
	}
}

func TestUnknownSpeedStillBounded(t *testing.T) {
	f := JoinedHosts(testfabric.Plain("a", 0, 1500, "10.0.0.1/24"), testfabric.Plain("b", 0, 1500, "10.0.0.2/24"), 0, "")
	f.Paths[0].Rate = 1e9
	p := mustPredict(t, f, Traffic{Streams: 2})
	if !near(p.Rate, 1e9*1448/1514, 1e-9) || p.Limit != record.Shaper || !near(p.Ceiling, 1e9*1448/1514, 1e-9) {
		t.Errorf("got %v of %v, %s", p.Rate, p.Ceiling, p.Limit)
	}
	if last := p.Limits[len(p.Limits)-1]; last.Cause != record.Unknown || last.Rate != 0 {
		t.Errorf("last limit %+v; want an unknown one", last)
	}
}

func TestMatrix(t *testing.T) {
	f := demo(netstate.Layer34, 9000)
	f.Hosts["c"] = testfabric.Plain("c", 1e9, 1500, "192.0.2.1/24")
	f.Paths = append(f.Paths, fabric.Path{From: "a", To: "c"}, fabric.Path{From: "b", To: "a", Directed: true})
	all, err := Matrix(f, fabric.Measure{Streams: []int{1, 8}, Directions: []flow.Direction{flow.Forward, flow.Both}})
	if !errors.Is(err, ErrNoLane) || len(all) != 4 {
		t.Errorf("%d predictions, %v; want 4 and a to c's missing lane", len(all), err)
	}
	all, err = Matrix(demo(netstate.Layer34, 9000), fabric.Measure{})
	if err != nil || len(all) != 15 {
		t.Errorf("defaults: %d predictions, %v; want 15", len(all), err)
	}
}

func TestLoadedRTT(t *testing.T) {
	f := demo(netstate.Layer34, 9000).Set("b", "net.ipv4.tcp_rmem", "4096 131072 524288")
	p := mustPredict(t, f, Traffic{Streams: 1, LoadedRTT: 10 * time.Millisecond})
	if !near(p.Rate, 262144*8/0.010, 1e-9) || p.Limit != record.ReceiveWindow {
		t.Errorf("got %v, %s", p.Rate, p.Limit)
	}
}

// The chances' mean is what the kernel's ports give, also where links differ
// and packets are lost.
func TestChancesAddUp(t *testing.T) {
	a := testfabric.Bond{Name: "a", Ports: 2, Speed: 1e9, Mode: netstate.LACP, Policy: netstate.Layer34, Mtu: 1500, Kernel: "6.1", Addrs: []string{"10.0.0.1/24"}}
	b := a
	b.Name, b.Addrs = "b", []string{"10.0.0.2/24"}
	f := JoinedHosts(a.Host(), b.Host(), time.Millisecond, "layer3+4")
	f.Hosts["b"].Links[1].Speed = 600e6
	for _, loss := range []float64{0, 1e-6, 1e-3} {
		f.Paths[0].Loss = loss
		for _, n := range []int{1, 2, 5} {
			p := mustPredict(t, f, Traffic{Streams: n})
			sum, mean := 0.0, unit.BitRate(0)
			for _, c := range p.KernelChances {
				sum += c.Probability
				mean += c.Rate * unit.BitRate(c.Probability)
			}
			if p.KernelPorts > 0 && (!near(mean, float64(p.KernelPorts), 1e-6) || math.Abs(sum-1) > 1e-6) {
				t.Errorf("loss %v, %d streams: chances of %.6f with a mean of %v; want %v", loss, n, sum, mean, p.KernelPorts)
			}
		}
	}
}
