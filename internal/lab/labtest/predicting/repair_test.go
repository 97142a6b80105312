package predicting

import (
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// mended is the setup with one limit out of the way: if it was the one that
// bound, the rate rises.
func (s setup) repaired(cause record.Cause) (better setup, ok bool) {
	switch cause {
	case record.LineRate, record.SingleLink, record.HashImbalance:
		s.rates = append([]unit.BitRate(nil), s.rates...)
		for i := range s.rates {
			s.rates[i] *= 1.5
		}
	case record.Shaper:
		s.path, s.host = 1.5*s.path, 1.5*s.host
	case record.ReceiveWindow:
		s.rmem, s.buffer = 2*s.rmem, 2*s.buffer
	case record.SendBuffer:
		s.wmem, s.buffer = 2*s.wmem, 2*s.buffer
	case record.Congestion:
		s.loss /= 4
	case record.Pacing:
		s.pace *= 1.5
	default:
		return s, false
	}
	return s, true
}

const (
	// leastGain is what mending must be worth by the prediction; where the
	// next limit is nearer than that, it is mended too.
	leastGain = 0.08
	// mostMended is how many limits are mended at once.
	mostMended = 3
	// ofGain is the part of the predicted gain that must be seen.
	ofGain = 0.5
	// fullShare is the part of a link's rate at which it is full.
	fullShare = 0.90
)

// placed reports whether the links' counters agree with a cause that is about
// them: all full for line-rate, some full and some not where flows miss
// links.
func placed(cause record.Cause, s setup, r record.Trial) bool {
	if cause != record.LineRate && cause != record.SingleLink && cause != record.HashImbalance {
		return true
	}
	allFull, someFull := false, false
	for _, d := range r.Direction.Ways() {
		from, to := r.From, r.To
		if d != "forward" {
			from, to = to, from
		}
		for _, host := range []string{from, to} {
			full, links := 0, 0
			for _, l := range r.Links {
				carried := l.TxPayload
				if host == to {
					carried = l.RxPayload
				}
				if l.Host != host || !strings.HasPrefix(l.Link, "eth") || l.Ceiling == 0 {
					continue
				}
				if links++; carried >= fullShare*l.Ceiling {
					full++
				}
			}
			allFull = allFull || full == len(s.rates) || full == 1 && s.standby()
			someFull = someFull || full > 0 && full < len(s.rates)
		}
	}
	if cause == record.LineRate {
		return allFull
	}
	return someFull
}

// standby: one link at a time carries anything.
func (s setup) standby() bool { return s.bond && s.mode == netstate.ActiveBackup }

// striped reports a setup that is held to the predicted range alone: packets
// of one flow overtake each other, and how much of it TCP takes for loss is
// chance.
func (s setup) striped() bool { return s.bond && s.mode == netstate.BalanceRR }

// reordered reports whether TCP saw its packets overtake each other.
func reordered(r record.Trial) bool {
	for _, l := range r.Lanes {
		if l.TCP.Reordering > 3 || l.Retransmits > 0 { // tcp_reordering's default
			return true
		}
	}
	return false
}

// nextCauses are the limits to mend, the lowest first, each cause once.
func nextCauses(p predict.Prediction) (all []record.Cause) {
	seen := map[record.Cause]bool{}
	for _, l := range p.Limits {
		if l.Rate > 0 && !seen[l.Cause] {
			seen[l.Cause] = true
			all = append(all, l.Cause)
		}
	}
	return all
}
