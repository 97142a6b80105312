package diagnose

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/record"
)

// liveAnswer is the whole in a sentence or two: what to change if something
// is to change, else that the heaviest traffic has all there is.
func liveAnswer(r LiveReport) string {
	if len(r.Flows) == 0 {
		return "No connection moves anything to speak of."
	}
	heaviest := worthAnswering(r)
	links := ""
	if names := heaviest.Links(); len(names) > 0 && heaviest.Sends {
		links = " by " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s moves %v%s: %s", Who(heaviest.Program), heaviest.Rate, links, heaviest.Finding.Summary)
}

// worthAnswering is the flow that gains most when its limit goes, where one
// gains something to be felt; else the heaviest.
func worthAnswering(r LiveReport) LiveFlow {
	best := r.Flows[0]
	if best.Finding.Cause == record.HashImbalance || best.Finding.Cause == record.SingleLink {
		return best
	}
	for _, f := range r.Flows {
		if (f.Finding.Cause == record.HashImbalance || f.Finding.Cause == record.SingleLink || f.Finding.Cause == record.LACPDown) && f.Finding.Gain > 0 {
			return f
		}
	}
	return best
}
