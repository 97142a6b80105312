package measure

import (
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/analysis/series"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func TestDoubtful(t *testing.T) {
	sound := func() record.Trial {
		return record.Trial{Goodput: 900, Ceiling: 1000, Predicted: 950, Lanes: []record.Lane{
			{Goodput: 450, TCP: record.TCP{SndMSS: 8948, CongestionState: "open"}}, {Goodput: 450, TCP: record.TCP{SndMSS: 8948}},
		}}
	}
	for _, c := range []struct {
		name   string
		change func(*record.Trial)
		want   bool
	}{
		{"as predicted", func(*record.Trial) {}, false},
		{"half of the ceiling, as predicted", func(t *record.Trial) { t.Ceiling = 4000 }, false},
		{"less than half of what was predicted", func(t *record.Trial) { t.Predicted = 2000 }, true},
		{"less than half of the ceiling, no prediction", func(t *record.Trial) { t.Predicted, t.Ceiling = 0, 2000 }, true},
		{"nothing to compare with", func(t *record.Trial) { t.Predicted, t.Ceiling = 0, 0 }, false},
		{"little, as asked for", func(t *record.Trial) { t.Predicted, t.RateLimit = 9000, 900 }, false},
		{"a lane that carried nothing", func(t *record.Trial) { t.Lanes[1].Goodput = 0 }, true},
		{"timeouts", func(t *record.Trial) { t.Lanes[1].TCP.Timeouts = 1 }, true},
		{"in the middle of a timeout", func(t *record.Trial) { t.Lanes[0].TCP.CongestionState = "loss" }, true},
		{"segments that shrank", func(t *record.Trial) { t.Lanes[0].TCP.SndMSS = 1024 }, true},
		{"segments that were asked for", func(t *record.Trial) {
			t.Lanes[0].TCP.SndMSS, t.Lanes[0].Asked = 1024, &record.Socket{MSS: 1036}
		}, false},
		{"no TCP at all", func(t *record.Trial) { t.Lanes[0].TCP, t.Lanes[1].TCP = record.TCP{}, record.TCP{} }, false},
	} {
		trial := sound()
		c.change(&trial)
		if got := Doubtful(trial, 8948); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestSilent: one byte at one receiver ends the silence; what a sender sent
// does not, and a slow offer is none.
func TestSilent(t *testing.T) {
	sample := func(bytes ...uint64) agentapi.Sample { return agentapi.Sample{Bytes: bytes} }
	for _, c := range []struct {
		name     string
		receiver []agentapi.Sample
		spec     Spec
		want     bool
	}{
		{"nothing", []agentapi.Sample{sample(0, 0), sample(0, 0)}, Spec{}, true},
		{"not sampled yet", nil, Spec{}, true},
		{"the openings were counted", []agentapi.Sample{sample(20, 20), sample(20, 20)}, Spec{}, true},
		{"a byte", []agentapi.Sample{sample(0, 0), sample(0, 1), sample(0, 1)}, Spec{}, false},
		{"a slow offer", []agentapi.Sample{sample(0), sample(0)}, Spec{Rate: 1 * unit.Kbps}, false},
		{"an offer", []agentapi.Sample{sample(0), sample(0)}, Spec{Rate: 1 * unit.Mbps}, true},
		{"nothing is to be sent", []agentapi.Sample{sample(0), sample(0)}, Spec{Idle: true}, false},
	} {
		r := &round{trials: []*trial{{spec: c.spec}}, ends: ends{
			{sending: true, samples: []agentapi.Sample{sample(0), sample(1 << 20)}}, {samples: c.receiver},
		}}
		if got := r.silent(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestPatience: a long way's timeouts are longer, and no wait is without end.
func TestPatience(t *testing.T) {
	for rtt, want := range map[time.Duration]time.Duration{0: silenceLeast, 100 * time.Millisecond: silenceLeast + 1200*time.Millisecond, time.Second: longestWarm} {
		sample := agentapi.Sample{TCP: []agentapi.TCPCount{{Last: record.TCP{RTTMS: unit.Milliseconds(rtt)}}}}
		r := &round{ends: ends{{sending: true, samples: []agentapi.Sample{sample}}}}
		if got := r.patience(); got != want {
			t.Errorf("round trip %v: %v, want %v", rtt, got, want)
		}
	}
}

// TestAfterSilence: a steady rate after seconds of nothing is steady as soon as
// any other, and the indexes are the whole series'.
func TestAfterSilence(t *testing.T) {
	const tick = 100 * time.Millisecond
	of := func(silent, steady int) (s series.Series) {
		for i := range silent + steady {
			p := series.Point{From: time.Duration(i) * tick, To: time.Duration(i+1) * tick}
			if i >= silent {
				p.Rate = 1e9
			}
			s = append(s, p)
		}
		return s
	}
	for _, c := range []struct {
		silent, steady int
		over           bool
		first          int
	}{{35, 12, true, 36}, {35, 3, false, 36}, {0, 12, true, 1}, {35, 0, false, 35}} {
		w := afterSilence(of(c.silent, c.steady))
		if w.Over != c.over || w.First != c.first {
			t.Errorf("%d silent and %d steady points: %+v, want over %v from %d on", c.silent, c.steady, w, c.over, c.first)
		}
	}
	if w := of(35, 12).Window(); w.Over && w.First > 30 {
		t.Errorf("a plain window leaves the silence out too, %+v: this needs no test", w)
	}
}
