package paths

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const linkRate = 100 * unit.Mbps

// payload is what a link of a rate carries at MTU 1500 with timestamps.
func payload(rate unit.BitRate) unit.BitRate { return rate * 1448 / 1514 }

// share is what of the expected a rate is; it complains below 97 %, and above
// what is possible.
func share(t *testing.T, what string, got, want unit.BitRate) {
	t.Helper()
	if s := float64(got / want); s < 0.97 || s > 1.02 {
		t.Errorf("%s carried %v, %.1f %% of %v", what, got, 100*s, want)
	}
}

// TestTwoInterfaces is the experiment of two interfaces a host with a route to
// each single address of the other, in one command: both links carry what
// they can, at the same time, and both ways do as well as one.
func TestTwoInterfaces(t *testing.T) {
	s := newStand(t, "a", "b")
	s.cable("a", "ens3", "172.16.0.4/32", "b", "ens3", "172.16.0.104/32", linkRate)
	s.cable("a", "ens4", "172.16.0.5/32", "b", "ens4", "172.16.0.105/32", linkRate)
	s.must("a", "ip route add 172.16.0.104/32 via 172.16.0.4 dev ens3", "ip route add 172.16.0.105/32 via 172.16.0.5 dev ens4")
	s.must("b", "ip route add 172.16.0.4/32 via 172.16.0.104 dev ens3", "ip route add 172.16.0.5/32 via 172.16.0.105 dev ens4")
	c := s.campaign(s.fabric("a", "b"), nil)
	floor.Must(t, c.CheckRoutes(t.Context()))
	m := campaign.Matrix{Streams: []int{2}, Directions: []flow.Direction{flow.Forward, flow.Both}, Ports: "chosen", Duration: 1500 * time.Millisecond}
	trials := unhindered(t, c, 2, func() error { return c.Run(t.Context(), m) })
	for _, trial := range trials {
		used := make(map[string]unit.BitRate)
		for _, l := range trial.Lanes {
			used[string(l.Way)+" "+l.Src.String()] += l.Goodput
		}
		want := 2 * len(trial.Direction.Ways())
		if len(used) != want {
			t.Errorf("%s: %d lanes in use, want %d: %v", trial.Direction, len(used), want, used)
		}
		for lane, rate := range used {
			share(t, string(trial.Direction)+", "+lane, rate, payload(linkRate))
		}
		if math.Abs(float64(trial.Ceiling/(payload(linkRate)*unit.BitRate(want))-1)) > 0.001 {
			t.Errorf("%s: ceiling %v", trial.Direction, trial.Ceiling)
		}
		for _, n := range trial.Check() {
			t.Errorf("%s: %s", trial.Direction, n)
		}
	}
	if both := trials[1]; both.Direction == flow.Both {
		share(t, "forward of both", both.Forward, 2*payload(linkRate))
		share(t, "reverse of both", both.Reverse, 2*payload(linkRate))
	}
}

// unhindered measures until the machine's own processor did not limit any of
// the trials, a few times at most, and returns the last so many.
func unhindered(t *testing.T, c *campaign.Campaign, want int, measure func() error) []record.Trial {
	t.Helper()
	for try := 1; ; try++ {
		before := len(c.Record().Trials)
		floor.Must(t, measure())
		trials := c.Record().Trials[before:]
		if len(trials) != want {
			t.Fatalf("%d trials, failures %+v", len(trials), c.Record().Failures)
		}
		if try == 3 || !slices.ContainsFunc(trials, record.Trial.CPUBound) {
			return trials
		}
		t.Logf("try %d: the processor was full, measured again", try)
	}
}

// TestTogether: one host towards two at once, over a link each and then over
// one that both share.
func TestTogether(t *testing.T) {
	t.Run("a link each", func(t *testing.T) { together(t, false) })
	t.Run("a shared link", func(t *testing.T) { together(t, true) })
}

func together(t *testing.T, shared bool) {
	s := newStand(t, "a", "b", "c", "switch")
	ceiling := 2 * payload(linkRate)
	if shared {
		ceiling = payload(linkRate)
		s.cable("a", "eth0", "10.1.0.1/24", "switch", "pa", "10.99.0.1/32", linkRate)
		s.cable("b", "eth0", "10.1.0.2/24", "switch", "pb", "10.99.0.2/32", linkRate)
		s.cable("c", "eth0", "10.1.0.3/24", "switch", "pc", "10.99.0.3/32", linkRate)
		floor.Must(t, s.spaces["switch"].Builder.Bridge("sw0", []string{"pa", "pb", "pc"}))
	} else {
		s.cable("a", "eth0", "10.1.0.1/24", "b", "eth0", "10.1.0.2/24", linkRate)
		s.cable("a", "eth1", "10.2.0.1/24", "c", "eth0", "10.2.0.2/24", linkRate)
	}
	f := s.fabric("a", "b", "c")
	f.Paths = f.Paths[:2] // a to b, a to c
	c := s.campaign(f, nil)
	trials := unhindered(t, c, 2, func() error {
		return c.Together(t.Context(), campaign.Matrix{Streams: []int{2}, Directions: []flow.Direction{flow.Forward}, Ports: "chosen", Duration: 1500 * time.Millisecond})
	})
	groups := c.Record().Groups
	g := groups[len(groups)-1]
	share(t, "together", g.Goodput, ceiling)
	if math.Abs(float64(g.Ceiling/ceiling-1)) > 0.001 || math.Abs(float64(g.CeilingSum/(2*payload(linkRate))-1)) > 0.001 {
		t.Errorf("ceiling %v, the sum of ceilings %v (%s)", g.Ceiling, g.CeilingSum, g.Limit)
	}
	a, b := trials[0], trials[1]
	if len(g.Notes) > 0 || len(a.Check()) > 0 || len(b.Check()) > 0 {
		t.Errorf("notes %v, %v and %v", g.Notes, a.Notes, b.Notes)
	}
	if a.Group == "" || a.Group != b.Group || !a.Started.Equal(b.Started) || math.Abs(a.Window-b.Window) > 0.1 {
		t.Errorf("not one window: %q from %v for %.3f s, %q from %v for %.3f s", a.Group, a.Started, a.Window, b.Group, b.Started, b.Window)
	}
	if !shared {
		share(t, "a to b", a.Goodput, payload(linkRate))
		share(t, "a to c", b.Goodput, payload(linkRate))
	}
}
