package trial

import (
	"slices"

	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/diagnose/trial/without"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// mostStreams bounds what is predicted for: a record may hold any number.
const mostStreams = 1024

// after is what the trial would carry without the cause, and what binds
// then: as predicted with ports chosen, and all else as it is. Where the
// streams' places are the cause, every link is in use by a policy that reaches ports.
// Zero and nil where nothing is to gain, or where nobody can say.
func (v *wayView) after(h hypothesis) (unit.BitRate, *record.NextLimit) {
	t, cause := v.trial, h.cause
	switch {
	case cause == record.LineRate, cause == record.Unknown, cause == record.AsymmetricRoute && t.Ceiling <= t.Goodput:
		return 0, nil
	case cause == record.AsymmetricRoute:
		if paced := v.pacedInAll(); paced > 0 && paced < t.Ceiling {
			return paced, &record.NextLimit{Cause: record.Pacing, Rate: paced, Why: "the streams are paced"}
		}
		return t.Ceiling, &record.NextLimit{Cause: record.LineRate, Rate: t.Ceiling, Why: "every link carries its own addresses' traffic"}
	}
	ends := without.Ends{From: v.from, To: v.to, EachWay: v.eachWay, BothBuffers: h.bothBuffers, LowerMTU: v.lowersTo(), WiderMTU: v.widest()}
	ends.Switches = h.switches || len(h.remedy) > 0 && slices.ContainsFunc(h.remedy[0], func(a record.Action) bool { return a.Switch == record.HashPorts })
	best, streams := without.Limit(v.fabric, cause, ends), max(t.Streams, 1)
	if without.Placement(cause) {
		streams = max(streams, without.LinkCount(best, t.From, t.To), len(v.egress), len(v.ingress))
	}
	sent := without.Traffic(v.fabric, t, cause)
	sent.Streams = min(streams, mostStreams)
	if v.trunk { // its links all in use: no more than the ceiling
		best = without.Switches(best)
	}
	p, err := predict.Predict(best, sent)
	if v.trunk && t.Ceiling > 0 {
		p.Rate = min(p.Rate, t.Ceiling)
	}
	if most := p.Ceiling * unit.BitRate(v.smallLeaves()); cause != record.MTU && most < p.Rate {
		p.Rate, p.Limit, p.Limits = most, record.MTU, nil
	}
	if err != nil || p.Ceiling <= 0 {
		return 0, nil // of links whose speed nobody knows no rate is promised
	}
	if left, limit := v.reached(p, cause); left < p.Rate {
		p.Rate, p.Limit, p.Limits = left, limit, nil
	}
	next := &record.NextLimit{Cause: p.Limit, Rate: p.Rate, Why: "as predicted"}
	if len(p.Limits) > 0 && p.Limits[0].Why != "" {
		next.Why = p.Limits[0].Why
	}
	if next.Cause == cause && cause != record.SingleLink {
		next = nil
	}
	return p.Rate, next
}

// reached is what of a prediction the ways carry: of links that nothing reached none, unless
// the cause is why, no more than losses leave streams that their own ends limited, and of
// the other way what it had, where a cause of its own holds it; and what binds then.
func (v *wayView) reached(p predict.Prediction, cause record.Cause) (sum unit.BitRate, limit record.Cause) {
	for _, d := range v.trial.Direction.Ways() {
		way, rate, more := v, p.Rate, max(unit.BitRate(p.Streams)/unit.BitRate(max(len(v.lanes), 1)), 1)
		if d != v.way {
			way = view(v.fabric, v.trial, d)
		}
		if v.trial.Direction == flow.Both {
			rate = map[flow.Direction]unit.BitRate{flow.Forward: p.Forward, flow.Reverse: p.Reverse}[d]
		}
		least := func(r unit.BitRate, by record.Cause) {
			if r > 0 && r < rate {
				rate, limit = r, by
			}
		}
		if v.other != "" && d != v.way {
			least(way.goodput, v.other)
		}
		if used, unused := usedAndUnused(way.ingress); !without.Placement(cause) && !(cause == record.MTU && slices.ContainsFunc(way.lanes, way.standsStill)) && len(unused) > 0 && total(used) > 0 {
			least(total(used), record.SingleLink)
		}
		if left, ok := way.lossLeaves(); ok && without.Own(cause) && way.waits.repeated >= repeatedFew && way.waits.loss() >= lossShare {
			least(max(left*unit.BitRate(way.beyondLosses()), way.goodput), record.Congestion)
		}
		if by, ok := way.heldByBuffers(); ok && cause == record.SingleLink && way.room() {
			least(way.goodput*more, by) // each further stream is held as these are
		}
		if window := way.askedAllow(func(s record.Socket) unit.Bytes { return s.RcvBuf }, func(l record.Lane) unit.Bytes { return l.TCP.SndWnd }); cause != record.ReceiveWindow {
			least(window*more, record.ReceiveWindow) // what a program asked for stays
		}
		if window := way.waits.windowsAllow(); cause == record.Congestion && way.waits.rwnd >= limitedShare {
			least(max(window*more, way.goodput), record.ReceiveWindow) // what the streams had of it
		}
		if buffer := way.askedAllow(func(s record.Socket) unit.Bytes { return s.SndBuf }, func(l record.Lane) unit.Bytes { _, most := way.sendFilled(l); return most }); cause != record.SendBuffer {
			least(buffer*more, record.SendBuffer)
		}
		sum += rate
	}
	return sum, limit
}

// beyondLosses is how many times what losses leave by the response the streams carry, by
// whether the losses come singly or several at once.
func (v *wayView) beyondLosses() float64 { return 1 + (asPoliced-1)*(1+v.bursty())/2 }

// heldByBuffers is whose window or buffer each stream waits for, with no queue on the way.
func (v *wayView) heldByBuffers() (record.Cause, bool) {
	w := v.waits
	if w.rwnd >= w.sndbuf {
		return record.ReceiveWindow, w.queued() <= 1 && w.rwnd >= limitedShare
	}
	return record.SendBuffer, w.queued() <= 1 && w.sndbuf >= limitedShare
}

// askedAllow is what the streams carry over the path's own round trip with what their
// programs asked for: each with so many bytes in flight. Zero where none asked.
func (v *wayView) askedAllow(asked func(record.Socket) unit.Bytes, size func(record.Lane) unit.Bytes) unit.BitRate {
	if askedBuffer(v.lanes, asked) == 0 {
		return 0
	}
	return v.waits.windowRate(func(l record.Lane) unit.Bytes {
		return unit.Bytes(float64(size(l)) * max(sound(l.TCP.MeanRTTMS/l.TCP.MinRTTMS), 1))
	})
}

// withTwin is h with the other end's buffer raised as well, where that would be the next limit.
func (v *wayView) withTwin(h hypothesis, next *record.NextLimit) (hypothesis, bool) {
	buffers := []record.Cause{record.ReceiveWindow, record.SendBuffer}
	own := askedBuffer(v.lanes, func(s record.Socket) unit.Bytes { return max(s.SndBuf, s.RcvBuf) }) > 0
	if next == nil || own || v.eachWay || !slices.Contains(buffers, h.cause) || !slices.Contains(buffers, next.Cause) || len(h.remedy) == 0 || len(h.remedy[0]) == 0 || len(h.remedy[0][0].Run) == 0 {
		return h, false
	}
	twin := remedy.Buffers(next.Cause, v.fabric.Hosts[v.from], v.fabric.Hosts[v.to], v.toGain())
	h.remedy, h.bothBuffers, h.mended = append(record.Remedy{h.remedy[0].Joined(twin)}, h.remedy[1:]...), true, "With buffers that do not bind at either end"
	return h, true
}

// smallLeaves is the part of the links that segments leave which are smaller than the
// links take: 1 where they are not.
func (v *wayView) smallLeaves() float64 {
	mss, full, ok := v.smallerThanFull()
	if !ok {
		return 1
	}
	return v.efficiencyOf(mss) / v.efficiencyOf(full)
}

// pacedInAll is what the paces of all streams add up to, the sockets' own and those of
// the queues that they leave by; zero where one of them has none.
func (v *wayView) pacedInAll() (sum unit.BitRate) {
	if limit := v.trial.RateLimit; limit > 0 {
		return limit * unit.BitRate(len(v.trial.Direction.Ways()))
	}
	for _, d := range v.trial.Direction.Ways() {
		way := view(v.fabric, v.trial, d)
		_, flows := way.flowQdisc()
		for _, l := range way.lanes {
			pace := predict.PaceOf(l)
			if flows > 0 && (pace == 0 || flows < pace) {
				pace = flows
			}
			if pace == 0 {
				return 0
			}
			sum += pace
		}
	}
	return sum
}
