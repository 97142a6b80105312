package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Bounds of a judgement over a history.
const (
	// LeastRuns is how many earlier runs are needed to say how much runs vary.
	LeastRuns = 5
	// Level is how often all verdicts of one run may name a difference where
	// there is none: one in a hundred, since a history is asked after every run.
	Level = 0.01
	// madScale makes a median absolute deviation the standard deviation of a
	// normal distribution: one over its 75 % quantile.
	madScale = 1.4826
	// madEfficiency is how many of a sample's degrees of freedom its MAD keeps
	// (Huber, Robust Statistics, 1981, section 5.1: 37 %).
	madEfficiency = 0.37
	// leastNoise bounds from below how much runs are thought to vary, as a share
	// of the median: a shaper's rate comes out the same to the last digit.
	leastNoise = 0.0005
)

// Options are what to judge by. The zero Options are Level, no least effect and
// LeastRuns.
type Options struct {
	Level     float64
	MinEffect float64
	// LeastRuns is how many earlier runs a verdict needs; fewer than three are
	// taken for LeastRuns.
	LeastRuns int
}

// Against judges a record's results by those of earlier runs, each result of
// the same key: the median of the runs, and how much they vary around it by
// their median absolute deviation, which a few bad runs do not move. A
// probability is Student's t of one more run, with the degrees of freedom that
// a MAD keeps, adjusted for the number of results (Holm). Lines may name the
// hosts the other way round. Steps that tune tried are left out.
func Against(r record.Record, earlier []Line, o Options) compare.Result {
	if o.LeastRuns < 3 {
		o.LeastRuns = LeastRuns
	}
	if o.Level == 0 {
		o.Level = Level
	}
	out := compare.Result{Rows: []compare.Row{}, Latency: []compare.Latency{}, Unmatched: []compare.Unmatched{}, Differences: []compare.Difference{}, Notes: []string{}}
	before := byKey(earlier)
	fewer := 0
	for _, now := range lines(Of(r)) {
		if now.Phase == record.PhaseStep {
			continue
		}
		past := runs(startedBefore(before[now.Key], r.Started))
		if len(past) == 0 {
			out.Unmatched = append(out.Unmatched, compare.Unmatched{Key: asCompared(now.Key), Side: "after"})
			continue
		}
		row := judged(now, past, o.LeastRuns)
		if row.P == nil {
			fewer++
		}
		out.Rows = append(out.Rows, row)
	}
	compare.Judge(out.Rows, compare.Options{Level: o.Level, MinEffect: o.MinEffect})
	if fewer > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("too few data where there are fewer than %d earlier runs", o.LeastRuns))
	}
	if n := len(r.Failures); n > 0 {
		out.Notes = append(out.Notes, unit.Counted(n, "measurement")+" of this run failed and cannot be judged")
	}
	return out
}

// asCompared is a key as comparisons have it: what they do not know of is the
// setting's.
func asCompared(k Key) compare.Key {
	out := compare.Key{From: k.From, To: k.To, Direction: k.Direction, Streams: k.Streams, Protocol: k.Protocol, Variant: k.Setting, Phase: k.Phase}
	if k.Tool != "linerate" {
		out.Variant = k.Tool
		if k.Setting != "" {
			out.Variant += ", " + k.Setting
		}
	}
	return out
}

// lines gathers results by key, in the order in which keys appear.
func lines(results []Result) []Line {
	var out []Line
	at := make(map[Key]int)
	for _, r := range results {
		i, known := at[r.Key]
		if !known {
			i = len(out)
			at[r.Key] = i
			out = append(out, Line{Key: r.Key})
		}
		out[i].Points = append(out[i].Points, r.Point)
	}
	return out
}

// byKey is the points of lines by both names of their key.
func byKey(all []Line) map[Key][]Point {
	out := make(map[Key][]Point)
	for _, l := range all {
		out[l.Key] = append(out[l.Key], l.Points...)
		if turned := l.Key.Turned(); turned != l.Key {
			out[turned] = append(out[turned], l.Points...)
		}
	}
	return out
}

// run is one run's mean of a key, and how sure its own windows make it.
type run struct {
	started time.Time
	rate    float64
	se      float64 // zero: not known
}

// startedBefore are the points before a moment.
func startedBefore(points []Point, moment time.Time) []Point {
	var out []Point
	for _, p := range points {
		if p.Started.Before(moment) {
			out = append(out, p)
		}
	}
	return out
}

// runs are the runs of points, the oldest first. Two trials of one run are one.
func runs(points []Point) []run {
	type sum struct {
		run
		n, known int
	}
	sums := make(map[string]*sum)
	for _, p := range points {
		s := sums[p.Run]
		if s == nil {
			s = &sum{run: run{started: p.Started}}
			sums[p.Run] = s
		}
		s.n++
		s.rate += float64(p.Goodput)
		if e := ownError(p); e > 0 {
			s.known++
			s.se += e
		}
	}
	out := make([]run, 0, len(sums))
	for _, s := range sums {
		s.rate /= float64(s.n)
		if s.known > 0 {
			s.se /= float64(s.known)
		}
		out = append(out, s.run)
	}
	slices.SortFunc(out, func(a, b run) int { return a.started.Compare(b.started) })
	return out
}

// ownError is the standard error that a result's own interval says; zero where
// it has none.
func ownError(p Point) float64 {
	if p.Low <= 0 || p.High <= p.Low {
		return 0
	}
	return float64(p.High-p.Low) / 2 / distuv.UnitNormal.Quantile(0.975)
}

// judged holds one key's result against those of earlier runs.
func judged(now Line, past []run, least int) compare.Row {
	rates, errors := make([]float64, len(past)), make([]float64, len(past))
	for i, p := range past {
		rates[i], errors[i] = p.rate, p.se
	}
	self := runs(now.Points)[0]
	x := self.rate
	middle := Median(rates)
	row := compare.Row{Key: asCompared(now.Key), Before: unit.BitRate(middle), After: unit.BitRate(x), BeforeRuns: len(past), AfterRuns: 1, CPU: []compare.Cores{}, Test: "none"}
	if middle > 0 {
		row.Change = x/middle - 1
	}
	if len(past) < least || middle <= 0 {
		return row
	}
	se, t := oneMore(len(past), max(noiseOf(rates, errors, middle), self.se))
	p := 2 * t.Survival(math.Abs(x-middle)/se)
	half := t.Quantile(0.975) * se / middle
	low, high := row.Change-half, row.Change+half
	row.P, row.Low, row.High = &p, &low, &high
	row.Test = fmt.Sprintf("median and MAD of %d runs, %s to %s", len(past), past[0].started.UTC().Format(time.DateOnly), past[len(past)-1].started.UTC().Format(time.DateOnly))
	return row
}

// noiseOf is how much runs vary around their median; errors are what windows say of
// them. Neither runs nor windows may vary less than the other says they do.
func noiseOf(rates, errors []float64, middle float64) float64 {
	return max(madScale*deviation(rates, middle), Median(errors), leastNoise*middle)
}

// oneMore is the standard error of one run less a median of n that vary so much, and
// the distribution that it is held against.
func oneMore(n int, noise float64) (se float64, t distuv.StudentsT) {
	return noise * math.Sqrt(1+math.Pi/2/float64(n)), distuv.StudentsT{Sigma: 1, Nu: madEfficiency * float64(n-1)}
}

// Median is the middle of values, of an even number the mean of the two; zero
// of none.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// Usual is what the runs of a line come to.
type Usual struct {
	Runs   int          `json:"runs_count"`
	Median unit.BitRate `json:"median_bps"`
	// Noise is how much runs vary, as a share of the median: the standard
	// deviation of a normal distribution of the same median absolute deviation.
	Noise float64 `json:"noise_ratio"`
}

// Usual is the median of a line's runs and how much they vary around it.
func (l Line) Usual() Usual {
	all := runs(l.Points)
	rates := make([]float64, len(all))
	for i, r := range all {
		rates[i] = r.rate
	}
	return usualOf(rates)
}

func usualOf(rates []float64) Usual {
	u := Usual{Runs: len(rates), Median: unit.BitRate(Median(rates))}
	if u.Median > 0 {
		u.Noise = madScale * deviation(rates, float64(u.Median)) / float64(u.Median)
	}
	return u
}

// Runs names the runs that lines are of, the oldest first.
func Runs(all []Line) []string {
	began := make(map[string]time.Time)
	for _, l := range all {
		for _, p := range l.Points {
			if at, known := began[p.Run]; !known || p.Started.Before(at) {
				began[p.Run] = p.Started
			}
		}
	}
	return slices.SortedFunc(maps.Keys(began), func(a, b string) int {
		return cmp.Or(began[a].Compare(began[b]), strings.Compare(a, b))
	})
}

// deviation is the median absolute deviation from a middle.
func deviation(x []float64, middle float64) float64 {
	away := make([]float64, len(x))
	for i, v := range x {
		away[i] = math.Abs(v - middle)
	}
	return Median(away)
}
