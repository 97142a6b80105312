package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/unit"
)

// compareText is a comparison for people, no line longer than width.
func compareText(doc compared, width int) string {
	var b strings.Builder
	put := func(lines ...string) {
		for _, l := range lines {
			b.WriteString(strings.TrimRight(Clip(l, width), " ") + "\n")
		}
	}
	if len(doc.Rows) > 0 {
		put(summary(doc))
	}
	before := "before"
	if doc.History != nil {
		before = "median"
		put(historyText(doc, width)...)
	}
	for _, g := range byPath(doc.Rows) {
		put("", g.title)
		put(judged([]string{"direction", "streams", before, "after", "change", "verdict"}, rateRows(g.rows), width)...)
	}
	if rows := latencyRows(doc.Latency); len(rows) > 0 {
		put("", "round trip, in ms (shown, not judged)")
		put(Table([]string{"from > to", "p50 before", "after", "change", "p99 before", "after", "change"}, rows)...)
	}
	if rows := cpuRows(doc.Rows); len(rows) > 0 {
		put("", "processor seconds per gigabyte (shown, not judged)")
		put(Table([]string{"host", "results", "before", "after", "change"}, rows)...)
	}
	if len(doc.Differences) > 0 {
		put("", "what else is different, and may be the reason")
		for _, d := range doc.Differences {
			put(lines(console.Wrapped("  ", differenceText(d), width))...)
		}
	}
	if n := len(doc.Unmatched); n > 0 && doc.History != nil {
		put("", unit.Counted(n, "result")+" that no earlier run has")
	} else if n > 0 {
		put("", "", fmt.Sprintf("measured on one side only: %d before, %d after", onSide(doc.Unmatched, "before"), onSide(doc.Unmatched, "after")))
	}
	for _, n := range doc.Notes {
		put(lines(console.Wrapped("note: ", n, width))...)
	}
	return b.String()
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// summary is "3 results: 1 better, 2 same".
func summary(doc compared) string {
	var parts []string
	for _, v := range compare.Verdicts() {
		if n := doc.Count(v); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return unit.Counted(len(doc.Rows), "result") + ": " + strings.Join(parts, ", ")
}

// pathRows are the rows of one path, protocol and setting.
type pathRows struct {
	title string
	rows  []compare.Row
}

func byPath(rows []compare.Row) []pathRows {
	var out []pathRows
	at := make(map[string]int)
	for _, r := range rows {
		title := r.From + " to " + r.To + ", " + r.Protocol
		for _, word := range []string{r.Variant, string(r.Phase)} {
			if word != "" {
				title += ", " + word
			}
		}
		i, known := at[title]
		if !known {
			i = len(out)
			at[title] = i
			out = append(out, pathRows{title: title})
		}
		out[i].rows = append(out[i].rows, r)
	}
	return out
}

func rateRows(rows []compare.Row) [][]string {
	var out [][]string
	for _, r := range rows {
		out = append(out, []string{string(r.Direction), fmt.Sprint(r.Streams), r.Before.String(), r.After.String(), changeText(r), string(r.Verdict)})
	}
	return out
}

// changeText is the change with half its interval: "+99.7 +-0.8 %".
func changeText(r compare.Row) string {
	if r.Low == nil || r.High == nil {
		return percent(r.Change)
	}
	half := 100 * (*r.High - *r.Low) / 2
	if math.IsInf(half, 0) || math.IsNaN(half) || half >= 1000 {
		return percent(r.Change) // nothing is known of it
	}
	return fmt.Sprintf("%+.1f +-%.1f %%", tenths(r.Change), half)
}

// tenths is a ratio as percent, in tenths, without a zero below zero.
func tenths(ratio float64) float64 { return math.Round(1000*ratio)/10 + 0 }

func percent(ratio float64) string {
	if math.IsInf(ratio, 0) || math.IsNaN(ratio) {
		return "?"
	}
	return fmt.Sprintf("%+.1f %%", tenths(ratio))
}

// of is a change as percent; "?" without a value to compare with.
func of(before, after float64) string {
	if before == 0 {
		return "?"
	}
	return percent(after/before - 1)
}

func latencyRows(all []compare.Latency) [][]string {
	var out [][]string
	for _, l := range all {
		name := l.From + " > " + l.To
		if l.Protocol != "icmp" {
			name += " " + l.Protocol
		}
		if l.LoadStreams > 0 {
			name += fmt.Sprintf(", %s %d", l.LoadDirection, l.LoadStreams)
		}
		out = append(out, []string{
			Clip(name, 26), ms(l.BeforeP50), ms(l.AfterP50), of(l.BeforeP50, l.AfterP50), ms(l.BeforeP99), ms(l.AfterP99), of(l.BeforeP99, l.AfterP99),
		})
	}
	return out
}

func ms(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// cpuRows are the hosts' seconds per gigabyte, averaged over their results.
func cpuRows(rows []compare.Row) [][]string {
	type sum struct {
		n             int
		before, after float64
	}
	sums := make(map[string]*sum)
	var order []string
	for _, r := range rows {
		for _, c := range r.CPU {
			if sums[c.Host] == nil {
				sums[c.Host] = &sum{}
				order = append(order, c.Host)
			}
			s := sums[c.Host]
			s.n, s.before, s.after = s.n+1, s.before+c.BeforePerGB, s.after+c.AfterPerGB
		}
	}
	var out [][]string
	for _, host := range order {
		s := sums[host]
		n := float64(s.n)
		out = append(out, []string{Clip(host, 26), fmt.Sprint(s.n), fmt.Sprintf("%.3f", s.before/n), fmt.Sprintf("%.3f", s.after/n), of(s.before, s.after)})
	}
	return out
}

func differenceText(d compare.Difference) string {
	where := ""
	if d.Host != "" {
		where = d.Host + " "
	}
	return where + d.What + ": " + d.Before + ", then " + d.After
}

// Table sets rows in columns under a header: the first and the last to the
// left, the others to the right.
func Table(header []string, rows [][]string) []string {
	all := append([][]string{header}, rows...)
	size := make([]int, len(header))
	for _, row := range all {
		for i, cell := range row {
			size[i] = max(size[i], utf8.RuneCountInString(cell))
		}
	}
	var out []string
	for _, row := range all {
		line := " "
		for i, cell := range row {
			pad := strings.Repeat(" ", size[i]-utf8.RuneCountInString(cell))
			if i == 0 || i == len(row)-1 {
				line += " " + cell + pad
			} else {
				line += " " + pad + cell
			}
			if i == len(row)-2 {
				line += " "
			}
		}
		out = append(out, line)
	}
	return out
}

// judged is a table whose last column, the verdict, stands below each row where all of it
// is wider than width: a verdict is never cut.
func judged(header []string, rows [][]string, width int) []string {
	out := Table(header, rows)
	if !slices.ContainsFunc(out, func(line string) bool { return utf8.RuneCountInString(strings.TrimRight(line, " ")) > width }) {
		return out
	}
	last := len(header) - 1
	var short [][]string
	for _, row := range rows {
		short = append(short, row[:last])
	}
	out = nil
	for i, line := range Table(header[:last], short) {
		out = append(out, line)
		if i > 0 {
			out = append(out, "      "+rows[i-1][last])
		}
	}
	return out
}

// Clip cuts a line at width characters.
func Clip(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}
