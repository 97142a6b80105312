package benchmarks

import (
	"fmt"
	"math"
)

// Summary is what the rows of one kind of one table come to.
type Summary struct {
	Table string `json:"table"`
	Kind  Kind   `json:"kind"`
	Rows  int    `json:"rows_count"`
	// Near are rows within their tolerance, whatever limit was named; Named
	// those whose limit and links are as published, of Shown where the source
	// shows them.
	Near  int `json:"within_count"`
	Named int `json:"limit_right_count"`
	Shown int `json:"limit_shown_count"`
	// Mean is the mean of the errors' sizes, Worst the largest.
	Mean       float64 `json:"mean_error_ratio"`
	Worst      float64 `json:"worst_error_ratio"`
	Covered    int     `json:"in_range_count,omitempty"`
	Impossible int     `json:"impossible_count,omitempty"`
}

// Summaries sums up what was judged, by table and kind, in order of first
// appearance. Rows that calibrate are left out.
func Summaries(all []Judged) []Summary {
	var sums []Summary
	at := map[string]int{}
	for _, j := range all {
		if j.Verdict == Calibrates {
			continue
		}
		key := j.Table + " " + string(j.Kind)
		i, seen := at[key]
		if !seen {
			i = len(sums)
			at[key] = i
			sums = append(sums, Summary{Table: j.Table, Kind: j.Kind})
		}
		sums[i].add(j)
	}
	for i := range sums {
		sums[i].Mean /= float64(sums[i].Rows)
	}
	return sums
}

func (s *Summary) add(j Judged) {
	s.Rows++
	if j.Verdict != Unknown && math.Abs(j.Error) <= j.Within {
		s.Near++
	}
	if j.Limit != "" || j.Links > 0 {
		s.Shown++
		if j.Verdict != Unknown && (j.Limit == "" || j.Limit == j.Bound) && (j.Links == 0 || j.Links == j.Used) {
			s.Named++
		}
	}
	if j.Covered {
		s.Covered++
	}
	if j.Verdict == Impossible {
		s.Impossible++
	}
	size := math.Abs(j.Error)
	s.Mean += size
	s.Worst = math.Max(s.Worst, size)
}

// String is the summary in one line.
func (s Summary) String() string {
	named := ""
	if s.Shown > 0 {
		named = fmt.Sprintf("; limit right in %d of %d", s.Named, s.Shown)
	}
	switch s.Kind {
	case KindClaim:
		return fmt.Sprintf("%s: %d claims, %d impossible as steady-state goodput%s", s.Table, s.Rows, s.Impossible, named)
	case KindRange:
		return fmt.Sprintf("%s: %d readings of a range: the middle within tolerance for %d, mean error %.1f %%; in the predicted range %d%s",
			s.Table, s.Rows, s.Near, 100*s.Mean, s.Covered, named)
	}
	return fmt.Sprintf("%s: %d of %d %ss within tolerance, mean error %.1f %%, largest %.1f %%%s", s.Table, s.Near, s.Rows, s.Kind, 100*s.Mean, 100*s.Worst, named)
}
