package predict

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/unit"
)

// CeilingOf returns the payload of t's protocol that no measurement between two
// hosts may exceed in steady state, and the MTU it was computed at: every usable
// link of the weaker side, and the path's and hosts' rates; windows, processors
// and hashes can be mended and do not count. Direction both is the sum of the two
// ways. An MTU of zero is the configured one. Errors: ErrUnknownHost, ErrNoLane,
// ErrNoLink, ErrUnknownSpeed when neither side's links nor a rate are known.
func CeilingOf(f Fabric, t Traffic, mtu int) (unit.BitRate, int, error) {
	if err := t.check(f); err != nil {
		return 0, 0, err
	}
	var sum unit.BitRate
	used := 0
	for _, one := range t.Direction.Ways() {
		w, err := newWay(f, t, one)
		if err != nil {
			return 0, 0, err
		}
		for i := range w.legs {
			if mtu > 0 {
				w.legs[i].mtu = mtu
			}
		}
		c, at := w.ceiling()
		if c == 0 {
			return 0, 0, w.unknownSpeed()
		}
		sum += c
		if used == 0 || at < used {
			used = at
		}
	}
	return sum, used, nil
}

// ceiling is the way's ceiling, zero unknown, and the MTU behind it.
func (w *way) ceiling() (unit.BitRate, int) {
	best := math.Min(w.out.most(w, legOut), w.in.most(w, legIn))
	for _, l := range w.together(w.ceilings(), w.everyLeg()) {
		if r := max(l.Rate, l.High); r > 0 {
			best = math.Min(best, float64(r))
		}
	}
	best = math.Min(best, w.mostBetween())
	mtu := 0
	for _, l := range w.legs {
		mtu = max(mtu, l.mtu)
	}
	if math.IsInf(best, 1) {
		return 0, mtu
	}
	return unit.BitRate(best), mtu
}

// ceilings are the shared limits that no setting of the hosts can mend.
func (w *way) ceilings() []sharedLimit {
	return append(w.shapers(), w.cloudTotals(true)...)
}

func (w *way) everyLeg() []int {
	legs := make([]int, len(w.legs))
	for n := range legs {
		legs[n] = n
	}
	return legs
}

// shaperShare is the best leg's share of payload in what a shaper counts.
func (w *way) shaperShare() float64 { return w.fullest().Share(netstate.FramingL2, 0) }

// fullest is the segment with the largest share of payload of all legs'.
func (w *way) fullest() framing.Segment {
	var best framing.Segment
	for _, l := range w.legs {
		if s := w.segment(l); s.Share(netstate.FramingL2, 0) > best.Share(netstate.FramingL2, 0) {
			best = s
		}
	}
	return best
}

// legEnd tells the attachment and tags of a leg on one side.
type legEnd func(leg) (at, tags int)

func legOut(l leg) (at, tags int) { return l.out, l.outTags }
func legIn(l leg) (at, tags int)  { return l.in, l.inTags }

// most is what all usable ports of the side carry together, attachments that
// routes leave idle included; +Inf when a port's speed is unknown.
func (s *side) most(w *way, end legEnd) float64 {
	sum := 0.0
	for i, a := range s.at {
		if a.unknown() != "" {
			return math.Inf(1)
		}
		for p := range a.ports {
			sum += float64(w.portPayload(a, i, p, end))
		}
	}
	for _, a := range s.idle {
		if a.unknown() != "" {
			return math.Inf(1)
		}
		for p := range a.ports {
			sum += float64(a.payload(p, w.segment(w.legs[0]), w.legs[0].outTags))
		}
	}
	return sum
}

// portPayload is a port's payload by the best of the legs that use it.
func (w *way) portPayload(a attachment, at, port int, end legEnd) unit.BitRate {
	var best unit.BitRate
	for _, l := range w.legs {
		if n, tags := end(l); n == at {
			best = max(best, a.payload(port, w.segment(l), tags))
		}
	}
	return best
}

// unknownSpeed names the link whose speed would have to be known.
func (w *way) unknownSpeed() error {
	for _, s := range []side{w.out, w.in} {
		for _, a := range append(append([]attachment(nil), s.at...), s.idle...) {
			if name := a.unknown(); name != "" {
				return fmt.Errorf("%s on %s: %w", name, a.host.Name, ErrUnknownSpeed)
			}
		}
	}
	return ErrUnknownSpeed
}
