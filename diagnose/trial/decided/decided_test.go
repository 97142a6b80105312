package decided

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// doubtful is a trial at 100 Mbit/s of which nobody knows what limits it.
func doubtful() record.Trial {
	return record.Trial{
		From: "a", To: "b", Direction: flow.Forward, Streams: 2, Protocol: "tcp", Tool: "linerate",
		Goodput: 100 * unit.Mbps, Ceiling: 1 * unit.Gbps, Window: 3,
	}
}

// retransmitting has a trial send segments, some of them again.
func retransmitting(t record.Trial, segments, again uint64) record.Trial {
	t.Lanes = []record.Lane{{Way: flow.Forward, Retransmits: again, TCP: record.TCP{SegmentsOut: segments, SndMSS: 1448}}}
	return t
}

// probeOf is the trial that a probe of doubtful made.
func probeOf(kind record.ProbeKind, value float64, change func(*record.Trial)) record.Trial {
	t := doubtful()
	t.Variant = record.Decision{Probe: kind, Value: value}.Variant(t.Streams)
	if change != nil {
		change(&t)
	}
	return t
}

// openTo is a finding that leaves causes open.
func openTo(causes ...record.Cause) record.Finding {
	f := record.Finding{Cause: record.Unknown, From: "a", To: "b"}
	for _, c := range causes {
		f.Also = append(f.Also, record.Alternative{Cause: c, Confidence: 0.3})
	}
	return f
}

func running(rate unit.BitRate) func(*record.Trial) {
	return func(t *record.Trial) { t.Goodput = rate }
}

// arriving is UDP of which so much arrives, is lost, dropped by the socket, overtaken.
func arriving(rate unit.BitRate, lost, dropped, overtaken uint64) func(*record.Trial) {
	return func(t *record.Trial) {
		t.Protocol, t.Goodput, t.RateLimit = "udp", rate, 150*unit.Mbps
		t.UDP = &record.UDP{Sent: 100000, Received: 100000 - lost, Lost: lost, SocketDrops: dropped, Reordered: overtaken}
	}
}

// marked has every segment of the trial's marked by a queue on the way (ECN).
func marked(t record.Trial) record.Trial {
	t.Lanes = slices.Clone(t.Lanes)
	for i := range t.Lanes {
		t.Lanes[i].TCP.ECNMarks = t.Lanes[i].TCP.SegmentsOut
	}
	return t
}

func TestDecide(t *testing.T) {
	sizes := func(passed int) func(*record.Trial) {
		return func(t *record.Trial) {
			t.Sizes = []record.SizeProbe{{From: "a", To: "b", MTU: 9000, Answers: true, Sent: 3, Passed: passed, Passes: 1504}}
		}
	}
	for _, c := range []struct {
		name  string
		among []record.Cause
		probe record.Trial
		base  func(record.Trial) record.Trial
		want  record.Cause
		says  string
	}{
		{"four times the streams, four times the rate", []record.Cause{record.Shaper, record.ReceiveWindow}, probeOf(record.ProbeStreams, 8, func(t *record.Trial) { t.Streams, t.Goodput = 8, 390*unit.Mbps }), nil,
			record.ReceiveWindow, "With 8 streams instead of 2 the rate grew from 100 Mbit/s to 390 Mbit/s"},
		{"twice the streams, twice the rate, nothing lost", []record.Cause{record.Shaper, record.Congestion}, retransmitting(probeOf(record.ProbeStreams, 4, func(t *record.Trial) { t.Streams, t.Goodput = 4, 199*unit.Mbps }), 50000, 0),
			func(t record.Trial) record.Trial { return retransmitting(t, 25000, 0) }, record.Shaper, "something holds each flow to that rate"},
		{"twice the streams, twice the rate, with losses", []record.Cause{record.Shaper, record.Congestion}, retransmitting(probeOf(record.ProbeStreams, 4, func(t *record.Trial) { t.Streams, t.Goodput = 4, 199*unit.Mbps }), 50000, 500),
			func(t record.Trial) record.Trial { return retransmitting(t, 25000, 250) }, record.Congestion, "each stream has a limit of its own"},
		{"twice the streams, twice the rate, nothing lost but marked", []record.Cause{record.Shaper, record.Congestion}, marked(retransmitting(probeOf(record.ProbeStreams, 4, func(t *record.Trial) { t.Streams, t.Goodput = 4, 199*unit.Mbps }), 50000, 0)),
			func(t record.Trial) record.Trial { return marked(retransmitting(t, 25000, 0)) }, record.Congestion, "each stream has a limit of its own"},
		{"four times the streams, the same rate", []record.Cause{record.Shaper, record.ReceiveWindow}, probeOf(record.ProbeStreams, 8, func(t *record.Trial) { t.Streams = 8 }), nil,
			record.Shaper, "the limit is common to all of them"},
		{"a rate that may be chance", []record.Cause{record.Shaper, record.ReceiveWindow}, probeOf(record.ProbeStreams, 8, running(114*unit.Mbps)), nil, record.Unknown, "which may be chance"},
		{"more streams, less", []record.Cause{record.SenderCPU, record.Shaper, record.SendBuffer}, probeOf(record.ProbeStreams, 8, running(70*unit.Mbps)), nil, record.Unknown, "in each other's way"},
		{"larger buffers, more", []record.Cause{record.SendBuffer, record.Congestion}, probeOf(record.ProbeBuffer, 1<<25, running(400*unit.Mbps)), nil, record.SendBuffer, "With socket buffers of 32 MiB"},
		{"larger buffers, the same", []record.Cause{record.SendBuffer, record.Shaper}, probeOf(record.ProbeBuffer, 1<<25, nil), nil, record.Shaper, "no window or buffer"},
		{"longer, less", []record.Cause{record.Shaper, record.LineRate}, probeOf(record.ProbeLonger, 30, running(60*unit.Mbps)), nil, record.Shaper, "does not last"},
		{"longer, more", []record.Cause{record.Shaper, record.Congestion}, probeOf(record.ProbeLonger, 30, running(160*unit.Mbps)), nil, record.Congestion, "still growing"},
		{"slower, and nothing is lost any more", []record.Cause{record.Shaper, record.Congestion},
			probeOf(record.ProbeSlower, 70e6, func(t *record.Trial) { t.Goodput = 69 * unit.Mbps; *t = retransmitting(*t, 18000, 0) }),
			func(t record.Trial) record.Trial { return retransmitting(t, 26000, 130) }, record.Shaper, "the loss came of sending more than passes"},
		{"slower, and as much is lost", []record.Cause{record.Shaper, record.Congestion},
			probeOf(record.ProbeSlower, 70e6, func(t *record.Trial) { *t = retransmitting(*t, 18000, 80) }),
			func(t record.Trial) record.Trial { return retransmitting(t, 26000, 130) }, record.Congestion, "not lost for want of room"},
		{"slower, and too few segments for one to be lost", []record.Cause{record.Shaper, record.Congestion},
			probeOf(record.ProbeSlower, 70e6, func(t *record.Trial) { *t = retransmitting(*t, 900, 0) }),
			func(t record.Trial) record.Trial { return retransmitting(t, 26000, 26) }, record.Unknown, "too few segments"},
		{"slower, and less arrives than that", []record.Cause{record.Shaper, record.Application},
			probeOf(record.ProbeSlower, 70e6, func(t *record.Trial) { t.Goodput = 40 * unit.Mbps; *t = retransmitting(*t, 18000, 0) }),
			func(t record.Trial) record.Trial { return retransmitting(t, 26000, 130) }, record.Application, "no more than 40.0 Mbit/s arrives"},
		{"datagrams of which more arrive", []record.Cause{record.Shaper, record.ReceiveWindow}, probeOf(record.ProbeDatagrams, 150e6, arriving(149*unit.Mbps, 0, 0, 0)), nil, record.ReceiveWindow, "the way has room"},
		{"datagrams of which no more arrive", []record.Cause{record.Shaper, record.ReceiveWindow}, probeOf(record.ProbeDatagrams, 150e6, arriving(101*unit.Mbps, 33000, 0, 0)), nil, record.Shaper, "whatever the protocol"},
		{"datagrams of which some are lost all the same", []record.Cause{record.Shaper, record.Congestion}, probeOf(record.ProbeDatagrams, 150e6, arriving(149*unit.Mbps, 500, 0, 0)), nil, record.Congestion, "lost for another reason"},
		{"datagrams that the socket drops", []record.Cause{record.Shaper, record.ReceiverCPU}, probeOf(record.ProbeDatagrams, 150e6, arriving(101*unit.Mbps, 33000, 32000, 0)), nil, record.ReceiverCPU, "socket was too full"},
		{"datagrams that are held back", []record.Cause{record.Congestion, record.SenderCPU}, probeOf(record.ProbeDatagrams, 150e6, arriving(99*unit.Mbps, 0, 0, 0)), nil, record.SenderCPU, "the sender itself is the limit"},
		{"datagrams that overtake each other", []record.Cause{record.Congestion, record.Reordering}, probeOf(record.ProbeDatagrams, 150e6, arriving(149*unit.Mbps, 0, 0, 9000)), nil, record.Reordering, "overtaken"},
		{"large packets vanish", []record.Cause{record.MTU, record.Congestion}, probeOf(record.ProbePacketSize, 9000, sizes(0)), nil, record.MTU, "do not get from a to b and back: no more than 1504 pass"},
		{"large packets pass", []record.Cause{record.MTU, record.Congestion}, probeOf(record.ProbePacketSize, 9000, sizes(3)), nil, record.Congestion, "Packets of 9000 bytes pass"},
		{"nobody answers", []record.Cause{record.MTU, record.Congestion}, probeOf(record.ProbePacketSize, 9000, nil), nil, record.Unknown, "Nobody answers"},
		{"others use the link", []record.Cause{record.LineRate, record.Application}, probeOf(record.ProbeIdle, 0, func(t *record.Trial) {
			t.Goodput, t.Links = 0, []record.LinkUse{{Host: "a", Link: "eth0", TxPayload: 700 * unit.Mbps, Ceiling: unit.Gbps}}
		}), nil, record.LineRate, "eth0 of a carried 70.0 %"},
		{"others use the receiver's core", []record.Cause{record.SenderCPU, record.ReceiverCPU}, probeOf(record.ProbeIdle, 0, func(t *record.Trial) {
			t.Goodput, t.CPU = 0, []record.CPUUse{{Host: "b", Busiest: 0.99}, {Host: "a", Busiest: 0.02}}
		}), nil, record.ReceiverCPU, "a core of b was busy 99.0 %"},
		{"nobody does anything", []record.Cause{record.LineRate, record.Shaper}, probeOf(record.ProbeIdle, 0, func(t *record.Trial) { t.Goodput = 0 }), nil, record.Unknown, "idle"},
	} {
		trial := doubtful()
		if c.base != nil {
			trial = c.base(trial)
		}
		got := By(predict.Fabric{}, openTo(c.among...), trial, []record.Trial{c.probe})
		if got.Cause != c.want || !strings.Contains(got.Summary, c.says) {
			t.Errorf("%s: %s (%.2f), want %s: %s", c.name, got.Cause, got.Confidence, c.want, got.Summary)
		}
		if known := got.Cause != record.Unknown; known != (got.Confidence >= decided) || known && got.Remedy == "" || got.Decide.Probe != "" || got.Rate != trial.Goodput {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestDecideBeside: a network that has changed since is judged by what it does
// now; what no probe touches stays as it was.
func TestDecideBeside(t *testing.T) {
	same := probeOf(record.ProbeSame, 0, running(400*unit.Mbps))
	more := probeOf(record.ProbeStreams, 8, running(400*unit.Mbps))
	f := openTo(record.Shaper, record.ReceiveWindow)
	if got := By(predict.Fabric{}, f, doubtful(), []record.Trial{same, more}); got.Cause != record.Shaper {
		t.Errorf("four times what it was, with as many streams too: %s: %s", got.Cause, got.Summary)
	}
	if got := By(predict.Fabric{}, f, doubtful(), []record.Trial{more}); got.Cause != record.ReceiveWindow {
		t.Errorf("alone: %s: %s", got.Cause, got.Summary)
	}
	for _, none := range [][]record.Trial{nil, {same}, {doubtful()}} {
		if got := By(predict.Fabric{}, f, doubtful(), none); got.Summary != f.Summary || len(got.Also) != 2 {
			t.Errorf("%d trials that are no probes: %+v", len(none), got)
		}
	}
}

// TestDecideNotMet: a path that is full when it is measured again was not limited by
// what limited the trial: probes beside it say nothing of that.
func TestDecideNotMet(t *testing.T) {
	f := openTo(record.ReceiveWindow)
	f.Cause, f.Confidence, f.Summary = record.HashImbalance, 0.45, "the ports fell that way."
	full := probeOf(record.ProbeSame, 0, func(t *record.Trial) {
		t.Goodput = 990 * unit.Mbps
		t.Links = []record.LinkUse{{Host: "a", Link: "eth0", TxPayload: 990 * unit.Mbps, Ceiling: unit.Gbps}}
	})
	got := By(predict.Fabric{}, f, doubtful(), []record.Trial{full, probeOf(record.ProbeStreams, 8, running(500*unit.Mbps))})
	if got.Cause != record.HashImbalance || got.Confidence != 0.45 || !strings.Contains(got.Summary, "comes and goes") {
		t.Errorf("%s %.2f: %s", got.Cause, got.Confidence, got.Summary)
	}
}

// TestDecideSwinging: where the limit comes and goes a probe meets another state of it,
// and does not replace what was found with confidence.
func TestDecideSwinging(t *testing.T) {
	f := openTo(record.Shaper)
	f.Cause, f.Confidence, f.Summary = record.Congestion, 0.65, "something drops."
	probes := []record.Trial{probeOf(record.ProbeStreams, 8, func(t *record.Trial) { t.Streams = 8 }), probeOf(record.ProbeDatagrams, 150e6, arriving(101*unit.Mbps, 33000, 0, 0))}
	for _, c := range []struct {
		high, low unit.BitRate
		want      record.Cause
	}{{110, 90, record.Shaper}, {190, 10, record.Congestion}} {
		trial := doubtful()
		for range 5 {
			trial.Blocks = append(trial.Blocks, c.high*unit.Mbps, c.low*unit.Mbps)
		}
		got := By(predict.Fabric{}, f, trial, probes)
		if got.Cause != c.want || got.Confidence > 0.6 && c.want == f.Cause {
			t.Errorf("%v to %v: %s %.2f: %s", c.low, c.high, got.Cause, got.Confidence, got.Summary)
		}
	}
}

// TestDecideAgainst: evidence that was strong before is not thrown away for
// one probe that does not fit it, and what does not fit is said.
func TestDecideAgainst(t *testing.T) {
	f := record.Finding{Cause: record.ReceiveWindow, Confidence: 0.9, Summary: "window", Remedy: "raise it", Also: []record.Alternative{{Cause: record.Application, Confidence: 0.1}}}
	got := By(predict.Fabric{}, f, doubtful(), []record.Trial{probeOf(record.ProbeLonger, 30, running(60*unit.Mbps))})
	if got.Cause != record.ReceiveWindow || got.Confidence >= 0.9 || len(got.Against) != 1 || got.Remedy != "raise it" {
		t.Errorf("%+v", got)
	}
}

// TestPlainly: every cause has words and a usual remedy.
func TestPlainly(t *testing.T) {
	for _, cause := range record.Causes() {
		if cause != record.Unknown && (plainly[cause] == "" || len(remedy.Usual(cause)) == 0) {
			t.Errorf("%s has no words", cause)
		}
	}
}
