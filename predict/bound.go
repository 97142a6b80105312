package predict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate/linerate/predict/pcie"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// level says which end of what is uncertain a computation takes.
type level = pcie.Level

const (
	middle  = pcie.Middle
	lowest  = pcie.Lowest
	highest = pcie.Highest
)

// estimate is a rate, and what it may be at least and at most where an input
// is uncertain. All are zero where nobody can say; low and high are zero where
// the rate is certain.
type estimate struct {
	rate, low, high unit.BitRate
	// open says in plain words what makes it uncertain.
	open string
}

func (e estimate) at(l level) unit.BitRate {
	switch {
	case l == lowest && e.low > 0:
		return e.low
	case l == highest && e.high > 0:
		return e.high
	}
	return e.rate
}

func (e estimate) times(n float64) estimate {
	k := unit.BitRate(n)
	return estimate{rate: e.rate * k, low: e.low * k, high: e.high * k, open: e.open}
}

// streamLimit holds each stream back by itself, whatever the links carry.
type streamLimit struct {
	cause record.Cause
	where string
	// each is what one stream reaches, payload; a zero rate is one that nobody
	// can say.
	each estimate
	// why ends with one stream's arithmetic.
	why string
}

// sharedLimit holds traffic back together.
type sharedLimit struct {
	cause record.Cause
	// group: members of one group add up, each holds for its own legs; ""
	// stands alone.
	group string
	where string
	// in all, as a shaper counts (from the Ethernet header on), or payload.
	total   estimate
	payload bool
	what    string
	legs    []int // numbers of the way's legs; nil is all
	// roles: what the host sends and what it receives share it, as its cores.
	roles bool
}

func (s sharedLimit) covers(leg int) bool {
	if s.legs == nil {
		return true
	}
	return slices.Contains(s.legs, leg)
}

// bounds are the limits that do not hang on which link a flow takes.
type bounds struct {
	streams []streamLimit
	shared  []sharedLimit
	// flows is how many transport flows make one stream: an MPTCP connection's
	// share its windows and its core.
	flows float64
	// lost is what loss alone leaves one stream; zero without loss.
	lost estimate
	// counted is the payload's share of what a shaper counts.
	counted float64
}

func (w *way) bounds() bounds {
	b := bounds{flows: float64(w.flows()) / float64(w.traffic.Streams), counted: w.shaperShare()}
	b.streams = append(b.streams, w.windowLimits()...)
	b.streams = append(b.streams, w.coreLimits()...)
	queues, _, _ := w.guestQueues()
	b.streams = append(b.streams, queues...)
	b.streams = append(b.streams, w.pacingLimits()...)
	b.streams = append(b.streams, w.singlyLimits()...)
	b.streams = append(b.streams, w.lossLimits()...)
	if i := tightestOf(b.streams, record.Congestion); i >= 0 {
		b.lost = b.streams[i].each
	}
	b.streams = w.overtaken(met(b.streams))
	b.streams = append(b.streams, w.cloudFlows()...)
	b.shared = append(b.shared, w.readings()...)
	b.shared = append(b.shared, w.allCores()...)
	b.shared = append(b.shared, w.stripedLimits()...)
	b.shared = append(b.shared, w.cloudTotals(false)...)
	return b
}

// flowCap is the tightest limit of one transport flow, +Inf when none is known.
func (b bounds) flowCap(l level) float64 {
	best := math.Inf(1)
	for _, s := range b.streams {
		if r := s.each.at(l); r > 0 {
			best = min(best, float64(r)/b.flows)
		}
	}
	return best
}

// perStream are the limits of n streams that each stream has by itself.
func (b bounds) perStream(n int) []Limit {
	var all []Limit
	for _, s := range b.streams {
		e := s.each.times(float64(n))
		l := Limit{Cause: s.cause, Where: s.where, Rate: e.rate, Low: e.low, High: e.high, Why: s.why}
		if s.each.rate == 0 {
			l.Cause = record.Unknown
		} else if n > 1 {
			l.Why += fmt.Sprintf("; %d streams = %s", n, e.rate)
		}
		all = append(all, l)
	}
	return all
}

// doubt is a limit that is itself uncertain: the least that it may let through
// of all streams, payload, and why.
type doubt struct {
	low float64
	why string
}

// doubts are what is uncertain of the limits, what may bind first before the
// rest.
func (b bounds) doubts(streams int) []doubt {
	var all []doubt
	add := func(e estimate, n float64) {
		if e.open != "" {
			all = append(all, doubt{float64(e.at(lowest)) * n, e.open})
		}
	}
	for _, s := range b.streams {
		add(s.each, float64(streams))
	}
	for _, s := range b.shared {
		if s.payload {
			add(s.total, 1)
		} else {
			add(s.total, b.counted)
		}
	}
	slices.SortStableFunc(all, func(x, y doubt) int { return cmp.Compare(x.low, y.low) })
	return all
}

// open says what makes a rate of at most high uncertain: the limits whose own
// range reaches below that. Where luck or loss decides, a limit may take from
// some cases and lie above the mean of all; if nothing else is said it is the
// first.
func (b bounds) open(streams int, high unit.BitRate, said bool) string {
	var whys []string
	for i, d := range b.doubts(streams) {
		if d.low >= float64(high)*(1-Differs) && (i > 0 || said) {
			break
		}
		for why := range strings.SplitSeq(d.why, "; ") {
			if !slices.Contains(whys, why) {
				whys = append(whys, why)
			}
		}
	}
	return strings.Join(whys, "; ")
}
