package predict

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// declaredRate is a rate that somebody stated, with what is known of its
// bucket.
type declaredRate struct {
	rate        unit.BitRate
	bucket      unit.Bytes
	where, what string
}

// declared are the rates of the path and the hosts.
func (w *way) declared() []declaredRate {
	all := []declaredRate{
		{w.path.Rate, w.path.Bucket, w.between(), "the path's rate, shared by all flows of the pair"},
		{w.sender.Rate, 0, w.sender.Name, "the host's rate in all"},
		{w.receiver.Rate, 0, w.receiver.Name, "the host's rate in all"},
	}
	return slices.DeleteFunc(all, func(d declaredRate) bool { return d.rate <= 0 })
}

func (d declaredRate) limit(total estimate) sharedLimit {
	return sharedLimit{cause: record.Shaper, where: d.where, what: d.what, total: total}
}

// shapers are the rates that hold for flows together in steady state: the
// path's, the hosts' and those of root qdiscs above the ports.
func (w *way) shapers() []sharedLimit {
	var all []sharedLimit
	for _, d := range w.declared() {
		all = append(all, d.limit(estimate{rate: d.rate}))
	}
	return append(all, w.qdiscs()...)
}

const (
	// policedShare is what TCP keeps at least of a rate that drops what is
	// above it and queues nothing: a loss takes the window to 0.7 (RFC 9438
	// section 4.6), it grows back to 1, and straight growth (its Reno-friendly
	// region) spends 0.85 on average on the way; CUBIC's own curve 0.925, and
	// streams that do not lose together more. With a queue of 0.43 of the
	// path's bandwidth times its round trip the rate never dips.
	policedShare = 0.85
	// bucketTime bounds the bucket of a shaper that nobody described, as time
	// at its rate: vendors' guidance for rate limits is 1.5 s of committed and
	// 3 s of excess burst (Cisco IOS, rate-limit). The 36 published readings of
	// 30 s across one 25 Gb/s shaper lie between 0.85 and 1.20 of its payload;
	// 32 of them at or below the 1.15 that this allows.
	bucketTime = 4500 * time.Millisecond
)

// readings are the shapers as a test reads them. The middle is the steady
// rate. A root qdisc's rate is exact; a provider's shaper reads lower where it
// drops instead of queueing, and a timed test reads more where a full bucket
// goes through at the links' rate: (rate x time + bucket) / time.
func (w *way) readings() []sharedLimit {
	var all []sharedLimit
	for _, d := range w.declared() {
		e := estimate{rate: d.rate}
		switch {
		case d.bucket > 0:
			e.bucket(d.bucket, w.traffic.Window)
		case w.bottleneck(d.rate) && !w.emulated():
			w.unknownBucket(&e)
		}
		all = append(all, d.limit(e))
	}
	return append(all, w.qdiscs()...)
}

// bucket adds what a full bucket lets a test of that length read.
func (e *estimate) bucket(size unit.Bytes, window time.Duration) {
	if window <= 0 {
		return
	}
	e.high = e.rate + unit.FromBytes(float64(size), window.Seconds())
	e.open = fmt.Sprintf("a test of %s that finds the shaper's bucket of %s full reads more", window, size)
}

// unknownBucket is a shaper of which the rate alone is known.
func (w *way) unknownBucket(e *estimate) {
	e.open = "burst size and queue of the shaper unknown"
	if framing.IsTCP(w.traffic.protocol()) {
		e.low = e.rate * policedShare
	}
	if t := w.traffic.Window; t > 0 {
		e.high = e.rate * unit.BitRate(1+bucketTime.Seconds()/t.Seconds())
	}
	if e.low == 0 && e.high == 0 {
		e.open = ""
	}
}

// bottleneck reports a rate below what the links of both ends carry
// together: one above it never drops.
func (w *way) bottleneck(rate unit.BitRate) bool {
	for _, s := range []side{w.out, w.in} {
		sum := unit.BitRate(0)
		for _, a := range s.at {
			if a.unknown() != "" {
				sum = 0
				break
			}
			for _, c := range a.caps {
				sum += c.Rate
			}
		}
		if sum > 0 && sum <= rate {
			return false
		}
	}
	return true
}

// emulated reports a way without a network card: a lab's, where declared rates
// are what the lab sets up.
func (w *way) emulated() bool { return !w.out.carded() && !w.in.carded() }
