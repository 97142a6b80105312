package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/unit"
)

// behind is what comes through a token bucket of that many bits: at the
// burst's rate while it lasts, then at the plateau's, noise on both.
func behind(r *rand.Rand, burst, plateau, bits, noise float64, ticks int) []float64 {
	var out []float64
	for range ticks {
		most := burst * tick.Seconds()
		got := min(most, plateau*tick.Seconds()+max(bits, 0))
		bits -= got - plateau*tick.Seconds()
		out = append(out, got/tick.Seconds()*(1+noise*r.NormFloat64()))
	}
	return out
}

// TestTokenBucket: rate and bucket, also where slow start comes before; and the
// window begins after the burst.
func TestTokenBucket(t *testing.T) {
	for _, c := range []struct {
		name           string
		burst, plateau float64
		seconds        float64 // of the burst
		noise          float64
		slow, ticks    int
	}{
		{"28 on a service of 25 Gbit/s, ten seconds of it", 28e9, 24e9, 10, 0.005, 0, 300},
		{"a quarter of a second", 2.4e9, 1e9, 0.25, 0.005, 0, 40},
		{"slow start before", 10e9, 5e9, 1.55, 0.01, 6, 60},
		{"a tenth of the burst", 1e9, 100e6, 0.73, 0.01, 2, 30},
		{"noisy", 1.5e9, 1e9, 2.2, 0.02, 0, 80},
		{"only just to be seen", 1.15e9, 1e9, 3, 0.003, 0, 80},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		bits := (c.burst - c.plateau) * c.seconds
		rates := behind(r, c.burst, c.plateau, bits, c.noise, c.ticks)
		var start []float64
		for i := range c.slow {
			start = append(start, rates[0]*math.Pow(2, float64(i-c.slow)))
		}
		s := of(append(start, rates...)...)
		w := s.Window()
		if w.Bucket == nil {
			t.Errorf("%s: not seen", c.name)
			continue
		}
		b := *w.Bucket
		t.Logf("%s: %+v", c.name, b)
		if !near(float64(b.Rate), c.plateau, 0.01) || !near(float64(b.Bucket), bits/8, 0.1) || !near(float64(b.Burst), c.burst, 0.03) || !near(b.BurstFor, c.seconds, 0.15) {
			t.Errorf("%s: %+v, want %v and %v for %v s", c.name, b, unit.BitRate(c.plateau), unit.Bytes(bits/8), c.seconds)
		}
		end := time.Duration(c.slow)*tick + time.Duration(c.seconds*float64(time.Second))
		if from := s[w.First].From; !w.Over || from < end || from > end+4*tick {
			t.Errorf("%s: window from %v on, the burst ends at %v", c.name, from, end)
		}
	}
}

// TestNoBucket: what is like a bucket and is none.
func TestNoBucket(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	flat := func(rate float64, ticks int) []float64 {
		var out []float64
		for range ticks {
			out = append(out, rate*(1+0.005*r.NormFloat64()))
		}
		return out
	}
	for name, rates := range map[string][]float64{
		"a flat rate":                     flat(1e9, 100),
		"slow start":                      slices.Concat([]float64{1e7, 1e8, 4e8, 8e8}, flat(1e9, 60)),
		"slow start that overshoots":      slices.Concat([]float64{2e8, 1.3e9}, flat(1e9, 60)),
		"data that waited for a hole":     slices.Concat(flat(1e9, 20), []float64{1e8, 1.9e9}, flat(1e9, 60)),
		"other traffic, long after":       slices.Concat(flat(1e9, 10), flat(1.4e9, 20), flat(1e9, 30)),
		"a fall to an uneven rate":        slices.Concat(flat(2e9, 20), slices.Repeat([]float64{1e9, 0.8e9, 1.1e9, 0.7e9}, 10)),
		"a fall of less than a tenth":     slices.Concat(flat(1.08e9, 30), flat(1e9, 60)),
		"a fall just now":                 slices.Concat(flat(2e9, 30), flat(1e9, 5)),
		"a fall to nothing":               slices.Concat(flat(2e9, 30), make([]float64, 30)),
		"up again":                        slices.Concat(flat(2e9, 10), flat(1e9, 30), flat(2e9, 10)),
		"nothing":                         make([]float64, 100),
		"a stream that grows for seconds": slices.Concat(flat(3e8, 10), flat(5e8, 10), flat(7e8, 10), flat(1e9, 40)),
	} {
		if w := of(rates...).Window(); w.Bucket != nil {
			t.Errorf("%s: %+v", name, *w.Bucket)
		}
	}
	fell := of(slices.Concat(flat(2e9, 30), flat(1e9, 5))...)
	if !fell.MayBeBucket() {
		t.Error("a fall just now is no reason to look further")
	}
	if of(flat(1e9, 60)...).MayBeBucket() || of(behind(r, 2e9, 1e9, 2e9, 0.005, 60)...).MayBeBucket() {
		t.Error("a flat rate, or a bucket that is sure, wants another look")
	}
}

// TestNoBucketInNoise: also not in what noise is like at any moment.
func TestNoBucketInNoise(t *testing.T) {
	looks, seen := 0, 0
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		for _, next := range []source{
			white(r, 0.03), white(r, 0.15), ar1(r, 0.05, 0.7), ar1(r, 0.03, 0.9), onOff(r, 0.3, 100*time.Millisecond), onOff(r, 0.1, 200*time.Millisecond),
			slowStart(white(r, 0.02), 8), stuck(white(r, 0.01), 0.3), rising(white(r, 0.02), 0.2, time.Second),
		} {
			var rates []float64
			for len(rates) < 100 {
				rates = append(rates, next()*1e9)
				looks++
				if of(rates...).Window().Bucket != nil {
					seen++
				}
			}
		}
	}
	if share := float64(seen) / float64(looks); share > 0.0005 {
		t.Errorf("%d of %d looks at noise show a bucket (%.4f)", seen, looks, share)
	}
}
