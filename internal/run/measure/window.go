package measure

import (
	"context"
	"math"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/analysis/series"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// The words of record.Trial.Stop for a window that ended as it should.
const (
	stopInterval = "interval"
	stopMaximum  = "maximum"
	stopDuration = "duration"
)

// NotSteady is a trial's note that its rate had not settled when its window
// was opened.
const NotSteady = "not steady after the longest warm-up"

// notSteadyCapped is NotSteady of a trial that has no more time, or bytes.
const notSteadyCapped = "not steady in half of what the run's cap left: measured in the rest"

const (
	shortestPoll  = 20 * time.Millisecond
	windowLeeway  = 5 * time.Millisecond
	minimumWindow = 100 * time.Millisecond
	// leastRoundTrips is how many round trips the stop rule wants to have seen:
	// a congestion window takes tens of them to go up and down.
	leastRoundTrips = 20
	// rampRoundTrips are those in which slow start comes from ten segments to a
	// thousand; a rate that swings with each round trip hides them.
	rampRoundTrips = 8
)

// warm lets the streams run until their sum is steady, at most longestWarm and
// half of what the run's bounds leave, and opens the window where it became so:
// everything was counted since the first byte, so that what showed that it was
// steady is part of it. Where nothing arrives it gives up: the silence is the
// result.
func (r *round) warm(ctx context.Context) error {
	if err := r.ends.take(ctx); err != nil {
		return err
	}
	left := r.left()
	for {
		if err := sampling.Pause(ctx, r.warmPoll()); err != nil {
			return err
		}
		if err := r.ends.take(ctx); err != nil {
			return err
		}
		if err := r.haltWarm(); err != nil {
			return err
		}
		r.report("warming up", r.ends.received(last(1), last(0)))
		s := r.series()
		if r.silent() {
			if s.Length() >= r.patience() {
				r.open(s, 0)
				r.stalled = true
				return nil
			}
			continue
		}
		if w := r.steady(s); w.Over {
			r.open(s, w.First)
			return nil
		}
		note := ""
		switch {
		case s.Length() >= r.longestWarm(s.Mean()):
			note = NotSteady
		case r.cramped(left, s.Length()):
			note = notSteadyCapped
		}
		if note != "" {
			r.notes = append(r.notes, note)
			r.open(s, len(s))
			r.settled = true
			return nil
		}
	}
}

// steady is where the series becomes steady: after its warm-up, and no earlier
// than slow start may take from the first byte on.
func (r *round) steady(s series.Series) series.Window {
	w := afterSilence(s)
	ramp, first := rampRoundTrips*r.ends.leastRoundTrip(), carried(s)
	for first < len(s) && w.First < len(s) && s[w.First].From < s[first].From+ramp {
		w.First++
	}
	w.Over = w.Over && w.First < len(s)
	return w
}

// open opens the window with a point of the series of all ends.
func (r *round) open(s series.Series, first int) {
	for _, e := range r.ends {
		e.opened, e.closed = min(first, len(e.samples)-1), 0
	}
	r.warmUp = 0
	if first > 0 {
		r.warmUp = s[first-1].To
	}
}

// window keeps the common window open on all ends until the duration or the
// stop rule ends it.
func (r *round) window(ctx context.Context) (string, error) {
	if r.stalled {
		return StopStalled, nil
	}
	spec := r.trials[0].spec
	length := max(spec.longest(), minimumWindow)
	rule := series.Rule{Precision: spec.Precision, Least: max(leastRoundTrips*r.ends.roundTrip(), series.LeastWindow)}
	for {
		if r.ends.opened() >= length+r.late.now()-windowLeeway {
			if stop := stopWord(spec); !r.inFall() {
				return stop, nil
			}
		}
		if err := sampling.Pause(ctx, r.nextPoll(length)); err != nil {
			return "", err
		}
		if err := r.ends.take(ctx); err != nil {
			return "", err
		}
		if word := r.halt(); word != "" {
			return word, nil
		}
		r.report("measuring", r.ends.received(func(e *end) int { return e.opened }, last(0)))
		s := r.series()
		if !r.follow(s, length) || spec.Duration > 0 {
			continue
		}
		if e, enough := rule.Enough(s, r.first()); enough && r.possible(e.Mean) {
			return stopInterval, nil
		}
	}
}

// nextPoll is the time until the next sample: the usual one, or the rest of
// the window and the moment that makes it full, so that no point is a fraction
// of the others.
func (r *round) nextPoll(length time.Duration) time.Duration {
	poll := r.poll()
	if left := length - r.ends.opened(); left > windowLeeway && left < poll+poll/2 {
		return left + time.Millisecond
	}
	return poll
}

// stopWord is why a window ended that has its full length.
func stopWord(s Spec) string {
	if s.Duration > 0 {
		return stopDuration
	}
	return stopMaximum
}

// inFall reports a window that is long enough and ends where the rate has just
// fallen, as behind a token bucket: a moment more tells. The window is closed
// meanwhile; a burst that shows opens it again, see follow.
func (r *round) inFall() bool {
	s := r.series()
	if r.settled || r.trials[0].spec.Fail != nil || s.Length() >= longestWarm+r.trials[0].spec.longest() || !s.MayBeBucket() {
		return false
	}
	for _, e := range r.ends {
		if e.closed == 0 {
			e.closed = len(e.samples) - 1
		}
	}
	return true
}

// follow moves the window's beginning where more samples show that the
// warm-up lasted longer, or that a token bucket's burst did, and reports
// whether the rate is steady now. A window of exact length moves for a burst
// only, so that it ends; and none does while a link is made to fail.
func (r *round) follow(s series.Series, length time.Duration) bool {
	spec := r.trials[0].spec
	if r.settled || spec.Fail != nil {
		return true
	}
	w := r.steady(s)
	late := s.Length() >= longestWarm+length
	switch {
	case w.Bucket != nil && w.After > r.first() && !late:
		r.open(s, w.First)
	case spec.Duration == 0 && w.Over && !late:
		r.open(s, w.First)
	}
	return w.Over || late
}

// first is the index of the first point of the window.
func (r *round) first() int { return r.ends[0].opened }

// possible reports whether the ends' mean is no more than their ceiling. What
// is above it cannot last, so the stop rule must not be content with it.
func (r *round) possible(mean unit.BitRate) bool {
	ceiling := unit.BitRate(0)
	for _, t := range r.trials {
		c, _, err := t.ceiling()
		if err != nil || c <= 0 {
			return true
		}
		ceiling += c
	}
	return mean <= ceiling*1.01
}

// received is the payload rate of all receiving ends between two samples.
func (es ends) received(from, to func(*end) int) unit.BitRate {
	var sum unit.BitRate
	for _, e := range es {
		if e.sending {
			continue
		}
		a, b := e.samples[from(e)], e.samples[to(e)]
		for i := range b.Bytes {
			sum += unit.FromBytes(float64(netstate.Grown(a.Bytes[i], b.Bytes[i])), (b.At - a.At).Seconds())
		}
	}
	return sum
}

func last(back int) func(*end) int {
	return func(e *end) int { return max(len(e.samples)-1-back, 0) }
}

// series is that of the round's ends so far; each point is computed once.
func (r *round) series() series.Series {
	r.known = r.ends.extend(r.known)
	return r.known
}

// series is the sum of all receiving ends between consecutive samples, from
// the first on; times are the first such end's.
func (es ends) series() series.Series { return es.extend(nil) }

// extend is the series of which the first points are known: samples are added,
// and none is changed.
func (es ends) extend(known series.Series) series.Series {
	var clock *end
	points := math.MaxInt
	for _, e := range es {
		points = min(points, len(e.samples)-1)
		if clock == nil && !e.sending {
			clock = e
		}
	}
	if clock == nil || points < 1 {
		return nil
	}
	for k := len(known); k < points; k++ {
		at := func(n int) func(*end) int { return func(*end) int { return n } }
		known = append(known, series.Point{
			From: clock.samples[k].At - clock.samples[0].At, To: clock.samples[k+1].At - clock.samples[0].At,
			Rate: es.received(at(k), at(k+1)),
		})
	}
	return known
}

// counted is the part of the series that is in the window.
func (es ends) counted() series.Series {
	s := es.series()
	if len(s) == 0 {
		return nil
	}
	opened := min(es[0].opened, len(s))
	return s[opened:max(min(es[0].last(), len(s)), opened)]
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

// roundTrip is the longest that a sender's TCP has measured lately; zero where
// none was read.
func (es ends) roundTrip() time.Duration {
	return es.longest(func(tcp record.TCP) float64 { return tcp.RTTMS })
}

// leastRoundTrip is the longest path's without a queue, as far as its senders have
// seen one; zero where none was read.
func (es ends) leastRoundTrip() time.Duration {
	return es.longest(func(tcp record.TCP) float64 { return tcp.MinRTTMS })
}

// longest of the senders' newest times, in milliseconds.
func (es ends) longest(of func(record.TCP) float64) time.Duration {
	longest := 0.0
	for _, e := range es {
		if !e.sending || len(e.samples) == 0 {
			continue
		}
		for _, tcp := range e.samples[len(e.samples)-1].TCP {
			longest = max(longest, of(tcp.Last))
		}
	}
	return time.Duration(longest * float64(time.Millisecond))
}

// edges are the samples that open and close an end's window.
func (e *end) edges() (open, shut agentapi.Sample) {
	return e.samples[e.opened], e.samples[e.last()]
}

// last is the index of the sample that closes the window, or would now.
func (e *end) last() int {
	if e.closed > 0 {
		return e.closed
	}
	return len(e.samples) - 1
}
