package stopping

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/analysis/series"
)

// The whole proof (`make prove-stop`) is four seeds; of each a long run, two
// lots of short ones that the stop rule ends, and the long run again. Each is
// a run of its own, so that the proof can be stopped and go on.
const (
	partsOfSeed = 4
	shortRuns   = 25
	longRun     = 120 * time.Second
)

// TestStopRule: runs end when the interval is narrow enough. What the
// intervals are worth is judged over the whole proof, see TestProof.
func TestStopRule(t *testing.T) {
	run, err := strconv.Atoi(os.Getenv("PROVE_RUN"))
	if err != nil {
		sample(t)
		return
	}
	seed, part := uint64((run-1)/partsOfSeed+1), (run-1)%partsOfSeed
	if part == 0 || part == partsOfSeed-1 {
		long := trial(t, noisy(t, seed, 0), longRun)
		t.Logf("seed %d long: %.3f Mbit/s over %.1f s %q", seed, float64(long.Goodput)/1e6, long.Window, long.Notes)
		return
	}
	short(t, seed, uint64(part), shortRuns)
}

// sample is a few runs and no long ones: what a run says of itself must hold.
func sample(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("PROVE_SEED"), 10, 64)
	if err != nil {
		seed = 1
	}
	short(t, seed, 1, 2)
}

func short(t *testing.T, seed, part uint64, runs int) {
	c := noisy(t, seed, part)
	for range runs {
		r := trial(t, c, 0)
		t.Logf("seed %d short: %.3f Mbit/s in %.3f to %.3f, %.2f s (%s) %q", seed, float64(r.Goodput)/1e6, float64(r.GoodputLow)/1e6, float64(r.GoodputHigh)/1e6,
			r.WarmUp+r.Window, r.Stop, r.Notes)
		if half := float64((r.GoodputHigh - r.GoodputLow) / 2 / r.Goodput); r.Stop == "interval" && (half > 1.1*series.DefaultPrecision || half <= 0) {
			t.Errorf("stopped with an interval of ± %.2f %%", 100*half)
		}
		if r.Stop != "interval" && r.Stop != "maximum" {
			t.Errorf("stopped by %q", r.Stop)
		}
		if r.Shaper != nil {
			t.Errorf("took noise for a token bucket: %+v", r.Shaper)
		}
		for _, wrong := range r.Check() {
			t.Error(wrong)
		}
	}
}
