package history

import (
	"math"
	"time"

	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/unit"
)

// Bounds of a standing.
const (
	// longestTail is how many of the newest runs may be of another kind than those
	// before them; what is older than that has become the usual.
	longestTail = 60
	// standingNoise is how many standard deviations each run of a tail must be away.
	standingNoise = 3
	// standingEffect is the least change that is told, as a share of the usual.
	standingEffect = 0.03
)

// Standing is how a line's newest runs are against those before them.
type Standing struct {
	// Verdict is Worse, Better, Same, or TooFew where fewer than LeastRuns came
	// before.
	Verdict compare.Verdict
	// Since is the first run of the unbroken row of runs that are worse or better, the
	// last one before it Until; zero of other verdicts.
	Since, Until time.Time
	// Usual is what the runs before the change come to, of other verdicts all before
	// the newest.
	Usual Usual
	// Now is the median of the runs since the change, of other verdicts the newest.
	Now unit.BitRate
}

// Standing holds the newest runs of a line against the earlier ones: a change is
// an unbroken row of runs up to the newest, each further from the median of those
// before the row than they vary, and by 3 % at least, of which the newest would come
// by chance in fewer than Level of lines.
func (l Line) Standing() Standing {
	all := runs(l.Points)
	rates := make([]float64, len(all))
	for i, r := range all {
		rates[i] = r.rate
	}
	s := Standing{Verdict: compare.TooFew}
	if len(all) == 0 {
		return s
	}
	newest := len(all) - 1
	s.Now, s.Usual = unit.BitRate(rates[newest]), usualOf(rates[:newest])
	if newest < LeastRuns {
		return s
	}
	s.Verdict = compare.Same
	// The longest row counts: one bad run in it is of the same change, and the
	// median before it is least moved by it.
	for k := 1; k <= longestTail && k <= len(all)-LeastRuns; k++ {
		before, tail := rates[:len(rates)-k], rates[len(rates)-k:]
		verdict := apart(before, tail, all[len(all)-k:])
		if verdict == compare.Same {
			continue
		}
		s.Verdict, s.Usual, s.Now = verdict, usualOf(before), unit.BitRate(Median(tail))
		s.Since, s.Until = all[len(all)-k].started, all[len(all)-k-1].started
	}
	return s
}

// apart says whether all runs of a tail are on one side of those before it.
func apart(before, tail []float64, own []run) compare.Verdict {
	middle := Median(before)
	if middle <= 0 {
		return compare.Same
	}
	errors := make([]float64, len(own))
	for i, r := range own {
		errors[i] = r.se
	}
	noise := noiseOf(before, errors, middle)
	least := max(standingNoise*noise, standingEffect*middle)
	below, above := true, true
	for _, x := range tail {
		below, above = below && x < middle-least, above && x > middle+least
	}
	if !below && !above {
		return compare.Same
	}
	se, t := oneMore(len(before), noise)
	if p := 2 * t.Survival(math.Abs(tail[len(tail)-1]-middle)/se); p > Level {
		return compare.Same
	}
	if below {
		return compare.Worse
	}
	return compare.Better
}
