package payload

import (
	"math"
	"testing"
)

// TestLowWater: slow streams wake for any byte, fast ones for what comes in
// 300 µs, and none for more than an eighth of its buffer.
func TestLowWater(t *testing.T) {
	for _, c := range []struct {
		rate   float64 // bytes a second
		buffer int
		want   int
	}{
		{0, 6 << 20, 1},
		{125e6, 6 << 20, 1},          // 1 Gb/s
		{300e6, 6 << 20, 64 << 10},   // 2.4 Gb/s: 90 kB
		{1.25e9, 6 << 20, 256 << 10}, // 10 Gb/s: 375 kB
		{5e9, 32 << 20, 512 << 10},
		{5e10, 32 << 20, 512 << 10},
		{5e9, 1 << 20, 128 << 10},
		{5e9, 64 << 10, 1},
		{math.Inf(1), 32 << 20, 512 << 10},
	} {
		if got := lowWater(c.rate, c.buffer); got != c.want {
			t.Errorf("%v B/s, buffer %v: %d, want %d", c.rate, c.buffer, got, c.want)
		}
	}
}
