package calibrate

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/unit"
)

// serialShare is the part of a calibrated round trip beyond what is known of
// it that is taken to be a stage which moves one window after the other
// (a rate limiter's queue, a virtual interface, a core), and so takes longer
// the larger the window is; the rest is delay, which does not. One row cannot
// tell the two apart, so that the prediction's range runs from none to all,
// and the middle takes half. The four rows of IBM's article that a larger
// window alone tells apart (one flow an interface, 3 and 8 MiB at MTU 9000)
// say 0.49 (one way) and 0.58 (both ways); with one half the larger window is
// predicted 6 % too low and 2 % too low.
const serialShare = 0.5

// Predict is Predict with what the measured row taught. Its range covers what
// one row leaves open.
func (c Calibration) Predict(f predict.Fabric, t predict.Traffic) (predict.Prediction, error) {
	switch c.Settles {
	case RoundTrip:
		return c.predictTrip(f, t)
	case Core:
		return predict.Predict(withCore(f, t, c.Core), t)
	case Shaper:
		return predict.Predict(withShaper(f, t, c.Shaper), t)
	case Factor:
		p, err := predict.Predict(f, t)
		return times(p, c.Factor), err
	}
	return predict.Predict(f, t)
}

// times is a prediction whose rates were found to be that much off. Where the
// model was too low the limit that binds is not where it said, and what stays
// certain is the ceiling.
func times(p predict.Prediction, factor float64) predict.Prediction {
	k := unit.BitRate(factor)
	rate := p.Rate * k
	if p.Ceiling > 0 {
		rate = min(rate, p.Ceiling)
	}
	if p.Rate > 0 {
		k = rate / p.Rate
	}
	for _, r := range []*unit.BitRate{&p.Rate, &p.Forward, &p.Reverse, &p.RateLow, &p.KernelPorts, &p.KernelWorst} {
		*r *= k
	}
	if p.RateHigh > 0 {
		p.RateHigh = max(p.RateHigh*k, p.Rate)
		if p.Ceiling > 0 {
			p.RateHigh = min(p.RateHigh, p.Ceiling)
		}
	}
	for i := range p.Links {
		p.Links[i].Load *= k
	}
	if len(p.Limits) > 0 && p.Limits[0].Rate > 0 {
		p.Limits = append([]predict.Limit(nil), p.Limits...)
		p.Limits[0].Rate *= k
		p.Limits[0].Low, p.Limits[0].High = 0, 0
		p.Limits[0].Why += fmt.Sprintf("; times %.3g, as measured", float64(k))
	}
	return p
}

func (c Calibration) predictTrip(f predict.Fabric, t predict.Traffic) (predict.Prediction, error) {
	most := 1.0
	if c.base > 0 {
		most = math.Max(0, 1-float64(c.base)/float64(c.RoundTrip))
	}
	grown := 1.0
	if now := inFlight(f, t); now > 0 && c.window > 0 {
		grown = now / c.window
	}
	if now := predict.WireShare(f, t); now > 0 && c.wire > 0 {
		grown *= now / c.wire
	}
	at := func(serial float64) (predict.Prediction, error) {
		t.LoadedRTT = c.trip(serial, grown)
		return predict.Predict(f, t)
	}
	p, err := at(most * serialShare)
	if err != nil {
		return p, err
	}
	slow, err := at(most)
	if err != nil {
		return p, err
	}
	fast, err := at(0)
	if err != nil {
		return p, err
	}
	return spanning(p, slow, fast), nil
}

// trip is the calibrated round trip with a window that is so many times the
// row's, of which a part grows with it.
func (c Calibration) trip(serial, grown float64) time.Duration {
	return max(time.Duration(float64(c.RoundTrip)*(1-serial+serial*grown)), time.Nanosecond)
}

// spanning is p with a range that covers two others.
func spanning(p predict.Prediction, others ...predict.Prediction) predict.Prediction {
	low, high := lowOf(p), highOf(p)
	for _, o := range others {
		low, high = min(low, lowOf(o)), max(high, highOf(o))
	}
	if high <= low*(1+predict.Differs) {
		return p
	}
	p.RateLow, p.RateHigh = low, high
	whys := []string{"one measured row cannot tell how much of its round trip grows with the window"}
	if p.RangeWhy != "" {
		whys = append(whys, p.RangeWhy)
	}
	p.RangeWhy = strings.Join(whys, "; ")
	return p
}

func lowOf(p predict.Prediction) unit.BitRate {
	if p.RateLow > 0 {
		return p.RateLow
	}
	return p.Rate
}

func highOf(p predict.Prediction) unit.BitRate {
	if p.RateHigh > 0 {
		return p.RateHigh
	}
	return p.Rate
}

// inFlight is how many bytes one TCP stream may have in flight, by the smaller
// of receive window and send buffer that are known; of direction both the mean
// of the two ways. Zero unknown.
func inFlight(f predict.Fabric, t predict.Traffic) float64 {
	sum, n := 0.0, 0
	for _, d := range t.Direction.Ways() {
		sender, receiver := f.Hosts[t.From], f.Hosts[t.To]
		if d == flow.Reverse {
			sender, receiver = receiver, sender
		}
		window, _ := tcp.Window(receiver, t.SocketBuffer)
		buffer, _ := tcp.SendWindow(sender, t.SocketBuffer)
		switch {
		case window == 0 && buffer == 0:
			continue
		case window == 0:
			window = buffer
		case buffer > 0:
			window = min(window, buffer)
		}
		sum += float64(window)
		n++
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
