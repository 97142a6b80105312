package predict

import (
	"fmt"
	"math"
	"strings"

	"github.com/linerate/linerate/unit"
)

// CardRow is one measurement of traffic over the ports of like cards.
type CardRow struct {
	// Ports is how many ports of each card were in use at once.
	Ports []int
	// Rate was measured; Line is what one port would carry if nothing but its
	// line held it back, counted as Rate is (payload, or frames).
	Rate, Line unit.BitRate
}

// The words of a verdict on cards.
const (
	CardSlotShared = "slot"      // the ports of a card share a limit
	CardPortLimit  = "per-port"  // each port has a limit of its own
	CardNoLimit    = "neither"   // the ports' lines explain the rows
	CardUndecided  = "undecided" // the rows don't tell
)

// CardHypothesis is one explanation of all rows.
type CardHypothesis struct {
	Cause string `json:"cause"`
	// Limit is what fits best: a card's or a port's; zero for CardNoLimit.
	Limit unit.BitRate `json:"limit_bps,omitempty"`
	// Residuals are measured / explained - 1, by row; Error is their root mean
	// square.
	Residuals []float64 `json:"residuals"`
	Error     float64   `json:"error_ratio"`
}

// CardJudgement is which limit the numbers favour.
type CardJudgement struct {
	Cause string `json:"cause"`
	// Hypotheses are slot, per-port and neither, in that order.
	Hypotheses []CardHypothesis `json:"hypotheses"`
	Why        string           `json:"why"`
	// Next is the measurement that would decide; "" when it is decided.
	Next string `json:"next,omitempty"`
}

const (
	// cardFits is the error up to which an explanation holds: published tables
	// round to three digits or fewer, and two runs differ by a few percent.
	cardFits = 0.05
	// cardBetter is how many times smaller than the other's the favoured
	// explanation's error must be, with as many parameters.
	cardBetter = 2
)

// CardVerdict says which of a limit that a card's ports share and a limit of
// each port the rows favour, or neither, with the residuals of each. Both are
// one number fitted to all rows by least squares of relative errors, so
// neither has an advantage. Rows without ports, rate or line are left out.
func CardVerdict(rows []CardRow) CardJudgement {
	var known []CardRow
	for _, r := range rows {
		if r.Rate > 0 && r.Line > 0 && r.ports() > 0 {
			known = append(known, r)
		}
	}
	if len(known) == 0 {
		return CardJudgement{Cause: CardUndecided, Why: "no row names ports and a rate", Next: oneAndTwo}
	}
	slot := fitCard(CardSlotShared, known, CardRow.bySlot)
	port := fitCard(CardPortLimit, known, CardRow.byPort)
	none := explain(CardNoLimit, known, 0, func(r CardRow, _ unit.BitRate) unit.BitRate { return r.byPort(r.Line) })
	j := CardJudgement{Hypotheses: []CardHypothesis{slot, port, none}}
	switch {
	case none.Error <= cardFits:
		j.Cause = CardNoLimit
		j.Why = "the ports' lines alone explain every row"
	case slot.Error <= cardFits && port.Error >= cardBetter*max(slot.Error, cardFits/cardBetter):
		j.Cause = CardSlotShared
		j.Why = fmt.Sprintf("a limit of %s for each card's ports together explains the rows within %s; a limit of each port, at best %s, misses by %s",
			slot.Limit, percent(slot.Error), port.Limit, percent(port.Error))
	case port.Error <= cardFits && slot.Error >= cardBetter*max(port.Error, cardFits/cardBetter):
		j.Cause = CardPortLimit
		j.Why = fmt.Sprintf("a limit of %s for each port explains the rows within %s; a limit of each card, at best %s, misses by %s",
			port.Limit, percent(port.Error), slot.Limit, percent(slot.Error))
	case slot.Error > cardFits && port.Error > cardFits:
		j.Cause = CardUndecided
		j.Why = fmt.Sprintf("neither a limit of each card (error %s) nor of each port (%s) explains the rows", percent(slot.Error), percent(port.Error))
		j.Next = oneAndTwo
	default:
		j.Cause = CardUndecided
		j.Why = "a limit of each card and a limit of each port explain these rows alike"
		j.Next = oneAndTwo
	}
	return j
}

const oneAndTwo = "measure one port of a card alone, then two ports at once on one card and on two cards"

func percent(ratio float64) string { return fmt.Sprintf("%.1f %%", 100*ratio) }

func (r CardRow) ports() int {
	n := 0
	for _, p := range r.Ports {
		n += max(p, 0)
	}
	return n
}

func (r CardRow) bySlot(limit unit.BitRate) unit.BitRate {
	var sum unit.BitRate
	for _, p := range r.Ports {
		sum += min(unit.BitRate(max(p, 0))*r.Line, limit)
	}
	return sum
}

func (r CardRow) byPort(limit unit.BitRate) unit.BitRate {
	return unit.BitRate(r.ports()) * min(r.Line, limit)
}

func explain(cause string, rows []CardRow, limit unit.BitRate, model func(CardRow, unit.BitRate) unit.BitRate) CardHypothesis {
	h := CardHypothesis{Cause: cause, Limit: limit}
	sum := 0.0
	for _, r := range rows {
		e := float64(r.Rate/model(r, limit)) - 1
		h.Residuals = append(h.Residuals, e)
		sum += e * e
	}
	h.Error = math.Sqrt(sum / float64(len(rows)))
	return h
}

// fitCard finds the limit with the least error. The error has one kink for
// each row's line; between kinks it has one minimum, so a grid finds the right
// stretch and a golden section its bottom.
func fitCard(cause string, rows []CardRow, model func(CardRow, unit.BitRate) unit.BitRate) CardHypothesis {
	top := unit.BitRate(0)
	for _, r := range rows {
		top = max(top, model(r, unit.BitRate(math.Inf(1))))
	}
	at := func(limit unit.BitRate) float64 { return explain(cause, rows, limit, model).Error }
	const steps = 400
	best := top
	for i := 1; i <= steps; i++ {
		if limit := top * unit.BitRate(i) / steps; at(limit) < at(best)*(1-1e-9) {
			best = limit
		}
	}
	low, high := best-top/steps, min(best+top/steps, top)
	low = max(low, top/(10*steps))
	const golden = 0.381966
	for range 40 {
		a, b := low+(high-low)*golden, high-(high-low)*golden
		if at(a) <= at(b) {
			high = b
		} else {
			low = a
		}
	}
	if mid := (low + high) / 2; at(mid) < at(best) {
		best = mid
	}
	return explain(cause, rows, best, model)
}

// String is a line for each explanation.
func (h CardHypothesis) String() string {
	var rows []string
	for _, r := range h.Residuals {
		rows = append(rows, fmt.Sprintf("%+.1f %%", 100*r))
	}
	limit := ""
	if h.Limit > 0 {
		limit = " of " + h.Limit.String()
	}
	return fmt.Sprintf("%s%s: %s", h.Cause, limit, strings.Join(rows, ", "))
}
