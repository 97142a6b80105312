package progress

import (
	"testing"
	"time"
)

func TestRoughly(t *testing.T) {
	for _, c := range []struct {
		in   time.Duration
		want string
	}{
		{0, "1 s"}, {8400 * time.Millisecond, "8 s"}, {19 * time.Second, "19 s"}, {22 * time.Second, "20 s"}, {58 * time.Second, "1 min"},
		{99 * time.Second, "1 min 40 s"}, {7*time.Minute + 29*time.Second, "7 min"}, {59*time.Minute + 50*time.Second, "1 h"}, {128 * time.Minute, "2 h 10 min"},
	} {
		if got := Roughly(c.in); got != c.want {
			t.Errorf("%v is %q, want %q", c.in, got, c.want)
		}
	}
}
