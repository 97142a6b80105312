package tcp

import (
	"math"
	"testing"
	"time"
)

// TestResponse: the formulas at their own worked figures.
func TestResponse(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		what            string
		got, want, near float64
	}{
		// Mathis: K = sqrt(3/2) and 0.87 with delayed acknowledgements.
		{"mathis", mathis(1e-4, 1), 122.47, 1e-3}, {"mathis, delayed", mathis(1e-4, 2), 86.6, 1e-3},
		// RFC 9438, table 1 (window of CUBIC with 0.1 s): 12, 59, 333, 1874, and
		// AIMD where that is larger; random losses leave up to 14 % more.
		{"cubic 1e-2", cubic(1e-2, 100*ms), 12, 0.15}, {"cubic 1e-3", cubic(1e-3, 100*ms), 41, 0.15},
		{"cubic 1e-5", cubic(1e-5, 100*ms), 1054 * 1.14, 0.01}, {"cubic 1e-6", cubic(1e-6, 100*ms), 5926 * 1.14, 0.01},
		// The simulation: 41.1, 406, 429 and 719 segments.
		{"cubic 1 ms", cubic(1e-3, ms), 39.4, 0.02}, {"cubic 5 ms", cubic(1e-5, 5*ms), 402, 0.02},
		{"cubic 20 ms", cubic(1e-5, 20*ms), 429, 0.03}, {"cubic 50 ms", cubic(1e-5, 50*ms), 719, 0.03},
		// PFTK: half a second of timeout counts for much at 5 %.
		{"pftk", Pftk(0.01, 2, 1e9, 100*ms, 500*ms), 77.5, 0.01}, {"pftk, window", Pftk(1e-6, 2, 20, 100*ms, 500*ms), 200, 1e-9},
		{"bbr", bbr(0.25), 4, 0},
	} {
		if math.Abs(c.got-c.want) > c.near*c.want {
			t.Errorf("%s: %.4g; want %.4g", c.what, c.got, c.want)
		}
	}
	if !math.IsInf(bbr(0.1), 1) {
		t.Error("bbr yields to 10 % of loss")
	}
}
