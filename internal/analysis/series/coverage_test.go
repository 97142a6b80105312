package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/unit"
)

const tick = 100 * time.Millisecond

// of is a series of rates, one a tick.
func of(rates ...float64) Series {
	var s Series
	for i, r := range rates {
		s = append(s, Point{From: time.Duration(i) * tick, To: time.Duration(i+1) * tick, Rate: unit.BitRate(r)})
	}
	return s
}

// source makes the next rate of a stochastic rate whose mean is 1.
type source func() float64

func white(r *rand.Rand, sd float64) source {
	return func() float64 { return 1 + sd*r.NormFloat64() }
}

// ar1 has this standard deviation and lag-1 autocorrelation.
func ar1(r *rand.Rand, sd, rho float64) source {
	x := sd * r.NormFloat64()
	return func() float64 {
		x = rho*x + sd*math.Sqrt(1-rho*rho)*r.NormFloat64()
		return 1 + x
	}
}

// onOff is a link that competing traffic takes a share of, half of the time,
// in bursts of that mean length.
func onOff(r *rand.Rand, share float64, mean time.Duration) source {
	on, left := r.IntN(2) == 0, r.ExpFloat64()*mean.Seconds()
	return func() float64 {
		busy := 0.0
		for rest := tick.Seconds(); rest > 0; {
			step := min(rest, left)
			if on {
				busy += step
			}
			rest, left = rest-step, left-step
			if left <= 0 {
				on, left = !on, r.ExpFloat64()*mean.Seconds()
			}
		}
		return (1 - share*busy/tick.Seconds()) / (1 - share/2)
	}
}

// rising approaches the source's rate as 1-exp(-t/tau), from a share.
func rising(s source, from float64, tau time.Duration) source {
	at := -tick / 2
	return func() float64 {
		at += tick
		return s() * (1 - (1-from)*math.Exp(-at.Seconds()/tau.Seconds()))
	}
}

// slowStart doubles up to the source's rate.
func slowStart(s source, ticks int) source {
	n := 0
	return func() float64 {
		n++
		return s() * min(1, math.Pow(2, float64(n-ticks)))
	}
}

// stuck is a stream that left slow start at a third of its share and grows by
// so much a second.
func stuck(s source, growth float64) source {
	at := 0.0
	return func() float64 {
		at += tick.Seconds()
		return s() * min(1, 0.33+growth*at)
	}
}

// outcome is what the rule made of many series of one source.
type outcome struct {
	covered, stopped, runs int
	buckets                int // series that seemed to show one when they ended
	seconds                []float64
}

// simulate lets the rule end series of that source, after at most so many
// points.
func simulate(runs, longest int, make func(*rand.Rand) source) outcome {
	out := outcome{runs: runs}
	for seed := range runs {
		next, rule := make(rand.New(rand.NewPCG(uint64(seed), 7))), Rule{}
		var rates []float64
		var e Estimate
		for {
			rates = append(rates, next()*1e9)
			s := of(rates...)
			w := s.Window()
			if w.Over {
				at, enough := rule.Enough(s, w.First)
				if e = at; enough {
					out.stopped++
					break
				}
			}
			if len(rates) == longest {
				e = s[w.First:].Estimate()
				break
			}
		}
		if math.Abs(float64(e.Mean)-1e9) <= float64(e.Half) {
			out.covered++
		}
		if of(rates...).Window().Bucket != nil {
			out.buckets++
		}
		out.seconds = append(out.seconds, float64(len(rates))*tick.Seconds())
	}
	slices.Sort(out.seconds)
	return out
}

// TestCoverage: whatever the noise, of the runs that the rule ends, or that
// reach 12 s, at least 90 % have the true mean in their interval; most runs of
// a link that is hardly noisy end early; noise shows no token bucket.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	type random = rand.Rand
	for _, c := range []struct {
		name   string
		source func(*random) source
		least  float64 // covered
		median float64 // of seconds, at most; zero is any
	}{
		{"even", func(r *random) source { return white(r, 0.002) }, 0.9, 2.2},
		{"white 2 %", func(r *random) source { return white(r, 0.02) }, 0.9, 3},
		{"white 5 %", func(r *random) source { return white(r, 0.05) }, 0.9, 7},
		{"white 10 %: mostly never sure", func(r *random) source { return white(r, 0.10) }, 0.9, 0},
		{"samples that are late now and then", func(r *random) source { return ar1(r, 0.05, -0.4) }, 0.9, 4},
		{"alike 0.3", func(r *random) source { return ar1(r, 0.04, 0.3) }, 0.9, 0},
		{"alike 0.6", func(r *random) source { return ar1(r, 0.03, 0.6) }, 0.9, 0},
		{"alike 0.6, twice as wide", func(r *random) source { return ar1(r, 0.06, 0.6) }, 0.9, 0},
		// Noise that outlasts half a second shows in no short run: as few as that
		// are caught.
		{"alike 0.8", func(r *random) source { return ar1(r, 0.02, 0.8) }, 0.8, 0},
		{"bursts of 20 ms", func(r *random) source { return onOff(r, 0.2, 20*time.Millisecond) }, 0.9, 7},
		{"bursts of 50 ms", func(r *random) source { return onOff(r, 0.1, 50*time.Millisecond) }, 0.9, 4},
		{"bursts of 50 ms, larger", func(r *random) source { return onOff(r, 0.2, 50*time.Millisecond) }, 0.9, 0},
		{"bursts of 200 ms", func(r *random) source { return onOff(r, 0.1, 200*time.Millisecond) }, 0.9, 0},
		{"slow start, then even", func(r *random) source { return slowStart(white(r, 0.005), 5) }, 0.9, 3},
		{"slow start of 1 s", func(r *random) source { return slowStart(white(r, 0.03), 10) }, 0.9, 5},
		{"slow start of 2 s, bursts", func(r *random) source { return slowStart(onOff(r, 0.1, 50*time.Millisecond), 20) }, 0.9, 7},
		{"left slow start at a third", func(r *random) source { return stuck(white(r, 0.01), 0.2) }, 0.9, 8},
		{"left slow start at a third, slower", func(r *random) source { return stuck(white(r, 0.005), 0.1) }, 0.9, 0},
		{"drifting to its rate", func(r *random) source { return rising(white(r, 0.01), 0.1, 500*time.Millisecond) }, 0.85, 6},
	} {
		const runs = 150
		got := simulate(runs, 120, c.source)
		covered, median := float64(got.covered)/runs, got.seconds[runs/2]
		t.Logf("%-36s covered %.3f, stopped %.3f, median %.1f s", c.name, covered, float64(got.stopped)/runs, median)
		if covered < c.least {
			t.Errorf("%s: the interval covers the mean in %.3f of the runs, want %.2f", c.name, covered, c.least)
		}
		if c.median > 0 && median > c.median {
			t.Errorf("%s: half of the runs took %.1f s, want %.1f at most", c.name, median, c.median)
		}
		if got.buckets > 0 {
			t.Errorf("%s: %d runs seem to show a token bucket", c.name, got.buckets)
		}
	}
}

// TestNeverSure: the rule ends nothing whose interval is wider than asked for.
func TestNeverSure(t *testing.T) {
	for _, precision := range []float64{0.05, 0.02, 0.005} {
		r := rand.New(rand.NewPCG(3, 5))
		rule := Rule{Precision: precision}
		next := white(r, 0.03)
		var rates []float64
		for range 400 {
			rates = append(rates, next()*1e9)
			s := of(rates...)
			w := s.Window()
			e, enough := rule.Enough(s, w.First)
			if enough {
				if float64(e.Half) > precision*float64(e.Mean) || s[w.First:].Length() < LeastWindow {
					t.Errorf("%v: content with %v ± %v after %v", precision, e.Mean, e.Half, s.Length())
				}
				break
			}
		}
		t.Logf("± %.1f %%: %.1f s", 100*precision, float64(len(rates))*tick.Seconds())
	}
}
