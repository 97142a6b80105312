package report

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

// Markdown is the record for a ticket: tables and findings in GitHub's
// dialect. Names and texts of the record are escaped.
func Markdown(r record.Record) []byte {
	var b strings.Builder
	all := seriesOf(r)
	compared := phased(r)
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", mark(title(r, Options{})), mark(Headline(r)))
	markdownAdvice(&b, adviceOf(r, all, Options{}))
	fmt.Fprintf(&b, "Record %s, started %s, kernel %s", mark(orUnknown(r.ID)), instant(r.Started), mark(orUnknown(r.Environment.Kernel)))
	if r.Environment.BackEnd != "" {
		fmt.Fprintf(&b, ", lab back end %s", mark(r.Environment.BackEnd))
	}
	fmt.Fprintf(&b, ", linerate %s.\n", mark(orUnknown(r.Linerate)))
	markdownSummary(&b, all, compared)
	markdownLinks(&b, all, compared)
	markdownPorts(&b, all)
	markdownMatrix(&b, all, compared)
	markdownFindings(&b, r)
	markdownSteps(&b, r)
	markdownSettings(&b, r)
	markdownLatency(&b, r)
	markdownOutages(&b, r)
	markdownBonds(&b, r)
	if len(r.Failures) > 0 {
		b.WriteString("\n## Not measured\n\n")
		for _, f := range r.Failures {
			fmt.Fprintf(&b, "- %s → %s %s: %s\n", mark(f.From), mark(f.To), mark(string(f.Direction)), mark(f.Error))
		}
	}
	b.WriteString("\n## Repeat\n\n")
	fence(&b, repeatCommands(r, Options{}))
	return []byte(b.String())
}

// markdownAdvice is what to do, before any table.
func markdownAdvice(b *strings.Builder, a advice) {
	fmt.Fprintf(b, "**Do this: %s**", mark(a.Action))
	if a.How != "" {
		b.WriteString(" " + markProse(a.How))
	}
	b.WriteString("\n\n")
	fence(b, a.Commands)
	fmt.Fprintf(b, "\nGain: %s How sure: %s\n\n", mark(a.Gain), mark(a.Sure))
}

// mark escapes text for a paragraph or a table cell.
func mark(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;").Replace(printable(s))
}

// markProse is mark for text in which backticks enclose code: it stays code where
// nothing in it means something to Markdown.
func markProse(s string) string {
	parts := strings.Split(s, "`")
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i%2 == 0:
			b.WriteString(mark(part))
		case i < len(parts)-1 && part != "" && !strings.ContainsAny(part, "<>|\\"):
			b.WriteString("`" + printable(part) + "`")
		case i < len(parts)-1:
			b.WriteString(mark("`" + part + "`"))
		default:
			b.WriteString(mark("`" + part))
		}
	}
	return b.String()
}

// tableTo writes a table; the first row is the header. Columns marked l in
// align are text, all others numbers and set to the right.
func tableTo(b *strings.Builder, align string, rows ...[]string) {
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i > 0 {
			continue
		}
		for column := range row {
			if column < len(align) && align[column] == 'l' {
				b.WriteString("|---")
			} else {
				b.WriteString("|---:")
			}
		}
		b.WriteString("|\n")
	}
}

// fence writes a code block that no line of it can end.
func fence(b *strings.Builder, lines []string) {
	ticks := "```"
	for _, l := range lines {
		for strings.Contains(l, ticks) {
			ticks += "`"
		}
	}
	b.WriteString(ticks + "sh\n")
	for _, l := range lines {
		b.WriteString(printable(l) + "\n")
	}
	b.WriteString(ticks + "\n")
}

func markdownSummary(b *strings.Builder, all []series, compared bool) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Result\n\n")
	rows := [][]string{{"direction", "streams", "measured", "ceiling", "of ceiling", "cause"}}
	align := "lrrrrl"
	if compared {
		rows = [][]string{{"direction", "streams", "before", "after", "ceiling", "before", "after", "cause before", "cause after"}}
		align = "lrrrrrrll"
	}
	for _, s := range all {
		for _, c := range s.places() {
			ceiling, _ := c.ceiling()
			row := []string{mark(s.way(c.direction)), c.streams, goodput(c.before)}
			if compared {
				row = append(row, goodput(c.after), rate(ceiling), ofCeiling(c.before, ceiling), ofCeiling(c.after, ceiling), mark(string(cause(c.before))), mark(string(cause(c.after))))
			} else {
				row = append(row, rate(ceiling), ofCeiling(c.before, ceiling), mark(string(cause(c.before))))
			}
			rows = append(rows, row)
		}
	}
	tableTo(b, align, rows...)
}

func markdownLinks(b *strings.Builder, all []series, compared bool) {
	for _, s := range all {
		for _, c := range s.places() {
			if c.direction != flow.Reverse && len(c.last().Links) > 0 {
				fmt.Fprintf(b, "\n## Load of each link, %s, %s\n\n", mark(s.way(c.direction)), c.counted())
				rows := linkRows(c.cell, compared)
				for _, row := range rows {
					row[0], row[1] = mark(row[0]), mark(row[1])
				}
				tableTo(b, "ll", rows...)
			}
		}
	}
}

// linkRows is the table behind a drawing of links.
func linkRows(c cell, compared bool) [][]string {
	head := []string{"host", "link", "out", "in", "ceiling each way"}
	if compared {
		head = []string{"host", "link", "out before", "in before", "ceiling before", "out after", "in after", "ceiling after"}
	}
	rows := [][]string{head}
	for _, u := range c.last().Links {
		row := []string{u.Host, u.Link}
		if compared {
			row = append(row, loadCells(c.before, u)...)
			row = append(row, loadCells(c.after, u)...)
		} else {
			row = append(row, loadCells(c.before, u)...)
		}
		rows = append(rows, row)
	}
	return rows
}

// loadCells are a link's out, in and ceiling in one trial.
func loadCells(t *record.Trial, like record.LinkUse) []string {
	u, ok := linkOf(t, like.Host, like.Link)
	if !ok {
		return []string{unknown, unknown, unknown}
	}
	return []string{txLoad(u).words(), rxLoad(u).words(), rate(u.Ceiling)}
}

func markdownMatrix(b *strings.Builder, all []series, compared bool) {
	for _, s := range all {
		fmt.Fprintf(b, "\n## Every stream count, %s\n\n", mark(s.name()))
		rows := [][]string{{"direction", "streams", "measured", "of ceiling", "predicted", "cause"}}
		align := "lrrrrl"
		if compared {
			rows = [][]string{{"direction", "streams", "before", "of ceiling", "predicted", "cause", "after", "of ceiling", "predicted", "cause"}}
			align = "lrrrrlrrrl"
		}
		for _, d := range s.directions {
			for _, n := range s.streams {
				c, ok := s.cells[at{d, n}]
				if !ok {
					continue
				}
				row := append([]string{string(d), fmt.Sprint(n)}, matrixCells(c, c.before)...)
				if compared {
					row = append(row, matrixCells(c, c.after)...)
				}
				for i := range row {
					row[i] = mark(row[i])
				}
				rows = append(rows, row)
			}
		}
		tableTo(b, align, rows...)
	}
}

// matrixCells are one trial's four cells of the matrix.
func matrixCells(c cell, t *record.Trial) []string {
	if t == nil {
		return []string{"not measured", "", "", ""}
	}
	ceiling, _ := c.ceiling()
	return []string{goodput(t), ofCeiling(t, ceiling), rate(t.Predicted), string(cause(t))}
}

func markdownFindings(b *strings.Builder, r record.Record) {
	groups := findingGroups(r)
	if len(groups) == 0 {
		return
	}
	b.WriteString("\n## Findings\n")
	for _, g := range groups {
		head := string(g.Cause)
		if g.Phase != "" {
			head = string(g.Phase) + ": " + head
		}
		fmt.Fprintf(b, "\n### %s (%s → %s, %s)\n\n", mark(head), mark(g.From), mark(g.To), mark(g.where()))
		if g.Lead.Summary != "" {
			fmt.Fprintf(b, "%s\n\n", markProse(g.Lead.Summary))
		}
		if len(g.Lead.Evidence) > 0 {
			rows := [][]string{{"evidence", "value", "source"}}
			for _, e := range g.Lead.Evidence {
				rows = append(rows, []string{mark(e.What), mark(orUnknown(e.Value)), mark(orUnknown(e.Source))})
			}
			tableTo(b, "lll", rows...)
			b.WriteString("\n")
		}
		if g.Lead.Remedy != "" {
			fmt.Fprintf(b, "Remedy: %s\n\n", markProse(g.Lead.Remedy))
		}
		if g.Cause != record.LineRate {
			fmt.Fprintf(b, "%s\n", mark(findingWords(g.Lead)))
		}
		if facts := beyond(g.Lead); len(facts) > 0 {
			b.WriteString("\n")
			markdownFacts(b, facts)
		}
	}
}

// confidence is a finding's own; zero is unknown.
func confidence(f record.Finding) string {
	if !positive(f.Confidence) {
		return unknown
	}
	return wholePercent(f.Confidence)
}

func markdownSteps(b *strings.Builder, r record.Record) {
	if len(r.Steps) == 0 {
		return
	}
	b.WriteString("\n## Changes tried\n\n")
	rows := [][]string{{"change", "why", "before", "after", "gain", "outcome"}}
	for _, s := range r.Steps {
		rows = append(rows, []string{mark(s.Change), mark(s.Why), rate(s.Before), rate(s.After), change(s.Before, s.After), mark(outcome(s))})
	}
	tableTo(b, "llrrrl", rows...)
	for _, s := range r.Steps {
		if s.Kept && len(s.Commands) > 0 {
			fmt.Fprintf(b, "\nBy hand, %s:\n\n", mark(s.Change))
			fence(b, s.Commands)
		}
	}
}

// outcome is "kept" or "rolled back" and the reason.
func outcome(s record.Step) string {
	word := "rolled back"
	if s.Kept {
		word = "kept"
	}
	if s.Verdict != "" {
		word += ": " + s.Verdict
	}
	return word
}

func markdownLatency(b *strings.Builder, r record.Record) {
	if len(r.Latency) == 0 {
		return
	}
	b.WriteString("\n## Latency\n\n")
	rows := [][]string{latencyHeads()}
	for _, l := range r.Latency {
		rows = append(rows, latencyRow(l, mark))
	}
	tableTo(b, "lllrrrrrrrrr", rows...)
	for _, n := range latencyNotes(r.Latency) {
		fmt.Fprintf(b, "\n%s\n", mark(n))
	}
}

func markdownBonds(b *strings.Builder, r record.Record) {
	settings := bondSettings(r)
	if len(settings) == 0 {
		return
	}
	b.WriteString("\n## Bonds\n\n")
	rows := [][]string{{"host", "bond", "setting", "before", "after"}}
	for _, s := range settings {
		rows = append(rows, []string{mark(s.Host), mark(s.Bond), s.Setting, mark(s.Before), mark(s.After)})
	}
	tableTo(b, "lllll", rows...)
}
