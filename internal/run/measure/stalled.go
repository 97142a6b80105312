package measure

import (
	"time"

	"github.com/linerate/linerate/internal/analysis/series"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// StopStalled is the word of record.Trial.Stop for a trial in which the streams
// connected and then nothing arrived.
const StopStalled = "stalled"

const (
	// A sender whose full segments vanish may try smaller ones by itself
	// (net.ipv4.tcp_mtu_probing): after tcp_retries1 timeouts that double, 3 s
	// of the shortest and more on a long way. Who gives up before that calls a
	// path dead that is about to live.
	silenceLeast      = 4500 * time.Millisecond
	silenceRoundTrips = 12
	// silenceRate is the offer from which a pause of that length is silence; a
	// slower one is made of writes that are seconds apart.
	silenceRate = 64 * unit.Kbps
	// A rate this small a share of the ceiling that is not steady either is one
	// timeout after the other, and warming up longer shows no more of it.
	trickleShare = 0.01
	trickleWarm  = 5 * time.Second
)

// silent reports that no receiving end of the round has taken in a byte since
// the streams began.
func (r *round) silent() bool {
	for _, t := range r.trials {
		offer := max(t.spec.Rate, t.offered)
		if t.spec.Idle || offer > 0 && offer < silenceRate {
			return false
		}
	}
	for _, e := range r.ends {
		if e.sending || len(e.samples) == 0 {
			continue
		}
		first, now := e.samples[0], e.samples[len(e.samples)-1]
		for i := range now.Bytes {
			if netstate.Grown(first.Bytes[i], now.Bytes[i]) > 0 {
				return false
			}
		}
	}
	return true
}

// patience is how long the round may be silent before it is over.
func (r *round) patience() time.Duration {
	return min(silenceLeast+silenceRoundTrips*r.ends.roundTrip(), longestWarm)
}

// longestWarm is how long the round may warm up.
func (r *round) longestWarm(mean unit.BitRate) time.Duration {
	longest := longestWarm
	if asked := r.trials[0].spec.LongestWarm; asked > 0 {
		longest = min(longest, asked)
	}
	ceiling := unit.BitRate(0)
	for _, t := range r.trials {
		c, _, err := t.ceiling()
		if err != nil || t.spec.Rate > 0 {
			return longest
		}
		ceiling += c
	}
	if mean < trickleShare*ceiling {
		return min(longest, trickleWarm)
	}
	return longest
}

// What of a prediction, and of the MTU's segment, is so little that packets of
// the full size may not get through.
const (
	farBelow      = 0.5
	segmentShrunk = 0.97
)

// Doubtful reports a trial whose full packets may have been lost on the way:
// a lane that carried nothing, timeouts, segments smaller than the MTU's, or a
// rate far below what was to be expected.
func Doubtful(t record.Trial, segment int) bool {
	expected := t.Predicted
	if expected <= 0 {
		expected = t.Ceiling
	}
	if expected > 0 && t.Goodput < farBelow*expected && t.RateLimit == 0 {
		return true
	}
	for _, l := range t.Lanes {
		shrunk := segment > 0 && l.TCP.SndMSS > 0 && float64(l.TCP.SndMSS) < segmentShrunk*float64(segment) && asksNoSegment(l)
		if l.Goodput <= 0 || l.TCP.Timeouts > 0 || l.TCP.CongestionState == lossState || shrunk {
			return true
		}
	}
	return false
}

// lossState is tcp_info's word for a sender that a timeout stopped (TCP_CA_Loss).
const lossState = "loss"

// asksNoSegment: a segment that the run asked for is no sign of anything.
func asksNoSegment(l record.Lane) bool { return l.Asked == nil || l.Asked.MSS == 0 }

// idle reports a round in which nothing is to be sent.
func (r *round) idle() bool { return len(r.trials) > 0 && r.trials[0].spec.Idle }

// leastSilence is a silence at the beginning that is no connection's first
// round trips.
const leastSilence = time.Second

// afterSilence is a series' window, judged without a silence at its beginning:
// a sender that found its way after seconds is as steady as any.
func afterSilence(s series.Series) series.Window {
	first := carried(s)
	if s[:first].Length() < leastSilence {
		return s.Window()
	}
	w := s[first:].Window()
	w.First, w.After = w.First+first, w.After+first
	return w
}

// carried is the index of the first point that carried anything, or their number.
func carried(s series.Series) int {
	first := 0
	for first < len(s) && s[first].Rate == 0 {
		first++
	}
	return first
}
