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
		var tr trial
		now, drawn := time.Time{}.Add(time.Hour), map[uint64]bool{}
		for begun := now; now.Sub(begun) < time.Second; {
			n := tr.length()
			drawn[n] = true
			rate := c.long
			if n == shortLength {
				rate = c.short
			}
			now = now.Add(time.Duration(float64(n) / rate * float64(time.Second)))
			tr.sent(int(n), now)
		}
		if got := tr.length(); got != c.want {
			t.Errorf("%s: calls of %d bytes, want %d", name, got, c.want)
		}
		if fast := c.long >= trialFast; drawn[shortLength] != fast {
			t.Errorf("%s: tried short calls: %v", name, drawn[shortLength])
		}
		if tr.step != trialSteps {
			t.Errorf("%s: not decided after a second", name)
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
