package whatif

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func supposing(t *testing.T, f predict.Fabric, text string) (predict.Fabric, fabric.Measure, []string) {
	t.Helper()
	w, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if w.String() != text {
		t.Errorf("%q reads back as %q", text, w.String())
	}
	g, m, notes, err := w.Apply(f, fabric.Measure{Streams: []int{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	return g, m, notes
}

func forward(t *testing.T, f predict.Fabric, streams int) predict.Prediction {
	t.Helper()
	return onPaper(t, f, predict.Traffic{Streams: streams})
}

// onPaper is a prediction of one way from a to b.
func onPaper(t *testing.T, f predict.Fabric, tr predict.Traffic) predict.Prediction {
	t.Helper()
	tr.From, tr.To, tr.Direction = "a", "b", flow.Forward
	p, err := predict.Predict(f, tr)
	if err != nil {
		t.Fatalf("Predict(%+v): %v", tr, err)
	}
	return p
}

func between(a, b netstate.Host, rtt time.Duration) predict.Fabric {
	return predict.Fabric{
		Hosts: map[string]netstate.Host{a.Name: a, b.Name: b},
		Paths: []fabric.Path{{From: a.Name, To: b.Name, RTT: rtt, SwitchHash: "layer3+4", Declared: true}},
	}
}

func near(got unit.BitRate, want, tolerance float64) bool {
	return math.Abs(float64(got)-want) <= tolerance*want
}

// demo is LACP over two links of 500 Mbit/s that shapers emulate.
func demo(policy netstate.HashPolicy, mtu int) predict.Fabric {
	b := testfabric.Bond{Ports: 2, Speed: 500e6, Framing: netstate.FramingL2, Mode: netstate.LACP, Policy: policy, Mtu: mtu, Kernel: "6.1.0"}
	a, z := b, b
	a.Name, a.Addrs = "a", []string{"10.0.0.1/24"}
	z.Name, z.Addrs = "b", []string{"10.0.0.2/24"}
	return between(a.Host(), z.Host(), 9*time.Millisecond)
}

func TestWhatIf(t *testing.T) {
	f := demo(netstate.Layer2, 1500)
	f.Paths[0].RTT = time.Millisecond
	before := forward(t, f, 4)
	if before.Limit != record.SingleLink {
		t.Fatalf("before: %s", before.Limit)
	}
	for _, c := range []struct {
		text string
		rate float64
		why  record.Cause
	}{
		{"policy=layer3+4", 1e9 * 1448 / 1514, record.LineRate},
		{"policy=layer3+4,mtu=9000", 1e9 * 8948 / 9014, record.LineRate},
		{"policy=layer3+4,links=4", 2e9 * 1448 / 1514, record.LineRate},
		{"links=1", 0.5e9 * 1448 / 1514, record.LineRate},
		{"speed=1G", 1e9 * 1448 / 1514, record.SingleLink},
		{"rate=100M", 0.1e9 * 1448 / 1514, record.Shaper},
		{"mode=active-backup", 0.5e9 * 1448 / 1514, record.SingleLink},
		{"rtt=100ms,rmem=128Ki", 0, record.ReceiveWindow},
		{"rtt=100ms,wmem=128Ki", 0, record.SendBuffer},
	} {
		g, _, _ := supposing(t, f, c.text)
		p := forward(t, g, 4)
		if c.rate > 0 && !near(p.Rate, c.rate, 0.01) || p.Limit != c.why {
			t.Errorf("%s: %v, %s; want %v, %s", c.text, p.Rate, p.Limit, unit.BitRate(c.rate), c.why)
		}
	}
	if diff := cmp.Diff(before, forward(t, f, 4), cmpopts.EquateApprox(0, 0)); diff != "" {
		t.Errorf("the fabric itself changed:\n%s", diff)
	}
}

// What is asked changes too, and the paths.
func TestWhatIfAsked(t *testing.T) {
	f := demo(netstate.Layer34, 1500)
	g, m, _ := supposing(t, f, "streams=8,buffer=8Mi,ports=kernel,protocol=udp,loss=0.01,rtt=5ms,switch_hash=layer2,cc=bbr,rmem_max=8Mi,wmem_max=4Mi")
	want := fabric.Measure{Streams: []int{8}, Ports: predict.PortsKernel, SocketBuffer: 8 * unit.MiB, Protocol: "udp"}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	path := g.Paths[0]
	if path.Loss != 0.01 || path.RTT != 5*time.Millisecond || path.SwitchHash != "layer2" {
		t.Errorf("path %+v", path)
	}
	for key, value := range map[string]string{"net.ipv4.tcp_congestion_control": "bbr", "net.core.rmem_max": "8388608", "net.core.wmem_max": "4194304"} {
		if got := g.Hosts["b"].Sysctls[key].Value; got != value {
			t.Errorf("%s is %q", key, got)
		}
	}
	if f.Paths[0].Loss != 0 || len(f.Hosts["b"].Sysctls) != 0 {
		t.Error("the fabric itself changed")
	}
}

// Links that are added are like the last one, in its card; a bond is made of a
// plain link.
func TestWhatIfLinks(t *testing.T) {
	b := testfabric.Bond{Name: "a", Addrs: []string{"10.0.0.1/24"}, Ports: 2, Speed: 10e9, Mode: netstate.ActiveBackup, Mtu: 9000, Kernel: "6.1", Card: "c0"}
	f := between(b.Host(), testfabric.Plain("b", 10e9, 9000, "10.0.0.2/24"), time.Millisecond)
	g, _, notes := supposing(t, f, "mode=802.3ad,policy=layer3+4,links=3")
	for _, name := range []string{"a", "b"} {
		if got := g.Hosts[name].UsablePorts("bond0"); len(got) != 3 {
			t.Errorf("%s has ports %v", name, got)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "card c0") {
		t.Errorf("notes %q", notes)
	}
	if p := forward(t, g, 3); p.Limit != record.LineRate || !near(p.Ceiling, 30e9*8948/9038, 1e-9) {
		t.Errorf("%v of %v, %s", p.Rate, p.Ceiling, p.Limit)
	}
}

func TestWhatIfRefuses(t *testing.T) {
	for _, text := range []string{
		"mut=9000", "mtu", "mtu=", "mtu=abc", "mtu=0", "mtu=67", "mtu=65536", "mtu=1500,mtu=9000", "policy=layer5", "mode=fast", "rtt=-1ms", "rtt=9",
		"loss=2", "loss=NaN", "rmem=x", "rmem=0", "streams=0", "streams=9999", "links=99", "rate=25", "speed=fast", "ports=odd", "protocol=sctp", "cc=a b",
		"switch_hash=even",
	} {
		if w, err := Parse(text); !errors.Is(err, ErrChange) {
			t.Errorf("%s: %v, %v", text, w, err)
		}
	}
	plainly := between(testfabric.Plain("a", 1e9, 1500, "10.0.0.1/24", "10.1.0.1/24"), testfabric.Plain("b", 1e9, 1500, "10.0.0.2/24"), 0)
	for _, text := range []string{"policy=layer3+4", "mode=802.3ad"} {
		w, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := w.Apply(plainly, fabric.Measure{}); !errors.Is(err, ErrChange) {
			t.Errorf("%s without a bond: %v", text, err)
		}
	}
}

func FuzzParseWhatIf(f *testing.F) {
	f.Add("mtu=9000,policy=layer3+4,links=4,rmem=64Mi")
	f.Add("mode=802.3ad,rtt=9ms,loss=0.1,rate=25G,cc=bbr")
	fabricOf := demo(netstate.Layer2, 1500)
	f.Fuzz(func(t *testing.T, text string) {
		w, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(w.String())
		if err != nil || again.String() != w.String() {
			t.Fatalf("%q reads back as %q: %v", text, w.String(), err)
		}
		g, m, _, err := w.Apply(fabricOf, fabric.Measure{Streams: []int{1}})
		if err == nil {
			_, _ = predict.Predict(g, predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: m.Streams[0], Protocol: m.Protocol, Ports: m.Ports})
		}
	})
}

// TestInterfaces: hosts without a bond get interfaces in subnets of their own, or lose
// their last ones.
func TestInterfaces(t *testing.T) {
	one := between(testfabric.Plain("a", 1e9, 1500, "10.0.0.1/24"), testfabric.Plain("b", 1e9, 1500, "10.0.0.2/24"), 0)
	two := between(testfabric.Plain("a", 1e9, 1500, "10.0.0.1/24", "10.1.0.1/24"), testfabric.Plain("b", 1e9, 1500, "10.0.0.2/24", "10.1.0.2/24"), 0)
	last := between(testfabric.Plain("a", 1e9, 1500, "255.255.255.1/24"), testfabric.Plain("b", 1e9, 1500, "255.255.255.2/24"), 0)
	for _, c := range []struct {
		name  string
		f     predict.Fabric
		text  string
		links unit.BitRate // what they carry together
	}{{"one to four", one, "links=4", 4}, {"two to one", two, "links=1", 1}, {"two to three", two, "links=3", 3}, {"as they are", two, "links=2", 2}, {"no subnet after", last, "links=2", 0}} {
		w, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		f, _, notes, err := w.Apply(c.f, fabric.Measure{})
		if c.links == 0 {
			if !errors.Is(err, ErrChange) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p, err := predict.Predict(f, predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 12})
		if want := c.links * 1e9 * 1448 / 1538; err != nil || p.Rate < want*0.999 || p.Rate > want*1.001 {
			t.Errorf("%s: %v, %v; want %v (%q)", c.name, p.Rate, err, want, notes)
		}
	}
}
