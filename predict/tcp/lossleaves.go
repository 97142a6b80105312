package tcp

import (
	"math"
	"time"

	"github.com/linerate/linerate/unit"
)

// LossLeaves is what random losses of a share p leave one TCP flow with that
// congestion control ("" is cubic), a round trip in milliseconds and segments
// of that many bytes. Zero where one of them is unknown, or where such losses
// do not hold the flow at all.
func LossLeaves(congestion string, p, rttMS float64, segment int) unit.BitRate {
	if !(p > 0 && p < 1) || !(rttMS > 0) || segment <= 0 {
		return 0
	}
	rtt := time.Duration(rttMS * float64(time.Millisecond))
	window := AnswerOf(congestion).Window(p, rtt)
	if math.IsInf(window, 1) || math.IsNaN(window) || rtt <= 0 {
		return 0
	}
	return unit.FromBytes(window*float64(segment), rtt.Seconds())
}
