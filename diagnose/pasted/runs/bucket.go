package runs

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// What a token bucket makes of a run: a beginning that is many times what follows, and that
// even to a part of its rate, for some intervals.
const (
	leastBurst   = 20
	mostUneven   = 0.2
	fewestBehind = 4
	fewestInAll  = 6
)

// tokenBucket: a run that is fast until a bucket is empty, and even from then on.
func tokenBucket(v *scene.View) {
	for _, r := range v.Case.Runs {
		if rate, ok := behindBurst(r); ok && !v.HasFinding(record.Shaper) {
			v.Add(record.Shaper, 0.62, nil, "a limit of the way (a token bucket)",
				fmt.Sprintf("The run begins with %v and stays at %v from then on, evenly: that is a limit with a bucket (tbf, htb, a policer, a container's or cloud's bandwidth setting), full at first and empty since. The links carry what the beginning shows.", slices.Max(r.Series), rate),
				"Find who sets it: `tc -s qdisc; tc -s class` on both hosts and on the container's or guest's end (its labels, annotations, `qm config`), the policy of the switch's or provider's port. Raise it, or make its bucket (burst) smaller to see the true rate at once. Units differ: tc's kbps are kilobytes, kbit are bits.",
				scene.Saw(r.Tool, fmt.Sprintf("%v at first, %v later", slices.Max(r.Series), rate), r.Source)).Ask = []scene.Missing{
				{Command: "tc -s qdisc; tc -s class show dev LINK", Host: "both hosts", Why: "whether a shaper or policer is set on the links, bridges or containers' ends of the way"},
				{Command: "show policy-map interface PORT", Host: "the switch", Why: "whether the port polices"}}
		}
	}
}

// behindBurst is the even rate behind a fast beginning; false the run is another's.
func behindBurst(r piece.Run) (unit.BitRate, bool) {
	n := len(r.Series)
	if n < fewestInAll || r.Target > 0 || r.Stalled > 0 || r.Retransmits > 20*n || r.UDP {
		return 0, false
	}
	tail := slices.Sorted(slices.Values(r.Series[n/2:]))
	middle := tail[len(tail)/2]
	from := slices.IndexFunc(r.Series, func(one unit.BitRate) bool { return one < leastBurst*middle })
	if from < 1 || n-from < fewestBehind || middle == 0 {
		return 0, false
	}
	even := 0
	for _, one := range r.Series[from:] {
		if scene.Close(one, middle, 1-mostUneven, 1+mostUneven) {
			even++
		}
	}
	return middle, even >= fewestBehind && even >= n-from-1 // the bucket runs dry within one
}
