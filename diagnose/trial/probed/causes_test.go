package probed

import (
	"slices"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestTable: every word of the table is one that a probe can show, every cause
// is the contract's, and no sight speaks for everything.
func TestTable(t *testing.T) {
	for s, l := range shows {
		low, high := 1.0, 0.0
		for cause, p := range l {
			if !slices.Contains(record.Causes(), cause) || p <= 0 || p >= 1 {
				t.Errorf("%v: %s is %v", s, cause, p)
			}
			low, high = min(low, p), max(high, p)
		}
		if s.word == Unclear || high > Even && low >= Even {
			t.Errorf("%v tells nothing apart", s)
		}
	}
}
