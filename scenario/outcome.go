package scenario

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Outcome is what a lab showed of one scenario, at the published scale.
type Outcome struct {
	Scenario string           `json:"scenario"`
	Title    string           `json:"title,omitempty"`
	Source   string           `json:"source,omitempty"`
	BackEnd  string           `json:"back_end"`
	Kernel   string           `json:"kernel"`
	Scale    float64          `json:"scale"`
	Tools    map[Tool]string  `json:"tools"`
	Rows     []Row            `json:"rows"`
	Findings []record.Finding `json:"findings"`
	Notes    []string         `json:"notes"`
	// LeftOut are the steps that the lab's kernel cannot do.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Error is why the scenario failed; "" it did not.
	Error string `json:"error,omitempty"`
}

// Off is how many rows are not what was published.
func (o Outcome) Off() (n int) {
	for _, r := range o.Rows {
		if r.Verdict == Off {
			n++
		}
	}
	return n
}

// Best is the most that linerate's own traffic carried between the row's hosts,
// in its direction, in any step; zero where it sent none.
func (o Outcome) Best(of Row) (best unit.BitRate) {
	for _, r := range o.Rows {
		if r.Tool == string(Linerate) && r.From == of.From && r.To == of.To && r.Direction == of.Direction {
			best = max(best, r.Measured)
		}
	}
	return best
}

// Green reports scenarios that all ran, with no row off.
func Green(all []Outcome) bool {
	for _, o := range all {
		if o.Error != "" || o.Off() > 0 {
			return false
		}
	}
	return true
}

// Page is all outcomes as one table of at most 80 columns. A scenario that
// failed says so in its place.
func Page(all []Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-29s %9s %10s %9s %9s %8s\n", "Scenario, step", "Published", "Reproduced", "Predicted", "Best", "Ceiling")
	marks := map[string]bool{}
	for _, o := range all {
		fmt.Fprintf(&b, "%s\n", cut(heading(o), tableWidth))
		step := ""
		for _, r := range o.Rows {
			if r.Step != step {
				step = r.Step
				fmt.Fprintf(&b, "  %s\n", cut(step, tableWidth-2))
			}
			marks[markOf(r)] = true
			fmt.Fprintf(&b, "    %-25s %9s %10s %9s %9s %8s%s\n", cut(what(r), 25), published(r), reproduced(r), short(r.Predicted), short(o.Best(r)), short(r.Ceiling), markOf(r))
			if r.Outage != nil {
				b.WriteString(r.Outage.text())
			}
			b.WriteString(spreads(r))
		}
		b.WriteString(LeftOutText(o.LeftOut))
		if o.Error != "" {
			fmt.Fprintf(&b, "  failed: %s\n", cut(strings.Join(strings.Fields(o.Error), " "), tableWidth-10))
		}
	}
	for _, m := range markWords() {
		if marks[m.mark] {
			fmt.Fprintf(&b, "%s %s\n", m.mark, m.means)
		}
	}
	return b.String()
}

func heading(o Outcome) string {
	if o.BackEnd == "" {
		return o.Scenario
	}
	return fmt.Sprintf("%s (%s, kernel %s, rates / %g)", o.Scenario, o.BackEnd, o.Kernel, o.Scale)
}
