package scenario

import "testing"

// TestShort: what is at the ceiling is not short, and a row with a failure is
// judged by the rates around it, not by a mean over the gap.
func TestShort(t *testing.T) {
	for name, c := range map[string]struct {
		row  Row
		want bool
	}{
		"at the ceiling":          {Row{Measured: 98, Ceiling: 100}, false},
		"below it":                {Row{Measured: 90, Ceiling: 100}, true},
		"claims above, wire full": {Row{Measured: 120, Wire: 99, Ceiling: 100}, false},
		"claims above, wire not":  {Row{Measured: 120, Wire: 90, Ceiling: 100}, true},
		"a gap in a full row":     {Row{Measured: 70, Ceiling: 100, Outage: &Outage{Before: 99, During: 49, PredictedDuring: 50}}, false},
		"short before the gap":    {Row{Measured: 70, Ceiling: 100, Outage: &Outage{Before: 90, During: 49, PredictedDuring: 50}}, true},
		"short while it was away": {Row{Measured: 70, Ceiling: 100, Outage: &Outage{During: 40, PredictedDuring: 50}}, true},
		"no ceiling known":        {Row{Measured: 70}, true},
	} {
		if got := c.row.Short(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestRatioAsShown: two of two links is two as surely as rates are measured, within
// a hundredth, and no more.
func TestRatioAsShown(t *testing.T) {
	for measured, want := range map[float64]Verdict{2.004: Reproduced, 2.016: Reproduced, 2.03: Off, 1.9: Reproduced, 1.89: Off} {
		published := 2.0
		r := Row{Kind: Ratio, PublishedRatio: &published, MeasuredRatio: &measured}
		if r.Judge(0, 2); r.Verdict != want {
			t.Errorf("x %v: %s, want %s", measured, r.Verdict, want)
		}
	}
}
