package measure

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/unit"
)

// received is the payload rate of all receiving ends between two samples.
func (es ends) received(from, to func(*end) int) unit.BitRate {
	var sum unit.BitRate
	for _, e := range es {
		if e.sending {
			continue
		}
		a, b := e.samples[from(e)], e.samples[to(e)]
		for i := range b.Bytes {
			sum += unit.FromBytes(float64(grown(a.Bytes[i], b.Bytes[i])), (b.At - a.At).Seconds())
		}
	}
	return sum
}

func last(back int) func(*end) int {
	return func(e *end) int { return max(len(e.samples)-1-back, 0) }
}

// Warm-up ends when the rate has stopped rising: the mean of the newest three
// blocks is within 3 % of the three before, and slow start has had its second.
const (
	warmBlocks  = 3
	warmShare   = 0.03
	leastWarmUp = time.Second
)

// warm lets the streams run until their sum is steady, at most longestWarm.
func (r *round) warm(ctx context.Context) error {
	begin := time.Now()
	if err := r.ends.take(ctx); err != nil {
		return err
	}
	for samples := 1; ; samples++ {
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
		if err := r.ends.take(ctx); err != nil {
			return err
		}
		r.report("warming up", r.ends.received(last(1), last(0)))
		r.warmUp = time.Since(begin)
		if r.warmUp >= longestWarm {
			r.notes = append(r.notes, "not steady after the longest warm-up")
			return nil
		}
		if r.warmUp < leastWarmUp || samples < 2*warmBlocks {
			continue
		}
		newer := float64(r.ends.received(last(warmBlocks), last(0)))
		older := float64(r.ends.received(last(2*warmBlocks), last(warmBlocks)))
		if newer > 0 && math.Abs(newer-older) <= warmShare*newer {
			return nil
		}
	}
}

// Stop rule: the 95 % interval of the mean of the block means is within 2 %.
// Blocks of 0.4 s, because shorter ones are correlated.
const (
	blockSamples  = 2
	stopShare     = 0.02
	leastBlocks   = 4
	confidence    = 0.95
	stopInterval  = "interval"
	stopMaximum   = "maximum"
	stopDuration  = "duration"
	shortestPoll  = 20 * time.Millisecond
	windowLeeway  = 5 * time.Millisecond
	minimumWindow = 100 * time.Millisecond
)

// window opens the common window on all ends and keeps it open until the
// duration or the stop rule ends it.
func (r *round) window(ctx context.Context) (string, error) {
	if err := r.ends.take(ctx); err != nil {
		return "", err
	}
	for _, e := range r.ends {
		e.opened = len(e.samples) - 1
	}
	length := max(r.trials[0].spec.longest(), minimumWindow)
	for {
		left := length - r.ends.opened()
		if err := sleep(ctx, max(min(left, pollEvery), shortestPoll)); err != nil {
			return "", err
		}
		if err := r.ends.take(ctx); err != nil {
			return "", err
		}
		r.report("measuring", r.ends.received(func(e *end) int { return e.opened }, last(0)))
		switch over := r.ends.opened() >= length-windowLeeway; {
		case over && r.trials[0].spec.Duration > 0:
			return stopDuration, nil
		case over:
			return stopMaximum, nil
		case r.trials[0].spec.Duration == 0:
			if mean, half := interval(r.ends.blocks()); mean > 0 && half <= stopShare*mean {
				return stopInterval, nil
			}
		}
	}
}

// opened is how long the window has been open, by the samples of the end that
// has seen least of it: on a full processor they come late.
func (es ends) opened() time.Duration {
	least := time.Duration(math.MaxInt64)
	for _, e := range es {
		open, shut := e.edges()
		least = min(least, shut.At-open.At)
	}
	return least
}

// blocks are the sums of all receiving ends over consecutive blocks of
// the window.
func (es ends) blocks() []float64 {
	var out []float64
	for k := 0; ; k++ {
		complete := true
		for _, e := range es {
			complete = complete && e.opened+(k+1)*blockSamples < len(e.samples)
		}
		if !complete {
			return out
		}
		at := func(n int) func(*end) int { return func(e *end) int { return e.opened + n*blockSamples } }
		out = append(out, float64(es.received(at(k), at(k+1))))
	}
}

// tolerableDip is how far the rate between two samples may fall below the
// median of the window before the trial counts as disturbed: a saturated link
// keeps within 3 %, a machine that lost its processor does not.
const tolerableDip = 0.15

// dip is the deepest fall of the rate between two samples of the window, as a
// share of the median.
func (es ends) dip() float64 {
	var rates []float64
	for k := 0; ; k++ {
		complete := true
		for _, e := range es {
			complete = complete && e.opened+k+1 < len(e.samples)
		}
		if !complete {
			break
		}
		at := func(n int) func(*end) int { return func(e *end) int { return e.opened + n } }
		rates = append(rates, float64(es.received(at(k), at(k+1))))
	}
	if len(rates) < 3 {
		return 0
	}
	slices.Sort(rates)
	median := rates[len(rates)/2]
	if median <= 0 {
		return 0
	}
	return 1 - rates[0]/median
}

// interval is the mean and half the width of its 95 % interval (Student's t);
// half is infinite with too few values to say.
func interval(values []float64) (mean, half float64) {
	if len(values) < leastBlocks {
		if len(values) > 0 {
			mean = stat.Mean(values, nil)
		}
		return mean, math.Inf(1)
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	n := float64(len(values))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1 - (1-confidence)/2)
	return mean, t * deviation / math.Sqrt(n)
}

// edges are the samples that open and close an end's window.
func (e *end) edges() (open, shut agentapi.Sample) {
	return e.samples[e.opened], e.samples[len(e.samples)-1]
}
