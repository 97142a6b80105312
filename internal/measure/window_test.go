package measure

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/unit"
)

func near(a, b, share float64) bool {
	return a == b || math.Abs(a-b) <= share*math.Max(math.Abs(a), math.Abs(b))
}

// TestInterval: Student's t for 95 % is 3.182446, 2.776445 and 2.262157 with
// 3, 4 and 9 degrees of freedom.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		values     []float64
		mean, half float64
	}{
		{[]float64{1, 2, 3, 4}, 2.5, 3.182446 * 1.2909944 / 2},
		{[]float64{10, 12, 11, 13, 14}, 12, 2.776445 * 1.5811388 / 2.2360680},
		{[]float64{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, 0.5, 2.262157 * 0.5270463 / 3.1622777},
		{[]float64{7, 7, 7, 7}, 7, 0},
		{[]float64{1, 2, 3}, 2, math.Inf(1)},
		{[]float64{5}, 5, math.Inf(1)},
		{nil, 0, math.Inf(1)},
	} {
		mean, half := interval(c.values)
		if !near(mean, c.mean, 1e-6) || !near(half, c.half, 1e-6) {
			t.Errorf("%v: %v ± %v, want %v ± %v", c.values, mean, half, c.mean, c.half)
		}
	}
}

// TestIntervalScales: in other units, and beside a constant, it is the same
// interval.
func TestIntervalScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(1, 1000), leastBlocks, 50).Draw(t, "values")
		scale, add := rapid.Float64Range(1, 1e6).Draw(t, "scale"), rapid.Float64Range(0, 1000).Draw(t, "add")
		other := make([]float64, len(values))
		for i, v := range values {
			other[i] = scale * (v + add)
		}
		mean, half := interval(values)
		otherMean, otherHalf := interval(other)
		if !near(otherMean, scale*(mean+add), 1e-9) || math.Abs(otherHalf-scale*half) > 1e-6*scale*(1+half) || half < 0 {
			t.Fatalf("%v ± %v became %v ± %v with x %v", mean, half, otherMean, otherHalf, scale)
		}
	})
}

func TestBlocks(t *testing.T) {
	sender := receiving(9e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9)
	sender.sending = true
	warmed := receiving(1e6, 1e6, 100e6, 200e6, 300e6, 500e6)
	warmed.opened = 2
	for _, c := range []struct {
		name string
		ends []*end
		want []float64
	}{
		{"two samples a block, the odd one left out", []*end{receiving(100e6, 200e6, 300e6, 500e6, 900e6)}, []float64{150e6, 400e6}},
		{"senders do not count", []*end{sender, receiving(100e6, 200e6, 300e6, 500e6)}, []float64{150e6, 400e6}},
		{"both ways sum", []*end{receiving(100e6, 200e6), receiving(10e6, 20e6)}, []float64{165e6}},
		{"the end that has seen least", []*end{receiving(100e6, 200e6, 300e6, 500e6), receiving(10e6, 20e6, 1e6)}, []float64{165e6}},
		{"the warm-up does not count", []*end{warmed}, []float64{150e6, 400e6}},
		{"no block yet", []*end{receiving(100e6)}, nil},
	} {
		got := ends(c.ends).blocks()
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b float64) bool { return near(a, b, 1e-6) })); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestDip(t *testing.T) {
	warmed := receiving(0, 0, 100e6, 100e6, 100e6)
	warmed.opened = 2
	for _, c := range []struct {
		name string
		ends []*end
		want float64
	}{
		{"steady", []*end{receiving(100e6, 100e6, 100e6, 100e6)}, 0},
		{"one moment at half", []*end{receiving(100e6, 100e6, 50e6, 100e6, 100e6)}, 0.5},
		{"a stall", []*end{receiving(100e6, 0, 100e6)}, 1},
		{"rising is no dip of the median", []*end{receiving(90e6, 100e6, 300e6)}, 0.1},
		{"one way's dip is half of both", []*end{receiving(100e6, 0, 100e6), receiving(100e6, 100e6, 100e6)}, 0.5},
		{"before the window", []*end{warmed}, 0},
		{"nothing carried", []*end{receiving(0, 0, 0)}, 0},
		{"too few to say", []*end{receiving(100e6, 0)}, 0},
	} {
		if got := ends(c.ends).dip(); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestDipShare: for any rates it is a share, and zero for a constant rate.
func TestDipShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rates := rapid.SliceOfN(rapid.Float64Range(0, 1e11), 0, 40).Draw(t, "rates")
		var all []unit.BitRate
		for _, r := range rates {
			all = append(all, unit.BitRate(r))
		}
		if d := (ends{receiving(all...)}).dip(); d < 0 || d > 1 || math.IsNaN(d) {
			t.Fatalf("dip %v", d)
		}
	})
}

// TestReceived: a counter that was set back carries nothing, not 2^64 bytes.
func TestReceived(t *testing.T) {
	e := receiving(100e6, 100e6)
	e.samples[2].Bytes[0] = 5
	tr := ends{e}
	if got := tr.received(last(1), last(0)); got != 0 {
		t.Errorf("%v after a counter was set back", got)
	}
	if got := tr.received(last(9), last(1)); !near(float64(got), 100e6, 1e-6) {
		t.Errorf("%v from the first sample, want 100 Mbit/s", got)
	}
	if got := tr.opened(); got != 2*step {
		t.Errorf("open for %v, want %v", got, 2*step)
	}
}

// TestAdd: samples that the rest could not rely on are errors.
func TestAdd(t *testing.T) {
	two := func(at time.Duration) agentapi.Sample { return agentapi.Sample{At: at, Bytes: []uint64{1, 2}} }
	for _, c := range []struct {
		name    string
		samples []agentapi.Sample
		ok      bool
	}{
		{"as they should be", []agentapi.Sample{two(1), two(2)}, true},
		{"twice the same moment", []agentapi.Sample{two(1), two(1)}, true},
		{"none at all", nil, false},
		{"a stream missing", []agentapi.Sample{two(1), {At: 2, Bytes: []uint64{1}}}, false},
		{"a stream too much", []agentapi.Sample{{Bytes: []uint64{1, 2, 3}}}, false},
		{"time runs backward", []agentapi.Sample{two(2), two(1)}, false},
	} {
		e := &end{host: "beta", way: way{streams: 2}}
		if err := e.add(c.samples); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	e := &end{way: way{streams: 2}}
	if err := e.add([]agentapi.Sample{two(1)}); err != nil {
		t.Fatal(err)
	}
	if err := e.add(nil); err != nil || len(e.samples) != 1 {
		t.Errorf("nothing new: %v, %d samples", err, len(e.samples))
	}
}
