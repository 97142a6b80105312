package stopping

import (
	"bufio"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// What `make prove-stop` has to show, over all its seeds.
const (
	leastRuns    = 200
	leastCovered = 0.90
	mostMedian   = 4.0  // seconds, from the first byte to the stop
	mostApart    = 0.01 // of a seed's long runs, from each other
)

// lines are what TestStopRule writes.
var (
	longLine  = regexp.MustCompile(`seed (\d+) long: ([\d.]+) Mbit/s`)
	shortLine = regexp.MustCompile(`seed (\d+) short: ([\d.]+) Mbit/s in ([\d.]+) to ([\d.]+), ([\d.]+) s`)
)

// shortRun is one run of a proof file, in Mbit/s and seconds.
type shortRun struct{ low, high, seconds float64 }

// proof is a proof file, by seed.
type proof struct {
	long  map[string][]float64
	short map[string][]shortRun
}

func readProof(text string) proof {
	p := proof{long: map[string][]float64{}, short: map[string][]shortRun{}}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if m := longLine.FindStringSubmatch(lines.Text()); m != nil {
			p.long[m[1]] = append(p.long[m[1]], number(m[2]))
		}
		if m := shortLine.FindStringSubmatch(lines.Text()); m != nil {
			p.short[m[1]] = append(p.short[m[1]], shortRun{number(m[3]), number(m[4]), number(m[5])})
		}
	}
	return p
}

func number(s string) (v float64) {
	_, _ = fmt.Sscan(s, &v) // the pattern lets digits through only
	return v
}

// verdict is what a proof shows, and what it lacks.
func (p proof) verdict() (said string, lacking []string) {
	runs, covered, apart := 0, 0, 0.0
	var seconds []float64
	for seed, long := range p.long {
		if len(long) != 2 {
			lacking = append(lacking, fmt.Sprintf("seed %s has %d long runs, want one before and one after", seed, len(long)))
			continue
		}
		truth := (long[0] + long[1]) / 2
		apart = max(apart, math.Abs(long[0]-long[1])/truth)
		for _, r := range p.short[seed] {
			runs++
			seconds = append(seconds, r.seconds)
			if r.low <= truth && truth <= r.high {
				covered++
			}
		}
	}
	if runs == 0 {
		return "nothing", append(lacking, "no runs")
	}
	slices.Sort(seconds)
	share, median := float64(covered)/float64(runs), seconds[len(seconds)/2]
	said = fmt.Sprintf("%d of %d intervals cover the long runs' mean (%.3f); half of the runs took %.2f s at most, nine tenths %.2f s; long runs of a seed agree within %.2f %%",
		covered, runs, share, median, seconds[len(seconds)*9/10], 100*apart)
	if runs < leastRuns {
		lacking = append(lacking, fmt.Sprintf("%d runs, want %d", runs, leastRuns))
	}
	if share < leastCovered || median >= mostMedian || apart > mostApart {
		lacking = append(lacking, said)
	}
	return said, lacking
}

// TestProof judges the proof that is kept in docs/proofs, where there is one.
func TestProof(t *testing.T) {
	text, kept := floor.KeptProof(t, "stop", "stop.txt")
	if !kept {
		return
	}
	said, lacking := readProof(text).verdict()
	t.Log(said)
	for _, l := range lacking {
		t.Error(l)
	}
}

// TestVerdict: a proof that does not prove is seen to fail.
func TestVerdict(t *testing.T) {
	make := func(runs int, low, high, seconds, second float64) string {
		var b strings.Builder
		fmt.Fprintf(&b, "run 1: passed\n  seed 1 long: 100.000 Mbit/s over 120.0 s []\n")
		for range runs {
			fmt.Fprintf(&b, "  seed 1 short: %.3f Mbit/s in %.3f to %.3f, %.2f s (interval) []\n", (low+high)/2, low, high, seconds)
		}
		fmt.Fprintf(&b, "  seed 1 long: %.3f Mbit/s over 120.0 s []\n", second)
		return b.String()
	}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"good":                 {make(200, 98, 102, 3, 100.5), true},
		"too few":              {make(199, 98, 102, 3, 100.5), false},
		"beside the mean":      {make(200, 101, 103, 3, 100.5), false},
		"too slow":             {make(200, 98, 102, 4.5, 100.5), false},
		"long runs disagree":   {make(200, 98, 102, 3, 101.5), false},
		"no long run after":    {strings.Replace(make(200, 98, 102, 3, 100.5), "seed 1 long: 100.500", "", 1), false},
		"nothing in the file":  {"", false},
		"some other seed's":    {strings.ReplaceAll(make(200, 98, 102, 3, 100.5), "seed 1 short", "seed 2 short"), false},
		"nine of ten are good": {make(180, 98, 102, 3, 100.5) + strings.Repeat("seed 1 short: 1 Mbit/s in 1 to 2, 3 s\n", 20), true},
	} {
		if said, lacking := readProof(c.text).verdict(); (len(lacking) == 0) != c.ok {
			t.Errorf("%s: %s; lacking %q", name, said, lacking)
		}
	}
}
