package history

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/unit"
)

// lineAt is a line of one run a day at these rates, in Gbit/s.
func lineAt(rates ...float64) Line {
	var l Line
	for i, r := range rates {
		l.Points = append(l.Points, Point{Run: fmt.Sprint("run-", i), Started: day(i), Goodput: unit.BitRate(r * 1e9)})
	}
	return l
}

func day(i int) time.Time { return time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC).AddDate(0, 0, i) }

func TestStanding(t *testing.T) {
	for name, c := range map[string]struct {
		rates   []float64
		verdict compare.Verdict
		since   int // the run, -1 none
		usual   float64
	}{
		"nothing":                {nil, compare.TooFew, -1, 0},
		"one":                    {[]float64{9.8}, compare.TooFew, -1, 0},
		"five and a half":        {[]float64{9.8, 9.7, 9.8, 9.9, 9.8, 4.9}, compare.Worse, 5, 9.8},
		"too few to say":         {[]float64{9.8, 9.7, 9.8, 4.9}, compare.TooFew, -1, 9.8},
		"for three runs":         {[]float64{9.8, 9.7, 9.8, 9.9, 9.8, 9.7, 4.9, 5.0, 4.8}, compare.Worse, 6, 9.8},
		"longer than it was up":  {[]float64{9.8, 9.7, 9.8, 9.9, 9.8, 4.9, 5.0, 4.8, 4.9, 4.9, 4.9, 4.8, 4.9}, compare.Worse, 5, 9.8},
		"one that came back":     {[]float64{9.8, 9.7, 9.8, 9.9, 9.8, 4.9, 9.8}, compare.Same, -1, 9.8},
		"steady":                 {[]float64{9.8, 9.7, 9.8, 9.9, 9.8, 9.8, 9.75}, compare.Same, -1, 9.8},
		"less than 3 %":          {[]float64{9.8, 9.8, 9.8, 9.8, 9.8, 9.8, 9.6}, compare.Same, -1, 9.8},
		"as wild as ever":        {[]float64{9.8, 5, 7, 9, 6, 8, 4.9}, compare.Same, -1, 7.5},
		"better":                 {[]float64{4.9, 4.9, 4.8, 5, 4.9, 9.8, 9.8}, compare.Better, 5, 4.9},
		"nothing comes through":  {[]float64{9.8, 9.7, 9.8, 9.9, 9.8, 0}, compare.Worse, 5, 9.8},
		"nothing ever came":      {[]float64{0, 0, 0, 0, 0, 0, 0}, compare.Same, -1, 0},
		"worse, then still less": {[]float64{9.8, 9.7, 9.8, 9.9, 9.8, 7, 7, 4}, compare.Worse, 5, 9.8},
	} {
		s := lineAt(c.rates...).Standing()
		var since, until time.Time
		if c.since >= 0 {
			since, until = day(c.since), day(c.since-1)
		}
		if s.Verdict != c.verdict || s.Since != since || s.Until != until || s.Usual.Median != unit.BitRate(c.usual*1e9) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A path that only varies is told of in fewer than one of a hundred looks.
func TestStandingOfNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 11))
	told := 0
	const looks = 2000
	for range looks {
		rates := make([]float64, 6+r.IntN(40))
		for i := range rates {
			rates[i] = 9.5 * (1 + 0.05*r.NormFloat64())
		}
		if v := lineAt(rates...).Standing().Verdict; v != compare.Same {
			told++
		}
	}
	t.Logf("told of %d of %d", told, looks)
	if told > looks/100 {
		t.Errorf("%d of %d paths that only vary are told of", told, looks)
	}
}
