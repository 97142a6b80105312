package sampling

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// clock is one that a reading moves on.
type clock struct{ now time.Duration }

// TestSurest: a reading that took long is taken again, the shortest is kept and
// its middle is the moment; where readings take long by themselves one is enough.
func TestSurest(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		streams int
		before  time.Duration // the shortest so far
		spans   []time.Duration
		kept    []int // readings that keep was called for
		taken   int
		at      time.Duration
	}{
		{"sure at once", 1, 0, []time.Duration{ms}, []int{0}, 1, ms / 2},
		{"disturbed once", 1, ms, []time.Duration{9 * ms, ms}, []int{0, 1}, 2, 9*ms + ms/2},
		{"disturbed always", 1, ms, []time.Duration{9 * ms, 7 * ms, 8 * ms, 6 * ms, ms}, []int{0, 1, 3}, 4, 27 * ms},
		{"dear, and nobody knows", 1, 0, []time.Duration{9 * ms, 9 * ms, 9 * ms, 9 * ms}, []int{0}, 4, 4500 * time.Microsecond},
		{"dear, as always", 1, 9 * ms, []time.Duration{12 * ms, 9 * ms}, []int{0}, 1, 6 * ms},
		{"dear, and disturbed", 1, 9 * ms, []time.Duration{40 * ms, 10 * ms, 9 * ms}, []int{0, 1}, 2, 45 * ms},
		{"of many streams", 1000, 0, []time.Duration{20 * ms}, []int{0}, 1, 10 * ms},
	} {
		k, s, taken := clock{}, Surest{least: c.before}, 0
		var kept []int
		at, err := s.Take(func() time.Duration { return k.now }, c.streams, func() error {
			k.now += c.spans[taken]
			taken++
			return nil
		}, func() { kept = append(kept, taken-1) })
		if err != nil || taken != c.taken || at != c.at || !slices.Equal(kept, c.kept) {
			t.Errorf("%s: %d readings, kept %v, at %v, %v; want %d, %v, %v", c.name, taken, kept, at, err, c.taken, c.kept, c.at)
		}
	}
	var s Surest
	broken := errors.New("no counters")
	if _, err := s.Take(func() time.Duration { return 0 }, 1, func() error { return broken }, func() { t.Error("kept what was not read") }); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}
