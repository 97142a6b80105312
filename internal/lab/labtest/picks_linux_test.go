package labtest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// pickedTolerance is how far from its even share a link may be under chosen
// ports.
const pickedTolerance = 0.02

// pickNetwork is two hosts with LACP bonds of that many links by layer3+4.
// The links are slow enough that the processor never decides.
func pickNetwork(t *testing.T, links int) lab.Topology {
	t.Helper()
	net := topology(t, "two-links-tuned")
	net.LinkRate = 100 * unit.Mbps
	net.RTT = 2 * time.Millisecond
	for i := range net.Hosts {
		net.Hosts[i].Links = links
	}
	return net
}

// TestPickedPorts: as many TCP streams as links, ports chosen, and beside them
// in the same run ports left to the kernel. Chosen ones give each link its
// even share, every time.
func TestPickedPorts(t *testing.T) {
	for _, links := range []int{2, 4} {
		t.Run(fmt.Sprintf("%d links", links), func(t *testing.T) {
			c := open(t, pickNetwork(t, links), "chosen")
			lucky, n := 0, runs(t, 1)
			for i := range n {
				began := time.Now()
				chosen, left := pickedTrial(t, c, links, "chosen"), pickedTrial(t, c, links, "kernel")
				near, far, luck := linkShares(chosen, "alpha"), ingressShares(chosen, "beta"), linkShares(left, "alpha")
				t.Logf("run %d: chosen ports: links carry %.3f, %v; the kernel's: links carry %.3f, %v (%.1f s)", i+1, near, chosen.Goodput, luck, left.Goodput, time.Since(began).Seconds())
				for _, side := range []struct {
					name   string
					shares []float64
				}{{"sender", near}, {"receiver", far}} {
					if off := unevenness(side.shares); off > pickedTolerance || len(side.shares) != links {
						t.Errorf("run %d: the %s's links carry %.4f, %.1f %% from an even share, want %.0f %% at most", i+1, side.name, side.shares, 100*off, 100*pickedTolerance)
					}
				}
				if unevenness(luck) <= pickedTolerance {
					lucky++
				}
			}
			t.Logf("%d links: chosen ports compared with the kernel's, whose were even in %d of %d runs", links, lucky, n)
		})
	}
}

// pickedTrial measures one trial and returns it.
func pickedTrial(t *testing.T, c *campaign.Campaign, streams int, ports string) record.Trial {
	t.Helper()
	floor.Must(t, c.Run(t.Context(), campaign.Matrix{Streams: []int{streams}, Directions: []flow.Direction{flow.Forward}, Ports: ports, Duration: 2 * time.Second}))
	trials := c.Record().Trials
	trial := trials[len(trials)-1]
	if len(trial.Lanes) != streams || trial.Window < 2 {
		t.Errorf("ports %s: %d streams over %.2f s, want %d over 2", ports, len(trial.Lanes), trial.Window, streams)
	}
	return trial
}

// ingressShares is what part of a host's received bytes came in on each link.
func ingressShares(trial record.Trial, host string) []float64 {
	return shares(trial, host, func(l record.LinkUse) float64 { return float64(l.RxPayload) })
}

// unevenness is how far the link that is furthest from its even share is, as
// a part of that share.
func unevenness(shares []float64) float64 {
	worst := 0.0
	for _, s := range shares {
		worst = math.Max(worst, math.Abs(s*float64(len(shares))-1))
	}
	return worst
}
