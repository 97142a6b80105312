package series

import (
	"slices"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	// A burst stands this far above the plateau, for so many whole points.
	burstShare  = 0.10
	burstPoints = 2
	// The plateau has so many points, and four fifths of them are this close
	// together, as a share of it and of the fall: what a shaper lets through is
	// even, what other traffic leaves is not.
	plateauPoints = 12
	hintPoints    = 3 // make one look for the rest
	plateauShare  = 0.10
	plateauOfFall = 0.25
	// A bucket is full when the traffic begins: the burst comes first. So many
	// points at the plateau's rate before it may be slow start passing by.
	earlierPoints = 3
)

// TokenBucket is the shaper that a series from the first byte on shows: a
// burst above a rate, one fall, and then that rate. After is the index of the
// first point of the plateau. It reports false where the series shows none;
// traffic that somebody else begins once and keeps up looks the same.
func (s Series) TokenBucket() (b record.TokenBucket, after int, ok bool) {
	begin, last, ok := s.burst(plateauPoints)
	if !ok {
		return b, 0, false
	}
	return s.bucket(begin, last, last+2), last + 2, true
}

// MayBeBucket reports a series that may show a token bucket when it is a
// little longer: it fell, and not long ago.
func (s Series) MayBeBucket() bool {
	_, _, sure := s.burst(plateauPoints)
	_, _, maybe := s.burst(hintPoints)
	return maybe && !sure
}

// burst is the first and the last point of a burst that is followed by the
// fall and at least that many points of a plateau.
func (s Series) burst(points int) (begin, last int, ok bool) {
	if len(s) < burstPoints+points {
		return 0, 0, false
	}
	rates := s.rates()
	rate := quantile(rates[len(rates)-points:], 0.5)
	last = lastAbove(rates, rate*(1+burstShare))
	after := last + 2 // the point of the fall is part of both
	if last < burstPoints-1 || len(rates)-after < points {
		return 0, 0, false
	}
	plateau := rates[after:]
	rate = quantile(plateau, 0.5)
	begin = last
	for begin > 0 && rates[begin-1] > rate*(1+burstShare) {
		begin--
	}
	level := quantile(rates[begin:last+1], 0.5)
	apart := quantile(plateau, 0.9) - quantile(plateau, 0.1)
	ok = rate > 0 && last-begin+1 >= burstPoints && apart <= min(plateauShare*rate, plateauOfFall*(level-rate)) && early(rates[:begin], rate)
	return begin, last, ok
}

// bucket measures a burst of the points begin to last: what it carried above
// the plateau's rate, with the rest of it in the point of the fall.
func (s Series) bucket(begin, last, after int) record.TokenBucket {
	out := record.TokenBucket{Rate: s[after:].Mean()}
	bits := 0.0
	for _, p := range s[begin:after] {
		bits += max(float64(p.Rate-out.Rate), 0) * p.seconds()
	}
	out.Bucket = unit.Bytes(bits / 8)
	// The median: the first and the last point may be part of a burst only.
	out.Burst = unit.BitRate(quantile(s[begin:last+1].rates(), 0.5))
	if above := float64(out.Burst - out.Rate); above > 0 {
		out.BurstFor = bits / above
	}
	return out
}

// early reports that what came before a burst was a beginning: hardly any of
// it ran at the plateau's rate or above.
func early(rates []float64, plateau float64) bool {
	at := 0
	for _, r := range rates {
		if r > plateau*(1-burstShare) {
			at++
		}
	}
	return at <= earlierPoints
}

func lastAbove(rates []float64, limit float64) int {
	for i := len(rates) - 1; i >= 0; i-- {
		if rates[i] > limit {
			return i
		}
	}
	return -1
}

// quantile of a few values; of none it is zero.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}
