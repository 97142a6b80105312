package scenario

import (
	"fmt"
	"slices"
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
	Slow     float64          `json:"slow,omitempty"` // at most 1 is none
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
// the same way, in any step with the same links; zero where it sent none. Of tune it
// is what that tune came to: a later step may have had another switch.
func (o Outcome) Best(of Row) (best unit.BitRate) {
	if of.Tool == string(Tune) {
		return of.Measured
	}
	for _, r := range o.Rows {
		if r.Tool != string(Linerate) && r.Tool != string(Tune) || !alike(r, of) {
			continue
		}
		switch {
		case r.From == of.From && r.To == of.To:
			best = max(best, r.way(of.Direction))
		case r.From == of.To && r.To == of.From:
			best = max(best, r.way(of.Direction.Turned()))
		}
	}
	return best
}

// frames is how far apart two ceilings of the same links may be: other frames
// carry another share of payload.
const frames = 1.1

// alike reports rows of the same links, which carry as much, a way: those of one
// card are other links than those of two, though each is as fast.
func alike(a, b Row) bool {
	if !slices.Equal(a.Ports, b.Ports) {
		return false
	}
	each := func(r Row) float64 { return float64(r.Ceiling) / float64(len(r.Direction.Ways())) }
	x, y := each(a), each(b)
	return x > 0 && x <= frames*y && y <= frames*x
}

// Green reports scenarios that all ran, with no row off, and of whose rows few were
// held by the lab's own processor.
func Green(all []Outcome) bool {
	return !slices.ContainsFunc(all, func(o Outcome) bool { return o.Error != "" || o.Off() > 0 || o.tooBusy() })
}

// mostBusy is the share of a scenario's rows that the lab's processor may hold.
const mostBusy = 0.1

// tooBusy reports an outcome that shows the lab rather than the network.
func (o Outcome) tooBusy() bool {
	bound := 0
	for _, r := range o.Rows {
		if r.CPUBound {
			bound++
		}
	}
	return float64(bound) > mostBusy*float64(len(o.Rows))
}

// Page is all outcomes as one table of at most 80 columns. A scenario that
// failed says so in its place.
func Page(all []Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-29s %9s %10s %9s %9s %8s\n", "Scenario, step", "Published", "Reproduced", "Predicted", "Best", "Ceiling")
	marks := map[string]bool{}
	for _, o := range all {
		fmt.Fprintf(&b, "%s\n", cut(heading(o), tableWidth))
		for _, step := range bySteps(o.Rows) {
			fmt.Fprintf(&b, " %s\n", cut(step[0].Step, tableWidth-1))
			for _, r := range step {
				marks[markOf(r)] = true
				fmt.Fprintf(&b, "  %-27s %9s %10s %9s %9s %8s%s\n", what(r, 27), published(r), others(r), short(r.Predicted), short(o.Best(r)), short(r.Ceiling), markOf(r))
				if r.Tuned != nil {
					b.WriteString(r.Tuned.text())
				}
				b.WriteString(r.Below())
			}
			b.WriteString(limits(step))
		}
		b.WriteString(LeftOutText(o.LeftOut))
		if o.tooBusy() {
			fmt.Fprintf(&b, "  more than one row in ten was limited by the lab's own processor\n")
		}
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

// others is what somebody else's way of measuring reproduced; tune's own rate is
// the best beside it.
func others(r Row) string {
	if r.Kind == Best {
		return "-"
	}
	return reproduced(r)
}

func heading(o Outcome) string {
	if o.BackEnd == "" {
		return o.Scenario
	}
	return fmt.Sprintf("%s (%s, kernel %s, rates / %g)", o.Scenario, o.BackEnd, o.Kernel, o.Scale)
}
