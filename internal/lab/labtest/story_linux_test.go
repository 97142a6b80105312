package labtest

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// open builds a topology and a campaign on it, both gone when the test ends.
func open(t *testing.T, net lab.Topology, ports string) *campaign.Campaign {
	t.Helper()
	down, err := lab.Up(t.Context(), net)
	floor.Must(t, err)
	t.Cleanup(func() {
		if err := down(); err != nil {
			t.Error(err)
		}
	})
	f, err := fabric.Parse("lab.yaml", []byte(net.Fabric([]int{1, 2}, ports)))
	floor.Must(t, err)
	c, err := campaign.Open(t.Context(), campaign.Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: testjournal.Dir(t)}, BackEnd: "test", Tell: func(e campaign.Event) {
		if e.Kind == campaign.Proven {
			t.Logf("%s: %v, then %v: %s", e.Step.Change, e.Step.Before, e.Step.After, e.Step.Verdict)
		}
	}})
	floor.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func topology(t *testing.T, name string) lab.Topology {
	t.Helper()
	s, ok := lab.Named(name)
	if !ok {
		t.Fatalf("no scenario %s", name)
	}
	return s.Net
}

// runs is how often a proof is repeated: a sample here, all of it in
// `make prove-...`.
func runs(t *testing.T, sample int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("PROVE_RUNS"))
	if err != nil {
		return sample
	}
	return n
}

// TestChosenPortsSplitEvenly: two streams on two links, ports chosen: each
// link carries half, every time.
func TestChosenPortsSplitEvenly(t *testing.T) {
	c := open(t, topology(t, "two-links-tuned"), "chosen")
	for i := range runs(t, 1) {
		floor.Must(t, c.Run(t.Context(), campaign.Matrix{Streams: []int{2}, Directions: []flow.Direction{flow.Forward}, Ports: "chosen", Duration: 3 * time.Second}))
		trial := c.Record().Trials[i]
		shares := linkShares(trial, "alpha")
		t.Logf("run %d: %v over %.2f s, links carry %.3f", i+1, trial.Goodput, trial.Window, shares)
		for _, share := range shares {
			if share < 0.47 || share > 0.53 {
				t.Errorf("run %d: links carry %.3f of the bytes, want 0.50 +- 0.03", i+1, shares)
			}
		}
		if trial.Window < 3 {
			t.Errorf("run %d: window of %.2f s, want 3", i+1, trial.Window)
		}
		checkRecord(t, trial)
	}
	if t.Failed() {
		return
	}
	checkPredictions(t, c.Record())
}

// linkShares is what part of a host's sent bytes each of its links carried.
func linkShares(trial record.Trial, host string) []float64 {
	return shares(trial, host, func(l record.LinkUse) float64 { return float64(l.TxPayload) })
}

// shares is what part of a host's load each of its links has.
func shares(trial record.Trial, host string, load func(record.LinkUse) float64) []float64 {
	var loads []float64
	sum := 0.0
	for _, l := range trial.Links {
		if l.Host == host {
			loads = append(loads, load(l))
			sum += load(l)
		}
	}
	for i := range loads {
		loads[i] /= sum
	}
	return loads
}

// checkRecord holds a trial to the record's own rules.
func checkRecord(t *testing.T, trial record.Trial) {
	t.Helper()
	for _, wrong := range trial.Check() {
		t.Errorf("%s %d streams: %s", trial.Direction, trial.Streams, wrong)
	}
	share, ok := trial.ShareOfIngress()
	if !ok {
		t.Errorf("%s %d streams: the receivers' links were not counted", trial.Direction, trial.Streams)
	}
	t.Logf("%s %d streams: goodput is %.4f of what the receivers' links took in", trial.Direction, trial.Streams, share)
}

// checkPredictions holds every row that the processors did not limit to the
// prediction: rate within 10 %, and the limit the one that was diagnosed.
func checkPredictions(t *testing.T, r record.Record) {
	t.Helper()
	for _, trial := range r.Trials {
		if trial.CPUBound() {
			t.Logf("%s %s %d streams: limited by the processor, not compared", trial.Phase, trial.Direction, trial.Streams)
			continue
		}
		ratio := float64(trial.Goodput / trial.Predicted)
		if ratio < 0.9 || ratio > 1.1 {
			t.Errorf("%s %s %d streams: measured %v, predicted %v", trial.Phase, trial.Direction, trial.Streams, trial.Goodput, trial.Predicted)
		}
		if trial.Finding.Cause != trial.Limit {
			t.Errorf("%s %s %d streams: diagnosed %s, predicted %s (%s)", trial.Phase, trial.Direction, trial.Streams, trial.Finding.Cause, trial.Limit, trial.Finding.Summary)
		}
	}
}

// TestJumboLostInTheMiddle: the hosts' links take 9000 bytes, the switch does
// not: the probe finds out and the MTU is put back.
func TestJumboLostInTheMiddle(t *testing.T) {
	net := topology(t, "two-links")
	net.Switch.MTU = 1500
	c := open(t, net, "kernel")
	_, err := c.Tune(t.Context(), campaign.Tuning{Path: c.State().Paths[0], Direction: flow.Forward, Duration: time.Second, Bare: true})
	floor.Must(t, err)
	tried := false
	for _, s := range c.Record().Steps {
		if s.Change == "MTU 9000 on bond0 of alpha and bond0 of beta" {
			tried = true
			if s.Kept {
				t.Errorf("kept although jumbo frames are lost: %+v", s)
			}
		}
	}
	if !tried {
		t.Errorf("the MTU was never tried: %+v", c.Record().Steps)
	}
	for name, h := range c.State().Hosts {
		for _, link := range []string{"bond0", "eth0", "eth1"} {
			if l, _ := h.Link(link); l.MTU != 1500 {
				t.Errorf("%s of %s was left at MTU %d", link, name, l.MTU)
			}
		}
	}
}

// TestTuneFromOneStream is the whole loop in one direction: it ends above
// 97 % of the ceiling, with the policy changed and the buffers put back.
func TestTuneFromOneStream(t *testing.T) {
	c := open(t, topology(t, "two-links"), "kernel")
	path := c.State().Paths[0]
	mtu := tune.LargestMTU(c.State(), path.From, path.To)
	if mtu != 9000 {
		t.Fatalf("the links take MTU %d, want 9000", mtu)
	}
	rmem := c.State().Hosts["alpha"].Sysctls["net.ipv4.tcp_rmem"]
	tuned, err := c.Tune(t.Context(), campaign.Tuning{Path: path, Direction: flow.Forward, Duration: 1500 * time.Millisecond, Thorough: true, Bare: true, CeilingMTU: mtu})
	floor.Must(t, err)
	traffic := tuned.Traffic
	if traffic.Streams != 2 || traffic.Ports != "chosen" {
		t.Errorf("tuned to %d streams, ports %s; want 2 chosen", traffic.Streams, traffic.Ports)
	}
	floor.Must(t, c.Run(t.Context(), campaign.Matrix{Phase: record.PhaseAfter, Streams: []int{2}, Directions: []flow.Direction{flow.Forward}, Ports: "chosen", Duration: 3 * time.Second, CeilingMTU: mtu}))
	trials := c.Record().Trials
	last := trials[len(trials)-1]
	if share := float64(last.Goodput / last.Ceiling); share < 0.97 || last.Finding.Cause != record.LineRate {
		t.Errorf("%v is %.3f of the ceiling of %v (%s), want 0.97 and line-rate", last.Goodput, share, last.Ceiling, last.Finding.Cause)
	}
	bond, _ := c.State().Hosts["alpha"].Link("bond0")
	if bond.Bond.HashPolicy != netstate.Layer34 || bond.MTU != 9000 {
		t.Errorf("alpha ended with %s, MTU %d", bond.Bond.HashPolicy, bond.MTU)
	}
	if now := c.State().Hosts["alpha"].Sysctls["net.ipv4.tcp_rmem"]; now != rmem {
		t.Errorf("buffers did not help but were left at %q, were %q", now.Value, rmem.Value)
	}
}
