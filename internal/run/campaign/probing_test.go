package campaign

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestProbes: each probe varies what it is called after and nothing else, in
// bounds of its own.
func TestProbes(t *testing.T) {
	trial := record.Trial{From: "a", To: "b", Direction: flow.Both, Streams: 2, Protocol: "tcp", Tool: "linerate", Ports: "kernel", MTU: 9000,
		Congest: "cubic", Goodput: 200 * unit.Mbps, Ceiling: unit.Gbps, Window: 3}
	plain := measure.Spec{From: "a", To: "b", Direction: flow.Both, Streams: 2, Protocol: "tcp", Ports: "kernel", Socket: record.Socket{Congestion: "cubic"}, Duration: 3 * time.Second}
	for _, c := range []struct {
		d     record.Decision
		count int // of probes, the trial again among them
		value float64
		vary  func(*measure.Spec)
		says  string
	}{
		{record.Decision{Probe: record.ProbeStreams}, 2, 8, func(s *measure.Spec) { s.Streams = 8 }, "8 streams instead of 2"},
		{record.Decision{Probe: record.ProbeStreams, Value: 3}, 2, 3, func(s *measure.Spec) { s.Streams = 3 }, "3 streams instead of 2"},
		{record.Decision{Probe: record.ProbeLonger}, 2, 12, func(s *measure.Spec) { s.Duration = 12 * time.Second }, "the same for 12 s"},
		{record.Decision{Probe: record.ProbeLonger, Value: 3600}, 2, 3600, func(s *measure.Spec) { s.Duration = mostLonger }, "the same for 3600 s"},
		{record.Decision{Probe: record.ProbeSlower}, 2, 140e6, func(s *measure.Spec) { s.Socket.Pacing = 35 * unit.Mbps }, "the same, paced at 140 Mbit/s in sum"},
		{record.Decision{Probe: record.ProbeDatagrams}, 2, 300e6, func(s *measure.Spec) { s.Protocol, s.Socket, s.Rate = "udp", record.Socket{}, 150*unit.Mbps }, "UDP at 300 Mbit/s"},
		{record.Decision{Probe: record.ProbeDatagrams, Value: 5e9}, 2, 950e6, func(s *measure.Spec) { s.Protocol, s.Socket, s.Rate = "udp", record.Socket{}, 475*unit.Mbps }, "UDP at 950 Mbit/s"},
		{record.Decision{Probe: record.ProbeBuffer}, 2, 1 << 25, func(s *measure.Spec) { s.Socket.SndBuf, s.Socket.RcvBuf = 32*unit.MiB, 32*unit.MiB }, "the same with socket buffers of 32 MiB"},
		{record.Decision{Probe: record.ProbeIdle}, 1, 0, func(s *measure.Spec) { s.Idle, s.Duration = true, idleProbe }, "connections that send nothing, beside the counters of links and processors"},
		{record.Decision{Probe: record.ProbePacketSize}, 1, 9000, func(*measure.Spec) {}, "single packets of up to 9000 bytes"},
		{record.Decision{Probe: record.ProbeObserved}, 1, 0, func(*measure.Spec) {}, "the same, with both hosts observed"},
		{record.Decision{}, 0, 0, nil, ""},
		{record.Decision{Probe: "prayer"}, 0, 0, nil, ""},
	} {
		got := Probes(trial, c.d)
		if len(got) != c.count {
			t.Errorf("%s: %d probes, want %d", c.d.Probe, len(got), c.count)
			continue
		}
		if c.count == 0 {
			continue
		}
		want := plain
		c.vary(&want)
		d := c.d
		d.Value = c.value
		want.Variant = d.Variant(2)
		p := got[len(got)-1]
		if diff := cmp.Diff(want, p.Spec); diff != "" || p.Says != c.says || p.Takes <= 0 {
			t.Errorf("%s: says %q, %v (-want +got)\n%s", c.d.Probe, p.Says, p.Takes, diff)
		}
		if c.count == 2 && (got[0].Decision.Probe != record.ProbeSame || got[0].Spec.Streams != 2 || got[0].Spec.Idle) {
			t.Errorf("%s: first %+v", c.d.Probe, got[0])
		}
	}
}

// TestProbesOfLittle: of a trial that carried nothing, or was another tool's,
// no probe is made up.
func TestProbesOfLittle(t *testing.T) {
	nothing := record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Window: 5}
	for _, kind := range []record.ProbeKind{record.ProbeSlower, record.ProbeDatagrams} {
		if got := Probes(nothing, record.Decision{Probe: kind}); len(got) != 0 {
			t.Errorf("%s of nothing: %+v", kind, got)
		}
	}
	iperf := record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 4, Protocol: "udp", Tool: "iperf3", RateLimit: unit.Mbps, Goodput: unit.Mbps, Window: 600}
	got := Probes(iperf, record.Decision{Probe: record.ProbeObserved})
	if len(got) != 1 || got[0].Spec.Tool != "" || got[0].Spec.Rate != 0 || got[0].Spec.Duration != mostProbe {
		t.Errorf("of iperf3's: %+v", got)
	}
}
