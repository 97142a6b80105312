package predict

import (
	"math"

	"github.com/linerate/linerate/predict/maxmin"
	"github.com/linerate/linerate/unit"
)

// Differs is the share by which two rates must differ to be worth saying.
const Differs = 0.005

// predict computes one way, all but the ceiling. Error: ErrUnknownSpeed.
func (w *way) predict() (Prediction, error) {
	t := w.traffic
	b := w.bounds()
	net := w.network(b, middle)
	kernel := t.Ports == PortsKernel
	p := w.plan(assumption{kernel: kernel})
	r := p.run(net, b.flowCap(middle))
	free := r.rate
	r.lowerTo(w.lossy(b, p, middle))
	if math.IsInf(r.rate, 1) {
		return Prediction{}, w.unknownSpeed()
	}
	out := Prediction{
		From: t.From, To: t.To, Direction: w.dir, Streams: t.Streams, Protocol: t.protocol(),
	}
	worst := w.plan(assumption{kernel: kernel, low: true})
	if !worst.same(p) {
		if rate := min(worst.run(net, b.flowCap(middle)).rate, w.lossy(b, worst, middle)); rate < r.rate*(1-Differs) {
			out.RateLow = unit.BitRate(rate)
			out.RangeWhy = "how the far side spreads flows over its links is unknown"
			if len(p.routes) > 0 {
				out.RangeWhy = "how the switches spread flows over their links is unknown (hash, seed)"
			}
		}
	}
	out.Limits = w.limits(p, b, out.RateLow)
	out.Limit = out.Limits[0].Cause
	explainLossy(out.Limits, free, r.rate)
	r.lowerTo(tightest(out.Limits))
	out.Rate, out.Links = unit.BitRate(r.rate), w.shares(p, r)
	w.uncertain(&out, b, p, worst)
	if !t.ChosenOnly {
		w.kernelChoice(&out, net, b, p, r)
	}
	return out, nil
}

// uncertain adds how far the limits' own ranges may move the rate.
func (w *way) uncertain(out *Prediction, b bounds, p, worst plan) {
	low := min(worst.run(w.network(b, lowest), b.flowCap(lowest)).rate, w.lossy(b, worst, lowest))
	high := min(p.run(w.network(b, highest), b.flowCap(highest)).rate, w.lossy(b, p, highest))
	if unit.BitRate(low) < out.Rate*(1-Differs) {
		out.RateLow = unit.BitRate(low)
	}
	if unit.BitRate(high) > out.Rate*(1+Differs) {
		out.RateHigh = unit.BitRate(high)
	}
	if out.RateLow == 0 && out.RateHigh == 0 {
		return
	}
	if out.RateLow == 0 {
		out.RateLow = out.Rate
	}
	if out.RateHigh == 0 {
		out.RateHigh = out.Rate
	}
	if why := w.slotsOpen(out.Limits, out.RateHigh); why != "" {
		out.RangeWhy = joined(out.RangeWhy, why)
	}
	if why := b.open(w.traffic.Streams, out.RateHigh, out.RangeWhy != ""); why != "" {
		out.RangeWhy = joined(out.RangeWhy, why)
	}
	if out.RangeWhy == "" { // a slot that binds where luck puts flows on its ports
		out.RangeWhy = w.slotsOpen(out.Limits, unit.BitRate(math.Inf(1)))
	}
}

// tightest is the lowest known limit; +Inf when none is known.
func tightest(limits []Limit) float64 {
	best := math.Inf(1)
	for _, l := range limits {
		if l.Rate > 0 {
			best = min(best, float64(l.Rate))
		}
	}
	return best
}

// lowerTo takes off what drawing chance by sample may leave above a limit.
func (r *result) lowerTo(limit float64) {
	if r.rate <= limit {
		return
	}
	for i := range r.loads {
		r.loads[i] *= limit / r.rate
	}
	r.rate = limit
}

// kernelChoice adds what the kernel's own ports give, where luck decides then
// and the result differs or the traffic p is left to luck.
func (w *way) kernelChoice(out *Prediction, net *network, b bounds, p plan, r result) {
	kernel := w.plan(assumption{kernel: true})
	if !kernel.chance() {
		return
	}
	mean := r.rate
	if !kernel.same(p) {
		mean = min(kernel.run(net, b.flowCap(middle)).rate, tightest(w.limits(kernel, b, 0)), w.lossy(b, kernel, middle))
	}
	worst := w.plan(assumption{kernel: true, worst: true}).run(net, b.flowCap(middle)).rate
	if math.Abs(mean-r.rate) > r.rate*Differs || p.chance() && worst < r.rate*(1-Differs) {
		out.KernelPorts, out.KernelWorst = unit.BitRate(mean), unit.BitRate(min(worst, mean))
		out.KernelChances = w.chances(kernel, net, b.flowCap(middle), mean)
	}
	if kernel.same(p) {
		out.lucky(p, r.most)
	}
}

// lucky widens the range of traffic whose ports are left to luck to what luck
// may make of it.
func (p *Prediction) lucky(of plan, most float64) {
	low, high := p.KernelWorst, p.Rate
	for _, c := range p.KernelChances {
		high = max(high, c.Rate)
	}
	if low == 0 || low >= p.Rate*(1-Differs) && high <= p.Rate*(1+Differs) {
		return
	}
	if p.RateLow == 0 {
		p.RateLow, p.RateHigh = p.Rate, p.Rate
	}
	p.RateLow, p.RateHigh = min(p.RateLow, low), max(p.RateHigh, high)
	if len(of.routes) > 0 && p.RateHigh < unit.BitRate(most)*(1-Differs) {
		p.RateHigh = unit.BitRate(most)
	}
	why := "which links the kernel's ports put flows on is luck"
	if len(of.routes) > 0 {
		why = "which of the switches' links flows land on is luck"
	}
	p.RangeWhy = joined(p.RangeWhy, why)
}

// shares is the mean load of every port on both sides.
func (w *way) shares(p plan, r result) []LinkShare {
	var all []LinkShare
	list := func(s side, transmit bool, place func(leg, planned) (at, port int)) {
		for i, a := range s.at {
			lucky := p.lucky(func(c planned) (int, bool) {
				at, port := place(w.legs[c.leg], c)
				return port, at == i
			})
			for n, port := range a.ports {
				share := LinkShare{Host: a.host.Name, Link: port.Name, Way: w.dir, Transmit: transmit, Chance: lucky}
				for c, cell := range p.cells {
					at, on := place(w.legs[cell.leg], cell)
					switch {
					case at != i || on != n && on != everyPort:
					case on == everyPort:
						share.Streams += r.streams[c]
						share.Load += unit.BitRate(r.loads[c] / float64(len(a.ports)))
					default:
						share.Streams += r.streams[c]
						share.Load += unit.BitRate(r.loads[c])
					}
				}
				all = append(all, share)
			}
		}
	}
	list(w.out, true, func(l leg, c planned) (int, int) { return l.out, c.out })
	list(w.in, false, func(l leg, c planned) (int, int) { return l.in, c.in })
	return all
}

// lucky reports an attachment on which luck decides the port of some flow; port
// says which a cell has, and whether it is there at all.
func (p plan) lucky(port func(planned) (int, bool)) bool {
	for _, g := range p.groups {
		first := maxmin.None
		for _, c := range g.All() {
			on, there := port(p.cells[c])
			switch {
			case !there || on == everyPort:
			case first == maxmin.None:
				first = on
			case on != first:
				return true
			}
		}
	}
	return false
}
