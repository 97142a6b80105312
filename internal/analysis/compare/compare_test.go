package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func TestMatching(t *testing.T) {
	make := func(from, to string, d flow.Direction, streams int, protocol, variant string) record.Trial {
		one := trial(1e9, []float64{1, 1.01, 0.99})
		one.From, one.To, one.Direction, one.Streams, one.Protocol, one.Variant = from, to, d, streams, protocol, variant
		return one
	}
	before := record.Record{Trials: []record.Trial{
		make("a", "b", flow.Forward, 1, "tcp", ""), make("a", "b", flow.Forward, 8, "", ""), make("a", "b", flow.Both, 1, "tcp", ""),
		make("a", "c", flow.Forward, 1, "udp", ""), make("a", "b", flow.Forward, 1, "tcp", "mss=1000"),
	}}
	after := record.Record{Trials: []record.Trial{
		make("a", "b", flow.Forward, 8, "tcp", ""), make("a", "b", flow.Forward, 1, "tcp", ""), make("a", "c", flow.Forward, 1, "mptcp", ""),
		make("a", "b", flow.Forward, 1, "tcp", "mss=1000"), {From: "a", To: "b", Direction: flow.Both, Streams: 1}, // carried nothing
	}}
	got := Records([]record.Record{before}, []record.Record{after}, Options{})
	var matched []Key
	for _, r := range got.Rows {
		matched = append(matched, r.Key)
	}
	key := func(to string, d flow.Direction, streams int, protocol, variant string) Key {
		return Key{From: "a", To: to, Direction: d, Streams: streams, Protocol: protocol, Variant: variant}
	}
	if diff := cmp.Diff([]Key{key("b", flow.Forward, 1, "tcp", ""), key("b", flow.Forward, 8, "tcp", ""), key("b", flow.Forward, 1, "tcp", "mss=1000")}, matched); diff != "" {
		t.Errorf("matched (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Unmatched{{key("b", flow.Both, 1, "tcp", ""), "before"}, {key("c", flow.Forward, 1, "udp", ""), "before"}, {key("c", flow.Forward, 1, "mptcp", ""), "after"}}, got.Unmatched); diff != "" {
		t.Errorf("not matched (-want +got):\n%s", diff)
	}
}

// Another tool's file calls the hosts by their addresses.
func TestOnePairEach(t *testing.T) {
	b, a := trial(1e9, []float64{1, 1.01, 0.99}), trial(2e9, []float64{1, 1.01, 0.99})
	a.From, a.To = "10.0.0.1", "10.0.0.2"
	got := Records(holding(b), holding(a), Options{})
	if len(got.Rows) != 1 || got.Rows[0].From != "alpha" || got.Rows[0].Verdict != Better || len(got.Notes) != 2 || len(got.Unmatched) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestPhases(t *testing.T) {
	of := func(phase record.Phase, rate float64) record.Trial {
		one := trial(rate, []float64{1, 1.001, 0.999, 1})
		one.Phase = phase
		return one
	}
	r := record.Record{Trials: []record.Trial{of(record.PhaseBefore, 1e9), of(record.PhaseStep, 5e9), of(record.PhaseAfter, 2e9)}}
	r.Environment.Hosts = []netstate.Host{{Name: "alpha", Links: []netstate.Link{{Name: "eth0", MTU: 1500}}}}
	r.Environment.After = []netstate.Host{{Name: "alpha", Links: []netstate.Link{{Name: "eth0", MTU: 9000}}}}
	got, ok := Phases(r, Options{})
	if !ok || len(got.Rows) != 1 || got.Rows[0].Verdict != Better || got.Rows[0].After != 2e9 || got.Rows[0].Phase != "" {
		t.Errorf("%v %+v", ok, got)
	}
	if diff := cmp.Diff([]Difference{{"alpha", "eth0 mtu", "1500", "9000"}}, got.Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if _, ok := Phases(record.Record{Trials: []record.Trial{of("", 1e9)}}, Options{}); ok {
		t.Error("a plain measurement has phases")
	}
}

func TestEnvironments(t *testing.T) {
	host := func(change func(*netstate.Host)) record.Environment {
		h := netstate.Host{
			Name: "alpha", Kernel: netstate.Kernel{Release: "6.1.0"}, CPU: netstate.CPU{Cores: 8},
			Links: []netstate.Link{
				{Name: "eth0", MTU: 1500, Speed: 25 * unit.Gbps, Up: true, Carrier: true, Offloads: map[string]bool{"tso": true}},
				{Name: "bond0", Bond: &netstate.Bond{HashPolicy: netstate.Layer2, Ports: []string{"eth0", "eth1"}}},
			},
			Sysctls: map[string]netstate.Sysctl{"net.ipv4.tcp_rmem": {Value: "4096 131072 6291456"}},
		}
		if change != nil {
			change(&h)
		}
		return record.Environment{Hosts: []netstate.Host{h}}
	}
	for name, c := range map[string]struct {
		change func(*netstate.Host)
		want   []Difference
	}{
		"none":   {nil, []Difference{}},
		"kernel": {func(h *netstate.Host) { h.Kernel.Release = "6.12" }, []Difference{{"alpha", "kernel", "6.1.0", "6.12"}}},
		"mtu":    {func(h *netstate.Host) { h.Links[0].MTU = 9000 }, []Difference{{"alpha", "eth0 mtu", "1500", "9000"}}},
		"link":   {func(h *netstate.Host) { h.Links[0].Carrier = false }, []Difference{{"alpha", "eth0 state", "up", "no carrier"}}},
		"policy": {func(h *netstate.Host) {
			h.Links[1].Bond = &netstate.Bond{HashPolicy: netstate.Layer34, Ports: []string{"eth0", "eth1"}}
		}, []Difference{{"alpha", "bond0 hash policy", "layer2", "layer3+4"}}},
		"offload":    {func(h *netstate.Host) { h.Links[0].Offloads = map[string]bool{"tso": false} }, []Difference{{"alpha", "eth0 tso", "on", "off"}}},
		"sysctl":     {func(h *netstate.Host) { h.Sysctls = map[string]netstate.Sysctl{"net.ipv4.tcp_rmem": {Value: "1 2 3"}} }, []Difference{{"alpha", "sysctl net.ipv4.tcp_rmem", "4096 131072 6291456", "1 2 3"}}},
		"shaper":     {func(h *netstate.Host) { h.Links[0].Qdiscs = []netstate.Qdisc{{Kind: "tbf", Rate: unit.Gbps}} }, []Difference{}},
		"unknown":    {func(h *netstate.Host) { h.Kernel.Release, h.CPU.Cores, h.Sysctls = "", 0, nil }, []Difference{}},
		"other host": {func(h *netstate.Host) { h.Name = "beta"; h.Kernel.Release = "5.4" }, []Difference{}},
	} {
		got := Environments(host(nil), host(c.change))
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// A lab is not a host.
	if got := Environments(record.Environment{BackEnd: "uml"}, record.Environment{}); len(got) != 1 || got[0] != (Difference{What: "lab", Before: "uml", After: "none"}) {
		t.Errorf("a lab and none: %+v", got)
	}
}

func TestLatencyAndProcessors(t *testing.T) {
	before, after := trial(8e9, []float64{1, 1, 1}), trial(16e9, []float64{1, 1, 1})
	before.CPU = []record.CPUUse{{Host: "alpha", Busy: 2}, {Host: "gone", Busy: 1}}
	after.CPU = []record.CPUUse{{Host: "alpha", Busy: 3}}
	b, a := holding(before), holding(after)
	b[0].Latency = []record.Latency{{From: "alpha", To: "beta", AvgMS: 2, P99MS: 5}, {From: "beta", To: "alpha", AvgMS: 2}}
	a[0].Latency = []record.Latency{
		{From: "alpha", To: "beta", AvgMS: 9, P50MS: 3, P99MS: 6}, {From: "alpha", To: "beta", P50MS: 80, Load: &record.Load{Direction: flow.Forward, Streams: 8}},
		{From: "beta", To: "alpha", LossRatio: 1},
	}
	got := Records(b, a, Options{})
	if diff := cmp.Diff([]Latency{{From: "alpha", To: "beta", Protocol: "icmp", BeforeP50: 2, AfterP50: 3, BeforeP99: 5, AfterP99: 6}}, got.Latency); diff != "" {
		t.Errorf("latency (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Cores{{Host: "alpha", Before: 2, After: 3, BeforePerGB: 2, AfterPerGB: 1.5}}, got.Rows[0].CPU, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("processors (-want +got):\n%s", diff)
	}
}

func TestOneRunTwice(t *testing.T) {
	b, a := holding(trial(1e9, []float64{1, 1.2, 0.8, 1.1})), holding(trial(1.1e9, []float64{1, 1.2, 0.8, 1.1}))
	b[0].ID, a[0].ID = "b", "a"
	got := Records([]record.Record{b[0], b[0], b[0]}, []record.Record{a[0], a[0]}, Options{})
	if r := got.Rows[0]; r.BeforeRuns != 1 || r.AfterRuns != 1 || r.Verdict != NotShown || len(got.Notes) != 4 {
		t.Errorf("%+v %q", r, got.Notes)
	}
}
