package record

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// Tolerances of Check.
const (
	laneTolerance    = 0.001
	leastOfIngress   = 0.90
	ceilingTolerance = 0.01
	// Streams and links are counted one after the other, seconds apart that
	// the links go on in: some milliseconds, and on a full processor, where
	// whoever counts has to wait for it, tens of them.
	ingressTolerance = 0.002
	countedApart     = 0.010
	countedApartFull = 0.050
	fullProcessor    = 0.9
)

// mostOfIngress is how far goodput may stand above what came in.
func (t Trial) mostOfIngress() float64 {
	apart := countedApart
	for _, c := range t.CPU {
		if c.Busiest >= fullProcessor {
			apart = countedApartFull
		}
	}
	if t.Window <= 0 {
		return 1 + ingressTolerance
	}
	return 1 + ingressTolerance + apart/t.Window
}

// Check returns what is impossible or doubtful about a trial's own numbers,
// in plain words; nil when they agree: the lanes sum to the goodput, the
// receiver's links took that much in, and no more than the ceiling was
// carried.
func (t Trial) Check() []string {
	var wrong []string
	var lanes unit.BitRate
	for _, l := range t.Lanes {
		lanes += l.Goodput
	}
	if math.Abs(float64(lanes-t.Goodput)) > laneTolerance*float64(t.Goodput) {
		wrong = append(wrong, fmt.Sprintf("inconsistent: lanes sum to %v, goodput is %v", lanes, t.Goodput))
	}
	if t.Ceiling > 0 && float64(t.Goodput) > float64(t.Ceiling)*(1+ceilingTolerance) {
		wrong = append(wrong, fmt.Sprintf("impossible: %v is above the physical ceiling of %v", t.Goodput, t.Ceiling))
	}
	if share, ok := t.ShareOfIngress(); ok && (share < leastOfIngress || share > t.mostOfIngress()) {
		wrong = append(wrong, fmt.Sprintf("inconsistent: goodput is %.3f of what the receivers' links took in", share))
	}
	return wrong
}

// ShareOfIngress is goodput, with what still waits to be read, over the
// payload that the receivers' links took in, headers accounted for; ok is
// false when no link was counted.
func (t Trial) ShareOfIngress() (share float64, ok bool) {
	receivers := make(map[string]bool)
	for _, way := range t.Direction.Ways() {
		if way == flow.Forward {
			receivers[t.To] = true
		} else {
			receivers[t.From] = true
		}
	}
	var in unit.BitRate
	for _, l := range t.Links {
		if receivers[l.Host] {
			in += l.RxPayload
		}
	}
	if in == 0 {
		return 0, false
	}
	return float64((t.Goodput + t.Unread) / in), true
}

// CPUBound reports a trial during which some processor, or a stream's own
// thread, was full: its rate may be the machine's, not the network's.
func (t Trial) CPUBound() bool {
	for _, c := range t.CPU {
		if max(c.Busiest, c.BusiestThread) >= fullProcessor {
			return true
		}
	}
	return false
}
