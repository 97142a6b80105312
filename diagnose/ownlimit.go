package diagnose

import (
	"fmt"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// firstToMend is how much more the end of what holds each stream must promise
// than streams on other links, to be the first thing to mend.
const firstToMend = 1.05

// ownLimit is what a stream carries with the path to itself where its window
// or buffer holds it: the same in flight over the path's own round trip. Zero
// where neither does.
func (v *wayView) ownLimit(l record.Lane) unit.BitRate {
	c := l.TCP
	mean, least := sound(c.MeanRTTMS), sound(c.MinRTTMS)
	if mean == 0 {
		mean = sound(c.RTTMS)
	}
	if max(c.RwndLimited, c.SndbufLimited) < limitedShare || mean == 0 || least == 0 {
		return 0
	}
	return l.Goodput * rateOf(max(mean/least, 1))
}

// weighOwnLimits lowers the confidence in a fault that keeps streams off links,
// or fills them with headers, where each stream is limited by itself so far below
// its part that more room would bring less than the end of that does on the
// links in use.
func (v *wayView) weighOwnLimits(h *hypothesis, used, side []linkLoad) {
	var spread unit.BitRate
	for _, l := range v.lanes {
		own := v.ownLimit(l)
		if own == 0 {
			return
		}
		spread += own
	}
	if n := len(v.lanes); n < len(side) && n <= len(used) {
		spread *= rateOf(float64(len(side)) / float64(n)) // more streams are part of the remedy
	}
	mended := total(used)
	if mended == 0 || spread*firstToMend >= mended {
		return
	}
	h.seen = false
	h.sure *= 0.4
	h.against = append(h.against, record.Evidence{
		What:   "what the streams' own windows and buffers allow, whatever the links",
		Value:  fmt.Sprintf("%v, less than the %v of %s", spread, mended, names(used)),
		Source: fromTCP,
	})
}
