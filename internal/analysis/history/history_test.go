package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

var day0 = time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)

func TestOf(t *testing.T) {
	one := record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Started: day0.Add(time.Minute), Goodput: 5e8, GoodputLow: 4e8, GoodputHigh: 6e8, Ceiling: 1e9, Finding: &record.Finding{Cause: record.LineRate}}
	bare := record.Trial{From: "a", To: "b", Direction: flow.Both, Streams: 2, Protocol: "udp", Tool: "iperf2", Goodput: 1e8, Phase: record.PhaseAfter}
	got := Of(record.Record{ID: "r", Started: day0, Trials: []record.Trial{one, one, bare, bare}})
	want := []Result{
		{Key{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Protocol: "tcp", Tool: "linerate"}, Point{Run: "r", Started: day0.Add(time.Minute), Goodput: 5e8, Low: 4e8, High: 6e8, Ceiling: 1e9, Cause: record.LineRate}},
		// Without a time nobody knows whether they are one.
		{Key{From: "a", To: "b", Direction: flow.Both, Streams: 2, Protocol: "udp", Tool: "iperf2", Phase: record.PhaseAfter}, Point{Run: "r", Started: day0, Goodput: 1e8}},
		{Key{From: "a", To: "b", Direction: flow.Both, Streams: 2, Protocol: "udp", Tool: "iperf2", Phase: record.PhaseAfter}, Point{Run: "r", Started: day0, Goodput: 1e8}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSetting: traffic that was asked to be otherwise is another line; hosts
// that are otherwise are not.
func TestSetting(t *testing.T) {
	for want, trial := range map[string]record.Trial{
		"":                   {Ports: "chosen", MTU: 9000, Congest: "bbr"},
		"kernel's ports":     {Ports: "kernel"},
		"at most 100 Mbit/s": {RateLimit: 1e8},
		"with others":        {Group: "g1"},
		"mss=1448":           {Variant: "mss=1448", Lanes: []record.Lane{{Asked: &record.Socket{MSS: 1448}}}},
		"mtu 9000":           {Phase: record.PhaseStep, Step: "mtu 9000"},
		"sndbuf=8388608, rcvbuf=4194304, congestion=bbr, no-delay, pacing=1.00 Gbit/s, dscp=46, device=eth0": {Lanes: []record.Lane{{}, {Asked: &record.Socket{SndBuf: 8 << 20, RcvBuf: 4 << 20, Congestion: "bbr", NoDelay: true, Pacing: 1e9, DSCP: 46, Device: "eth0"}}}},
	} {
		if got := keyOf(trial).Setting; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	k := Key{From: "a", To: "b", Direction: flow.Forward, Streams: 2, Protocol: "tcp", Tool: "linerate"}
	turned := k.Turned()
	if turned.From != "b" || turned.Direction != flow.Reverse || turned.Turned() != k {
		t.Errorf("%+v", turned)
	}
	later := k
	later.Direction = flow.Both
	more := k
	more.Streams = 10
	if k.Compare(later) >= 0 || k.Compare(more) >= 0 || more.Compare(later) >= 0 || k.Compare(k) != 0 {
		t.Error("keys are not in the order of tables")
	}
}
