package probes

import (
	"os"
	"testing"
	"time"

	"github.com/linerate/linerate/diagnose/trial/decided"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	hidden  = 60 * unit.Mbps // of a shaper that nobody declared
	farAway = 10 * time.Millisecond
	// A longer one would hold a sender's datagrams back, which never leave the
	// kernel here: their socket has no room for more.
	shortQueue = 10 * time.Millisecond
)

// faults are what a trial alone may not tell apart, and the probes that do: with
// the causes that each is to rule out.
func faults() []fault {
	return []fault{
		{"a shaper on the way", record.Shaper, (*stand).shaped, []trying{
			{record.ProbeStreams, []record.Cause{record.Congestion, record.ReceiveWindow}},
			{record.ProbeDatagrams, []record.Cause{record.Congestion, record.ReceiveWindow, record.Application}},
			{record.ProbeBuffer, []record.Cause{record.ReceiveWindow, record.SendBuffer}},
		}},
		{"loss on the way", record.Congestion, (*stand).lossy, []trying{
			{record.ProbeStreams, []record.Cause{record.Shaper, record.LineRate}},
			{record.ProbeDatagrams, []record.Cause{record.Shaper, record.ReceiveWindow, record.Application}},
			{record.ProbeSlower, []record.Cause{record.Shaper, record.ReceiverCPU}},
		}},
		{"a small receive window", record.ReceiveWindow, (*stand).narrow, []trying{
			{record.ProbeBuffer, []record.Cause{record.Shaper, record.Congestion, record.Application}},
			{record.ProbeStreams, []record.Cause{record.Shaper, record.CardSlot}},
			{record.ProbeDatagrams, []record.Cause{record.Shaper, record.Congestion}},
		}},
		{"a jumbo hole", record.MTU, func(s *stand) { s.hole(0, "0") }, []trying{
			{record.ProbePacketSize, []record.Cause{record.Congestion, record.AsymmetricRoute}},
		}},
	}
}

type fault struct {
	name  string
	cause record.Cause
	spoil func(*stand)
	by    []trying
}

// trying is a probe and the causes that it tells from the fault's.
type trying struct {
	probe record.ProbeKind
	from  []record.Cause
}

// shaped has the switch let less through than the links could, with a short
// queue before it: what is sent beyond is lost. The delay is the other way's.
func (s *stand) shaped() {
	s.t.Helper()
	floor.Must(s.t, s.middle.Builder.Lose(port("near", 0), 2*farAway, 0, packets, true))
	floor.Must(s.t, s.middle.Builder.Shape(port("far", 0), hidden, 64*unit.KiB, shortQueue))
}

func (s *stand) lossy() { s.lose(farAway, 0.01) }

// narrow gives the receiver windows that a way as long as this does not bear.
func (s *stand) narrow() {
	s.lose(farAway, 0)
	s.set(s.far, map[string]string{"ipv4/tcp_rmem": "4096 65536 131072"})
}

// TestProbesDecide: with causes that are alike likely, each probe that is said
// to tell them apart finds the one that is there. Every other
// draw takes one fault and one probe; PROVE_PROBES=all takes all.
func TestProbesDecide(t *testing.T) {
	for i, f := range faults() {
		if turn(t, 1, i, len(faults())) {
			t.Run(f.name, func(t *testing.T) { f.decide(t) })
		}
	}
}

func all() bool { return os.Getenv("PROVE_PROBES") == "all" }

// turn reports whether it is case i's turn among n of the tests that run on
// odd or on even draws.
func turn(t *testing.T, odd, i, n int) bool {
	t.Helper()
	drawn := int(floor.Draw(t) % 1e9)
	return all() || drawn%2 == odd && drawn/2%n == i
}

// decide measures the fault once and probes it.
func (f fault) decide(t *testing.T) {
	s := newStand(t, 1)
	f.spoil(s)
	c := s.campaign()
	floor.Must(t, c.Latency(t.Context()))
	begin := time.Now()
	floor.Must(t, c.Run(t.Context(), forward(1)))
	t.Logf("measured in %v", time.Since(begin).Round(100*time.Millisecond))
	trial := c.Record().Trials[0]
	t.Logf("%v of %v; alone: %s (%.0f %%): %s", trial.Goodput, trial.Ceiling, trial.Finding.Cause, 100*trial.Finding.Confidence, trial.Finding.Summary)
	for i, by := range f.by {
		if all() || i == int(floor.Draw(t)%1e9)/(2*len(faults()))%len(f.by) {
			f.settle(t, c, trial, by)
		}
	}
}

// settle begins with causes that are alike likely, and makes one probe.
func (f fault) settle(t *testing.T, c *campaign.Campaign, trial record.Trial, by trying) {
	t.Helper()
	doubt := record.Finding{Cause: record.Unknown, Decide: record.Decision{Probe: by.probe}}
	for _, cause := range append([]record.Cause{f.cause}, by.from...) {
		doubt.Also = append(doubt.Also, record.Alternative{Cause: cause, Confidence: 0.25})
	}
	begin := time.Now()
	made, err := c.Probe(t.Context(), trial, campaign.Probes(trial, doubt.Decide))
	floor.Must(t, err)
	got := decided.By(c.State(), doubt, trial, made)
	t.Logf("%s, %v: %s (%.0f %%): %s", by.probe, time.Since(begin).Round(100*time.Millisecond), got.Cause, 100*got.Confidence, got.Summary)
	if got.Cause != f.cause {
		t.Errorf("%s by %s: %s (%.2f), want %s", f.name, by.probe, got.Cause, got.Confidence, f.cause)
		for _, a := range got.Also {
			t.Logf("also %s (%.2f)", a.Cause, a.Confidence)
		}
		for _, m := range made {
			t.Logf("%s: %v, UDP %+v", m.Variant, m.Goodput, m.UDP)
		}
	}
}
