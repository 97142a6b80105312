package payload

import (
	"testing"
	"time"
)

// TestTrial: a fast stream ends with the length that carried more, whatever it
// began with, and one that a core carries easily keeps the long calls.
func TestTrial(t *testing.T) {
	for name, c := range map[string]struct {
		long, short float64 // bytes a second
		want        uint64
	}{
		"short calls carry more": {3e9, 4e9, shortLength},
		"long calls carry more":  {4e9, 3e9, SendLength},
		"just fast":              {250e6, 260e6, shortLength},
		"slow":                   {125e6, 4e9, SendLength},
	} {
		tr := newLength()
		now, drawn := time.Time{}.Add(time.Hour), map[uint64]bool{}
		for begun := now; now.Sub(begun) < time.Second; {
			n := tr.most()
			drawn[n] = true
			rate := c.long
			if n == shortLength {
				rate = c.short
			}
			now = now.Add(time.Duration(float64(n) / rate * float64(time.Second)))
			tr.moved(int(n), now)
		}
		if got := tr.most(); got != c.want {
			t.Errorf("%s: calls of %d bytes, want %d", name, got, c.want)
		}
		if fast := c.long >= trialFast; drawn[shortLength] != fast {
			t.Errorf("%s: tried short calls: %v", name, drawn[shortLength])
		}
		if tr.step != tr.steps() {
			t.Errorf("%s: not decided after a second", name)
		}
	}
}

// TestWays: of several ways the one whose weighed rate is best is kept, none is
// tried before the start, and a step that is not over counts for none.
func TestWays(t *testing.T) {
	for name, c := range map[string]struct {
		rate [3]float64 // bytes a second
		want int
	}{
		"the last":                     {[3]float64{3e9, 4e9, 5e9}, 2},
		"the last, by less than asked": {[3]float64{3e9, 4e9, 4.1e9}, 1},
		"all alike":                    {[3]float64{3e9, 3e9, 3e9}, 1},
		"the first":                    {[3]float64{5e9, 3e9, 3e9}, 0},
		"slow":                         {[3]float64{100e6, 5e9, 5e9}, 0},
	} {
		const start = 300 * time.Millisecond
		tr := trial{ways: []float64{1, 1.05, 0.9}, start: start}
		begun := time.Time{}.Add(time.Hour)
		for now := begun; now.Sub(begun) < time.Second; {
			if now.Sub(begun) < start && tr.way != 0 {
				t.Fatalf("%s: way %d after %v", name, tr.way, now.Sub(begun))
			}
			const n = 64 << 10
			now = now.Add(time.Duration(n / c.rate[tr.way] * float64(time.Second)))
			tr.moved(n, now)
		}
		if tr.way != c.want || tr.step != tr.steps() {
			t.Errorf("%s: way %d after %d of %d steps, want %d", name, tr.way, tr.step, tr.steps(), c.want)
		}
	}
}

// TestTurn: whoever makes many quick calls gives way now and then, and whoever
// waits for the link never.
func TestTurn(t *testing.T) {
	for name, c := range map[string]struct {
		call time.Duration
		want bool
	}{
		"quick": {100 * time.Microsecond, true},
		"slow":  {20 * time.Millisecond, false},
	} {
		now := time.Time{}.Add(time.Hour)
		var tu turn
		tu.over(now)
		begun := tu.last
		for range 100 {
			now = now.Add(c.call)
			tu.over(now)
		}
		if got := tu.last != begun; got != c.want {
			t.Errorf("%s calls: gave way %v", name, got)
		}
	}
}
