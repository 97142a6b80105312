package predict

import (
	"math"
	"sort"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// limits lists every limit of the plan, tightest first, those that nobody can
// put a number to last. Low is the rate if what is unknown turns out worst;
// zero when nothing is open.
func (w *way) limits(p plan, b bounds, low unit.BitRate) []Limit {
	all := []Limit{w.linkLimit(p, true, 0), w.linkLimit(p, false, low)}
	all = append(all, b.perStream(w.traffic.Streams)...)
	all = append(all, w.together(b.shared, w.used())...)
	for _, transmit := range []bool{true, false} {
		if l, ok := w.cardLimit(p, transmit); ok {
			all = append(all, l)
		}
	}
	if l, ok := w.switchLimit(p, b); ok {
		all = append(all, l)
	}
	_, _, queues := w.guestQueues()
	all = append(append(all, w.coreUnknown()...), queues...)
	orderLimits(all)
	return all
}

// hard are causes that more streams, other ports or another policy cannot
// mend, in the order they are named at a tie.
var hard = map[record.Cause]int{record.LineRate: 1, record.Shaper: 2, record.CardSlot: 3}

// placement are causes of links left unused.
var placement = map[record.Cause]bool{
	record.SingleLink: true, record.HashImbalance: true, record.LACPDown: true, record.AsymmetricRoute: true,
}

// nearTie is how close a hard limit must lie above an unused link's for the
// hard one to be what binds: mending the placement would gain no more than
// this.
const nearTie = 0.01

// openTie is the same for a limit that is itself uncertain by as much or more
// and may lie above the hard one: which of the two binds is open, and mending
// it would gain no more than this.
const openTie = 0.03

// orderLimits sorts tightest first. Unknown ones, rate zero, come last; a hard
// limit within one percent of the tightest placement limit, or within reach of
// a tightest one that is uncertain, goes before it.
func orderLimits(all []Limit) {
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if (a.Rate == 0) != (b.Rate == 0) {
			return b.Rate == 0
		}
		if math.Abs(float64(a.Rate-b.Rate)) > 1e-9*float64(b.Rate) {
			return a.Rate < b.Rate
		}
		return rank(a.Cause) < rank(b.Cause)
	})
	if len(all) == 0 {
		return
	}
	for i := 1; i < len(all) && all[i].Rate > 0 && all[i].Rate <= all[0].tied(); i++ {
		if hard[all[i].Cause] != 0 {
			first := all[i]
			copy(all[1:i+1], all[:i])
			all[0] = first
			return
		}
	}
}

// tied is up to where a hard limit is named before this one.
func (l Limit) tied() unit.BitRate {
	top := unit.BitRate(0)
	if placement[l.Cause] {
		top = l.Rate * (1 + nearTie)
	}
	if hard[l.Cause] == 0 {
		top = max(top, min(l.High, l.Rate*(1+openTie)))
	}
	return top
}

func rank(c record.Cause) int {
	if r, ok := hard[c]; ok {
		return r
	}
	if placement[c] {
		return len(hard) + 2
	}
	return len(hard) + 1
}

func (w *way) between() string { return w.sender.Name + " to " + w.receiver.Name }
