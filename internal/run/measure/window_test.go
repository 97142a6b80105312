package measure

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/unit"
)

func near(a, b, share float64) bool {
	return a == b || math.Abs(a-b) <= share*math.Max(math.Abs(a), math.Abs(b))
}

// TestSeries: the sum of the receiving ends, from the first sample on, and the
// part of it that is in the window.
func TestSeries(t *testing.T) {
	sender := receiving(9e9, 9e9, 9e9)
	sender.sending = true
	warmed := receiving(1e6, 1e6, 100e6, 200e6)
	warmed.opened = 2
	for _, c := range []struct {
		name      string
		ends      []*end
		all, some []float64
	}{
		{"one end", []*end{receiving(100e6, 200e6)}, []float64{100e6, 200e6}, []float64{100e6, 200e6}},
		{"senders do not count", []*end{sender, receiving(100e6, 200e6, 300e6)}, []float64{100e6, 200e6, 300e6}, []float64{100e6, 200e6, 300e6}},
		{"both ways sum", []*end{receiving(100e6, 200e6), receiving(10e6, 20e6)}, []float64{110e6, 220e6}, []float64{110e6, 220e6}},
		{"the end that has seen least", []*end{receiving(100e6, 200e6), receiving(10e6)}, []float64{110e6}, []float64{110e6}},
		{"the warm-up does not count", []*end{warmed}, []float64{1e6, 1e6, 100e6, 200e6}, []float64{100e6, 200e6}},
		{"one sample", []*end{receiving()}, nil, nil},
		{"nobody receives", []*end{sender}, nil, nil},
	} {
		for which, want := range map[string][]float64{"all": c.all, "counted": c.some} {
			got := ends(c.ends).series()
			if which == "counted" {
				got = ends(c.ends).counted()
			}
			var rates []float64
			for i, p := range got {
				if p.To-p.From != step || i > 0 && p.From != got[i-1].To {
					t.Errorf("%s: point %d from %v to %v", c.name, i, p.From, p.To)
				}
				rates = append(rates, float64(p.Rate))
			}
			if diff := cmp.Diff(want, rates, cmp.Comparer(func(a, b float64) bool { return near(a, b, 1e-6) })); diff != "" {
				t.Errorf("%s, %s (-want +got)\n%s", c.name, which, diff)
			}
		}
	}
}

// steady is that many points of a rate with a ripple of one per mille.
func steady(rate unit.BitRate, points int) []unit.BitRate {
	out := make([]unit.BitRate, points)
	for i := range out {
		out[i] = rate * unit.BitRate(1+0.001*float64(i*7%5-2))
	}
	return out
}

// TestFollow: the window begins after a burst that shows later, and later than
// the warm-up first seemed to end where the stop rule decides; it stays where
// it is while a link is made to fail.
func TestFollow(t *testing.T) {
	burst := append(steady(2e9, 30), steady(1e9, 20)...)
	late := append(steady(330e6, 12), steady(1e9, 30)...)
	for _, c := range []struct {
		name  string
		rates []unit.BitRate
		spec  Spec
		want  int
	}{
		{"burst, stop rule", burst, Spec{}, 31},
		{"burst, exact length", burst, Spec{Duration: 10 * time.Second}, 31},
		{"late, stop rule", late, Spec{}, 12},
		{"late, exact length", late, Spec{Duration: 10 * time.Second}, 1},
		{"while a link fails", burst, Spec{Duration: 10 * time.Second, Fail: &Failing{}}, 1},
	} {
		e := receiving(c.rates...)
		e.opened = 1
		r := &round{trials: []*trial{{spec: c.spec, ends: ends{e}}}, ends: ends{e}}
		if steady := r.follow(r.ends.series(), c.spec.longest()); !steady || r.first() < c.want || r.first() > c.want+1 {
			t.Errorf("%s: steady %v from point %d on, want %d or the next", c.name, steady, r.first(), c.want)
		}
	}
}

// TestInFall: a window that ends just after a fall is closed, and looked at a
// little longer: a bucket opens it again, anything else leaves it as it was.
func TestInFall(t *testing.T) {
	fell := append(steady(2e9, 30), steady(1e9, 5)...)
	e := receiving(fell...)
	e.opened = 1
	r := &round{trials: []*trial{{spec: Spec{Duration: 7 * time.Second}, ends: ends{e}}}, ends: ends{e}}
	if !r.inFall() || e.closed != 35 {
		t.Fatalf("closed at %d", e.closed)
	}
	for name, c := range map[string]struct {
		later          []unit.BitRate
		wants          bool
		opened, closed int
	}{
		"it stays low":       {steady(1e9, 12), false, 31, 0},
		"it was for a while": {steady(2e9, 3), false, 1, 35},
		"not known yet":      {steady(1e9, 3), true, 1, 35},
	} {
		later := receiving(append(append([]unit.BitRate(nil), fell...), c.later...)...)
		later.opened, later.closed = 1, 35
		r.ends, r.trials[0].ends, r.known = ends{later}, ends{later}, nil
		r.follow(r.ends.series(), 7*time.Second)
		if later.opened < c.opened || later.opened > c.opened+1 || later.closed != c.closed {
			t.Errorf("%s: window from %d to %d, want %d to %d", name, later.opened, later.closed, c.opened, c.closed)
		}
		if got := r.inFall(); got != c.wants {
			t.Errorf("%s: wants to know more: %v", name, got)
		}
	}
}

// TestUsualPoll: a short window has enough samples, a long one not too many.
func TestUsualPoll(t *testing.T) {
	for _, c := range []struct {
		streams  int
		duration time.Duration
		took     time.Duration
		want     time.Duration
		warm     time.Duration
	}{
		{1, 0, 0, pollEvery, pollEvery}, {1024, 0, 0, pollManyEvery, pollManyEvery},
		{1, time.Second, 0, time.Second / 16, pollEvery}, {1, 100 * time.Millisecond, 0, shortestPoll, pollEvery},
		{1, time.Hour, 0, 1800 * time.Millisecond, pollEvery}, {8, 10 * time.Second, 0, pollEvery, pollEvery},
		{8, 0, 300 * time.Microsecond, pollEvery, pollEvery}, {8, 0, 2 * time.Millisecond, 125 * time.Millisecond, pollEvery},
		{8, 0, time.Second, 125 * time.Millisecond, pollEvery}, {8, time.Minute, time.Second, pollDearEvery, pollDearEvery}, {8, 8 * time.Second, 3 * time.Millisecond, 300 * time.Millisecond, 300 * time.Millisecond},
		{8, 4 * time.Second, 3 * time.Millisecond, 250 * time.Millisecond, 200 * time.Millisecond},
		{8, 2 * time.Second, 2 * time.Millisecond, 125 * time.Millisecond, pollEvery}, {1024, 0, time.Millisecond, pollManyEvery, pollManyEvery},
	} {
		e := &end{way: way{streams: c.streams}}
		for _, took := range []time.Duration{50 * c.took, c.took, 2 * c.took} { // the shortest counts
			if err := e.add([]agentapi.Sample{{Bytes: make([]uint64, c.streams), Took: took}}); err != nil {
				t.Fatal(err)
			}
		}
		r := &round{trials: []*trial{{spec: Spec{Duration: c.duration}}}, ends: ends{e}}
		if got := r.poll(); got != c.want {
			t.Errorf("%d streams, %v, samples of %v: every %v, want %v", c.streams, c.duration, c.took, got, c.want)
		}
		if got := r.warmPoll(); got != c.warm {
			t.Errorf("%d streams, %v, samples of %v: the warm-up every %v, want %v", c.streams, c.duration, c.took, got, c.warm)
		}
	}
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
