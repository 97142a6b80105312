package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// pastOf are runs of one key, a day apart, in Mbit/s.
func pastOf(rates ...float64) []Line {
	l := Line{Key: Key{From: "a", To: "b", Direction: flow.Forward, Streams: 4, Protocol: "tcp", Tool: "linerate"}}
	for i, r := range rates {
		l.Points = append(l.Points, Point{Run: fmt.Sprint("run", i), Started: day0.AddDate(0, 0, i), Goodput: unit.BitRate(r * 1e6)})
	}
	return []Line{l}
}

// nowOf is a run long after them.
func nowOf(rates ...float64) record.Record {
	r := record.Record{ID: "now", Started: day0.AddDate(1, 0, 0)}
	for i, rate := range rates {
		r.Trials = append(r.Trials, record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 4, Goodput: unit.BitRate(rate * 1e6), Started: r.Started.Add(time.Duration(i) * time.Minute)})
	}
	return r
}

func TestAgainst(t *testing.T) {
	steady := []float64{500, 502, 498, 501, 499, 500, 503, 497, 500, 501}
	for _, c := range []struct {
		name string
		past []float64
		now  []float64
		want compare.Verdict
	}{
		{"as ever", steady, []float64{500}, compare.NotShown},
		{"lost a tenth", steady, []float64{450}, compare.Worse},
		{"gained a tenth", steady, []float64{550}, compare.Better},
		{"nothing came through", steady, []float64{0}, compare.Worse},
		{"two bad runs before hide nothing", append([]float64{100, 120}, steady...), []float64{450}, compare.Worse},
		{"noise as large as the loss", []float64{300, 700, 500, 400, 600, 350, 650, 520, 480, 505}, []float64{450}, compare.NotShown},
		{"too few runs", steady[:4], []float64{100}, compare.TooFew},
		{"enough runs", steady[:5], []float64{100}, compare.Worse},
		{"to the last digit, and a hair less", []float64{500, 500, 500, 500, 500, 500, 500}, []float64{499.9}, compare.NotShown},
		{"to the last digit, and much less", []float64{500, 500, 500, 500, 500, 500, 500}, []float64{400}, compare.Worse},
		{"nothing ever came through", []float64{0, 0, 0, 0, 0, 0}, []float64{500}, compare.TooFew},
		{"twice in one run", steady, []float64{440, 460}, compare.Worse},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Against(nowOf(c.now...), pastOf(c.past...), Options{})
			if len(got.Rows) != 1 || got.Rows[0].Verdict != c.want || got.Rows[0].BeforeRuns != len(c.past) {
				t.Errorf("%+v", got.Rows)
			}
		})
	}
}

// TestLeastEffect: what is shown but does not matter is the same.
func TestLeastEffect(t *testing.T) {
	past := pastOf(500, 500.1, 499.9, 500, 500.1, 499.9, 500, 500, 500.1, 499.9)
	for _, c := range []struct {
		least float64
		want  compare.Verdict
	}{{0, compare.Worse}, {0.05, compare.Same}} {
		if got := Against(nowOf(490), past, Options{MinEffect: c.least}); got.Rows[0].Verdict != c.want {
			t.Errorf("%v: %+v", c.least, got.Rows[0])
		}
	}
}

// TestWindowsCount: runs that agree better than their own windows are sure do
// not make a run of the same uncertainty a loss.
func TestWindowsCount(t *testing.T) {
	past := pastOf(500, 500.1, 499.9, 500, 500.1, 499.9, 500, 500)
	for i := range past[0].Points {
		past[0].Points[i].Low, past[0].Points[i].High = 470e6, 530e6
	}
	if got := Against(nowOf(485), past, Options{}); got.Rows[0].Verdict != compare.NotShown {
		t.Errorf("%+v", got.Rows[0])
	}
	if got := Against(nowOf(300), past, Options{}); got.Rows[0].Verdict != compare.Worse {
		t.Errorf("%+v", got.Rows[0])
	}
}

func TestWhatIsCompared(t *testing.T) {
	turned := pastOf(500, 500, 500, 500, 500, 500)
	turned[0].Key = turned[0].Key.Turned()
	if got := Against(nowOf(300), turned, Options{}); len(got.Rows) != 1 || got.Rows[0].Verdict != compare.Worse || got.Rows[0].Test != "median and MAD of 6 runs, 2026-03-01 to 2026-03-06" {
		t.Errorf("the hosts named the other way round: %+v", got.Rows)
	}
	// A run is no history of its own, nor is what came later.
	own := pastOf(500, 500, 500, 500, 500, 500)
	for i := range own[0].Points {
		own[0].Points[i].Started = nowOf().Started.Add(time.Duration(i) * time.Minute)
	}
	if got := Against(nowOf(300), own, Options{}); len(got.Rows) != 0 || len(got.Unmatched) != 1 {
		t.Errorf("its own: %+v", got)
	}
	other := pastOf(500, 500, 500, 500, 500, 500)
	other[0].Tool = "iperf3"
	if got := Against(nowOf(300), other, Options{}); len(got.Rows) != 0 {
		t.Errorf("another tool's: %+v", got)
	}
	step := nowOf(300)
	step.Trials[0].Phase = record.PhaseStep
	step.Failures = []record.Failure{{From: "a", To: "c"}}
	got := Against(step, pastOf(500, 500, 500, 500, 500, 500), Options{})
	if len(got.Rows) != 0 || !strings.Contains(strings.Join(got.Notes, ";"), "1 measurement of this run failed") {
		t.Errorf("a step, and a failure: %+v", got)
	}
	iperf3 := nowOf(300)
	iperf3.Trials[0].Tool, iperf3.Trials[0].Ports = "iperf3", "kernel"
	if got := Against(iperf3, nil, Options{}); got.Unmatched[0].Variant != "iperf3, kernel's ports" {
		t.Errorf("%+v", got.Unmatched)
	}
}

func TestUsual(t *testing.T) {
	u := pastOf(500, 510, 490, 500, 100)[0].Usual()
	if u.Runs != 5 || u.Median != 500e6 || math.Abs(u.Noise-1.4826*10.0/500) > 1e-9 {
		t.Errorf("%+v", u)
	}
	if u := (Line{}).Usual(); u != (Usual{}) {
		t.Errorf("%+v", u)
	}
	if got := Runs(append(pastOf(1, 2, 3), pastOf(1, 2)...)); len(got) != 3 || got[0] != "run0" {
		t.Errorf("%v", got)
	}
}

// TestFalseAlarms: where nothing changed, runs of twelve results raise an alarm
// no more often than the level says, for few earlier runs and many, and also
// where now and then a run is far off. A loss of ten standard deviations is
// found once there are thirty runs.
func TestFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	const tries, results = 250, 12
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{5, 8, 15, 30, 100} {
		for _, outliers := range []float64{0, 0.1} {
			noise := func() float64 {
				if rnd.Float64() < outliers {
					return -30 * rnd.Float64()
				}
				return rnd.NormFloat64()
			}
			alarms, found := 0, 0
			for range tries {
				var past []Line
				var now, less record.Record
				now, less = nowOf(), nowOf()
				for k := range results {
					var rates []float64
					for range n {
						rates = append(rates, 1000+5*noise())
					}
					l := pastOf(rates...)
					l[0].Streams = k + 1
					past = append(past, l...)
					x := 5 * rnd.NormFloat64()
					trial := nowOf(1000 + x).Trials[0]
					trial.Streams = k + 1
					now.Trials = append(now.Trials, trial)
					if k == 0 {
						trial.Goodput -= 5e6 * 10
					}
					less.Trials = append(less.Trials, trial)
				}
				if got := Against(now, past, Options{}); got.Count(compare.Worse)+got.Count(compare.Better) > 0 {
					alarms++
				}
				if Against(less, past, Options{}).Count(compare.Worse) > 0 {
					found++
				}
			}
			share, power := float64(alarms)/tries, float64(found)/tries
			t.Logf("%d runs, %.0f %% outliers: %.1f %% of runs raise a false alarm, %.0f %% of losses of ten standard deviations are found", n, 100*outliers, 100*share, 100*power)
			if limit := Level + 4*math.Sqrt(Level/tries); share > limit {
				t.Errorf("%d runs, %v outliers: false alarms in %.2f %% of runs, more than %.2f %%", n, outliers, 100*share, 100*limit)
			}
			if n >= 30 && power < 0.95 {
				t.Errorf("%d runs, %v outliers: only %.0f %% of losses are found", n, outliers, 100*power)
			}
		}
	}
}
