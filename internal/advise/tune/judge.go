package tune

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// leastGain is the smallest change of the rate that counts: below it, noise
// of the machine and the method are as large.
const leastGain = 0.01

// Judge compares the two trials of a proof. A change is kept when it gained
// at least 1 % and the intervals of the two do not overlap.
func Judge(a, b record.Trial) (keep bool, verdict string) {
	if a.Goodput <= 0 {
		return b.Goodput > 0, "nothing was carried before"
	}
	gain := float64(b.Goodput/a.Goodput) - 1
	switch {
	case gain < leastGain && gain > -leastGain:
		return false, fmt.Sprintf("no gain (%+.1f %%)", 100*gain)
	case gain < 0:
		return false, fmt.Sprintf("slower (%+.1f %%)", 100*gain)
	case low(b) <= high(a):
		return false, fmt.Sprintf("not proven: %+.1f %%, but the intervals overlap", 100*gain)
	}
	return true, fmt.Sprintf("proven: %+.1f %%", 100*gain)
}

// JudgeTurns compares what A and B came to by turns, and their medians a and b.
// A change that nobody predicted is proven by a clear difference of the first
// looks, where there is no room for more, else by a gain at every turn: what
// noise of a busy machine makes does not come each time. A predicted one is proven by
// medians whose intervals lie apart; where they overlap by every B above every
// A, and after manyTurns by medians, or by the best looks, that lie apart as a
// part of the prediction does: a disturbance only ever lowers a rate.
func JudgeTurns(p Proposal, as, bs []record.Trial, a, b record.Trial) (keep bool, verdict string) {
	keep, verdict = Judge(a, b)
	if !p.Promising() {
		return eachTurn(p, as, bs, a, b)
	}
	if keep || len(as) < 2 || len(bs) < 2 || a.Goodput <= 0 {
		return keep, verdict
	}
	gain := float64(b.Goodput/a.Goodput) - 1
	bestA, bestB := slices.MaxFunc(as, byRate), slices.MaxFunc(bs, byRate)
	best := float64(bestB.Goodput/bestA.Goodput) - 1
	switch {
	case gain >= leastGain && slices.MinFunc(bs, byRate).Goodput > bestA.Goodput:
		return true, fmt.Sprintf("proven: %+.1f %%, as predicted, each time", 100*gain)
	case len(bs) < manyTurns:
	case gain >= predictedPart*p.Gain:
		return true, fmt.Sprintf("%+.1f %% and %+.1f %% predicted, though single measurements overlap", 100*gain, 100*p.Gain)
	case best >= max(predictedPart*p.Gain, leastGain):
		return true, fmt.Sprintf("%+.1f %% of the best measurements and %+.1f %% predicted; the machine is busy with other work", 100*best, 100*p.Gain)
	}
	return keep, verdict
}

func byRate(x, y record.Trial) int { return cmp.Compare(x.Goodput, y.Goodput) }

// eachTurn is the verdict over what nobody predicted: where the intervals of the
// medians overlap, manyTurns that all say the same are proof; where packets change
// places any look may err, and medians well apart are.
func eachTurn(p Proposal, as, bs []record.Trial, a, b record.Trial) (bool, string) {
	keep, verdict := Judge(a, b)
	each := AllTurns(as, bs)
	switch {
	case keep && len(bs) < 2 && !Clear(as[0], bs[0]):
		return false, "not proven by one measurement: " + verdict
	case keep && !each && p.Disordered && len(bs) >= manyTurns && float64(b.Goodput) >= (1+scatter)*float64(a.Goodput):
		return true, verdict + " by the medians"
	case keep && !each:
		return false, "not proven each time: " + verdict
	case !keep && each && len(bs) >= manyTurns:
		return true, fmt.Sprintf("proven: faster in each of %d turns", len(bs))
	}
	return keep, verdict
}

// AllTurns reports that B gained as much as counts at every turn.
func AllTurns(as, bs []record.Trial) bool {
	for i := range min(len(as), len(bs)) {
		if !Faster(as[i], bs[i]) {
			return false
		}
	}
	return true
}

// Scattered reports looks at one state that differ by more than the changes
// that they are to tell apart: something else disturbs the machine.
func Scattered(looks []record.Trial) bool {
	if len(looks) < 2 {
		return false
	}
	least, most := slices.MinFunc(looks, byRate), slices.MaxFunc(looks, byRate)
	return float64(most.Goodput-least.Goodput) > scatter*float64(most.Goodput)
}

const (
	// manyTurns of A and B: their medians are what three looks each agree on.
	manyTurns = 3
	// disturbedTurns are as many where something disturbs the looks.
	disturbedTurns = 5
	// predictedPart of the predicted gain must show.
	predictedPart = 0.25
	// scatter is twice what undisturbed looks at one state differ by at most.
	scatter = 0.03
)

// JudgeCheaper keeps what costs less where it is not slower by as much as
// counts.
func JudgeCheaper(a, b record.Trial) (keep bool, verdict string) {
	if a.Goodput <= 0 {
		return false, "nothing was carried before"
	}
	gain := float64(b.Goodput/a.Goodput) - 1
	if gain <= -leastGain/2 {
		return false, fmt.Sprintf("slower (%+.1f %%)", 100*gain)
	}
	return true, fmt.Sprintf("same rate with fewer streams (%+.1f %%)", 100*gain)
}

// Clear reports a difference so large that a moment's disturbance does not
// explain it: one look at each side is enough.
func Clear(a, b record.Trial) bool {
	return a.Goodput <= 0 || float64(b.Goodput/a.Goodput) >= 1+clearGain && low(b) > high(a)
}

// Faster reports a gain that counts, whatever the intervals: of changes that
// were each proven the sum needs no proof, only to be there.
func Faster(a, b record.Trial) bool {
	return b.Goodput > 0 && float64(b.Goodput) >= (1+leastGain)*float64(a.Goodput)
}

// Slower reports a loss that is worth a second look: one that the intervals do
// not explain, or a large one.
func Slower(a, b record.Trial) bool {
	ratio := float64(b.Goodput / max(a.Goodput, 1))
	return ratio < 1-leastGain && high(b) < low(a) || ratio < 1-clearGain
}

// Slows compares the looks at a traffic now with those at it as it was found, by
// the medians of each. sure is false where one more look might say otherwise: a
// loss that counts may be noise of one or two, on either side, an evident one of
// one alone. Where there are no more looks at what was found, which last says,
// those now decide.
func Slows(found, now []record.Trial, last bool) (slows, sure bool) {
	loss := 1 - float64(Middle(now).Goodput/max(Middle(found).Goodput, 1))
	if loss <= leastGain {
		return false, true
	}
	looks := len(now)
	if !last {
		looks = min(looks, len(found))
	}
	if looks >= manyTurns {
		return loss > 2*leastGain && above(now, found) >= mostPairs, true
	}
	return true, looks > 1 && loss > 4*leastGain
}

// Vague reports looks at traffic whose rate goes up and down by more than what is
// sought, so that the second may be faster, though it does not look so: because
// their intervals say it, or disorder is known to.
func Vague(a, b record.Trial, disordered bool) bool {
	wide := max(high(a)-low(a), high(b)-low(b)) > 2*scatter*a.Goodput
	return (wide || disordered) && b.Goodput > (1-clearGain)*a.Goodput
}

// Evident reports a difference beyond what a disturbance of a usual size makes
// of one look: what nobody predicted needs no second one either.
func Evident(a, b record.Trial) bool {
	return Clear(a, b) && float64(b.Goodput) >= (1+evidentGain)*float64(a.Goodput)
}

// AsPredicted reports a gain that is about what the prediction expects of the
// change: two that agree need no second look at either.
func AsPredicted(p Proposal, a, b record.Trial) bool {
	if a.Goodput <= 0 || p.Gain <= 0 {
		return false
	}
	gain := float64(b.Goodput/a.Goodput) - 1
	return gain >= max(p.Gain/2, leastGain) && gain <= 2*p.Gain && low(b) > high(a)
}

// Pays compares the looks at hosts as they were found with those at what they
// became, by the medians of each: the best of several would only show how many
// there were. gain is what the prediction expects of what was kept, 0 where it
// expects nothing. Pays is a gain beyond noise; sure is false where one more look
// at each might say otherwise.
func Pays(gain float64, found, become []record.Trial) (pays, sure bool) {
	if len(found) == 0 || len(become) == 0 {
		return false, false
	}
	a, b, several := Middle(found), Middle(become), min(len(found), len(become)) > 1
	pays, sure = false, several
	if Faster(a, b) {
		pays = low(b) > high(a) || several && slices.MinFunc(become, byRate).Goodput > slices.MaxFunc(found, byRate).Goodput || mostlyAbove(found, become)
		sure = pays && (several || Clear(a, b))
	}
	if pays || gain < leastGain {
		return pays, sure
	}
	return bearsOut(gain, found, become)
}

// bearsOut reports whether looks at what was found and at what it became, taken
// by turns, have the part of the predicted gain that must show. Where the looks
// at one state differ something disturbs the machine, which only ever lowers a
// rate: then the best of the last as many of each tell as well, and it takes
// more of them to say that nothing was gained.
func bearsOut(gain float64, found, become []record.Trial) (pays, sure bool) {
	n := min(len(found), len(become))
	found, become = found[len(found)-n:], become[len(become)-n:]
	disturbed, least := Scattered(found) || Scattered(become), 1+max(predictedPart*gain, leastGain)
	switch {
	case n < manyTurns:
		return false, n > 1 && !disturbed
	case float64(Middle(become).Goodput) >= least*float64(Middle(found).Goodput):
		return true, true
	case disturbed && float64(slices.MaxFunc(become, byRate).Goodput) >= least*float64(slices.MaxFunc(found, byRate).Goodput):
		return true, true
	}
	return false, !disturbed || n >= disturbedTurns
}

// mostlyAbove reports enough looks at each, of which nearly all at what became
// are above nearly all at what was found.
func mostlyAbove(found, become []record.Trial) bool {
	return min(len(found), len(become)) >= manyTurns && above(found, become) >= nearlyAll
}

// above is the share of the pairs of a look of each in which b's is the higher one.
func above(as, bs []record.Trial) float64 {
	n := 0
	for _, a := range as {
		for _, b := range bs {
			if b.Goodput > a.Goodput {
				n++
			}
		}
	}
	return float64(n) / float64(max(len(as)*len(bs), 1))
}

const (
	// nearlyAll of the pairs: of three looks at each, one of twenty orders that
	// chance deals is as clear.
	nearlyAll = 0.9
	// mostPairs say that a loss is no single look's.
	mostPairs = 0.75
)

// Middle is the first of the looks, with the medians of all of them for its rate
// and the ends of its interval. It needs one look at least.
func Middle(looks []record.Trial) record.Trial {
	out := looks[0]
	out.Goodput = middleOf(looks, func(t record.Trial) unit.BitRate { return t.Goodput })
	out.GoodputLow, out.GoodputHigh = middleOf(looks, low), middleOf(looks, high)
	return out
}

func middleOf(looks []record.Trial, of func(record.Trial) unit.BitRate) unit.BitRate {
	all := make([]unit.BitRate, len(looks))
	for i, t := range looks {
		all[i] = of(t)
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// clearGain is three times what the laboratory's undisturbed windows of one
// state differ by at most.
const clearGain = 0.05

// evidentGain is beyond all but the rarest disturbances.
const evidentGain = 4 * clearGain

// low and high are the ends of a trial's interval; a trial too short to have
// one is taken to be sure within 1 %.
func low(t record.Trial) unit.BitRate {
	if t.GoodputLow < t.Goodput {
		return t.GoodputLow
	}
	return t.Goodput * (1 - leastGain)
}

func high(t record.Trial) unit.BitRate {
	if t.GoodputHigh > t.Goodput {
		return t.GoodputHigh
	}
	return t.Goodput * (1 + leastGain)
}
