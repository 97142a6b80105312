package predicting

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/diagnose/trial"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// TestPredict: what is predicted of a network before a byte is sent is what
// it then carries, and the limit that was named is the one that binds. What
// the errors are worth is judged over the whole proof, see TestProof.
func TestPredict(t *testing.T) {
	if os.Getenv(guest.EnvGuest) != "" { // sockets may ask for as much as they are given
		for _, key := range []string{"rmem_max", "wmem_max"} {
			floor.Must(t, os.WriteFile("/proc/sys/net/core/"+key, []byte("8388608"), 0o644))
		}
	}
	seed := floor.Number(t, "PROVE_SEED", 1)
	run := floor.Number(t, "PROVE_RUN", 0)
	if run == 0 {
		sample(t, seed)
		return
	}
	for n := (run - 1) * perRun; n < run*perRun; n++ {
		t.Run(strconv.FormatUint(n, 10), func(t *testing.T) { prove(t, seed, n) })
	}
}

// sample is a few networks that are quick to build: what is predicted must
// hold more roughly, since they are watched for a moment only.
func sample(t *testing.T, seed uint64) {
	// A bucket of 12 ms shows in a second.
	const want, tolerance, above = 4, 0.12, 0.015
	for n, tried := uint64(0), 0; tried < want; n++ {
		s := draw(seed, n)
		if !s.quick() {
			continue
		}
		tried++
		t.Run(strconv.FormatUint(n, 10), func(t *testing.T) {
			st := build(t, s)
			p, r := st.predict(), st.measure(time.Second)
			t.Logf("%v: predicted %.1f Mbit/s (%s), measured %.1f", s, mega(p.Rate), p.Limit, mega(r.Goodput))
			if math.Abs(float64(r.Goodput/p.Rate)-1) > tolerance || r.Goodput > p.Ceiling*(1+above) {
				t.Errorf("predicted %v and no more than %v: %+v", p.Rate, p.Ceiling, p.Limits)
			}
		})
	}
}

// prove is one line of the proof.
func prove(t *testing.T, seed, n uint64) {
	var st *stand
	var p predict.Prediction
	var r record.Trial
	var found record.Finding
	t.Run("drawn", func(t *testing.T) {
		st = build(t, draw(seed, n))
		p, r = st.predict(), st.settled(tries)
		found = trial.Judge(st.network.Fabric, r)
		st.details(p, r, found)
	})
	if t.Failed() {
		return
	}
	s := st.setup
	line := row{
		seed: seed, number: n, setup: s.String(), predicted: mega(p.Rate), low: mega(p.RateLow), high: mega(p.RateHigh), ceiling: mega(p.Ceiling),
		measured: mega(r.Goodput), limit: string(p.Limit), striped: s.striped(), right: placed(p.Limit, s, r),
	}
	if p.RateLow == 0 {
		line.low, line.high = line.predicted, line.predicted
	}
	line.evidence = "found " + string(found.Cause) + ", "
	if !line.right {
		line.evidence += "the links' counters disagree, "
	}
	if p.Limit == record.Reordering {
		line.right = reordered(r)
		line.evidence += fmt.Sprintf("reordering seen: %v", line.right)
	} else {
		gained, said := gain(t, st, p, r)
		line.right = line.right && gained
		line.evidence += said
	}
	t.Log(line)
}

// gain mends what the prediction names, and whatever is as low, and reports
// whether the rate rises by at least half of what it should.
func gain(t *testing.T, st *stand, p predict.Prediction, r record.Trial) (ok bool, said string) {
	better, causes := st.setup, []string(nil)
	for i, c := range nextCauses(p) {
		repaired, can := better.repaired(c)
		if !can || i == mostMended {
			break
		}
		better, causes = repaired, append(causes, string(c))
		q, err := predict.Predict(st.declared(better, st.network.Fabric.Paths[0].RTT), st.trafficOf(better))
		floor.Must(t, err)
		if q.Rate < p.Rate*(1+leastGain) {
			continue
		}
		var got record.Trial
		t.Run("mended", func(t *testing.T) { got = build(t, better).settled(1) })
		seen, want := float64(got.Goodput/r.Goodput)-1, float64(q.Rate/p.Rate)-1
		return seen >= ofGain*want, fmt.Sprintf("mended %s: predicted %.1f, measured %.1f", strings.Join(causes, " and "), mega(q.Rate), mega(got.Goodput))
	}
	return false, "mending " + strings.Join(causes, " and ") + " is predicted to gain nothing"
}

const (
	// uneven is how far a window's blocks may lie apart on a link that loses
	// nothing: the machine has other things to do.
	uneven = 0.15
	tries  = 2
)

// settled measures as the setup needs it: a bond that balances by load has
// dealt its flows anew (BOND_TLB_REBALANCE_INTERVAL, 10 s), and what the
// machine disturbed is measured again. One try is for a glance.
func (s *stand) settled(tries int) (best record.Trial) {
	s.t.Helper()
	if s.setup.balances() {
		s.measure(rebalance)
	}
	least := math.Inf(1)
	long := s.setup.window()
	if tries == 1 && long == window {
		long = glance
	}
	for range tries {
		r := s.measure(long)
		if apart := apart(r); apart < least {
			best, least = r, apart
		}
		if least < uneven || s.setup.loss > 0 || s.setup.striped() {
			break
		}
	}
	return best
}

const rebalance = 12 * time.Second

func apart(r record.Trial) float64 {
	if len(r.Blocks) == 0 || r.Goodput == 0 {
		return 0
	}
	return float64((slices.Max(r.Blocks) - slices.Min(r.Blocks)) / r.Goodput)
}

// details are what a reader wants who looks for why.
func (s *stand) details(p predict.Prediction, r record.Trial, f record.Finding) {
	if os.Getenv("PROVE_DETAILS") == "" {
		return
	}
	s.t.Logf("   ping %v, %s, after %.1f s over %.1f s, notes %q", s.network.Fabric.Paths[0].RTT, f.Summary, r.WarmUp, r.Window, r.Notes)
	s.t.Logf("   range: %s", p.RangeWhy)
	for _, l := range p.Limits[:min(3, len(p.Limits))] {
		s.t.Logf("   %s %.1f [%.1f, %.1f]: %s", l.Cause, mega(l.Rate), mega(l.Low), mega(l.High), l.Why)
	}
	for _, l := range r.Lanes {
		s.t.Logf("   %s %s>%s: %.1f, retransmits %d of %d, rtt %.2f min %.2f, cwnd %d, rwnd %.2f sndbuf %.2f, rcvbuf %v sndbuf %v wnd %v", l.Way, l.EgressLink, l.IngressLink, mega(l.Goodput), l.Retransmits, l.TCP.SegmentsOut,
			l.TCP.RTTMS, l.TCP.MinRTTMS, l.TCP.SndCwnd, l.TCP.RwndLimited, l.TCP.SndbufLimited, l.RcvBuf, l.SndBuf, l.TCP.SndWnd)
	}
	for _, c := range r.CPU {
		s.t.Logf("   cpu %s busy %.2f", c.Host, c.Busy)
	}
}

func mega[T ~float64](v T) float64 { return float64(v) / 1e6 }
