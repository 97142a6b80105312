package tuning

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// everyLink: as many streams as links, on chosen ports and on the kernel's by
// turns: chosen ones use every link, in each direction and in both.
func everyLink(t *testing.T, links int) {
	t.Helper()
	what := scenario{
		name: fmt.Sprintf("%d-links", links), bond: true, mode: netstate.LACP, policy: netstate.Layer34, switchHash: netstate.Layer34,
		near: 1, far: 1, mtu: jumbo, windows: 1, rtt: 2 * time.Millisecond,
	}
	for range links {
		what.rates = append(what.rates, mostRate/unit.BitRate(links))
	}
	s := build(t, what)
	s.lay(setting{policy: netstate.Layer34, mtu: jumbo, rmem: usualRmem, wmem: usualWmem})
	s.observe()
	for _, direction := range []flow.Direction{flow.Forward, flow.Reverse, flow.Both} {
		r := spread{links: links, direction: string(direction), ceiling: mega(what.ceiling()) / 2}
		if direction == flow.Both {
			r.ceiling *= 2
		}
		var chosen, kernel []float64
		for range spreadRounds {
			for ports, into := range map[string]*[]float64{"chosen": &chosen, "kernel": &kernel} {
				trial, err := measure.Run(t.Context(), measure.Config{Network: s.network}, measure.Spec{
					From: "near", To: "far", Direction: direction, Streams: links, Ports: ports, Duration: window,
				})
				s.must(err)
				*into = append(*into, mega(trial.Goodput))
			}
		}
		r.chosen, r.worst = median(chosen), slices.Min(chosen)
		r.kernel, r.kernelWorst = median(kernel), slices.Min(kernel)
		t.Log(r)
	}
}

const spreadRounds = 5

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// sample is a small scenario: what tune reaches beside three points of
// the grid that reach most.
func sample(t *testing.T) {
	t.Helper()
	floor.Turn(t, floor.Tuning)
	small := []string{"four-links", "unequal", "backup-etherchannel"}
	what, _ := named(small[floor.Draw(t)%uint64(len(small))])
	s := build(t, what)
	all := grid(what)
	chosen := []setting{all[0], all[len(all)-1], all[len(all)-2]} // the first, and the most of everything
	points := s.sweep(chosen, time.Second)
	tuned := s.tune("--duration", "1s")
	t.Logf("%v: tune claimed %.1f Mbit/s (%s) in %d windows, %.1f s of traffic; three points %.1f", what, mega(tuned.claimed), tuned.summary(), tuned.windows, tuned.traffic.Seconds(), mega(points[0].rate))
	// Windows of a second beside each other, on a machine in use.
	const within = 0.05
	if tuned.claimed < points[0].rate*(1-within) || tuned.windows > mostWindows || tuned.traffic.Seconds() > mostTraffic {
		t.Errorf("tune falls short of three points of the grid, or spent too much")
	}
}
