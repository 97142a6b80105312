package predict

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// pacingLimits are the rates that the sender holds each stream to.
func (w *way) pacingLimits() []streamLimit {
	var all []streamLimit
	if pace := w.traffic.Pace; pace > 0 {
		s := streamLimit{cause: record.Pacing, where: w.sender.Name, each: estimate{rate: pace},
			why: fmt.Sprintf("each stream is limited to %s at the sender", pace)}
		if arrives := w.arriving(); arrives < 1 && !framing.IsTCP(w.traffic.protocol()) {
			s.each.rate *= unit.BitRate(arrives)
			s.why += fmt.Sprintf(" x %.4g that arrives = %s", arrives, s.each.rate)
		}
		all = append(all, s)
	}
	return append(all, w.flowRates()...)
}

// flowRates are what qdisc fq lets each flow carry (maxrate; sch_fq counts as
// a shaper does, from the Ethernet header on). Where ports differ, or some have
// none, the flow's port decides.
func (w *way) flowRates() []streamLimit {
	low, high, where := math.Inf(1), 0.0, ""
	for i, a := range w.out.at {
		striped := 0.0
		for _, p := range a.ports {
			rate := flowRate(p)
			if rate < low {
				low, where = rate, a.host.Name+": "+p.Name
			}
			high = max(high, rate)
			striped += rate
		}
		if w.out.uses[i].spread == byPacket && len(a.ports) > 1 {
			low, high = min(striped, low*float64(len(a.ports))), striped
		}
	}
	for _, d := range w.devicesAbove() {
		if rate := flowRate(d); rate < low {
			low, high, where = rate, rate, w.sender.Name+": "+d.Name
		}
	}
	if math.IsInf(low, 1) {
		return nil
	}
	payload := w.shaperShare() * float64(w.flows()) / float64(w.traffic.Streams)
	s := streamLimit{cause: record.Pacing, where: where, each: estimate{rate: unit.BitRate(low * payload)},
		why: fmt.Sprintf("qdisc fq limits each flow to %s (maxrate), %s of payload", unit.BitRate(low), unit.BitRate(low*w.shaperShare()))}
	if high > low*(1+Differs) {
		s.each.low = s.each.rate
		s.each.open = "which port a flow takes: fq does not limit all of them to one rate"
		if !math.IsInf(high, 1) {
			s.each.high = unit.BitRate(high * payload)
		} else {
			s.each.high = max(s.each.rate, w.swiftest())
		}
	}
	return []streamLimit{s}
}

// flowRate is the least rate that the link's qdiscs hold a flow to; +Inf none.
func flowRate(l netstate.Link) float64 {
	best := math.Inf(1)
	for _, q := range l.Qdiscs {
		if q.FlowRate > 0 {
			best = min(best, float64(q.FlowRate))
		}
	}
	return best
}

// swiftest is the payload of the sender's fastest port, or of the ports that a
// flow is striped over; zero unknown.
func (w *way) swiftest() unit.BitRate {
	var best unit.BitRate
	for i, a := range w.out.at {
		var sum unit.BitRate
		for p := range a.ports {
			payload := w.portPayload(a, i, p, legOut)
			best, sum = max(best, payload), sum+payload
		}
		if w.out.uses[i].spread == byPacket {
			best = max(best, sum)
		}
	}
	return best
}
