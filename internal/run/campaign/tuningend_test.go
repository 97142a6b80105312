package campaign

import "testing"

// TestAsSeen: what the search saw reach the target is to be shown there; below it
// a moment's disturbance is allowed for.
func TestAsSeen(t *testing.T) {
	for _, c := range []struct {
		share, seen float64
		want        bool
	}{
		{0.975, 0.99, true},
		{0.968, 0.99, false},
		{0.968, 0.971, false},
		{0.968, 0.969, true},
		{0.96, 0.968, false},
	} {
		if got := asSeen(c.share, c.seen, 0.97); got != c.want {
			t.Errorf("%v of the ceiling, %v seen: %v", c.share, c.seen, got)
		}
	}
}
