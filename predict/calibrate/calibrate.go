// Package calibrate takes from one measured row what a prediction did not
// know (the round trip under load, a core's rate, a shaper's), in plain words
// and with its residual. It must never fit two unknowns to one number: it leaves
// a range.
package calibrate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// ErrNothing is a measured rate that nothing can be learned from.
var ErrNothing = errors.New("nothing to calibrate with")

// Measured is one measured row to calibrate a prediction with.
type Measured struct {
	Traffic predict.Traffic
	// Rate is the payload received; for direction both the sum of the ways.
	Rate unit.BitRate
	// Cause is what was found to bind it; "" and unknown leave it to the
	// prediction.
	Cause record.Cause
}

// Settles is what a measured row settles.
type Settles string

// What a row may settle.
const (
	// Nothing: the prediction is right, or the row is impossible.
	Nothing Settles = "nothing"
	// RoundTrip: the round trip that windows are divided by under load.
	RoundTrip Settles = "round-trip"
	// Core: what one core moves of one stream.
	Core Settles = "core"
	// Shaper: the real rate of a declared shaper.
	Shaper Settles = "shaper"
	// Factor: only how far the model is off.
	Factor Settles = "factor"
)

// Calibration is what one measured row taught. The zero value predicts as
// Predict does.
type Calibration struct {
	Measured  Measured
	Predicted unit.BitRate // before
	Settles   Settles
	// One of these is set, as Settles says.
	RoundTrip time.Duration
	Core      unit.BitRate // of one stream, payload
	Shaper    float64      // real rate over declared
	Factor    float64
	Why       string
	// Residual is how far the calibrated prediction of the row itself is off.
	Residual float64

	base   time.Duration // the round trip that was known, zero none
	window float64       // bytes in flight of one stream of the row
	wire   float64       // bytes on the wire for one of payload, in the row
}

const (
	// agrees is how near a prediction must come to be left as it is.
	agrees = 0.02
	// solved is how near what is solved for must come: less than any
	// measurement tells.
	solved = 1e-5
)

// FromRow says which unknown of the fabric a measured row settles: the round
// trip under load where a window binds (or may: its round trip is not known),
// a shaper's real rate or a core's where those bind, a core's where the row
// stays below everything that is known, else how far the model is off. Errors:
// those of Predict, ErrNothing for a rate that is none or above the ceiling.
func FromRow(f predict.Fabric, m Measured) (Calibration, error) {
	c := Calibration{Measured: m, Settles: Nothing}
	if m.Rate <= 0 || math.IsInf(float64(m.Rate), 0) || math.IsNaN(float64(m.Rate)) {
		return c, fmt.Errorf("calibrate with %v: %w", m.Rate, ErrNothing)
	}
	p, err := predict.Predict(f, m.Traffic)
	if err != nil && !errors.Is(err, predict.ErrUnknownSpeed) {
		return c, err
	}
	if err == nil {
		c.Predicted = p.Rate
		if p.Ceiling > 0 && m.Rate > p.Ceiling*(1+agrees) && p.Limit != record.Shaper {
			return c, fmt.Errorf("calibrate with %v, above the ceiling of %v: no steady state, or the fabric is wrong: %w", m.Rate, p.Ceiling, ErrNothing)
		}
	}
	for _, settle := range c.order(f, p, err == nil) {
		if settle(&c, f) {
			break
		}
	}
	if again, err := c.Predict(f, m.Traffic); err == nil {
		c.Residual = float64(again.Rate/m.Rate) - 1
	}
	return c, nil
}

// order is what to try to explain the row with, the likeliest first.
func (c *Calibration) order(f predict.Fabric, p predict.Prediction, known bool) []func(*Calibration, predict.Fabric) bool {
	trip, core, shaper, factor := (*Calibration).settleTrip, (*Calibration).settleCore, (*Calibration).settleShaper, (*Calibration).settleFactor
	type all = []func(*Calibration, predict.Fabric) bool
	cause := c.Measured.Cause
	if cause == "" || cause == record.Unknown {
		cause = p.Limit
		if below := c.Measured.Rate < p.Rate*(1-agrees); known && below && c.tripKnown(f) && !mendable[cause] {
			cause = record.Unknown // nothing that is known explains it
		} else if !known || below && !c.tripKnown(f) {
			cause = record.ReceiveWindow // windows and no round trip: the likeliest
		}
	}
	switch {
	case windows[cause]:
		return all{trip, shaper, core, factor}
	case known && math.Abs(float64(c.Measured.Rate/p.Rate)-1) <= agrees:
		c.Why = "the prediction is right"
		return nil
	case cause == record.Shaper:
		return all{shaper, core, factor}
	case cause == record.SenderCPU || cause == record.ReceiverCPU || cause == record.Unknown:
		return all{core, factor}
	}
	return all{factor}
}

var (
	windows = map[record.Cause]bool{record.ReceiveWindow: true, record.SendBuffer: true}
	// mendable are limits that a row itself puts a number to.
	mendable = map[record.Cause]bool{record.ReceiveWindow: true, record.SendBuffer: true, record.Shaper: true,
		record.SenderCPU: true, record.ReceiverCPU: true, record.Reordering: true, record.CardSlot: true, record.Congestion: true}
)

func (c *Calibration) tripKnown(f predict.Fabric) bool { return c.knownTrip(f) > 0 }

// knownTrip is the round trip that windows were divided by; zero unknown.
func (c *Calibration) knownTrip(f predict.Fabric) time.Duration {
	return predict.LoadedRTT(f, c.Measured.Traffic)
}

// solve finds the x between low and high, on a logarithmic scale, at which a
// rate that never falls as x grows is the one measured; false where it is not
// between the two ends.
func (c *Calibration) solve(low, high float64, rate func(x float64) unit.BitRate) (float64, bool) {
	want := c.Measured.Rate
	if rate(low) > want*(1+agrees) || rate(high) < want*(1-agrees) {
		return 0, false
	}
	for range 60 {
		middle := math.Sqrt(low * high)
		switch r := rate(middle); {
		case math.Abs(float64(r/want)-1) < solved:
			return middle, true
		case r < want:
			low = middle
		default:
			high = middle
		}
	}
	return high, true
}

func rateOf(f predict.Fabric, t predict.Traffic) unit.BitRate {
	t.ChosenOnly = true // nothing else is asked for here
	p, err := predict.Predict(f, t)
	if err != nil {
		return 0
	}
	return p.Rate
}

func (c *Calibration) settleTrip(f predict.Fabric) bool {
	t := c.Measured.Traffic
	c.window, c.wire = inFlight(f, t), predict.WireShare(f, t)
	if c.window == 0 {
		return false
	}
	const longest = 10 * time.Second
	x, ok := c.solve(1/longest.Seconds(), 1e6, func(x float64) unit.BitRate {
		t.LoadedRTT = time.Duration(float64(time.Second) / x)
		return rateOf(f, t)
	})
	if !ok {
		return false
	}
	c.Settles, c.RoundTrip = RoundTrip, time.Duration(float64(time.Second)/x)
	c.base = c.knownTrip(f)
	c.Why = fmt.Sprintf("a window of %s carries what was measured over a round trip of %.3f ms under load", unit.Bytes(c.window), unit.Milliseconds(c.RoundTrip))
	if c.base > 0 {
		c.Why += fmt.Sprintf(" (%.3f ms was expected)", unit.Milliseconds(c.base))
	}
	return true
}

func (c *Calibration) settleCore(f predict.Fabric) bool {
	t := c.Measured.Traffic
	x, ok := c.solve(1e6, 1e13, func(x float64) unit.BitRate { return rateOf(withCore(f, t, unit.BitRate(x)), t) })
	if !ok {
		return false
	}
	c.Settles, c.Core = Core, unit.BitRate(x)
	c.Why = fmt.Sprintf("nothing else that is known explains it: one core moves %s of one stream", c.Core)
	return true
}

// withCore is the fabric with what one core moves on both hosts.
func withCore(f predict.Fabric, t predict.Traffic, rate unit.BitRate) predict.Fabric {
	return with(f, t, func(h *netstate.Host) { h.CPU.StreamRate = rate })
}

func (c *Calibration) settleShaper(f predict.Fabric) bool {
	t := c.Measured.Traffic
	x, ok := c.solve(0.01, 10, func(x float64) unit.BitRate { return rateOf(withShaper(f, t, x), t) })
	if !ok {
		return false
	}
	c.Settles, c.Shaper = Shaper, x
	c.Why = fmt.Sprintf("the shaper lets %.3g times through what was declared", x)
	return true
}

// withShaper scales the declared rates between and on the two hosts.
func withShaper(f predict.Fabric, t predict.Traffic, factor float64) predict.Fabric {
	g := with(f, t, func(h *netstate.Host) { h.Rate *= unit.BitRate(factor) })
	g.Paths = slices.Clone(f.Paths)
	for i, p := range g.Paths {
		if p.Joins(t.From, t.To) {
			g.Paths[i].Rate *= unit.BitRate(factor)
		}
	}
	return g
}

// with is the fabric with both ends of the traffic changed.
func with(f predict.Fabric, t predict.Traffic, change func(*netstate.Host)) predict.Fabric {
	g := predict.Fabric{Hosts: make(map[string]netstate.Host, len(f.Hosts)), Paths: f.Paths, Clouds: f.Clouds}
	for name, h := range f.Hosts {
		if name == t.From || name == t.To {
			change(&h)
		}
		g.Hosts[name] = h
	}
	return g
}

func (c *Calibration) settleFactor(predict.Fabric) bool {
	if c.Predicted <= 0 {
		return false
	}
	c.Settles, c.Factor = Factor, float64(c.Measured.Rate/c.Predicted)
	c.Why = fmt.Sprintf("what was measured is %.3g of the prediction, and no single unknown explains it", c.Factor)
	return true
}
