package scenario

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/unit"
)

// Text is the rows as one table of at most 80 columns, with what marks mean
// below it.
func Text(rows []Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s %9s %10s %9s %9s\n", "Step", "Published", "Reproduced", "Predicted", "Ceiling")
	marks := map[string]bool{}
	for _, step := range bySteps(rows) {
		fmt.Fprintf(&b, "%s\n", cut(step[0].Step, tableWidth))
		for _, r := range step {
			marks[markOf(r)] = true
			fmt.Fprintf(&b, "  %s\n", Line(r))
			if r.Tuned != nil {
				b.WriteString(r.Tuned.text())
			}
			b.WriteString(r.Below())
			if r.Wire > 0 {
				fmt.Fprintf(&b, "  %-32s %9s %10s\n", "  of it arrived meanwhile", "", short(r.Wire))
			}
		}
		b.WriteString(limits(step))
	}
	for _, m := range markWords() {
		if marks[m.mark] {
			fmt.Fprintf(&b, "%s %s\n", m.mark, m.means)
		}
	}
	return b.String()
}

// Line is one row of the table: the pair, what was published, reproduced and
// predicted, and the ceiling.
func Line(r Row) string {
	return fmt.Sprintf("%-32s %9s %10s %9s %9s%s", what(r, 32), published(r), reproduced(r), short(r.Predicted), short(r.Ceiling), markOf(r))
}

const tableWidth = 80

// What stands behind a row, and what it means.
type markWord struct{ mark, means string }

func markWords() []markWord {
	return []markWord{
		{"!", "off what was published"},
		{"c", "the lab's processor was full: its rate, not the network's"},
		{"~", "a burst or a claim: shown, not scored"},
		{"<", "below 97 % of the ceiling, and nothing else that would limit it"},
		{"^", "limited below the ceiling by what no setting removes"},
	}
}

func markOf(r Row) string {
	switch {
	case r.Verdict == Off && r.Kind == Best:
		return "<"
	case r.Verdict == Limited:
		return "^"
	case r.Verdict == Off:
		return "!"
	case r.CPUBound:
		return "c"
	case r.Verdict == Shown:
		return "~"
	}
	return ""
}

// what is the row's hosts, streams and tool in so many columns: where it is too
// long the hosts are cut.
func what(r Row, columns int) string {
	arrow := map[string]string{"forward": ">", "reverse": "<", "both": "<>"}[string(r.Direction)]
	rest := fmt.Sprintf(" %d %s", r.Streams, r.Tool)
	if r.MeasuredRTT > 0 {
		rest = " ping, ms"
	}
	if r.Pairs > 1 {
		rest = fmt.Sprintf(" %d x%s", r.Pairs, rest)
	}
	return cut(fmt.Sprintf("%s %s %s", side(r.From), arrow, side(r.To)), columns-len(rest)) + rest
}

// side is a host, or how many they are.
func side(hosts string) string {
	if n := strings.Count(hosts, ",") + 1; n > 1 {
		return fmt.Sprintf("%d hosts", n)
	}
	return hosts
}

func published(r Row) string {
	switch {
	case r.PublishedRTT > 0:
		return fmt.Sprintf("%.1f", r.PublishedRTT)
	case r.PublishedRatio != nil:
		return fmt.Sprintf("x %.2f", *r.PublishedRatio)
	case r.Published != nil:
		return short(*r.Published)
	}
	return "-"
}

func reproduced(r Row) string {
	switch {
	case r.MeasuredRTT > 0:
		return fmt.Sprintf("%.1f", r.MeasuredRTT)
	case r.MeasuredRatio != nil:
		return fmt.Sprintf("x %.2f", *r.MeasuredRatio)
	}
	return short(r.Measured)
}

// short is a rate of four digits: 920.5M, 25.50G.
func short(r unit.BitRate) string {
	switch {
	case r <= 0:
		return "-"
	case r >= unit.Gbps:
		return fmt.Sprintf("%.2fG", float64(r/unit.Gbps))
	}
	return fmt.Sprintf("%.1fM", float64(r/unit.Mbps))
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-2]) + ".."
	}
	return s
}
