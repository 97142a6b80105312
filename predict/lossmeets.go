package predict

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// met are the limits of one stream where loss meets a fixed window: the tighter
// of the two loses what the other costs it (PFTK's minimum of the two, made
// smooth). Without loss they stay as they are.
func met(all []streamLimit) []streamLimit {
	loss := tightestOf(all, record.Congestion)
	fixed := tightestOf(all, record.ReceiveWindow, record.SendBuffer, record.Pacing)
	if loss < 0 || fixed < 0 {
		return all
	}
	x, y := all[loss].each, all[fixed].each
	first, second := loss, fixed
	if x.rate > y.rate {
		first, second = fixed, loss
	}
	e := estimate{rate: meeting(x, y, middle), low: meeting(x, y, lowest), high: meeting(x, y, highest), open: x.open}
	if y.open != "" {
		e.open = joined(e.open, y.open)
	}
	met := append([]streamLimit(nil), all...)
	before := met[first].each.rate
	met[first].each = e
	if e.rate > before*(1-Differs) {
		return met // too little to speak of
	}
	met[first].why += fmt.Sprintf("; with the %s of %s so near, %s", met[second].cause, met[second].each.rate, e.rate)
	return met
}

func meeting(x, y estimate, l level) unit.BitRate {
	return unit.BitRate(tcp.Meeting(float64(x.at(l)), float64(y.at(l)), tcp.FixedSwing))
}

// tightestOf is the number of the tightest known limit of these causes, -1 for
// none.
func tightestOf(all []streamLimit, causes ...record.Cause) int {
	best := -1
	for i, s := range all {
		for _, c := range causes {
			if s.cause == c && s.each.rate > 0 && (best < 0 || s.each.rate < all[best].each.rate) {
				best = i
			}
		}
	}
	return best
}

// lossy is what a plan's flows reach at most where loss makes their windows
// swing below the links' rate, +Inf without loss: more of them fill the links
// better.
func (w *way) lossy(b bounds, p plan, l level) float64 {
	if b.lost.rate <= 0 {
		return math.Inf(1)
	}
	flows := float64(w.flows())
	each := float64(b.lost.at(l)) / b.flows
	links := p.run(w.network(b.without(), l), math.Inf(1))
	used := 0.0
	for _, n := range links.streams {
		used += min(n, 1)
	}
	name, _ := w.congestion()
	return tcp.Meeting(each*flows, links.rate, tcp.AnswerOf(name).Fill(flows/max(used, 1)))
}

// without are the limits that hold flows together.
func (b bounds) without() bounds { return bounds{shared: b.shared, flows: b.flows} }

// arriving is the share of what is sent that arrives: what is lost crossed the
// sender's links, and TCP sends it again.
func (w *way) arriving() float64 {
	if w.arrives <= 0 {
		return 1
	}
	return w.arrives
}

// explainLossy says at the loss's limit why the rate lies below all limits.
func explainLossy(all []Limit, free, left float64) {
	if left > free*(1-Differs) {
		return
	}
	for i := range all {
		if all[i].Cause == record.Congestion {
			all[i].Why += fmt.Sprintf("; windows that swing so fill the links not always: %s in all", unit.BitRate(left))
		}
	}
}
