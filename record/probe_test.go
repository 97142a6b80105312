package record

import (
	"testing"

	"github.com/linerate/linerate/flow"
)

func TestProbeVariant(t *testing.T) {
	for _, d := range []Decision{{Probe: ProbeStreams, Value: 8}, {Probe: ProbeIdle}, {Probe: ProbeSlower, Value: 1.25e9}, {Probe: ProbePacketSize, Value: 9000}} {
		kind, value, ok := Trial{Variant: d.Variant(2)}.Probe()
		if kind != d.Probe || value != d.Value || !ok {
			t.Errorf("%+v as %q came back as %s %v %v", d, d.Variant(2), kind, value, ok)
		}
	}
	for _, v := range []string{"", "mss=1448", "probe=", "probe=:3", "streams=8"} {
		if kind, _, ok := (Trial{Variant: v}).Probe(); ok {
			t.Errorf("%q is a probe of kind %q", v, kind)
		}
	}
}

// TestProbesOf: a probe is of the trial that it was made for, and of no other.
func TestProbesOf(t *testing.T) {
	streams := Decision{Probe: ProbeStreams, Value: 8}
	one := Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 1}
	two := Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 2}
	back := Trial{From: "a", To: "b", Direction: flow.Reverse, Streams: 2}
	probe := Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 8, Variant: streams.Variant(2)}
	r := Record{Trials: []Trial{one, two, back, probe}}
	for _, c := range []struct {
		trial Trial
		want  int
	}{{one, 0}, {two, 1}, {back, 0}} {
		if got := r.ProbesOf(c.trial); len(got) != c.want {
			t.Errorf("%s, %d streams: %d probes, want %d", c.trial.Direction, c.trial.Streams, len(got), c.want)
		}
	}
}
