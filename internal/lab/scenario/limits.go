package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/record"
)

// limits says in lines what held a step's rows: each cause with the numbers of
// streams that it held, the first that held any first; "" where nobody judged.
func limits(rows []Row) string {
	var causes []record.Cause
	held := make(map[record.Cause][]int)
	for _, r := range rows {
		if r.Limit == "" {
			continue
		}
		if !slices.Contains(causes, r.Limit) {
			causes = append(causes, r.Limit)
		}
		if !slices.Contains(held[r.Limit], r.Streams) {
			held[r.Limit] = append(held[r.Limit], r.Streams)
		}
	}
	if len(causes) == 0 {
		return ""
	}
	var parts []string
	for _, c := range causes {
		slices.Sort(held[c])
		parts = append(parts, fmt.Sprintf("%s (%s)", c, strings.Trim(fmt.Sprint(held[c]), "[]")))
	}
	var b strings.Builder
	for _, line := range broken("limited by, streams: "+strings.Join(parts, ", "), tableWidth-2) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// bySteps are the rows that follow each other in one step.
func bySteps(rows []Row) (steps [][]Row) {
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(r Row) bool { return r.Step != rows[0].Step })
		if n < 0 {
			n = len(rows)
		}
		steps, rows = append(steps, rows[:n]), rows[n:]
	}
	return steps
}

// Below is what a table says in lines below the row: what a failure did, how links
// shared the load where that says something, and what the program took of a processor
// where somebody published that.
func (r Row) Below() string {
	below := ""
	if r.Outage != nil {
		below = r.Outage.text()
	}
	below += spreads(r)
	if r.CPU != nil {
		below += r.CPU.text(r.Measured, r.Published)
	}
	return below
}
