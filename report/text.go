package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/textlayout"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// narrowest is the width below which no table makes sense.
const narrowest = 40

// Text is what a terminal shows after a run: the headline, one line a
// direction, the load of each link, what was found and what was changed. No
// line is longer than width characters; width 0 is 80. It holds no escape
// sequences, whatever names the record has.
func Text(r record.Record, width int) string {
	if width <= 0 {
		width = 80
	}
	width = max(width, narrowest)
	lines := wrap("", "", Headline(r), width)
	all := seriesOf(r)
	compared := phased(r)
	for _, s := range all {
		if s.swept && len(r.Sweeps) > 0 {
			continue // its table has them side by side
		}
		lines = append(lines, "", fit(printable(s.name()), width))
		lines = append(lines, textTable(s, compared, width)...)
	}
	if _, c, ok := lead(all); ok {
		lines = append(lines, textLinks(c.cell, compared, width)...)
	}
	lines = append(lines, textDatagrams(r, width)...)
	lines = append(lines, textGroups(r, width)...)
	lines = append(lines, textSweeps(r, width)...)
	lines = append(lines, textLatency(r, width)...)
	lines = append(lines, textOutages(r, width)...)
	lines = append(lines, textFindings(r, width)...)
	lines = append(lines, textNotes(r, width)...)
	lines = append(lines, textSteps(r, width)...)
	lines = append(lines, textFailures(r, width)...)
	lines = append(lines, textEnded(r, width)...)
	for i, l := range lines {
		lines[i] = strings.TrimRight(fit(l, width), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// TrialLine is one trial in one line of at most width characters, for the
// progress of a run: "a → b forward, 4 streams: 478 Mbit/s, 48.2 % of 993
// Mbit/s, hash-imbalance". Width 0 is 80.
func TrialLine(t record.Trial, width int) string {
	if width <= 0 {
		width = 80
	}
	line := fmt.Sprintf("%s %s, %s: %s", fromTo(t.From, t.To, 35), printable(string(t.Direction)), unit.Counted(t.Streams, "stream"), goodput(&t))
	switch p := ofCeiling(&t, t.Ceiling); p {
	case unknown:
	case allOfIt:
		line += ", all of " + rate(t.Ceiling)
	case "above it":
		line += ", above the ceiling of " + rate(t.Ceiling)
	default:
		line += ", " + p + " of " + rate(t.Ceiling)
	}
	if c := cause(&t); c != record.Unknown {
		line += ", " + printable(string(c))
	}
	return fit(line, width)
}

// textTable is one series' summary lines under a header.
func textTable(s series, compared bool, width int) []string {
	header := []string{"direction", "streams", "before", "after", "ceiling", "%", "cause"}
	if !compared {
		header = []string{"direction", "streams", "measured", "ceiling", "%", "cause"}
	}
	rows := [][]string{header}
	add := func(c place) {
		ceiling, _ := c.ceiling()
		row := []string{printable(string(c.direction)), c.streams, goodput(c.before)}
		if compared {
			row = append(row, goodput(c.after))
		}
		rows = append(rows, append(row, rate(ceiling), ofCeiling(c.last(), ceiling), printable(string(cause(c.last())))))
	}
	if compared {
		for _, c := range s.places() {
			add(c)
		}
		return columns(rows, width)
	}
	for _, d := range s.directions {
		for _, n := range s.streams {
			if c, ok := s.cells[at{d, n}]; ok {
				add(place{d, c, fmt.Sprint(n)})
			}
		}
	}
	return columns(rows, width)
}

// columns sets rows in columns: the first and last to the left, numbers to the
// right.
func columns(rows [][]string, width int) []string {
	lines := textlayout.Columns(rows, "l"+strings.Repeat("r", len(rows[0])-2), width)
	for i, l := range lines {
		lines[i] = fit(l, width)
	}
	return lines
}

// textLinksMost is how many links a terminal shows.
const textLinksMost = 8

// textLinks draws the load of each sending link in the leading trial.
func textLinks(c cell, compared bool, width int) []string {
	last := c.last()
	d := last.Direction
	names := 16 // characters; beside one column there is room for more
	if !compared {
		for _, u := range last.Links {
			names = min(max(names, utf8.RuneCountInString(u.Host+" "+u.Link)), 36, max(width-40, 16))
		}
	}
	var out []string
	shown := 0
	for _, u := range last.Links {
		if d != flow.Both && !sending(*last, u.Host) {
			continue
		}
		shown++
		if shown > textLinksMost {
			continue
		}
		name := textlayout.Left(hostLink(u.Host, u.Link, names), names)
		if !compared {
			out = append(out, fmt.Sprintf("  %s %s", name, textLoad(txLoad(u))))
			continue
		}
		before := textlayout.Left("not measured", 30)
		if b, ok := linkOf(c.before, u.Host, u.Link); ok {
			before = textLoad(txLoad(b))
		}
		after := "not measured"
		if c.after != nil {
			after = textLoad(txLoad(u))
		}
		out = append(out, fmt.Sprintf("  %s %s  %s", name, textlayout.Left(before, 29), after))
	}
	if len(out) == 0 {
		return nil
	}
	if shown > textLinksMost {
		out = append(out, fmt.Sprintf("  and %s", unit.Counted(shown-textLinksMost, "more link")))
	}
	head := fmt.Sprintf("links sending, %s, %s", printable(string(d)), unit.Counted(last.Streams, "stream"))
	if compared {
		head = textlayout.Left("  links sending", 19) + textlayout.Left("before", 31) + "after"
	}
	return append([]string{"", fit(head, width)}, out...)
}

func linkOf(t *record.Trial, host, link string) (record.LinkUse, bool) {
	if t == nil {
		return record.LinkUse{}, false
	}
	for _, u := range t.Links {
		if u.Host == host && u.Link == link {
			return u, true
		}
	}
	return record.LinkUse{}, false
}

// textLoad is a bar of ten places and the rate.
func textLoad(l load) string {
	words := counted(l.carried)
	if l.known && l.ratio <= still {
		words = l.words()
	}
	if !l.known {
		return words
	}
	full := int(min(max(l.ratio, 0), 1)*10 + 0.5)
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", 10-full) + "] " + words
}

// textFindings says what was wrong, and last what is; what held before and
// after is said once.
func textFindings(r record.Record, width int) []string {
	var out []string
	groups := findingGroups(r)
	still := map[[3]string]bool{}
	for _, g := range groups {
		if g.Phase == record.PhaseAfter {
			still[[3]string{g.From, g.To, string(g.Cause)}] = true
		}
	}
	for _, g := range groups {
		if g.Cause == record.LineRate || g.Phase == record.PhaseBefore && still[[3]string{g.From, g.To, string(g.Cause)}] {
			continue
		}
		label := string(g.Cause)
		if g.Phase != "" {
			label = string(g.Phase) + ": " + label
		}
		out = append(out, "")
		summary := g.Lead.Summary
		if summary == "" {
			summary = Meaning(g.Cause)
		}
		out = append(out, wrap(printable(label)+": ", "  ", summary, width)...)
		out = append(out, wrap("  remedy: ", "    ", g.Lead.Remedy, width)...)
	}
	return out
}

func textSteps(r record.Record, width int) []string {
	if len(r.Steps) == 0 {
		return nil
	}
	out := []string{"", "changes"}
	for _, s := range r.Steps {
		mark := "rolled back"
		if s.Kept {
			mark = "kept"
		}
		line := fmt.Sprintf("%s (%s to %s)", s.Change, rate(s.Before), rate(s.After))
		out = append(out, wrap("  "+textlayout.Left(mark, 12), strings.Repeat(" ", 14), line, width)...)
	}
	return out
}

func textFailures(r record.Record, width int) []string {
	if len(r.Failures) == 0 {
		return nil
	}
	out := []string{"", "not measured"}
	type reason struct{ from, to, text string }
	var order []reason
	alike := make(map[reason][]record.Failure)
	for _, f := range r.Failures {
		k := reason{f.From, f.To, f.Error}
		if alike[k] == nil {
			order = append(order, k)
		}
		alike[k] = append(alike[k], f)
	}
	for _, k := range order {
		what := string(alike[k][0].Direction)
		if n := len(alike[k]); n > 1 {
			what = fmt.Sprintf("(%d trials)", n)
		}
		out = append(out, wrap("  ", "    ", fmt.Sprintf("%s %s: %s", fromTo(k.from, k.to, 51), what, k.text), width)...)
	}
	return out
}
