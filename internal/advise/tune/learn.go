package tune

import (
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

const (
	// limitedShare of the time that TCP waited for a window or buffer is what
	// makes it the limit (facts: attribution by TCP_INFO's clocks).
	limitedShare = 0.30
	// fullShare of the ceiling: the links bind, whatever TCP waited for.
	fullShare = 0.97
	// calmTrip is how far a round trip may lie above its minimum where nothing
	// queues: then what is lost is not lost at a full queue.
	calmTrip = 1.5
	// leastLoss is what a fabric that drops nothing shows of stray repetitions.
	leastLoss = 1e-5
)

// lessons are what the trials of a state tell that the fabric does not say.
type lessons struct {
	// rtt is the round trip of streams that a window held back; zero unknown.
	rtt time.Duration
	// loss is the share of packets that was lost on a path without a queue.
	loss float64
}

// learn draws the lessons of the newest trial, once: the states that a search
// on paper goes through have none of their own.
func (s State) learn() State {
	t, ok := newest(s, s.Traffic.Direction)
	if !ok || full(t) {
		return s
	}
	waited, rtt := waitedFor(t)
	if waited >= limitedShare {
		s.learnt.rtt = rtt
	}
	s.learnt.loss = strayLoss(t)
	return s
}

func full(t record.Trial) bool {
	return t.Ceiling > 0 && float64(t.Goodput) >= fullShare*float64(t.Ceiling)
}

// waitedFor is the largest share of the time that a stream waited for a window
// or buffer, and the longest round trip under load.
func waitedFor(t record.Trial) (share float64, rtt time.Duration) {
	for _, l := range t.Lanes {
		share = max(share, l.TCP.RwndLimited, l.TCP.SndbufLimited)
		trip := l.TCP.MeanRTTMS
		if trip == 0 {
			trip = l.TCP.RTTMS
		}
		rtt = max(rtt, time.Duration(trip*float64(time.Millisecond)))
	}
	return share, rtt
}

// Lossy reports a trial in which packets were lost while nothing queued.
func Lossy(t record.Trial) bool { return strayLoss(t) > 0 }

// strayLoss is the share of the bytes sent again while nothing queued; zero
// where a queue explains it, or packets only changed places.
func strayLoss(t record.Trial) float64 {
	sent, again := 0.0, 0.0
	for _, l := range t.Lanes {
		if l.TCP.MinRTTMS > 0 && max(l.TCP.MeanRTTMS, l.TCP.RTTMS) > calmTrip*l.TCP.MinRTTMS || l.TCP.ReordSeen > 0 || l.TCP.DSACKDups > 0 {
			return 0
		}
		sent += float64(l.TCP.BytesSent)
		again += float64(l.TCP.BytesRetrans)
	}
	if sent <= 0 || again/sent < leastLoss {
		return 0
	}
	return again / sent
}

// into is the fabric with what was learnt of the pair's path, where the file
// does not say it.
func (l lessons) into(f predict.Fabric, t predict.Traffic) predict.Fabric {
	if l.loss <= 0 {
		return f
	}
	i := slices.IndexFunc(f.Paths, func(p fabric.Path) bool { return p.Joins(t.From, t.To) })
	if i < 0 || f.Paths[i].Loss > 0 {
		return f
	}
	f.Paths = slices.Clone(f.Paths)
	f.Paths[i].Loss = l.loss
	return f
}
